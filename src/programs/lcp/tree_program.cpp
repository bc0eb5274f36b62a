#include "programs/lcp/tree_program.hpp"

#include <algorithm>

#include "core/index.hpp"

namespace carom::boxed {

namespace {

using kernels::kInfinity;

}  // namespace

TreeProgram::TreeProgram(const certificate::BoxedLcpData& problem)
    : problem_(problem), limit_row_(index(problem.order), -1) {
  const int n = problem.order;
  matrix.assign(problem.matrix, problem.matrix + static_cast<long>(n) * n);
  int rows = n;
  for (int i = 0; i < n; ++i) {
    const int j = problem.index(i);
    if (j < 0) continue;
    limit_row_[index(i)] = rows;
    rows += 2;
    for (const double sign : {-1.0, 1.0}) {
      matrix.resize(matrix.size() + index(n), 0.0);
      double* row = matrix.data() + (matrix.size() - index(n));
      row[i] = 1.0;
      row[j] = sign * problem.friction[i];
    }
  }
  cost.assign(index(n), 0.0);
  for (auto* values : {&row_lower, &row_upper}) values->assign(index(rows), 0.0);
  for (auto* values : {&column_lower, &column_upper}) values->assign(index(n), 0.0);
}

int TreeProgram::sides(int k) const {
  constexpr int kZero = 1 << side::kZero, kLower = 1 << side::kLower, kUpper = 1 << side::kUpper;
  if (is_friction(k)) return kLower | kZero | kUpper;
  const double low = problem_.lower[k], high = problem_.upper[k];
  if (low == high) return 0;
  return kZero | (low > -kInfinity ? kLower : 0) | (high < kInfinity ? kUpper : 0);
}

void TreeProgram::set(const std::vector<signed char>& fixed, double bound) {
  for (int i = 0; i < columns(); ++i) {
    const bool rubs = is_friction(i);
    const double low = rubs ? -kInfinity : problem_.lower[i];
    const double high = rubs ? kInfinity : problem_.upper[i];
    const signed char own = fixed[index(i)];
    const bool at_low = own == side::kLower, at_high = own == side::kUpper;
    const double zero = -problem_.vector[i];
    column_lower[index(i)] = at_high && !rubs ? high : low > -kInfinity ? low : -bound;
    column_upper[index(i)] = at_low && !rubs ? low : high < kInfinity ? high : bound;
    const bool not_negative = own == side::kZero || at_low || (!rubs && high == kInfinity);
    const bool not_positive = own == side::kZero || at_high || (!rubs && low == -kInfinity);
    row_lower[index(i)] = not_negative ? zero : -kInfinity;
    row_upper[index(i)] = not_positive ? zero : kInfinity;
    if (!rubs) continue;
    const std::size_t most = index(limit_row(i)), least = most + 1;
    row_lower[most] = at_high ? 0.0 : -kInfinity;
    row_upper[most] = 0.0;
    row_lower[least] = 0.0;
    row_upper[least] = at_low ? 0.0 : kInfinity;
  }
}

certificate::LpData TreeProgram::data() const {
  return {rows(),           columns(),        cost.data(),         matrix.data(),
          row_lower.data(), row_upper.data(), column_lower.data(), column_upper.data()};
}

}  // namespace carom::boxed
