#pragma once

#include <vector>

#include <carom/kernels/impact_body.hpp>
#include <carom/kernels/mode_table.hpp>

namespace carom {

/// Table of the step's solutions for one planar problem with few contacts, most frequent first;
/// empty where pilot trajectories meet a step with several v'.
class ModeTable {
 public:
  /// The order comes from a few pilot trajectories with numbers of their own: a function of the
  /// problem and of step_size and max_steps alone.
  ModeTable(const kernels::ImpactProblemView& problem, const kernels::ImpactRun& run);

  [[nodiscard]] kernels::ModeTableView view() const;

 private:
  void add_combination(int m, const double* friction, long code);
  void order_by_use(const kernels::ImpactProblemView& problem, const kernels::ImpactRun& run);

  int rows_ = 0;
  int stride_ = 0;  // doubles of one entry
  std::vector<double> delassus_;
  std::vector<double> maps_;
};

/// Whether problems of this shape get a table under these settings.
bool wants_mode_table(int dimension, int contacts, const ImpactSettings& settings);

}  // namespace carom
