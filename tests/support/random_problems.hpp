#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Dense>

#include <carom/impact.hpp>

/// Random contact problems from a fixed seed, the same with every standard library.
namespace carom::test {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : engine_(seed) {}

  double unit() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }
  double between(double low, double high) { return low + (high - low) * unit(); }
  int integer(int low, int high) {
    return low + static_cast<int>(unit() * static_cast<double>(high - low + 1));
  }
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log1p(-unit()));
    return radius * std::cos(2.0 * std::numbers::pi * unit());
  }
  Matrix normal_matrix(int rows, int columns) {
    Matrix values(rows, columns);
    for (double& value : values.reshaped()) value = normal();
    return values;
  }
  Vector normal_vector(int size) {
    Vector values(size);
    for (double& value : values) value = normal();
    return values;
  }

 private:
  std::mt19937_64 engine_;
};

/// What makes a contact problem hard.
enum class Flavour {
  generic,
  rank_deficient,  ///< fewer velocities than contact rows
  duplicated,      ///< every second contact repeats the one before it
  frictionless,
  jamming,          ///< mu = 1e5
  mixed_scales,     ///< masses from 1e-3 to 1e3 in one mechanism
  vertical,         ///< no tangential velocity at all, exactly
  zero_limits,      ///< some lambda_max vanish
  infinite_limits,  ///< lambda_max = infinity: the simultaneous model (31)
  mixed_limits,     ///< some of them infinite
};

inline constexpr Flavour kFlavours[] = {
    Flavour::generic,         Flavour::rank_deficient, Flavour::duplicated, Flavour::frictionless,
    Flavour::jamming,         Flavour::mixed_scales,   Flavour::vertical,   Flavour::zero_limits,
    Flavour::infinite_limits, Flavour::mixed_limits};

inline std::string_view to_string(Flavour flavour) {
  switch (flavour) {
    case Flavour::generic:
      return "generic";
    case Flavour::rank_deficient:
      return "rank_deficient";
    case Flavour::duplicated:
      return "duplicated";
    case Flavour::frictionless:
      return "frictionless";
    case Flavour::jamming:
      return "jamming";
    case Flavour::mixed_scales:
      return "mixed_scales";
    case Flavour::vertical:
      return "vertical";
    case Flavour::zero_limits:
      return "zero_limits";
    case Flavour::infinite_limits:
      return "infinite_limits";
    case Flavour::mixed_limits:
      return "mixed_limits";
  }
  return "unknown";
}

inline std::vector<double> flat(const Matrix& matrix) {
  return {matrix.data(), matrix.data() + matrix.size()};
}
inline std::vector<double> flat(const Vector& vector) {
  return {vector.data(), vector.data() + vector.size()};
}

/// A mechanism with m contacts, the first of which approaches.
inline ImpactProblem random_problem(Generator& random, Flavour flavour, int dimension, int m) {
  const int t = dimension - 1;
  const int rows = dimension * m;
  int nv = std::min(kMaxVelocities, rows + random.integer(0, 2));
  if (flavour == Flavour::rank_deficient) nv = std::max(dimension, rows / 2);
  Matrix normal = random.normal_matrix(m, nv);
  Matrix tangent = random.normal_matrix(t * m, nv);
  const Matrix factor = random.normal_matrix(nv, nv);
  Matrix mass = factor * factor.transpose() / nv + Matrix::Identity(nv, nv);
  Vector velocity = random.normal_vector(nv);
  Vector friction(m);
  for (double& mu : friction) mu = random.between(0.1, 1.5);
  switch (flavour) {
    case Flavour::duplicated:
      for (int i = 1; i < m; i += 2) {
        normal.row(i) = normal.row(i - 1);
        tangent.middleRows(t * i, t) = tangent.middleRows(t * (i - 1), t);
        friction[i] = friction[i - 1];
      }
      break;
    case Flavour::frictionless:
      friction.setZero();
      break;
    case Flavour::jamming:
      friction.setConstant(1e5);
      break;
    case Flavour::mixed_scales: {
      Vector scale(nv);
      for (double& s : scale) s = std::pow(10.0, random.between(-1.5, 1.5));
      mass = (scale.asDiagonal() * mass * scale.asDiagonal()).eval();
      break;
    }
    case Flavour::vertical:
      tangent.col(0).setZero();
      normal.col(0) = normal.col(0).cwiseAbs();
      velocity.setZero();
      velocity[0] = -random.between(0.5, 2.0);
      break;
    default:
      break;
  }
  if (normal.row(0).dot(velocity) > 0.0) velocity = -velocity;
  ImpactProblem problem;
  problem.name = std::string(to_string(flavour));
  problem.dimension = dimension;
  problem.velocities = nv;
  problem.contacts = m;
  mass = (0.5 * (mass + mass.transpose())).eval();
  problem.mass_matrix = flat(mass);
  problem.normal_jacobian = flat(normal);
  problem.tangent_jacobian = flat(tangent);
  problem.friction = flat(friction);
  problem.velocity = flat(velocity);
  return problem;
}

/// lambda_max of a step.
inline Vector random_limits(Generator& random, Flavour flavour, int m) {
  Vector limit(m);
  for (double& value : limit) {
    value = random.between(0.0, 1.5);
    if (flavour == Flavour::zero_limits && random.unit() < 0.5) value = 0.0;
    const bool infinite = flavour == Flavour::infinite_limits ||
                          (flavour == Flavour::mixed_limits && random.unit() < 0.5);
    if (infinite) value = std::numeric_limits<double>::infinity();
  }
  return limit;
}

}  // namespace carom::test
