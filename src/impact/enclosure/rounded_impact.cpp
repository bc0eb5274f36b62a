#include "impact/enclosure/rounded_impact.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <Eigen/Dense>

namespace carom::enclosure {

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixMap = Eigen::Map<const Matrix>;

constexpr int kBits = 44;
constexpr double kEnergyMargin = 1.0 + 1e-6;  // for the rounding of it all
constexpr double kDependent = 1e-11;          // of a row's own response, left after those before it

/// x 2^bits to the nearest integer.
Integer rounded(double x, int bits) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  Integer value = static_cast<std::int64_t>(std::ldexp(fraction, 53));
  const int shift = exponent - 53 + bits;
  if (shift >= 0) return value << static_cast<unsigned>(shift);
  if (-shift > 60) return Integer(0);
  const bool negative = value < 0;
  Integer size = negative ? Integer(-value) : value;
  size += Integer(1) << static_cast<unsigned>(-shift - 1);
  size >>= static_cast<unsigned>(-shift);
  return negative ? Integer(-size) : size;
}

/// Largest common divisor that is a power of two up to 2^kBits.
Integer content(const Vector& v) {
  unsigned shift = kBits;
  for (const Integer& x : v) {
    if (x != 0) shift = std::min(shift, static_cast<unsigned>(lsb(Integer(abs(x)))));
  }
  return Integer(1) << shift;
}

/// Rows whose responses are independent: pivots of a Cholesky factorisation with unit diagonal.
std::vector<int> independent_rows(const Matrix& delassus) {
  const auto rows = static_cast<int>(delassus.rows());
  Eigen::VectorXd inverse(rows);
  for (int k = 0; k < rows; ++k) {
    inverse(k) = delassus(k, k) > 0.0 ? 1.0 / std::sqrt(delassus(k, k)) : 0.0;
  }
  Matrix work = inverse.asDiagonal() * delassus * inverse.asDiagonal();
  std::vector<int> basis;
  for (;;) {
    int pivot = -1;
    for (int k = 0; k < rows; ++k) {
      if (work(k, k) > kDependent && (pivot < 0 || work(k, k) > work(pivot, pivot) + 1e-6)) {
        pivot = k;
      }
    }
    if (pivot < 0) break;
    basis.push_back(pivot);
    const Eigen::VectorXd column = work.col(pivot) / std::sqrt(work(pivot, pivot));
    work -= column * column.transpose();
    work.row(pivot).setZero();
    work.col(pivot).setZero();
  }
  std::sort(basis.begin(), basis.end());
  return basis;
}

/// Normals, then rows of slip.
Matrix rows_of(const ImpactProblem& problem) {
  const int m = problem.contacts, nv = problem.velocities, tangents = problem.dimension - 1;
  Matrix rows(problem.dimension * m, nv);
  rows.topRows(m) = MatrixMap(problem.normal_jacobian.data(), m, nv);
  const MatrixMap tangent(problem.tangent_jacobian.data(), tangents * m, nv);
  if (tangents == 1) {
    rows.bottomRows(m) = tangent;
    return rows;
  }
  for (int i = 0; i < m; ++i) {
    rows.row(m + 2 * i) = tangent.row(2 * i) + tangent.row(2 * i + 1);
    rows.row(m + 2 * i + 1) = tangent.row(2 * i) - tangent.row(2 * i + 1);
  }
  return rows;
}

}  // namespace

double RoundedImpact::velocity(int k, const Vector& w) const {
  const auto at = static_cast<std::size_t>(k);
  return unit * quotient(dot(row[at], w), w[0]) / scale[at];
}

