#include "reference/programs/dual_active_set.hpp"

#include <cmath>
#include <limits>

#include <Eigen/Cholesky>
#include <Eigen/LU>

namespace carom::reference {

namespace {

constexpr Scalar kInfinite = std::numeric_limits<Scalar>::infinity();
constexpr Scalar kViolated = 1e-14L;
constexpr Scalar kDependent = 1e-16L;

class DualActiveSet {
 public:
  DualActiveSet(const PlainQp& problem, int max_iterations)
      : problem_(problem), left_(max_iterations), limit_(max_iterations) {}

  PlainAnswer run() {
    const Eigen::Index n = problem_.gradient.size();
    Scalar proximity = 0;
    const Scalar size = std::max<Scalar>(problem_.hessian.cwiseAbs().maxCoeff(), 0);
    Eigen::LDLT<Matrix> trial(problem_.hessian);
    if (!(trial.vectorD().minCoeff() > 1e-12L * size) || size == 0) {
      proximity = size > 0 ? 1e-10L * size : 1;
    }
    factor_.compute(problem_.hessian + proximity * Matrix::Identity(n, n));
    Vector centre = Vector::Zero(n);
    PlainAnswer answer;
    for (int outer = 0; outer < 5000; ++outer) {
      answer.end = solve(problem_.gradient - proximity * centre);
      answer.x = x_;
      if (answer.end != PlainEnd::solved || proximity == 0) break;
      if (finish()) {
        answer.x = x_;
        break;
      }
      const Vector move = x_ - centre;
      if (move.norm() <= 1e-14L * (1 + x_.norm())) break;
      if (endless(move)) {
        answer.end = PlainEnd::unbounded;
        answer.x = move;
        break;
      }
      centre = x_;
    }
    answer.multipliers = Vector::Zero(problem_.rows.rows());
    for (std::size_t k = 0; k < active_.size(); ++k) {
      answer.multipliers[active_[k]] = sign_[k] * u_[static_cast<Eigen::Index>(k)];
    }
    if (answer.end == PlainEnd::infeasible) {
      answer.multipliers.setZero();
      for (std::size_t k = 0; k < active_.size(); ++k) {
        answer.multipliers[active_[k]] = -sign_[k] * dependence_[static_cast<Eigen::Index>(k)];
      }
      answer.multipliers[entering_] += entering_sign_;
    }
    answer.iterations = limit_ - left_;
    return answer;
  }

 private:
  // One strictly convex problem from the empty active set.
  PlainEnd solve(const Vector& gradient) {
    active_.clear();
    sign_.clear();
    u_.resize(0);
    x_ = -factor_.solve(gradient);
    while (left_-- > 0) {
      if (!choose()) return PlainEnd::solved;
      Vector grown(u_.size() + 1);
      grown << u_, Scalar(0);
      u_ = grown;
      for (;;) {
        const PlainEnd end = step();
        if (end == PlainEnd::solved) break;
        if (end != PlainEnd::gave_up) return end;
        if (left_-- <= 0) return PlainEnd::gave_up;
      }
    }
    return PlainEnd::gave_up;
  }

  // The optimality conditions of the active rows without the proximal term, where their solution
  // is feasible and has multipliers of the right sign.
  bool finish() {
    const Eigen::Index n = x_.size();
    const auto count = static_cast<Eigen::Index>(active_.size());
    Matrix system = Matrix::Zero(n + count, n + count);
    Vector right(n + count);
    system.topLeftCorner(n, n) = problem_.hessian;
    right.head(n) = -problem_.gradient;
    for (Eigen::Index k = 0; k < count; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const Vector normal = sign_[at] * problem_.rows.row(active_[at]).transpose();
      system.block(n + k, 0, 1, n) = normal.transpose();
      system.block(0, n + k, n, 1) = -normal;
      right[n + k] = sign_[at] * problem_.bounds[active_[at]];
    }
    const Vector found = system.fullPivLu().solve(right);
    const Scalar size = system.cwiseAbs().maxCoeff() * found.cwiseAbs().maxCoeff();
    if (!((system * found - right).cwiseAbs().maxCoeff() <= 1e-15L * size)) return false;
    const Vector multipliers = found.tail(count);
    for (Eigen::Index k = 0; k < count; ++k) {
      const bool equation =
          problem_.equation[static_cast<std::size_t>(active_[static_cast<std::size_t>(k)])];
      if (!equation && !(multipliers[k] >= -1e-15L * multipliers.cwiseAbs().maxCoeff())) {
        return false;
      }
    }
    const Vector before = x_;
    x_ = found.head(n);
    if (choose()) {
      x_ = before;
      return false;
    }
    u_ = multipliers;
    return true;
  }

  // The most violated row, equations first.
  bool choose() {
    Scalar worst = 0;
    bool found_equation = false;
    const Scalar length = 1e-300L + x_.cwiseAbs().maxCoeff();
    entering_ = -1;
    for (Eigen::Index i = 0; i < problem_.rows.rows(); ++i) {
      if (is_active(i)) continue;
      const bool equation = problem_.equation[static_cast<std::size_t>(i)];
      if (found_equation && !equation) continue;
      const Scalar value = problem_.rows.row(i).dot(x_) - problem_.bounds[i];
      const Scalar size =
          problem_.rows.row(i).cwiseAbs().sum() * length + std::abs(problem_.bounds[i]) + 1e-300L;
      const Scalar violation = (equation ? std::abs(value) : -value) / size;
      if (violation <= kViolated) continue;
      if (equation && !found_equation) {
        found_equation = true;
        worst = 0;
      }
      if (violation > worst) {
        worst = violation;
        entering_ = i;
        entering_sign_ = equation && value > 0 ? -1 : 1;
      }
    }
    return entering_ >= 0;
  }

