#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>
#include <carom/device/packed.hpp>

/// Feasible strip of a planar posture: LP (4) of Or and Rimon, both ends, for one external wrench.
///
/// Frame: origin at contact 0, first axis n = J f / |f| across the force, second axis up = -f / |f|
/// against it. An edge (u, v) of a friction cone at (X, Y) acts along the line
/// y(x) = Y + (x - X) v / u; it is called left where u < 0 and right where u > 0. Forces f >= 0 on
/// the edges that sum up to (0, 1) have their line of action at x = sum (X v - Y u) f, so the strip
/// is the range of that x. By duality x is no less than its maximum if a point (x, y) exists about
/// which no edge turns counter-clockwise: y must lie above all left lines and below all right
/// lines, and no upward vertical edge may lie beyond x. The gap between the highest left and the
/// lowest right line is convex in x, and the sought end is its smallest root. Newton's method
/// reaches it from inside in finitely many steps, each of which exchanges the basis (a left and a
/// right edge, both with positive force) and moves x strictly, so that nothing cycles.
namespace carom::kernels {

/// An edge that is closer to the force's direction than this (of |u| + |v|) counts as parallel.
inline constexpr double kVerticalEdge = 1e-14;
/// Two edges whose lift is smaller than this share of their forces count as opposite.
inline constexpr double kOppositeEdges = 1e-13;
/// A gap below this share of its own rounding scale counts as closed.
inline constexpr double kClosedGap = 1e-15;

/// How one end of the strip was found.
inline constexpr double kEndBounded = 0.0;
inline constexpr double kEndSqueezed = 1.0;  ///< infinite: `ray` edges squeeze without limit
inline constexpr double kEndPulled = 2.0;    ///< infinite: ray_left pulls against the base
inline constexpr double kEndUnfinished = 3.0;

/// One end; V: double, or a pack of doubles. Indices of edges are 2 point + {0: n + mu t, 1: n - mu
/// t}, held as numbers; -1 where there is none.
template <class V>
struct StripEnd {
  V edge;         ///< x of the end, from contact 0
  V height;       ///< y of a point of the end's line about which no edge turns outward
  V outcome;      ///< kEnd...
  V left, right;  ///< basis; a parallel edge has only `left`
  V ray_left, ray_right;
};

template <class V>
struct Strip {
  V feasible;    ///< 1 or 0
  V separation;  ///< where infeasible: (separation, 1) makes no acute angle with any edge
  StripEnd<V> lower, upper;
};

/// Doubles of the lanes' workspace: index i of every lane stands at data[i * stride ..].
template <class V>
struct LaneMemory {
  double* data;
  long stride;

  CAROM_INLINE V load(long i) const { return kernels::load<V>(data + i * stride); }
  CAROM_INLINE void store(long i, V value) const { kernels::store(data + i * stride, value); }
};

/// Rows of a lane's workspace: raw contacts, then points and edges. patches: 0 or 1.
CAROM_INLINE constexpr long strip_contact_rows(int contacts) { return 6L * contacts; }
CAROM_INLINE constexpr long strip_workspace(int contacts, bool patches) {
  return strip_contact_rows(contacts) + (patches ? 12L : 6L) * contacts;
}

template <class V>
class PlanarStripBody {
  using Mask = decltype(V(0.0) < V(0.0));

 public:
  /// memory: strip_workspace rows; the first 6 k hold position (2), normal (2), friction and length
  /// of each contact.
  CAROM_INLINE PlanarStripBody(LaneMemory<V> memory, int contacts, bool patches)
      : memory_(memory), contacts_(contacts), points_(patches ? 2 * contacts : contacts) {}

  /// normal: n; the strip of every lane's own direction.
  CAROM_INLINE Strip<V> run(V normal_x, V normal_y) {
    place(normal_x, normal_y);
    Strip<V> strip;
    classify();
    strip.feasible = select(lift_ > V(kOppositeEdges) * steepness_, V(1.0), V(0.0));
    paired_ = strip.feasible;
    strip.feasible = select(vertical_[0] < V(kInfinity), V(1.0), strip.feasible);
    // (d, 1): d <= -slope of the right edges, d >= -slope of the left ones.
    const Mask left = steepest_[0] < V(kInfinity);
    const Mask right = steepest_[1] > V(-kInfinity);
    const V both = V(-0.5) * (steepest_[0] + steepest_[1]);
    strip.separation = select(left, select(right, both, V(1.0) - steepest_[0]),
                              select(right, V(-1.0) - steepest_[1], V(0.0)));
    strip.lower = find<false>(strip.feasible);
    strip.upper = find<true>(strip.feasible);
    return strip;
  }

