#pragma once

#include <cstddef>
#include <vector>

namespace carom::exact {

/// A symmetric matrix by rows.
template <class Interval>
struct Matrix {
  std::size_t n = 0;
  std::vector<Interval> entry;
  explicit Matrix(std::size_t size) : n(size), entry(size * size) {}
  Interval& operator()(std::size_t i, std::size_t j) { return entry[i * n + j]; }
  const Interval& operator()(std::size_t i, std::size_t j) const { return entry[i * n + j]; }
};

/// Certainly positive definite: Gauss's pivots are positive.
template <class Interval>
bool positive_definite(Matrix<Interval> m);

/// Certainly positive for all vectors >= 0 but 0: on a simplex where every
/// entry is positive or which is positive definite, else on both halves of it
/// (Bundfuss and Duer, 2008).
template <class Interval>
bool strictly_copositive(const Matrix<Interval>& m, int depth = 40);

}  // namespace carom::exact
