#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <Eigen/LU>

#include "core/parallel.hpp"
#include "programs/qp/backends.hpp"
#include "programs/qp/cone_faces.hpp"
#include "reference/programs/dual_active_set.hpp"
#include "reference/programs/qp_problem.hpp"

namespace carom::reference {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int kMaxCuts = 400;
/// Without cones answers are exact to extended numbers: a larger residual that is still small
/// relative to the data is another problem's, of which this one may have no answer.
constexpr double kExact = 1e-11;

/// What a row of PlainQp stands for: y[row] += direction * multiplier, or for a cut of a cone
/// z += multiplier (1, -u).
struct Origin {
  int row;
  double direction;
  std::vector<Scalar> tail;  ///< u, empty unless a cut
};

struct QpAnswer {
  Status status = Status::numerical_error;
  int iterations = 0;
  double residual = kNan;
  double objective = kNan;
  Eigen::VectorXd x, y;   ///< the answer, or what proves that there is none
  Eigen::VectorXd point;  ///< unbounded: meets rows and cones
  Eigen::VectorXd face;   ///< of no interior, empty where `x` is its direction
};

class Solver {
 public:
  Solver(const QpProblem& problem, double tolerance, QpAnswer& answer)
      : problem_(problem), n_(problem.variables()), tolerance_(tolerance), answer_(answer) {}

  /// Cones by tangent planes, added where the last answer violates them most: every answer is dual
  /// feasible for the cones, and what remains is their violation (Kelley 1960). Newton's method on
  /// what they identify as active ends it.
  void solve() {
    build();
    for (int round = 0; round < kMaxCuts; ++round) {
      const PlainAnswer plain = solve_plain_qp(qp_, 200 * (n_ + static_cast<int>(origin_.size())));
      answer_.iterations += plain.iterations;
      copy(plain);
      if (plain.end == PlainEnd::infeasible) {
        conclude(Status::infeasible, problem_.infeasibility_residual(answer_.y));
        return;
      }
      if (plain.end == PlainEnd::unbounded) {
        if (add_cuts(plain.x, true)) continue;
        find_point();
        if (answer_.status == Status::infeasible) return;
        copy(plain);
        judge_ray();
        return;
      }
      if (plain.end == PlainEnd::gave_up) {
        answer_.status = Status::iteration_limit;
        return;
      }
      if (!problem_.cones.empty() && finish(plain.x)) {
        judge();
        if (answer_.status == Status::solved) return;
        copy(plain);
      }
      if (!add_cuts(plain.x, false)) break;
    }
    judge();
  }

  /// The answer as it stands.
  void judge() {
    const auto judged = problem_.residual(answer_.x, answer_.y);
    answer_.residual = judged.value();
    answer_.objective = judged.objective;
    const double most = problem_.cones.empty() ? std::min(tolerance_, kExact) : tolerance_;
    answer_.status = certificate::within(answer_.residual, most) ? Status::solved
                     : std::isfinite(answer_.residual)           ? Status::inaccurate
                                                                 : Status::numerical_error;
  }

  /// The ray is answer_.x.
  void judge_ray() {
    conclude(Status::unbounded, problem_.unboundedness_residual(answer_.x, answer_.point));
  }

 private:
  /// residual: of the proof of `status`, if there is one.
  void conclude(Status status, std::optional<double> residual) {
    answer_.status = residual ? status : Status::numerical_error;
    answer_.residual = residual.value_or(kNan);
  }

  void add(const Vector& normal, Scalar bound, bool equation, Origin origin) {
    const Eigen::Index count = qp_.rows.rows();
    qp_.rows.conservativeResize(count + 1, n_);
    qp_.rows.row(count) = normal.transpose();
    qp_.bounds.conservativeResize(count + 1);
    qp_.bounds[count] = bound;
    qp_.equation.push_back(equation);
    origin_.push_back(std::move(origin));
  }
  [[nodiscard]] Vector normal_of(int i) const {
    return problem_.matrix.row(i).transpose().cast<Scalar>();
  }

