#include "compliant/elements_programme.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace carom {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kShortOfBoundary = 0.995;
/// Of the tolerance: a gap of 1e-9 leaves an error of its root in the forces.
constexpr double kElementsFiner = 1e-6;

/// With q = F'p, its multiplier y, the rows' slacks s and multipliers z, and those of p >= 0, x:
/// p = F y + C z + x, y = F'E z, s = C p + E F q - b, z s = x p = 0; C = 1 / (1 + eta |f_i|^2) and
/// E = C eta bring the rows to size 1.
class ElementsProgramme {
 public:
  ElementsProgramme(const MatrixXd& factor, const VectorXd& eta, const VectorXd& bound)
      : f_(factor),
        c_((1.0 + eta.array() * factor.rowwise().squaredNorm().array()).inverse().matrix()),
        e_(c_.cwiseProduct(eta)),
        b_(c_.cwiseProduct(bound)) {}

  ElementsAnswer solve(double tolerance, int max_iterations) {
    ElementsAnswer best;
    const Index n = b_.size();
    best.impulse = VectorXd::Zero(n);
    const double unit = b_.maxCoeff();
    if (!(unit > 0.0)) return best;  // p = 0 satisfies every row
    p_ = s_ = z_ = x_ = VectorXd::Constant(n, unit);
    q_ = f_.transpose() * p_;
    y_ = VectorXd::Zero(f_.cols());
    best.residual = std::numeric_limits<double>::infinity();
    for (int iteration = 0; iteration <= max_iterations; ++iteration) {
      const double residual = measure();
      if (!std::isfinite(residual)) break;
      if (residual < best.residual) best.impulse = p_.cwiseMax(0.0), best.residual = residual;
      best.iterations = iteration;
      if (best.residual <= kElementsFiner * tolerance || !step()) break;
    }
    return best;
  }

 private:
  double measure() {
    const VectorXd fy = f_ * y_, fq = f_ * q_;
    rd_ = fy + c_.cwiseProduct(z_) + x_ - p_;
    rs_ = c_.cwiseProduct(p_) + e_.cwiseProduct(fq) - b_ - s_;
    rq_ = f_.transpose() * p_ - q_;
    ry_ = f_.transpose() * e_.cwiseProduct(z_) - y_;
    mu_ = (z_.dot(s_) + x_.dot(p_)) / static_cast<double>(2 * p_.size());
    const double p = p_.lpNorm<Eigen::Infinity>(), b = b_.lpNorm<Eigen::Infinity>();
    const double rows = rs_.lpNorm<Eigen::Infinity>() / b;
    const double stationary = rd_.lpNorm<Eigen::Infinity>() / p;
    const double ends = std::max(rq_.norm() / q_.norm(), ry_.norm() / std::max(y_.norm(), p));
    const double gap = (z_.dot(s_) + x_.dot(p_)) / p_.squaredNorm();
    return std::max({rows, stationary, ends, gap});
  }

  /// A Newton step to z s = a, x p = b, from the factors of the last `factorise`.
  struct Step {
    VectorXd p, q, y, s, z, x;
  };
  void factorise() {
    d1_ = x_.cwiseQuotient(p_), d2_ = z_.cwiseQuotient(s_);
    weight_ = (1.0 + d1_.array() + c_.array().square() * d2_.array()).inverse().matrix();
    // p = weight (F y - C D2 E F q + ...), z = -D2 (C p + E F q) + ...
    const VectorXd ced = c_.cwiseProduct(e_).cwiseProduct(d2_);
    const Index r = f_.cols();
    MatrixXd matrix(2 * r, 2 * r);
    const MatrixXd wf = weight_.asDiagonal() * f_;
    const MatrixXd across = f_.transpose() * ced.asDiagonal() * wf;
    matrix.topLeftCorner(r, r) = MatrixXd::Identity(r, r) + across;
    matrix.topRightCorner(r, r) = -f_.transpose() * wf;
    const VectorXd inner =
        e_.cwiseProduct(e_).cwiseProduct(d2_) - ced.cwiseProduct(ced).cwiseProduct(weight_);
    matrix.bottomLeftCorner(r, r) = f_.transpose() * inner.asDiagonal() * f_;
    matrix.bottomRightCorner(r, r) = MatrixXd::Identity(r, r) + across.transpose();
    lu_.compute(matrix);
  }
  [[nodiscard]] Step direction(const VectorXd& zs, const VectorXd& xp) const {
    const Index r = f_.cols();
    const VectorXd z0 = zs.cwiseQuotient(s_) - d2_.cwiseProduct(rs_), x0 = xp.cwiseQuotient(p_);
    const VectorXd p0 = weight_.cwiseProduct(rd_ + c_.cwiseProduct(z0) + x0);
    VectorXd known(2 * r);
    known << f_.transpose() * p0 + rq_,
        f_.transpose() * e_.cwiseProduct(z0 - d2_.cwiseProduct(c_).cwiseProduct(p0)) + ry_;
    const VectorXd qy = lu_.solve(known);
    Step t;
    t.q = qy.head(r), t.y = qy.tail(r);
    const VectorXd efq = e_.cwiseProduct(f_ * t.q);
    t.p = p0 + weight_.cwiseProduct(f_ * t.y - c_.cwiseProduct(d2_).cwiseProduct(efq));
    t.s = c_.cwiseProduct(t.p) + efq + rs_;
    t.z = zs.cwiseQuotient(s_) - d2_.cwiseProduct(t.s);
    t.x = x0 - d1_.cwiseProduct(t.p);
    return t;
  }
  static double reach(const VectorXd& from, const VectorXd& along) {
    double most = 1e30;
    for (Index i = 0; i < from.size(); ++i) {
      if (along(i) < 0.0) most = std::min(most, -from(i) / along(i));
    }
    return most;
  }
  bool step() {
    factorise();
    const VectorXd zs = -z_.cwiseProduct(s_), xp = -x_.cwiseProduct(p_);
    const Step first = direction(zs, xp);
    const double near = std::min(
        {1.0, reach(p_, first.p), reach(s_, first.s), reach(z_, first.z), reach(x_, first.x)});
    const double left = (z_ + near * first.z).dot(s_ + near * first.s) +
                        (x_ + near * first.x).dot(p_ + near * first.p);
    const double ratio = left / static_cast<double>(2 * p_.size()) / mu_;
    const double target = ratio * ratio * ratio * mu_;
    const Step t = direction((zs - first.z.cwiseProduct(first.s)).array() + target,
                             (xp - first.x.cwiseProduct(first.p)).array() + target);
    const double far = std::min(1.0, kShortOfBoundary * std::min({reach(p_, t.p), reach(s_, t.s),
                                                                  reach(z_, t.z), reach(x_, t.x)}));
    if (!(far > 1e-10)) return false;
    p_ += far * t.p, q_ += far * t.q, y_ += far * t.y;
    s_ += far * t.s, z_ += far * t.z, x_ += far * t.x;
    return true;
  }

  MatrixXd f_;
  VectorXd c_, e_, b_;
  VectorXd p_, q_, y_, s_, z_, x_;
  VectorXd rd_, rs_, rq_, ry_, d1_, d2_, weight_;
  double mu_ = 0.0;
  Eigen::PartialPivLU<MatrixXd> lu_;
};

}  // namespace

ElementsAnswer solve_elements(const MatrixXd& factor, const VectorXd& eta, const VectorXd& bound,
                              double tolerance, int max_iterations) {
  return ElementsProgramme(factor, eta, bound).solve(tolerance, max_iterations);
}

}  // namespace carom
