#pragma once

#include <carom/certificate_qp.hpp>
#include <carom/device/qp_problem.hpp>

#include "programs/qp/kernels/qp_factor.hpp"
#include "programs/qp/kernels/qp_scaling.hpp"

/// Proofs that a quadratic program has no solution, for any lanes. A solver's vector is changed so
/// that it meets some conditions of a proof exactly; the certificate checks the others.
namespace carom::kernels {

/// f(i) for the rows that no second-order cone holds.
template <class Lanes, class F>
CAROM_CALL void for_interval_rows(const Lanes& lanes, const QpShape& shape, F&& f) {
  int first = 0;
  for (int c = 0; c <= shape.cones; ++c) {
    const int last = c < shape.cones ? shape.cone[c].first : shape.rows;
    lanes.for_each(last - first, [&](int t) { f(first + t); });
    first = c < shape.cones ? last + shape.cone[c].size : last;
  }
}

/// Whether a second-order cone holds row i.
CAROM_INLINE bool in_cone(const QpShape& shape, int i) {
  for (int c = 0; c < shape.cones; ++c) {
    if (i >= shape.cone[c].first && i < shape.cone[c].first + shape.cone[c].size) return true;
  }
  return false;
}
/// Whether row i holds a number in column j, whose place may hold anything else.
CAROM_INLINE bool has_column(const QpShape& shape, int i, int j) {
  const int first = shape.row_first[i];
  const int last = shape.row_first[i + 1];
  if (last - first == shape.variables) return true;
  for (int t = first; t < last; ++t) {
    if (shape.column[t] == j) return true;
  }
  return false;
}

/// Scales to a largest entry of one; false where there is nothing or no number.
template <class Lanes, class Memory>
CAROM_CALL bool normalise(const Lanes& lanes, int count, const Memory& values) {
  certificate::MaxAbs<> size;
  for (int i = 0; i < count; ++i) size.add(values[i]);
  if (!(size.value > 0.0) || !(size.value < kInfinity)) return false;
  lanes.for_each(count, [&](int i) { values[i] /= size.value; });
  return true;
}

/// A sum of products that is to be zero, or to have a sign; the products' rounding apart, exact
/// enough to see what cancels.
struct ProofSum {
  double sum = 0.0;
  double rounded = 0.0;  ///< what `sum` lacks by rounding
  double size = 0.0;     ///< of all terms' magnitudes
  double most = 0.0;
  int largest = -1;  ///< index of the largest term

  CAROM_INLINE void add(double term, int index) {
    const double next = sum + term;
    const double back = next - sum;
    rounded += (sum - (next - back)) + (term - back);
    sum = next;
    size += magnitude(term);
    if (!(magnitude(term) <= most)) {
      most = magnitude(term);
      largest = index;
    }
  }
  [[nodiscard]] CAROM_INLINE double total() const { return sum + rounded; }
  /// Zero where no more than this share of its largest term is left.
  [[nodiscard]] CAROM_INLINE double value(double blur) const {
    return magnitude(total()) <= blur * most ? 0.0 : total();
  }
  /// Share of the largest term that the sums that should be zero may leave for a margin of this
  /// size; less than docs/howto/check_a_proof.md accepts.
  [[nodiscard]] CAROM_INLINE double blur() const {
    return most > 0.0 ? smaller(1e-9, 2.5e-7 * magnitude(total()) / most) : 0.0;
  }
  /// Whether a margin is so small relative to its terms that what other sums leave may outweigh it.
  [[nodiscard]] CAROM_INLINE bool is_close() const { return magnitude(total()) < 1e-3 * most; }
  /// Whether no more is left than the rounding of `count` factors leaves of a true zero.
  [[nodiscard]] CAROM_INLINE bool is_rounding(int count) const {
    return magnitude(total()) <= rounding(count) * size;
  }
  static CAROM_INLINE double rounding(int count) { return 1e-15 * (count + 1); }
  /// What is left; of a close proof at most, with the rounding of the terms.
  [[nodiscard]] CAROM_INLINE double left(bool close) const {
    return magnitude(total()) + (close ? 0x1p-51 * most : 0.0);
  }
};

/// The largest |x_j| that a bound asks for by row i itself.
template <class Lanes, class Data>
CAROM_CALL double length_by_rows(const Lanes&, const QpShape& shape, const QpView<Data>& view,
                                 int j) {
  const long n = shape.variables;
  double most = 0.0;
  for (int i = 0; i < shape.rows; ++i) {
    const double entry = has_column(shape, i, j) ? magnitude(view.matrix[i * n + j]) : 0.0;
    if (!(entry > 0.0)) continue;
    for (const double bound : {magnitude(view.lower[i]), magnitude(view.upper[i])}) {
      if (bound < kInfinity) most = larger(bound / entry, most);
    }
  }
  return most;
}

/// How far x_j may be from zero by rows that hold nothing else; infinite without such.
template <class Lanes, class Data>
CAROM_CALL double own_bound(const Lanes&, const QpShape& shape, const QpView<Data>& view, int j) {
  const long n = shape.variables;
  double low = -kInfinity;
  double high = kInfinity;
  for (int i = 0; i < shape.rows; ++i) {
    double entry = 0.0;
    double others = 0.0;
    for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
      const int k = shape.column[t];
      (k == j ? entry : others) += magnitude(view.matrix[i * n + k]);
    }
    if (!(entry > 0.0) || others > 0.0 || (shape.cones > 0 && in_cone(shape, i))) continue;
    const double factor = view.matrix[i * n + j];
    const double a = view.lower[i] / factor;
    const double b = view.upper[i] / factor;
    low = larger(smaller(a, b), low);
    high = smaller(larger(a, b), high);
  }
  return larger(magnitude(low), magnitude(high));
}