  void build() {
    qp_.hessian = problem_.hessian.cast<Scalar>();
    qp_.gradient = problem_.gradient.cast<Scalar>();
    qp_.rows.resize(0, n_);
    qp_.bounds.resize(0);
    for (int i = 0; i < problem_.rows(); ++i) {
      if (problem_.in_cone(i)) continue;
      const double u = problem_.upper[i];
      const double l = problem_.lower[i];
      if (l == u) {
        add(-normal_of(i), -u, true, {i, 1.0, {}});
        continue;
      }
      if (std::isfinite(u)) add(-normal_of(i), -u, false, {i, 1.0, {}});
      if (std::isfinite(l)) add(normal_of(i), l, false, {i, -1.0, {}});
    }
    // s_0 >= 0 of every cone.
    for (const kernels::QpConeSpan& cone : problem_.cones) {
      add(-normal_of(cone.first), -problem_.upper[cone.first], false,
          {cone.first, 1.0, std::vector<Scalar>(static_cast<std::size_t>(cone.size - 1), 0)});
    }
  }

  /// The point nearest to zero among those that meet rows and cones, for an objective without end;
  /// infeasible with its proof where there is none.
  void find_point() {
    const Matrix hessian = std::exchange(qp_.hessian, Matrix::Identity(n_, n_));
    const Vector gradient = std::exchange(qp_.gradient, Vector::Zero(n_));
    for (int round = 0; round < kMaxCuts; ++round) {
      const PlainAnswer nearest =
          solve_plain_qp(qp_, 200 * (n_ + static_cast<int>(origin_.size())));
      answer_.iterations += nearest.iterations;
      if (nearest.end == PlainEnd::infeasible) {
        copy(nearest);
        conclude(Status::infeasible, problem_.infeasibility_residual(answer_.y));
        break;
      }
      if (nearest.end != PlainEnd::solved) break;
      answer_.point = nearest.x.cast<double>();
      if (!add_cuts(nearest.x, false)) break;
    }
    qp_.hessian = hessian;
    qp_.gradient = gradient;
  }

  /// s_0 >= u's_1 with u along s_1; true where any was violated. `ray`: of the direction x.
  bool add_cuts(const Vector& x, bool ray) {
    bool any = false;
    for (const kernels::QpConeSpan& cone : problem_.cones) {
      std::vector<Scalar> s(static_cast<std::size_t>(cone.size));
      Scalar size = 0;
      for (int t = 0; t < cone.size; ++t) {
        const int i = cone.first + t;
        const Vector normal = normal_of(i);
        const Scalar h = ray ? 0 : problem_.upper[i];
        s[static_cast<std::size_t>(t)] = h - normal.dot(x);
        size = std::max(size, std::abs(h) + normal.cwiseAbs().dot(x.cwiseAbs()));
      }
      Scalar tail = 0;
      for (std::size_t t = 1; t < s.size(); ++t) tail += s[t] * s[t];
      tail = std::sqrt(tail);
      if (!(tail - s[0] > (ray ? 1e-10L : 1e-14L) * size) || tail == 0) continue;
      Vector normal = -normal_of(cone.first);
      Scalar bound = -problem_.upper[cone.first];
      std::vector<Scalar> u(s.size() - 1);
      for (std::size_t t = 1; t < s.size(); ++t) {
        u[t - 1] = s[t] / tail;
        const int i = cone.first + static_cast<int>(t);
        normal += u[t - 1] * normal_of(i);
        bound += u[t - 1] * problem_.upper[i];
      }
      add(normal, bound, false, {cone.first, 1.0, u});
      any = true;
    }
    return any;
  }

