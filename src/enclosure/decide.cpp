#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "enclosure/attempts.hpp"
#include "enclosure/enclose.hpp"
#include "enclosure/event.hpp"
#include "enclosure/summary.hpp"

namespace carom::enclosure {

namespace {

constexpr double kTrust = 1e-13;      // of the terms of a sum of rounded velocities, ...
constexpr double kTrustRough = 1e-9;  // ... and of those of a rough search

/// The largest value of the event's direction among velocities, beyond its bound or not.
class Beyond {
 public:
  Beyond(const ImpactEvent& event, double trust) : event_(event), trust_(trust) {}

  void add(const std::vector<double>& u) {
    double value = 0.0, size = std::abs(event_.bound);
    for (std::size_t k = 0; k < u.size(); ++k) {
      value += event_.direction[k] * u[k];
      size += std::abs(event_.direction[k] * u[k]);
    }
    if (value - trust_ * size > event_.bound) met_ = Met::certainly;
    if (met_ == Met::no && value + trust_ * size > event_.bound) met_ = Met::perhaps;
  }
  [[nodiscard]] Met met() const { return met_; }

 private:
  const ImpactEvent& event_;
  double trust_;
  Met met_ = Met::no;
};

/// Contact velocities at points of a rough search.
class RoughVelocities {
 public:
  explicit RoughVelocities(const RoundedImpact& impact)
      : contacts_(impact.contacts), row_(rough(impact.row)) {
    for (std::size_t k = 0; k < row_.size(); ++k) {
      Integer largest = 0;  // which is 1 in the tuple
      for (const Integer& x : impact.row[k]) largest = std::max(largest, Integer(abs(x)));
      scale_.push_back(impact.unit * quotient(largest, impact.scale[k]));
    }
  }

  [[nodiscard]] std::vector<double> at(FaceCode code, const Tuple& point) const {
    std::vector<double> u;
    for (std::size_t k = 0; k < row_.size(); ++k)
      u.push_back(scale_[k] * dot(row_[k], point, false));
    make_zeros(code, contacts_, u);
    return u;
  }

 private:
  int contacts_;
  Tuples row_;
  std::vector<double> scale_;
};

/// One problem's question: exact searches that stop where it is met, unless rough searches say
/// that they would stop, or end, without a result.
class Deciding {
 public:
  Deciding(RoundedImpact impact, const ImpactEvent& event, const EnclosureSettings& settings)
      : impact_(std::move(impact)),
        event_(event),
        settings_(settings),
        faces_(impact_),
        velocities_(impact_),
        first_(impact_, faces_, limits_of(settings, kSmallAttempt, 0, impact_.length)) {}

  ImpactDecision take() {
    go_on(first_, kSmallAttempt.most);
    RoughSearch rough(impact_, faces_);
    for (const Attempt& attempt : kAttempts) {
      if (is_over()) break;
      if (!is_due(attempt, settings_, impact_.contacts, decision_.made)) continue;
      if (!attempt.last) {
        try_out(attempt, rough);
      } else {
        search(attempt);
      }
    }
    return std::move(decision_);
  }

 private:
  [[nodiscard]] bool is_over() const {
    return decision_.answer != ImpactAnswer::open || decision_.made >= settings_.budget;
  }

  /// Whether a terminal polyhedron holds the event, in doubles that are not trusted to the last
  /// digits.
  [[nodiscard]] Met meets(FaceCode code, const Piece& piece) const {
    if (!has_modes(modes_of(code, impact_.contacts), event_)) return Met::no;
    if (event_.direction.empty()) return Met::certainly;
    Beyond beyond(event_, kTrust);
    for (const Point* vertex : piece.vertices) {
      beyond.add(velocities_of(impact_, code, vertex->exact));
    }
    return beyond.met();
  }
  [[nodiscard]] Met rough_meets(FaceCode code, const RoughPiece& piece) const {
    if (!has_modes(modes_of(code, impact_.contacts), event_)) return Met::no;
    if (event_.direction.empty()) return Met::certainly;
    Beyond beyond(event_, kTrustRough);
    for (const RoughPoint& vertex : piece.vertices) beyond.add(velocities_.at(code, vertex.at));
    return beyond.met();
  }

  void conclude(const Reach& reach, bool ended, std::int64_t before) {
    decision_.made += reach.made() - before;
    if (ended) {
      decision_.answer = ImpactAnswer::never;
      describe(impact_, reach, settings_.largest_rounding, decision_.proof);
      decision_.proof.made = decision_.made;
    } else if (reach.met() == Met::certainly) {
      decision_.answer = ImpactAnswer::happens;
    }
  }

  void go_on(Reach& reach, std::int64_t most) {
    const std::int64_t before = reach.made();
    reach.extend(std::min(before + settings_.budget - decision_.made, most));
    conclude(reach, reach.run([&](FaceCode code, const Piece& p) { return meets(code, p); }),
             before);
  }

  void search(const Attempt& attempt) {
    if (&attempt == kAttempts) return go_on(first_, attempt.most);
    Reach reach(impact_, faces_, limits_of(settings_, attempt, decision_.made, impact_.length));
    go_on(reach, attempt.most);
  }

  /// `never` where a planned search ends with what the rough search expects.
  void follow(const Attempt& attempt, const std::vector<RoughPiece>& plan) {
    Reach reach(impact_, faces_, limits_of(settings_, attempt, decision_.made, impact_.length));
    bool ended = reach.run(plan, first_.family());
    for (const auto& [code, pieces] : reach.family()) {
      if (!faces_.face(code).terminal) continue;
      for (const Piece& piece : pieces) ended = ended && meets(code, piece) == Met::no;
    }
    conclude(reach, ended, 0);
  }

  void try_out(const Attempt& attempt, RoughSearch& rough) {
    const bool ends =
        rough.run(rough_limits_of(settings_, attempt, impact_.contacts),
                  [&](FaceCode code, const RoughPiece& piece) { return rough_meets(code, piece); });
    if (ends) {
      const std::vector<RoughPiece> plan = rough.plan();
      if (&attempt != kAttempts || saves(plan, rough.made(), decision_.made)) follow(attempt, plan);
    } else if (rough.met() != Met::certainly && !rough.doubtful()) {
      return;  // left without an answer, or endless
    }
    if (!is_over()) search(attempt);
  }

  RoundedImpact impact_;
  const ImpactEvent& event_;
  const EnclosureSettings& settings_;
  Faces faces_;
  RoughVelocities velocities_;
  Reach first_;
  ImpactDecision decision_;
};

}  // namespace

ImpactDecision decide(const ImpactProblem& problem, const ImpactEvent& event,
                      const EnclosureSettings& settings) {
  const auto start = std::chrono::steady_clock::now();
  ImpactDecision decision;
  std::optional<RoundedImpact> impact = followed_impact(problem, settings);
  if (impact) decision = Deciding(std::move(*impact), event, settings).take();
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  decision.seconds = decision.proof.seconds = time.count();
  return decision;
}

}  // namespace carom::enclosure
