#pragma once

#include <carom/device/arena.hpp>

#include "compliant/kernels/compliant_pieces.hpp"

/// A path that always ends at a solution of the contact laws (docs/explanation/compliant.md):
/// with F(p, s) = W p + u + s c, c > 0 on the normal rows, p = 0 is the only solution for large s;
/// the solutions over s form a curve of smooth pieces, one for each set of modes, which is followed
/// through its turning points down to s = 0, as Lemke's method does for a linear problem.
namespace carom::kernels {

/// order: rows and the path's parameter.
template <class Memory>
struct CompliantPathLayout {
  Memory matrix;
  Memory point;  ///< (p, s)
  Memory trial;
  Memory tangent;
  Memory rate;  ///< of F along the tangent
  Memory right;
  Memory flow;
  Memory cover;
  Memory mode;

  CAROM_INLINE constexpr CompliantPathLayout(Arena<Memory>& arena, long order)
      : matrix(arena.take(order * order)),
        point(arena.take(order)),
        trial(arena.take(order)),
        tangent(arena.take(order)),
        rate(arena.take(order)),
        right(arena.take(order)),
        flow(arena.take(order)),
        cover(arena.take(order)),
        mode(arena.take(order)) {}
};
CAROM_HOST_DEVICE constexpr long path_workspace(long rows) {
  return values_of<CompliantPathLayout>(rows + 1);
}

template <class Target>
class CompliantPath {
 public:
  /// weight: rho, [rows], a contact's tangents share theirs; scratch: [path_workspace(rows)].
  CAROM_INLINE CompliantPath(const ContactSystem& system, const double* weight, double* scratch)
      : at_(placed<CompliantPathLayout>(scratch, system.rows + 1)) {
    e_.system = system;
    e_.rows = system.rows;
    e_.order = system.rows + 1;
    e_.weight = weight;
    e_.matrix = at_.matrix;
    e_.right = at_.right;
    e_.flow = at_.flow;
    e_.cover = at_.cover;
    e_.mode = at_.mode;
  }

  /// Follows the path with at most `budget` linear solutions; true where it reached s = 0, with the
  /// impulses in p. `variant` chooses among the c; the higher, the shorter are the steps allowed,
  /// so that they do not jump to another branch.
  CAROM_CALL bool follow(double* p, int budget, int variant) {
    budget_ = budget;
    e_.solutions = 0;
    bend_ = kBend / (1 + 2 * variant);
    if (!start(variant)) {
      for (int i = 0; i < e_.rows; ++i) p[i] = 0.0;
      return true;
    }
    double reach = kInfinity;  // longest step that the curve's bends allow
    bool turned = true;        // the modes have changed
    while (left() > 0) {
      if (!set_tangent(turned)) return false;
      turned = false;
      Event event = next_event();
      bool done = false;
      for (int shorter = 0; shorter < kShortenings && left() > 0 && !done; ++shorter) {
        const bool at_event = event.length <= reach;
        const double length = at_event ? event.length : reach;
        if (!is_finite(length)) return false;
        if (correct(length, at_event ? event : Event{})) {
          done = true;
          for (int i = 0; i < e_.order; ++i) at_.point[i] = at_.trial[i];
          if (at_event) {
            if (event.kind == Kind::arrival) {
              for (int i = 0; i < e_.rows; ++i) p[i] = at_.point[i];
              return true;
            }
            e_.change_mode(event);
            turned = true;
          }
          reach *= 2.0;
        } else {
          reach = 0.5 * length;
        }
      }
      if (!done) return false;
    }
    return false;
  }
  [[nodiscard]] CAROM_INLINE int left() const { return budget_ - e_.solutions; }

 private:
  using Pieces = CompliantPieces<Target>;
  using Event = PathEvent;
  using Kind = PathEventKind;
  static constexpr double kTight = 1e-11;  // of the largest impulse: on the curve
  static constexpr double kLoose = 1e-9;   // likewise: still within a mode
  static constexpr double kBend = 0.3;     // of a step, across it
  static constexpr int kShortenings = 40;
  static constexpr int kCorrections = 8;

