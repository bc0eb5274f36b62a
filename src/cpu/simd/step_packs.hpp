#pragma once

#include <cstdint>

#include "compliant/body/compliant_pack_body.hpp"
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
  /// not depend on those beside it.
  void solve(const kernels::StepTask* const* tasks, int count, kernels::StepVerdict* verdicts) {
    bool taken[kStepBlock] = {};
    for (int first = 0; first < count; ++first) {
      if (taken[first]) continue;
      if (tasks[first]->pattern == 0) {
        verdicts[first] = {kernels::kInfinity, 0, false};
        continue;
      }
      int members[kWidth];
      int found = 0;
      for (int i = first; i < count && found < kWidth; ++i) {
        if (taken[i] || tasks[i]->pattern != tasks[first]->pattern) continue;
        taken[i] = true;
        members[found++] = i;
      }
      if constexpr (Isa::kPacksPay) {
        if (found > 1) {
          solve_pack<typename Isa::Pack, kWidth>(tasks, members, found, verdicts);
          continue;
        }
      }
      for (int k = 0; k < found; ++k) solve_pack<double, 1>(tasks, members + k, 1, verdicts);
    }
  }

 private:
  template <class V, int Width>
  void solve_pack(const kernels::StepTask* const* tasks, const int* members, int found,
                  kernels::StepVerdict* verdicts) {
    const kernels::PackShape shape = kernels::pack_shape(*tasks[members[0]], options_.tangents);
    if (shape.is_body_on(kContacts)) {
      solve_pack<V, Width, kContacts>(shape, tasks, members, found, verdicts);
    } else {
      solve_pack<V, Width, 0>(shape, tasks, members, found, verdicts);
    }
  }

  template <class V, int Width, int kFixed>
  void solve_pack(const kernels::PackShape& shape, const kernels::StepTask* const* tasks,
                  const int* members, int found, kernels::StepVerdict* verdicts) {
    kernels::CompliantPack<V, IsaMemory<Isa, V>, kDiagonal, kFixed> pack(
        shape, {reinterpret_cast<V*>(workspace_)});
    load<Width>(tasks, members, found, pack.layout());
    const kernels::PackOutcome<V> outcome = pack.solve(options_);
    alignas(64) double residual[Width];
    alignas(64) double iterations[Width];
    store_lanes<Width>(outcome.residual, residual);
    store_lanes<Width>(outcome.iterations, iterations);
    for (int lane = 0; lane < found; ++lane) {
      kernels::StepVerdict& verdict = verdicts[members[lane]];
      verdict.residual = residual[lane];
      verdict.iterations = static_cast<int>(iterations[lane]);
      verdict.finite = true;
      if (residual[lane] <= options_.tolerance) {
        kernels::unload_task(*tasks[members[lane]], pack.layout(), Lane<Width>{workspace_ + lane});
      }
    }
  }

  /// Lanes beyond `found` repeat the first.
  template <int Width>
  CAROM_INLINE void load(const kernels::StepTask* const* tasks, const int* members, int found,
                         const kernels::PackLayout& at) {
    const kernels::StepTask* lane_task[Width];
    bool in_place = Width > 1;
    for (int lane = 0; lane < Width; ++lane) {
      lane_task[lane] = tasks[members[lane < found ? lane : 0]];
      in_place = in_place && lane_task[lane]->in_place;
    }
    if (!in_place) {
      for (int lane = 0; lane < Width; ++lane) {
        kernels::load_task(*lane_task[lane], at, kDiagonal, Lane<Width>{workspace_ + lane});
      }
      return;
    }
    const auto take = [&](long offset, int count, auto from) {
      const double* source[Width];
      for (int lane = 0; lane < Width; ++lane) source[lane] = from(*lane_task[lane]);
      spread<Width>(source, count, workspace_ + offset * Width);
    };
    using Task = kernels::StepTask;
    const int nv = lane_task[0]->rows.velocities;
    const int rows = lane_task[0]->chosen.active;
    for (int lane = 0; lane < Width; ++lane) {
      workspace_[at.step_size * Width + lane] = lane_task[lane]->step_size;
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
      for (int lane = 0; lane < Width; ++lane) workspace_[(at.friction + a) * Width + lane] = 0.0;
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
