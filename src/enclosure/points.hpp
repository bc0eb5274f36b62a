#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "enclosure/rough_cone.hpp"
#include "enclosure/rounded_impact.hpp"
#include "enclosure/sums.hpp"

namespace carom::enclosure {

/// Signs of rows, bit k: RoundedImpact::signed_row.
struct Signs {
  std::uint32_t above = 0, below = 0;

  [[nodiscard]] bool zero(int k) const { return ((above | below) >> k & 1U) == 0; }
  [[nodiscard]] int of(int k) const {
    return static_cast<int>(above >> k & 1U) - static_cast<int>(below >> k & 1U);
  }
};

/// A point that polyhedra share, with what is asked of it again and again.
struct Point : Measured {
  std::size_t number;  ///< in the order of appearance
  Signs signs;
  Tuple tuple;    ///< in doubles
  unsigned bits;  ///< of its longest number

  Point(Vector v, std::size_t index);
};
/// Of a table's, which outlives them.
using Points = std::vector<const Point*>;

/// Every point once.
class PointTable {
 public:
  explicit PointTable(const RoundedImpact& impact);

  const Point* add(Vector primitive);
  /// Where the line between two points of different signs of u_k has none.
  const Point* crossing(int k, const Point& p, const Point& q);

 private:
  std::vector<Measured> row_;
  std::deque<Point> points_;
  std::unordered_multimap<std::size_t, const Point*> known_;
};

/// A set of points by their numbers.
class PointSet {
 public:
  [[nodiscard]] bool has(const Point& point) const {
    const std::size_t word = point.number / 64;
    return word < words_.size() && (words_[word] >> (point.number % 64) & 1) != 0;
  }
  void add(const Point& point) {
    const std::size_t word = point.number / 64;
    if (word >= words_.size()) words_.resize(word + 1);
    words_[word] |= std::uint64_t{1} << (point.number % 64);
  }
  void add(const Points& points) {
    for (const Point* point : points) add(*point);
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace carom::enclosure
