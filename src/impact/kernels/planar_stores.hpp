#pragma once

#include <carom/certificate_restitution_planar.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

#include "impact/kernels/contact_stores.hpp"
#include "impact/kernels/event_piece.hpp"

/// Stores (contact_stores.hpp) of planar contacts whose modes are tabled: Stronge's law with
/// numbers that a sample keeps.
namespace carom::kernels {

/// Whether a problem's samples can have such stores.
inline bool has_planar_stores(const RestitutionView& view, int contacts) {
  return view.law == RestitutionLaw::stronge && !view.vary && !friction_varies(view, contacts);
}

/// material_draw of a double or a pack.
template <class V>
CAROM_INLINE V planar_draw(double low, double high, V number) {
  const V between = V(low) + V(high - low) * ((number - V(0.125)) / V(0.75));
  return low == high
             ? V(low)
             : select(number < V(0.125), V(low), select(number >= V(0.875), V(high), between));
}

/// Of one trajectory, or of a pack of them. V: double, or a pack with its masks.
template <class V, class Mask, int M, int MostVelocities>
class PlanarStores {
  static constexpr int kRows = 2 * M;

 public:
  static constexpr bool kAny = true;

  CAROM_INLINE PlanarStores(const ImpactRun& run, const ImpactProblemView& problem)
      : energy_(problem.energy),
        certificate_({run.velocities, M, problem.jacobian, problem.response, problem.mass,
                      problem.velocity, problem.energy, RestitutionLaw::stronge},
                     problem.friction) {
    const V none(0.0);
    for (int k = 0; k < kRows; ++k) root_[k] = event_root(problem, M, kRows, k);
    for (int i = 0; i < M; ++i) {
      filled_[i] = none < none;
      ended_[i] = filled_[i];
      restitution_[i] = work_[i] = compressed_[i] = stored_[i] = released_[i] = rubbed_[i] = none;
    }
  }

  /// Where `fresh`: a trajectory begins, with restitution e, [M].
  CAROM_INLINE void begin(Mask fresh, const V* e) {
    const V none(0.0);
    for (int i = 0; i < M; ++i) {
      restitution_[i] = select(fresh, e[i], restitution_[i]);
      filled_[i] = filled_[i] & !fresh;
      for (V* const book : {work_, compressed_, stored_, released_, rubbed_}) {
        book[i] = select(fresh, none, book[i]);
      }
    }
    certificate_.begin(fresh);
  }

  [[nodiscard]] CAROM_INLINE Mask filled(int i) const { return filled_[i]; }

  /// ContactStores::until.
  [[nodiscard]] CAROM_INLINE V until(int i, V u, V rate, V push) const {
    const V none(0.0), speed = push * u;  // both sides of the equation times the push
    const V square = fused(speed, speed, V(2.0) * rate * push * work_[i]);
    const V sum = speed + square_root(square);
    const Mask rests = !(u != none), leaves = u > none, rises = rate > none;
    const Mask some =
        filled_[i] & (leaves | (rests & rises)) & (push > none) & (square >= none) & (sum > none);
    return select(some, V(2.0) * work_[i] / sum, V(kInfinity));
  }
  /// Whether the piece that follows empties the store.
  CAROM_INLINE void ends(int i, Mask ended) { ended_[i] = ended; }

  /// event_idles
  [[nodiscard]] CAROM_INLINE Mask idles(const V* u, const V* impulse, const V* rate,
                                        V length) const {
    return event_idles(M, kRows, root_, energy_, u, impulse, rate, length);
  }

  /// Where `moves`: a piece from contact velocities u to `next` with these impulses, [rows]; they
  /// are 0, and `next` is u, elsewhere.
  CAROM_INLINE void follow(Mask moves, const V* u, const V* next, const V* impulse) {
    const V none(0.0), half(0.5);
    for (int i = 0; i < M; ++i) {
      const V e = restitution_[i], work = half * impulse[i] * (u[i] + next[i]);
      const auto compresses = (u[i] < none) | (next[i] < none);
      const V in = select(compresses, work, none), out = select(compresses, none, work);
      const V put = e * e * in;
      rubbed_[i] = rubbed_[i] - half * impulse[M + i] * (u[M + i] + next[M + i]);
      compressed_[i] = compressed_[i] - in;
      stored_[i] = stored_[i] - put;
      released_[i] = released_[i] + out;
      const V rest = work_[i] - (put + out);
      const Mask more = rest > V(EventRules::kEmpty * energy_), emptied = ended_[i] & moves;
      filled_[i] = more & !emptied;
      work_[i] = select(filled_[i], rest, none);
    }
    certificate_.add(impulse, restitution_);
  }

  /// Contact velocity u of row k after the pieces so far, but of their impulses as they are
  /// rounded: by what both differ, every later push would miss again.
  [[nodiscard]] CAROM_INLINE V rounded(int k, V u) const {
    const V own = certificate_.contact_velocity(k);
    return select(magnitude(own - u) <= V(EventRules::kNear) * magnitude(u), own, u);
  }

  [[nodiscard]] CAROM_INLINE const V& restitution(int i) const { return restitution_[i]; }
  [[nodiscard]] CAROM_INLINE const V& stored(int i) const { return stored_[i]; }
  [[nodiscard]] CAROM_INLINE const V& released(int i) const { return released_[i]; }
  [[nodiscard]] CAROM_INLINE V lost_compression(int i) const {
    return compressed_[i] - released_[i];
  }
  [[nodiscard]] CAROM_INLINE const V& lost_friction(int i) const { return rubbed_[i]; }

  /// What an impact that ends with contact velocities u, [rows], misses: of the largest before;
  /// infinite where energies do, but for their balance.
  CAROM_INLINE V missed(const V* u) const {
    V compression[M];
    for (int i = 0; i < M; ++i) compression[i] = lost_compression(i);
    const auto fits = certificate_.books(compression, rubbed_) <= V(certificate::kBooks);
    return select(fits, certificate_.residual(u), V(kInfinity));
  }

 private:
  double energy_;
  double root_[kRows];
  Mask filled_[M], ended_[M];
  V restitution_[M];
  V work_[M];  ///< put by, and not yet come back
  V compressed_[M], stored_[M], released_[M], rubbed_[M];
  certificate::PlanarRestitution<V, Mask, M, MostVelocities> certificate_;
};

}  // namespace carom::kernels
