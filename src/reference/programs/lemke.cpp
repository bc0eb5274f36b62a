#include "reference/programs/lemke.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <carom/certificate_lcp.hpp>

#include "core/constants.hpp"
#include "core/parallel.hpp"
#include "programs/lcp/backends.hpp"
#include "reference/programs/bland_simplex.hpp"

namespace carom::reference {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
enum class End { basis, ray, limit, breakdown };

struct Attempt {
  End end = End::breakdown;
  std::vector<int> basis;  // variable of each row: w_i is i, z_i is n + i, the artificial one 2n
  Vector values;
  int pivots = 0;
};

struct Tolerances {
  double pivot;          // smallest pivot, relative to its error scale
  double tie;            // values that differ by less, relative to their error scale, are a tie
  double lexicographic;  // the same for rows of the basis inverse, relative to their largest entry
  double artificial;     // the artificial variable leaves where a step brings it below this
  double perturbation;   // of q, different in every row: no exact ties remain
};
// In the order in which they are tried; M and q have unit size.
constexpr Tolerances kDouble = {1e-13, 1e-13, 1e-11, 1e-14, 0.0};
constexpr Tolerances kLongDouble[] = {{1e-16, 1e-16, 1e-14, 1e-14, 0.0},
                                      {1e-14, 1e-14, 1e-12, 1e-12, 0.0},
                                      {1e-18, 1e-18, 1e-15, 0.0, 0.0},
                                      {1e-16, 1e-17, 1e-14, 1e-14, 1e-11},
                                      {1e-14, 1e-17, 1e-14, 1e-14, 1e-9}};

// The system of Lemke's method: w - M z - e z0 = q, all variables >= 0.
template <class Scalar>
class Dictionary {
  using Square = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  using Column = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

 public:
  Dictionary(const Matrix& matrix, const Vector& vector)
      : matrix_(matrix.cast<Scalar>()),
        vector_(vector.cast<Scalar>()),
        n_(static_cast<int>(vector.size())) {}

  Attempt run(const Tolerances& tolerances, int max_pivots);

 private:
  Column column(int variable) const {
    if (variable == 2 * n_) return Column::Constant(n_, -1);
    if (variable >= n_) return -matrix_.col(variable - n_);
    return Column::Unit(n_, variable);
  }
  int complement(int variable) const { return variable < n_ ? variable + n_ : variable - n_; }

  bool factor(const std::vector<int>& basis);
  // |B^-1| |B| |B^-1| |a|: unit roundoffs times this bound the error of B^-1 a, row by row.
  Column error_scale(const Column& a) const {
    return inverse_magnitude_ * (basis_magnitude_ * (inverse_magnitude_ * a.cwiseAbs()));
  }
  int leaving_row(const std::vector<int>& basis, const Column& direction,
                  const Column& direction_scale, const Tolerances& tolerances) const;
  bool lexicographically_less(int row, int other, const Column& direction, double tolerance) const;

