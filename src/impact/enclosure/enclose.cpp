#include "impact/enclosure/enclose.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

#include "impact/enclosure/invariant.hpp"

namespace carom::enclosure {

namespace {

constexpr double kSameData = 0x1p-40;  // of the largest entry; the data were rounded to 2^-44

/// Whether two rows have the same direction but for their rounding.
bool nearly_same(const Vector& a, const Vector& b) {
  if (a.size() != b.size()) return false;
  Integer largest_a = 0, largest_b = 0;
  for (const Integer& x : a) largest_a = std::max(largest_a, Integer(abs(x)));
  for (const Integer& x : b) largest_b = std::max(largest_b, Integer(abs(x)));
  if (largest_a == 0 || largest_b == 0) return largest_a == largest_b;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(std::abs(quotient(a[i], largest_a) - quotient(b[i], largest_b)) <= kSameData)) {
      return false;
    }
  }
  return true;
}

bool nearly_same(const std::vector<Vector>& a, const std::vector<Vector>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Vector& x, const Vector& y) { return nearly_same(x, y); });
}

bool nearly_same(const RoundedImpact& a, const RoundedImpact& b) {
  return a.contacts == b.contacts && a.basis == b.basis && a.unit == b.unit &&
         nearly_same(a.row, b.row) && nearly_same({a.start}, {b.start}) &&
         std::equal(a.scale.begin(), a.scale.end(), b.scale.begin(), b.scale.end()) &&
         nearly_same(a.push, b.push) && nearly_same(a.energy, b.energy);
}

/// Vertices of a polyhedron cut to its face's closure; false where that has none or no end.
bool find_vertices(const RoundedImpact& impact, const Face& face, bool bounded, Piece& piece) {
  std::vector<Vector> equations = piece.equations, rows = piece.rows;
  equations.insert(equations.end(), face.zero.begin(), face.zero.end());
  rows.insert(rows.end(), face.side.begin(), face.side.end());
  if (bounded) rows.insert(rows.end(), impact.energy.begin(), impact.energy.end());
  rows.emplace_back(impact.size());
  rows.back()[0] = 1;
  Generators all = generators(impact.size(), equations, rows);
  if (!all.lines.empty() || all.rays.empty()) return false;
  piece.vertices = std::move(all.rays);
  return std::all_of(piece.vertices.begin(), piece.vertices.end(),
                     [](const Vector& vertex) { return vertex[0] > 0; });
}

/// That no motion in the face leaves the polyhedron.
bool keeps_motion(const Face& face, const Piece& piece) {
  return std::all_of(face.motion.begin(), face.motion.end(), [&](const Vector& ray) {
    return std::all_of(piece.equations.begin(), piece.equations.end(),
                       [&](const Vector& e) { return dot(e, ray) == 0; }) &&
           std::all_of(piece.rows.begin(), piece.rows.end(),
                       [&](const Vector& r) { return dot(r, ray) >= 0; });
  });
}

bool is_inductive(const RoundedImpact& impact, bool bounded, Family& family) {
  Faces faces(impact);
  for (auto& [code, pieces] : family) {
    const Face& face = faces.face(code);
    for (Piece& piece : pieces) {
      if (!keeps_motion(face, piece) || !find_vertices(impact, face, bounded, piece)) return false;
    }
  }
  bool held = true;
  const Reach::Hand hand = [&](FaceCode code, const Points& points) {
    const auto found = family.find(code);
    held = held && found != family.end() &&
           std::any_of(found->second.begin(), found->second.end(),
                       [&](const Piece& piece) { return Reach::holds(piece, points); });
  };
  Reach::hand_over(faces, impact, {impact.start}, hand);
  for (const auto& [code, pieces] : family) {
    const Face& face = faces.face(code);
    if (face.terminal) continue;
    for (const Piece& piece : pieces) {
      for (const Points& points : Reach::parts(face, piece)) {
        Reach::hand_over(faces, impact, points, hand);
        if (!held) return false;
      }
    }
  }
  return held;
}

bool within(const std::vector<double>& inner_low, const std::vector<double>& inner_high,
            const std::vector<double>& low, const std::vector<double>& high) {
  if (low.size() != inner_low.size() || high.size() != inner_high.size()) return false;
  for (std::size_t i = 0; i < low.size(); ++i) {
    if (!(low[i] <= inner_low[i] && inner_high[i] <= high[i])) return false;
  }
  return true;
}

}  // namespace

ImpactEnclosure enclose(const ImpactProblem& problem, const EnclosureSettings& settings) {
  const auto start = std::chrono::steady_clock::now();
  ImpactEnclosure enclosure;
  const RoundedImpact impact = round_impact(problem);
  // Where hulls feed on themselves, more polyhedra a face may not; the last run takes what it gets.
  std::optional<Reach> kept;
  bool done = false;
  for (const int more : {1, 2, 4, 0}) {
    const auto pieces = static_cast<std::size_t>(settings.polyhedra * std::max(more, 1));
    kept.emplace(impact, ReachLimits{settings.tolerance, settings.budget - enclosure.made, pieces,
                                     more != 0});
    done = kept->run();
    enclosure.made += kept->made();
    if (done || enclosure.made >= settings.budget) break;
  }
  Reach& reach = *kept;
  enclosure.faces = static_cast<std::int64_t>(reach.family().size());
  enclosure.exact = done && reach.exact();
  enclosure.rounding = done ? reach.moved() * impact.unit : std::numeric_limits<double>::infinity();
  if (done) {
    enclosure.status = reach.bounded() ? EnclosureStatus::outer : EnclosureStatus::enclosed;
    summarise(impact, reach.family(), enclosure);
    enclosure.invariant = text_of(impact, reach.family());
  } else {
    const std::vector<double> unknown(static_cast<std::size_t>(problem.contacts),
                                      std::numeric_limits<double>::quiet_NaN());
    enclosure.normal_velocity_min = enclosure.normal_velocity_max = unknown;
    enclosure.tangent_velocity_min = enclosure.tangent_velocity_max = unknown;
  }
  enclosure.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return enclosure;
}

bool proves(const ImpactProblem& problem, const ImpactEnclosure& enclosure) {
  const bool bounded = enclosure.status == EnclosureStatus::outer;
  if (!bounded && enclosure.status != EnclosureStatus::enclosed) return false;
  std::optional<Invariant> invariant = read_invariant(enclosure.invariant);
  if (!invariant || !nearly_same(invariant->impact, round_impact(problem)) ||
      !is_inductive(invariant->impact, bounded, invariant->family)) {
    return false;
  }
  ImpactEnclosure held;
  summarise(invariant->impact, invariant->family, held);
  return within(held.normal_velocity_min, held.normal_velocity_max, enclosure.normal_velocity_min,
                enclosure.normal_velocity_max) &&
         within(held.tangent_velocity_min, held.tangent_velocity_max,
                enclosure.tangent_velocity_min, enclosure.tangent_velocity_max) &&
         std::all_of(enclosure.impossible_modes.begin(), enclosure.impossible_modes.end(),
                     [&](std::uint64_t modes) {
                       return std::none_of(held.modes.begin(), held.modes.end(),
                                           [&](const EnclosedMode& m) { return m.modes == modes; });
                     });
}

}  // namespace carom::enclosure
