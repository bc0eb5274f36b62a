#pragma once

#include <algorithm>
#include <cstdint>

#include "motion/kernels/motion_state.hpp"
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

  CAROM_INLINE void rates(const double* v, double* q_dot) const {
    ask({Question::rates, 0, v, q_dot, 0});
  }
  [[nodiscard]] CAROM_INLINE double loss(const double* v) const {
    double result = 0.0;
    ask({Question::loss, 0, v, &result, 0});
    return result;
  }
  [[nodiscard]] CAROM_INLINE Constraint constraint(int i) const {
    Constraint result{0.0, i};
    ask({Question::gap, i, nullptr, &result.gap, 0});
    return result;
  }
  CAROM_INLINE void jacobian(const Constraint& c, double* rows, int stride) const {
    ask({Question::jacobian, c.index, nullptr, rows, stride});
  }
  [[nodiscard]] CAROM_INLINE bool clears(int i) const {
    double result = 0.0;
    ask({Question::clears, i, nullptr, &result, 0});
    return result != 0.0;
  }

 private:
  template <class M, class Local>
  CAROM_CALL static bool fill(Local& local, const double* numbers, const MechanismSizes& size,
                              double time, const double* q, const double* v, const double* drive,
                              unsigned wanted) {
    return local.fill(M(numbers, time, q), size, v, drive, wanted);
  }
  enum class Question : std::uint8_t { rates, loss, gap, jacobian, clears };
  struct Ask {
    Question question;
    int constraint;
    const double* v;
    double* answer;
    int stride;
  };
  /// Makes every mechanism in one place: that is most of the code of each question.
  CAROM_CALL void ask(const Ask& a) const {
    choose(parameters_.kind, [&]<class M>() {
      const M m(parameters_.numbers, time_, q_);
      switch (a.question) {
        case Question::rates:
          m.rates(a.v, a.answer);
          break;
        case Question::loss:
          if constexpr (requires { m.loss(a.v); }) *a.answer = m.loss(a.v);
          break;
        case Question::gap:
          *a.answer = m.constraint(a.constraint).gap;
          break;
        case Question::jacobian:
          m.jacobian(m.constraint(a.constraint), a.answer, a.stride);
          break;
        case Question::clears:
          if constexpr (LiftingMechanism<M>) *a.answer = m.clears(a.constraint) ? 1.0 : 0.0;
      }
    });
  }

  Parameters parameters_;
  double time_;
  const double* q_;
};

}  // namespace carom::kernels::motion