  /// After run, where infeasible: d such that (d, 1) makes no acute angle with any edge and a right
  /// one with some.
  CAROM_INLINE V touching_separation() const {
    const V left = select(steepest_[0] < V(kInfinity), -steepest_[0], V(0.0));
    return select(steepest_[1] > V(-kInfinity), -steepest_[1], left);
  }

 private:
  static constexpr double kLeft = -1.0;
  static constexpr double kRight = 1.0;

  CAROM_INLINE long point_row(int p) const { return strip_contact_rows(contacts_) + 6L * p; }
  CAROM_INLINE V abscissa(int p) const { return memory_.load(point_row(p)); }
  CAROM_INLINE V ordinate(int p) const { return memory_.load(point_row(p) + 1); }
  CAROM_INLINE V slope(int p, int e) const { return memory_.load(point_row(p) + 2 + e); }
  CAROM_INLINE V side(int p, int e) const { return memory_.load(point_row(p) + 4 + e); }

  /// Points and edges in the frame of the force.
  CAROM_INLINE void place(V nx, V ny) {
    const V x0 = memory_.load(0);
    const V y0 = memory_.load(1);
    const bool patches = points_ > contacts_;
    extent_ = V(0.0);
    for (int i = 0; i < contacts_; ++i) {
      const long row = 6L * i;
      const V dx = memory_.load(row) - x0;
      const V dy = memory_.load(row + 1) - y0;
      const V normal_x = memory_.load(row + 2);
      const V normal_y = memory_.load(row + 3);
      const V mu = memory_.load(row + 4);
      // up = J n = (-ny, nx)
      const V x = fused(dy, ny, dx * nx);
      const V y = fused(dy, nx, -(dx * ny));
      const V a = fused(normal_y, ny, normal_x * nx);
      const V b = fused(normal_y, nx, -(normal_x * ny));
      // t = (b, -a) from n = J t
      const V u[2] = {fused(mu, b, a), fused(-mu, b, a)};
      const V v[2] = {fused(-mu, a, b), fused(mu, a, b)};
      V slopes[2];
      V sides[2];
      for (int e = 0; e < 2; ++e) {
        const Mask parallel =
            magnitude(u[e]) <= V(kVerticalEdge) * (magnitude(u[e]) + magnitude(v[e]));
        // A parallel edge keeps its direction in place of a slope.
        slopes[e] = select(parallel, select(v[e] > V(0.0), V(1.0), V(-1.0)), v[e] / u[e]);
        sides[e] = select(parallel, V(0.0), select(u[e] < V(0.0), V(kLeft), V(kRight)));
      }
      put(patches ? 2 * i : i, x, y, slopes, sides);
      if (patches) {
        const V length = memory_.load(row + 5);
        put(2 * i + 1, fused(length, b, x), fused(-length, a, y), slopes, sides);
      }
    }
  }

  CAROM_INLINE void put(int p, V x, V y, const V* slopes, const V* sides) {
    const long row = point_row(p);
    memory_.store(row, x);
    memory_.store(row + 1, y);
    for (int e = 0; e < 2; ++e) {
      memory_.store(row + 2 + e, slopes[e]);
      memory_.store(row + 4 + e, sides[e]);
    }
    extent_ = larger(extent_, magnitude(x) + magnitude(y));
  }

