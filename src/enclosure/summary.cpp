#include "enclosure/summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace carom::enclosure {

namespace {

bool is_terminal(FaceCode code, int contacts) {
  for (int i = 0; i < contacts; ++i) {
    if (approaching(contact_face(code, i)) || filled(contact_face(code, i))) return false;
  }
  return true;
}

/// a.u <= b of a row >= 0 of homogeneous coordinates: (a, b) with the largest |a| being 1.
void add_constraint(const RoundedImpact& impact, const Vector& row, bool turned,
                    std::vector<double>& constraints) {
  Vector shares;  // of contact velocities in units of `unit`
  Integer largest = 0;
  for (std::size_t a = 0; a < impact.basis.size(); ++a) {
    shares.push_back(row[a + 1] * impact.scale[static_cast<std::size_t>(impact.basis[a])]);
    largest = std::max(largest, Integer(abs(shares.back())));
  }
  if (largest == 0) return;
  const double sign = turned ? -1.0 : 1.0;
  std::vector<double> line(2 * static_cast<std::size_t>(impact.contacts) + 1, 0.0);
  for (std::size_t a = 0; a < impact.basis.size(); ++a) {
    const double share = quotient(shares[a], largest);
    line[static_cast<std::size_t>(impact.basis[a])] = share == 0.0 ? 0.0 : -sign * share;
  }
  const double offset = sign * impact.unit * quotient(row[0], largest);
  line.back() = offset == 0.0 ? 0.0 : offset;
  constraints.insert(constraints.end(), line.begin(), line.end());
}

double outward(double value, double direction) {
  constexpr double kRounded = 0x1p-50;  // of a quotient of integers in doubles
  if (value == 0.0) return value;
  return std::nextafter(value + std::copysign(kRounded * value, direction), direction);
}

/// Of contact velocity k.
double largest_by_energy(const RoundedImpact& impact, std::size_t k) {
  const Vector& bound = impact.energy[2 * k];  // times what the row is times
  for (std::size_t a = 1; a < bound.size(); ++a) {
    if (impact.row[k][a] == 0) continue;
    return impact.unit * quotient(bound[0] * impact.row[k][a], bound[a] * impact.scale[k]);
  }
  return 0.0;
}

/// The polyhedron of a face, or the hull of several.
Piece outline(const RoundedImpact& impact, const std::vector<Piece>& pieces) {
  if (pieces.size() == 1) return pieces.front();
  std::vector<Vector> vertices;
  for (const Piece& piece : pieces) {
    for (const Point* vertex : piece.vertices) vertices.push_back(vertex->exact);
  }
  Generators hull = generators(impact.size(), {}, vertices);
  Piece piece;
  piece.equations = std::move(hull.lines);
  piece.rows = std::move(hull.rays);
  return piece;
}

}  // namespace

std::uint64_t modes_of(FaceCode code, int contacts) {
  std::uint64_t modes = 0;
  for (int i = 0; i < contacts; ++i) {
    const ContactFace face = contact_face(code, i);
    ContactMode mode = ContactMode::separating;
    if (face != ContactFace::separating) {
      mode = slip(face) == 0
                 ? ContactMode::sticking
                 : (slip(face) > 0 ? ContactMode::sliding : ContactMode::sliding_negative);
    }
    modes |= static_cast<std::uint64_t>(mode) << (2 * i);
  }
  return modes;
}

std::vector<double> velocities_of(const RoundedImpact& impact, FaceCode code, const Vector& point) {
  std::vector<double> u;
  u.reserve(impact.row.size());
  for (int k = 0; k < 2 * impact.contacts; ++k) u.push_back(impact.velocity(k, point));
  make_zeros(code, impact.contacts, u);
  return u;
}

void make_zeros(FaceCode code, int contacts, std::vector<double>& u) {
  for (int i = 0; i < contacts; ++i) {
    const ContactFace face = contact_face(code, i);
    if (face == ContactFace::separating) continue;
    u[static_cast<std::size_t>(i)] = 0.0;
    const auto tangent = static_cast<std::size_t>(contacts) + static_cast<std::size_t>(i);
    if (slip(face) == 0) u[tangent] = 0.0;
  }
}