  /// Newton's method on the optimality conditions with the rows and cones held active that have
  /// multipliers in y(): cones at their apex row by row, others on |s_1| = s_0.
  bool finish(const Vector& start) {
    struct Tight {
      int row;       ///< first row of a smooth boundary, or the row itself
      int size;      ///< of the boundary, 0 for a plain row
      Scalar bound;  ///< of a plain row
    };
    std::vector<Tight> tight;
    std::vector<Scalar> guess;
    for (int i = 0; i < problem_.rows(); ++i) {
      const double y = answer_.y[i];
      if (problem_.in_cone(i) || y == 0.0) continue;
      tight.push_back({i, 0, y > 0.0 ? problem_.upper[i] : problem_.lower[i]});
      guess.push_back(y);
    }
    const auto slack = [&](int i, const Vector& x) {
      return problem_.upper[i] - normal_of(i).dot(x);
    };
    for (const kernels::QpConeSpan& cone : problem_.cones) {
      const Scalar head = slack(cone.first, start);
      const Scalar nu = answer_.y[cone.first];
      if (nu == 0) continue;
      Scalar size = std::abs(static_cast<Scalar>(problem_.upper[cone.first]));
      size += normal_of(cone.first).cwiseAbs().dot(start.cwiseAbs());
      const bool apex = head <= 1e-6L * size;
      for (int t = 0; t < (apex ? cone.size : 1); ++t) {
        const int i = cone.first + t;
        tight.push_back({i, apex ? 0 : cone.size, problem_.upper[i]});
        guess.push_back(answer_.y[i]);
      }
    }
    const auto count = static_cast<Eigen::Index>(tight.size());
    Vector x = start;
    Vector nu(count);
    for (Eigen::Index k = 0; k < count; ++k) nu[k] = guess[static_cast<std::size_t>(k)];
    for (int pass = 0; pass < 12; ++pass) {
      Matrix system = Matrix::Zero(n_ + count, n_ + count);
      Vector right(n_ + count);
      system.topLeftCorner(n_, n_) = qp_.hessian;
      right.head(n_) = -(qp_.hessian * x + qp_.gradient);
      for (Eigen::Index k = 0; k < count; ++k) {
        const Tight& t = tight[static_cast<std::size_t>(k)];
        Vector gradient = normal_of(t.row);
        Scalar value = gradient.dot(x) - t.bound;
        if (t.size > 0) {
          Matrix tails(t.size - 1, n_);
          Vector s(t.size - 1);
          for (int r = 1; r < t.size; ++r) {
            tails.row(r - 1) = normal_of(t.row + r).transpose();
            s[r - 1] = slack(t.row + r, x);
          }
          const Scalar length = s.norm();
          if (!(length > 0)) return false;
          const Vector u = s / length;
          gradient -= tails.transpose() * u;
          value += length;
          const Matrix across = Matrix::Identity(t.size - 1, t.size - 1) - u * u.transpose();
          system.topLeftCorner(n_, n_) += nu[k] / length * tails.transpose() * across * tails;
        }
        system.block(0, n_ + k, n_, 1) = gradient;
        system.block(n_ + k, 0, 1, n_) = gradient.transpose();
        right.head(n_) -= nu[k] * gradient;
        right[n_ + k] = -value;
      }
      const Vector step = system.fullPivLu().solve(right);
      x += step.head(n_);
      nu += step.tail(count);
    }
    answer_.x = x.cast<double>();
    answer_.y.setZero();
    for (Eigen::Index k = 0; k < count; ++k) {
      const Tight& t = tight[static_cast<std::size_t>(k)];
      answer_.y[t.row] = static_cast<double>(nu[k]);
      Scalar length = 0;
      for (int r = 1; r < t.size; ++r) length += slack(t.row + r, x) * slack(t.row + r, x);
      length = std::sqrt(length);
      for (int r = 1; r < t.size; ++r) {
        answer_.y[t.row + r] = static_cast<double>(-nu[k] * slack(t.row + r, x) / length);
      }
    }
    return true;
  }

  void copy(const PlainAnswer& plain) {
    answer_.x = plain.x.cast<double>();
    Vector y = Vector::Zero(problem_.rows());
    // Cuts that were added since have no multiplier.
    for (Eigen::Index k = 0; k < plain.multipliers.size(); ++k) {
      const Origin& origin = origin_[static_cast<std::size_t>(k)];
      const Scalar u = plain.multipliers[k];
      y[origin.row] += origin.direction * u;
      for (std::size_t t = 0; t < origin.tail.size(); ++t) {
        y[origin.row + 1 + static_cast<int>(t)] -= u * origin.tail[t];
      }
    }
    answer_.y = y.cast<double>();
  }

