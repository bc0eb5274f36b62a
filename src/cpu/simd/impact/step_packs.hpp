#pragma once

#include <cstdint>

#include "compliant/kernels/compliant_pack.hpp"
#include "cpu/simd/pack_memory.hpp"
#include "cpu/simd/padding.hpp"
#include "cpu/simd/spread.hpp"

/// Steps of many worlds, those with rows of the same types together in packs. Each instruction
/// set's translation unit instantiates it with types of its own.
namespace carom::cpu::simd {

/// As many tasks as are chosen from at a time.
inline constexpr int kStepBlock = 32;

/// Doubles of workspace of the widest packs.
inline constexpr long kStepPackWorkspace =
    kLargestPadding * kernels::pack_layout(kernels::kPackRows, kernels::kPackVelocities, false).end;

template <class Isa, bool kDiagonal, int kContacts>
class StepPacks {
  static constexpr int kWidth = Isa::kWidth;

 public:
  __attribute__((always_inline))
  StepPacks(const kernels::CompliantOptions& options, double* workspace)
      : options_(options), workspace_(workspace) {}

  /// Tasks [0, count), count <= kStepBlock. Where a verdict's residual exceeds the tolerance, or is
  /// infinite because packs do not take the task, its answer is not touched. A task's result does
  /// not depend on its neighbours.
  void solve(const kernels::StepTask* const* tasks, int count, kernels::StepVerdict* verdicts) {
    bool taken[kStepBlock] = {};
    for (int first = 0; first < count; ++first) {
      if (taken[first]) continue;
      if (tasks[first]->pattern == 0) {
        verdicts[first] = {kernels::kInfinity, 0, false};
        continue;
      }
      int members[2 * kWidth];
      int found = 0;
      for (int i = first; i < count && found < 2 * kWidth; ++i) {
        if (taken[i] || tasks[i]->pattern != tasks[first]->pattern) continue;
        taken[i] = true;
        members[found++] = i;
      }
      const kernels::PackShape shape = kernels::pack_shape(*tasks[first], options_.tangents);
      [[maybe_unused]] const bool known = kContacts > 0 && shape.is_body_on(kContacts);
      int done = 0;
      if constexpr (Isa::kPacksPay) {
        using Pack = typename Isa::Pack;
        if constexpr (kContacts > 0) {
          if (known && found > 1) {
            solve_two<Pack>(shape, tasks, members, found, verdicts);
            continue;
          }
        }
        while (found - done > 1) {
          const int some = found - done < kWidth ? found - done : kWidth;
          solve_pack<Pack, kWidth, 0>(shape, tasks, members + done, some, verdicts);
          done += some;
        }
      }
      for (; done < found; ++done) {
        if constexpr (kContacts > 0) {
          if (known) {
            solve_pack<double, 1, kContacts>(shape, tasks, members + done, 1, verdicts);
            continue;
          }
        }
        solve_pack<double, 1, 0>(shape, tasks, members + done, 1, verdicts);
      }
    }
  }

 private:
  template <class V, int Width, int kFixed>
  void solve_pack(const kernels::PackShape& shape, const kernels::StepTask* const* tasks,
                  const int* members, int found, kernels::StepVerdict* verdicts) {
    kernels::CompliantPack<V, IsaMemory<Isa, V>, kDiagonal, kFixed> pack(
        shape, {reinterpret_cast<V*>(workspace_)});
    load<Width>(tasks, members, found, pack.layout(), workspace_);
    give<Width>(pack.solve(options_), tasks, members, found, pack.layout(), workspace_, verdicts);
  }

  /// Up to two packs of a body on kContacts side by side.
  template <class V>
  void solve_two(const kernels::PackShape& shape, const kernels::StepTask* const* tasks,
                 const int* members, int found, kernels::StepVerdict* verdicts) {
    using Memory = IsaMemory<Isa, V>;
    using Pack = kernels::CompliantPack<V, Memory, kDiagonal, kContacts>;
    const long size = kernels::pack_layout(shape.rows, shape.velocities, kDiagonal).end;
    double* const memory[2] = {workspace_, workspace_ + size * kWidth};
    Pack packs[2] = {Pack(shape, Memory{reinterpret_cast<V*>(memory[0])}),
                     Pack(shape, Memory{reinterpret_cast<V*>(memory[1])})};
    const int in_pack[2] = {found < kWidth ? found : kWidth, found - kWidth};
    const int count = found > kWidth ? 2 : 1;
    for (int k = 0; k < count; ++k) {
      load<kWidth>(tasks, members + k * kWidth, in_pack[k], packs[k].layout(), memory[k]);
    }
    kernels::PackOutcome<V> outcomes[2];
    Pack::solve(packs, count, options_, outcomes);
    for (int k = 0; k < count; ++k) {
      give<kWidth>(outcomes[k], tasks, members + k * kWidth, in_pack[k], packs[k].layout(),
                   memory[k], verdicts);
    }
  }

