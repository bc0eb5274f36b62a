#pragma once

#include <array>
#include <cmath>
#include <vector>

#include <carom/device/contact_geometry.hpp>
#include <carom/device/numeric.hpp>

/// The modes of a step (75): which of its conditions hold with equality, contact by contact.
namespace carom::impact_modes {

enum class Normal {
  open,    ///< lambda_n = 0
  closed,  ///< u_n' = 0
  full,    ///< lambda_n = lambda_max
};
enum class Tangent {
  none,    ///< lambda_t = 0
  stick,   ///< u_t' = 0
  edge,    ///< space: on an edge of the friction polygon, no slip along it
  corner,  ///< lambda_t = mu lambda_n d_j
};
struct State {
  Normal normal = Normal::open;
  Tangent tangent = Tangent::none;
  int direction = 0;  ///< of the corner, or where the edge begins
};

/// Where two modes meet: what is taken of a contact there.
enum class Side {
  free,   ///< open, full, sliding
  held,   ///< closed, sticking
  other,  ///< held, and a contact without friction slides: what it would do with some
};

/// The numbers of a contact in a step, impulses as the speeds that they make: times `mobility`.
struct Contact {
  double approach;            ///< lambda_n - u_n'
  double limit;               ///< lambda_max
  double friction;            ///< mu
  double radius;              ///< mu lambda_n
  std::array<double, 2> aim;  ///< lambda_t - u_t'
};

struct Resolved {
  State state;
  double normal_gap = kernels::kInfinity;   ///< to the nearest other mode [m/s]
  double tangent_gap = kernels::kInfinity;  ///< likewise
};

/// The unit normal, outwards, of the polygon's edge from d_j on.
inline std::array<double, 2> edge_normal(const kernels::FrictionPolygon& polygon, int j) {
  return {polygon.along[j][1], -polygon.along[j][0]};
}

/// Modes of a contact by its natural map: lambda_n is the projection of lambda_n - u_n' on
/// [0, lambda_max], lambda_t that of lambda_t - u_t' on the polygon. Nearer than `doubt` [m/s] to
/// two modes `normal` and `tangent` decide.
template <int Dim>
Resolved resolve(const kernels::FrictionPolygon& polygon, const Contact& contact, double doubt,
                 Side normal, Side tangent) {
  Resolved found;
  State& state = found.state;
  const double to_open = std::fabs(contact.approach);
  const double to_full = std::fabs(contact.approach - contact.limit);
  found.normal_gap = kernels::smaller(to_open, to_full);
  if (to_open <= doubt) {
    state.normal = normal == Side::free ? Normal::open : Normal::closed;
  } else if (to_full <= doubt) {
    state.normal = normal == Side::free ? Normal::full : Normal::closed;
  } else if (contact.approach < 0.0) {
    state.normal = Normal::open;
  } else {
    state.normal = contact.approach > contact.limit ? Normal::full : Normal::closed;
  }
  if (state.normal == Normal::open) return found;
  const std::array<double, 2>& aim = contact.aim;
  if (contact.friction == 0.0) {
    const int first = kernels::nearest_direction<Dim>(polygon, aim.data());
    const double* toward = polygon.direction[first];
    double most = 0.0;
    int second = first;
    for (int c = 0; c < Dim - 1; ++c) most += toward[c] * aim[c];
    double tie = most;
    for (int j = 0; j < polygon.count; ++j) {
      double along = 0.0;
      for (int c = 0; c < Dim - 1; ++c) along += polygon.direction[j][c] * aim[c];
      if (j == first || most - along > tie) continue;
      tie = most - along;
      second = j;
    }
    found.tangent_gap = tie;
    const bool slides = most > doubt;
    state.tangent = slides || tangent == Side::other ? Tangent::corner : Tangent::none;
    state.direction = slides && tangent == Side::other ? second : first;
    return found;
  }
  const bool held = tangent != Side::free;
  if constexpr (Dim == 2) {
    state.direction = aim[0] < 0.0 ? 1 : 0;
    const double past = std::fabs(aim[0]) - contact.radius;
    found.tangent_gap = std::fabs(past);
    const bool sticks = found.tangent_gap <= doubt ? held : past < 0.0;
    state.tangent = sticks ? Tangent::stick : Tangent::corner;
    return found;
  }
  // The edge that the aim is farthest beyond, or nearest to from inside.
  const double distance = contact.radius * std::sqrt(1.0 - 0.25 * polygon.edge * polygon.edge);
  double past = -kernels::kInfinity;
  for (int j = 0; j < polygon.count; ++j) {
    const auto n = edge_normal(polygon, j);
    const double beyond = n[0] * aim[0] + n[1] * aim[1] - distance;
    if (beyond > past) {
      past = beyond;
      state.direction = j;
    }
  }
  const int first = state.direction;
  const int second = (first + 1) % polygon.count;
  const double* along = polygon.along[first];
  const double* corner = polygon.direction[first];
  const double place = along[0] * (aim[0] - contact.radius * corner[0]) +
                       along[1] * (aim[1] - contact.radius * corner[1]);
  const double left = contact.radius * polygon.edge - place;  // to the edge's other end
  const double inside = kernels::smaller(place, left);
  found.tangent_gap = std::fabs(past);
  if (std::fabs(past) <= doubt ? held : past < 0.0) {
    state.tangent = Tangent::stick;
    return found;
  }
  found.tangent_gap = kernels::smaller(found.tangent_gap, std::fabs(inside));
  if (std::fabs(inside) <= doubt ? held : inside > 0.0) {
    state.tangent = Tangent::edge;
    return found;
  }
  state.tangent = Tangent::corner;
  if (left < place) state.direction = second;
  return found;
}

/// One equation of a contact's mode, over the contact's components n, t_1, t_2: velocity . u' +
/// impulse . lambda = limit lambda_max, where the derivative of its left side in mu is
/// -slope lambda_n.
struct Row {
  int contact = 0;
  std::array<double, 3> velocity{};
  std::array<double, 3> impulse{};
  double slope = 0.0;
  double limit = 0.0;
};

/// The equations of a contact's mode, one for each of its components.
template <int Dim>
std::array<Row, Dim> rows_of(const kernels::FrictionPolygon& polygon, int contact, double friction,
                             const State& state) {
  std::array<Row, Dim> rows{};
  for (Row& row : rows) row.contact = contact;
  if (state.normal == Normal::closed) {
    rows[0].velocity[0] = 1.0;
  } else {
    rows[0].impulse[0] = 1.0;
    rows[0].limit = state.normal == Normal::full ? 1.0 : 0.0;
  }
  const double* corner = polygon.direction[state.direction];
  if (state.tangent == Tangent::edge) {
    const auto n = edge_normal(polygon, state.direction);
    Row& outer = rows[1];
    outer.slope = n[0] * corner[0] + n[1] * corner[1];
    outer.impulse = {-friction * outer.slope, n[0], n[1]};
    Row& slip = rows[Dim - 1];
    slip.velocity = {0.0, polygon.along[state.direction][0], polygon.along[state.direction][1]};
    return rows;
  }
  for (int c = 1; c < Dim; ++c) {
    Row& row = rows[c];
    if (state.tangent == Tangent::stick) {
      row.velocity[c] = 1.0;
      continue;
    }
    row.impulse[c] = 1.0;
    if (state.tangent != Tangent::corner) continue;
    row.slope = corner[c - 1];
    row.impulse[0] = -friction * row.slope;
  }
  return rows;
}

}  // namespace carom::impact_modes
