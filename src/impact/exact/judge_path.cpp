#include "impact/exact/judge_path.hpp"

#include <algorithm>
#include <cstddef>
#include <sstream>

#include "core/exact/interval.hpp"
#include "impact/friction_polygon.hpp"

namespace carom::exact {

namespace {

using F = FineInterval;

// As the certificates of the samplers have them, of the energy before.
constexpr double kBooks = 1e-12;
constexpr double kEmpty = 1e-14;
constexpr double kCone = 1e-9;       // of the limit of friction
constexpr double kMomentum = 1e-11;  // of the momentum that moves
constexpr double kStill = 1e-11;     // of the largest contact speed: no approach

F smaller(const F& a, const F& b) { return (a - b).middle() <= 0.0 ? a : b; }
F positive_part(const F& a) { return a.middle() > 0.0 ? a : F(0.0); }
F size_of(const F& a) { return a.middle() < 0.0 ? -a : a; }

template <class... Parts>
std::string said(const Parts&... parts) {
  std::ostringstream text;
  text.precision(3);
  (text << ... << parts);
  return text.str();
}

class Judge {
 public:
  explicit Judge(const KeptPath& path)
      : path_(path),
        p_(*path.problem),
        nv_(static_cast<std::size_t>(p_.velocities)),
        m_(static_cast<std::size_t>(p_.contacts)),
        tangents_(static_cast<std::size_t>(p_.dimension) - 1),
        rows_(m_ * (tangents_ + 1)),
        polygon_(friction_polygon(p_.dimension, path.friction_directions)),
        store_(m_),
        total_(rows_) {}

  std::string judge() {
    for (std::size_t j = 0; j < nv_; ++j) {
      if (path_.velocity[j] != p_.velocity[j]) return said("v_0[", j, "] is not velocity[", j, "]");
    }
    for (std::size_t k = 0; k < rows_; ++k) {
      if (path_.impulse[k] != 0.0) return said("the impulse at v_0 is not 0");
    }
    u_ = contact_velocities(0);
    speed_ = F(0.0);
    for (const F& u : u_) speed_ = size_of(u).middle() > speed_.middle() ? size_of(u) : speed_;
    energy_ = before_ = kinetic_energy(0);
    const std::size_t count = path_.velocity.size() / nv_;
    std::string reason = constants(0);
    for (std::size_t k = 1; k < count && reason.empty(); ++k) {
      at_ = k;
      reason = piece();
    }
    return reason.empty() ? end() : reason;
  }

 private:
  /// Not more than `share` of `whole`, for certain.
  static bool within(const F& value, double share, const F& whole) {
    return (F(share) * whole - value).at_least_zero();
  }
  [[nodiscard]] double number(const std::vector<double>& values, std::size_t width,
                              std::size_t i) const {
    return values[at_ * width + i];
  }

  [[nodiscard]] F jacobian(std::size_t row, std::size_t j) const {
    return row < m_ ? p_.normal_jacobian[row * nv_ + j] : p_.tangent_jacobian[(row - m_) * nv_ + j];
  }
  [[nodiscard]] std::vector<F> contact_velocities(std::size_t k) const {
    std::vector<F> u(rows_);
    for (std::size_t row = 0; row < rows_; ++row) {
      for (std::size_t j = 0; j < nv_; ++j) {
        u[row] = u[row] + jacobian(row, j) * F(path_.velocity[k * nv_ + j]);
      }
    }
    return u;
  }
  [[nodiscard]] F kinetic_energy(std::size_t k) const {
    F twice;
    const double* const v = path_.velocity.data() + k * nv_;
    for (std::size_t i = 0; i < nv_; ++i) {
      for (std::size_t j = 0; j < nv_; ++j) {
        twice = twice + F(p_.mass_matrix[i * nv_ + j]) * F(v[i]) * F(v[j]);
      }
    }
    return F(0.5) * twice;
  }

