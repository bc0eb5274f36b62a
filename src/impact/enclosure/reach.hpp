#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "impact/enclosure/faces.hpp"
#include "impact/enclosure/sums.hpp"

namespace carom::enclosure {

using Points = std::vector<Vector>;

/// A polyhedron that no motion in its face leaves, cut to the face's closure.
struct Piece {
  std::vector<Vector> equations;  ///< of the uncut polyhedron
  std::vector<Vector> rows;       ///< likewise, >= 0
  Points vertices;                ///< of the cut one
  std::int64_t number = 0;        ///< in the order of making
  bool reached = false;           ///< every point is one that solutions come to, or close to
};

struct ReachLimits {
  double tolerance = 1e-9;       ///< of the largest contact speed before the impact
  std::int64_t budget = 100000;  ///< polyhedra made
  std::size_t pieces = 1;        ///< of one face; more are hulled
  bool tight = false;            ///< give up where the energy would have to bound polyhedra
  unsigned longest = 400;        ///< bits of a vertex with which no hull is made any more
};

/// Family of polyhedra, some in each face that is met, with the start among them, that no solution
/// of the inclusion leaves.
class Reach {
 public:
  Reach(const RoundedImpact& impact, const ReachLimits& limits);

  /// What a terminal polyhedron says to a question that must not be met.
  enum class Met : std::uint8_t { no, perhaps, certainly };
  using Question = std::function<Met(FaceCode, const Piece&)>;

  /// Goes on until nothing new is met; false where the budget was not enough, or a terminal
  /// polyhedron met the question.
  bool run(const Question& question = nullptr);
  /// `certainly`: where all that met it is reached.
  [[nodiscard]] Met met() const { return met_; }

  [[nodiscard]] const std::map<FaceCode, std::vector<Piece>>& family() const { return family_; }
  [[nodiscard]] Faces& faces() { return faces_; }
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
  static void hand_over(Faces& faces, const RoundedImpact& impact, const Points& points,
                        const Hand& hand);
  /// The sets of points of a piece that lie on common sub-faces of its face, and all.
  static std::vector<Points> parts(const Face& face, const Piece& piece);

  static bool holds(const Piece& piece, const Points& points);
  static bool holds(const Piece& piece, const Points& points, const std::vector<Rough>& rough);

 private:
  void add(FaceCode code, const Points& points, bool reached, const Question& question);
  [[nodiscard]] Piece closed(const Face& face, const Points& points);
  [[nodiscard]] std::vector<Vector> sides(const Face& face);
  void cut(const Face& face, Piece& piece);
  void widen(const Face& face, Piece& piece, const Points& points);
  [[nodiscard]] double slack() const;
  [[nodiscard]] double distance(const Piece& piece, const Points& points) const;

  const RoundedImpact& impact_;
  ReachLimits limits_;
  Faces faces_;
  std::map<FaceCode, std::vector<Piece>> family_;
  std::deque<std::pair<FaceCode, std::int64_t>> open_;
  std::int64_t made_ = 0;
  bool widened_ = false;
  double moved_ = 0.0;
  bool bounded_ = false;
  Met met_ = Met::no;
};

}  // namespace carom::enclosure
