#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <carom/equilibrium_spatial.hpp>

/// Random and degenerate spatial postures, and proofs checked with Eigen from the posture alone.
namespace carom::test {

struct SpatialKind {
  int contacts = 4;
  double tilt = 0.6;  ///< largest lean of a normal [rad]
  double friction_low = 0.1;
  double friction_high = 0.8;
  bool wrench = false;  ///< a random external wrench instead of gravity
};

inline Posture random_spatial(std::mt19937_64& draw, const SpatialKind& kind) {
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(draw);
  };
  Posture posture;
  posture.dimension = 3;
  posture.contacts = kind.contacts;
  for (int i = 0; i < kind.contacts; ++i) {
    for (const double reach : {1.0, 1.0, 0.5}) posture.position.push_back(uniform(-reach, reach));
    const double lean = uniform(0.0, kind.tilt);
    const double towards = uniform(0.0, 6.2831853);
    posture.normal.insert(
        posture.normal.end(),
        {std::sin(lean) * std::cos(towards), std::sin(lean) * std::sin(towards), std::cos(lean)});
    posture.friction.push_back(uniform(kind.friction_low, kind.friction_high));
  }
  if (kind.wrench) {
    for (const double low : {-0.3, -0.3, -2.0, -0.1, -0.1, -0.1}) {
      posture.wrench.push_back(low == -2.0 ? uniform(-2.0, -1.0) : uniform(low, -low));
    }
  }
  return posture;
}

inline std::vector<Posture> random_spatials(std::uint64_t seed, int count,
                                            const SpatialKind& kind) {
  std::mt19937_64 draw(seed);
  std::vector<Posture> postures;
  for (int i = 0; i < count; ++i) postures.push_back(random_spatial(draw, kind));
  return postures;
}

/// Feet at (x, y, 0) with vertical normals.
inline Posture flat_ground(std::span<const double> feet, double friction) {
  Posture posture;
  posture.dimension = 3;
  posture.contacts = static_cast<int>(feet.size() / 2);
  for (std::size_t i = 0; i < feet.size(); i += 2) {
    posture.position.insert(posture.position.end(), {feet[i], feet[i + 1], 0.0});
    posture.normal.insert(posture.normal.end(), {0.0, 0.0, 1.0});
    posture.friction.push_back(friction);
  }
  return posture;
}

inline Eigen::VectorXd wrench_of(const Posture& posture) {
  Eigen::VectorXd wrench = Eigen::VectorXd::Zero(6);
  wrench[2] = -1.0;
  for (std::size_t j = 0; j < posture.wrench.size(); ++j) {
    wrench[static_cast<Eigen::Index>(j)] = posture.wrench[j];
  }
  return wrench;
}

inline Eigen::Vector3d vector_at(const std::vector<double>& values, std::size_t i) {
  return Eigen::Map<const Eigen::Vector3d>(values.data() + 3 * i);
}

/// Largest violation of balance (about the first contact) and of the exact cones, relative to
/// |f_ext|, when `forces` hold the centre of mass at x.
inline double force_violation(const Posture& posture, const double* forces,
                              const Eigen::Vector3d& x) {
  const Eigen::VectorXd wrench = wrench_of(posture);
  const double scale = wrench.head<3>().norm();
  const Eigen::Vector3d origin = vector_at(posture.position, 0);
  Eigen::Vector3d sum = wrench.head<3>();
  Eigen::Vector3d torque = (x - origin).cross(sum) + Eigen::Vector3d(wrench.tail<3>());
  double worst = 0.0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(posture.contacts); ++i) {
    const Eigen::Vector3d f = Eigen::Map<const Eigen::Vector3d>(forces + 3 * i);
    const Eigen::Vector3d n = vector_at(posture.normal, i);
    sum += f;
    torque += (vector_at(posture.position, i) - origin).cross(f);
    worst = std::max(worst, (f - f.dot(n) * n).norm() - posture.friction[i] * f.dot(n));
    if (f.hasNaN()) return std::nan("");
  }
  worst = std::max({worst, sum.norm(), torque.norm()});
  return worst / scale;
}

/// Smallest value of (a + b x x_i) . f over the friction cones' forces with f_n = 1.
inline double field_slack(const Posture& posture, const double* dual) {
  const Eigen::Vector3d a(dual[0], dual[1], dual[2]);
  const Eigen::Vector3d b(dual[3], dual[4], dual[5]);
  double least = 1e300;
  for (std::size_t i = 0; i < static_cast<std::size_t>(posture.contacts); ++i) {
    const Eigen::Vector3d w = a + b.cross(vector_at(posture.position, i));
    const Eigen::Vector3d n = vector_at(posture.normal, i);
    least = std::min(least, w.dot(n) - posture.friction[i] * (w - w.dot(n) * n).norm());
  }
  return least;
}

/// Normal (f x b) and offset of the half-space that the field (a, b) proves.
inline Eigen::Vector4d proven_half_space(const Posture& posture, const double* dual) {
  const Eigen::VectorXd wrench = wrench_of(posture);
  const Eigen::Vector3d a(dual[0], dual[1], dual[2]);
  const Eigen::Vector3d b(dual[3], dual[4], dual[5]);
  const Eigen::Vector3d f = wrench.head<3>();
  const Eigen::Vector3d t = wrench.tail<3>();
  Eigen::Vector4d half_space;
  half_space << f.cross(b), -a.dot(f) - b.dot(t);
  return half_space;
}

inline Eigen::Vector3d in_world(const SpatialRegion& region, const double* point) {
  return point[0] * Eigen::Vector3d(region.frame[0][0], region.frame[0][1], region.frame[0][2]) +
         point[1] * Eigen::Vector3d(region.frame[1][0], region.frame[1][1], region.frame[1][2]);
}

/// Every inner vertex is held by its forces, every half-plane follows from its field alone, and the
/// vertices lie in the half-planes.
inline void expect_proven(const Posture& posture, const SpatialRegion& region, double tolerance) {
  const auto k = static_cast<std::size_t>(posture.contacts);
  ASSERT_EQ(region.forces.size(), region.inner.size() / 2 * 3 * k);
  for (std::size_t i = 0; i < region.inner.size() / 2; ++i) {
    EXPECT_LE(force_violation(posture, region.forces.data() + 3 * k * i,
                              in_world(region, region.inner.data() + 2 * i)),
              tolerance);
  }
  ASSERT_EQ(region.dual.size(), 2 * region.half_plane.size());
  for (std::size_t h = 0; h < region.half_plane.size() / 3; ++h) {
    const double* line = region.half_plane.data() + 3 * h;
    EXPECT_GE(field_slack(posture, region.dual.data() + 6 * h), -tolerance);
    const Eigen::Vector4d proven = proven_half_space(posture, region.dual.data() + 6 * h);
    EXPECT_LE((proven.head<3>() - in_world(region, line)).norm(), tolerance);
    EXPECT_NEAR(proven[3], line[2], tolerance);
    for (std::size_t i = 0; i < region.inner.size() / 2; ++i) {
      const double* p = region.inner.data() + 2 * i;
      EXPECT_LE(line[0] * p[0] + line[1] * p[1], line[2] + tolerance);
    }
  }
}

}  // namespace carom::test
