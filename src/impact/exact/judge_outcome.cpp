#include "impact/exact/judge_outcome.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include "impact/exact/kept_mechanics.hpp"

namespace carom::exact {

namespace {

using F = FineInterval;

constexpr double kEnergy = 1e-10;  // of the energy before: of the sum over all steps
constexpr double kModes = 1e-9;    // of the largest contact speed: either mode may be said

class OutcomeJudge {
 public:
  OutcomeJudge(const KeptMechanics& mechanics, const OutcomeSettings& settings,
               const KeptOutcome& outcome)
      : mechanics_(mechanics), p_(mechanics.problem), settings_(settings), own_(outcome) {}

  std::string judge() {
    std::string reason = numbers();
    if (!reason.empty()) return reason;
    u_ = mechanics_.contact_velocities(own_.velocity);
    impulse_.assign(own_.impulse, own_.impulse + mechanics_.rows);
    const std::size_t wrong = mechanics_.wrong_momentum(own_.velocity, impulse_);
    if (wrong < mechanics_.nv) return said("M (v+ - v-)[", wrong, "] is not J' impulse");
    for (std::size_t i = 0; i < mechanics_.contacts && reason.empty(); ++i) reason = contact(i);
    if (reason.empty()) reason = energy();
    return reason;
  }

 private:
  std::string numbers() const {
    const auto check = [](const char* name, const double* values, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        if (!KeptMechanics::moderate(values[i])) return said(name, "[", i, "] is ", values[i]);
      }
      return std::string();
    };
    std::string reason = check("velocity", own_.velocity, mechanics_.nv);
    if (reason.empty()) reason = check("impulse", own_.impulse, mechanics_.rows);
    if (!reason.empty() || own_.stored == nullptr) return reason;
    reason = check("stored", own_.stored, mechanics_.contacts);
    if (reason.empty()) reason = check("released", own_.released, mechanics_.contacts);
    if (reason.empty()) {
      reason = check("lost_compression", own_.lost_compression, mechanics_.contacts);
    }
    return reason.empty() ? check("lost_friction", own_.lost_friction, mechanics_.contacts)
                          : reason;
  }

  std::string contact(std::size_t i) {
    const F push = impulse_[i];
    if (!(push + mechanics_.noise(i)).at_least_zero()) return said("contact ", i, " pulls");
    const F least =
        F(settings_.velocity_tolerance) + F(settings_.residual_tolerance) * mechanics_.speed;
    if (!(u_[i] + least).at_least_zero()) return said("contact ", i, " approaches");

    const double high = p_.friction_high.empty() ? p_.friction[i] : p_.friction_high[i];
    double mu = high;
    if (own_.friction != nullptr && !std::isnan(own_.friction[i])) mu = own_.friction[i];
    if (!(mu >= p_.friction[i] && mu <= high)) return said("friction[", i, "] is ", mu);
    const F limit = F(mu) * push;
    const auto own = [&](std::size_t c) {
      return impulse_[mechanics_.contacts + mechanics_.tangents * i + c];
    };
    if (!mechanics_.in_cone(limit, F(kCone) * limit + mechanics_.noise(i), own)) {
      return said("the impulse of contact ", i, " leaves the cone of friction ", mu);
    }
    std::string reason = books(i);
    return reason.empty() ? mode(i) : reason;
  }

