#pragma once

#include <cstdint>
#include <cstring>

#include <carom/types/motion.hpp>

#include "impact/kernels/impact.hpp"

namespace carom {
struct OwnMechanism;
}

namespace carom::kernels::motion {

template <class Value>
using Pointer = Value*;
template <class Value>
using ReadPointer = const Value*;

/// The first impact of a problem's motions as the impact family prepares it, mode table included,
/// at the state in which sample 0 meets it.
struct FirstImpact {
  unsigned contacts = 0;          ///< bits of those that touch; 0: there is none
  const double* state = nullptr;  ///< (q, v) before it
  ImpactProblemView problem{};
};

/// What a motion that ends at its first impact finds there.
struct FirstImpactProbe {
  unsigned contacts;  ///< 0: there is none
  double* state;      ///< (q, v), [nq + nv]
  double* mass;       ///< [nv, nv]
  double* jacobian;   ///< [Jn; Jt] of the contacts that touch
  double* friction;   ///< likewise
};

/// What all motions of a run share.
struct MotionRun {
  MotionMechanism mechanism;
  const OwnMechanism* own;  ///< null but on the cpu, for one's own function
  FirstImpactProbe* probe;  ///< on the host: motions end at their first impact; null elsewhere
  ImpactRun impact;         ///< velocities and contacts are those of each impact
  double step_size;         ///< h of impacts [N s]; 0: derived at each
  double duration, coefficient, tolerance, contact_tolerance, velocity_tolerance, law_tolerance,
      zeno_tolerance, grid;
  Restitution restitution;
  long max_events;
  std::uint64_t seed;
};

/// One problem's numbers.
struct MotionProblemView : MotionBatchArrays<ReadPointer> {
  long knots;
  double drive_interval;
  const FirstImpact* first;  ///< of these samples; null: none is known
};

/// Where one sample's numbers go; `state` and the events' arrays are null where none are kept.
struct MotionSampleView : MotionResultArrays<Pointer> {
  long grid_points;
  long event_rows;
};

/// Steps between the arrays' values of neighbouring problems and samples, in bytes, in the order of
/// the arrays: members of `Arrays` are pointers, one after the other.
template <class Arrays>
struct ArraySteps {
  static constexpr int kCount = static_cast<int>(sizeof(Arrays) / sizeof(char*));
  static_assert(sizeof(Arrays) == kCount * sizeof(char*));
  long problem[kCount];
  long sample[kCount];
  long samples[kCount];  ///< that an array has; beyond them there is nothing to point at

  CAROM_HOST_DEVICE Arrays at(const Arrays& first, long p, long i) const {
    const char* from[kCount];
    std::memcpy(from, &first, sizeof(first));
    for (int k = 0; k < kCount; ++k) {
      if (from[k] == nullptr) continue;
      from[k] = i < samples[k] ? from[k] + p * problem[k] + i * sample[k] : nullptr;
    }
    Arrays to;
    std::memcpy(&to, from, sizeof(to));
    return to;
  }
};

/// What a backend goes through: motions of a batch, sample after sample.
struct MotionView {
  MotionRun run;
  MotionBatchArrays<ReadPointer> batch;
  MotionResultArrays<Pointer> result;
  ArraySteps<MotionBatchArrays<ReadPointer>> batch_steps;
  ArraySteps<MotionResultArrays<Pointer>> result_steps;
  long samples, knots, grid_points, event_rows;
  double drive_interval;
  long first_problem;
  std::uint64_t first_sample;
  /// First impacts of problem `first_of` and those after it: of samples below `wide_from` and of
  /// the others. Null: none are known.
  const FirstImpact* first[2];
  long first_of;
  std::uint64_t wide_from;

  [[nodiscard]] CAROM_HOST_DEVICE MotionProblemView problem(long p, long i) const {
    MotionProblemView view{};
    const FirstImpact* known =
        first[first_sample + static_cast<std::uint64_t>(i) < wide_from ? 0 : 1];
    view.first = known == nullptr ? nullptr : known + (p - first_of);
    static_cast<MotionBatchArrays<ReadPointer>&>(view) = batch_steps.at(batch, p, 0);
    view.knots = knots;
    view.drive_interval = drive_interval;
    return view;
  }
  [[nodiscard]] CAROM_HOST_DEVICE MotionSampleView sample(long p, long i) const {
    MotionSampleView view{};
    static_cast<MotionResultArrays<Pointer>&>(view) = result_steps.at(result, p, i);
    view.grid_points = grid_points;
    view.event_rows = event_rows;
    return view;
  }
};

}  // namespace carom::kernels::motion
