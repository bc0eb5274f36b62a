#include "reference/compliant/compliant_equations.hpp"

#include <cmath>

namespace carom::reference {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kSweeps = 200;

/// The rows' laws F_i = 0 and the sets that cut them off, as functions of v' and p.
class Laws {
 public:
  Laws(const CompliantEquations& e, const VectorXd& centripetal)
      : e_(e),
        inverse_(e.mass.ldlt()),
        rows_(static_cast<Index>(e.type.size())),
        offset_(VectorXd::Zero(rows_)),
        compliance_(VectorXd::Zero(rows_)),
        weight_(VectorXd::Zero(rows_)) {
    const double h = e.step_size;
    for (Index i = 0; i < rows_; ++i) {
      const double rate = h * e.stiffness(i) + e.damping(i);
      if (e.type[static_cast<std::size_t>(i)] == RowType::none || !(rate > 0.0)) continue;
      offset_(i) = h * e.jacobian_dot_v(i) + (e.stiffness(i) * e.phi(i) + centripetal(i)) / rate;
      compliance_(i) = 1.0 / (h * rate);
      const VectorXd response = inverse_.solve(e.jacobian.row(i).transpose());
      weight_(i) = 1.0 / (e.jacobian.row(i).dot(response) + compliance_(i));
    }
    for (Index i = 0; i < rows_; ++i) {
      if (e.type[static_cast<std::size_t>(i)] != RowType::normal) continue;
      double least = weight_(i + 1);
      for (int k = 2; k < e.dimension; ++k) least = std::min(least, weight_(i + k));
      for (int k = 1; k < e.dimension; ++k) weight_(i + k) = least;
    }
  }

  [[nodiscard]] VectorXd flow(const VectorXd& v, const VectorXd& p) const {
    return e_.jacobian * v + offset_ + compliance_.cwiseProduct(p);
  }

  /// What p ought to be, given z = p - rho F.
  [[nodiscard]] VectorXd cut(const VectorXd& z, const VectorXd& p) const {
    VectorXd out = VectorXd::Zero(rows_);
    for (Index i = 0; i < rows_; ++i) {
      switch (e_.type[static_cast<std::size_t>(i)]) {
        case RowType::bilateral:
          if (weight_(i) > 0.0) out(i) = z(i);
          break;
        case RowType::unilateral:
          if (weight_(i) > 0.0) out(i) = std::max(0.0, z(i));
          break;
        case RowType::normal: {
          if (weight_(i) > 0.0) out(i) = std::max(0.0, z(i));
          const Index d = e_.dimension - 1;
          const double radius =
              weight_(i) > 0.0 && weight_(i + 1) > 0.0 ? e_.friction(i) * std::max(0.0, p(i)) : 0.0;
          const double size = z.segment(i + 1, d).norm();
          out.segment(i + 1, d) = z.segment(i + 1, d) * (size > radius ? radius / size : 1.0);
          break;
        }
        default:
          break;
      }
    }
    return out;
  }

  [[nodiscard]] double error(const VectorXd& v, const VectorXd& p) const {
    const VectorXd z = p - weight_.cwiseProduct(flow(v, p));
    return (p - cut(z, p)).lpNorm<Eigen::Infinity>();
  }

  /// v' = v + M^-1 (h f + G'p).
  [[nodiscard]] VectorXd velocity(const VectorXd& p) const {
    return e_.velocity + inverse_.solve(e_.step_size * e_.force + e_.jacobian.transpose() * p);
  }

  void gauss_seidel(VectorXd& p) const {
    VectorXd v = velocity(p);
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (Index i = 0; i < rows_; ++i) {
        const VectorXd z = p - weight_.cwiseProduct(flow(v, p));
        const VectorXd wanted = cut(z, p);
        const RowType type = e_.type[static_cast<std::size_t>(i)];
        const Index count = type == RowType::tangent ? 0 : 1;
        const Index tangents = type == RowType::normal ? e_.dimension - 1 : 0;
        for (Index k = i; k < i + count + tangents; ++k) {
          // The tangents' radius follows the normal just set.
          const double next = k == i ? wanted(k) : cut(z, p)(k);
          v += inverse_.solve(e_.jacobian.row(k).transpose()) * (next - p(k));
          p(k) = next;
        }
      }
    }
  }