RoundedImpact round_impact(const ImpactProblem& problem) {
  const int m = problem.contacts, nv = problem.velocities, rows = problem.dimension * m;
  const MatrixMap mass(problem.mass_matrix.data(), nv, nv);
  const Matrix jacobian = rows_of(problem);
  const Eigen::LLT<Eigen::MatrixXd> factor(mass);
  const Matrix half = factor.matrixL().solve(jacobian.transpose());
  const Matrix delassus = half.transpose() * half;
  const Eigen::VectorXd u =
      jacobian * Eigen::Map<const Eigen::VectorXd>(problem.velocity.data(), nv);

  RoundedImpact result;
  result.contacts = m;
  result.slips = problem.dimension - 1;
  result.basis = independent_rows(delassus);
  const auto size = static_cast<int>(result.basis.size());
  Matrix own(size, size), all(size, rows);
  for (int a = 0; a < size; ++a) {
    all.row(a) = delassus.row(result.basis[static_cast<std::size_t>(a)]);
    for (int b = 0; b < size; ++b) own(a, b) = all(a, result.basis[static_cast<std::size_t>(b)]);
  }
  result.response.assign(own.data(), own.data() + own.size());
  const Matrix shares = size > 0 ? Matrix(own.ldlt().solve(all)) : Matrix(0, rows);
  for (int k = 0; k < rows; ++k) {
    Vector row(result.size());
    const auto place = std::find(result.basis.begin(), result.basis.end(), k);
    if (place != result.basis.end()) {
      row[static_cast<std::size_t>(place - result.basis.begin()) + 1] = Integer(1) << kBits;
    } else {
      for (int a = 0; a < size; ++a) {
        row[static_cast<std::size_t>(a) + 1] = rounded(shares(a, k), kBits);
      }
    }
    const Integer divisor = content(row);
    for (Integer& x : row) x /= divisor;
    result.scale.push_back(quotient(Integer(1) << kBits, divisor));
    result.row.push_back(std::move(row));
  }
  const double largest = u.size() > 0 ? u.cwiseAbs().maxCoeff() : 0.0;
  int exponent = 0;
  if (largest > 0.0) std::frexp(largest, &exponent);
  result.unit = std::ldexp(1.0, exponent);
  result.start.emplace_back(Integer(1) << kBits);
  for (const int k : result.basis) result.start.push_back(rounded(u(k) / result.unit, kBits));
  make_primitive(result.start);
  Eigen::VectorXd own_u(size);
  for (int a = 0; a < size; ++a) own_u(a) = u(result.basis[static_cast<std::size_t>(a)]);
  const double twice = size > 0 ? own_u.dot(own.ldlt().solve(own_u)) : 0.0;
  for (int k = 0; k < rows; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const double most = std::sqrt(std::max(0.0, twice * delassus(k, k))) / result.unit;
    for (const int sign : {1, -1}) {
      Vector row = result.row[at];
      for (Integer& x : row) x = sign * (x << kBits);
      row[0] = rounded(most * result.scale[at] * kEnergyMargin, kBits) + 1;
      result.energy.push_back(std::move(row));
    }
  }
  for (int i = 0; i < m; ++i) {
    const double mu = problem.friction[static_cast<std::size_t>(i)];
    const int bits = kBits + (mu > 1.0 ? std::min(std::ilogb(mu) + 1, 64) : 0);
    for (int corner = 0; corner < result.corners(); ++corner) {
      Eigen::VectorXd rate(size);
      for (int a = 0; a < size; ++a) {
        rate(a) = all(a, i);
        for (int s = 0; s < result.slips; ++s) {
          const double share = -RoundedImpact::opposed(corner, s) * mu / result.slips;
          rate(a) += share * all(a, result.slip_row(i, s));
        }
      }
      const double most = size > 0 ? rate.cwiseAbs().maxCoeff() : 0.0;
      Vector push(1);
      for (int a = 0; a < size; ++a) {
        push.push_back(most > 0.0 ? rounded(rate(a) / most, bits) : Integer(0));
      }
      make_primitive(push);
      result.push.push_back(std::move(push));
    }
  }
  return result;
}

}  // namespace carom::enclosure
