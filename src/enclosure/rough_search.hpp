#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "enclosure/faces.hpp"
#include "enclosure/rough_cone.hpp"

namespace carom::enclosure {

/// A point in doubles, and what of its contact velocities is not nearly 0.
struct RoughPoint {
  Tuple at;
  Signs signs;
};
using RoughPoints = std::vector<RoughPoint>;
inline const Signs& signs_of(const RoughPoint& point) { return point.signs; }

/// A polyhedron that a search is expected to end with.
struct RoughPiece {
  FaceCode code = 0;
  Tuples equations, rows;  ///< as those of a Piece
  RoughPoints vertices;
  std::int64_t number = 0;
  bool few = false;      ///< numbers in a tuple, as `dot` has it
  bool reached = false;  ///< as that of a Piece

  /// By how much points lie outside, in units of RoundedImpact::unit.
  [[nodiscard]] double distance(const Tuple& point) const;
  template <class List>
  [[nodiscard]] double distance(const List& points) const {
    double most = 0.0;
    for (const auto& point : points) most = std::max(most, distance(tuple_of(point)));
    return most;
  }

 private:
  static const Tuple& tuple_of(const RoughPoint& point) { return point.at; }
  static const Tuple& tuple_of(const Point* point) { return point->tuple; }
};

/// What a terminal polyhedron says to a question that must not be met.
enum class Met : std::uint8_t { no, perhaps, certainly };

struct RoughLimits {
  double tolerance;     ///< as those of ReachLimits
  std::int64_t budget;  ///< likewise
  std::size_t pieces;   ///< likewise
  bool many;            ///< as of rough_hull
};

/// The search for an invariant in doubles: whether it ends, which polyhedra are left then, and in
/// which order parts go from one to the next. It proves nothing; it costs less than half of
/// exact arithmetic.
class RoughSearch {
 public:
  RoughSearch(const RoundedImpact& impact, Faces& faces);

  using Question = std::function<Met(FaceCode, const RoughPiece&)>;
  /// Whether nothing new was met in the end, nor the question. Each call begins anew.
  bool run(const RoughLimits& limits, const Question& question = nullptr);
  /// As Reach::met; no statement where what met it is `doubtful`: too close for doubles.
  [[nodiscard]] Met met() const { return met_; }
  [[nodiscard]] bool doubtful() const { return doubtful_; }
  /// The polyhedra of the last run, each after those that it has its parts from where there is
  /// such an order.
  [[nodiscard]] std::vector<RoughPiece> plan();
  [[nodiscard]] std::int64_t made() const { return made_; }

 private:
  struct RoughFace {
    Tuples zero, side, motion;
    const Face* exact;
  };

  const RoughFace& face(FaceCode code);
  void add(FaceCode code, const RoughPoints& points, bool reached, const Question& question);
  [[nodiscard]] bool close(const RoughFace& face, const RoughPoints& points, RoughPiece& piece);
  void widen(const RoughFace& face, const RoughPoints& points, RoughPiece& piece);
  [[nodiscard]] RoughPoint point(const Tuple& at) const;
  [[nodiscard]] RoughPoints points(const Tuples& all) const;
  template <class Hand>
  void pass_on(const RoughPoints& points, const Hand& hand);
  [[nodiscard]] double slack() const;

  [[nodiscard]] bool few() const { return impact_.size() <= kFewNumbers; }

  const RoundedImpact& impact_;
  Faces& faces_;
  Tuples row_;
  RoughLimits limits_{};
  std::map<FaceCode, RoughFace> rough_;
  std::map<FaceCode, std::vector<RoughPiece>> family_;
  std::deque<std::pair<FaceCode, std::int64_t>> open_;
  std::int64_t made_ = 0;
  bool lost_ = false;
  Met met_ = Met::no;
  bool doubtful_ = false;
};

}  // namespace carom::enclosure
