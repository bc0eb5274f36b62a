#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "enclosure/faces.hpp"
#include "enclosure/rough_search.hpp"
#include "enclosure/sums.hpp"

namespace carom::enclosure {

/// A polyhedron that no motion in its face leaves, intersected with the face's closure.
struct Piece {
  std::vector<Vector> equations;  ///< of the polyhedron before the intersection
  std::vector<Vector> rows;       ///< likewise, each >= 0
  Points vertices;                ///< after the intersection
  Points from;                    ///< the generating points, if it has no rays
  std::vector<Rough> rough;       ///< doubles of the rows, then of the equations
  PointSet held;                  ///< points that are known to lie inside
  std::int64_t number = 0;        ///< in the order of construction
  bool reached = false;           ///< solutions come arbitrarily close to every point
};

struct ReachLimits {
  double tolerance = 1e-9;       ///< relative to the largest contact speed before the impact
  std::int64_t budget = 100000;  ///< largest number of polyhedra
  std::size_t pieces = 1;        ///< per face; further ones are merged by their convex hull
  bool tight = false;            ///< give up instead of bounding polyhedra by the energy
  unsigned longest = 400;        ///< vertices with more bits are not merged any more
  unsigned length = 1;           ///< RoundedImpact::length
  /// Of all polyhedra, vertices times squared words of the longest number: what hulls cost.
  std::int64_t work = std::int64_t{1} << 40;
};

using Family = std::map<FaceCode, std::vector<Piece>>;

/// Computes a family of polyhedra that contains the start and that no solution of the inclusion
/// leaves: an invariant (docs/explanation/enclosure.md).
class Reach {
 public:
  /// Number of polyhedra after which they are intersected with the energy bound, if not tight.
  static constexpr std::int64_t kUnbounded = 192;

  Reach(const RoundedImpact& impact, Faces& faces, const ReachLimits& limits);

  using Question = std::function<Met(FaceCode, const Piece&)>;

  /// Searches until no new part appears. Returns false if the budget was not enough, or if a
  /// terminal polyhedron met the question.
  bool run(const Question& question = nullptr);
  /// Sets another budget; `run` continues the search.
  void extend(std::int64_t budget) { limits_.budget = budget; }
  /// The same with a plan, the polyhedra that are expected at the end: each is computed once, when
  /// all its parts are known. Also returns false if the plan lacks a polyhedron. before: polyhedra
  /// of a search that did not end, some of which may be used again.
  bool run(const std::vector<RoughPiece>& planned, const Family& before);
  /// Whether a polyhedron met the question; `certainly` if all that did are reached.
  [[nodiscard]] Met met() const { return met_; }

  [[nodiscard]] const Family& family() const { return family_; }
  [[nodiscard]] std::int64_t made() const { return made_; }
  /// Whether no polyhedron was moved outward.
  [[nodiscard]] bool exact() const { return !widened_; }
  /// The largest outward move, in units of RoundedImpact::unit.
  [[nodiscard]] double moved() const { return moved_; }
  /// Whether some polyhedra were bounded by the energy.
  [[nodiscard]] bool bounded() const { return bounded_; }

  using Hand = std::function<void(FaceCode, const Points&)>;
  /// Calls hand(code, part) for every face that can be entered from `points`, which lie in the
  /// closure of one face, and for terminal faces that contain some of them.
  static void propagate(Faces& faces, const RoundedImpact& impact, const Points& points,
                        const Hand& hand);

  /// Whether all points are in a piece; they are then added to its `held`.
  static bool holds(Piece& piece, const Points& points);

 private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
  struct Target {
    RoughPiece planned;
    Points due;         ///< points that it must contain
    std::int64_t made;  ///< number of its piece, or kNone
  };

  void plan(FaceCode code, const Points& points);
  void make(Target& target);
  [[nodiscard]] const Piece* made_before(FaceCode code, const Points& points) const;
  void add(FaceCode code, const Points& points, bool reached, const Question& question);
  [[nodiscard]] Piece closed(FaceCode code, const Points& points);
  void count(Piece& piece);
  [[nodiscard]] bool is_spent(std::int64_t most) const;
  [[nodiscard]] const std::vector<Measured>& sides(FaceCode code);
  void cut(FaceCode code, Piece& piece);
  void widen(FaceCode code, Piece& piece, const Points& points);
  [[nodiscard]] double slack() const;
  [[nodiscard]] static double distance(const Piece& piece, const Points& points);

  const RoundedImpact& impact_;
  ReachLimits limits_;
  Faces& faces_;
  Family family_;
  std::deque<std::pair<FaceCode, std::int64_t>> open_;
  std::vector<Target> targets_;
  std::map<FaceCode, std::vector<std::size_t>> targets_of_;
  std::set<std::size_t> due_;
  const Family* before_ = nullptr;
  std::int64_t reused_ = 0;  ///< number of pieces of `before_` used again, negative
  bool lost_ = false;
  std::int64_t made_ = 0;
  std::int64_t work_ = 0;
  bool widened_ = false;
  double moved_ = 0.0;
  bool bounded_ = false;
  bool endless_ = false;  ///< a store is unbounded in a polyhedron
  std::vector<Measured> bounded_sides_;
  Met met_ = Met::no;
};

}  // namespace carom::enclosure
