#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <carom/types/sdp.hpp>

#include "programs/sdp/small_matrix.hpp"

/// A program's matrices block by block; each block stores only the variables that it contains.
namespace carom::sdp {

template <class Real>
using NumbersOf = std::vector<Real>;
using Numbers = NumbersOf<double>;
template <class Real>
using ScratchOf = std::array<Real, static_cast<std::size_t>(kMaxSdpBlock* kMaxSdpBlock)>;

template <class A, class B>
auto product(const A* a, const B* b, std::size_t count) {
  using Real = decltype(A() * B());
  Real sum = 0.0;
  std::size_t i = 0;
  if (count >= 64) {  // four sums at a time, for registers
    Real part[4] = {};
    for (; i + 4 <= count; i += 4) {
      for (std::size_t k = 0; k < 4; ++k) part[k] += a[i + k] * b[i + k];
    }
    sum = (part[0] + part[1]) + (part[2] + part[3]);
  }
  for (; i < count; ++i) sum += a[i] * b[i];
  return sum;
}
template <class Real>
Real largest(const NumbersOf<Real>& values) {
  Real size = 0.0;
  for (const Real v : values) size = std::max(size, std::fabs(v));
  return size;
}

struct Block {
  int n;
  std::size_t at;              // first number in C
  std::vector<int> variables;  // whose A is not zero here

  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  }
};

/// Its methods compute in the numbers that they are given.
class BlockForm {
 public:
  explicit BlockForm(const SdpProblem& problem) : p_(problem) {
    std::size_t at = 0;
    for (const int n : p_.blocks) {
      Block block{n, at, {}};
      for (std::size_t i = 0; i < variables(); ++i) {
        const double* a = coefficient(i) + at;
        if (std::any_of(a, a + block.size(), [](double v) { return v != 0.0; })) {
          block.variables.push_back(static_cast<int>(i));
        }
      }
      at += block.size();
      order_ += n;
      blocks_.push_back(std::move(block));
    }
  }

  [[nodiscard]] const SdpProblem& problem() const { return p_; }
  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
  [[nodiscard]] std::size_t variables() const { return p_.objective.size(); }
  [[nodiscard]] std::size_t size() const { return p_.constant.size(); }
  [[nodiscard]] int order() const { return order_; }
  [[nodiscard]] const double* coefficient(std::size_t i) const {
    return p_.coefficients.data() + i * size();
  }

  /// C - sum y A, or - sum y A.
  template <class Real>
  [[nodiscard]] NumbersOf<Real> slack(const NumbersOf<Real>& y, bool with_constant) const {
    NumbersOf<Real> result(size(), Real(0.0));
    if (with_constant) std::copy(p_.constant.begin(), p_.constant.end(), result.begin());
    for (const Block& block : blocks_) {
      for (const int i : block.variables) {
        const Real value = y[static_cast<std::size_t>(i)];
        const double* a = coefficient(static_cast<std::size_t>(i)) + block.at;
        for (std::size_t k = 0; k < block.size(); ++k) result[block.at + k] -= value * a[k];
      }
    }
    return result;
  }
  /// <A_i, X>
  template <class Real>
  [[nodiscard]] NumbersOf<Real> traces(const NumbersOf<Real>& x) const {
    NumbersOf<Real> result(variables(), Real(0.0));
    for (const Block& block : blocks_) {
      for (const int i : block.variables) {
        const auto k = static_cast<std::size_t>(i);
        result[k] += product(coefficient(k) + block.at, x.data() + block.at, block.size());
      }
    }
    return result;
  }
  template <class Real>
  [[nodiscard]] Real least_eigenvalue(const NumbersOf<Real>& matrix) const {
    Real least = std::numeric_limits<Real>::infinity();
    ScratchOf<Real> copy;
    for (const Block& block : blocks_) {
      const Real* from = matrix.data() + block.at;
      if (block.n == 1) {
        least = std::min(least, *from);
        continue;
      }
      std::copy(from, from + block.size(), copy.begin());
      least = std::min(least, small::least_eigenvalue(block.n, copy.data()));
    }
    return least;
  }

  /// <A_i, L A_k R> of symmetric L, R, upper part, by rows.
  template <class Real>
  [[nodiscard]] NumbersOf<Real> schur(const NumbersOf<Real>& left,
                                      const NumbersOf<Real>& right) const {
    const std::size_t m = variables();
    NumbersOf<Real> result(m * m, Real(0.0));
    ScratchOf<Real> half, whole;
    for (const Block& block : blocks_) {
      for (const int k : block.variables) {
        const auto column = static_cast<std::size_t>(k);
        if (block.n == 1) {
          const std::size_t at = block.at;
          const Real weighted = left[at] * coefficient(column)[at] * right[at];
          for (const int i : block.variables) {
            if (i > k) break;
            const auto row = static_cast<std::size_t>(i);
            result[row * m + column] += coefficient(row)[at] * weighted;
          }
          continue;
        }
        small::multiply(block.n, left.data() + block.at, coefficient(column) + block.at,
                        half.data());
        small::multiply(block.n, half.data(), right.data() + block.at, whole.data());
        for (const int i : block.variables) {
          if (i > k) break;  // in ascending order
          const auto row = static_cast<std::size_t>(i);
          result[row * m + column] +=
              product(coefficient(row) + block.at, whole.data(), block.size());
        }
      }
    }
    return result;
  }

 private:
  const SdpProblem& p_;
  std::vector<Block> blocks_;
  int order_ = 0;
};

}  // namespace carom::sdp
