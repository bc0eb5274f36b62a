#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <tbb/parallel_for.h>
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include "cpu/programs/qp_single.hpp"
#include "cpu/reference/programs/dual_active_set.hpp"
#include "cpu/reference/threads.hpp"
#include "programs/qp/backends.hpp"
#include "programs/qp/layout.hpp"

namespace carom::reference {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int kMaxCuts = 400;

/// What a row of PlainQp stands for: y[row] += direction * multiplier, or for a cut of a cone
/// z += multiplier (1, -u).
struct Origin {
  int row;
  double direction;
  std::vector<Scalar> tail;  ///< u, empty unless a cut
};

class Problem {
 public:
  Problem(const QpBatch& batch, const QpLayout& layout, std::int64_t index)
      : layout_(layout), arrays_(problem_of(batch, index)), n_(batch.variables) {}

  /// Cones by tangent planes, added where the last answer violates them most: every answer is dual
  /// feasible for the cones, and what remains is their violation (Kelley 1960). Newton's method on
  /// what they identify as active ends it.
  void solve(cpu::QpSingle& single, cpu::QpSingle::Answer& answer) {
    build();
    for (int round = 0; round < kMaxCuts; ++round) {
      const PlainAnswer plain = solve_plain_qp(qp_, 200 * (n_ + static_cast<int>(origin_.size())));
      answer.iterations += plain.iterations;
      copy(plain, single);
      if (plain.end == PlainEnd::infeasible) {
        answer.status =
            single.proves_infeasible(kProof) ? Status::infeasible : Status::numerical_error;
        return;
      }
      if (plain.end == PlainEnd::unbounded) {
        if (add_cuts(plain.x, true)) continue;
        answer.status = find_point(single, answer.iterations);
        if (answer.status == Status::infeasible) return;
        copy(plain, single);
        answer.status =
            single.proves_unbounded(kProof) ? Status::unbounded : Status::numerical_error;
        return;
      }
      if (plain.end == PlainEnd::gave_up) {
        answer.status = Status::iteration_limit;
        return;
      }
      if (!layout_.cones().empty() && finish(plain.x, single)) {
        single.judge(answer, tolerance_);
        if (answer.status == Status::solved) return;
        copy(plain, single);
      }
      if (!add_cuts(plain.x, false)) break;
    }
    single.judge(answer, tolerance_);
  }
  void set_tolerance(double tolerance) { tolerance_ = tolerance; }

 private:
  static constexpr double kProof = 1e-9;

