#include "impact/exact/judge_path.hpp"

#include <algorithm>
#include <cstddef>

#include "impact/exact/kept_mechanics.hpp"

namespace carom::exact {

namespace {

using F = FineInterval;

constexpr double kEmpty = 1e-14;  // of the energy before, as the samplers' certificates
constexpr double kStill = 1e-11;  // of the largest contact speed: no approach

F smaller(const F& a, const F& b) { return (a - b).middle() <= 0.0 ? a : b; }
F positive_part(const F& a) { return a.middle() > 0.0 ? a : F(0.0); }

class Judge : KeptMechanics {
 public:
  explicit Judge(const KeptPath& path)
      : KeptMechanics(*path.problem, path.friction_directions),
        path_(path),
        store_(contacts),
        total_(rows) {}

  std::string judge() {
    for (const auto* values : {&path_.velocity, &path_.impulse}) {
      if (!std::all_of(values->begin(), values->end(), moderate)) return "has no numbers";
    }
    for (std::size_t j = 0; j < nv; ++j) {
      if (path_.velocity[j] != problem.velocity[j])
        return said("v_0[", j, "] is not velocity[", j, "]");
    }
    for (std::size_t k = 0; k < rows; ++k) {
      if (path_.impulse[k] != 0.0) return said("the impulse at v_0 is not 0");
    }
    u_ = contact_velocities(velocity(0));
    energy_ = before;
    const std::size_t count = path_.velocity.size() / nv;
    std::string reason = constants(0);
    for (std::size_t k = 1; k < count && reason.empty(); ++k) {
      at_ = k;
      reason = piece();
    }
    return reason.empty() ? end() : reason;
  }

 private:
  [[nodiscard]] const double* velocity(std::size_t k) const {
    return path_.velocity.data() + k * nv;
  }
  [[nodiscard]] double number(const std::vector<double>& values, std::size_t width,
                              std::size_t i) const {
    return values[at_ * width + i];
  }

  /// e and mu of the piece lie in their intervals, and are the sample's.
  std::string constants(std::size_t k) {
    at_ = k;
    for (std::size_t i = 0; i < contacts; ++i) {
      const double e = number(path_.restitution, contacts, i),
                   mu = number(path_.friction, contacts, i);
      const bool elastic = !problem.restitution_high.empty();
      const double low = elastic ? problem.restitution_low[i] : 0.0;
      const double high = elastic ? problem.restitution_high[i] : 0.0;
      const double most =
          problem.friction_high.empty() ? problem.friction[i] : problem.friction_high[i];
      if (!(e >= low && e <= high)) return said("piece ", k, ": restitution[", i, "] is ", e);
      if (!(mu >= problem.friction[i] && mu <= most)) {
        return said("piece ", k, ": friction[", i, "] is ", mu);
      }
      if (!path_.vary && (e != path_.restitution[i] || mu != path_.friction[i])) {
        return said("piece ", k, ": contact ", i, " has constants of its own");
      }
    }
    return {};
  }

  std::string piece() {
    std::string reason = constants(at_);
    if (reason.empty()) reason = momentum();
    if (!reason.empty()) return reason;
    const std::vector<F> after = contact_velocities(velocity(at_));
    for (std::size_t i = 0; i < contacts && reason.empty(); ++i) reason = friction_law(i, after);
    const F power = work(after);
    if (reason.empty()) {
      reason = path_.method == ImpactMethod::events ? bounce(after) : step(after);
    }
    const F energy = kinetic_energy(velocity(at_));
    if (reason.empty() && !within(size_of(energy - energy_ - power), kBooks, before)) {
      reason = said("piece ", at_, ": the energy changes by other than its work");
    }
    energy_ = energy;
    u_ = after;
    return reason;
  }

  /// M (v_k - v_0) is J' of all impulses so far.
  std::string momentum() {
    for (std::size_t row = 0; row < rows; ++row) {
      total_[row] = total_[row] + F(number(path_.impulse, rows, row));
    }
    const std::size_t wrong = wrong_momentum(velocity(at_), total_);
    if (wrong == nv) return {};
    return said("piece ", at_, ": M v[", wrong, "] is not that of the impulses");
  }

  /// The impulse at contact i that is nothing: rounding, and for a step what its certificate lets
  /// pass.
  [[nodiscard]] F nothing(std::size_t i) const {
    if (path_.method == ImpactMethod::events) return noise(i);
    const F now = largest(u_), &fastest = (now - speed).positive() ? now : speed;
    return noise(i) + F(path_.residual_tolerance) * fastest * impulse_of_speed(i);
  }

  [[nodiscard]] F impulse(std::size_t row) const { return number(path_.impulse, rows, row); }
  [[nodiscard]] F chord(std::size_t row, const std::vector<F>& after) const {
    return F(0.5) * impulse(row) * (u_[row] + after[row]);
  }
  [[nodiscard]] F work(const std::vector<F>& after) const {
    F sum;
    for (std::size_t row = 0; row < rows; ++row) sum = sum + chord(row, after);
    return sum;
  }

