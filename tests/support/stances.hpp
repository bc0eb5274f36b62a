#pragma once

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include <carom/stability.hpp>

namespace carom::test {

/// The paper's biped under F = 1: L1 = h tan a - d, L2 = h tan a + d, both contacts at depth h.
inline Stance biped(double alpha, double h, double friction1, double friction2, double d,
                    double restitution) {
  Stance stance;
  stance.angle = alpha;
  stance.contacts = {{h * std::tan(alpha) - d, h, 0.0, friction1, restitution},
                     {h * std::tan(alpha) + d, h, 0.0, friction2, restitution}};
  return stance;
}
inline Stance of_figure2(double friction1, double d) {
  return biped(std::numbers::pi / 6.0, 1.0, friction1, 2.0, d, 0.0);
}
inline Stance of_figure3(double friction, double d) {
  return biped(std::numbers::pi / 9.0, 1.0, friction, friction, d, 0.1);
}

class RandomStances {
 public:
  explicit RandomStances(std::uint64_t seed) : random_(seed) {}

  double between(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  /// On contacts of unequal heights and slopes, elastic or not; most are in equilibrium.
  Stance any() {
    Stance stance;
    stance.angle = between(-0.6, 0.6);
    stance.force = between(0.5, 2.0);
    if (between(0, 1) < 0.3) stance.torque = between(-0.2, 0.2);
    const bool sloping = between(0, 1) < 0.5, elastic = between(0, 1) < 0.4;
    const double h = between(0.3, 2.0), e = elastic ? between(0.0, 0.5) : 0.0;
    for (int i = 0; i < 2; ++i) {
      StanceContact contact;
      contact.l = (i == 0 ? -1.0 : 1.0) * between(0.1, 1.2) + h * std::tan(stance.angle);
      contact.h = sloping ? h + between(-0.4, 0.4) : h;
      contact.slope = sloping ? between(-0.4, 0.4) : 0.0;
      contact.friction = between(0.05, 1.5);
      contact.restitution = e;
      stance.contacts.push_back(contact);
    }
    return stance;
  }
  std::array<double, 3> velocity() { return {between(-1, 1), between(-1, 1), between(-1, 1)}; }

 private:
  std::mt19937_64 random_;
};

}  // namespace carom::test
