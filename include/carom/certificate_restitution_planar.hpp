#pragma once

#include <carom/certificate_restitution.hpp>

/// certificate::Restitution of planar impacts with Stronge's law, for packs of impacts that share
/// their problem.
namespace carom::certificate {

/// V: double, or a pack of doubles with its masks. M: contacts. MostVelocities: of the problem.
template <class V, class Mask, int M, int MostVelocities>
class PlanarRestitution {
  static constexpr int kRows = 2 * M;

 public:
  /// problem: its contacts are M and its law is Stronge's; friction: [M].
  CAROM_INLINE PlanarRestitution(const RestitutionProblem& problem, const double* friction)
      : problem_(problem), friction_(friction) {
    for (int row = 0; row < kRows; ++row) {
      start_[row] = 0.0;
      for (int j = 0; j < problem.velocities; ++j) {
        start_[row] = kernels::fused(jacobian(row, j), problem.velocity[j], start_[row]);
      }
      speed_ = kernels::larger(speed_, kernels::magnitude(start_[row]));
    }
    if (!(speed_ > kTiny)) speed_ = kTiny;
    for (int j = 0; j < problem.velocities; ++j) v_[j] = V(problem.velocity[j]);
    for (int row = 0; row < kRows; ++row) u_[row] = V(start_[row]);
    for (int i = 0; i < M; ++i) kept_[i] = taken_[i] = rubbed_[i] = V(0.0);
  }

  /// Where `fresh`: before an impact.
  CAROM_INLINE void begin(Mask fresh) {
    using kernels::select;
    const V none(0.0);
    for (int j = 0; j < problem_.velocities; ++j) {
      v_[j] = select(fresh, V(problem_.velocity[j]), v_[j]);
    }
    for (int row = 0; row < kRows; ++row) u_[row] = select(fresh, V(start_[row]), u_[row]);
    for (int i = 0; i < M; ++i) {
      kept_[i] = select(fresh, none, kept_[i]);
      taken_[i] = select(fresh, none, taken_[i]);
      rubbed_[i] = select(fresh, none, rubbed_[i]);
    }
    wrong_.value = select(fresh, none, wrong_.value);
    short_.value = select(fresh, none, short_.value);
  }

  /// Row of J v after the pieces so far.
  [[nodiscard]] CAROM_INLINE const V& contact_velocity(int row) const { return u_[row]; }

  /// A piece: impulses [rows], normals first; all of them 0: none. restitution: [M].
  CAROM_INLINE void add(const V* impulse, const V* restitution) {
    using kernels::fused;
    for (int j = 0; j < problem_.velocities; ++j) {
      for (int row = 0; row < kRows; ++row) {
        v_[j] =
            fused(V(problem_.response[static_cast<long>(j) * kRows + row]), impulse[row], v_[j]);
      }
    }
    V after[kRows];
    for (int row = 0; row < kRows; ++row) {
      after[row] = V(0.0);
      for (int j = 0; j < problem_.velocities; ++j) {
        after[row] = fused(V(jacobian(row, j)), v_[j], after[row]);
      }
    }
    for (int i = 0; i < M; ++i) {
      rub(i, impulse[i], impulse[M + i], after[M + i]);
      keep(i, restitution[i], impulse[i], u_[i], after[i]);
    }
    for (int row = 0; row < kRows; ++row) u_[row] = after[row];
  }

  /// What the impact's velocities miss, of the largest |J v| before; u: the J v+ to
  /// compare with, [rows].
  CAROM_INLINE V residual(const V* u) const {
    using kernels::larger;
    MaxAbs<V> wrong = wrong_;
    for (int row = 0; row < kRows; ++row) wrong.add(u_[row] - u[row]);
    for (int i = 0; i < M; ++i) wrong.add(larger(-u_[i], V(0.0)));
    return wrong.value / V(speed_);
  }

  /// What its energies miss, of that before, except for their balance. compression, friction: the
  /// losses to compare with, [M].
  CAROM_INLINE V books(const V* compression, const V* friction) const {
    using kernels::larger;
    MaxAbs<V> missed = short_;
    for (int i = 0; i < M; ++i) {
      missed.add(kept_[i]);
      missed.add(compression[i] - taken_[i]);
      missed.add(friction[i] - rubbed_[i]);
      missed.add(larger(-taken_[i], V(0.0)));
    }
    return missed.value / V(problem_.energy > kTiny ? problem_.energy : kTiny);
  }

 private:
  static constexpr double kCone = 1e-9;  ///< of the friction limit

  [[nodiscard]] CAROM_INLINE double jacobian(int row, int j) const {
    return problem_.jacobian[static_cast<long>(row) * problem_.velocities + j];
  }

  /// Friction t of contact i lies within its limit and takes as much as it can, at both ends of a
  /// piece.
  CAROM_INLINE void rub(int i, V push, V t, V after) {
    using kernels::larger;
    using kernels::magnitude;
    using kernels::select;
    const V none(0.0), before = u_[M + i];
    const V limit = V(friction_[i]) * push;
    const auto within = (push >= none) & (magnitude(t) <= limit * V(1.0 + kCone));
    wrong_.add(select(within, none, V(kernels::kInfinity)));
    const auto rubs = limit > none;
    const V share = select(rubs, t / limit, none);
    wrong_.add(select(rubs, magnitude(before) + share * before, none));
    wrong_.add(select(rubs, magnitude(after) + share * after, none));
    const V work = V(0.5) * t * (before + after);
    short_.add(larger(work, none));
    rubbed_[i] = rubbed_[i] - work;
  }

  /// The store of contact i along a push from normal velocity u to `next`: never below 0. Between
  /// its values at u = 0 and at the ends it is monotonic.
  CAROM_INLINE void keep(int i, V e, V push, V u, V next) {
    using kernels::any_of;
    using kernels::larger;
    using kernels::select;
    using kernels::smaller;
    const V none(0.0), one(1.0), half(0.5);
    V in = push, out = push;
    const Mask turns = u * next < none;
    if (any_of(turns)) {
      const V share = select(turns, u / (u - next), one);  // of the push before u = 0
      const V rest = select(turns, one - share, one);
      in = push * select(u < none, share, rest);
      out = push * select(u > none, share, rest);
    }
    const V work_in = -(half * in * (smaller(u, none) + smaller(next, none)));
    const V work_out = half * out * (larger(u, none) + larger(next, none));
    const V put = e * e * work_in;
    taken_[i] = taken_[i] + (work_in - work_out);
    short_.add(larger(work_out - kept_[i] - select(u > none, none, put), none));
    kept_[i] = kept_[i] + (put - work_out);
  }

  RestitutionProblem problem_;
  const double* friction_;
  double start_[kRows];
  double speed_ = 0.0;
  V v_[MostVelocities], u_[kRows];
  V kept_[M], taken_[M], rubbed_[M];  ///< store; work lost in compression, by friction
  MaxAbs<V> wrong_, short_;
};

/// Whether the energies before and after, `ratio` times that, differ by what was lost.
template <class V>
CAROM_INLINE auto energies_balance(double energy, V ratio, V lost) {
  using kernels::magnitude;
  return magnitude(V(energy) - ratio * V(energy) - lost) <= V(kBooks * energy);
}

}  // namespace carom::certificate