void summarise(const RoundedImpact& impact, const Family& family, ImpactEnclosure& enclosure) {
  const auto m = static_cast<std::size_t>(impact.contacts);
  const double infinite = std::numeric_limits<double>::infinity();
  std::vector<double> low(2 * m, infinite), high(2 * m, -infinite);
  std::map<std::uint64_t, EnclosedMode> modes;
  for (const auto& [code, pieces] : family) {
    if (pieces.empty() || !is_terminal(code, impact.contacts)) continue;
    EnclosedMode& mode = modes[modes_of(code, impact.contacts)];
    mode.modes = modes_of(code, impact.contacts);
    for (const Piece& piece : pieces) {
      for (const Point* vertex : piece.vertices) {
        const std::vector<double> u = velocities_of(impact, code, vertex->exact);
        for (std::size_t k = 0; k < 2 * m; ++k) {
          low[k] = std::min(low[k], outward(u[k], -infinite));
          high[k] = std::max(high[k], outward(u[k], infinite));
        }
        mode.vertices.insert(mode.vertices.end(), u.begin(), u.end());
      }
    }
    const Piece whole = outline(impact, pieces);
    for (const Vector& e : whole.equations) {
      add_constraint(impact, e, false, mode.constraints);
      add_constraint(impact, e, true, mode.constraints);
    }
    for (const Vector& r : whole.rows) add_constraint(impact, r, false, mode.constraints);
  }
  if (!impact.stores.empty()) {  // whose polyhedra know nothing of the energy
    for (std::size_t k = 0; k < 2 * m; ++k) {
      const double most = outward(largest_by_energy(impact, k), infinite);
      low[k] = std::max(low[k], -most);
      high[k] = std::min(high[k], most);
    }
  }
  const auto middle = static_cast<std::ptrdiff_t>(m);
  enclosure.normal_velocity_min.assign(low.begin(), low.begin() + middle);
  enclosure.tangent_velocity_min.assign(low.begin() + middle, low.end());
  enclosure.normal_velocity_max.assign(high.begin(), high.begin() + middle);
  enclosure.tangent_velocity_max.assign(high.begin() + middle, high.end());
  enclosure.modes.clear();
  enclosure.impossible_modes.clear();
  for (auto& [word, mode] : modes) enclosure.modes.push_back(std::move(mode));
  for (std::uint64_t word = 0; word < std::uint64_t{1} << (2 * m); ++word) {
    if (!modes.contains(word)) enclosure.impossible_modes.push_back(word);
  }
}

void set_unknown(const ImpactProblem& problem, ImpactEnclosure& enclosure) {
  enclosure.rounding = std::numeric_limits<double>::infinity();
  const auto m = static_cast<std::size_t>(problem.contacts);
  const std::vector<double> normals(m, std::numeric_limits<double>::quiet_NaN());
  const std::vector<double> tangents(m * static_cast<std::size_t>(problem.dimension - 1),
                                     std::numeric_limits<double>::quiet_NaN());
  enclosure.normal_velocity_min = enclosure.normal_velocity_max = normals;
  enclosure.tangent_velocity_min = enclosure.tangent_velocity_max = tangents;
}

bool is_within(const ImpactEnclosure& inner, const ImpactEnclosure& outer) {
  const auto below = [](const std::vector<double>& low, const std::vector<double>& high) {
    return std::equal(low.begin(), low.end(), high.begin(), high.end(),
                      [](double a, double b) { return a <= b; });
  };
  return below(outer.normal_velocity_min, inner.normal_velocity_min) &&
         below(inner.normal_velocity_max, outer.normal_velocity_max) &&
         below(outer.tangent_velocity_min, inner.tangent_velocity_min) &&
         below(inner.tangent_velocity_max, outer.tangent_velocity_max);
}

}  // namespace carom::enclosure
