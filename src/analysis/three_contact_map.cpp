#include "analysis/three_contact_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include <carom/device/orthonormal_frame.hpp>
#include <carom/error.hpp>

#include "core/message.hpp"
#include "core/require.hpp"

namespace carom::three_contacts {

using polygon::clip;
using polygon::cross;
using polygon::minus;

Parametrisation::Parametrisation(const Posture& posture) {
  if (posture.dimension != 3 || posture.contacts != 3) {
    require::refuse(
        {}, "contacts", {},
        std::to_string(posture.contacts) + " in dimension " + std::to_string(posture.dimension),
        "the parametrisation is that of three spatial contacts");
  }
  validate(posture);
  double wrench[6] = {0.0, 0.0, -1.0, 0.0, 0.0, 0.0};
  std::copy(posture.wrench.begin(), posture.wrench.end(), wrench);
  const double force = std::hypot(wrench[0], wrench[1], wrench[2]);
  for (int j = 0; j < 3; ++j) axis[2][j] = -wrench[j] / force;
  kernels::orthonormal_frame(axis[2], axis[0], axis[1]);
  double torque[3];
  for (int a = 0; a < 3; ++a) torque[a] = kernels::dot3(axis[a], wrench + 3) / force;
  if (!(std::abs(torque[2]) <= 1e-12)) {
    require::refuse({.relation = "has"}, "wrench", {},
                    "the torque " + message::number(torque[2]) + " about its force, per unit of it",
                    "must be 0");
  }
  double mean[3] = {};
  for (std::size_t i = 0; i < 9; ++i) mean[i % 3] += posture.position[i] / 3.0;
  home = {kernels::dot3(axis[0], mean), kernels::dot3(axis[1], mean)};
  offset = {-torque[1], torque[0]};
  for (std::size_t i = 0; i < 3; ++i) {
    double arm[3];
    for (std::size_t j = 0; j < 3; ++j) arm[j] = posture.position[3 * i + j] - mean[j];
    const double* n = posture.normal.data() + 3 * i;
    Foot& own = foot[i];
    own.at = {kernels::dot3(axis[0], arm), kernels::dot3(axis[1], arm)};
    own.height = kernels::dot3(axis[2], arm);
    for (int a = 0; a < 3; ++a) own.normal[a] = kernels::dot3(axis[a], n);
    own.friction = posture.friction[i];
    const double side = std::hypot(own.normal[0], own.normal[1]);
    own.vertical = side <= own.friction * own.normal[2];
    const double half =
        std::asin(std::min(1.0, own.friction / std::hypot(1.0, own.friction) / side));
    const double middle = std::atan2(own.normal[1], own.normal[0]);
    own.edge[0] = {std::cos(middle + half), std::sin(middle + half)};
    own.edge[1] = {std::cos(middle - half), std::sin(middle - half)};
    if (!(own.normal[2] - own.friction * side >= 0.0) || !(own.normal[2] > 0.0)) {
      require::refuse({.relation = "with"}, "normal", {static_cast<std::int64_t>(i)},
                      "friction " + message::number(own.friction) + " is not upward pointing",
                      "no force of its cone may point along the external force");
    }
    extent = std::max(extent, std::hypot(own.at[0], own.at[1]));
  }
  const double spread = cross(minus(foot[1].at, foot[0].at), minus(foot[2].at, foot[0].at));
  if (!(std::abs(spread) > 1e-9 * extent * extent)) {
    throw InvalidInput(
        Refusal{.field = "position",
                .rule = "the three contacts lie in one plane with the external force"});
  }
}

double Parametrisation::lambda(std::size_t i, const Point& r) const {
  const Point a = minus(r, foot[(i + 1) % 3].at);
  const Point b = minus(foot[(i + 2) % 3].at, foot[(i + 1) % 3].at);
  return cross(b, a);
}

Piece Parametrisation::piece_of(double sigma, int cell, double reach) const {
  const double w = reach * extent;
  Piece piece{
      {{-w, -w}, {w, -w}, {w, w}, {-w, w}}, {kNoSide, kNoSide, kNoSide, kNoSide}, {}, sigma};
  for (std::size_t i = 0; i < 3; ++i) {
    const double s = (cell >> i & 1) != 0 ? 1.0 : -1.0;  // sign of lambda_i
    piece.sign[i] = sigma * s;
    // s lambda_i(r) >= 0 as -s (gradient . r) <= s lambda_i(0).
    const double zero = lambda(i, {0.0, 0.0});
    const Point gradient = {lambda(i, {1.0, 0.0}) - zero, lambda(i, {0.0, 1.0}) - zero};
    piece.polygon = clip(piece.polygon, {-s * gradient[0], -s * gradient[1]}, s * zero,
                         piece.labels, static_cast<int>(i));
    // The cone's projection: everything, or a sector around the normal's.
    const Foot& own = foot[i];
    if (own.vertical) continue;
    for (const int e : {0, 1}) {
      // Outwards: the first edge turned to the left, the second to the right.
      const double turn = e == 0 ? piece.sign[i] : -piece.sign[i];
      const Point normal = {-turn * own.edge[e][1], turn * own.edge[e][0]};
      piece.polygon = clip(piece.polygon, normal, normal[0] * own.at[0] + normal[1] * own.at[1],
                           piece.labels, cone_label(i, e));
    }
  }
  // Samples lie denser towards the first vertex: the one nearest to the contacts.
  const auto nearest = std::min_element(piece.polygon.begin(), piece.polygon.end(),
                                        [](const Point& a, const Point& b) {
                                          return std::hypot(a[0], a[1]) < std::hypot(b[0], b[1]);
                                        });
  const auto turn = nearest - piece.polygon.begin();
  std::rotate(piece.polygon.begin(), nearest, piece.polygon.end());
  std::rotate(piece.labels.begin(), piece.labels.begin() + turn, piece.labels.end());
  return piece;
}

bool roots(const Foot& foot, const Point& h, double& low, double& high, bool double_root) {
  // mu^2 (n . f)^2 = |f|^2 - (n . f)^2 with f = h + z e.
  const double c = 1.0 + foot.friction * foot.friction;
  const double side = foot.normal[0] * h[0] + foot.normal[1] * h[1];
  const double up = foot.normal[2];
  const double qa = c * up * up - 1.0;
  const double qb = 2.0 * c * up * side;
  const double qc = c * side * side - h[0] * h[0] - h[1] * h[1];
  double discriminant = qb * qb - 4.0 * qa * qc;
  if (double_root) discriminant = 0.0;
  if (discriminant < 0.0 && discriminant > -1e-13 * (qb * qb + std::abs(4.0 * qa * qc))) {
    discriminant = 0.0;
  }
  if (!(discriminant >= 0.0)) return false;
  const double root = std::sqrt(discriminant);
  high = std::numeric_limits<double>::infinity();
  if (foot.vertical) {
    // The cone opens upwards: one root bounds it from below.
    if (!(qa > 1e-14)) return false;
    low = (-qb + root) / (2.0 * qa);
    return true;
  }
  low = (-qb + root) / (2.0 * qa);
  high = (-qb - root) / (2.0 * qa);
  if (low > high) std::swap(low, high);
  return side + high * up >= 0.0;
}

Point Parametrisation::placed(const Point& r, int label) const {
  const auto onto = [&](const Point& at, const Point& along) -> Point {
    const Point arm = minus(r, at);
    const double t =
        (arm[0] * along[0] + arm[1] * along[1]) / (along[0] * along[0] + along[1] * along[1]);
    return {at[0] + t * along[0], at[1] + t * along[1]};
  };
  for (std::size_t i = 0; i < 3; ++i) {
    const Foot& own = foot[i];
    const Point& next = foot[(i + 1) % 3].at;
    if (label == static_cast<int>(i)) return onto(next, minus(foot[(i + 2) % 3].at, next));
    for (const int e : {0, 1}) {
      if (label == cone_label(i, e)) return onto(own.at, own.edge[e]);
    }
  }
  return r;
}

bool Parametrisation::image(const Piece& piece, const Point& point, int choice, Point& out,
                            int label) const {
  const Point r = placed(point, label);
  double weight = 0.0;
  out = {0.0, 0.0};
  // Rounding may put r beyond a line through two contacts: not by more than the forces feel.
  std::array<double, 3> size{};
  double most = 0.0;
  double beyond = 0.0;
  for (std::size_t i = 0; i < 3; ++i) {
    if (label == static_cast<int>(i)) continue;
    size[i] = piece.sigma * piece.sign[i] * lambda(i, r);
    const double pull = size[i] * std::hypot(r[0] - foot[i].at[0], r[1] - foot[i].at[1]);
    most = std::max(most, pull);
    beyond = std::max(beyond, -pull);
    size[i] = std::max(size[i], 0.0);
  }
  if (!(beyond <= 1e-12 * most)) return false;
  for (std::size_t i = 0; i < 3; ++i) {
    const Foot& own = foot[i];
    const Point h = {piece.sign[i] * (r[0] - own.at[0]), piece.sign[i] * (r[1] - own.at[1])};
    // r = x_i is no point of P: there all horizontal forces vanish, and near it rounding of r
    // turns their directions.
    if (!(std::hypot(h[0], h[1]) > 1e-5 * extent)) return false;
    double low = 0.0;
    double high = 0.0;
    const bool double_root = label == cone_label(i, 0) || label == cone_label(i, 1);
    if (!roots(own, h, low, high, double_root)) return false;
    const double z = (choice >> i & 1) != 0 ? high : low;
    if (!std::isfinite(z)) return false;
    weight += size[i] * z;
    out[0] += size[i] * (own.at[0] * z - own.height * h[0]);
    out[1] += size[i] * (own.at[1] * z - own.height * h[1]);
  }
  if (!(weight > 1e-10 * extent * extent * extent)) return false;
  for (std::size_t c = 0; c < 2; ++c) out[c] = out[c] / weight + offset[c];
  return true;
}

}  // namespace carom::three_contacts