/// Which rows of y = Farkas' vector belong together: those that share a column of A'y in which each
/// is more than rounding. In other columns such a group may be rounding of what another one leaves;
/// then nothing says that its own numbers are more than that, and it takes no part in a proof,
/// however large its bounds.
template <class Lanes, class Data, class Memory>
class ProofGroups {
 public:
  /// work: qp_judge_workspace.
  CAROM_CALL ProofGroups(const Lanes& lanes, const QpShape& shape, const QpView<Data>& view,
                         const Memory& y, const Memory& work)
      : shape_(shape), view_(view), y_(y) {
    const auto at = placed<certificate::QpJudgeLayout>(work, shape.variables, shape.rows);
    sizes_ = at.scales.column_size;
    group_ = at.scales.row_size;
    stray_ = at.scales.row_datum;
    const Memory sizes = sizes_, group = group_, first = at.scales.column_datum, next = stray_;
    lanes.for_each(shape.variables, [&](int j) {
      ProofSum pull;
      for (int i = 0; i < shape_.rows; ++i) pull.add(own(i, j), i);
      sizes[j] = pull.size;
    });
    lanes.for_each(shape.rows, [&](int i) { next[i] = i; });
    for (bool changed = true; changed;) {
      lanes.for_each(shape.rows, [&](int i) { group[i] = next[i]; });
      lanes.for_each(shape.variables, [&](int j) {
        first[j] = shape_.rows;
        for (int i = 0; i < shape_.rows; ++i) {
          if (is_felt(i, j)) first[j] = smaller(group[i], first[j]);
        }
      });
      lanes.for_each(shape.rows, [&](int i) {
        double least = group[i];
        for_columns(i, [&](int j) {
          if (is_felt(i, j)) least = smaller(first[j], least);
        });
        next[i] = least;
      });
      changed = false;
      for (int i = 0; i < shape_.rows; ++i) changed = changed || next[i] != group[i];
    }
    lanes.for_each(shape.rows, [&](int i) {
      double stray = 0.0;
      for_columns(i, [&](int j) {
        if (own(i, j) != 0.0 && first[j] != group[i]) stray = 1.0;
      });
      next[i] = stray;
    });
  }

  [[nodiscard]] CAROM_CALL bool is_rounding(int i) const {
    for (int k = 0; k < shape_.rows; ++k) {
      if (group_[k] == group_[i] && stray_[k] != 0.0) return true;
    }
    return false;
  }

 private:
  [[nodiscard]] CAROM_INLINE double own(int i, int j) const {  // rows hold their own columns only
    if (y_[i] == 0.0 || !has_column(shape_, i, j)) return 0.0;
    return magnitude(view_.matrix[static_cast<long>(i) * shape_.variables + j] * y_[i]);
  }
  [[nodiscard]] CAROM_INLINE bool is_felt(int i, int j) const {
    return own(i, j) > ProofSum::rounding(shape_.rows) * sizes_[j];
  }
  template <class F>
  CAROM_INLINE void for_columns(int i, F&& f) const {
    for (int t = shape_.row_first[i]; t < shape_.row_first[i + 1]; ++t) f(shape_.column[t]);
  }

