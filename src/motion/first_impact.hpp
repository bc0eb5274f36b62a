#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <carom/types/motion.hpp>

#include "impact/mode_table.hpp"
#include "impact/prepare.hpp"
#include "motion/kernels/motion_view.hpp"

namespace carom::motion {

/// Whether the first impacts of a run are prepared: if its samples share one start and can touch.
bool wants_first_impacts(const MotionBatch& batch, const MotionSettings& settings);

/// Simulates row 0 of a view whose arrays are on the host.
using SimulateRow = std::function<void(const kernels::motion::MotionView&)>;

/// Prepares the first impact of each problem in turn: simulates sample 0 until its first impact and
/// prepares this impact like a problem of the impact family. Its memory is reused.
class FirstImpactBuilder {
 public:
  /// `batch` must be in host memory and outlive this object.
  FirstImpactBuilder(const MotionBatch& batch, const MotionSettings& settings,
                     SimulateRow simulate);
  FirstImpactBuilder(const FirstImpactBuilder&) = delete;
  FirstImpactBuilder& operator=(const FirstImpactBuilder&) = delete;

  /// Of problem p, with the mode table of samples from `sample` on; until the next call.
  const kernels::motion::FirstImpact& build(std::int64_t p, std::int64_t sample);

 private:
  void find(std::int64_t p);
  void prepare();

  int dimension_;
  ImpactSettings settings_;
  SimulateRow simulate_;
  MotionResult result_;
  kernels::motion::MotionView view_;
  MotionBatchArrays<kernels::motion::ReadPointer> arrays_{};
  std::int64_t first_problem_;
  std::int64_t found_ = -1;  ///< the problem that is prepared
  std::vector<double> state_, mass_, jacobian_, friction_;
  kernels::motion::FirstImpactProbe probe_{};
  ImpactBatch impact_;
  std::optional<PreparedImpacts> prepared_;
  ModeTableBuilder tables_;
  ModeTable table_;
  kernels::motion::FirstImpact first_{};
};

/// What the lengths of first impacts' arrays follow from, (q, v) being `states` long.
struct FirstImpactShape {
  int dimension, states, velocities;
};

/// visit(pointer, length) for every array of a first impact; length() may be asked before the
/// visit of that array changes its pointer.
template <class Visit>
void each_array(kernels::motion::FirstImpact& first, const FirstImpactShape& shape, Visit&& visit) {
  kernels::ImpactProblemView& problem = first.problem;
  kernels::ModeTableView& table = problem.table;
  const int m = std::popcount(first.contacts);
  const int rows = shape.dimension * m;
  const auto array = [&](auto& pointer, long length) { visit(pointer, [=] { return length; }); };
  array(first.state, shape.states);
  array(problem.mass, shape.velocities * shape.velocities);
  array(problem.jacobian, rows * shape.velocities);
  array(problem.response, rows * shape.velocities);
  array(problem.delassus, rows * rows);
  array(problem.scale, m);
  array(problem.friction, m);
  array(problem.velocity, shape.velocities);
  array(problem.contact_velocity, rows);
  // The numbers' length stands in `first`, which is visited after them.
  visit(table.numbers, [&] {
    if (table.count == 0) return 0L;
    return static_cast<long>(
        kernels::ModeTableView::size(rows, rows + m, table.count, table.first[table.count]));
  });
  array(table.first, table.count > 0 ? table.count + 1 : 0);
}

/// As SimulateRow, by this machine's instruction set. Set by cpu::provide_host_code.
inline void (*host_simulate_row)(const kernels::motion::MotionView& view,
                                 MotionMechanism mechanism) = nullptr;

}  // namespace carom::motion
