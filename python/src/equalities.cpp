#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "call.hpp"
#include "families.hpp"
#include "masses.hpp"
#include "tables.hpp"

/// Active equalities E v = 0 of a robot's states (carom/_states.py, carom/_pieces.py).
namespace carom::python {

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Lines = Eigen::Map<const Matrix>;
using Eigen::Index;
using Eigen::VectorXd;

/// Which rows of A = E M^-1 E' follow from the others.
class Dependence {
 public:
  /// least: a pivot, relative to the largest response of the row's unit, below which it follows
  /// from those before; rounding: below this nothing is left of it but the rounding of doubles.
  Dependence(double least, double rounding) : least_(least), rounding_(rounding) {}

  /// unit[row]: one number for rows that have one unit. True if rows follow up to the rounding of
  /// the model, and not of doubles: they would lock what the others leave free.
  bool find(const Matrix& A, const std::int64_t* unit) {
    const Index rows = A.rows();
    scale_.setZero(rows);
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < rows; ++j) {
        if (unit[i] == unit[j]) scale_[i] = std::max(scale_[i], A(j, j));
      }
      scale_[i] = scale_[i] > 0.0 ? 1.0 / std::sqrt(scale_[i]) : 0.0;
    }
    left_ = scale_.asDiagonal() * A * scale_.asDiagonal();
    taken_.assign(static_cast<std::size_t>(rows), 0);
    for (Index k = 0; k < rows; ++k) {  // Cholesky's factors, the largest pivot first
      const Index row = largest();
      const double pivot = row < 0 ? 0.0 : left_(row, row);
      if (!(pivot > least_)) return pivot > rounding_;
      taken_[static_cast<std::size_t>(row)] = 1;
      column_ = left_.col(row) / std::sqrt(pivot);
      left_.noalias() -= column_ * column_.transpose();
    }
    return false;
  }

  /// Whether the row follows from no others.
  [[nodiscard]] bool stays(Index row) const { return taken_[static_cast<std::size_t>(row)] != 0; }

 private:
  /// The row that is left with the largest pivot; -1: none is left.
  [[nodiscard]] Index largest() const {
    Index best = -1;
    for (Index i = 0; i < left_.rows(); ++i) {
      if (!stays(i) && (best < 0 || left_(i, i) > left_(best, best))) best = i;
    }
    return best;
  }

  double least_, rounding_;
  VectorXd scale_, column_;
  Matrix left_;
  std::vector<char> taken_;
};