  const QpProblem& problem_;
  int n_;
  double tolerance_;
  QpAnswer& answer_;
  PlainQp qp_;
  std::vector<Origin> origin_;
};

/// Tangent planes come as near to a cone without interior as one likes, whether there is a point or
/// none: a verdict stands where the homogeneous method says the same. Where they lead to none, the
/// method's own stands if its certificate does.
void confirm(const QpProblem& problem, double tolerance, QpAnswer& answer) {
  if (problem.cones.empty() || !kernels::takes_homogeneous(problem.variables(), problem.rows())) {
    return;
  }
  namespace end = kernels::qp_end;
  const qp::ConeVerdict verdict = problem.decide();
  const auto as_eigen = [](const std::vector<double>& v) {
    return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(v.data(), static_cast<int>(v.size())));
  };
  if (verdict.end == end::kNoInterior) {
    answer.status = Status::no_interior;
    answer.residual = verdict.residual;
    answer.face = as_eigen(verdict.face);
    answer.point = as_eigen(verdict.x);
    if (verdict.face.empty()) answer.x = as_eigen(verdict.direction);
    return;
  }
  bool same = (answer.status == Status::infeasible && verdict.end == end::kInfeasible) ||
              (answer.status == Status::unbounded && verdict.end == end::kUnbounded);
  if (answer.status == Status::solved && verdict.end == end::kConverged) {
    const Eigen::VectorXd x = as_eigen(verdict.x);
    const double own = problem.gradient.dot(answer.x), other = problem.gradient.dot(x);
    const double objective = other + 0.5 * x.dot(problem.hessian * x);
    const double terms = std::abs(own) + std::abs(other) + std::abs(objective);
    same = std::abs(objective - answer.objective) <= 1e-6 * terms;
  }
  const bool claims = answer.status == Status::solved || answer.status == Status::infeasible ||
                      answer.status == Status::unbounded;
  if (!claims && (verdict.end == end::kConverged || verdict.end == end::kUnbounded)) {
    QpAnswer other = answer;
    Solver solver(problem, tolerance, other);
    if (verdict.end == end::kConverged) {
      other.x = as_eigen(verdict.x);
      other.y = as_eigen(verdict.y);
      solver.judge();
    } else {
      other.point = as_eigen(verdict.x);
      other.x = as_eigen(verdict.direction);
      solver.judge_ray();
    }
    if (other.status == Status::solved || other.status == Status::unbounded) answer = other;
  }
  if (!claims || same) return;
  answer.status = answer.status == Status::solved ? Status::inaccurate : Status::numerical_error;
}

}  // namespace

QpResult solve_qp(const QpBatch& batch, const QpSettings& settings, WorkspaceState* /*workspace*/) {
  const int n = batch.variables;
  const int m = batch.rows;
  const int rows = m + batch.cone_rows();
  const std::int64_t proof = std::max(n, rows);
  auto result = allocate<QpResult>(batch);
  fill_nan(result);
  parallel_for_each(batch.problems, settings.threads, [&](std::int64_t p) {
    const QpProblem problem(batch, p);
    QpAnswer answer;
    answer.point = Eigen::VectorXd::Zero(n);
    if (!problem.is_valid()) {
      answer.status = Status::invalid_input;
    } else if (const int crossed = problem.crossed_row(); crossed >= 0) {
      answer.status = Status::infeasible;
      answer.y = Eigen::VectorXd::Unit(rows, crossed);
      answer.residual = 0.0;
    } else if (problem.negative_curvature(answer.x)) {
      QpProblem convex = problem;
      answer.status = Status::nonconvex;
      if (problem.on_equations(convex, answer.x)) {
        Solver(convex, settings.tolerance, answer).solve();
        if (answer.status == Status::solved || answer.status == Status::inaccurate) {
          problem.complete(answer.x, answer.y);
          Solver(problem, settings.tolerance, answer).judge();
        } else if (answer.status == Status::unbounded) {
          Solver(problem, settings.tolerance, answer).judge_ray();
        }
      }
    } else {
      Solver(problem, settings.tolerance, answer).solve();
      confirm(problem, settings.tolerance, answer);
    }
    const auto put = [&](const Eigen::VectorXd& values, int first, int count, double* to) {
      std::copy_n(values.data() + first, count, to);
    };
    double* certificate = result.certificate.data() + p * proof;
    switch (answer.status) {
      case Status::solved:
      case Status::inaccurate:
        put(answer.x, 0, n, result.solution.data() + p * n);
        put(answer.y, 0, m, result.dual.data() + p * m);
        put(answer.y, m, rows - m, result.cone_dual.data() + p * (rows - m));
        result.objective.data()[p] = answer.objective;
        break;
      case Status::infeasible:
        put(answer.y, 0, rows, certificate);
        break;
      case Status::unbounded:
        put(answer.point, 0, n, result.point.data() + p * n);
        [[fallthrough]];
      case Status::nonconvex:
        put(answer.x, 0, n, certificate);
        break;
      case Status::no_interior:
        if (answer.face.size() > 0) {
          put(answer.face, 0, rows, certificate);
        } else {
          put(answer.point, 0, n, result.point.data() + p * n);
          put(answer.x, 0, n, certificate);
        }
        break;
      default:
        break;
    }
    result.residual.data()[p] = answer.residual;
    result.status.data()[p] = answer.status;
    result.method.data()[p] = QpMethod::active_set;
    result.iterations.data()[p] = answer.iterations;
  });
  return result;
}

template <>
const QpEntries& entries() {
  // It starts from nothing.
  static constexpr QpEntries kEntries{[](const QpBatch& batch, const QpSettings& settings,
                                         const QpWarmStart&,
                                         WorkspaceState*) { return solve_qp(batch, settings); }};
  return kEntries;
}

}  // namespace carom::reference
