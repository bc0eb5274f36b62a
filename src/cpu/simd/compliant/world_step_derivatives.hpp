#pragma once

#include <cstdint>

#include <carom/types/models/scenarios.hpp>

#include "compliant/kernels/compliant_derivative.hpp"
#include "compliant/scenarios/base.hpp"
#include "cpu/simd/compliant/world_pullback.hpp"
#include "cpu/simd/derivative_code.hpp"
#include "cpu/simd/padding.hpp"

/// Steps of a scenario's worlds followed back, or ahead along a direction, a world a lane.
namespace carom::cpu::simd {

/// A step that packs leave to one lane.
struct StepAlone {
  int world;
  derivatives::StepShape shape;
  derivatives::StepView<double> problem;
  const double* force;  ///< of its rows
  // Back:
  const double* cotangent;                         ///< the loss's gradient in v'
  derivatives::StepGradientView<double> gradient;  ///< out
  // Ahead:
  derivatives::StepDirectionView<double> direction;
  derivatives::StepTangentView<double> tangent;  ///< out
};

/// One step of some worlds. Arrays without another shape: by the world's number.
struct WorldSteps {
  enum class Map : std::uint8_t {
    back,   ///< gradient in (q', v', p, h) to that in (q, v, p, h)
    ahead,  ///< rates of (q, v, p, h) to those of (q', v')
    start,  ///< those of p to those of (q, v), to which they are added
  };
  Map map;
  models::ScenarioKind kind;
  kernels::WorldSizes sizes;
  int parameters;  ///< their number
  double step;     ///< its number: the time is this times h
  double step_size;
  bool centripetal;
  derivatives::DerivativeRules rules;
  const bool* active;       ///< which of (q, v, p, h) to differentiate in
  const double* position;   ///< before, [worlds, positions]
  const double* velocity;   ///< before, [worlds, velocities]
  const double* after;      ///< v', [worlds, velocities]
  const double* impulse;    ///< by slot, [worlds, rows]
  const double* parameter;  ///< [worlds or 1, parameters]
  std::int64_t parameter_stride;
  const bool* solved;
  double* bar;                  ///< in and out: what `map` says, [worlds, inputs]
  derivatives::Report* report;  ///< out
  double* touch;                ///< out: the least |phi| / (h |phi'|) of rows that only push
  int* world;                   ///< which worlds, [count]; out: those that share packs together
  int count;
  int done;        ///< of those; in and out: not all where the tape is full
  double* reals;   ///< world_steps_reals, on a cache line
  int* ints;       ///< world_steps_ints
  RowType* types;  ///< [sizes.rows]
  int tape;        ///< numbers that there is room for
  void* owner;
  void (*alone)(void* owner, const StepAlone& step, derivatives::Report& report);
};

/// The tape's first size: what the rows' text takes, and more.
constexpr int world_tape(const kernels::WorldSizes& sizes) {
  return 512 + 8 * (sizes.positions + sizes.velocities) + 128 * sizes.rows;
}
constexpr long world_steps_reals(const kernels::WorldSizes& s, int parameters, int tape) {
  const long n = s.velocities, inputs = s.positions + n + parameters + 1L,
             row_values = kernels::constraint_reals(s.rows, s.velocities);
  const long numbers = inputs + 2 * n + row_values;  // of two packs' size
  const long packs = derivatives::step_derivative_reals(s.velocities, s.rows) + 3L * inputs +
                     8 * n + 3 * row_values + 5L * s.rows + 16;
  return kLargestPair * (4L * tape + 2 * numbers + packs + 64) + 4 * inputs +
         3 * (6 * n + row_values) + world_pullback_reals(s, parameters);
}
constexpr long world_steps_ints(const kernels::WorldSizes& s) {
  return kernels::constraint_ints(s.rows) + derivatives::step_derivative_ints(s.rows);
}

}  // namespace carom::cpu::simd
