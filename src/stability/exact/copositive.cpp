#include "stability/exact/copositive.hpp"

#include "core/exact/interval.hpp"
#include "stability/exact/plain_interval.hpp"

namespace carom::exact {

template <class Interval>
bool positive_definite(Matrix<Interval> m) {
  for (std::size_t k = 0; k < m.n; ++k) {
    if (!m(k, k).positive()) return false;
    for (std::size_t i = k + 1; i < m.n; ++i) {
      bool valid = true;
      const Interval factor = Interval::quotient(m(i, k), m(k, k), valid);
      if (!valid) return false;
      for (std::size_t j = k + 1; j < m.n; ++j) m(i, j) = m(i, j) - factor * m(k, j);
    }
  }
  return true;
}

template <class Interval>
bool strictly_copositive(const Matrix<Interval>& m, int depth) {
  bool all = true;
  std::size_t row = 0, column = 0;
  double worst = 0.0;
  for (std::size_t i = 0; i < m.n; ++i) {
    if (!m(i, i).positive()) return false;
    for (std::size_t j = i + 1; j < m.n; ++j) {
      if (m(i, j).at_least_zero()) continue;
      all = false;
      const double value = m(i, j).middle();
      if (value <= worst) worst = value, row = i, column = j;
    }
  }
  if (all || positive_definite(m)) return true;
  if (depth == 0 || row == column) return false;
  // The edge with the most negative entry, halved.
  for (const std::size_t moved : {row, column}) {
    const std::size_t kept = moved == row ? column : row;
    Matrix<Interval> half = m;
    const Interval share(0.5);
    for (std::size_t k = 0; k < m.n; ++k) {
      half(moved, k) = share * (m(moved, k) + m(kept, k));
      half(k, moved) = half(moved, k);
    }
    half(moved, moved) =
        Interval(0.25) * (m(moved, moved) + m(kept, kept) + Interval(2.0) * m(moved, kept));
    if (!strictly_copositive(half, depth - 1)) return false;
  }
  return true;
}

template bool positive_definite(Matrix<PlainInterval>);
template bool positive_definite(Matrix<FineInterval>);
template bool strictly_copositive(const Matrix<PlainInterval>&, int);
template bool strictly_copositive(const Matrix<FineInterval>&, int);

}  // namespace carom::exact
