#include "programs/qp/layout.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "core/arrays.hpp"
#include "core/constants.hpp"

namespace carom {

QpArrays problem_of(const QpBatch& batch, std::int64_t problem) {
  QpArrays arrays{};
  arrays::bind(arrays, batch, batch, problem);
  return arrays;
}

namespace {

/// bits[e] collects the bits of entry e of all problems: those of a number other than zero.
void collect_bits(const double* values, std::int64_t problems, std::size_t count,
                  std::uint64_t* __restrict bits) {
  constexpr std::int64_t kTogether = 4;
  std::int64_t p = 0;
  const auto of = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  for (; p + kTogether <= problems && count > 0; p += kTogether) {
    const double* __restrict a = values + static_cast<std::size_t>(p) * count;
    const double* __restrict b = a + count;
    const double* __restrict c = b + count;
    const double* __restrict d = c + count;
    for (std::size_t e = 0; e < count; ++e) bits[e] |= of(a[e]) | of(b[e]) | of(c[e]) | of(d[e]);
  }
  for (; p < problems && count > 0; ++p) {
    const double* __restrict a = values + static_cast<std::size_t>(p) * count;
    for (std::size_t e = 0; e < count; ++e) bits[e] |= of(a[e]);
  }
}

/// Rows with l = u and those with a finite l or u otherwise.
void collect_sides(const double* lowers, const double* uppers, std::int64_t problems,
                   std::size_t rows, std::uint64_t* __restrict lower,
                   std::uint64_t* __restrict upper, std::uint64_t* __restrict equal) {
  const auto bits = [](bool flag) { return flag ? ~std::uint64_t{0} : std::uint64_t{0}; };
  const auto collect = [&](std::int64_t p, auto together) {
    const double* __restrict l = lowers + static_cast<std::size_t>(p) * rows;
    const double* __restrict u = uppers + static_cast<std::size_t>(p) * rows;
    for (std::size_t i = 0; i < rows; ++i) {
      std::uint64_t any_equal = 0, any_lower = 0, any_upper = 0;
      for (std::size_t k = 0; k < together(); ++k) {
        const double low = l[k * rows + i], high = u[k * rows + i];
        const std::uint64_t same = bits(low == high);
        any_equal |= same;
        any_lower |= bits(std::abs(low) < kInfinity) & ~same;
        any_upper |= bits(std::abs(high) < kInfinity) & ~same;
      }
      equal[i] |= any_equal;
      lower[i] |= any_lower;
      upper[i] |= any_upper;
    }
  };
  constexpr std::int64_t kTogether = 4;
  std::int64_t p = 0;
  for (; p + kTogether <= problems && rows > 0; p += kTogether) {
    collect(p, std::integral_constant<std::size_t, kTogether>());
  }
  for (; p < problems && rows > 0; ++p) collect(p, std::integral_constant<std::size_t, 1>());
}

/// Zeros of larger matrices P are not looked for: most of those problems are solved one by one, by
/// vectors that take the zeros along.
constexpr int kMostKnownZeros = 24;

/// QpPattern::hessian.
std::vector<std::uint8_t> hessian_pattern(const QpBatch& batch) {
  const auto n = static_cast<std::size_t>(batch.variables);
  if (batch.problems == 0 || batch.variables > kMostKnownZeros) return {};
  const double* first = problem_of(batch, 0).hessian;
  if (std::none_of(first, first + n * n, [](double entry) { return entry == 0.0; })) return {};
  std::vector<std::uint64_t> bits(n * n, 0);
  collect_bits(first, batch.problems, n * n, bits.data());
  std::vector<std::uint8_t> nonzero(n * n, 0);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < n; ++k) {
      const std::uint64_t either = bits[j * n + k] | bits[k * n + j];
      nonzero[j * n + k] = j == k || either << 1 != 0 ? 1 : 0;
    }
  }
  return nonzero;
}

}  // namespace

QpPattern::QpPattern(int variables, int rows, int cone_rows)
    : nonzero(static_cast<std::size_t>(variables) * static_cast<std::size_t>(rows + cone_rows), 0),
      sides(static_cast<std::size_t>(rows), 0) {}

QpPattern::QpPattern(const QpBatch& batch)
    : QpPattern(batch.variables, batch.rows, batch.cone_rows()) {
  // Words of 64 bits, not flags, so that the compiler can compare and collect many at once.
  std::vector<std::uint64_t> entries(nonzero.size(), 0);
  std::vector<std::uint64_t> lower(sides.size(), 0);
  std::vector<std::uint64_t> upper(sides.size(), 0);
  std::vector<std::uint64_t> equal(sides.size(), 0);
  const std::size_t from_a = sides.size() * static_cast<std::size_t>(batch.variables);
  const std::size_t from_c = nonzero.size() - from_a;
  const QpArrays all = problem_of(batch, 0);
  collect_bits(all.matrix, batch.problems, from_a, entries.data());
  collect_bits(all.cone_matrix, batch.problems, from_c, entries.data() + from_a);
  collect_sides(all.lower, all.upper, batch.problems, sides.size(), lower.data(), upper.data(),
                equal.data());
  for (std::size_t e = 0; e < entries.size(); ++e) {
    nonzero[e] = entries[e] << 1 != 0 ? 1 : 0;  // a zero may have a sign
  }
  for (std::size_t i = 0; i < sides.size(); ++i) {
    sides[i] = static_cast<std::uint8_t>(
        (equal[i] != 0 ? kEqual : 0) | (lower[i] != 0 ? kLower : 0) | (upper[i] != 0 ? kUpper : 0));
  }
  hessian = hessian_pattern(batch);
}

