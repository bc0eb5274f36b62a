#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "impact/enclosure/faces.hpp"
#include "impact/enclosure/rough_cone.hpp"

namespace carom::enclosure {

/// A polyhedron that a search is expected to end with.
struct DraftPiece {
  FaceCode code = 0;
  Tuples equations, rows;  ///< as those of a Piece
  Tuples vertices;
  std::int64_t number = 0;
  bool reached = false;  ///< as that of a Piece

  /// By how much points lie outside, in units of RoundedImpact::unit.
  [[nodiscard]] double distance(const Tuples& points) const;
};

/// What a terminal polyhedron says to a question that must not be met.
enum class Met : std::uint8_t { no, perhaps, certainly };

struct DraftLimits {
  double tolerance;     ///< as those of ReachLimits
  std::int64_t budget;  ///< likewise
  std::size_t pieces;   ///< likewise
};

/// The search for an invariant in doubles: whether it ends, which polyhedra are left then, and in
/// which order parts go from one to the next. It proves nothing; it costs less than half of
/// exact arithmetic.
class Draft {
 public:
  Draft(const RoundedImpact& impact, Faces& faces);

  using Question = std::function<Met(FaceCode, const DraftPiece&)>;
  /// Whether nothing new was met in the end, nor the question. Each call begins anew.
  bool run(const DraftLimits& limits, const Question& question = nullptr);
  /// As Reach::met; no statement where what met it is `doubtful`: too close for doubles.
  [[nodiscard]] Met met() const { return met_; }
  [[nodiscard]] bool doubtful() const { return doubtful_; }
  /// Whether it was given up before its budget was spent: more rows than doubles are trusted with.
  [[nodiscard]] bool lost() const { return lost_; }
  /// The polyhedra of the last run, each behind those that it has its parts from where there is
  /// such an order.
  [[nodiscard]] std::vector<DraftPiece> plan();
  [[nodiscard]] std::int64_t made() const { return made_; }

 private:
  struct RoughFace {
    Tuples zero, side, motion;
    bool terminal = true;
  };

  const RoughFace& face(FaceCode code);
  void add(FaceCode code, const Tuples& points, bool reached, const Question& question);
  [[nodiscard]] bool close(const RoughFace& face, const Tuples& points, DraftPiece& piece);
  void widen(const RoughFace& face, const Tuples& points, DraftPiece& piece);
  [[nodiscard]] double slack() const;

  const RoundedImpact& impact_;
  Faces& faces_;
  Tuples row_;
  Tuple start_;
  DraftLimits limits_{};
  std::map<FaceCode, RoughFace> rough_;
  std::map<FaceCode, std::vector<DraftPiece>> family_;
  std::deque<std::pair<FaceCode, std::int64_t>> open_;
  std::int64_t made_ = 0;
  bool lost_ = false;
  Met met_ = Met::no;
  bool doubtful_ = false;
};

}  // namespace carom::enclosure
