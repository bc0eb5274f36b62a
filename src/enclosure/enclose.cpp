#include "enclosure/enclose.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "enclosure/attempts.hpp"
#include "enclosure/impulse_stores.hpp"
#include "enclosure/invariant.hpp"
#include "enclosure/piecewise_bound.hpp"
#include "enclosure/propagate.hpp"
#include "enclosure/summary.hpp"

namespace carom::enclosure {

namespace {

/// Vertices of a polyhedron cut to its face's closure; false where that has none or no end.
bool find_vertices(const RoundedImpact& impact, const Face& face, bool bounded, PointTable& points,
                   Piece& piece) {
  std::vector<Vector> equations = piece.equations, rows = piece.rows;
  equations.insert(equations.end(), face.zero.begin(), face.zero.end());
  rows.insert(rows.end(), face.side.begin(), face.side.end());
  if (bounded) rows.insert(rows.end(), impact.energy.begin(), impact.energy.end());
  rows.emplace_back(impact.size());
  rows.back()[0] = 1;
  Generators all = generators(impact.size(), equations, rows);
  if (!all.lines.empty() || all.rays.empty()) return false;
  for (Vector& ray : all.rays) piece.vertices.push_back(points.add(std::move(ray)));
  return std::all_of(piece.vertices.begin(), piece.vertices.end(),
                     [](const Point* vertex) { return vertex->exact[0] > 0; });
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

/// faces: of the impact; the family gets points of theirs.
bool is_inductive(const RoundedImpact& impact, bool bounded, Faces& faces, Family& family) {
  for (auto& [code, pieces] : family) {
    const Face& face = faces.face(code);
    if (!keeps_guards(impact, face)) return false;
    for (Piece& piece : pieces) {
      if (!keeps_motion(face, piece) ||
          !find_vertices(impact, face, bounded, faces.points(), piece)) {
        return false;
      }
    }
  }
  bool held = true;
  const Reach::Hand hand = [&](FaceCode code, const Points& points) {
    const auto found = family.find(code);
    held = held && found != family.end() &&
           std::any_of(found->second.begin(), found->second.end(),
                       [&](Piece& piece) { return Reach::holds(piece, points); });
  };
  Reach::propagate(faces, impact, {faces.points().add(impact.start)}, hand);
  for (const auto& [code, pieces] : family) {
    const Face& face = faces.face(code);
    if (face.terminal) continue;
    for (const Piece& piece : pieces) {
      for (const Points& points : parts(face, piece.vertices)) {
        Reach::propagate(faces, impact, points, hand);
        if (!held) return false;
      }
    }
  }
  return held;
}

/// Whether a finished family says more than what is known.
bool closer(const Reach& reach, const RoundedImpact& impact, const ImpactEnclosure& enclosure) {
  return enclosure.status == EnclosureStatus::budget ||
         reach.moved() * impact.unit < enclosure.rounding;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The searches for one problem's set: exact ones, where rough ones do not say that they would not
/// end.
class Enclosing {
 public:
  Enclosing(RoundedImpact impact, const EnclosureSettings& settings)
      : impact_(std::move(impact)),
        settings_(settings),
        faces_(impact_),
        first_(impact_, faces_, limits_of(settings, kSmallAttempt, 0, impact_.length)) {
    constexpr std::int64_t kMostInLongNumbers = 64;  // with stores: more take seconds to prove
    if (!impact_.stores.empty() && impact_.length > 1) {
      settings_.budget = std::min(settings_.budget, kMostInLongNumbers);
    }
  }

  ImpactEnclosure take() {
    RoughSearch rough(impact_, faces_);
    done_ = accept(first_.run(), first_);
    made_ = first_.made();
    for (const Attempt& attempt : kAttempts) {
      if (done_ || made_ >= settings_.budget || !is_worthwhile(attempt)) break;
      if (!is_due(attempt, settings_, impact_.contacts, made_)) continue;
      if (!attempt.last) {
        try_out(attempt, rough);
      } else if (enclosure_.status == EnclosureStatus::budget) {
        search(attempt, nullptr);
      }
    }
    enclosure_.made = made_;
    return std::move(enclosure_);
  }

  /// Whether something is known of guards where only the faces that the enclosure has are met.
  bool find_guards(bool impulses, RoundedImpact& impact) {
    std::vector<const Face*> faces;
    for (const FaceCode code : met_) faces.push_back(&faces_.face(code));
    return !impact.stores.empty() && !met_.empty() &&
           enclosure::find_guards(faces, impulses, impact);
  }
  /// Whether they hold in them.
  bool keeps_guards() {
    return std::all_of(met_.begin(), met_.end(), [&](FaceCode code) {
      return enclosure::keeps_guards(impact_, faces_.face(code));
    });
  }

 private:
  /// Stores that polyhedra do not follow to an end are bounded more closely by forms than by
  /// polyhedra that the energy cuts off.
  [[nodiscard]] bool is_worthwhile(const Attempt& attempt) const {
    return impact_.stores.empty() ||
           (!attempt.last && (impact_.length == 1 || &attempt == kAttempts));
  }

  bool accept(bool ended, const Reach& reach) {
    if (ended && closer(reach, impact_, enclosure_)) {
      describe(impact_, reach, settings_.largest_rounding, enclosure_);
      met_.clear();
      for (const auto& [code, pieces] : reach.family()) {
        if (!pieces.empty()) met_.push_back(code);
      }
    }
    if (enclosure_.status == EnclosureStatus::budget) {
      enclosure_.faces = static_cast<std::int64_t>(reach.family().size());
    }
    return ended && (enclosure_.status == EnclosureStatus::enclosed || !impact_.stores.empty());
  }

  /// Whether the set is enclosed afterwards; plan: null for none.
  bool search(const Attempt& attempt, const std::vector<RoughPiece>* plan) {
    if (plan == nullptr && &attempt == kAttempts) {  // the small search goes on
      const std::int64_t before = first_.made();
      first_.extend(std::min(before + settings_.budget - made_, attempt.most));
      const bool enclosed = accept(first_.run(), first_);
      made_ += first_.made() - before;
      return enclosed;
    }
    Reach reach(impact_, faces_, limits_of(settings_, attempt, made_, impact_.length));
    const bool ended = plan != nullptr ? reach.run(*plan, first_.family()) : reach.run();
    made_ += reach.made();
    return accept(ended, reach);
  }

  void try_out(const Attempt& attempt, RoughSearch& rough) {
    const bool ends = rough.run(rough_limits_of(settings_, attempt, impact_.contacts));
    if (!ends) return;
    const std::vector<RoughPiece> plan = rough.plan();
    if (&attempt != kAttempts || saves(plan, rough.made(), made_)) done_ = search(attempt, &plan);
    if (!done_ && made_ < settings_.budget) done_ = search(attempt, nullptr);
  }

  RoundedImpact impact_;
  EnclosureSettings settings_;
  Faces faces_;
  Reach first_;
  ImpactEnclosure enclosure_;
  std::vector<FaceCode> met_;
  std::int64_t made_ = 0;
  bool done_ = false;
};

double sum_of_ranges(const ImpactEnclosure& enclosure) {
  double sum = 0.0;
  for (std::size_t i = 0; i < enclosure.normal_velocity_min.size(); ++i) {
    sum += enclosure.normal_velocity_max[i] - enclosure.normal_velocity_min[i];
  }
  return sum;
}

/// With what the faces that are met say of guards, if that can be had: of both kinds of guards, as
/// more polyhedra are merged with some than with others.
ImpactEnclosure enclose_rounded(const RoundedImpact& impact, const EnclosureSettings& settings) {
  Enclosing all(impact, settings);
  ImpactEnclosure enclosure = all.take();
  if (impact.stores.empty()) return enclosure;
  std::int64_t made = enclosure.made;
  for (const bool impulses : {true, false}) {
    RoundedImpact guarded = impact;
    if (!all.find_guards(impulses, guarded)) continue;
    Enclosing enclosing(std::move(guarded), settings);
    ImpactEnclosure closer = enclosing.take();
    made += closer.made;
    const bool known = closer.status == EnclosureStatus::outer && enclosing.keeps_guards();
    if (known && sum_of_ranges(closer) < sum_of_ranges(enclosure)) enclosure = std::move(closer);
  }
  enclosure.made = made;
  return enclosure;
}

}  // namespace

void describe(const RoundedImpact& impact, const Reach& reach, double largest_rounding,
              ImpactEnclosure& enclosure) {
  enclosure.faces = static_cast<std::int64_t>(reach.family().size());
  enclosure.data_rounding = impact.rounding;
  enclosure.exact = reach.exact() && impact.stores.empty();
  enclosure.rounding = reach.moved() * impact.unit;
  summarise(impact, reach.family(), enclosure);
  enclosure.invariant = text_of(impact, reach.family());
  double extent = 0.0;
  for (std::size_t i = 0; i < enclosure.normal_velocity_min.size(); ++i) {
    extent = std::max({extent, enclosure.normal_velocity_max[i] - enclosure.normal_velocity_min[i],
                       enclosure.tangent_velocity_max[i] - enclosure.tangent_velocity_min[i]});
  }
  const bool close = enclosure.rounding <= largest_rounding * extent;
  const bool outer = reach.bounded() || !close || !impact.stores.empty();
  enclosure.status = outer ? EnclosureStatus::outer : EnclosureStatus::enclosed;
}

ImpactEnclosure enclose(const ImpactProblem& problem, const EnclosureSettings& settings) {
  const auto start = std::chrono::steady_clock::now();
  ImpactEnclosure enclosure;
  std::optional<RoundedImpact> impact = followed_impact(problem, settings);
  if (impact) enclosure = enclose_rounded(*impact, settings);
  if (enclosure.status == EnclosureStatus::budget) {
    set_unknown(problem, enclosure);
  }
  enclosure.law = settings.law;
  if (enclosure.status == EnclosureStatus::outer) tighten(problem, settings, nullptr, enclosure);
  enclosure.seconds = seconds_since(start);
  return enclosure;
}

std::optional<RoundedImpact> followed_impact(const ImpactProblem& problem,
                                             const EnclosureSettings& settings) {
  std::optional<RoundedImpact> impact =
      round_impact(problem, settings.exact_data, impulse_stores(problem, settings.law));
  if (impact && !complete_stores(problem, settings.law, *impact)) return std::nullopt;
  return impact;
}

std::optional<ImpactEnclosure> proven(const ImpactProblem& problem, RestitutionLaw law, bool outer,
                                      const std::string& text) {
  const std::size_t planes = planes_at(text);
  std::optional<Invariant> invariant = read_invariant(text.substr(0, planes));
  if (!invariant) return std::nullopt;
  if (invariant->impact.stores != impulse_stores(problem, law)) return std::nullopt;
  const std::optional<double> rounding = rounding_between(invariant->impact, problem);
  if (!rounding || !complete_stores(problem, law, invariant->impact)) return std::nullopt;
  Faces faces(invariant->impact);
  const bool bounded = outer && invariant->impact.stores.empty();
  if (!outer && !invariant->impact.stores.empty()) return std::nullopt;
  if (!is_inductive(invariant->impact, bounded, faces, invariant->family)) return std::nullopt;
  ImpactEnclosure held;
  held.faces = static_cast<std::int64_t>(invariant->family.size());
  held.data_rounding = *rounding;
  held.law = law;
  summarise(invariant->impact, invariant->family, held);
  if (!tighten_by(problem, text.substr(planes), held)) return std::nullopt;
  return held;
}

bool proves(const ImpactProblem& problem, const ImpactEnclosure& enclosure) {
  const bool outer = enclosure.status == EnclosureStatus::outer;
  if (!outer && enclosure.status != EnclosureStatus::enclosed) return false;
  const std::optional<ImpactEnclosure> held =
      proven(problem, enclosure.law, outer, enclosure.invariant);
  return held && is_within(*held, enclosure) &&
         std::all_of(enclosure.impossible_modes.begin(), enclosure.impossible_modes.end(),
                     [&](std::uint64_t modes) {
                       return std::none_of(held->modes.begin(), held->modes.end(),
                                           [&](const EnclosedMode& m) { return m.modes == modes; });
                     });
}

}  // namespace carom::enclosure
