#pragma once

#include <cstdint>

#include <carom/kernels/compliant_array_body.hpp>
#include <carom/kernels/world_body.hpp>

#include "cpu/simd/dispatch.hpp"
#include "models/scenario_kinds.hpp"

namespace carom::cpu::simd {

/// Worlds [begin, end) of a scenario in one thread, from time step `first` on.
struct WorldsRange {
  std::int64_t begin;
  std::int64_t end;
  models::ScenarioKind kind;
  kernels::WorldSizes sizes;
  const double* parameters;
  std::int64_t parameter_stride;  ///< 0: one set for all
  kernels::WorldSettings settings;
  std::int64_t first;
  std::int64_t count;
  double* position;  ///< [worlds, positions]
  double* velocity;  ///< [worlds, velocities]
  double* impulse;   ///< [worlds, rows]
  kernels::WorldRecord* record;
  double* reals;
  int* ints;
  RowType* types;
};

/// Problems [begin, end) of a batch of steps in one thread.
struct CompliantRange {
  std::int64_t begin;
  std::int64_t end;
  const kernels::CompliantArrays* arrays;
  double tolerance;
  int max_iterations;
  bool centripetal;
  double* reals;
  int* ints;
  RowType* types;
};

struct CompliantSet {
  void (*step_worlds)(const WorldsRange&);
  void (*solve_steps)(const CompliantRange&);
};
extern const CompliantSet kCompliantGeneric;
extern const CompliantSet kCompliantAvx2;
extern const CompliantSet kCompliantAvx512;

/// The entry points of one instruction set; Target is a type that no other translation unit has.
template <class Target>
void step_worlds_range(const WorldsRange& r) {
  models::detail::visit_scenario(r.kind, [&](auto body) {
    kernels::World<decltype(body), Target> world(r.sizes, r.reals, r.ints, r.types);
    for (std::int64_t w = r.begin; w < r.end; ++w) {
      if (r.record[w].broken) continue;
      world.run(r.parameters + w * r.parameter_stride, r.settings, r.first, r.count,
                r.position + w * r.sizes.positions, r.velocity + w * r.sizes.velocities,
                r.impulse + w * r.sizes.rows, r.record[w]);
    }
  });
}

template <class Target>
void solve_steps_range(const CompliantRange& r) {
  kernels::CompliantArrayStep<Target> step(*r.arrays, r.reals, r.ints, r.types);
  for (std::int64_t problem = r.begin; problem < r.end; ++problem) {
    step.run(problem, r.tolerance, r.max_iterations, r.centripetal);
  }
}

template <class Target>
constexpr CompliantSet compliant_set() {
  return {step_worlds_range<Target>, solve_steps_range<Target>};
}

}  // namespace carom::cpu::simd
