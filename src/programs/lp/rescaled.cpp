#include "programs/lp/rescaled.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <carom/certificate_lp.hpp>

#include "core/arrays.hpp"

namespace carom::lp_rescaled {

namespace {

constexpr int kPasses = 4;
constexpr int kNoise = 60;  ///< binary digits below the largest of a row or column: no entry
constexpr int kAbsent = std::numeric_limits<int>::min();

/// Exponents of two that rows and columns are multiplied by.
struct Units {
  std::vector<int> row, column;
};

/// Half of the exponents' sum, of the least and the largest that count.
class Middle {
 public:
  explicit Middle(int largest) : largest_(largest), least_(largest) {}
  void add(int exponent) {
    if (exponent >= largest_ - kNoise) least_ = std::min(least_, exponent);
  }
  [[nodiscard]] int value() const { return largest_ == kAbsent ? 0 : (largest_ + least_) / 2; }

 private:
  int largest_, least_;
};

Units units_of(const double* matrix, int rows, int columns) {
  const auto m = static_cast<std::size_t>(rows), n = static_cast<std::size_t>(columns);
  Units units{std::vector<int>(m, 0), std::vector<int>(n, 0)};
  std::vector<int> own(m * n);
  for (std::size_t k = 0; k < m * n; ++k) {
    own[k] = matrix[k] == 0.0 ? kAbsent : std::ilogb(matrix[k]);
  }
  const auto balance = [&](std::size_t count, std::size_t others, auto&& at, std::vector<int>& unit,
                           const std::vector<int>& other) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto exponent = [&](std::size_t j) {
        return own[at(i, j)] == kAbsent ? kAbsent : own[at(i, j)] + other[j];
      };
      int largest = kAbsent;
      for (std::size_t j = 0; j < others; ++j) largest = std::max(largest, exponent(j));
      Middle middle(largest);
      for (std::size_t j = 0; j < others && largest != kAbsent; ++j) middle.add(exponent(j));
      unit[i] = -middle.value();
    }
  };
  for (int pass = 0; pass < kPasses; ++pass) {
    balance(
        m, n, [n](std::size_t i, std::size_t j) { return i * n + j; }, units.row, units.column);
    balance(
        n, m, [n](std::size_t j, std::size_t i) { return i * n + j; }, units.column, units.row);
  }
  return units;
}

/// Multiplies by powers of two; false where a number does not come back.
template <class Exponent>
bool scale(double* values, std::int64_t count, Exponent&& exponent) {
  bool exact = true;
  for (std::int64_t k = 0; k < count; ++k) {
    const double scaled = std::ldexp(values[k], exponent(k));
    exact = exact && (std::ldexp(scaled, -exponent(k)) == values[k]);
    values[k] = scaled;
  }
  return exact;
}

/// Problem `at` of a batch in other units, in place.
bool scale(LpBatch& batch, std::int64_t at, const Units& units) {
  const std::int64_t m = batch.rows, n = batch.columns, k = batch.objectives;
  const auto row = [&](std::int64_t i) { return units.row[static_cast<std::size_t>(i)]; };
  const auto column = [&](std::int64_t j) { return units.column[static_cast<std::size_t>(j)]; };
  const auto of_column = [&](std::int64_t j) { return column(j % n); };
  const auto inverse = [&](std::int64_t j) { return -column(j); };
  const bool entries = scale(batch.matrix.data() + at * m * n, m * n,
                             [&](std::int64_t e) { return row(e / n) + column(e % n); });
  const bool costs = scale(batch.cost.data() + at * k * n, k * n, of_column);
  const bool rows = scale(batch.row_lower.data() + at * m, m, row) &&
                    scale(batch.row_upper.data() + at * m, m, row);
  const bool columns = scale(batch.column_lower.data() + at * n, n, inverse) &&
                       scale(batch.column_upper.data() + at * n, n, inverse);
  return entries && costs && rows && columns;
}

/// Judges what was found in other units by the numbers as given, and writes what is certified.
class Rewriter {
 public:
  Rewriter(const LpBatch& batch, const LpSettings& settings, LpResult& result)
      : batch_(batch),
        settings_(settings),
        result_(result),
        memory_(static_cast<std::size_t>(
            certificate::lp_certificate_workspace(batch.rows, batch.columns))),
        judge_(lane_, batch.rows, batch.columns, memory_.data()) {}

