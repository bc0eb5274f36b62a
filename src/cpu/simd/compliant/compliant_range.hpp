#pragma once

#include <algorithm>
#include <cstdint>

#include "compliant/kernels/compliant_array.hpp"
#include "compliant/kernels/world.hpp"
#include "compliant/scenarios/kinds.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/impact/step_packs.hpp"

namespace carom::cpu::simd {

/// Scratch of one thread.
struct StepWorkspace {
  double* reals;
  int* ints;
  RowType* types;
  double* pack;  ///< [kStepPackWorkspace], on a cache line
};
struct StepWorkspaceSizes {
  long reals, ints, types;
};

/// States after each step, [steps, all worlds, ..]; null: not kept.
struct WorldsKept {
  std::int64_t worlds = 0;
  double* position = nullptr;
  double* velocity = nullptr;
  double* impulse = nullptr;
  kernels::WorldRecord* record = nullptr;
};

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
  StepWorkspace work;  ///< of worlds_workspace
  WorldsKept kept{};
};
/// Worlds [first, first + count) after `step`.
template <class Isa>
void keep(const WorldsRange& r, std::int64_t step, std::int64_t first, std::int64_t count) {
  const auto copy = [&](const auto* from, auto* to, long stride) {
    std::copy_n(from + first * stride, count * stride,
                to + ((step - r.first) * r.kept.worlds + first) * stride);
  };
  copy(r.position, r.kept.position, r.sizes.positions);
  copy(r.velocity, r.kept.velocity, r.sizes.velocities);
  copy(r.impulse, r.kept.impulse, r.sizes.rows);
  copy(r.record, r.kept.record, 1);
}

/// Problems [begin, end) of a batch of steps in one thread.
struct CompliantRange {
  std::int64_t begin;
  std::int64_t end;
  const kernels::CompliantArrays* arrays;
  kernels::CompliantOptions options;
  StepWorkspace work;  ///< of steps_workspace
};

/// Worlds or problems taken side by side: one where packs do not take them.
constexpr int steps_at_once(int velocities) {
  return velocities <= kernels::kPackVelocities ? kStepBlock : 1;
}
template <class Scenario>
constexpr StepWorkspaceSizes worlds_workspace(const kernels::WorldSizes& s) {
  const int side = steps_at_once(s.velocities);
  return {side * kernels::world_reals(s) + kernels::world_solver_reals<Scenario::kMany>(s),
          side * kernels::world_ints(s) + kernels::world_solver_ints(s),
          side * kernels::world_types(s)};
}
constexpr StepWorkspaceSizes steps_workspace(int rows, int velocities) {
  const int side = steps_at_once(velocities);
  return {side * kernels::array_task_reals(rows) + kernels::array_solver_reals(rows, velocities),
          side * kernels::array_task_ints(rows) + kernels::array_solver_ints(rows),
          side * kernels::array_task_types(rows) + kernels::array_solver_types(rows)};
}

template <class Isa>
void step_worlds(const WorldsRange& r) {
  models::detail::visit_scenario(r.kind, [&](auto body) {
    using Scenario = decltype(body);
    using World = kernels::World<Scenario, Isa>;
    const kernels::CompliantOptions options = kernels::world_options<Scenario>(r.settings);
    const int side = steps_at_once(r.sizes.velocities);
    World worlds[kStepBlock];
    for (int i = 0; i < side; ++i) {
      worlds[i] = World(r.sizes, r.work.reals + i * kernels::world_reals(r.sizes),
                        r.work.ints + i * kernels::world_ints(r.sizes),
                        r.work.types + i * kernels::world_types(r.sizes));
    }
    kernels::WorldSolver<Scenario::kMany, Isa> solver(
        r.sizes, r.work.reals + side * kernels::world_reals(r.sizes),
        r.work.ints + side * kernels::world_ints(r.sizes));
    StepPacks<Isa, true, Scenario::kContacts> packs(options, r.work.pack);
    for (std::int64_t first = r.begin; first < r.end; first += side) {
      const int count = static_cast<int>(first + side < r.end ? side : r.end - first);
      for (std::int64_t step = r.first; step < r.first + r.count; ++step) {
        const kernels::StepTask* tasks[kStepBlock];
        int which[kStepBlock];
        int waiting = 0;
        bool over = true;
        for (int i = 0; i < count; ++i) {
          const std::int64_t w = first + i;
          over = over && (r.record[w].finished || r.record[w].broken);
          if (!worlds[i].begin(r.parameters + w * r.parameter_stride, r.settings, step,
                               r.position + w * r.sizes.positions,
                               r.velocity + w * r.sizes.velocities, r.impulse + w * r.sizes.rows,
                               r.record[w])) {
            continue;
          }
          tasks[waiting] = &worlds[i].task();
          which[waiting++] = i;
        }
        if (over && r.kept.record == nullptr) break;
        kernels::StepVerdict verdicts[kStepBlock];
        packs.solve(tasks, waiting, verdicts);
        for (int t = 0; t < waiting; ++t) {
          const std::int64_t w = first + which[t];
          if (!(verdicts[t].residual <= options.tolerance)) {
            const int before = verdicts[t].iterations;
            verdicts[t] = solver.solve(options, *tasks[t]);
            verdicts[t].iterations += before;
          }
          worlds[which[t]].end(r.parameters + w * r.parameter_stride, r.settings, verdicts[t],
                               r.position + w * r.sizes.positions,
                               r.velocity + w * r.sizes.velocities, r.impulse + w * r.sizes.rows,
                               r.record[w]);
        }
        if (r.kept.record != nullptr) keep<Isa>(r, step, first, count);
      }
    }
  });
}

