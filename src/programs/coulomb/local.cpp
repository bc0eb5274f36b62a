#include "programs/coulomb/local.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace carom::cpu {
namespace {

using Eigen::MatrixXd;
using Eigen::Ref;
using Eigen::VectorXd;

/// Sliding with friction along the unit vector `direction`: r = r_n (1, mu direction) with u_n = 0.
/// False where that presses the wrong way or the slip does not oppose the friction.
bool sliding_reaction(const Ref<const MatrixXd>& matrix, const Ref<const VectorXd>& vector,
                      double mu, const VectorXd& direction, VectorXd& reaction) {
  const Eigen::Index tangents = vector.size() - 1;
  const double stiffness = matrix(0, 0) + mu * matrix.row(0).tail(tangents).dot(direction);
  if (!(stiffness > 0)) return false;
  reaction[0] = -vector[0] / stiffness;
  reaction.tail(tangents) = mu * reaction[0] * direction;
  const VectorXd slip = (matrix * reaction + vector).tail(tangents);
  return std::isfinite(reaction[0]) && direction.dot(slip) <= 0;
}

/// The sliding contact in 3D. With r_n eliminated, the slip across the friction's direction e is
/// (W_nn + mu W_nt e) q_t - q_n (W_tn + mu W_tt e), up to a positive factor; it must vanish.
class SlidingAngle {
 public:
  SlidingAngle(const Ref<const MatrixXd>& matrix, const Ref<const VectorXd>& vector, double mu)
      : matrix_(matrix), vector_(vector), mu_(mu) {}

  static VectorXd direction(double angle) {
    return Eigen::Vector2d(std::cos(angle), std::sin(angle));
  }

  [[nodiscard]] double across(double angle) const {
    const Eigen::Vector2d e = direction(angle);
    const double stiffness = matrix_(0, 0) + mu_ * matrix_.row(0).tail(2).dot(e);
    const Eigen::Vector2d slip =
        stiffness * vector_.tail(2) -
        vector_[0] * (matrix_.col(0).tail(2) + mu_ * matrix_.bottomRightCorner(2, 2) * e);
    return e[0] * slip[1] - e[1] * slip[0];
  }

  [[nodiscard]] double bisect(double low, double high) const {
    const bool rising = across(low) <= 0;
    for (int k = 0; k < 60 && high - low > 1e-16; ++k) {
      const double middle = 0.5 * (low + high);
      ((across(middle) <= 0) == rising ? low : high) = middle;
    }
    return 0.5 * (low + high);
  }

 private:
  const Ref<const MatrixXd>& matrix_;
  const Ref<const VectorXd>& vector_;
  double mu_;
};

}  // namespace

bool solve_single_contact(const Ref<const MatrixXd>& matrix, const Ref<const VectorXd>& vector,
                          double mu, const Ref<const VectorXd>& guess, Ref<VectorXd> reaction) {
  const Eigen::Index dimension = vector.size();
  if (vector[0] >= 0) {
    reaction.setZero();
    return true;
  }
  VectorXd trial = VectorXd::Zero(dimension);
  if (mu == 0) {
    trial[0] = -vector[0] / matrix(0, 0);
    if (!(matrix(0, 0) > 0) || !std::isfinite(trial[0])) return false;
    reaction = trial;
    return true;
  }
  trial = -matrix.fullPivLu().solve(vector);
  const double unbalanced = (matrix * trial + vector).cwiseAbs().maxCoeff();
  if (unbalanced <= 1e-12 * vector.cwiseAbs().maxCoeff() &&
      trial.tail(dimension - 1).norm() <= mu * trial[0]) {
    reaction = trial;
    return true;
  }
  double nearest = std::numeric_limits<double>::infinity();
  const auto offer = [&](const VectorXd& direction) {
    if (!sliding_reaction(matrix, vector, mu, direction, trial)) return;
    const double distance = (trial - guess).norm();
    if (!(distance < nearest)) return;
    nearest = distance;
    reaction = trial;
  };
  if (dimension == 2) {
    offer(VectorXd::Constant(1, 1.0));
    offer(VectorXd::Constant(1, -1.0));
    return std::isfinite(nearest);
  }
  const SlidingAngle sliding(matrix, vector, mu);
  constexpr int kSectors = 48;
  const double sector = 2 * std::numbers::pi / kSectors;
  bool below = sliding.across(0) <= 0;
  for (int k = 1; k <= kSectors; ++k) {
    const bool next = sliding.across(sector * k) <= 0;
    if (next != below) offer(SlidingAngle::direction(sliding.bisect(sector * (k - 1), sector * k)));
    below = next;
  }
  return std::isfinite(nearest);
}

}  // namespace carom::cpu