  /// The largest s at which a contact closes; false where p = 0 is the solution.
  CAROM_INLINE bool start(int variant) {
    double s = 0.0;
    int closing = -1;
    scale_ = 0.0;
    for (int i = 0; i < e_.rows; ++i) {
      at_.point[i] = 0.0;
      e_.mode[i] = Pieces::kOpen;
      e_.cover[i] = 0.0;
      scale_ = larger(scale_, e_.weight[i] * magnitude(e_.system.vector[i]));
    }
    for (int i = 0; i < e_.rows; i += 1 + e_.system.tangents_of(i)) {
      const double part = fraction(0.6180339887498949 * (i + 1) * (variant + 1));
      e_.cover[i] = 0.5 + part;
      const double reaches = -e_.weight[i] * e_.system.vector[i] / e_.cover[i];
      if (reaches > s) {
        s = reaches;
        closing = i;
      }
    }
    if (closing < 0) return false;
    at_.point[e_.rows] = s;
    e_.evaluate(at_.point);
    e_.change_mode({0.0, closing, Kind::close});
    return true;
  }

  /// The curve's direction at point. Its orientation is that of the start, where s falls and
  /// the equations' matrix is the unit matrix: negative is the determinant with the tangent as last
  /// row.
  CAROM_INLINE bool set_tangent(bool turned) {
    for (int attempt = 0; attempt < 2; ++attempt) {
      e_.evaluate(at_.point);
      e_.linearise(at_.point);
      for (int i = 0; i < e_.rows; ++i) e_.right[i] = 0.0;
      e_.right[e_.rows] = 1.0;
      // Any row that is not across the curve will do: the old direction, or s.
      for (int j = 0; j < e_.order; ++j) {
        e_.entry(e_.rows, j) = turned && attempt == 0 ? (j == e_.rows ? 1.0 : 0.0)
                               : turned               ? fraction(0.7548776662466927 * (j + 1)) - 0.5
                                                      : at_.tangent[j];
      }
      const int sign = e_.eliminate();
      double square = 0.0;
      for (int j = 0; j < e_.order; ++j) square = fused(e_.right[j], e_.right[j], square);
      if (sign == 0 || !is_finite(square)) continue;
      const double factor = -sign / square_root(square);
      for (int j = 0; j < e_.order; ++j) at_.tangent[j] = factor * e_.right[j];
      for (int i = 0; i < e_.rows; ++i) {
        at_.rate[i] =
            e_.system.times(i, at_.tangent, at_.tangent[e_.rows] * e_.cover[i] / e_.weight[i]);
      }
      return true;
    }
    return false;
  }

  static CAROM_INLINE void note(Event& event, double gap, double rate, int row, Kind kind) {
    if (!(rate < 0.0)) return;
    const double length = at_least_zero(gap) / -rate;
    if (length < event.length) event = {length, row, kind};
  }

  /// The first change of mode along the tangent.
  CAROM_INLINE Event next_event() const {
    Event event;
    note(event, at_.point[e_.rows], at_.tangent[e_.rows], e_.rows, Kind::arrival);
    for (int i = 0; i < e_.rows; i += 1 + e_.system.tangents_of(i)) {
      const int count = e_.system.tangents_of(i);
      const double mode = e_.mode[i];
      if (mode == Pieces::kOpen) {
        note(event, e_.weight[i] * e_.flow[i], e_.weight[i] * at_.rate[i], i, Kind::close);
        continue;
      }
      if (count == 0 || mode == Pieces::kSlide) {
        note(event, at_.point[i], at_.tangent[i], i, Kind::open);
      }
      if (count == 0) continue;
      const double mu = e_.system.friction[i];
      if (mode == Pieces::kSlide) {
        double z[2] = {0.0, 0.0};
        e_.slide_force(at_.point, i, count, z);
        const double size = tangent_length(z, count);
        if (!(size > 0.0)) continue;
        double grows = 0.0;
        for (int k = 0; k < count; ++k) {
          const double dz =
              fused(-e_.weight[i + 1 + k], at_.rate[i + 1 + k], at_.tangent[i + 1 + k]);
          grows = fused(z[k] / size, dz, grows);
        }
        note(event, size - mu * at_.point[i], grows - mu * at_.tangent[i], i, Kind::hold);
        continue;
      }
      double a = mu * mu * at_.tangent[i] * at_.tangent[i];
      double b = mu * mu * at_.point[i] * at_.tangent[i];
      double c = mu * mu * at_.point[i] * at_.point[i];
      for (int k = 1; k <= count; ++k) {
        a = fused(-at_.tangent[i + k], at_.tangent[i + k], a);
        b = fused(-at_.point[i + k], at_.tangent[i + k], b);
        c = fused(-at_.point[i + k], at_.point[i + k], c);
      }
      const double length = leaving(a, b, at_least_zero(c));
      if (length < event.length) event = {length, i, Kind::slip};
    }
    return event;
  }