  /// The edges nearest to `up` on either side, and those parallel to it.
  CAROM_INLINE void classify() {
    steepest_[0] = V(kInfinity);
    steepest_[1] = V(-kInfinity);
    first_[0] = first_[1] = V(-1.0);
    // [0] smallest, [1] largest position
    vertical_[0] = pulling_[0] = V(kInfinity);
    vertical_[1] = pulling_[1] = V(-kInfinity);
    for (int end = 0; end < 2; ++end) vertical_edge_[end] = pulling_edge_[end] = V(-1.0);
    for (int p = 0; p < points_; ++p) {
      const V x = abscissa(p);
      for (int e = 0; e < 2; ++e) {
        const V index(static_cast<double>(2 * p + e));
        const V a = slope(p, e);
        const V which = side(p, e);
        const Mask is_left = which < V(-0.5);
        const Mask is_right = which > V(0.5);
        keep(is_left & (a < steepest_[0]), a, index, steepest_[0], first_[0]);
        keep(is_right & (a > steepest_[1]), a, index, steepest_[1], first_[1]);
        const Mask parallel = (which < V(0.5)) & (which > V(-0.5));
        const Mask up = parallel & (a > V(0.0));
        const Mask down = parallel & (a < V(0.0));
        keep(up & (x < vertical_[0]), x, index, vertical_[0], vertical_edge_[0]);
        keep(up & (x > vertical_[1]), x, index, vertical_[1], vertical_edge_[1]);
        keep(down & (x < pulling_[0]), x, index, pulling_[0], pulling_edge_[0]);
        keep(down & (x > pulling_[1]), x, index, pulling_[1], pulling_edge_[1]);
      }
    }
    // Force of the steepest pair along `up` for a unit across it; -infinity without a pair.
    lift_ = steepest_[1] - steepest_[0];
    steepness_ = select(lift_ > V(-kInfinity),
                        V(2.0) + magnitude(steepest_[0]) + magnitude(steepest_[1]), V(1.0));
  }

  static CAROM_INLINE void keep(Mask better, V value, V index, V& best, V& best_index) {
    best = select(better, value, best);
    best_index = select(better, index, best_index);
  }

  struct Line {
    V x, y, slope;
  };

  /// Where two lines cross.
  static CAROM_INLINE V crossing(const Line& left, const Line& right, V lift) {
    return left.x + fused(right.x - left.x, right.slope, left.y - right.y) / lift;
  }

  /// The highest left and the lowest right line at x (upper end), or the highest right and the
  /// lowest left one (lower end).
  struct Gap {
    Line high, low;
    V high_y, low_y, high_edge, low_edge;
  };

  template <bool Upper>
  CAROM_INLINE Gap gap_at(V x) const {
    const V zero(0.0);
    Gap gap{{zero, zero, zero}, {zero, zero, zero}, V(-kInfinity), V(kInfinity), V(-1.0), V(-1.0)};
    for (int p = 0; p < points_; ++p) {
      const V px = abscissa(p);
      const V py = ordinate(p);
      const V distance = x - px;
      for (int e = 0; e < 2; ++e) {
        const V index(static_cast<double>(2 * p + e));
        const V a = slope(p, e);
        const V which = side(p, e);
        const V y = fused(distance, a, py);
        const Mask is_left = which < V(-0.5);
        const Mask is_right = which > V(0.5);
        const Mask higher = (Upper ? is_left : is_right) & (y > gap.high_y);
        const Mask deeper = (Upper ? is_right : is_left) & (y < gap.low_y);
        take(higher, px, py, a, y, index, gap.high, gap.high_y, gap.high_edge);
        take(deeper, px, py, a, y, index, gap.low, gap.low_y, gap.low_edge);
      }
    }
    return gap;
  }

  static CAROM_INLINE void take(Mask better, V px, V py, V a, V y, V index, Line& line, V& best,
                                V& edge) {
    line.x = select(better, px, line.x);
    line.y = select(better, py, line.y);
    line.slope = select(better, a, line.slope);
    best = select(better, y, best);
    edge = select(better, index, edge);
  }

  CAROM_INLINE Line line_of(V edge) const {
    const V zero(0.0);
    Line line{zero, zero, zero};
    for (int p = 0; p < points_; ++p) {
      const Mask here = (edge > V(static_cast<double>(2 * p) - 0.5)) &
                        (edge < V(static_cast<double>(2 * p) + 1.5));
      line.x = select(here, abscissa(p), line.x);
      line.y = select(here, ordinate(p), line.y);
    }
    return line;
  }

