#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <carom/certificate_lp.hpp>
#include <carom/device/lanes.hpp>

#include "core/parallel.hpp"
#include "programs/lp/backends.hpp"
#include "reference/programs/bland_simplex.hpp"

namespace carom::reference {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A cold start's basis.
std::vector<BasisStatus> all_rows(const certificate::LpData& lp) {
  std::vector<BasisStatus> basis(static_cast<std::size_t>(lp.columns + lp.rows),
                                 BasisStatus::at_lower);
  std::fill(basis.begin() + lp.columns, basis.end(), BasisStatus::basic);
  return basis;
}

struct Slot {
  double* solution;
  double* dual;
  double* farkas;  ///< or null
  double* ray;     ///< or null
  double* point;   ///< or null
};

/// Solves one objective; `residual` judges the claim.
BlandOutcome solve_one(const certificate::LpData& lp, const LpSettings& settings, int limit,
                       const Slot& slot, double& residual) {
  const kernels::SingleLane lane;
  std::vector<double> memory(
      static_cast<std::size_t>(certificate::lp_certificate_workspace(lp.rows, lp.columns)));
  certificate::LpCertificate<kernels::SingleLane> judge(lane, lp.rows, lp.columns, memory.data());
  if (!judge.load(lp) || !judge.load_cost(lp.cost)) {
    BlandOutcome refused;
    refused.basis = all_rows(lp);
    refused.status = Status::invalid_input;
    residual = kNan;
    if (judge.crossed() && judge.load_cost(lp.cost)) {
      refused.status = Status::infeasible;
      residual = 0.0;
      const int row = judge.crossed_row();
      for (int i = 0; slot.farkas != nullptr && i < lp.rows; ++i) {
        slot.farkas[i] = i == row ? 1.0 : 0.0;
      }
    }
    return refused;
  }
  BlandOutcome outcome = solve_by_bland(lp, limit);
  const auto copy = [](const Eigen::VectorXd& from, double* to) {
    if (to != nullptr) std::copy(from.begin(), from.end(), to);
  };
  // What rounding left in place of zeros, and near bounds.
  for (Eigen::VectorXd* values : {&outcome.dual, &outcome.ray, &outcome.solution, &outcome.point}) {
    if (values->size() == 0) continue;
    const double dust = 1e-14 * values->cwiseAbs().maxCoeff();
    for (double& value : *values) value = std::abs(value) <= dust ? 0.0 : value;
  }
  residual = kNan;
  switch (outcome.status) {
    case Status::solved:
      residual = judge.residual(outcome.solution.data(), outcome.dual.data());
      if (!certificate::within(residual, settings.tolerance)) {
        outcome.status = std::isfinite(residual) ? Status::inaccurate : Status::numerical_error;
      }
      break;
    case Status::infeasible:
      residual = judge.farkas_residual(outcome.dual.data());
      break;
    case Status::unbounded:
      residual = std::max(judge.primal_residual(outcome.point.data()),
                          judge.ray_residual(outcome.ray.data()));
      break;
    default:
      break;
  }
  const bool claimed = outcome.status == Status::infeasible || outcome.status == Status::unbounded;
  if (claimed && !certificate::within(residual, settings.tolerance)) {
    outcome.status = Status::numerical_error;
  }
  if (outcome.status == Status::solved || outcome.status == Status::inaccurate) {
    copy(outcome.solution, slot.solution);
    copy(outcome.dual, slot.dual);
  }
  if (outcome.status == Status::infeasible) copy(outcome.dual, slot.farkas);
  if (outcome.status == Status::unbounded) {
    copy(outcome.ray, slot.ray);
    copy(outcome.point, slot.point);
  }
  return outcome;
}

}  // namespace

LpResult solve_lp(const LpBatch& batch, const LpSettings& settings, const Buffer<BasisStatus>*,
                  WorkspaceState* /*workspace*/) {
  const int m = batch.rows;
  const int n = batch.columns;
  auto result = allocate<LpResult>(batch, MemorySpace::host, settings.certificates);
  fill_nan(result);
  // Bland's rule takes many pivots: the limit counts in units of its tableau.
  const int limit =
      settings.max_pivots > 0 ? settings.max_pivots : 50 * lp_pivot_limit(batch, settings);
  parallel_for_each(batch.problems, settings.threads, [&](std::int64_t p) {
    certificate::LpData lp{m,
                           n,
                           nullptr,
                           batch.matrix.data() + p * m * n,
                           batch.row_lower.data() + p * m,
                           batch.row_upper.data() + p * m,
                           batch.column_lower.data() + p * n,
                           batch.column_upper.data() + p * n};
    std::vector<BasisStatus> basis;
    for (std::int64_t k = p * batch.objectives; k < (p + 1) * batch.objectives; ++k) {
      lp.cost = batch.cost.data() + k * n;
      const Slot slot{result.solution.data() + k * n, result.dual.data() + k * m,
                      settings.certificates ? result.farkas.data() + k * m : nullptr,
                      settings.certificates ? result.ray.data() + k * n : nullptr,
                      settings.certificates ? result.point.data() + k * n : nullptr};
      const BlandOutcome outcome = solve_one(lp, settings, limit, slot, result.residual.data()[k]);
      result.status.data()[k] = outcome.status;
      result.pivots.data()[k] = outcome.pivots;
      if (!std::isnan(slot.solution[0])) {
        double value = 0.0;
        for (int j = 0; j < n; ++j) value += lp.cost[j] * slot.solution[j];
        result.objective.data()[k] = value;
      }
      basis = outcome.basis;
    }
    std::copy(basis.begin(), basis.end(), result.basis.data() + p * (n + m));
  });
  return result;
}

template <>
const LpEntries& entries() {
  static constexpr LpEntries kEntries{solve_lp};
  return kEntries;
}

}  // namespace carom::reference