  const QpShape& shape_;
  const QpView<Data>& view_;
  Memory y_;
  Memory sizes_;  ///< of the columns of A'y
  Memory group_;  ///< a row of each row's group
  Memory stray_;  ///< whether a row is rounding in a column of another group
};

inline constexpr int kOutweighed = -2;

/// The first number of y that keeps it from A'y = 0 in a column, -1 if there is none, kOutweighed
/// where an x as large as the bounds ask for makes up for the margin: docs/howto/check_a_proof.md.
/// Of problems with cones, whose numbers no zero may replace, only small margins are judged.
/// work: qp_judge_workspace.
template <class Lanes, class Data, class Memory>
CAROM_CALL int farkas_fault(const Lanes& lanes, const QpShape& shape, const QpView<Data>& view,
                            const Memory& y, const Memory& work) {
  const long n = shape.variables;
  ProofSum support;
  const auto term = [&](int i) {
    const bool at_upper = y[i] > 0.0 || (shape.cones > 0 && in_cone(shape, i));
    return (at_upper ? view.upper[i] : view.lower[i]) * y[i];
  };
  for (int i = 0; i < shape.rows; ++i) {
    if (y[i] != 0.0) support.add(term(i), i);
  }
  const ProofGroups groups(lanes, shape, view, y, work);
  for (int i = 0; i < shape.rows; ++i) {
    if (y[i] == 0.0 || (shape.cones > 0 && in_cone(shape, i))) continue;
    const bool weighs = 2.0 * shape.rows * magnitude(term(i)) > magnitude(support.total());
    if (weighs && groups.is_rounding(i)) return shape.cones > 0 ? kOutweighed : i;
  }
  if (shape.cones > 0 && !support.is_close()) return -1;
  const double blur = support.blur();
  double outweighed = 0.0;
  for (int j = 0; j < shape.variables; ++j) {
    ProofSum pull;
    for (int i = 0; i < shape.rows; ++i) {
      // Rows hold numbers in their own columns only.
      if (y[i] == 0.0 || !has_column(shape, i, j)) continue;
      pull.add(view.matrix[i * n + j] * y[i], i);
    }
    if (pull.value(blur) != 0.0) return shape.cones > 0 ? kOutweighed : pull.largest;
    const double left = pull.left(support.is_close());
    if (left > 0.0) {
      // More than rounding is no zero, and x_j reaches as far as its own bounds let it.
      outweighed += left * (shape.cones > 0 || pull.is_rounding(shape.rows)
                                ? length_by_rows(lanes, shape, view, j)
                                : own_bound(lanes, shape, view, j));
    }
  }
  return 2.0 * outweighed < magnitude(support.total()) ? -1 : kOutweighed;
}

/// The first number of d that keeps it from P d = 0 or leads out of a row's bounds; -1 and
/// kOutweighed likewise, by an x and multipliers as large as the data ask for.
template <class Lanes, class Data, class Memory>
CAROM_CALL int ray_fault(const Lanes& lanes, const QpShape& shape, const QpView<Data>& view,
                         const Memory& d) {
  const long n = shape.variables;
  ProofSum slope;
  for (int j = 0; j < shape.variables; ++j) slope.add(view.gradient[j] * d[j], j);
  const double blur = slope.blur();
  double outweighed = 0.0;
  for (int i = 0; i < shape.rows; ++i) {
    ProofSum along;
    for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
      const int j = shape.column[t];
      along.add(view.matrix[i * n + j] * d[j], j);
    }
    const double value = along.value(blur);
    if (value > 0.0 ? view.upper[i] < kInfinity : value < 0.0 && view.lower[i] > -kInfinity) {
      return along.largest;
    }
    if (slope.is_close() &&
        (along.total() > 0.0 ? view.upper[i] < kInfinity
                             : along.total() < 0.0 && view.lower[i] > -kInfinity)) {
      double force = 0.0;
      for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
        const int j = shape.column[t];
        const double entry = magnitude(view.matrix[i * n + j]);
        if (entry > 0.0) force = larger(magnitude(view.gradient[j]) / entry, force);
      }
      outweighed += along.left(true) * force;
    }
  }
  for (int j = 0; j < shape.variables; ++j) {
    ProofSum bent;
    for (int k = 0; k < shape.variables; ++k) {
      bent.add((k <= j ? view.hessian[j * n + k] : view.hessian[k * n + j]) * d[k], k);
    }
    if (bent.value(blur) != 0.0) return bent.largest;
    if (slope.is_close()) outweighed += bent.left(true) * length_by_rows(lanes, shape, view, j);
  }
  return 2.0 * outweighed < magnitude(slope.total()) ? -1 : kOutweighed;
}

