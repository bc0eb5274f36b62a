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

/// A polyhedron that no motion in its face leaves, cut to the face's closure.
struct Piece {
  std::vector<Vector> equations;  ///< of the uncut polyhedron
  std::vector<Vector> rows;       ///< likewise, >= 0
  Points vertices;                ///< of the cut one
  Points from;                    ///< what it was made of, if only from points
  std::vector<Rough> rough;       ///< of the rows, then of the equations
  PointSet held;                  ///< points that are known to be in it
  std::int64_t number = 0;        ///< in the order of making
  bool reached = false;           ///< every point is one that solutions come to, or close to
};

struct ReachLimits {
  double tolerance = 1e-9;       ///< of the largest contact speed before the impact
  std::int64_t budget = 100000;  ///< polyhedra made
  std::size_t pieces = 1;        ///< of one face; more are hulled
  bool tight = false;            ///< give up where the energy would have to bound polyhedra
  unsigned longest = 400;        ///< bits of a vertex with which no hull is made any more
  unsigned length = 1;           ///< RoundedImpact::length
};

using Family = std::map<FaceCode, std::vector<Piece>>;

/// Family of polyhedra, some in each face that is met, with the start among them, that no solution
/// of the inclusion leaves.
class Reach {
 public:
  /// Polyhedra made until what the energy forbids is cut off, in searches that are not tight.
  static constexpr std::int64_t kUnbounded = 192;

  Reach(const RoundedImpact& impact, Faces& faces, const ReachLimits& limits);

  using Question = std::function<Met(FaceCode, const Piece&)>;

  /// Goes on until nothing new is met; false where the budget was not enough, or a terminal
  /// polyhedron met the question.
  bool run(const Question& question = nullptr);
  /// Another budget, with which `run` goes on.
  void extend(std::int64_t budget) { limits_.budget = budget; }
  /// The same with the polyhedra that are expected in the end: each is made once all its parts are
  /// there, where there is such an order. False as well where others are met. before: those of a
  /// search that did not end, of which some may be taken over.
  bool run(const std::vector<RoughPiece>& planned, const Family& before);
  /// `certainly`: where all that met it is reached.
  [[nodiscard]] Met met() const { return met_; }

  [[nodiscard]] const Family& family() const { return family_; }
  [[nodiscard]] std::int64_t made() const { return made_; }
  /// Whether no polyhedron was moved outward beyond the hulls.
  [[nodiscard]] bool exact() const { return !widened_; }
  /// By how much the farthest of them was moved, in units of RoundedImpact::unit.
  [[nodiscard]] double moved() const { return moved_; }
  /// Whether the energy had to bound some of them.
  [[nodiscard]] bool bounded() const { return bounded_; }

  using Hand = std::function<void(FaceCode, const Points&)>;
  /// hand(code, part) for every face that takes up parts of `points`, all of which lie in the
  /// closure of one face: those that a motion enters from there at once, and terminal ones.
  static void propagate(Faces& faces, const RoundedImpact& impact, const Points& points,
                        const Hand& hand);

  /// Whether all points are in a piece, which then knows them.
  static bool holds(Piece& piece, const Points& points);

 private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
  struct Target {
    RoughPiece planned;
    Points due;         ///< to be held by it
    std::int64_t made;  ///< number of its piece, or kNone
  };

  void plan(FaceCode code, const Points& points);
  void make(Target& target);
  [[nodiscard]] const Piece* made_before(FaceCode code, const Points& points) const;
  void add(FaceCode code, const Points& points, bool reached, const Question& question);
  [[nodiscard]] Piece closed(FaceCode code, const Points& points);
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
  std::int64_t reused_ = 0;  ///< as a negative number
  bool lost_ = false;
  std::int64_t made_ = 0;
  bool widened_ = false;
  double moved_ = 0.0;
  bool bounded_ = false;
  bool endless_ = false;  ///< stores grow without end in a polyhedron
  std::vector<Measured> bounded_sides_;
  Met met_ = Met::no;
};

}  // namespace carom::enclosure