  /// e and mu of the piece lie in their intervals, and are the sample's.
  std::string constants(std::size_t k) {
    at_ = k;
    for (std::size_t i = 0; i < m_; ++i) {
      const double e = number(path_.restitution, m_, i), mu = number(path_.friction, m_, i);
      const bool elastic = !p_.restitution_high.empty();
      const double low = elastic ? p_.restitution_low[i] : 0.0;
      const double high = elastic ? p_.restitution_high[i] : 0.0;
      const double most = p_.friction_high.empty() ? p_.friction[i] : p_.friction_high[i];
      if (!(e >= low && e <= high)) return said("piece ", k, ": restitution[", i, "] is ", e);
      if (!(mu >= p_.friction[i] && mu <= most)) {
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
    const std::vector<F> after = contact_velocities(at_);
    for (std::size_t i = 0; i < m_ && reason.empty(); ++i) reason = friction_law(i, after);
    const F power = work(after);
    if (reason.empty()) {
      reason = path_.method == ImpactMethod::events ? bounce(after) : step(after);
    }
    const F energy = kinetic_energy(at_);
    if (reason.empty() && !within(size_of(energy - energy_ - power), kBooks, before_)) {
      reason = said("piece ", at_, ": the energy changes by other than its work");
    }
    energy_ = energy;
    u_ = after;
    return reason;
  }

  /// M (v_k - v_0) is J' of all impulses so far.
  std::string momentum() {
    for (std::size_t row = 0; row < rows_; ++row) {
      total_[row] = total_[row] + F(number(path_.impulse, rows_, row));
    }
    for (std::size_t i = 0; i < nv_; ++i) {
      F missing, moved;
      for (std::size_t j = 0; j < nv_; ++j) {
        const F part = F(p_.mass_matrix[i * nv_ + j]);
        const F v(path_.velocity[at_ * nv_ + j]), first(path_.velocity[j]);
        missing = missing + part * (v - first);
        moved = moved + size_of(part) * (size_of(v) + size_of(first));
      }
      for (std::size_t row = 0; row < rows_; ++row) {
        missing = missing - jacobian(row, i) * total_[row];
        moved = moved + size_of(jacobian(row, i) * total_[row]);
      }
      if (!within(size_of(missing), kMomentum, moved)) {
        return said("piece ", at_, ": M v[", i, "] is not that of the impulses");
      }
    }
    return {};
  }

  [[nodiscard]] F impulse(std::size_t row) const { return number(path_.impulse, rows_, row); }
  [[nodiscard]] F chord(std::size_t row, const std::vector<F>& after) const {
    return F(0.5) * impulse(row) * (u_[row] + after[row]);
  }
  [[nodiscard]] F work(const std::vector<F>& after) const {
    F sum;
    for (std::size_t row = 0; row < rows_; ++row) sum = sum + chord(row, after);
    return sum;
  }

  /// Friction lies in its cone and takes as much as it can: at both ends of a piece of events, at
  /// the end of a step.
  std::string friction_law(std::size_t i, const std::vector<F>& after) const {
    const double push = number(path_.impulse, rows_, i);
    if (!(push >= 0.0)) return said("piece ", at_, ": contact ", i, " pulls");
    const std::size_t t = m_ + tangents_ * i;
    const F limit = F(number(path_.friction, m_, i)) * F(push);
    const auto along = [this](std::size_t j, const auto& of) {
      F sum;
      for (std::size_t c = 0; c < tangents_; ++c) sum = sum + F(polygon_.direction[j][c]) * of(c);
      return sum;
    };
    const auto own = [&](std::size_t c) { return impulse(t + c); };
    const auto corners = static_cast<std::size_t>(polygon_.count);
    for (std::size_t j = 0; j < corners; ++j) {
      F out, reach;
      if (tangents_ == 1) {
        out = along(j, own), reach = F(1.0);
      } else {
        const F normal[2] = {polygon_.along[j][1], -F(polygon_.along[j][0])};
        out = normal[0] * own(0) + normal[1] * own(1);
        reach = along(j, [&](std::size_t c) { return normal[c]; });
      }
      if (!(limit * reach + F(kCone) * limit - out).at_least_zero()) {
        return said("piece ", at_, ": friction of contact ", i, " leaves its cone");
      }
    }
    if (!limit.positive()) return {};
    for (const bool first : {true, false}) {
      if (first && path_.method == ImpactMethod::lcp) continue;
      const auto opposed = [&](std::size_t c) { return -(first ? u_ : after)[t + c]; };
      F most = along(0, opposed), takes;
      for (std::size_t j = 1; j < corners; ++j) {
        const F other = along(j, opposed);
        if ((other - most).middle() > 0.0) most = other;
      }
      for (std::size_t c = 0; c < tangents_; ++c) takes = takes + own(c) * opposed(c);
      if (!within(limit * most - takes, path_.residual_tolerance, limit * speed_)) {
        return said("piece ", at_, ": friction of contact ", i, " does not oppose its slip");
      }
    }
    return {};
  }

  [[nodiscard]] F restitution(std::size_t i) const { return number(path_.restitution, m_, i); }

  /// Stores along a linear piece: monotonic between its ends and where u turns.
  std::string bounce(const std::vector<F>& after) {
    for (std::size_t i = 0; i < m_; ++i) {
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
        if (!(store_[i] + F(kBooks) * before_).at_least_zero()) {
          return said("piece ", at_, ": contact ", i, " pushes without a store");
        }
      }
    }
    return {};
  }

  /// Stores over a step, by its chords; see certificate::ReleaseBooks.
  std::string step(const std::vector<F>& after) {
    F gift, puts, losses, left;
    std::vector<F> put(m_), kept(m_);
    for (std::size_t i = 0; i < m_; ++i) {
      const bool filled = !empty(i);
      const bool may = filled && (u_[i] + F(kStill) * speed_).at_least_zero();
      if (impulse(i).positive() && !may && !within(after[i], path_.residual_tolerance, speed_)) {
        return said("step ", at_, ": contact ", i, " separates by a push without a store");
      }
      const F done = chord(i, after), e = restitution(i);
      const F paid = smaller(positive_part(done), store_[i]);
      F rubbed;
      for (std::size_t t = m_ + tangents_ * i; t < m_ + tangents_ * (i + 1); ++t) {
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
    if (!within(gift, kBooks, before_)) {
      return said("step ", at_, ": puts more work into the motion than there was");
    }
    for (std::size_t i = 0; i < m_; ++i) {
      store_[i] = (F(1.0) - of_left) * kept[i] + (F(1.0) - of_puts) * put[i];
      if (empty(i)) store_[i] = F(0.0);
    }
    return {};
  }
  [[nodiscard]] bool empty(std::size_t i) const {
    return store_[i].middle() <= kEmpty * before_.middle();
  }

  std::string end() {
    for (std::size_t i = 0; i < m_; ++i) {
      const F least = F(path_.velocity_tolerance) + F(path_.residual_tolerance) * speed_;
      if (!(u_[i] + least).at_least_zero()) return said("contact ", i, " still approaches");
      if (!within(store_[i], kBooks, before_))
        return said("the store of contact ", i, " is filled");
    }
    if (!within(energy_ - before_, kBooks, before_)) return "gains energy";
    return {};
  }

  const KeptPath& path_;
  const ImpactProblem& p_;
  std::size_t nv_, m_, tangents_, rows_;
  kernels::FrictionPolygon polygon_;
  std::vector<F> store_, total_, u_;
  F speed_, energy_, before_;
  std::size_t at_ = 0;  ///< row of the piece
};

}  // namespace

std::string refutation(const KeptPath& path) { return Judge(path).judge(); }

}  // namespace carom::exact
