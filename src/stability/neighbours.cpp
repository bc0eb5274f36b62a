#include "stability/neighbours.hpp"

#include <cmath>

namespace carom::stability {

namespace {

namespace body = kernels::stability;

constexpr double kSteps = 64.0;    ///< of lengths (radii of gyration) and frictions, per unit
constexpr double kFiner = 1024.0;  ///< of directions, restitutions, the wrench: what charts keep
constexpr std::size_t kMostKnown = 8192;

double rounded(double value, double steps) { return std::round(value * steps) / steps; }
/// Directions, and arms by their mean and half their difference: charts often keep one of them.
void round_both(body::Vec3& a, body::Vec3& b) {
  const double mean = rounded(0.5 * (a.t + b.t), kSteps), half = rounded(0.5 * (b.t - a.t), kSteps);
  a = {rounded(a.y, kFiner), rounded(a.z, kFiner), mean - half};
  b = {rounded(b.y, kFiner), rounded(b.z, kFiner), mean + half};
}

body::StanceForm rounded(const body::StanceForm& stance) {
  body::StanceForm result = stance;
  round_both(result.contact[0].normal, result.contact[1].normal);
  round_both(result.contact[0].tangent, result.contact[1].tangent);
  for (int i = 0; i < 2; ++i) {
    const body::ContactForm& c = result.contact[i];
    const body::Vec3 &n = c.normal, &t = c.tangent;
    const double normal[3] = {n.y, n.z, n.t}, tangent[3] = {t.y, t.z, t.t};
    const double e = c.restitution;
    // a small restitution stays one: whether bodies bounce decides what is asked
    result.contact[i] = body::contact_form(normal, tangent, rounded(c.friction, kSteps),
                                           rounded(e, kFiner) == 0.0 ? e : rounded(e, kFiner));
  }
  int exponent = 0;
  std::frexp(body::dot(stance.g, stance.g), &exponent);
  const double steps = std::ldexp(kFiner, -(exponent / 2));
  result.g = {rounded(stance.g.y, steps), rounded(stance.g.z, steps), rounded(stance.g.t, steps)};
  return result;
}

}  // namespace

LabelledCertificate NeighbourCertificates::of(const body::StanceForm& stance) {
  const body::StanceForm anchor = rounded(stance);
  Key key{};
  std::size_t at = 0;
  const auto keep = [&](const body::Vec3& v) {
    for (const double value : {v.y, v.z, v.t}) key[at++] = value + 0.0;  // no -0
  };
  for (const body::ContactForm& c : anchor.contact) {
    keep(c.normal), keep(c.tangent);
    key[at++] = c.friction, key[at++] = c.restitution;
  }
  keep(anchor.g);
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
  }
  const LabelledCertificate certificate = find_labelled(anchor);
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kMostKnown) known_.clear();
  known_.emplace(key, certificate);
  return certificate;
}

}  // namespace carom::stability
