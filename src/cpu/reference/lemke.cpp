#include "cpu/reference/lemke.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <tbb/parallel_for.h>

#include <carom/certificate.hpp>

#include "backends.hpp"
#include "cpu/reference/threads.hpp"

namespace carom::reference {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// Values that differ by less than this, relative to their error scale, are a tie.
constexpr double kTie = 1e-13;
// The same for entries of the basis inverse, relative to their row's largest.
constexpr double kLexicographicTie = 1e-11;

enum class End { basis, ray, limit, breakdown };

struct Attempt {
  End end = End::breakdown;
  std::vector<int> basis;  // variable of each row: w_i is i, z_i is n + i, the artificial one 2n
  Vector values;
  int pivots = 0;
};

struct Tolerances {
  double pivot;       // smallest pivot, relative to its error scale
  double artificial;  // the artificial variable leaves where the step brings it below this
};
// In the order in which they are tried; M and q have unit size.
constexpr Tolerances kAttempts[] = {{1e-13, 1e-14}, {1e-11, 1e-12}, {1e-15, 0.0}, {1e-13, 1e-10}};

// The system of Lemke's method: w - M z - e z0 = q, all variables >= 0.
class Dictionary {
 public:
  Dictionary(const Matrix& matrix, const Vector& vector)
      : matrix_(matrix), vector_(vector), n_(static_cast<int>(vector.size())) {}

  Attempt run(const Tolerances& tolerances, int max_pivots);

 private:
  Vector column(int variable) const {
    if (variable == 2 * n_) return Vector::Constant(n_, -1.0);
    if (variable >= n_) return -matrix_.col(variable - n_);
    return Vector::Unit(n_, variable);
  }
  int complement(int variable) const { return variable < n_ ? variable + n_ : variable - n_; }

  bool factor(const std::vector<int>& basis);
  // |B^-1| |B| |B^-1| |a|: unit roundoffs times this bound the error of B^-1 a, row by row.
  Vector error_scale(const Vector& a) const {
    return inverse_magnitude_ * (basis_magnitude_ * (inverse_magnitude_ * a.cwiseAbs()));
  }
  int leaving_row(const std::vector<int>& basis, const Vector& direction,
                  const Vector& direction_scale, const Tolerances& tolerances) const;
  bool lexicographically_less(int row, int other, const Vector& direction) const;

  const Matrix& matrix_;
  const Vector& vector_;
  int n_;
  Eigen::MatrixXd inverse_;
  Eigen::MatrixXd inverse_magnitude_;
  Eigen::MatrixXd basis_magnitude_;
  Vector values_;
  Vector value_scale_;  // error scale of values_
};

bool Dictionary::factor(const std::vector<int>& basis) {
  Eigen::MatrixXd columns(n_, n_);
  for (int i = 0; i < n_; ++i) columns.col(i) = column(basis[i]);
  inverse_ = columns.partialPivLu().inverse();
  if (!inverse_.allFinite()) return false;
  inverse_magnitude_ = inverse_.cwiseAbs();
  basis_magnitude_ = columns.cwiseAbs();
  values_ = inverse_ * vector_;
  value_scale_ = error_scale(vector_);
  return true;
}

bool Dictionary::lexicographically_less(int row, int other, const Vector& direction) const {
  const double row_scale = inverse_magnitude_.row(row).maxCoeff() / direction[row];
  const double other_scale = inverse_magnitude_.row(other).maxCoeff() / direction[other];
  const double tie = kLexicographicTie * std::max(row_scale, other_scale);
  for (int j = 0; j < n_; ++j) {
    const double difference =
        inverse_(row, j) / direction[row] - inverse_(other, j) / direction[other];
    if (std::fabs(difference) > tie) return difference < 0.0;
  }
  return false;
}

int Dictionary::leaving_row(const std::vector<int>& basis, const Vector& direction,
                            const Vector& direction_scale, const Tolerances& tolerances) const {
  std::vector<int> rows;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < n_; ++i) {
    if (!(direction[i] > tolerances.pivot * direction_scale[i])) continue;
    rows.push_back(i);
    least = std::min(least, std::max(values_[i], 0.0) / direction[i]);
  }
  int best = -1;
  for (const int i : rows) {
    const double excess = std::max(values_[i], 0.0) - least * direction[i];
    const bool artificial = basis[i] == 2 * n_;
    const double tie = kTie * (value_scale_[i] + least * direction_scale[i]);
    if (excess > (artificial ? std::max(tie, tolerances.artificial) : tie)) continue;
    if (artificial) return i;
    if (best < 0 || lexicographically_less(i, best, direction)) best = i;
  }
  return best;
}

Attempt Dictionary::run(const Tolerances& tolerances, int max_pivots) {
  Attempt attempt;
  attempt.basis.resize(n_);
  for (int i = 0; i < n_; ++i) attempt.basis[i] = i;
  // First pivot: (q_i, e_i) lexicographically least, which in a tie is the last row.
  const double least = vector_.minCoeff();
  int row = n_ - 1;
  while (vector_[row] > least + kLexicographicTie * vector_.cwiseAbs().maxCoeff()) --row;
  int entering = complement(row);
  attempt.basis[row] = 2 * n_;
  for (attempt.pivots = 1;; ++attempt.pivots) {
    if (!factor(attempt.basis)) return attempt;
    const Vector entering_column = column(entering);
    const Vector direction = inverse_ * entering_column;
    const Vector scale = error_scale(entering_column);
    row = leaving_row(attempt.basis, direction, scale, tolerances);
    if (row < 0) {
      attempt.end = End::ray;
      return attempt;
    }
    if (attempt.pivots >= max_pivots) {
      attempt.end = End::limit;
      return attempt;
    }
    const int leaving = attempt.basis[row];
    attempt.basis[row] = entering;
    if (leaving == 2 * n_) break;
    entering = complement(leaving);
  }
  ++attempt.pivots;
  if (!factor(attempt.basis)) return attempt;
  attempt.values = values_;
  attempt.end = End::basis;
  return attempt;
}