/// Makes `values` a proof by zeros in place of what rounding left: numbers that are small relative
/// to the others, else, in units that differ, the largest of each sum that has no end. Leaves the
/// first one that residual() accepts and fault() finds nothing against; `spare`: count values.
template <class Lanes, class Memory, class Weight, class Kept, class Residual, class Fault>
CAROM_CALL double cleaned_proof(const Lanes& lanes, int count, const Memory& values,
                                const Memory& spare, double tolerance, Weight&& weight, Kept&& kept,
                                Residual&& residual, Fault&& fault) {
  lanes.for_each(count, [&](int i) { spare[i] = values[i]; });
  double most = 0.0;
  for (int i = 0; i < count; ++i) most = larger(weight(i), most);
  for (const double dust : {0.0, 1e-13, 1e-10, 1e-7}) {
    lanes.for_each(count, [&](int i) {
      const double size = weight(i);  // zero in rows of zeros, which prove something by themselves
      if (size > 0.0 && size <= dust * most && !kept(i)) values[i] = 0.0;
    });
    const double found = residual();
    if (certificate::within(found, tolerance) && fault() == -1) return found;
  }
  lanes.for_each(count, [&](int i) { values[i] = spare[i]; });
  int at = fault();
  for (int pass = 0; at >= 0 && pass < count; ++pass) {
    lanes.for_each(1, [&](int) { values[at] = 0.0; });
    at = fault();
  }
  const double found = at == -1 ? residual() : kInfinity;
  return certificate::within(found, tolerance) ? found : kInfinity;
}

/// Of y as a proof that no x meets the rows, perhaps without what rounding left in place of zeros;
/// y is normalised, and is the proof where the residual is within the tolerance.
/// work: qp_judge_workspace; spare: [rows].
template <class Lanes, class Data, class Memory>
CAROM_CALL double infeasibility_residual(const Lanes& lanes, const QpShape& shape,
                                         const QpView<Data>& view, const Memory& y,
                                         const Memory& work, const Memory& spare,
                                         double tolerance) {
  if (!normalise(lanes, shape.rows, y)) return kInfinity;
  // Signs that no bound allows, and what of a cone's multiplier lies outside of its cone.
  for_interval_rows(lanes, shape, [&](int i) {
    const double bound = y[i] > 0.0 ? view.upper[i] : view.lower[i];
    if (!(magnitude(bound) < kInfinity)) y[i] = 0.0;
  });
  for (int c = 0; c < shape.cones; ++c) {
    const QpConeSpan& cone = shape.cone[c];
    double tail = 0.0;
    for (int i = cone.first + 1; i < cone.first + cone.size; ++i) tail += y[i] * y[i];
    const double head = larger(y[cone.first], square_root(tail));
    lanes.for_each(1, [&](int) { y[cone.first] = head; });
  }
  const certificate::QpJudge<double, Lanes, Data, Memory> judge(lanes, shape, view, work);
  const long n = shape.variables;
  const auto weight = [&](int i) {
    double size = 0.0;
    for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
      size = larger(magnitude(view.matrix[i * n + shape.column[t]]), size);
    }
    return size * magnitude(y[i]);
  };
  return cleaned_proof(
      lanes, shape.rows, y, spare, tolerance, weight, [&](int i) { return in_cone(shape, i); },
      [&] { return judge.farkas_residual(y); },
      [&] { return farkas_fault(lanes, shape, view, y, work); });
}

/// Of d as a direction in which the objective falls without end; d is normalised likewise.
/// work: qp_judge_workspace; spare: [n].
template <class Lanes, class Data, class Memory>
CAROM_CALL double ray_residual(const Lanes& lanes, const QpShape& shape, const QpView<Data>& view,
                               const Memory& d, const Memory& work, const Memory& spare,
                               double tolerance) {
  if (!normalise(lanes, shape.variables, d)) return kInfinity;
  const certificate::QpJudge<double, Lanes, Data, Memory> judge(lanes, shape, view, work);
  return cleaned_proof(
      lanes, shape.variables, d, spare, tolerance, [&](int j) { return magnitude(d[j]); },
      [](int) { return false; }, [&] { return judge.ray_residual(d); },
      [&] { return shape.cones > 0 ? -1 : ray_fault(lanes, shape, view, d); });
}

