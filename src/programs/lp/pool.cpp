#include "programs/lp/pool.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace carom {

namespace {

constexpr double kSingular = 1e-11;  // of a pivot, relative to the largest entry of its row of A

/// K^-1 by Gauss and Jordan's method, the largest pivot of each column; k: order. Empty where a
/// pivot is not above its row's share.
std::vector<double> inverse_of(std::vector<double> block, int order,
                               const std::vector<double>& size) {
  const auto k = static_cast<std::size_t>(order);
  std::vector<double> inverse(k * k, 0.0);
  std::vector<double> own = size;
  for (std::size_t i = 0; i < k; ++i) inverse[i * k + i] = 1.0;
  for (std::size_t c = 0; c < k; ++c) {
    std::size_t best = c;
    for (std::size_t i = c; i < k; ++i) {
      if (std::abs(block[i * k + c]) / own[i] > std::abs(block[best * k + c]) / own[best]) best = i;
    }
    const double pivot = block[best * k + c];
    if (!(std::abs(pivot) > kSingular * own[best])) return {};
    if (best != c) {
      for (std::size_t j = 0; j < k; ++j) {
        std::swap(block[best * k + j], block[c * k + j]);
        std::swap(inverse[best * k + j], inverse[c * k + j]);
      }
      std::swap(own[best], own[c]);
    }
    for (std::size_t j = 0; j < k; ++j) {
      block[c * k + j] /= pivot;
      inverse[c * k + j] /= pivot;
    }
    for (std::size_t i = 0; i < k; ++i) {
      const double factor = block[i * k + c];
      if (i == c || factor == 0.0) continue;
      for (std::size_t j = 0; j < k; ++j) {
        block[i * k + j] -= factor * block[c * k + j];
        inverse[i * k + j] -= factor * inverse[c * k + j];
      }
    }
  }
  return inverse;
}

std::size_t padded(std::size_t count) { return (count + 7) / 8 * 8; }

}  // namespace

LpPoolState::LpPoolState(const LpBatch& one, int most)
    : rows_(one.rows),
      columns_(one.columns),
      most_(most),
      matrix_(one.matrix.to_vector()),
      cost_(one.cost.to_vector()) {
  const auto m = static_cast<std::size_t>(rows_);
  const auto n = static_cast<std::size_t>(columns_);
  const std::size_t width = padded(m);
  transposed_ = Buffer<double>(n * width);
  std::fill_n(transposed_.data(), n * width, 0.0);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) transposed_.data()[j * width + i] = matrix_[i * n + j];
  }
}

int LpPoolState::add(const BasisStatus* status) {
  const std::size_t size = static_cast<std::size_t>(rows_) + static_cast<std::size_t>(columns_);
  for (std::size_t b = 0; b < bases_.size(); ++b) {
    if (std::equal(status, status + size, bases_[b].status.begin())) return static_cast<int>(b);
  }
  if (static_cast<int>(bases_.size()) >= most_) return -1;
  auto basis = make(status);
  if (!basis) return -1;
  bases_.push_back(std::move(*basis));
  return static_cast<int>(bases_.size()) - 1;
}

std::optional<PooledBasis> LpPoolState::make(const BasisStatus* status) const {
  const auto m = static_cast<std::size_t>(rows_);
  const auto n = static_cast<std::size_t>(columns_);
  PooledBasis basis;
  basis.status.assign(status, status + n + m);
  for (int j = 0; j < columns_; ++j) {
    if (status[j] == BasisStatus::basic) basis.column.push_back(j);
  }
  for (int i = 0; i < rows_; ++i) {
    if (status[columns_ + i] != BasisStatus::basic) basis.row.push_back(i);
  }
  const std::size_t k = basis.row.size();
  if (basis.column.size() != k) return std::nullopt;
  std::vector<double> block(k * k);
  std::vector<double> size(k, 0.0);
  for (std::size_t r = 0; r < k; ++r) {
    const double* row = matrix_.data() + static_cast<std::size_t>(basis.row[r]) * n;
    for (std::size_t j = 0; j < n; ++j) size[r] = std::max(size[r], std::abs(row[j]));
    for (std::size_t c = 0; c < k; ++c) {
      block[r * k + c] = row[static_cast<std::size_t>(basis.column[c])];
    }
  }
  const std::vector<double> inverse = inverse_of(std::move(block), static_cast<int>(k), size);
  if (inverse.size() != k * k) return std::nullopt;
  const std::size_t width = padded(k);
  basis.inverse = Buffer<double>(std::max<std::size_t>(k * width, 1));
  std::fill_n(basis.inverse.data(), basis.inverse.size(), 0.0);
  basis.dual.assign(m, 0.0);
  for (std::size_t r = 0; r < k; ++r) {
    double price = 0.0;  // y of the row: K'y = c
    for (std::size_t c = 0; c < k; ++c) {
      basis.inverse.data()[r * width + c] = inverse[c * k + r];
      price += inverse[c * k + r] * cost_[static_cast<std::size_t>(basis.column[c])];
    }
    basis.dual[static_cast<std::size_t>(basis.row[r])] = price;
  }
  return basis;
}

std::vector<int> LpPoolState::likely(int count) const {
  std::vector<int> order(bases_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return bases_[static_cast<std::size_t>(a)].hits > bases_[static_cast<std::size_t>(b)].hits;
  });
  if (static_cast<int>(order.size()) > count) order.resize(static_cast<std::size_t>(count));
  return order;
}

}  // namespace carom
