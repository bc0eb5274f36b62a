#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include <Eigen/Dense>

#include <carom/compliant.hpp>

#include "core/random.hpp"

namespace carom::test {

/// Numbers of one random problem, in the order in which they are asked for.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint32_t problem) : seed_(seed), problem_(problem) {}
  double uniform(double low, double high) {
    return low + (high - low) * carom::uniform(seed_, problem_, 0, next_++);
  }
  double logarithmic(double low, double high) {
    return std::exp(uniform(std::log(low), std::log(high)));
  }

 private:
  std::uint64_t seed_;
  std::uint32_t problem_;
  std::uint32_t next_ = 0;
};

struct CompliantMix {
  int dimension = 3;
  int velocities = 8;
  int bilateral = 2;
  int unilateral = 2;
  int contacts = 3;
  double softest = 1e2;
  double stiffest = 1e12;
  double step_size = 1e-3;
  double roughest = 0.8;    ///< largest mu
  bool duplicates = false;  ///< every second contact repeats the Jacobian of the one before
};

inline std::vector<double> drawn(Draws& draw, int count, double size) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = draw.uniform(-size, size);
  return values;
}

/// A step with dense M, any signs of phi, and rows of all kinds.
inline CompliantProblem random_compliant(const CompliantMix& mix, std::uint32_t index,
                                         std::uint64_t seed = 7) {
  Draws draw(seed, index);
  const int nv = mix.velocities;
  CompliantProblem problem;
  problem.dimension = mix.dimension;
  problem.velocities = nv;
  problem.step_size = mix.step_size;
  Eigen::MatrixXd root(nv, nv);
  for (double& x : root.reshaped()) x = draw.uniform(-1.0, 1.0);
  const Eigen::MatrixXd mass = root * root.transpose() + Eigen::MatrixXd::Identity(nv, nv);
  problem.mass_matrix.assign(mass.data(), mass.data() + mass.size());
  problem.force = drawn(draw, nv, 20.0);
  problem.velocity = drawn(draw, nv, 1.0);
  const auto add = [&](CompliantConstraint::Type type, int rows) {
    CompliantConstraint constraint;
    constraint.type = type;
    constraint.jacobian = drawn(draw, rows * nv, 1.0);
    constraint.jacobian_dot_v = drawn(draw, rows, 1.0);
    constraint.phi = drawn(draw, rows, 1e-3);
    constraint.stiffness.assign(static_cast<std::size_t>(rows), 0.0);
    constraint.damping.assign(static_cast<std::size_t>(rows), 0.0);
    if (type == CompliantConstraint::Type::contact) {
      constraint.stiffness[0] = draw.logarithmic(mix.softest, mix.stiffest);
      constraint.damping[0] = draw.logarithmic(1e-2, 1e3);
      const double tangent = draw.logarithmic(1e2, 1e9);
      for (int k = 1; k < rows; ++k) {
        constraint.phi[static_cast<std::size_t>(k)] = 0.0;
        constraint.damping[static_cast<std::size_t>(k)] = tangent;
      }
      constraint.friction = draw.uniform(0.0, mix.roughest);
    } else {
      for (double& k : constraint.stiffness) k = draw.logarithmic(mix.softest, mix.stiffest);
      for (double& b : constraint.damping) b = draw.logarithmic(1e-2, 1e3);
    }
    const auto before = problem.constraints.size();
    const bool repeats =
        mix.duplicates && before > 0 && before % 2 == 1 && problem.constraints.back().type == type;
    if (repeats) constraint.jacobian = problem.constraints.back().jacobian;
    problem.constraints.push_back(std::move(constraint));
  };
  for (int i = 0; i < mix.bilateral; ++i) add(CompliantConstraint::Type::bilateral, 1);
  for (int i = 0; i < mix.unilateral; ++i) add(CompliantConstraint::Type::unilateral, 1);
  for (int i = 0; i < mix.contacts; ++i) {
    add(CompliantConstraint::Type::contact, mix.dimension);
  }
  return problem;
}

/// Value [problem, i] of an array with `width` values a problem.
inline double at(const Buffer<double>& values, std::size_t problem, std::size_t width,
                 std::size_t i) {
  return values.data()[problem * width + i];
}

}  // namespace carom::test
