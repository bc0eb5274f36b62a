#pragma once

#include <cstdint>

#include <carom/types/motion.hpp>

#include "impact/kernels/derived_step.hpp"
#include "impact/kernels/impact.hpp"
#include "motion/kernels/contact_forces.hpp"
#include "motion/kernels/motion_view.hpp"
#include "motion/kernels/restitution.hpp"

namespace carom::kernels::motion {

/// Seed of what is drawn for `purpose` number `count`; number 0 of purpose 0 keeps the run's own,
/// so that the first impact is the impact family's.
CAROM_INLINE std::uint64_t derived_seed(std::uint64_t seed, std::uint64_t purpose,
                                        std::uint64_t count) {
  if (purpose == 0 && count == 0) return seed;
  std::uint64_t x =
      seed + 0x9E3779B97F4A7C15ULL * (2 * count + 1) + 0xD1B54A32D192ED03ULL * purpose;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}
enum Purpose : std::uint64_t { kImpactDraws, kPushDraws, kLawDraws, kStartDraws };

/// What an impact's steps need: any solution will do.
struct MotionSteps : AllSteps {
  static constexpr bool kEnumeration = false;
  static constexpr bool kCalls = true;
};

struct ImpactOutcome {
  bool done = false;
  double residual = 0.0;
  double normal_impulse = 0.0;  ///< |Lambda_n|_1 [N s]
  int steps = 0;
};

/// Impacts of the contacts that touch, at one state: Algorithm 1 of Halm and Posa until nothing
/// approaches, then restitution.
template <class T>
class MotionImpact {
  static constexpr int kV = T::kSizes.velocities;
  static constexpr int kContacts = T::kSizes.constraints;
  static constexpr int kDim = T::kRows;
  static constexpr int kRowsOfAll = kDim * kContacts;
  static constexpr int kOrder = step_lcp_order<kDim>(kContacts, kMotionFrictionDirections);