  bool is_active(Eigen::Index i) const {
    for (const Eigen::Index a : active_) {
      if (a == i) return true;
    }
    return false;
  }

  // gave_up: a row was dropped and the step goes on; solved: the row entered.
  PlainEnd step() {
    const Vector normal = entering_sign_ * problem_.rows.row(entering_).transpose();
    const auto count = static_cast<Eigen::Index>(active_.size());
    Matrix normals(normal.size(), count);
    for (Eigen::Index k = 0; k < count; ++k) {
      const auto at = static_cast<std::size_t>(k);
      normals.col(k) = sign_[at] * problem_.rows.row(active_[at]).transpose();
    }
    const Vector through = factor_.solve(normal);
    Vector r(count);
    Vector z = through;
    if (count > 0) {
      const Matrix inverse_normals = factor_.solve(normals);
      r = (normals.transpose() * inverse_normals)
              .eval()
              .fullPivLu()
              .solve(normals.transpose() * through);
      z = through - inverse_normals * r;
    }
    dependence_ = r;
    const Scalar curvature = normal.dot(z);
    const bool moves = curvature > kDependent * normal.dot(through);
    const Scalar gap = entering_sign_ * problem_.bounds[entering_] - normal.dot(x_);
    const Scalar full = moves ? gap / curvature : kInfinite;
    Scalar partial = kInfinite;
    Eigen::Index leaving = -1;
    for (Eigen::Index k = 0; k < count; ++k) {
      if (problem_.equation[static_cast<std::size_t>(active_[static_cast<std::size_t>(k)])])
        continue;
      if (r[k] > 1e-17L * r.cwiseAbs().maxCoeff() && u_[k] / r[k] < partial) {
        partial = u_[k] / r[k];
        leaving = k;
      }
    }
    const Scalar length = std::min(full, partial);
    if (length == kInfinite) return PlainEnd::infeasible;
    u_.head(count) -= length * r;
    u_[count] += length;
    if (moves) x_ += length * z;
    if (full <= partial) {
      active_.push_back(entering_);
      sign_.push_back(entering_sign_);
      return PlainEnd::solved;
    }
    const auto at = static_cast<std::ptrdiff_t>(leaving);
    active_.erase(active_.begin() + at);
    sign_.erase(sign_.begin() + at);
    Vector shrunk(u_.size() - 1);
    shrunk << u_.head(leaving), u_.tail(u_.size() - leaving - 1);
    u_ = shrunk;
    return PlainEnd::gave_up;
  }

  // No curvature, descent, and no row that ends it.
  bool endless(const Vector& move) const {
    const Vector d = move / move.cwiseAbs().maxCoeff();
    const Scalar slope = problem_.gradient.dot(d);
    if (!(slope < 0)) return false;
    const Scalar small = -1e-12L * slope;
    if (!((problem_.hessian * d).cwiseAbs().maxCoeff() <= small)) return false;
    for (Eigen::Index i = 0; i < problem_.rows.rows(); ++i) {
      const Scalar along = problem_.rows.row(i).dot(d);
      if (along < -small) return false;
      if (problem_.equation[static_cast<std::size_t>(i)] && along > small) return false;
    }
    return true;
  }

  const PlainQp& problem_;
  int left_;
  int limit_;
  Eigen::LLT<Matrix> factor_;
  Vector x_, u_, dependence_;
  std::vector<Eigen::Index> active_;
  std::vector<Scalar> sign_;
  Eigen::Index entering_ = -1;
  Scalar entering_sign_ = 1;
};

}  // namespace

PlainAnswer solve_plain_qp(const PlainQp& problem, int max_iterations) {
  // Unit diagonal of the Hessian, or unit columns; unit rows.
  const Eigen::Index n = problem.gradient.size();
  const Eigen::Index m = problem.rows.rows();
  const Scalar largest = problem.hessian.cwiseAbs().maxCoeff();
  Vector unit(n);
  for (Eigen::Index j = 0; j < n; ++j) {
    const Scalar diagonal = problem.hessian(j, j);
    const Scalar column = m > 0 ? problem.rows.col(j).cwiseAbs().maxCoeff() : 0;
    unit[j] = diagonal > 1e-12L * largest ? 1 / std::sqrt(diagonal) : column > 0 ? 1 / column : 1;
  }
  PlainQp scaled = problem;
  scaled.hessian = unit.asDiagonal() * problem.hessian * unit.asDiagonal();
  scaled.gradient = unit.cwiseProduct(problem.gradient);
  scaled.rows = problem.rows * unit.asDiagonal();
  Vector size = Vector::Ones(m);
  for (Eigen::Index i = 0; i < m; ++i) {
    const Scalar most = scaled.rows.row(i).cwiseAbs().maxCoeff();
    if (most > 0) size[i] = most;
    scaled.rows.row(i) /= size[i];
    scaled.bounds[i] /= size[i];
  }
  PlainAnswer answer = DualActiveSet(scaled, max_iterations).run();
  answer.x = answer.x.cwiseProduct(unit);
  answer.multipliers = answer.multipliers.cwiseQuotient(size);
  return answer;
}

}  // namespace carom::reference
