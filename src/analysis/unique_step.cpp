#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include <Eigen/Dense>

#include <carom/lp.hpp>

#include "analysis/dense_models.hpp"
#include "core/constants.hpp"
#include "impact/mechanism.hpp"
#include "impact/step_solutions.hpp"

namespace carom::dense {

namespace {

constexpr double kSeveral = 1e-7;  // smaller differences of v' are the programmes' tolerance
constexpr double kResidual = 1e-9;
constexpr std::int64_t kAtOnce = 32;  // pairs of one batch: mostly the first ones show a difference

enum class Normal { open, closed, largest };  // lambda_n = 0; in between; lambda_max
enum class Tangent { stick, forward, backward };
struct Mode {
  Normal normal;
  Tangent tangent;
};
constexpr std::array<Mode, 7> kModes{{{Normal::open, Tangent::stick},
                                      {Normal::closed, Tangent::stick},
                                      {Normal::closed, Tangent::forward},
                                      {Normal::closed, Tangent::backward},
                                      {Normal::largest, Tangent::stick},
                                      {Normal::largest, Tangent::forward},
                                      {Normal::largest, Tangent::backward}}};
constexpr int kRowsOfContact = 5;

/// Two solutions of one step, as columns: the impulses of the first and of the second (normals,
/// then tangents), the velocity before, lambda_max. Velocities are coordinates in the kinetic norm,
/// of what contacts see of them; contacts' largest row has size 1.
class TwoSolutions {
 public:
  explicit TwoSolutions(const Mechanism& mechanism)
      : m_(mechanism.contacts), friction_(mechanism.friction) {
    const Eigen::LLT<Eigen::MatrixXd> factor(mechanism.mass);
    const Eigen::MatrixXd normed =
        factor.matrixL().solve(mechanism.jacobian.transpose()).transpose();
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(normed, Eigen::ComputeThinU | Eigen::ComputeThinV);
    const auto basis = svd.matrixV().leftCols(svd.rank());
    seen_ = normed * basis;
    scale_ = seen_.cwiseAbs().maxCoeff();
    seen_ /= scale_;
    velocity_ = factor.matrixU().solve(Eigen::MatrixXd(basis));
  }

  [[nodiscard]] int unknowns() const { return static_cast<int>(seen_.cols()); }
  [[nodiscard]] int columns() const { return 5 * m_ + unknowns(); }
  [[nodiscard]] int rows() const { return 2 * kRowsOfContact * m_; }
  [[nodiscard]] std::int64_t combinations() const {
    return static_cast<std::int64_t>(std::pow(double{kModes.size()}, m_));
  }

  /// The rows, the same for every pair of combinations.
  [[nodiscard]] Eigen::MatrixXd matrix() const {
    Eigen::MatrixXd result = Eigen::MatrixXd::Zero(rows(), columns());
    const Eigen::MatrixXd inverse_mass = seen_ * seen_.transpose();
    for (int which = 0; which < 2; ++which) {
      const int at = 2 * m_ * which;
      for (int i = 0; i < m_; ++i) {
        const int row = kRowsOfContact * (m_ * which + i);
        for (int part = 0; part < 2; ++part) {  // normal and tangential velocity
          const int of = i + part * m_;
          result.row(row + part).segment(at, 2 * m_) = inverse_mass.row(of);
          result.row(row + part).segment(4 * m_, unknowns()) = seen_.row(of);
        }
        result(row + 2, 4 * m_ + unknowns() + i) = 1.0;  // lambda_max - lambda_n
        result(row + 2, at + i) = -1.0;
        for (int side = 0; side < 2; ++side) {  // mu lambda_n +- lambda_t, no entry above 1
          result(row + 3 + side, at + i) = std::min(friction_[i], 1.0);
          result(row + 3 + side, at + m_ + i) =
              (side == 0 ? 1.0 : -1.0) / std::max(friction_[i], 1.0);
        }
      }
    }
    return result;
  }

  /// The differences of both v', a row each way for every coordinate.
  [[nodiscard]] Eigen::MatrixXd costs() const {
    Eigen::MatrixXd result = Eigen::MatrixXd::Zero(2 * unknowns(), columns());
    result.block(0, 0, unknowns(), 2 * m_) = seen_.transpose();
    result.block(0, 2 * m_, unknowns(), 2 * m_) = -seen_.transpose();
    result.bottomRows(unknowns()) = -result.topRows(unknowns());
    return result;
  }

  /// What combination number `combination` of modes asks of one of the solutions.
  void bound(int which, std::int64_t combination, double* row_lower, double* row_upper,
             double* column_lower, double* column_upper) const {
    for (int i = 0; i < m_; ++i, combination /= kModes.size()) {
      const Mode mode = kModes[combination % kModes.size()];
      double* const low = row_lower + kRowsOfContact * (m_ * which + i);
      double* const high = row_upper + kRowsOfContact * (m_ * which + i);
      const bool open = mode.normal == Normal::open;
      for (const int part : {0, 1}) {
        const int column = (2 * which + part) * m_ + i;
        column_lower[column] = open || part == 0 ? 0.0 : -1.0;
        column_upper[column] = open ? 0.0 : 1.0;
      }
      low[0] = mode.normal == Normal::largest ? -kInfinity : 0.0;
      high[0] = open ? kInfinity : 0.0;
      low[1] = open || mode.tangent == Tangent::backward ? -kInfinity : 0.0;
      high[1] = open || mode.tangent == Tangent::forward ? kInfinity : 0.0;
      low[2] = 0.0;
      high[2] = mode.normal == Normal::largest ? 0.0 : kInfinity;
      low[3] = low[4] = 0.0;
      high[3] = mode.tangent == Tangent::forward ? 0.0 : kInfinity;
      high[4] = mode.tangent == Tangent::backward ? 0.0 : kInfinity;
    }
  }

