#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include <carom/posture.hpp>

#include "core/random.hpp"

/// Random planar postures as a function of (seed, index).
namespace carom::test {

enum class PostureKind {
  upward,   ///< all cone edges point against gravity
  any,      ///< normals in all directions
  lattice,  ///< coordinates and angles on a coarse lattice: coinciding, collinear, opposite and
            ///< parallel cones, no friction
};

class PostureSource {
 public:
  PostureSource(std::uint64_t seed, std::int64_t index)
      : seed_(seed), sample_(static_cast<std::uint64_t>(index)) {}

  double uniform(double low, double high) {
    return low + (high - low) * carom::uniform(seed_, 0, sample_, draw_++);
  }
  int below(int count) { return static_cast<int>(uniform(0.0, count)); }

  Posture posture(PostureKind kind, int contacts, bool patches = false) {
    Posture posture;
    posture.contacts = contacts;
    for (int i = 0; i < contacts; ++i) {
      double x = uniform(-1.0, 1.0);
      double y = uniform(-0.5, 0.5);
      double lean = uniform(-std::numbers::pi, std::numbers::pi);
      double mu = uniform(0.0, 1.2);
      double length = patches ? uniform(0.0, 0.4) : 0.0;
      if (kind == PostureKind::upward) {
        lean *= 0.25;
        mu = uniform(0.0, std::tan(1.45 - std::abs(lean)));
      } else if (kind == PostureKind::lattice) {
        x = 0.5 * below(4);
        y = 0.5 * below(3);
        lean = std::numbers::pi / 12.0 * (below(24) - 12);
        mu = std::tan(std::numbers::pi / 12.0 * below(4));
        length = patches ? 0.5 * below(2) : 0.0;
      }
      posture.position.insert(posture.position.end(), {x, y});
      posture.normal.insert(posture.normal.end(), {std::sin(lean), std::cos(lean)});
      posture.friction.push_back(mu);
      if (patches) posture.length.push_back(length);
    }
    return posture;
  }

  /// A force of some size near gravity, and a torque.
  std::vector<double> wrench(double tilt = 0.5) {
    const double size = uniform(0.5, 20.0);
    const double angle = uniform(-tilt, tilt);
    return {size * std::sin(angle), -size * std::cos(angle), uniform(-0.3, 0.3) * size};
  }

 private:
  std::uint64_t seed_;
  std::uint64_t sample_;
  std::uint32_t draw_ = 0;
};

}  // namespace carom::test
