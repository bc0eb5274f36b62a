#include <algorithm>
#include <cmath>
#include <vector>

#include <carom/compliant.hpp>

#include "fuzz/input.hpp"

// Any numbers in one problem of two: nothing breaks, what is called solved obeys signs and cones,
// and the good neighbour has the bits that it has alone.
namespace {

carom::CompliantBatch batch_of(carom::fuzz::Input& input, bool bits) {
  carom::CompliantBatch batch;
  batch.problems = 1;
  batch.dimension = input.integer(2, 3);
  batch.velocities = input.integer(1, 6);
  batch.rows = input.integer(0, 12);
  const auto nv = static_cast<std::size_t>(batch.velocities);
  const auto m = static_cast<std::size_t>(batch.rows);
  const auto pour = [&](std::size_t count) {
    return carom::Buffer<double>::from(input.numbers(count, bits));
  };
  const auto positive = [&](std::size_t count) {
    carom::Buffer<double> values = pour(count);
    if (!bits) {
      for (double& value : values.host()) value = std::fabs(value);
    }
    return values;
  };
  batch.step_size = positive(1);
  batch.mass_matrix = pour(nv * nv);
  if (!bits) {
    for (std::size_t i = 0; i < nv; ++i) {
      for (std::size_t j = 0; j < nv; ++j) {
        double& entry = batch.mass_matrix.data()[i * nv + j];
        entry = i == j ? 0.25 + std::fabs(entry) : 0.0;
      }
    }
    batch.step_size.data()[0] = 0.01 + 0.01 * batch.step_size.data()[0];
  }
  batch.force = pour(nv);
  batch.velocity = pour(nv);
  std::vector<carom::RowType> types;
  int owed = 0;
  for (std::size_t i = 0; i < m; ++i) {
    int kind = input.integer(0, 4);
    if (!bits) {  // contacts whole
      if (owed > 0) {
        kind = 4;
        --owed;
      } else if (kind == 4 || (kind == 3 && i + static_cast<std::size_t>(batch.dimension) > m)) {
        kind = 2;
      } else if (kind == 3) {
        owed = batch.dimension - 1;
      }
    }
    types.push_back(static_cast<carom::RowType>(kind));
  }
  batch.type = carom::Buffer<carom::RowType>::from(types);
  batch.jacobian = pour(m * nv);
  batch.jacobian_dot_v = pour(m);
  batch.phi = pour(m);
  batch.stiffness = positive(m);
  batch.damping = positive(m);
  batch.friction = positive(m);
  return batch;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using carom::fuzz::require;
  carom::fuzz::Input input(data, size);
  const bool bits = input.integer(0, 1) == 1;
  const carom::CompliantBatch batch = batch_of(input, bits);
  carom::CompliantSettings settings;
  settings.threads = 1;
  const carom::CompliantResult r = carom::solve_compliant(batch, settings, carom::Backend::cpu);
  const carom::Status status = r.status.data()[0];
  const bool answered = status == carom::Status::solved || status == carom::Status::inaccurate;
  for (const double v : r.velocity.host()) {
    require(std::isfinite(v) == answered || answered, "NaN unless answered");
    if (answered) require(std::isfinite(v), "finite where answered");
  }
  if (status != carom::Status::solved) return 0;
  require(r.residual.data()[0] <= settings.tolerance, "solved is certified");
  double largest = 0.0;
  for (const double f : r.force.host()) largest = std::max(largest, std::fabs(f));
  for (int i = 0; i < batch.rows; ++i) {
    const carom::RowType type = batch.type.data()[i];
    const double force = r.force.data()[i];
    if (type == carom::RowType::none) require(force == 0.0, "absent rows exert nothing");
    if (type == carom::RowType::unilateral || type == carom::RowType::normal) {
      require(force >= -1e-6 * largest, "pushes only");
    }
    if (type != carom::RowType::normal) continue;
    double square = 0.0;
    for (int k = 1; k < batch.dimension; ++k) {
      square += r.force.data()[i + k] * r.force.data()[i + k];
    }
    require(std::sqrt(square) <= batch.friction.data()[i] * std::max(force, 0.0) + 1e-6 * largest,
            "inside the cone");
  }
  return 0;
}