// Solution of the basis once more, by complete pivoting and iterative refinement.
Vector refined_solution(const Matrix& matrix, const Vector& vector, const std::vector<int>& basis) {
  const int n = static_cast<int>(vector.size());
  std::vector<int> active;
  for (const int variable : basis) {
    if (variable >= n) active.push_back(variable - n);
  }
  Vector solution = Vector::Zero(n);
  if (active.empty()) return solution;
  const Eigen::MatrixXd block = matrix(active, active);
  const Vector right = -vector(active);
  const Eigen::FullPivLU<Eigen::MatrixXd> factors(block);
  Vector x = factors.solve(right);
  const Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic> wide = block.cast<long double>();
  for (int round = 0; round < 3; ++round) {
    const Vector defect =
        (right.cast<long double>() - wide * x.cast<long double>()).cast<double>();
    x += factors.solve(defect);
  }
  solution(active) = x;
  return solution;
}

}  // namespace

LemkeOutcome lemke(const Matrix& matrix, const Vector& vector, double tolerance, int max_pivots) {
  const int n = static_cast<int>(vector.size());
  LemkeOutcome outcome;
  outcome.solution = Vector::Constant(n, kNaN);
  outcome.residual = kNaN;
  if (!matrix.allFinite() || !vector.allFinite()) {
    outcome.status = Status::invalid_input;
    return outcome;
  }
  if (n == 0 || vector.minCoeff() >= 0.0) {
    outcome.solution = Vector::Zero(n);
    outcome.residual = 0.0;
    outcome.status = Status::solved;
    return outcome;
  }
  if (max_pivots <= 0) max_pivots = 50 * (n + 1);

  // Two scalars bring M and q to unit size without touching the covering vector.
  const double matrix_size = matrix.cwiseAbs().maxCoeff();
  const double matrix_scale = matrix_size > 0.0 ? matrix_size : 1.0;
  const double vector_scale = vector.cwiseAbs().maxCoeff();
  const Matrix scaled_matrix = matrix / matrix_scale;
  const Vector scaled_vector = vector / vector_scale;
  const double unscale = vector_scale / matrix_scale;
  Dictionary dictionary(scaled_matrix, scaled_vector);

  const auto consider = [&](const Vector& candidate) {
    const double residual =
        certificate::lcp_residual(n, matrix.data(), vector.data(), candidate.data());
    if (!(residual <= outcome.residual) && !std::isnan(outcome.residual)) return;
    if (!candidate.allFinite()) return;
    outcome.residual = residual;
    outcome.solution = candidate;
  };
  bool first = true;
  for (const Tolerances& tolerances : kAttempts) {
    const Attempt attempt = dictionary.run(tolerances, max_pivots);
    outcome.pivots += attempt.pivots;
    if (attempt.end == End::basis) {
      Vector plain = Vector::Zero(n);
      for (int i = 0; i < n; ++i) {
        if (attempt.basis[i] >= n) plain[attempt.basis[i] - n] = attempt.values[i] * unscale;
      }
      const Vector refined =
          refined_solution(scaled_matrix, scaled_vector, attempt.basis) * unscale;
      consider(refined.cwiseMax(0.0));
      consider(refined);
      consider(plain.cwiseMax(0.0));
    }
    if (certificate::within(outcome.residual, tolerance)) {
      outcome.status = Status::solved;
      return outcome;
    }
    if (first) {
      outcome.status = attempt.end == End::ray     ? Status::ray
                       : attempt.end == End::limit ? Status::iteration_limit
                                                   : Status::numerical_error;
      first = false;
    }
  }
  if (outcome.solution.allFinite()) outcome.status = Status::inaccurate;
  return outcome;
}

LcpResult solve_lcp(const LcpBatch& batch, const LcpSettings& settings) {
  const int n = batch.order;
  const auto count = static_cast<std::size_t>(batch.problems);
  LcpResult result;
  result.solution = Buffer<double>(count * n);
  result.status = Buffer<Status>(count);
  result.pivots = Buffer<std::int32_t>(count);
  result.residual = Buffer<double>(count);
  const auto matrices = batch.matrix.host();
  const auto vectors = batch.vector.host();
  with_threads(settings.threads, [&] {
    tbb::parallel_for(std::size_t{0}, count, [&](std::size_t p) {
      const Eigen::Map<const Matrix> matrix(matrices.data() + p * n * n, n, n);
      const Eigen::Map<const Vector> vector(vectors.data() + p * n, n);
      const LemkeOutcome outcome = lemke(matrix, vector, settings.tolerance, settings.max_pivots);
      std::copy_n(outcome.solution.data(), n, result.solution.data() + p * n);
      result.status.data()[p] = outcome.status;
      result.pivots.data()[p] = outcome.pivots;
      result.residual.data()[p] = outcome.residual;
    });
  });
  return result;
}

}  // namespace carom::reference