  template <int Width, class V>
  CAROM_INLINE void give(const kernels::PackOutcome<V>& outcome,
                         const kernels::StepTask* const* tasks, const int* members, int found,
                         const kernels::PackLayout& at, double* workspace,
                         kernels::StepVerdict* verdicts) {
    alignas(64) double residual[Width];
    alignas(64) double iterations[Width];
    store_lanes<Width>(outcome.residual, residual);
    store_lanes<Width>(outcome.iterations, iterations);
    // All answered, their rows chosen in place: registers of eight are transposed.
    bool all = Width == 8;
    for (int lane = 0; lane < found; ++lane) {
      const kernels::StepTask& task = *tasks[members[lane]];
      kernels::StepVerdict& verdict = verdicts[members[lane]];
      verdict.residual = residual[lane];
      verdict.iterations = static_cast<int>(iterations[lane]);
      verdict.finite = true;
      all = all && residual[lane] <= options_.tolerance && task.in_place &&
            task.chosen.active == task.rows.count;
    }
    if (all) {
      double* impulse[Width];
      double* next_v[Width];
      for (int lane = 0; lane < found; ++lane) {
        impulse[lane] = tasks[members[lane]]->impulse;
        next_v[lane] = tasks[members[lane]]->next_v;
      }
      const kernels::StepTask& task = *tasks[members[0]];
      collect<Width>(workspace + at.impulse * Width, task.rows.count, found, impulse);
      collect<Width>(workspace + at.next_v * Width, task.rows.velocities, found, next_v);
      return;
    }
    for (int lane = 0; lane < found; ++lane) {
      if (residual[lane] <= options_.tolerance) {
        kernels::unload_task(*tasks[members[lane]], at, Lane<Width>{workspace + lane});
      }
    }
  }

  /// Lanes beyond `found` repeat the first.
  template <int Width>
  CAROM_INLINE void load(const kernels::StepTask* const* tasks, const int* members, int found,
                         const kernels::PackLayout& at, double* workspace) {
    const kernels::StepTask* lane_task[Width];
    bool in_place = Width > 1;
    for (int lane = 0; lane < Width; ++lane) {
      lane_task[lane] = tasks[members[lane < found ? lane : 0]];
      in_place = in_place && lane_task[lane]->in_place;
    }
    if (!in_place) {
      for (int lane = 0; lane < Width; ++lane) {
        kernels::load_task(*lane_task[lane], at, kDiagonal, Lane<Width>{workspace + lane});
      }
      return;
    }
    const auto take = [&](long offset, int count, auto from) {
      const double* source[Width];
      for (int lane = 0; lane < Width; ++lane) source[lane] = from(*lane_task[lane]);
      spread<Width>(source, count, workspace + offset * Width);
    };
    using Task = kernels::StepTask;
    const int nv = lane_task[0]->rows.velocities;
    const int rows = lane_task[0]->chosen.active;
    for (int lane = 0; lane < Width; ++lane) {
      workspace[at.step_size * Width + lane] = lane_task[lane]->step_size;
    }
    take(at.mass, kDiagonal ? nv : nv * nv, [](const Task& t) { return t.mass; });
    take(at.force, nv, [](const Task& t) { return t.force; });
    take(at.v, nv, [](const Task& t) { return t.v; });
    take(at.jacobian, rows * nv, [](const Task& t) { return t.rows.jacobian; });
    take(at.jacobian_dot_v, rows, [](const Task& t) { return t.rows.jacobian_dot_v; });
    take(at.phi, rows, [](const Task& t) { return t.rows.phi; });
    take(at.stiffness, rows, [](const Task& t) { return t.rows.stiffness; });
    take(at.damping, rows, [](const Task& t) { return t.rows.damping; });
    take(at.friction, rows, [](const Task& t) { return t.rows.friction; });
    for (int a = 0; a < rows; ++a) {
      if (lane_task[0]->rows.type[a] == RowType::normal) continue;
      for (int lane = 0; lane < Width; ++lane) workspace[(at.friction + a) * Width + lane] = 0.0;
    }
    take(at.impulse, rows, [](const Task& t) { return t.impulse; });
  }

  template <int Width>
  struct Lane {
    double* data;
    CAROM_INLINE double& operator()(long e) const { return data[e * Width]; }
  };

  const kernels::CompliantOptions& options_;
  double* workspace_;
};

}  // namespace carom::cpu::simd
