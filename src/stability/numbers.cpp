#include "stability/numbers.hpp"
#include "stability/backends.hpp"

#include <cmath>
#include <numbers>
#include <string>

#include "core/settings.hpp"

namespace carom::stability {

namespace {

/// Largest size of a number: sums and products of eight of them stay finite.
constexpr double kLargest = 1e30;
/// Contacts nearer than this to each other, relative to their distance from the centre of mass and
/// to the radius of gyration, are one.
constexpr double kCoincident = 1e-9;
/// Least angle between two normals' planes of motion: |N1 x N2| relative to |N1| |N2|.
constexpr double kParallel = 1e-9;

bool within(double value) { return std::fabs(value) <= kLargest; }

Refusal of(const char* field, std::vector<std::int64_t> index, double value, const char* rule) {
  return {.field = field,
          .index = std::move(index),
          .kind = "stance",
          .value = settings::shown(value),
          .rule = rule};
}

/// Of contact i of the stance whose contacts begin at `first`.
Refusal refused_contact(const StanceBatch& batch, std::size_t first, std::size_t i) {
  const std::size_t at = first + i;
  const auto wrong = [i](const char* field, double value, const char* rule) {
    return of(field, {static_cast<std::int64_t>(i)}, value, rule);
  };
  const double friction = batch.friction.host()[at], e = batch.restitution.host()[at];
  const double slope = batch.slope.host()[at];
  if (!within(batch.l.host()[at])) return wrong("l", batch.l.host()[at], "must be finite");
  if (!within(batch.h.host()[at])) return wrong("h", batch.h.host()[at], "must be finite");
  if (!(std::fabs(slope) <= 2.0 * std::numbers::pi)) {
    return wrong("slope", slope, "must be in [-2 pi, 2 pi] rad");
  }
  if (!(friction >= 0.0 && within(friction))) {
    return wrong("friction", friction, "must be >= 0 and finite");
  }
  if (!(e >= 0.0 && e < 1.0)) return wrong("restitution", e, "must be in [0, 1)");
  return {};
}

}  // namespace

Refusal refused(const StanceBatch& batch, std::int64_t problem) {
  const auto p = static_cast<std::size_t>(problem);
  const auto c = static_cast<std::size_t>(batch.contacts);
  const double force = batch.force.host()[p], angle = batch.angle.host()[p];
  const double torque = batch.torque.host()[p];
  if (!(force > 0.0 && within(force))) return of("force", {}, force, "must be > 0 and finite");
  if (!(std::fabs(angle) <= 2.0 * std::numbers::pi)) {
    return of("angle", {}, angle, "must be in [-2 pi, 2 pi] rad");
  }
  if (!within(torque)) return of("torque", {}, torque, "must be finite");
  for (std::size_t i = 0; i < c; ++i) {
    if (Refusal wrong = refused_contact(batch, p * c, i); !wrong.field.empty()) return wrong;
  }
  for (std::size_t i = 0; i < c; ++i) {
    for (std::size_t j = i + 1; j < c; ++j) {
      const std::size_t a = p * c + i, b = p * c + j;
      const double dl = batch.l.host()[b] - batch.l.host()[a];
      const double dh = batch.h.host()[b] - batch.h.host()[a];
      const double size = 1.0 + std::hypot(batch.l.host()[a], batch.h.host()[a]);
      if (std::hypot(dl, dh) > kCoincident * size) continue;
      return {.field = "contacts",
              .index = {static_cast<std::int64_t>(i)},
              .kind = "stance",
              .relation = "and",
              .value = std::to_string(j),
              .rule = "must be at different points (l, h)"};
    }
  }
  if (c != 2) return {};
  // Two gaps that are one: the body's motion along the contacts would have no direction.
  double n[2][3];
  for (std::size_t i = 0; i < 2; ++i) {
    const double sine = std::sin(batch.slope.host()[2 * p + i]);
    const double cosine = std::cos(batch.slope.host()[2 * p + i]);
    n[i][0] = -sine, n[i][1] = cosine;
    n[i][2] = batch.l.host()[2 * p + i] * cosine - batch.h.host()[2 * p + i] * sine;
  }
  const double x = n[0][1] * n[1][2] - n[0][2] * n[1][1];
  const double y = n[0][2] * n[1][0] - n[0][0] * n[1][2];
  const double z = n[0][0] * n[1][1] - n[0][1] * n[1][0];
  const double size = std::hypot(n[0][0], n[0][1], n[0][2]) * std::hypot(n[1][0], n[1][1], n[1][2]);
  if (std::hypot(x, y, z) > kParallel * size) return {};
  return of("slope", {1}, batch.slope.host()[2 * p + 1],
            "must not put both normals on one line (the two gaps would be one)");
}

bool accepts(const StanceBatch& batch, std::int64_t problem) {
  return refused(batch, problem).field.empty();
}

}  // namespace carom::stability
