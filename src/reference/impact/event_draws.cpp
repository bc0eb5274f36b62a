#include "reference/impact/event_draws.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include "core/random.hpp"

namespace carom::reference {

namespace {
int sign(double x) { return x > 0.0 ? 1 : (x < 0.0 ? -1 : 0); }
}  // namespace

ContactSigns signs_of(const Vector& contact_velocity, int contacts, int i) {
  ContactSigns signs{sign(contact_velocity[i]), 0};
  if (signs.normal <= 0) signs.slip = sign(contact_velocity[contacts + i]);
  return signs;
}

EventDraws::EventDraws(int contacts, std::uint64_t seed, std::uint32_t problem, std::int64_t sample)
    : weight(contacts),
      contacts_(contacts),
      seed_(seed),
      problem_(problem),
      sample_(static_cast<std::uint64_t>(sample)),
      drawn_(contacts) {
  may_follow_ = number() < 0.5;
  key_ = static_cast<std::uint32_t>(std::ldexp(number(), 32));
}

double EventDraws::number() { return uniform(seed_, problem_, sample_, draw_++); }

void EventDraws::next_stretch(const Vector& u, double longest, double halvings) {
  const double corner = number(), size = number(), order = number(), start = number();
  for (int i = 0; i < contacts_; ++i) weight[i] = std::pow(number(), 8);
  if (contacts_ % 2 == 1) ++draw_;  // numbers come in pairs
  const double most = weight.maxCoeff();
  const auto alone = static_cast<int>(std::floor(3.0 * contacts_ * corner));
  if (alone < contacts_) weight = most * Vector::Unit(contacts_, alone);
  weight = (weight.array() < 1e-5 * most).select(0.0, weight);
  const auto approaching = u.head(contacts_).array() < 0.0;
  if (!(approaching && weight.array() > 0.0).any()) {
    weight = approaching.select(most > 0.0 ? most : 1.0, weight);
  }
  weight /= weight.sum();
  drawn_ = weight;
  first = static_cast<unsigned>(std::ldexp(start, 20));
  holds_ = first >> 4;
  left = longest * std::ldexp(0.5 + size, 2 - static_cast<int>(std::floor(halvings * order)));
  policy = may_follow_ && !spoiled_;
  if (policy && size < 0.75) left = 64.0 * longest;
  spoiled_ = false;
}

void EventDraws::apply_policy(const Vector& u, const std::vector<int>& states) {
  std::uint32_t hash = key_;
  std::vector<int> able;
  for (int i = 0; i < contacts_; ++i) {
    hash = (hash ^ static_cast<std::uint32_t>(states[static_cast<std::size_t>(i)])) * 0x9E3779B9U;
    hash ^= hash >> 15;
    if (u[i] <= 0.0) able.push_back(i);
  }
  hash *= 0x85EBCA6BU;
  hash ^= hash >> 13;
  hash *= 0xC2B2AE35U;
  hash ^= hash >> 16;
  holds_ = hash >> 16;
  const std::size_t pick = hash % (able.size() + 1);
  weight = pick < able.size() ? Vector(Vector::Unit(contacts_, able[pick])) : drawn_;
}

void EventDraws::spoil() {
  left = 0.0;
  spoiled_ = true;
}

}  // namespace carom::reference