  /// Velocity and lambda_max of a solution of the programme.
  [[nodiscard]] Vector velocity(const Vector& x) const {
    return velocity_ * x.segment(4 * m_, unknowns()) / scale_;
  }
  [[nodiscard]] Vector max_impulse(const Vector& x) const {
    return x.tail(m_).cwiseMax(0.0) / (scale_ * scale_);
  }

 private:
  int m_;
  Vector friction_;
  Eigen::MatrixXd seen_;      // contacts' velocities of the coordinates, / scale_
  Eigen::MatrixXd velocity_;  // [nv, coordinates]
  double scale_ = 1.0;
};

}  // namespace

StepUniqueness decide_unique_step(const ImpactProblem& problem) {
  const Mechanism mechanism = make_mechanism(problem);
  StepUniqueness result;
  if (mechanism.contacts == 0 || mechanism.jacobian.isZero(0.0)) {
    result.decided = result.unique = true;
    return result;
  }
  const TwoSolutions two(mechanism);
  const StepModel model(2, mechanism.delassus, mechanism.friction, 2);
  const Eigen::MatrixXd matrix = two.matrix();
  const Eigen::MatrixXd costs = two.costs();
  const std::int64_t modes = two.combinations();
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::int64_t a = 0; a < modes; ++a)
    for (std::int64_t b = a; b < modes; ++b) pairs.emplace_back(a, b);

  const auto several = [&](const Vector& x) {
    Vector velocity = two.velocity(x);
    Vector max_impulse = two.max_impulse(x);
    const double size = velocity.cwiseAbs().maxCoeff();
    if (!(size > 0.0)) return false;
    velocity /= size;
    max_impulse /= size;
    const auto velocity_of = [&](const Vector& impulse) -> Vector {
      return velocity + mechanism.response * impulse;
    };
    const auto found = enumerate_step(model, mechanism.jacobian * velocity, max_impulse, kResidual,
                                      velocity_of, kDistinct);
    if (found.size() < 2) return false;
    result.velocity.assign(velocity.begin(), velocity.end());
    result.max_impulse.assign(max_impulse.begin(), max_impulse.end());
    for (const StepSolution& outcome : found) {
      const Vector after = velocity_of(outcome.impulse);
      result.outcomes.emplace_back(after.begin(), after.end());
    }
    return true;
  };

  LpSettings settings;
  settings.certificates = false;
  bool open = false;  // a difference that enumeration does not confirm, or a programme unsolved
  const auto total = static_cast<std::int64_t>(pairs.size());
  for (std::int64_t begin = 0; begin < total; begin += kAtOnce) {
    LpBatch batch;
    batch.problems = std::min(kAtOnce, total - begin);
    batch.rows = two.rows();
    batch.columns = two.columns();
    batch.objectives = static_cast<int>(costs.rows());
    const auto count = [&](std::int64_t a) { return static_cast<std::size_t>(batch.problems * a); };
    std::vector<double> matrices(count(matrix.size()));
    std::vector<double> objectives(count(costs.size()));
    std::vector<double> row_lower(count(batch.rows)), row_upper(count(batch.rows));
    std::vector<double> column_lower(count(batch.columns), -1.0);
    std::vector<double> column_upper(count(batch.columns), 1.0);
    for (std::int64_t p = 0; p < batch.problems; ++p) {
      Eigen::Map<Matrix>(matrices.data() + p * matrix.size(), matrix.rows(), matrix.cols()) =
          matrix;
      Eigen::Map<Matrix>(objectives.data() + p * costs.size(), costs.rows(), costs.cols()) =
          -costs;  // the solver minimises
      const std::array<std::int64_t, 2> pair{pairs[begin + p].first, pairs[begin + p].second};
      for (const int which : {0, 1}) {
        two.bound(which, pair[which], row_lower.data() + p * batch.rows,
                  row_upper.data() + p * batch.rows, column_lower.data() + p * batch.columns,
                  column_upper.data() + p * batch.columns);
      }
    }
    batch.matrix = Buffer<double>::from(matrices);
    batch.cost = Buffer<double>::from(objectives);
    batch.row_lower = Buffer<double>::from(row_lower);
    batch.row_upper = Buffer<double>::from(row_upper);
    batch.column_lower = Buffer<double>::from(column_lower);
    batch.column_upper = Buffer<double>::from(column_upper);
    const LpResult answer = solve_lp(batch, settings, Backend::cpu);
    result.pairs += batch.problems;
    for (std::int64_t k = 0; k < batch.problems * batch.objectives; ++k) {
      if (answer.status.data()[k] != Status::solved) {
        open = true;
        continue;
      }
      const double difference = -answer.objective.data()[k];
      if (difference <= kSeveral) {
        result.difference = std::max(result.difference, difference);
        continue;
      }
      if (several(Eigen::Map<const Vector>(answer.solution.data() + k * batch.columns,
                                           batch.columns))) {
        result.decided = true;
        result.difference = 0.0;
        return result;
      }
      open = true;
    }
  }
  result.decided = result.unique = !open;
  return result;
}

}  // namespace carom::dense