CAROM_INLINE void ask_for(const double* from, long count) {
  constexpr long kLine = 64 / sizeof(double);
  for (long e = 0; e < count; e += kLine) __builtin_prefetch(from + e);
}
/// Asks for a problem's numbers that packs load: the choice of rows leaves the time to fetch them.
CAROM_INLINE void ask_for_pack(const kernels::CompliantArrays& a, std::int64_t problem) {
  const long rows = a.rows;
  const long nv = a.velocities;
  ask_for(a.jacobian + problem * rows * nv, rows * nv);
  ask_for(a.mass_matrix + problem * nv * nv, nv * nv);
  ask_for(a.jacobian_dot_v + problem * rows, rows);
  ask_for(a.phi + problem * rows, rows);
  ask_for(a.force + problem * nv, nv);
  ask_for(a.velocity + problem * nv, nv);
}
/// Asks for those that the choice of rows reads.
CAROM_INLINE void ask_for_choice(const kernels::CompliantArrays& a, std::int64_t problem) {
  const long rows = a.rows;
  ask_for(a.stiffness + problem * rows, rows);
  ask_for(a.damping + problem * rows, rows);
  ask_for(a.friction + problem * rows, rows);
}

template <class Isa>
void solve_compliant(const CompliantRange& r) {
  const int rows = r.arrays->rows;
  const int nv = r.arrays->velocities;
  const int side = steps_at_once(nv);
  kernels::ArrayTask<Isa> problems[kStepBlock];
  for (int i = 0; i < side; ++i) {
    problems[i] =
        kernels::ArrayTask<Isa>(*r.arrays, r.work.reals + i * kernels::array_task_reals(rows),
                                r.work.ints + i * kernels::array_task_ints(rows),
                                r.work.types + i * kernels::array_task_types(rows));
  }
  kernels::ArraySolver<Isa> solver(rows, nv, r.work.reals + side * kernels::array_task_reals(rows),
                                   r.work.ints + side * kernels::array_task_ints(rows),
                                   r.work.types + side * kernels::array_task_types(rows));
  StepPacks<Isa, false, kernels::kArrayContacts> packs(r.options, r.work.pack);
  for (std::int64_t first = r.begin; first < r.end; first += side) {
    const int count = static_cast<int>(first + side < r.end ? side : r.end - first);
    const kernels::StepTask* tasks[kStepBlock];
    int which[kStepBlock];
    int waiting = 0;
    for (int i = 0; i < count; ++i) {
      constexpr int kAhead = 6;
      if (first + i + kAhead < r.end) ask_for_choice(*r.arrays, first + i + kAhead);
      ask_for_pack(*r.arrays, first + i);
      if (!problems[i].begin(first + i, r.options.centripetal)) {
        problems[i].refuse(first + i, Status::invalid_input);
        continue;
      }
      tasks[waiting] = &problems[i].task();
      which[waiting++] = i;
    }
    kernels::StepVerdict verdicts[kStepBlock];
    packs.solve(tasks, waiting, verdicts);
    for (int t = 0; t < waiting; ++t) {
      kernels::ArrayTask<Isa>& problem = problems[which[t]];
      if (!(verdicts[t].residual <= r.options.tolerance)) {
        const int before = verdicts[t].iterations;
        if (!problem.acceptable(first + which[t]) ||
            !solver.solve(r.options, *tasks[t], verdicts[t])) {
          problem.refuse(first + which[t], Status::invalid_input);
          continue;
        }
        verdicts[t].iterations += before;
      }
      problem.end(first + which[t], verdicts[t], r.options.tolerance);
    }
  }
}

}  // namespace carom::cpu::simd
