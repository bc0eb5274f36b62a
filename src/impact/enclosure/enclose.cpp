#include "impact/enclosure/enclose.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "impact/enclosure/event.hpp"
#include "impact/enclosure/invariant.hpp"

namespace carom::enclosure {

namespace {

constexpr double kSameData = 0x1p-40;  // of the largest entry; the data were rounded to 2^-44
constexpr double kTrust = 1e-13;       // of the terms of a sum of rounded velocities

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

/// Where hulls feed on themselves, more polyhedra a face may not. Runs that close do so soon; the
/// last one takes what it gets.
struct Attempt {
  int polyhedra;      // times those of the settings
  std::int64_t most;  // made
  bool last;
};
constexpr Attempt kAttempts[] = {{1, 96, false}, {2, 192, false}, {2, std::int64_t{1} << 40, true}};
constexpr std::int64_t kSmall = 16;     // made before it is worth while to draft the search first
constexpr unsigned kLongest = 400;      // bits of a vertex with which no hull is made any more ...
constexpr unsigned kLongestLast = 128;  // ... and in the last run

ReachLimits limits_of(const EnclosureSettings& settings, const Attempt& attempt,
                      std::int64_t made) {
  return {settings.tolerance, std::min(settings.budget - made, attempt.most),
          static_cast<std::size_t>(settings.polyhedra * attempt.polyhedra), !attempt.last,
          attempt.last ? kLongestLast : kLongest};
}

/// What a finished family says.
void describe(const RoundedImpact& impact, const Reach& reach, double largest_rounding,
              ImpactEnclosure& enclosure) {
  enclosure.faces = static_cast<std::int64_t>(reach.family().size());
  enclosure.exact = reach.exact();
  enclosure.rounding = reach.moved() * impact.unit;
  summarise(impact, reach.family(), enclosure);
  enclosure.invariant = text_of(impact, reach.family());
  double extent = 0.0;
  for (std::size_t i = 0; i < enclosure.normal_velocity_min.size(); ++i) {
    extent = std::max({extent, enclosure.normal_velocity_max[i] - enclosure.normal_velocity_min[i],
                       enclosure.tangent_velocity_max[i] - enclosure.tangent_velocity_min[i]});
  }
  const bool close = enclosure.rounding <= largest_rounding * extent;
  enclosure.status = reach.bounded() || !close ? EnclosureStatus::outer : EnclosureStatus::enclosed;
}

/// Whether a finished family says more than what is known.
bool closer(const Reach& reach, const RoundedImpact& impact, const ImpactEnclosure& enclosure) {
  return enclosure.status == EnclosureStatus::budget ||
         reach.moved() * impact.unit < enclosure.rounding;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Whether a terminal polyhedron holds the event, in doubles that are not trusted to the last
/// digits.
Reach::Met meets(const RoundedImpact& impact, const ImpactEvent& event, FaceCode code,
                 const Piece& piece) {
  if (!has_modes(modes_of(code, impact.contacts), event)) return Reach::Met::no;
  if (event.direction.empty()) return Reach::Met::certainly;
  Reach::Met met = Reach::Met::no;
  for (const Vector& vertex : piece.vertices) {
    const std::vector<double> u = velocities_of(impact, code, vertex);
    double value = 0.0, size = std::abs(event.bound);
    for (std::size_t k = 0; k < u.size(); ++k) {
      value += event.direction[k] * u[k];
      size += std::abs(event.direction[k] * u[k]);
    }
    if (value - kTrust * size > event.bound) return Reach::Met::certainly;
    if (value + kTrust * size > event.bound) met = Reach::Met::perhaps;
  }
  return met;
}

/// The searches for one problem's set: exact ones, where drafts do not say that they would not end.
class Enclosing {
 public:
  Enclosing(RoundedImpact impact, const EnclosureSettings& settings)
      : impact_(std::move(impact)),
        settings_(settings),
        faces_(impact_),
        first_(impact_, faces_, limits_of(settings, small(), 0)) {}

  ImpactEnclosure take() {
    Draft draft(impact_, faces_);
    done_ = accept(first_.run(), first_);
    made_ = first_.made();
    for (const Attempt& attempt : kAttempts) {
      if (done_ || made_ >= settings_.budget) break;
      if (!attempt.last) {
        try_out(attempt, draft);
      } else if (enclosure_.status == EnclosureStatus::budget &&
                 settings_.budget - made_ >= Reach::kUnbounded) {
        search(attempt, nullptr);
      }
    }
    enclosure_.made = made_;
    return std::move(enclosure_);
  }

 private:
  /// A small search needs no draft.
  static Attempt small() { return {1, kSmall, false}; }

  bool accept(bool ended, const Reach& reach) {
    if (ended && closer(reach, impact_, enclosure_)) {
      describe(impact_, reach, settings_.largest_rounding, enclosure_);
    }
    if (enclosure_.status == EnclosureStatus::budget) {
      enclosure_.faces = static_cast<std::int64_t>(reach.family().size());
    }
    return ended && enclosure_.status == EnclosureStatus::enclosed;
  }

  /// Whether the set is enclosed afterwards; plan: null for none.
  bool search(const Attempt& attempt, const std::vector<DraftPiece>* plan) {
    if (plan == nullptr && &attempt == kAttempts) {  // the small search goes on
      const std::int64_t before = first_.made();
      first_.extend(std::min(before + settings_.budget - made_, attempt.most));
      const bool enclosed = accept(first_.run(), first_);
      made_ += first_.made() - before;
      return enclosed;
    }
    Reach reach(impact_, faces_, limits_of(settings_, attempt, made_));
    const bool ended = plan != nullptr ? reach.run(*plan, first_.family()) : reach.run();
    made_ += reach.made();
    return accept(ended, reach);
  }

  void try_out(const Attempt& attempt, Draft& draft) {
    const ReachLimits limits = limits_of(settings_, attempt, 0);
    const bool ends = draft.run({limits.tolerance, limits.budget, limits.pieces});
    // Of two contacts, polyhedra that get beyond a draft go on growing.
    if (!ends && !(draft.lost() && impact_.contacts > 2)) return;
    if (ends) {
      const std::vector<DraftPiece> plan = draft.plan();
      // Where the plan has not many fewer polyhedra than are still to be made, they are made.
      const auto planned = static_cast<std::int64_t>(plan.size()) * 5 / 4;
      if (&attempt != kAttempts || draft.made() - made_ >= planned) done_ = search(attempt, &plan);
    }
    if (!done_ && made_ < settings_.budget) done_ = search(attempt, nullptr);
  }

  RoundedImpact impact_;
  EnclosureSettings settings_;
  Faces faces_;
  Reach first_;
  ImpactEnclosure enclosure_;
  std::int64_t made_ = 0;
  bool done_ = false;
};

}  // namespace

ImpactEnclosure enclose(const ImpactProblem& problem, const EnclosureSettings& settings) {
  const auto start = std::chrono::steady_clock::now();
  ImpactEnclosure enclosure = Enclosing(round_impact(problem), settings).take();
  if (enclosure.status == EnclosureStatus::budget) {
    enclosure.rounding = std::numeric_limits<double>::infinity();
    const std::vector<double> unknown(static_cast<std::size_t>(problem.contacts),
                                      std::numeric_limits<double>::quiet_NaN());
    enclosure.normal_velocity_min = enclosure.normal_velocity_max = unknown;
    enclosure.tangent_velocity_min = enclosure.tangent_velocity_max = unknown;
  }
  enclosure.seconds = seconds_since(start);
  return enclosure;
}

ImpactDecision decide(const ImpactProblem& problem, const ImpactEvent& event,
                      const EnclosureSettings& settings) {
  const auto start = std::chrono::steady_clock::now();
  ImpactDecision decision;
  const RoundedImpact impact = round_impact(problem);
  Faces faces(impact);
  for (const Attempt& attempt : kAttempts) {
    Reach reach(impact, faces, limits_of(settings, attempt, decision.made));
    const bool done = reach.run(
        [&](FaceCode code, const Piece& piece) { return meets(impact, event, code, piece); });
    decision.made += reach.made();
    if (done) {
      decision.answer = ImpactAnswer::never;
      describe(impact, reach, settings.largest_rounding, decision.proof);
      decision.proof.made = decision.made;
    }
    if (reach.met() == Reach::Met::certainly) decision.answer = ImpactAnswer::happens;
    if (decision.answer != ImpactAnswer::open || decision.made >= settings.budget) break;
  }
  decision.seconds = decision.proof.seconds = seconds_since(start);
  return decision;
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
  return is_within(held, enclosure) &&
         std::all_of(enclosure.impossible_modes.begin(), enclosure.impossible_modes.end(),
                     [&](std::uint64_t modes) {
                       return std::none_of(held.modes.begin(), held.modes.end(),
                                           [&](const EnclosedMode& m) { return m.modes == modes; });
                     });
}

}  // namespace carom::enclosure