  /// One Newton step on all equations at once; false where the matrix is singular.
  bool newton(VectorXd& v, VectorXd& p) const {
    const Index nv = v.size();
    const VectorXd f = flow(v, p);
    const VectorXd z = p - weight_.cwiseProduct(f);
    MatrixXd matrix = MatrixXd::Zero(nv + rows_, nv + rows_);
    VectorXd right = VectorXd::Zero(nv + rows_);
    matrix.topLeftCorner(nv, nv) = e_.mass;
    matrix.topRightCorner(nv, rows_) = -e_.jacobian.transpose();
    right.head(nv) =
        e_.mass * (e_.velocity - v) + e_.step_size * e_.force + e_.jacobian.transpose() * p;
    const auto hold = [&](Index i, double value) {
      matrix.row(nv + i).setZero();
      matrix(nv + i, nv + i) = 1.0;
      right(nv + i) = value - p(i);
    };
    const auto law = [&](Index i) {
      matrix.row(nv + i).head(nv) = weight_(i) * e_.jacobian.row(i);
      matrix(nv + i, nv + i) = weight_(i) * compliance_(i);
      right(nv + i) = -weight_(i) * f(i);
    };
    for (Index i = 0; i < rows_; ++i) {
      const RowType type = e_.type[static_cast<std::size_t>(i)];
      if (type == RowType::tangent) continue;
      if (type == RowType::none || !(weight_(i) > 0.0) ||
          (type != RowType::bilateral && !(z(i) > 0.0))) {
        hold(i, 0.0);
        for (Index k = 1; type == RowType::normal && k < e_.dimension; ++k) hold(i + k, 0.0);
        continue;
      }
      law(i);
      if (type != RowType::normal) continue;
      const Index d = e_.dimension - 1;
      const VectorXd t = z.segment(i + 1, d);
      const double size = t.norm();
      const double radius = e_.friction(i) * z(i);
      if (!(weight_(i + 1) > 0.0)) {
        for (Index k = 1; k <= d; ++k) hold(i + k, 0.0);
        continue;
      }
      if (size <= radius) {
        for (Index k = 1; k <= d; ++k) law(i + k);
        continue;
      }
      // p_t - mu p_n t/|t| = 0, with t a function of p and v'.
      const VectorXd direction = t / size;
      const MatrixXd bend = e_.friction(i) * std::max(0.0, p(i)) / size *
                            (MatrixXd::Identity(d, d) - direction * direction.transpose());
      for (Index k = 0; k < d; ++k) {
        const Index row = nv + i + 1 + k;
        matrix(row, row) += 1.0;
        matrix(row, nv + i) -= e_.friction(i) * direction(k);
        for (Index l = 0; l < d; ++l) {
          matrix(row, nv + i + 1 + l) -=
              bend(k, l) * (1.0 - weight_(i + 1 + l) * compliance_(i + 1 + l));
          matrix.row(row).head(nv) += bend(k, l) * weight_(i + 1 + l) * e_.jacobian.row(i + 1 + l);
        }
        right(row) = -(p(i + 1 + k) - e_.friction(i) * p(i) * direction(k));
      }
    }
    const Eigen::FullPivLU<MatrixXd> factor(matrix);
    const VectorXd step = factor.solve(right);
    if (!step.allFinite()) return false;
    v += step.head(nv);
    p += step.tail(rows_);
    return true;
  }

 private:
  const CompliantEquations& e_;
  Eigen::LDLT<MatrixXd> inverse_;
  Index rows_;
  VectorXd offset_, compliance_, weight_;
};

/// b, u, n, r, s: the kinds of rows that the paper gives a matrix M^ each.
std::vector<int> groups_of(const CompliantEquations& e) {
  std::vector<int> group(e.type.size(), -1);
  for (std::size_t i = 0; i < e.type.size(); ++i) {
    if (e.type[i] == RowType::bilateral) group[i] = 0;
    if (e.type[i] == RowType::unilateral) group[i] = 1;
    if (e.type[i] == RowType::normal) group[i] = 2;
    if (e.type[i] == RowType::tangent) group[i] = group[i - 1] == 2 ? 3 : 4;
  }
  return group;
}

}  // namespace

VectorXd centripetal_forces(const CompliantEquations& e) {
  VectorXd out = VectorXd::Zero(static_cast<Index>(e.type.size()));
  if (!e.centripetal) return out;
  const std::vector<int> group = groups_of(e);
  for (int g = 0; g < 5; ++g) {
    std::vector<Index> members;
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (group[i] == g) members.push_back(static_cast<Index>(i));
    }
    const auto count = static_cast<Index>(members.size());
    if (count == 0) continue;
    MatrixXd rows(count, e.mass.rows());
    VectorXd acceleration(count);
    for (Index k = 0; k < count; ++k) {
      rows.row(k) = e.jacobian.row(members[static_cast<std::size_t>(k)]);
      acceleration(k) = e.jacobian_dot_v(members[static_cast<std::size_t>(k)]);
    }
    if (acceleration.isZero(0.0)) continue;
    const MatrixXd delassus = rows * e.mass.ldlt().solve(rows.transpose());
    const VectorXd force =
        Eigen::CompleteOrthogonalDecomposition<MatrixXd>(delassus).solve(acceleration);
    for (Index k = 0; k < count; ++k) out(members[static_cast<std::size_t>(k)]) = force(k);
  }
  return out;
}

CompliantSolution solve_equations(const CompliantEquations& e, int max_iterations) {
  CompliantSolution best;
  best.centripetal = centripetal_forces(e);
  const Laws laws(e, best.centripetal);
  VectorXd p = VectorXd::Zero(static_cast<Index>(e.type.size()));
  laws.gauss_seidel(p);
  VectorXd v = laws.velocity(p);
  best.impulse = p;
  best.velocity = v;
  double least = laws.error(v, p);
  int idle = 0;
  for (; best.iterations < max_iterations && idle < 4; ++best.iterations) {
    if (!laws.newton(v, p)) break;
    const double error = laws.error(v, p);
    idle = error < least ? 0 : idle + 1;
    if (error < least) {
      least = error;
      best.impulse = p;
      best.velocity = v;
    } else if (idle == 2) {  // modes that come back: start elsewhere
      p = best.impulse;
      laws.gauss_seidel(p);
      v = laws.velocity(p);
    }
  }
  return best;
}

}  // namespace carom::reference
