#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>
#include <carom/types/posture.hpp>

/// Intersection of strips in the plane.
namespace carom::kernels {

inline constexpr int kMaxStripLines = 2 * kMaxWrenchVertices;
/// A region that reaches further than this many times the strips' own size counts as unbounded.
inline constexpr double kStripBox = 1e8;
/// Points closer than this share of the size are one.
inline constexpr double kSamePoint = 1e-13;

/// Clips a large square by the half-planes of the strips in turn (Sutherland and Hodgman), and
/// remembers which line each side lies on, so that vertices are crossings of lines, not of sides.
class StripPolygon {
  static constexpr int kCorners = kMaxStripLines + 8;
  struct Line {
    double x, y, bound;  ///< x X + y Y <= bound
  };
  struct Corner {
    double x, y;
    Line side;  ///< line of the side that starts here
  };

 public:
  /// strips: normal (2), lower, upper of each; ends may be infinite.
  CAROM_HOST_DEVICE StripPolygon(const double* strips, int count) {
    double size = 0.0;
    for (int s = 0; s < count; ++s) {
      for (int e = 2; e < 4; ++e) {
        const double end = magnitude(strips[4 * s + e]);
        if (end < kInfinity) size = larger(size, end);
      }
    }
    if (!(size > 0.0)) size = 1.0;
    tolerance_ = kSamePoint * size;
    const double box = kStripBox * size;
    const double sign[4][2] = {{0.0, -1.0}, {1.0, 0.0}, {0.0, 1.0}, {-1.0, 0.0}};
    const double corner[4][2] = {{-1.0, -1.0}, {1.0, -1.0}, {1.0, 1.0}, {-1.0, 1.0}};
    for (int i = 0; i < 4; ++i) {
      corners_[i] = {corner[i][0] * box, corner[i][1] * box, {sign[i][0], sign[i][1], box}};
    }
    count_ = 4;
    for (int s = 0; s < count && count_ > 0; ++s) {
      const double* strip = strips + 4 * s;
      if (strip[3] < kInfinity) clip({strip[0], strip[1], strip[3]});
      if (strip[2] > -kInfinity && count_ > 0) clip({-strip[0], -strip[1], -strip[2]});
    }
    bounded_ = true;
    for (int i = 0; i < count_; ++i) {
      const double reach = larger(magnitude(corners_[i].x), magnitude(corners_[i].y));
      bounded_ = bounded_ && reach < 0.5 * box;
    }
    merge();
  }

  [[nodiscard]] CAROM_INLINE bool bounded() const { return bounded_; }
  /// 0: empty.
  [[nodiscard]] CAROM_INLINE int count() const { return count_; }
  [[nodiscard]] CAROM_INLINE double x(int i) const { return corners_[i].x; }
  [[nodiscard]] CAROM_INLINE double y(int i) const { return corners_[i].y; }

 private:
  CAROM_INLINE double excess(const Line& line, const Corner& corner) const {
    return fused(line.x, corner.x, line.y * corner.y) - line.bound;
  }

  /// Where the side from `a` to `b` meets `line`; ea, eb: excess of the two.
  CAROM_INLINE Corner crossing(const Corner& a, const Corner& b, double ea, double eb,
                               const Line& line) const {
    const Line& side = a.side;
    const double cross = fused(side.x, line.y, -(side.y * line.x));
    Corner corner = a;
    if (magnitude(cross) > 1e-9) {
      corner.x = fused(side.bound, line.y, -(side.y * line.bound)) / cross;
      corner.y = fused(side.x, line.bound, -(side.bound * line.x)) / cross;
    } else {
      const double share = ea / (ea - eb);
      corner.x = fused(share, b.x - a.x, a.x);
      corner.y = fused(share, b.y - a.y, a.y);
    }
    return corner;
  }

  CAROM_HOST_DEVICE void clip(const Line& line) {
    Corner kept[kCorners];
    int count = 0;
    for (int i = 0; i < count_ && count < kCorners - 1; ++i) {
      const Corner& here = corners_[i];
      const Corner& next = corners_[i + 1 == count_ ? 0 : i + 1];
      const double e = excess(line, here);
      const double f = excess(line, next);
      if (e <= tolerance_) {
        kept[count++] = here;
        if (f > tolerance_) {
          // The line's own side starts here, even where `here` already lies on it.
          Corner corner = e > -tolerance_ ? here : crossing(here, next, e, f, line);
          corner.side = line;
          if (e > -tolerance_) {
            kept[count - 1] = corner;
          } else {
            kept[count++] = corner;
          }
        }
      } else if (f <= tolerance_ && f < -tolerance_) {
        kept[count++] = crossing(here, next, e, f, line);
      }
    }
    for (int i = 0; i < count; ++i) corners_[i] = kept[i];
    count_ = count;
  }

  /// Leaves out corners that coincide with the one before.
  CAROM_INLINE void merge() {
    int count = 0;
    for (int i = 0; i < count_; ++i) {
      if (count > 0 && same(corners_[i], corners_[count - 1])) continue;
      corners_[count++] = corners_[i];
    }
    while (count > 1 && same(corners_[count - 1], corners_[0])) --count;
    count_ = count;
  }
  CAROM_INLINE bool same(const Corner& a, const Corner& b) const {
    return magnitude(a.x - b.x) <= 2.0 * tolerance_ && magnitude(a.y - b.y) <= 2.0 * tolerance_;
  }

  Corner corners_[kCorners];
  int count_ = 0;
  bool bounded_ = true;
  double tolerance_ = 0.0;
};

}  // namespace carom::kernels
