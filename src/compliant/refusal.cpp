#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Cholesky>

#include "compliant/backends.hpp"

namespace carom {

namespace {

using Eigen::Index;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Of row `row`, which is there.
bool good_row(const CompliantBatch& batch, std::int64_t row) {
  const double* jacobian = batch.jacobian.data() + row * batch.velocities;
  const bool finite = std::all_of(jacobian, jacobian + batch.velocities,
                                  [](double entry) { return std::isfinite(entry); }) &&
                      std::isfinite(batch.jacobian_dot_v.data()[row]) &&
                      std::isfinite(batch.phi.data()[row]);
  const auto at_least_zero = [](double value) { return value >= 0.0 && std::isfinite(value); };
  return finite && at_least_zero(batch.stiffness.data()[row]) &&
         at_least_zero(batch.damping.data()[row]) &&
         (batch.type.data()[row] != RowType::normal || at_least_zero(batch.friction.data()[row]));
}

}  // namespace

bool acceptable(const CompliantBatch& batch, std::int64_t problem) {
  const Index nv = batch.velocities;
  const auto values = [&](const Buffer<double>& array, Index rows, Index columns) {
    return Eigen::Map<const Rows>(array.data() + problem * rows * columns, rows, columns);
  };
  const double h = batch.step_size.data()[problem];
  if (!(h > 0.0) || !std::isfinite(h)) return false;
  const auto mass = values(batch.mass_matrix, nv, nv);
  if (!mass.allFinite() || !values(batch.force, nv, 1).allFinite() ||
      !values(batch.velocity, nv, 1).allFinite() ||
      !values(batch.position_map, batch.positions, nv).allFinite()) {
    return false;
  }
  if ((mass - mass.transpose()).cwiseAbs().maxCoeff() > 2e-9 * mass.cwiseAbs().maxCoeff()) {
    return false;
  }
  if (Eigen::LLT<Eigen::MatrixXd>(mass).info() != Eigen::Success) return false;
  int owed = 0;  // tangent rows
  for (int i = 0; i < batch.rows; ++i) {
    const std::int64_t row = problem * batch.rows + i;
    const RowType type = batch.type.data()[row];
    if (type != RowType::none && !good_row(batch, row)) return false;
    if ((type == RowType::tangent) != (owed > 0)) return false;
    if (owed > 0) --owed;
    if (type == RowType::normal) owed = batch.dimension - 1;
  }
  return owed == 0;
}

void refuse(const CompliantBatch& batch, std::int64_t problem, Status status,
            CompliantResult& result) {
  const std::int64_t nv = batch.velocities;
  const auto fill = [&](Buffer<double>& values, std::int64_t width) {
    std::fill_n(values.data() + problem * width, width, std::numeric_limits<double>::quiet_NaN());
  };
  fill(result.velocity, nv);
  fill(result.increment, batch.positions > 0 ? batch.positions : nv);
  fill(result.force, batch.rows);
  fill(result.kinetic_energy, 1);
  fill(result.residual, 1);
  result.iterations.data()[problem] = 0;
  result.status.data()[problem] = status;
}

}  // namespace carom