  bool load(std::int64_t p) {
    const std::int64_t m = batch_.rows, n = batch_.columns;
    return judge_.load({batch_.rows, batch_.columns, nullptr, batch_.matrix.data() + p * m * n,
                        batch_.row_lower.data() + p * m, batch_.row_upper.data() + p * m,
                        batch_.column_lower.data() + p * n, batch_.column_upper.data() + p * n});
  }
  /// Objective k of the problem loaded, from objective `from` of `found`.
  bool take(LpResult& found, std::int64_t from, const Units& units, std::int64_t k) {
    const std::int64_t m = batch_.rows, n = batch_.columns;
    const auto row = [&](std::int64_t i) { return units.row[static_cast<std::size_t>(i)]; };
    const auto column = [&](std::int64_t j) { return units.column[static_cast<std::size_t>(j)]; };
    const auto rows = [&](Buffer<double>& values) {
      scale(values.data() + from * m, m, row);
      return values.data() + from * m;
    };
    const auto columns = [&](Buffer<double>& values) {
      scale(values.data() + from * n, n, column);
      return values.data() + from * n;
    };
    if (!judge_.load_cost(batch_.cost.data() + k * n)) return false;
    const Status status = found.status.data()[from];
    double residual = kernels::kInfinity;
    if (status == Status::solved) {
      const double* x = columns(found.solution);
      const double* y = rows(found.dual);
      residual = judge_.residual(x, y);
      if (!certificate::within(residual, settings_.tolerance)) return false;
      std::copy_n(x, n, result_.solution.data() + k * n);
      std::copy_n(y, m, result_.dual.data() + k * m);
    } else if (status == Status::infeasible) {
      const double* y = rows(found.farkas);
      residual = judge_.farkas_residual(y);
      if (!certificate::within(residual, settings_.tolerance)) return false;
      forget(k);
      if (settings_.certificates) std::copy_n(y, m, result_.farkas.data() + k * m);
    } else if (status == Status::unbounded) {
      const double* ray = columns(found.ray);
      const double* point = columns(found.point);
      residual = std::max(judge_.ray_residual(ray), judge_.primal_residual(point));
      if (!certificate::within(residual, settings_.tolerance)) return false;
      forget(k);
      if (settings_.certificates) {
        std::copy_n(ray, n, result_.ray.data() + k * n);
        std::copy_n(point, n, result_.point.data() + k * n);
      }
    } else {
      return false;
    }
    result_.objective.data()[k] = status == Status::solved ? judge_.objective() : kNan;
    result_.status.data()[k] = status;
    result_.pivots.data()[k] += found.pivots.data()[from];
    result_.residual.data()[k] = residual;
    return true;
  }

 private:
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

  void forget(std::int64_t k) {
    std::fill_n(result_.solution.data() + k * batch_.columns, batch_.columns, kNan);
    std::fill_n(result_.dual.data() + k * batch_.rows, batch_.rows, kNan);
  }

  const LpBatch& batch_;
  const LpSettings& settings_;
  LpResult& result_;
  std::vector<double> memory_;
  const kernels::SingleLane lane_{};
  certificate::LpCertificate<kernels::SingleLane> judge_;
};

bool is_open(Status status) {
  return status == Status::inaccurate || status == Status::numerical_error ||
         status == Status::iteration_limit;
}

}  // namespace

LpResult solve(const LpBatch& batch, const LpSettings& settings, const SolveLp& solve) {
  LpResult result = solve(batch, settings);
  if (settings.max_pivots > 0 || batch.rows == 0 || batch.matrix.space() != MemorySpace::host) {
    return result;
  }
  const std::int64_t objectives = batch.objectives;
  std::vector<std::int64_t> open;
  std::vector<Units> units;
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    const Status* status = result.status.data() + p * objectives;
    if (std::any_of(status, status + objectives, is_open)) open.push_back(p);
  }
  if (open.empty()) return result;
  LpBatch part = arrays::gathered(batch, batch, open);
  std::vector<bool> exact;
  for (std::size_t at = 0; at < open.size(); ++at) {
    const auto place = static_cast<std::int64_t>(at);
    const std::int64_t entries = std::int64_t{batch.rows} * batch.columns;
    units.push_back(units_of(part.matrix.data() + place * entries, batch.rows, batch.columns));
    exact.push_back(scale(part, place, units.back()));
  }
  LpSettings with_proofs = settings;
  with_proofs.certificates = true;
  LpResult found = solve(part, with_proofs);
  Rewriter rewriter(batch, settings, result);
  const std::int64_t length = batch.rows + batch.columns;
  for (std::size_t at = 0; at < open.size(); ++at) {
    const std::int64_t p = open[at];
    if (!exact[at] || !rewriter.load(p)) continue;
    bool last = false;
    for (std::int64_t k = 0; k < objectives; ++k) {
      const auto from = static_cast<std::int64_t>(at) * objectives + k;
      last = is_open(result.status.data()[p * objectives + k]) &&
             rewriter.take(found, from, units[at], p * objectives + k);
    }
    if (last) {
      std::copy_n(found.basis.data() + static_cast<std::int64_t>(at) * length, length,
                  result.basis.data() + p * length);
    }
  }
  return result;
}

}  // namespace carom::lp_rescaled