  /// Friction lies in its cone and takes as much as it can: at both ends of a piece of events, at
  /// the end of a step.
  std::string friction_law(std::size_t i, const std::vector<F>& after) const {
    const double push = number(path_.impulse, rows, i);
    const F room = nothing(i);
    if (!(F(push) + room).at_least_zero()) {
      return said("piece ", at_, ": contact ", i, " pulls");
    }
    const std::size_t t = contacts + tangents * i;
    const F limit = F(number(path_.friction, contacts, i)) * F(push);
    const auto own = [&](std::size_t c) { return impulse(t + c); };
    if (!in_cone(limit, F(kCone) * limit + room, own)) {
      return said("piece ", at_, ": friction of contact ", i, " leaves its cone");
    }
    if (!limit.positive()) return {};
    for (const bool first : {true, false}) {
      if (first && path_.method == ImpactMethod::lcp) continue;
      const auto opposed = [&](std::size_t c) { return -(first ? u_ : after)[t + c]; };
      F most = along(0, opposed), takes;
      for (std::size_t j = 1; j < corners(); ++j) {
        const F other = along(j, opposed);
        if ((other - most).middle() > 0.0) most = other;
      }
      for (std::size_t c = 0; c < tangents; ++c) takes = takes + own(c) * opposed(c);
      if (!(F(path_.residual_tolerance) * limit * speed + room * speed + takes - limit * most)
               .at_least_zero()) {
        return said("piece ", at_, ": friction of contact ", i, " does not oppose its slip");
      }
    }
    return {};
  }

  [[nodiscard]] F restitution(std::size_t i) const {
    return number(path_.restitution, contacts, i);
  }

  /// Stores along a linear piece: monotonic between its ends and where u turns.
  std::string bounce(const std::vector<F>& after) {
    for (std::size_t i = 0; i < contacts; ++i) {
      const F push = impulse(i), &u = u_[i], &next = after[i];
      bool valid = true;
      const bool turns = (u.positive() && next.negative()) || (u.negative() && next.positive());
      const F share = turns ? F::quotient(u, u - next, valid) : F(1.0);
      const F parts[2][3] = {{share * push, u, turns ? F(0.0) : next},
                             {(F(1.0) - share) * push, F(0.0), turns ? next : F(0.0)}};
      for (const auto& [impulse, from, to] : parts) {
        const F done = F(0.5) * impulse * (from + to);
        const F e = restitution(i);
        store_[i] = store_[i] - (done.middle() > 0.0 ? done : e * e * done);
        if (!(store_[i] + F(kBooks) * before).at_least_zero()) {
          return said("piece ", at_, ": contact ", i, " pushes without a store");
        }
      }
    }
    return {};
  }

  /// Stores over a step, by its chords; see certificate::ReleaseBooks.
  std::string step(const std::vector<F>& after) {
    F gift, puts, losses, left;
    std::vector<F> put(contacts), kept(contacts);
    for (std::size_t i = 0; i < contacts; ++i) {
      const bool filled = !empty(i);
      const bool may = filled && (u_[i] + F(kStill) * speed).at_least_zero();
      if ((impulse(i) - noise(i)).positive() && !may &&
          !within(after[i], path_.residual_tolerance, speed)) {
        return said("step ", at_, ": contact ", i, " separates by a push without a store");
      }
      const F done = chord(i, after), e = restitution(i);
      const F paid = smaller(positive_part(done), store_[i]);
      F rubbed;
      for (std::size_t t = contacts + tangents * i; t < contacts + tangents * (i + 1); ++t) {
        rubbed = rubbed - chord(t, after);
      }
      const F taken = positive_part(-done);
      put[i] = e * e * taken;
      kept[i] = store_[i] - paid;
      gift = gift + positive_part(done) - paid + positive_part(-rubbed);
      puts = puts + put[i];
      losses = losses + taken - put[i] + positive_part(rubbed);
      left = left + kept[i];
    }
    bool valid = true;
    const auto pay = [&](const F& of) {
      if (!of.positive()) return F(0.0);
      const F paid = smaller(gift, of);
      gift = gift - paid;
      return F::quotient(paid, of, valid);
    };
    const F of_puts = pay(puts);
    pay(losses);
    const F of_left = pay(left);
    if (!within(gift, kBooks, before)) {
      return said("step ", at_, ": puts more work into the motion than there was");
    }
    for (std::size_t i = 0; i < contacts; ++i) {
      store_[i] = (F(1.0) - of_left) * kept[i] + (F(1.0) - of_puts) * put[i];
      if (empty(i)) store_[i] = F(0.0);
    }
    return {};
  }
  [[nodiscard]] bool empty(std::size_t i) const {
    return store_[i].middle() <= kEmpty * before.middle();
  }

  std::string end() {
    for (std::size_t i = 0; i < contacts; ++i) {
      const F least = F(path_.velocity_tolerance) + F(path_.residual_tolerance) * speed;
      if (!(u_[i] + least).at_least_zero()) return said("contact ", i, " still approaches");
      if (!within(store_[i], kBooks, before)) return said("the store of contact ", i, " is filled");
    }
    if (!within(energy_ - before, kBooks, before)) return "gains energy";
    return {};
  }

  const KeptPath& path_;
  std::vector<F> store_, total_, u_;
  F energy_;
  std::size_t at_ = 0;  ///< row of the piece
};

}  // namespace

std::string refutation(const KeptPath& path) { return Judge(path).judge(); }

}  // namespace carom::exact