QpLayout::QpLayout(const QpBatch& batch, const QpPattern& pattern) : interval_rows_(batch.rows) {
  const int n = batch.variables;
  kinds_.assign(static_cast<std::size_t>(batch.rows), QpRowKind::interval);
  for (const Cone& cone : batch.cones) {
    const bool second_order = cone.kind == ConeKind::second_order && cone.size > 1;
    if (second_order) {
      cones_.push_back({static_cast<int>(kinds_.size()), cone.size, 0, 0});
    }
    const QpRowKind kind = second_order                  ? QpRowKind::second_order
                           : cone.kind == ConeKind::zero ? QpRowKind::equation
                                                         : QpRowKind::half_line;
    kinds_.insert(kinds_.end(), static_cast<std::size_t>(cone.size), kind);
  }
  const int rows = static_cast<int>(kinds_.size());
  const auto width = static_cast<std::size_t>(n);
  const std::vector<std::uint8_t>& nonzero = pattern.nonzero;
  std::vector<std::uint8_t> sides = pattern.sides;
  equations_.assign(static_cast<std::size_t>(rows), 0);
  for (int i = batch.rows; i < rows; ++i) {
    const QpRowKind kind = kinds_[static_cast<std::size_t>(i)];
    equations_[static_cast<std::size_t>(i)] =
        static_cast<std::uint8_t>(kind == QpRowKind::equation);
    sides.push_back(kind == QpRowKind::equation    ? QpPattern::kEqual
                    : kind == QpRowKind::half_line ? QpPattern::kUpper
                                                   : std::uint8_t{0});
  }
  std::vector<std::size_t> starts;
  const auto list = [&](const auto& append) {
    starts.push_back(indices_.size());
    append();
  };
  const auto rows_with = [&](std::uint8_t side) {
    for (int i = 0; i < rows; ++i) {
      if ((sides[static_cast<std::size_t>(i)] & side) != 0) indices_.push_back(i);
    }
  };
  list([&] { rows_with(QpPattern::kLower); });
  list([&] { rows_with(QpPattern::kUpper); });
  list([&] { rows_with(QpPattern::kEqual); });
  list([&] {
    for (int i = 0; i < rows; ++i) {
      if (sides[static_cast<std::size_t>(i)] != QpPattern::kEqual) indices_.push_back(i);
    }
  });
  const auto columns_of = [&](int first, int count) {
    for (int j = 0; j < n; ++j) {
      bool any = false;
      for (int i = first; i < first + count; ++i) {
        any =
            any || nonzero[static_cast<std::size_t>(i) * width + static_cast<std::size_t>(j)] != 0;
      }
      if (any) indices_.push_back(j);
    }
  };
  list([&] {
    const std::size_t begin = indices_.size();
    for (kernels::QpConeSpan& cone : cones_) {
      cone.column_first = static_cast<int>(indices_.size() - begin);
      columns_of(cone.first, cone.size);
      cone.column_last = static_cast<int>(indices_.size() - begin);
    }
  });
  std::vector<int> firsts{0};
  list([&] {
    const std::size_t begin = indices_.size();
    for (int i = 0; i < rows; ++i) {
      columns_of(i, 1);
      firsts.push_back(static_cast<int>(indices_.size() - begin));
    }
  });
  list([&] { indices_.insert(indices_.end(), firsts.begin(), firsts.end()); });
  const bool zeros = !pattern.hessian.empty();
  firsts.assign(1, 0);
  list([&] {
    const std::size_t begin = indices_.size();
    for (std::size_t j = 0; zeros && j < width; ++j) {
      for (int k = 0; k < n; ++k) {
        if (pattern.hessian[j * width + static_cast<std::size_t>(k)] != 0) indices_.push_back(k);
      }
      firsts.push_back(static_cast<int>(indices_.size() - begin));
    }
  });
  list([&] { indices_.insert(indices_.end(), firsts.begin(), firsts.end()); });
  const auto at = [&](std::size_t part) { return indices_.data() + starts[part]; };
  const auto size = [&](std::size_t part) {
    return static_cast<int>(starts[part + 1] - starts[part]);
  };
  shape_ = {n,
            rows,
            size(0),
            size(1),
            size(2),
            size(3),
            static_cast<int>(cones_.size()),
            at(0),
            at(1),
            at(2),
            at(3),
            cones_.data(),
            at(4),
            at(6),
            at(5),
            zeros ? at(8) : nullptr,
            zeros ? at(7) : nullptr};
}

}  // namespace carom
