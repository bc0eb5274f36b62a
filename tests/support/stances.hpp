#pragma once

#include <Eigen/Dense>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
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

inline Eigen::Vector3d vector(const std::array<double, 3>& v) { return {v[0], v[1], v[2]}; }

struct Gradients {
  Eigen::Vector3d normal, tangent;
};
// The contact point of the body moves by (y + h theta, z + l theta) to first order.
inline Gradients gradients(const StanceContact& c) {
  const double sine = std::sin(c.slope), cosine = std::cos(c.slope);
  return {{-sine, cosine, -sine * c.h + cosine * c.l}, {cosine, sine, cosine * c.h + sine * c.l}};
}
inline Eigen::Vector3d wrench(const Stance& s) {
  return {s.force * std::sin(s.angle), -s.force * std::cos(s.angle), s.torque};
}

inline StabilityResult judged(const std::vector<Stance>& stances, StabilityMethod method,
                              Backend backend = Backend::cpu) {
  StabilitySettings settings;
  settings.method = method;
  return analyse_stability(stance_batch(stances), settings, backend);
}
inline StabilityVerdict verdict_of(const Stance& stance,
                                   StabilityMethod method = StabilityMethod::any) {
  return judged({stance}, method).verdict.host()[0];
}
inline bool certified(const Stance& stance) {
  return verdict_of(stance, StabilityMethod::paper) == StabilityVerdict::stable;
}
inline std::ptrdiff_t count(const StabilityResult& result, StabilityVerdict verdict) {
  const auto all = result.verdict.host();
  return std::count(all.begin(), all.end(), verdict);
}

inline const StanceMode& mode(const std::vector<StanceMode>& modes, const std::string& word) {
  return *std::find_if(modes.begin(), modes.end(), [&](const auto& m) { return m.word == word; });
}

}  // namespace carom::test
