#pragma once

#include <cstdint>
#include <vector>

#include "reference/impact/mechanism.hpp"

namespace carom::reference {

/// Contact i of contact velocities u, with exact zeros: sign of u_n and, where it does not
/// separate, of the slip.
struct ContactSigns {
  int normal = 0, slip = 0;
};
ContactSigns signs_of(const Vector& contact_velocity, int contacts, int i);

/// The random numbers of one sample: stretches of impulse with the weights of the contacts.
class EventDraws {
 public:
  EventDraws(int contacts, std::uint64_t seed, std::uint32_t problem, std::int64_t sample);

  /// Another stretch from u on; `longest`: impulse that stops the fastest contact; halvings: of it,
  /// fewer than so many.
  void next_stretch(const Vector& u, double longest, double halvings);
  /// Weights of the sample's policy at u, where a number names the state of each contact.
  void apply_policy(const Vector& u, const std::vector<int>& states);
  /// Ends the stretch; the next one is drawn without the policy.
  void spoil();

  /// Whether contact i at u_n = 0 with a store may be held there, as those without are.
  [[nodiscard]] bool holds(int i) const { return (holds_ >> i & 1U) != 0; }

  Vector weight;        ///< sum 1
  double left = 0.0;    ///< impulse until the next stretch [N s]
  bool policy = false;  ///< weights are a function of the face
  unsigned first = 0;   ///< mode that is tried first

 private:
  [[nodiscard]] double number();

  int contacts_;
  std::uint64_t seed_;
  std::uint32_t problem_;
  std::uint64_t sample_;
  std::uint32_t draw_ = 0;
  bool may_follow_ = false, spoiled_ = false;
  std::uint32_t key_ = 0, holds_ = 0;
  Vector drawn_;
};

}  // namespace carom::reference