  /// Restitution and the work of one contact.
  std::string books(std::size_t i) {
    if (own_.restitution != nullptr && !std::isnan(own_.restitution[i])) {
      const double low = p_.restitution_low.empty() ? 0.0 : p_.restitution_low[i];
      const double high = p_.restitution_high.empty() ? 0.0 : p_.restitution_high[i];
      const double e = own_.restitution[i];
      if (!(e >= low && e <= high)) return said("restitution[", i, "] is ", e);
    }
    if (own_.stored == nullptr) return {};
    const F room = F(kBooks) * mechanics_.before;
    const double* const works[] = {own_.stored, own_.released, own_.lost_compression,
                                   own_.lost_friction};
    for (const double* work : works) {
      if (!(F(work[i]) + room).at_least_zero()) {
        return said("a work of contact ", i, " is ", work[i]);
      }
    }
    if (!(F(own_.stored[i]) + room - F(own_.released[i])).at_least_zero()) {
      return said("contact ", i, " releases ", own_.released[i], " J: ", own_.stored[i],
                  " J were stored");
    }
    if (settings_.law == RestitutionLaw::stronge) {
      const F left = F(own_.stored[i]) - F(own_.released[i]);
      if (!KeptMechanics::within(left, kEnergy, mechanics_.before)) {
        return said("contact ", i, " keeps ", left.middle(), " J in its store");
      }
    }
    // steps may put less by than e^2 of what they take
    if (settings_.law == RestitutionLaw::stronge && settings_.method == ImpactMethod::events &&
        own_.restitution != nullptr && !std::isnan(own_.restitution[i])) {
      const F e(own_.restitution[i]);
      const F taken = F(own_.lost_compression[i]) + F(own_.released[i]);
      if (!KeptMechanics::within(KeptMechanics::size_of(F(own_.stored[i]) - e * e * taken), kEnergy,
                                 mechanics_.before)) {
        return said("stored[", i, "] is ", own_.stored[i], ": e^2 of what compression took is ",
                    (e * e * taken).middle());
      }
    }
    lost_ = lost_ + F(own_.lost_compression[i]) + F(own_.lost_friction[i]);
    return {};
  }

  std::string energy() const {
    const F left = mechanics_.before - mechanics_.kinetic_energy(own_.velocity);
    const F room = F(kEnergy) * mechanics_.before;
    if (!(left + room).at_least_zero()) return "gains energy";
    if (own_.stored != nullptr && !(room - KeptMechanics::size_of(left - lost_)).at_least_zero()) {
      return "the energy that is gone is not what contacts lost";
    }
    return {};
  }

  /// Of 2 contact modes at most, those that u within rounding of the tolerance may have.
  std::string mode(std::size_t i) const {
    if (!own_.modes || mechanics_.contacts > static_cast<std::size_t>(kMaxModeContacts)) return {};
    const auto claimed = static_cast<ContactMode>(*own_.modes >> (2 * i) & 3);
    const double tolerance = settings_.mode_tolerance;
    const double room = kModes * mechanics_.speed.above();
    const double normal = u_[i].middle();
    double slip = 0.0;
    for (std::size_t c = 0; c < mechanics_.tangents; ++c) {
      slip = std::hypot(slip, u_[mechanics_.contacts + mechanics_.tangents * i + c].middle());
    }
    const bool back = mechanics_.tangents == 1 && u_[mechanics_.contacts + i].middle() < 0.0;
    bool possible = false;
    switch (claimed) {
      case ContactMode::separating:
        possible = normal > tolerance - room;
        break;
      case ContactMode::sticking:
        possible = normal <= tolerance + room && slip <= tolerance + room;
        break;
      case ContactMode::sliding:
      case ContactMode::sliding_negative:
        possible = normal <= tolerance + room && slip > tolerance - room &&
                   back == (claimed == ContactMode::sliding_negative);
        break;
    }
    return possible ? "" : said("modes: contact ", i, " is not ", to_string(claimed));
  }

  const KeptMechanics& mechanics_;
  const ImpactProblem& p_;
  const OutcomeSettings& settings_;
  const KeptOutcome& own_;
  std::vector<F> u_, impulse_;
  F lost_;
};

}  // namespace

std::string refutation(const KeptMechanics& mechanics, const OutcomeSettings& settings,
                       const KeptOutcome& outcome) {
  return OutcomeJudge(mechanics, settings, outcome).judge();
}

}  // namespace carom::exact
