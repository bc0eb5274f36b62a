#pragma once

#include <algorithm>

#include "motion/body/motion_state.hpp"
#include "motion/mechanisms.hpp"

namespace carom::kernels::motion {

/// f.template operator()<M>() for the mechanism of a kind; nothing for one that has not kDim rows a
/// contact.
template <int kDim, class F>
CAROM_HOST_DEVICE constexpr void choose_mechanism(MotionMechanism kind, F&& f) {
  carom::motion::with_mechanism(kind, [&]<class M>() {
    if constexpr (M::kRows == kDim) f.template operator()<M>();
  });
}

template <int kDim>
constexpr MechanismSizes largest_sizes() {
  MechanismSizes most{0, 0, 0};
  for (int kind = 0; kind <= static_cast<int>(MotionMechanism::spatial_tree); ++kind) {
    choose_mechanism<kDim>(static_cast<MotionMechanism>(kind), [&]<class M>() {
      most.positions = std::max(most.positions, M::kSizes.positions);
      most.velocities = std::max(most.velocities, M::kSizes.velocities);
      most.constraints = std::max(most.constraints, M::kSizes.constraints);
    });
  }
  return most;
}

/// Any of the mechanisms with kDim rows a contact, chosen at run time: a device's kernel compiles
/// integration, contact laws and impacts once for all of them. Bits are those of the mechanism's
/// own.
template <int kDim>
class AnyMechanism {
 public:
  struct Parameters {
    const double* numbers;
    MotionMechanism kind;
  };
  struct Constraint {
    double gap;
    int index;
  };
  static constexpr int kRows = kDim;

  static constexpr MechanismSizes kSizes = largest_sizes<kDim>();

  /// As choose_mechanism.
  template <class F>
  CAROM_HOST_DEVICE static void choose(MotionMechanism kind, F&& f) {
    choose_mechanism<kDim>(kind, f);
  }
  CAROM_INLINE static Parameters parameters_of(const MotionRun& run,
                                               const MotionProblemView& problem) {
    return {problem.parameters, run.mechanism};
  }
  /// LocalState::evaluate.
  template <class Local>
  CAROM_INLINE static bool evaluate(Local& local, const Parameters& parameters,
                                    const MechanismSizes& size, double time, const double* q,
                                    const double* v, const double* drive, unsigned wanted) {
    bool done = false;
    choose(parameters.kind, [&]<class M>() {
      done = fill<M>(local, parameters.numbers, size, time, q, v, drive, wanted);
    });
    return done;
  }
  CAROM_CALL static MechanismSizes sizes(const Parameters& parameters) {
    MechanismSizes result{0, 0, 0};
    choose(parameters.kind, [&]<class M>() { result = M::sizes(parameters.numbers); });
    return result;
  }
  CAROM_CALL static int quaternions(const Parameters& parameters, int* first) {
    int result = 0;
    choose(parameters.kind, [&]<class M>() {
      if constexpr (TurningMechanism<M, const double*>) {
        result = M::quaternions(parameters.numbers, first);
      }
    });
    return result;
  }
  /// Whether `clears` has anything to say.
  CAROM_INLINE static bool lifts(const Parameters& parameters) {
    bool result = false;
    choose(parameters.kind, [&]<class M>() { result = LiftingMechanism<M>; });
    return result;
  }

  CAROM_INLINE AnyMechanism(const Parameters& parameters, double time, const double* q)
      : parameters_(parameters), time_(time), q_(q) {}

  CAROM_CALL void rates(const double* v, double* q_dot) const {
    choose(parameters_.kind, [&]<class M>() { at<M>().rates(v, q_dot); });
  }
  [[nodiscard]] CAROM_CALL double loss(const double* v) const {
    double result = 0.0;
    choose(parameters_.kind, [&]<class M>() {
      if constexpr (requires(const M& m) { m.loss(v); }) result = at<M>().loss(v);
    });
    return result;
  }
  [[nodiscard]] CAROM_CALL Constraint constraint(int i) const {
    Constraint result{0.0, i};
    choose(parameters_.kind, [&]<class M>() { result.gap = at<M>().constraint(i).gap; });
    return result;
  }
  CAROM_CALL void jacobian(const Constraint& c, double* rows, int stride) const {
    choose(parameters_.kind, [&]<class M>() {
      const M m = at<M>();
      m.jacobian(m.constraint(c.index), rows, stride);
    });
  }
  [[nodiscard]] CAROM_CALL bool clears(int i) const {
    bool result = false;
    choose(parameters_.kind, [&]<class M>() {
      if constexpr (LiftingMechanism<M>) result = at<M>().clears(i);
    });
    return result;
  }

 private:
  template <class M, class Local>
  CAROM_CALL static bool fill(Local& local, const double* numbers, const MechanismSizes& size,
                              double time, const double* q, const double* v, const double* drive,
                              unsigned wanted) {
    return local.fill(M(numbers, time, q), size, v, drive, wanted);
  }
  template <class M>
  [[nodiscard]] CAROM_INLINE M at() const {
    return M(parameters_.numbers, time_, q_);
  }

  Parameters parameters_;
  double time_;
  const double* q_;
};

}  // namespace carom::kernels::motion