  Square matrix_;
  Column vector_;
  int n_;
  Square inverse_;
  Square inverse_magnitude_;
  Square basis_magnitude_;
  Column values_;
  Column value_scale_;  // error scale of values_
};

template <class Scalar>
bool Dictionary<Scalar>::factor(const std::vector<int>& basis) {
  Square columns(n_, n_);
  for (int i = 0; i < n_; ++i) columns.col(i) = column(basis[i]);
  inverse_ = columns.partialPivLu().inverse();
  if (!inverse_.allFinite()) return false;
  inverse_magnitude_ = inverse_.cwiseAbs();
  basis_magnitude_ = columns.cwiseAbs();
  values_ = inverse_ * vector_;
  value_scale_ = error_scale(vector_);
  return true;
}

template <class Scalar>
bool Dictionary<Scalar>::lexicographically_less(int row, int other, const Column& direction,
                                                double tolerance) const {
  const Scalar row_scale = inverse_magnitude_.row(row).maxCoeff() / direction[row];
  const Scalar other_scale = inverse_magnitude_.row(other).maxCoeff() / direction[other];
  const Scalar tie = tolerance * std::max(row_scale, other_scale);
  for (int j = 0; j < n_; ++j) {
    const Scalar difference =
        inverse_(row, j) / direction[row] - inverse_(other, j) / direction[other];
    if (std::abs(difference) > tie) return difference < 0;
  }
  return false;
}

template <class Scalar>
int Dictionary<Scalar>::leaving_row(const std::vector<int>& basis, const Column& direction,
                                    const Column& direction_scale,
                                    const Tolerances& tolerances) const {
  const auto value = [&](int i) { return std::max(values_[i], Scalar{0}); };
  std::vector<int> rows;
  Scalar least = std::numeric_limits<Scalar>::infinity();
  for (int i = 0; i < n_; ++i) {
    if (!(direction[i] > tolerances.pivot * direction_scale[i])) continue;
    rows.push_back(i);
    least = std::min(least, value(i) / direction[i]);
  }
  int best = -1;
  for (const int i : rows) {
    const bool artificial = basis[i] == 2 * n_;
    Scalar tie = tolerances.tie * (value_scale_[i] + least * direction_scale[i]);
    if (artificial) tie = std::max(tie, Scalar{tolerances.artificial});
    if (value(i) - least * direction[i] > tie) continue;
    if (artificial) return i;
    if (best < 0 || lexicographically_less(i, best, direction, tolerances.lexicographic)) best = i;
  }
  return best;
}

template <class Scalar>
Attempt Dictionary<Scalar>::run(const Tolerances& tolerances, int max_pivots) {
  Attempt attempt;
  attempt.basis.resize(n_);
  for (int i = 0; i < n_; ++i) attempt.basis[i] = i;
  for (int i = 0; i < n_; ++i) {
    const double golden = (i + 1) * 0.6180339887498949;
    vector_[i] += tolerances.perturbation * (golden - std::floor(golden));
  }
  // First pivot: (q_i, e_i) lexicographically least, which in a tie is the last row.
  const Scalar least = vector_.minCoeff();
  int row = n_ - 1;
  while (vector_[row] > least + tolerances.lexicographic) --row;
  int entering = complement(row);
  attempt.basis[row] = 2 * n_;
  for (attempt.pivots = 1;; ++attempt.pivots) {
    if (!factor(attempt.basis)) return attempt;
    const Column entering_column = column(entering);
    const Column direction = inverse_ * entering_column;
    row = leaving_row(attempt.basis, direction, error_scale(entering_column), tolerances);
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
  attempt.values = values_.template cast<double>();
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
    const Vector defect = (right.cast<long double>() - wide * x.cast<long double>()).cast<double>();
    x += factors.solve(defect);
  }
  solution(active) = x;
  return solution;
}

}  // namespace

LemkeOutcome lemke(const Matrix& matrix, const Vector& vector, double tolerance, int max_pivots,
                   Units units) {
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
  const auto consider = [&](const Vector& candidate) {
    const double residual =
        units == Units::of_rows
            ? certificate::lcp_residual(n, matrix.data(), vector.data(), candidate.data())
            : certificate::lcp_natural_residual(n, matrix.data(), vector.data(), candidate.data());
    if (!(residual <= outcome.residual) && !std::isnan(outcome.residual)) return;
    if (!candidate.allFinite()) return;
    outcome.residual = residual;
    outcome.solution = candidate;
  };
  const auto judge = [&](const Attempt& attempt) {
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
    return certificate::within(outcome.residual, tolerance);
  };
  const Attempt first = Dictionary<double>(scaled_matrix, scaled_vector).run(kDouble, max_pivots);
  bool certified = judge(first);
  for (const Tolerances& tolerances : kLongDouble) {
    if (certified) break;
    certified =
        judge(Dictionary<long double>(scaled_matrix, scaled_vector).run(tolerances, max_pivots));
  }
  if (certified) {
    outcome.status = Status::solved;
    return outcome;
  }
  outcome.status = first.end == End::ray     ? Status::ray
                   : first.end == End::limit ? Status::iteration_limit
                                             : Status::numerical_error;
  if (outcome.solution.allFinite()) outcome.status = Status::inaccurate;
  return outcome;
}

