#include <carom/affine_vi.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/arrays.hpp"
#include "core/constants.hpp"
#include "core/require.hpp"

namespace carom {

namespace {

/// A side of a row: 1 where A x lies above it, -1 below.
struct Side {
  std::int64_t row;
  double sign;
};

std::vector<Side> sides_of(const AffineViBatch& batch) {
  std::vector<Side> sides;
  for (const double sign : {1.0, -1.0}) {
    const double* bound = sign > 0.0 ? batch.row_lower.data() : batch.row_upper.data();
    for (std::int64_t i = 0; i < batch.rows; ++i) {
      bool there = false;
      for (std::int64_t p = 0; p < batch.problems; ++p) {
        const std::int64_t at = p * batch.rows + i;
        const bool equation = batch.row_lower.data()[at] == batch.row_upper.data()[at];
        there = there || (std::abs(bound[at]) < kInfinity && !(equation && sign < 0.0));
      }
      if (there) sides.push_back({i, sign});
    }
  }
  return sides;
}

}  // namespace

BoxedLcpBatch boxed_lcp_of(const AffineViBatch& batch) {
  require::at_least("problems", batch.problems, 0);
  require::between("variables", batch.variables, 1, kMaxBoxedLcpOrder);
  require::at_least("rows", batch.rows, 0);
  arrays::require_sizes(batch, batch);
  require::reachable(Backend::cpu, arrays::common_space("affine_vi batch", batch));
  const std::vector<Side> sides = sides_of(batch);
  const std::int64_t v = batch.variables;
  const std::int64_t n = v + static_cast<std::int64_t>(sides.size());
  require::between("order with the rows' sides", n, 1, kMaxBoxedLcpOrder);
  auto boxed =
      allocate<BoxedLcpBatch>({batch.problems, static_cast<int>(n)}, MemorySpace::host, false);
  std::fill_n(boxed.matrix.data(), boxed.matrix.size(), 0.0);
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    double* matrix = boxed.matrix.data() + p * n * n;
    double* lower = boxed.lower.data() + p * n;
    double* upper = boxed.upper.data() + p * n;
    for (std::int64_t i = 0; i < v; ++i) {
      std::copy_n(batch.matrix.data() + (p * v + i) * v, v, matrix + i * n);
    }
    std::copy_n(batch.vector.data() + p * v, v, boxed.vector.data() + p * n);
    std::copy_n(batch.column_lower.data() + p * v, v, lower);
    std::copy_n(batch.column_upper.data() + p * v, v, upper);
    for (std::int64_t s = v; s < n; ++s) {
      const auto [row, sign] = sides[static_cast<std::size_t>(s - v)];
      const double l = batch.row_lower.data()[p * batch.rows + row];
      const double u = batch.row_upper.data()[p * batch.rows + row];
      const double bound = sign > 0.0 ? l : u;
      // A NaN is kept, so that the problem is refused.
      const bool there = !(std::abs(bound) == kInfinity) && !(l == u && sign < 0.0);
      const double* from = batch.constraints.data() + (p * batch.rows + row) * v;
      for (std::int64_t j = 0; j < v; ++j) {
        matrix[s * n + j] = sign * from[j];
        matrix[j * n + s] = -sign * from[j];
      }
      boxed.vector.data()[p * n + s] = there ? -sign * bound : 0.0;
      lower[s] = there && l == u ? -kInfinity : 0.0;
      upper[s] = there ? kInfinity : 0.0;
    }
  }
  return boxed;
}

}  // namespace carom