/// velocity [states, nv]; E [equalities, nv] of state [equalities], in increasing order, and unit
/// as in Dependence. Of each row whether it stays; then by state what is to be subtracted from its
/// velocity, the least in the mass metric, the share of the energy that it takes, and its speed.
/// A velocity that keeps its equalities up to `kept`, relative, stays as it is.
nb::tuple hold_equalities(const nb::dict& masses, nb::handle velocity, nb::handle equalities,
                          nb::handle state, nb::handle unit, std::size_t nv, double least,
                          double rounding, double kept) {
  const Masses mass(masses);
  const auto v = borrowed<double>(velocity), E = borrowed<double>(equalities);
  const auto of = borrowed<std::int64_t>(state), units = borrowed<std::int64_t>(unit);
  const std::size_t states = v.size() / nv, rows = of.size();
  std::vector<std::uint8_t> stays(rows, 1);
  std::vector<double> lost(v.size(), 0.0), share(states, 0.0), speed(states, 0.0);
  without_gil([&] {
    const auto width = static_cast<Index>(nv);
    Dependence dependence(least, rounding);
    Matrix M = Matrix::Zero(width, width), inverse, A, chosen;
    Eigen::LLT<Matrix> factor, small;
    VectorXd push;
    std::vector<Index> taken;
    for (std::size_t begin = 0, end = 0; begin < rows; begin = end) {
      const auto s = static_cast<std::size_t>(of.data()[begin]);
      while (end < rows && of.data()[end] == of.data()[begin]) ++end;
      const auto count = static_cast<Index>(end - begin);
      const Lines lines(E.data() + nv * begin, count, width);
      mass.fill(s, M.data());
      factor.compute(M);
      if (factor.info() != Eigen::Success) continue;  // the solvers refuse such a mass matrix
      inverse = factor.solve(lines.transpose());
      A.noalias() = lines * inverse;
      const bool follow = dependence.find(A, units.data() + begin);
      taken.clear();
      for (Index row = 0; row < count; ++row) {
        if (dependence.stays(row)) {
          taken.push_back(row);
        } else if (follow) {
          stays[begin + static_cast<std::size_t>(row)] = 0;
        }
      }
      const Eigen::Map<const VectorXd> before(v.data() + nv * s, width);
      chosen = A(taken, taken);
      small.compute(chosen);
      push = small.solve((lines * before)(taken));
      Eigen::Map<VectorXd> change(lost.data() + nv * s, width);
      change.noalias() = inverse(Eigen::all, taken) * push;
      const double largest = before.cwiseAbs().maxCoeff();
      if (!(change.cwiseAbs().maxCoeff() > kept * (1.0 + largest))) {
        change.setZero();
        continue;
      }
      const double energy = change.dot(M * change), whole = before.dot(M * before);
      share[s] = energy / (whole > 0.0 ? whole : 1.0);
      speed[s] = std::sqrt(energy / M.diagonal().maxCoeff());
    }
  });
  return nb::make_tuple(array_of(std::move(stays)), array_of(std::move(lost), {states, nv}),
                        array_of(std::move(share)), array_of(std::move(speed)));
}

/// E [k, rows, nv]. For each rank that occurs: the places in E, and orthonormal bases of the
/// velocities with E v = 0 [places, nv, nv - rank], each column's largest entry positive.
nb::tuple free_directions(nb::handle equalities, std::size_t rows, std::size_t nv, double least) {
  struct Bases {
    std::vector<std::int64_t> places;
    std::vector<double> columns;
  };
  const auto E = borrowed<double>(equalities);
  const std::size_t count = rows * nv > 0 ? E.size() / (rows * nv) : 0;
  std::vector<Bases> of_rank(nv + 1);
  without_gil([&] {
    const auto width = static_cast<Index>(nv);
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> factor(width, static_cast<Index>(rows));
    factor.setThreshold(least);
    for (std::size_t k = 0; k < count; ++k) {
      factor.compute(Lines(E.data() + k * rows * nv, static_cast<Index>(rows), width).transpose());
      const Index free = width - factor.rank();
      auto& [places, columns] = of_rank[static_cast<std::size_t>(factor.rank())];
      places.push_back(static_cast<std::int64_t>(k));
      columns.resize(columns.size() + nv * static_cast<std::size_t>(free));
      Eigen::Map<Matrix> basis(columns.data() + columns.size() - width * free, width, free);
      basis = factor.householderQ() * Eigen::MatrixXd::Identity(width, width).rightCols(free);
      for (Index j = 0; j < free; ++j) {
        Index largest = 0;
        basis.col(j).cwiseAbs().maxCoeff(&largest);
        if (basis(largest, j) < 0.0) basis.col(j) = -basis.col(j);
      }
    }
  });
  nb::list result;
  for (std::size_t rank = 0; rank <= nv; ++rank) {
    auto& [places, columns] = of_rank[rank];
    if (places.empty()) continue;
    const Shape shape{places.size(), nv, nv - rank};
    result.append(nb::make_tuple(array_of(std::move(places)), array_of(std::move(columns), shape)));
  }
  return nb::tuple(result);
}

}  // namespace

void add_equalities(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def("hold_equalities", hold_equalities, "masses"_a, "velocity"_a, "equalities"_a,
             "state"_a, "unit"_a, "nv"_a, "least"_a, "rounding"_a, "kept"_a);
  module.def("free_directions", free_directions, "equalities"_a, "rows"_a, "nv"_a, "least"_a);
}

}  // namespace carom::python