  const double* row(int i) const {
    const int m = layout_.interval_rows();
    return i < m ? arrays_.matrix + static_cast<std::ptrdiff_t>(i) * n_
                 : arrays_.cone_matrix + static_cast<std::ptrdiff_t>(i - m) * n_;
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
  Vector normal_of(int i) const {
    Vector normal(n_);
    for (int j = 0; j < n_; ++j) normal[j] = row(i)[j];
    return normal;
  }

  void build() {
    qp_.hessian.resize(n_, n_);
    qp_.gradient.resize(n_);
    for (int i = 0; i < n_; ++i) {
      qp_.gradient[i] = arrays_.vector[i];
      for (int j = 0; j <= i; ++j) {
        qp_.hessian(i, j) = qp_.hessian(j, i) = arrays_.hessian[i * n_ + j];
      }
    }
    qp_.rows.resize(0, n_);
    qp_.bounds.resize(0);
    const int m = layout_.interval_rows();
    for (int i = 0; i < layout_.rows(); ++i) {
      if (layout_.kind(i) == QpRowKind::second_order) continue;
      const double u = i < m ? arrays_.upper[i] : arrays_.cone_vector[i - m];
      const double l = i < m ? arrays_.lower[i]
                       : layout_.kind(i) == QpRowKind::equation
                           ? u
                           : -std::numeric_limits<double>::infinity();
      if (l == u) {
        add(-normal_of(i), -u, true, {i, 1.0, {}});
        continue;
      }
      if (std::isfinite(u)) add(-normal_of(i), -u, false, {i, 1.0, {}});
      if (std::isfinite(l)) add(normal_of(i), l, false, {i, -1.0, {}});
    }
    // s_0 >= 0 of every cone.
    for (const kernels::QpConeSpan& cone : layout_.cones()) {
      add(-normal_of(cone.first), -arrays_.cone_vector[cone.first - m], false,
          {cone.first, 1.0, std::vector<Scalar>(static_cast<std::size_t>(cone.size - 1), 0)});
    }
  }

  /// The point nearest to zero among those that meet rows and cones, for an objective without end;
  /// infeasible with its proof where there is none.
  Status find_point(cpu::QpSingle& single, int& iterations) {
    const Matrix hessian = std::exchange(qp_.hessian, Matrix::Identity(n_, n_));
    const Vector gradient = std::exchange(qp_.gradient, Vector::Zero(n_));
    Status status = Status::numerical_error;
    for (int round = 0; round < kMaxCuts; ++round) {
      const PlainAnswer nearest =
          solve_plain_qp(qp_, 200 * (n_ + static_cast<int>(origin_.size())));
      iterations += nearest.iterations;
      if (nearest.end == PlainEnd::infeasible) {
        copy(nearest, single);
        if (single.proves_infeasible(kProof)) status = Status::infeasible;
        break;
      }
      if (nearest.end != PlainEnd::solved) break;
      for (int j = 0; j < n_; ++j) single.point()[j] = static_cast<double>(nearest.x[j]);
      if (!add_cuts(nearest.x, false)) break;
    }
    qp_.hessian = hessian;
    qp_.gradient = gradient;
    return status;
  }

  /// s_0 >= u's_1 with u along s_1; true where any was violated. `ray`: of the direction x.
  bool add_cuts(const Vector& x, bool ray) {
    bool any = false;
    const int m = layout_.interval_rows();
    for (const kernels::QpConeSpan& cone : layout_.cones()) {
      std::vector<Scalar> s(static_cast<std::size_t>(cone.size));
      Scalar size = 0;
      for (int t = 0; t < cone.size; ++t) {
        const int i = cone.first + t;
        const Vector normal = normal_of(i);
        const Scalar h = ray ? 0 : arrays_.cone_vector[i - m];
        s[static_cast<std::size_t>(t)] = h - normal.dot(x);
        size = std::max(size, std::abs(h) + normal.cwiseAbs().dot(x.cwiseAbs()));
      }
      Scalar tail = 0;
      for (std::size_t t = 1; t < s.size(); ++t) tail += s[t] * s[t];
      tail = std::sqrt(tail);
      if (!(tail - s[0] > (ray ? 1e-10L : 1e-14L) * size) || tail == 0) continue;
      Vector normal = -normal_of(cone.first);
      Scalar bound = -arrays_.cone_vector[cone.first - m];
      std::vector<Scalar> u(s.size() - 1);
      for (std::size_t t = 1; t < s.size(); ++t) {
        u[t - 1] = s[t] / tail;
        const int i = cone.first + static_cast<int>(t);
        normal += u[t - 1] * normal_of(i);
        bound += u[t - 1] * arrays_.cone_vector[i - m];
      }
      add(normal, bound, false, {cone.first, 1.0, u});
      any = true;
    }
    return any;
  }

  /// Newton's method on the optimality conditions with the rows and cones held active that have
  /// multipliers in y(): cones at their apex row by row, others on |s_1| = s_0.
  bool finish(const Vector& start, cpu::QpSingle& single) const {
    struct Tight {
      int row;       ///< first row of a smooth boundary, or the row itself
      int size;      ///< of the boundary, 0 for a plain row
      Scalar bound;  ///< of a plain row
    };
    std::vector<Tight> tight;
    std::vector<Scalar> guess;
    const int m = layout_.interval_rows();
    const auto bound_of = [&](int i, bool upper) {
      return i < m ? (upper ? arrays_.upper[i] : arrays_.lower[i]) : arrays_.cone_vector[i - m];
    };
    for (int i = 0; i < layout_.rows(); ++i) {
      const double y = single.y()[i];
      if (layout_.kind(i) == QpRowKind::second_order || y == 0.0) continue;
      tight.push_back({i, 0, bound_of(i, y > 0.0)});
      guess.push_back(y);
    }
    const auto slack = [&](int i, const Vector& x) {
      return arrays_.cone_vector[i - m] - normal_of(i).dot(x);
    };
    for (const kernels::QpConeSpan& cone : layout_.cones()) {
      const Scalar head = slack(cone.first, start);
      const Scalar nu = single.y()[cone.first];
      if (nu == 0) continue;
      Scalar size = std::abs(static_cast<Scalar>(arrays_.cone_vector[cone.first - m]));
      size += normal_of(cone.first).cwiseAbs().dot(start.cwiseAbs());
      const bool apex = head <= 1e-6L * size;
      for (int t = 0; t < (apex ? cone.size : 1); ++t) {
        const int i = cone.first + t;
        tight.push_back({i, apex ? 0 : cone.size, bound_of(i, true)});
        guess.push_back(single.y()[i]);
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
    for (int j = 0; j < n_; ++j) single.x()[j] = static_cast<double>(x[j]);
    std::fill_n(single.y(), layout_.rows(), 0.0);
    for (Eigen::Index k = 0; k < count; ++k) {
      const Tight& t = tight[static_cast<std::size_t>(k)];
      single.y()[t.row] = static_cast<double>(nu[k]);
      Scalar length = 0;
      for (int r = 1; r < t.size; ++r) length += slack(t.row + r, x) * slack(t.row + r, x);
      length = std::sqrt(length);
      for (int r = 1; r < t.size; ++r) {
        single.y()[t.row + r] = static_cast<double>(-nu[k] * slack(t.row + r, x) / length);
      }
    }
    return true;
  }

  void copy(const PlainAnswer& plain, cpu::QpSingle& single) const {
    for (int j = 0; j < n_; ++j) single.x()[j] = static_cast<double>(plain.x[j]);
    std::vector<Scalar> y(static_cast<std::size_t>(layout_.rows()), 0);
    for (std::size_t k = 0; k < origin_.size(); ++k) {
      const Origin& origin = origin_[k];
      const Scalar u = plain.multipliers[static_cast<Eigen::Index>(k)];
      const auto first = static_cast<std::size_t>(origin.row);
      y[first] += origin.direction * u;
      for (std::size_t t = 0; t < origin.tail.size(); ++t) y[first + 1 + t] -= u * origin.tail[t];
    }
    for (std::size_t i = 0; i < y.size(); ++i) single.y()[i] = static_cast<double>(y[i]);
  }

  const QpLayout& layout_;
  QpArrays arrays_;
  int n_;
  double tolerance_ = 1e-9;
  PlainQp qp_;
  std::vector<Origin> origin_;
};

// Eigenvector of the least eigenvalue of the Hessian with its diagonal scaled to one, or its row to
// what the others' curvature allows where there is no diagonal.
bool negative_curvature(const double* hessian, int n, double* direction) {
  Eigen::MatrixXd p(n, n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j) p(i, j) = p(j, i) = hessian[i * n + j];
  }
  Eigen::VectorXd unit(n);
  for (int j = 0; j < n; ++j) {
    double size = std::abs(p(j, j));
    for (int i = 0; i < n && !(p(j, j) > 0.0); ++i) {
      const double entry = std::abs(p(i, j));
      if (entry > 0.0) size = std::max(size, p(i, i) > 0.0 ? entry * entry / p(i, i) : entry);
    }
    unit[j] = size > 0.0 ? 1.0 / std::sqrt(size) : 1.0;
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(unit.asDiagonal() * p *
                                                              unit.asDiagonal());
  if (!(solver.eigenvalues()[0] < -2e-9)) return false;
  const Eigen::VectorXd v = unit.cwiseProduct(solver.eigenvectors().col(0));
  if (!(v.dot(p * v) < 0.0)) return false;
  for (int i = 0; i < n; ++i) direction[i] = v[i];
  return true;
}

}  // namespace

QpResult solve_qp(const QpBatch& batch, const QpSettings& settings) {
  const QpLayout layout(batch);
  const auto problems = static_cast<std::size_t>(batch.problems);
  const int n = batch.variables;
  const int m = batch.rows;
  const int rows = layout.rows();
  const std::int64_t proof = std::max(n, rows);
  QpResult result;
  const auto sized = [&](int each) {
    return Buffer<double>(problems * static_cast<std::size_t>(each));
  };
  result.solution = sized(n);
  result.dual = sized(m);
  result.cone_dual = sized(rows - m);
  result.objective = sized(1);
  result.residual = sized(1);
  result.certificate = sized(static_cast<int>(proof));
  result.point = sized(n);
  result.status = Buffer<Status>(problems);
  result.method = Buffer<QpMethod>(problems);
  result.iterations = Buffer<std::int32_t>(problems);
  std::fill_n(result.certificate.data(), result.certificate.size(), kNan);
  with_threads(settings.threads, [&] {
    tbb::parallel_for(std::int64_t{0}, batch.problems, [&](std::int64_t p) {
      cpu::QpSingle single(layout);
      single.load(problem_of(batch, p));
      cpu::QpSingle::Answer answer;
      if (!single.is_valid()) {
        answer.status = Status::invalid_input;
      } else if (single.crossed_bounds()) {
        answer.status = Status::infeasible;
      } else if (negative_curvature(problem_of(batch, p).hessian, n, single.x())) {
        answer.status = Status::nonconvex;
      } else {
        Problem problem(batch, layout, p);
        problem.set_tolerance(settings.tolerance);
        problem.solve(single, answer);
      }
      const bool usable = answer.status == Status::solved || answer.status == Status::inaccurate;
      double* certificate = result.certificate.data() + p * proof;
      if (answer.status == Status::infeasible) std::copy_n(single.y(), rows, certificate);
      if (answer.status == Status::unbounded || answer.status == Status::nonconvex) {
        std::copy_n(single.x(), n, certificate);
      }
      double* point = result.point.data() + p * n;
      std::fill_n(point, n, kNan);
      if (answer.status == Status::unbounded) std::copy_n(single.point(), n, point);
      if (!usable) {
        std::fill_n(single.x(), n, kNan);
        std::fill_n(single.y(), rows, kNan);
      }
      std::copy_n(single.x(), n, result.solution.data() + p * n);
      std::copy_n(single.y(), m, result.dual.data() + p * m);
      std::copy_n(single.y() + m, rows - m, result.cone_dual.data() + p * (rows - m));
      result.status.data()[p] = answer.status;
      result.method.data()[p] = QpMethod::active_set;
      result.iterations.data()[p] = answer.iterations;
      result.residual.data()[p] = usable ? answer.residual : kNan;
      result.objective.data()[p] = usable ? answer.objective : kNan;
    });
  });
  return result;
}

}  // namespace carom::reference