namespace {

/// q without what is rounding relative to its largest entry, rows of M brought to one.
Vector without_noise(const Matrix& matrix, const Vector& vector) {
  constexpr double kNoise = 0x1p-40;
  Vector scaled = vector;
  for (int i = 0; i < vector.size(); ++i) {
    const double size = matrix.row(i).cwiseAbs().maxCoeff();
    if (size > 0.0) scaled[i] /= size;
  }
  const double floor = kNoise * scaled.cwiseAbs().maxCoeff();
  return (scaled.array().abs() <= floor).select(0.0, vector.array()).matrix();
}

/// y >= 0 with M'y <= 0 and q'y < 0 by the simplex method, or nothing; residual: of its judge.
Vector farkas_vector(const Matrix& matrix, const Vector& vector, const Vector& clean,
                     double tolerance, double& residual) {
  const int n = static_cast<int>(vector.size());
  const Vector zero = Vector::Zero(n), least = -clean, none = Vector::Constant(n, kInfinity);
  const certificate::LpData lp{n,           n,           zero.data(), matrix.data(), least.data(),
                               none.data(), zero.data(), none.data()};
  const BlandOutcome outcome = solve_by_bland(lp, 200 * (n + 1));
  if (outcome.status != Status::infeasible) return {};
  Vector y = outcome.dual.cwiseMax(0.0);
  const double dust = 1e-14 * y.maxCoeff();
  for (double& value : y) value = value <= dust ? 0.0 : value;
  std::vector<double> memory(static_cast<std::size_t>(certificate::lcp_judge_workspace(n)));
  const kernels::SingleLane lane;
  certificate::LcpJudge<kernels::SingleLane> judge(lane, n, matrix.data(), vector.data(),
                                                   memory.data());
  residual = judge.farkas_residual(y.data());
  return residual <= std::min(tolerance, 1e-12) ? y : Vector();
}

/// What Lemke's method leaves open: without noise in q, then as linear inequalities.
Vector finish(const Matrix& matrix, const Vector& vector, const LcpSettings& settings,
              LemkeOutcome& outcome) {
  const Vector clean = without_noise(matrix, vector);
  if (clean != vector) {
    LemkeOutcome other = lemke(matrix, clean, settings.tolerance, settings.max_pivots);
    if (other.status == Status::solved) {
      other.residual = certificate::lcp_residual(static_cast<int>(vector.size()), matrix.data(),
                                                 vector.data(), other.solution.data());
      if (certificate::within(other.residual, settings.tolerance)) {
        outcome = std::move(other);
        return {};
      }
    }
  }
  double residual = 0.0;
  Vector y = farkas_vector(matrix, vector, clean, settings.tolerance, residual);
  if (y.size() > 0) {
    outcome.status = Status::infeasible;
    outcome.solution.setConstant(kNaN);
    outcome.residual = residual;
  }
  return y;
}

}  // namespace

LcpResult solve_lcp(const LcpBatch& batch, const LcpSettings& settings,
                    WorkspaceState* /*workspace*/) {
  const int n = batch.order;
  auto result = allocate<LcpResult>(batch, MemorySpace::host, settings.certificates);
  fill_nan(result);
  const auto matrices = batch.matrix.host();
  const auto vectors = batch.vector.host();
  parallel_for_each(batch.problems, settings.threads, [&](std::int64_t p) {
    const Eigen::Map<const Matrix> matrix(matrices.data() + p * n * n, n, n);
    const Eigen::Map<const Vector> vector(vectors.data() + p * n, n);
    LemkeOutcome outcome = lemke(matrix, vector, settings.tolerance, settings.max_pivots);
    if (outcome.status != Status::solved && outcome.status != Status::invalid_input &&
        !(outcome.status == Status::iteration_limit && settings.max_pivots > 0)) {
      const Vector y = finish(matrix, vector, settings, outcome);
      if (settings.certificates && y.size() > 0) {
        std::copy_n(y.data(), n, result.farkas.data() + p * n);
      }
    }
    std::copy_n(outcome.solution.data(), n, result.solution.data() + p * n);
    result.status.data()[p] = outcome.status;
    result.pivots.data()[p] = outcome.pivots;
    result.residual.data()[p] = outcome.residual;
  });
  return result;
}

template <>
const LcpEntries& entries() {
  static constexpr LcpEntries kEntries{solve_lcp};
  return kEntries;
}

}  // namespace carom::reference