 public:
  /// touching: contacts of the impact. `along_slip`: the first tangent of a spatial contact that
  /// slips is its slip's direction, so that friction's polygon has a corner against it.
  CAROM_CALL MotionImpact(const SizesOf<T>& size, const LocalState<T>& at, unsigned touching,
                          const double* v, bool along_slip)
      : size_(size) {
    for (int i = 0; i < size.constraints; ++i) {
      if ((touching >> i & 1U) != 0U) contact_[count_++] = i;
    }
    const int m = count_;
    const int rows = kDim * m;
    for (int j = 0; j < size_.velocities; ++j) velocity_[j] = v[j];
    for (int i = 0; i < m; ++i) {
      const int c = contact_[i];
      friction_[i] = at.friction[c];
      double turn[2] = {1.0, 0.0};
      if (kDim == 3 && along_slip) slip_direction(at.speed[c], turn);
      for (int k = 0; k < kDim; ++k) {
        const int row = k == 0 ? i : m + (kDim - 1) * i + k - 1;
        double column[kV];
        for (int j = 0; j < size_.velocities; ++j) {
          column[j] = at.rows[c][k * size_.velocities + j];
          if (kDim == 3 && k > 0) {
            const double first = at.rows[c][size_.velocities + j];
            const double second = at.rows[c][(kDim - 1) * size_.velocities + j];
            column[j] = k == 1 ? fused(turn[0], first, turn[1] * second)
                               : fused(turn[0], second, -(turn[1] * first));
          }
          jacobian_[row * size_.velocities + j] = column[j];
        }
        at.solve(size_.velocities, column);
        for (int j = 0; j < size_.velocities; ++j) response_[j * rows + row] = column[j];
      }
    }
    double raw[kRowsOfAll * kRowsOfAll];
    for (int i = 0; i < rows; ++i) {
      contact_velocity_[i] =
          LocalState<T>::along(size_.velocities, jacobian_ + i * size_.velocities, v);
      for (int j = 0; j < rows; ++j) {
        double sum = 0.0;
        for (int c = 0; c < size_.velocities; ++c) {
          sum = fused(jacobian_[i * size_.velocities + c], response_[c * rows + j], sum);
        }
        raw[i * rows + j] = sum;
      }
    }
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < rows; ++j) {
        delassus_[i * rows + j] = 0.5 * (raw[i * rows + j] + raw[j * rows + i]);
      }
    }
    for (int i = 0; i < m; ++i) scale_[i] = contact_scale<kDim>(delassus_, m, i);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < rows; ++j) {
        scaled_[i * rows + j] = delassus_[i * rows + j] * scale_[of(i)] * scale_[of(j)];
      }
    }
    view_.mass = at.mass;
    view_.jacobian = jacobian_;
    view_.response = response_;
    view_.delassus = scaled_;
    view_.scale = scale_;
    view_.friction = friction_;
    view_.velocity = velocity_;
    view_.contact_velocity = contact_velocity_;
    view_.energy = at.kinetic(size_.velocities, v);
    scratch_ = ImpactScratch<kDim>::carve(size_.velocities, m, reals_, ints_);
    scratch_.fallback_reals = fallback_;
    scratch_.fallback_ints = fallback_ints_;
    scratch_.outcomes = outcomes_;
  }
  MotionImpact(const MotionImpact&) = delete;
  MotionImpact& operator=(const MotionImpact&) = delete;

  /// Puts what there is to prepare into `probe`. y: (q, v), [length].
  CAROM_CALL void tell(const double* y, int length, unsigned touching,
                       FirstImpactProbe& probe) const {
    const int nv = size_.velocities;
    probe.contacts = touching;
    for (int j = 0; j < length; ++j) probe.state[j] = y[j];
    for (int j = 0; j < nv * nv; ++j) probe.mass[j] = view_.mass[j];
    for (int j = 0; j < kDim * count_ * nv; ++j) probe.jacobian[j] = jacobian_[j];
    for (int i = 0; i < count_; ++i) probe.friction[i] = friction_[i];
  }

  /// Steps are those of the impact family's own problem.
  CAROM_CALL void adopt(const ImpactProblemView& prepared) { view_ = prepared; }

  /// v := the velocity after impact number `number` of the sample. `push`: without collision, the
  /// first step is one that pushes in. impulse: [contacts], normal impulses are added.
  /// step_size: h [N s]; 0: of this impact.
  CAROM_CALL ImpactOutcome run(ImpactRun run, double step_size, std::uint32_t index,
                               std::uint64_t sample, std::uint64_t number, bool push,
                               Restitution kind, double coefficient, double* v) {
    ImpactOutcome out;
    run.velocities = size_.velocities;
    run.contacts = count_;
    const std::uint64_t seed = run.seed;
    const LaneOf<T> lanes;
    const double before = view_.energy;
    if (push &&
        !pushes_in(run, step_size, index, sample, derived_seed(seed, kPushDraws, number), out)) {
      return out;
    }
    view_.step_size = step_size_of(step_size, count_, kDim * count_, view_.delassus, view_.scale,
                                   view_.contact_velocity, run.velocity_tolerance);
    if (!(step_size > 0.0)) {
      // A slow approach may have to stop a fast slip. And the step must stay above the rounding of
      // the contact velocities, or no step can be certified.
      view_.step_size = larger(view_.step_size, kShareOfSlip * sliding_impulse());
      view_.step_size = larger(view_.step_size, kShareOfTerms * impulse_of_terms());
    }
    run.seed = derived_seed(seed, kImpactDraws, number);
    ImpactTrajectory<kDim, LaneOf<T>, MotionSteps> trajectory(lanes, run, view_, scratch_);
    TrajectoryEnd end = trajectory.begin(nullptr);
    double compression = 0.0;  // work that the normals took
    double normal_before[kContacts] = {};
    for (;;) {
      for (int i = 0; i < count_; ++i) normal_before[i] = scratch_.u[i];
      if (!trajectory.advance(index, sample, nullptr, end)) break;
      for (int i = 0; i < count_; ++i) {
        compression =
            fused(-0.5 * (normal_before[i] + scratch_.u[i]), scratch_.impulse[i], compression);
      }
    }
    if (end.status != TrajectoryStatus::terminated || end.unfinished) return out;
    out.done = true;
    out.steps += end.steps;
    out.residual = larger(out.residual, end.residual);
    for (int i = 0; i < count_; ++i) total_[i] += scratch_.total[i];
    if (coefficient > 0.0) {
      const RestitutionProblem<T> rebound{size_.velocities, count_,    jacobian_,         response_,
                                          delassus_,        friction_, contact_velocity_, total_};
      double impulse[kRowsOfAll];
      const double ratio =
          rebound.solve(kind, coefficient, view_.mass, before, compression, scratch_.v, impulse);
      for (int i = 0; i < count_; ++i) total_[i] = fused(ratio, impulse[i], total_[i]);
    }
    for (int j = 0; j < size_.velocities; ++j) v[j] = scratch_.v[j];
    for (int i = 0; i < count_; ++i) out.normal_impulse += total_[i];
    return out;
  }

  /// Contacts that took an impulse, after run.
  [[nodiscard]] CAROM_INLINE unsigned struck() const {
    unsigned mask = 0;
    for (int i = 0; i < count_; ++i) {
      if (total_[i] > 0.0) mask |= 1U << contact_[i];
    }
    return mask;
  }

 private:
  CAROM_INLINE static void slip_direction(const double* speed, double* direction) {
    const double size = square_root(fused(speed[1], speed[1], speed[kDim - 1] * speed[kDim - 1]));
    if (!(size > 0.0)) return;
    direction[0] = speed[1] / size;
    direction[1] = speed[kDim - 1] / size;
  }

  [[nodiscard]] CAROM_INLINE int of(int row) const {
    return row < count_ ? row : (row - count_) / (kDim - 1);
  }

  /// Impact without collision: one step of (75) with an impulse although nothing approaches, drawn
  /// among those there are. What it leaves approaches, and Algorithm 1 goes on from there.
  CAROM_CALL bool pushes_in(const ImpactRun& run, double step_size, std::uint32_t index,
                            std::uint64_t sample, std::uint64_t seed, ImpactOutcome& out) {
    const int m = count_;
    const int rows = kDim * m;
    if (rows > kMaxEnumeratedRows) return false;
    const double largest = step_size > 0.0 ? step_size : sliding_impulse();
    for (int i = 0; i < rows; ++i) scratch_.scaled_u[i] = contact_velocity_[i] * scale_[of(i)];
    StepEnumerator<kDim, LaneOf<T>> steps(m, run.polygon, scaled_, friction_, scratch_.scaled_u,
                                          scratch_.scaled_limit, outcomes_);
    int pushing[kMaxOutcomes];
    int count = 0;
    // Slow slip turns within a large step: none may push in where a smaller one does.
    double share = 1.0;
    for (int attempt = 0; attempt < kAttempts && count == 0; ++attempt, share *= kShrink) {
      for (int i = 0; i < m; ++i) {
        const double limit =
            share * largest * uniform(seed, index, sample, static_cast<std::uint32_t>(i));
        scratch_.scaled_limit[i] = limit / scale_[i];
      }
      const int found = steps.run();
      for (int o = 0; o < found; ++o) {
        double taken = 0.0;
        for (int i = 0; i < m; ++i) {
          taken = larger(taken, steps.impulse(o)[i] / larger(scratch_.scaled_limit[i], 1e-300));
        }
        if (taken > kTaken) pushing[count++] = o;
      }
    }
    if (count == 0) return false;
    int chosen = static_cast<int>(uniform(seed, index, sample, kChoiceDraws) * count);
    if (chosen >= count) chosen = count - 1;
    const double* impulse = steps.impulse(pushing[chosen]);
    for (int i = 0; i < rows; ++i) scratch_.impulse[i] = impulse[i] * scale_[of(i)];
    for (int j = 0; j < size_.velocities; ++j) {
      for (int i = 0; i < rows; ++i) {
        velocity_[j] = fused(response_[j * rows + i], scratch_.impulse[i], velocity_[j]);
      }
    }
    for (int i = 0; i < rows; ++i) {
      contact_velocity_[i] =
          LocalState<T>::along(size_.velocities, jacobian_ + i * size_.velocities, velocity_);
    }
    for (int i = 0; i < m; ++i) total_[i] += scratch_.impulse[i];
    view_.energy = energy_of(velocity_);
    ++out.steps;
    return true;
  }

  /// The largest impulse that stops one row of contact velocities by itself [N s].
  [[nodiscard]] CAROM_INLINE double sliding_impulse() const {
    const int rows = kDim * count_;
    double most = 0.0;
    for (int i = 0; i < rows; ++i) {
      const double impulse = magnitude(contact_velocity_[i]) / delassus_[i * rows + i];
      if (is_finite(impulse)) most = larger(most, impulse);
    }
    return most > 0.0 ? most : 1.0;
  }

  /// The largest impulse that makes a contact as fast as the terms of its velocity are [N s].
  [[nodiscard]] CAROM_INLINE double impulse_of_terms() const {
    double most = 0.0;
    for (int i = 0; i < kDim * count_; ++i) {
      double size = 0.0;
      for (int j = 0; j < size_.velocities; ++j) {
        size = fused(magnitude(jacobian_[i * size_.velocities + j]), magnitude(velocity_[j]), size);
      }
      const double impulse = size / delassus_[i * kDim * count_ + i];
      if (is_finite(impulse)) most = larger(most, impulse);
    }
    return most;
  }

  [[nodiscard]] CAROM_INLINE double energy_of(const double* v) const {
    double twice = 0.0;
    for (int i = 0; i < size_.velocities; ++i) {
      twice = fused(LocalState<T>::along(size_.velocities, view_.mass + i * size_.velocities, v),
                    v[i], twice);
    }
    return 0.5 * twice;
  }

  static constexpr int kAttempts = 10;
  static constexpr double kShrink = 0.1;
  static constexpr double kShareOfSlip = 1e-3;
  static constexpr double kShareOfTerms = 1e-4;
  static constexpr double kTaken = 1e-6;  ///< of what a step may take: an impulse, not rounding

  SizesOf<T> size_;
  int count_ = 0;
  int contact_[kContacts];
  double velocity_[kV];
  double friction_[kContacts], scale_[kContacts];
  double total_[kContacts] = {};
  double contact_velocity_[kRowsOfAll];
  double jacobian_[kRowsOfAll * kV], response_[kV * kRowsOfAll];
  double delassus_[kRowsOfAll * kRowsOfAll], scaled_[kRowsOfAll * kRowsOfAll];
  double outcomes_[enumeration_workspace(kMaxEnumeratedRows)];
  double reals_[ImpactScratch<kDim>::real_count(kV, kContacts)];
  int ints_[ImpactScratch<kDim>::int_count(kContacts)];
  double fallback_[kOrder + lemke_real_workspace(kOrder)];
  int fallback_ints_[lemke_int_workspace(kOrder)];
  ImpactProblemView view_{};
  ImpactScratch<kDim> scratch_;
};

}  // namespace carom::kernels::motion