  template <bool Upper>
  CAROM_INLINE StripEnd<V> find(V feasible) {
    constexpr int kEnd = Upper ? 1 : 0;
    const V zero(0.0);
    const V none(-1.0);
    StripEnd<V> end{zero, zero, V(kEndBounded), none, none, none, none};
    // Start: the steepest pair or the outermost parallel edge, whichever reaches further.
    Line left = line_of(first_[0]);
    Line right = line_of(first_[1]);
    left.slope = steepest_[0];
    right.slope = steepest_[1];
    const V start = crossing(left, right, lift_);
    const Mask paired = paired_ > V(0.5);
    const V alone = vertical_[kEnd];
    const V worst(Upper ? -kInfinity : kInfinity);
    end.edge = select(paired, start, worst);
    end.left = select(paired, first_[0], none);
    end.right = select(paired, first_[1], none);
    const Mask further = Upper ? alone > end.edge : alone < end.edge;
    end.edge = select(further, alone, end.edge);
    end.left = select(further, vertical_edge_[kEnd], end.left);
    end.right = select(further, none, end.right);
    end.edge = select(feasible > V(0.5), end.edge, zero);

    V active = feasible;
    const int limit = 4 * points_ + 8;
    for (int pass = 0; !all_of(active < V(0.5)); ++pass) {
      if (pass == limit) {
        end.outcome = select(active > V(0.5), V(kEndUnfinished), end.outcome);
        break;
      }
      const Gap gap = gap_at<Upper>(end.edge);
      const Mask running = active > V(0.5);
      const Mask high = gap.high_y > V(-kInfinity);
      const Mask low = gap.low_y < V(kInfinity);
      const V across = select(high & low, gap.high_y - gap.low_y, V(-1.0));
      const V lift = Upper ? gap.low.slope - gap.high.slope : gap.high.slope - gap.low.slope;
      const V steepness = V(2.0) + magnitude(gap.high.slope) + magnitude(gap.low.slope);
      const V rounding = V(kClosedGap) * steepness * (extent_ + magnitude(end.edge));
      const Mask open = across > rounding;
      // The dual point: on the flatter of the two lines, where rounding moves it least.
      const V both =
          select(magnitude(gap.high.slope) <= magnitude(gap.low.slope), gap.high_y, gap.low_y);
      const V height =
          select(high, select(low, both, gap.high_y), select(low, gap.low_y, line_of(end.left).y));
      end.height = select(running, height, end.height);
      const Mask lifting = lift > V(kOppositeEdges) * steepness;
      const V left_edge = Upper ? gap.high_edge : gap.low_edge;
      const V right_edge = Upper ? gap.low_edge : gap.high_edge;
      // An open gap that no step closes: a squeeze of this pair turns without limit.
      const V squeezed = select(running & open, select(lifting, V(0.0), V(1.0)), V(0.0));
      const Mask endless = squeezed > V(0.5);
      end.outcome = select(endless, V(kEndSqueezed), end.outcome);
      end.ray_left = select(endless, left_edge, end.ray_left);
      end.ray_right = select(endless, right_edge, end.ray_right);
      const V next = Upper ? crossing(gap.high, gap.low, lift) : crossing(gap.low, gap.high, lift);
      const Mask moves = running & open & lifting & (Upper ? next > end.edge : next < end.edge);
      end.edge = select(moves, next, end.edge);
      end.left = select(moves, left_edge, end.left);
      end.right = select(moves, right_edge, end.right);
      active = select(moves, active, V(0.0));
    }
    // A contact that pulls back inside the end it should limit: the two turn without limit.
    const V slack = V(kClosedGap) * V(4.0) * (extent_ + magnitude(end.edge));
    const Mask pulled = (feasible > V(0.5)) & (end.outcome < V(0.5)) &
                        (Upper ? pulling_[0] < end.edge - slack : pulling_[1] > end.edge + slack);
    end.outcome = select(pulled, V(kEndPulled), end.outcome);
    end.ray_left = select(pulled, pulling_edge_[Upper ? 0 : 1], end.ray_left);
    return end;
  }

  LaneMemory<V> memory_;
  int contacts_;
  int points_;
  V extent_;
  V lift_, steepness_, paired_;
  V steepest_[2], first_[2];
  V vertical_[2], vertical_edge_[2];
  V pulling_[2], pulling_edge_[2];
};

}  // namespace carom::kernels