/// The same from a point that meets the rows: the larger one of both residuals.
/// work: qp_judge_workspace; spare: [n].
template <class Lanes, class Data, class Memory>
CAROM_CALL double unboundedness_residual(const Lanes& lanes, const QpShape& shape,
                                         const QpView<Data>& view, const Memory& point,
                                         const Memory& d, const Memory& work, const Memory& spare,
                                         double tolerance) {
  const double falling = ray_residual(lanes, shape, view, d, work, spare, tolerance);
  if (!certificate::within(falling, tolerance)) return kInfinity;
  const certificate::QpJudge<double, Lanes, Data, Memory> judge(lanes, shape, view, work);
  const double feasible = judge.point_residual(point);
  return feasible <= falling ? falling : feasible;
}

/// Moves a point that all but meets the rows, none of a cone, onto them: each that is missed is met
/// in turn, again and again. False where that does not end within rounding of the rows' terms.
template <class Lanes, class Data, class Memory>
CAROM_CALL bool settle_point(const Lanes& lanes, const QpShape& shape, const QpView<Data>& view,
                             const Memory& point) {
  constexpr int kSweeps = 300;
  constexpr double kRounding = 0x1p-49;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool met = true;
    for (int i = 0; i < shape.rows; ++i) {
      const int first = shape.row_first[i], end = shape.row_first[i + 1];
      const auto entry = [&](int t) {
        return view.matrix[static_cast<long>(i) * shape.variables + shape.column[t]];
      };
      double sum = 0.0, terms = 0.0, square = 0.0;
      for (int t = first; t < end; ++t) {
        const double term = entry(t) * point[shape.column[t]];
        sum += term;
        terms += magnitude(term);
        square = fused(entry(t), entry(t), square);
      }
      const double bound = smaller(larger(sum, view.lower[i]), view.upper[i]);
      if (magnitude(bound - sum) <= kRounding * (terms + magnitude(bound))) continue;
      met = false;
      if (!(square > 0.0)) return false;
      const double step = (bound - sum) / square;
      lanes.for_each(end - first, [&](int t) {
        double& x = point[shape.column[first + t]];
        x = fused(step, entry(first + t), x);
      });
    }
    if (met) return true;
  }
  return false;
}

/// Whether the Hessian has a direction of negative curvature; x then holds it.
/// factor: [n, n]; inverse: [n]; work: [2 n].
template <class Lanes, class Data, class Memory>
CAROM_CALL bool proves_nonconvex(const Lanes& lanes, int n, const Data& hessian, const Memory& x,
                                 const Memory& factor, const Memory& inverse, const Memory& work) {
  if (convexity_pivot<double>(lanes, n, hessian, factor, inverse) >= 0.0) return false;
  // First negative pivot, of column k: with L D L' = P so far, L' d = e_k gives d'P d = D_k.
  int k = 0;
  while (k < n && factor[static_cast<long>(k) * n + k] >= 0.0) ++k;
  if (k == n) return false;
  lanes.for_each(n, [&](int j) { x[j] = j == k ? 1.0 : 0.0; });
  for (int j = k - 1; j >= 0; --j) {
    double sum = 0.0;
    for (int i = j + 1; i <= k; ++i) sum += factor[static_cast<long>(j) * n + i] * x[i];
    const double value = -sum * inverse[j];
    lanes.for_each(1, [&](int) { x[j] = value; });
  }
  return certificate::relative_curvature(lanes, n, hessian, x, work) < 0.0;
}

/// l_i > u_i in one of the first `rows` rows: y becomes the unit vector of that row, a proof.
template <class Lanes, class Data, class Memory>
CAROM_CALL bool crossed_bounds(const Lanes& lanes, int rows, const QpShape& shape,
                               const QpView<Data>& view, const Memory& y) {
  int crossed = 0;
  while (crossed < rows && !(view.lower[crossed] > view.upper[crossed])) ++crossed;
  if (crossed == rows) return false;
  lanes.for_each(shape.rows, [&](int i) { y[i] = i == crossed ? 1.0 : 0.0; });
  return true;
}

}  // namespace carom::kernels