  /// The smallest x > 0 (>= 0 where b <= 0) at which c + 2 b x + a x^2 falls through zero, c >= 0.
  static CAROM_INLINE double leaving(double a, double b, double c) {
    const double discriminant = fused(b, b, -a * c);
    if (!(discriminant >= 0.0)) return kInfinity;
    const double root = square_root(discriminant);
    if (b > 0.0) return a < 0.0 ? (b + root) / -a : kInfinity;
    return root - b > 0.0 ? c / (root - b) : kInfinity;
  }

  /// From point a step of `length` along the tangent, then Newton's method with fixed modes
  /// onto the curve: to where `event` takes place, or, without one, across the tangent. The result
  /// is in trial; false where there is none nearby, or where it lies beyond another change of
  /// mode.
  CAROM_INLINE bool correct(double length, const Event& event) {
    for (int j = 0; j < e_.order; ++j) at_.trial[j] = fused(length, at_.tangent[j], at_.point[j]);
    for (int turn = 0;; ++turn) {
      double size = scale_;
      for (int j = 0; j < e_.order; ++j) size = larger(size, magnitude(at_.trial[j]));
      e_.evaluate(at_.trial);
      const double error = e_.equations(at_.trial);
      const double distance = event.kind == Kind::none ? 0.0 : e_.gap(at_.trial, event, false);
      if (larger(error, magnitude(distance)) <= kTight * size) return within(event, size);
      if (turn == kCorrections || left() <= 0) return false;
      e_.linearise(at_.trial);
      e_.right[e_.rows] = -distance;
      if (event.kind == Kind::none) {
        for (int j = 0; j < e_.order; ++j) e_.entry(e_.rows, j) = at_.tangent[j];
      } else {
        e_.gap(at_.trial, event, true);
      }
      if (e_.eliminate() == 0) return false;
      double moved = 0.0;
      for (int j = 0; j < e_.order; ++j) {
        at_.trial[j] += e_.right[j];
        const double away = at_.trial[j] - fused(length, at_.tangent[j], at_.point[j]);
        moved = fused(away, away, moved);
      }
      const double allowed = fused(bend_, length, kLoose * size);
      if (!(moved <= allowed * allowed)) return false;
    }
  }

  /// trial keeps to all modes, with their F in e_.flow.
  CAROM_INLINE bool within(const Event& event, double size) {
    const double slack = -kLoose * size;
    if (!(at_.trial[e_.rows] >= slack)) return false;
    for (int i = 0; i < e_.rows; i += 1 + e_.system.tangents_of(i)) {
      if (event.kind != Kind::none && event.row == i) continue;
      const int count = e_.system.tangents_of(i);
      if (e_.mode[i] == Pieces::kOpen) {
        if (!(e_.gap(at_.trial, {0.0, i, Kind::close}, false) >= slack)) return false;
        continue;
      }
      if (!(at_.trial[i] >= slack)) return false;
      if (count == 0) continue;
      const Kind kind = e_.mode[i] == Pieces::kSlide ? Kind::hold : Kind::slip;
      if (!(e_.gap(at_.trial, {0.0, i, kind}, false) >= slack)) return false;
    }
    return true;
  }

  CompliantPieces<Target> e_;
  int budget_ = 0;
  double scale_ = 0.0;
  double bend_ = kBend;
  CompliantPathLayout<double*> at_;
};

}  // namespace carom::kernels
