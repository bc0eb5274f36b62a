#pragma once

#include <type_traits>

#include <carom/certificate_scales.hpp>
#include <carom/device/arena.hpp>
#include <carom/device/lanes.hpp>
#include <carom/device/qp_problem.hpp>

/// Scales for the relative residuals of quadratic programs: docs/explanation/certificates.md.
namespace carom::certificate {

template <class Memory>
struct QpScalesLayout {
  Memory bent;  ///< P x
  Memory pull;  ///< A'y
  Memory column_size;
  Memory column_datum;
  Memory known_x;  ///< 1 where explained
  Memory value;    ///< A x
  Memory row_size;
  Memory row_datum;
  Memory known_y;

  QpScalesLayout() = default;
  CAROM_INLINE constexpr QpScalesLayout(kernels::Arena<Memory>& arena, long n, long rows)
      : bent(arena.take(n)),
        pull(arena.take(n)),
        column_size(arena.take(n)),
        column_datum(arena.take(n)),
        known_x(arena.take(n)),
        value(arena.take(rows)),
        row_size(arena.take(rows)),
        row_datum(arena.take(rows)),
        known_y(arena.take(rows)) {}
};

/// The optimality conditions as equations in (x, y): row i of A x against its bounds, column j of
/// P x + A'y = -q. Of each the sum, the sum of its terms' magnitudes, and its datum: the bound that
/// holds it, or q_j, with those terms whose x_j or y_i the data explain (Oettli and Prager 1964).
/// An unknown is explained if some equation has it in a term of at most kExplained times the
/// equation's datum; what escaped along a ray is not. V: double, or a pack of doubles, one per
/// problem.
template <class V, class Lanes, class Data, class Memory>
class QpScales {
 public:
  CAROM_HOST_DEVICE QpScales(const Lanes& lanes, const kernels::QpShape& shape,
                             const kernels::QpView<Data>& view,
                             const QpScalesLayout<Memory>& layout)
      : lanes_(lanes),
        shape_(shape),
        view_(view),
        n_(shape.variables),
        rows_(shape.rows),
        at_(layout) {}

 protected:
  CAROM_INLINE V matrix(int i, int j) const { return view_.matrix[static_cast<long>(i) * n_ + j]; }
  CAROM_INLINE V hessian(int j, int k) const {
    return view_.hessian[k <= j ? static_cast<long>(j) * n_ + k : static_cast<long>(k) * n_ + j];
  }
  /// f(t, j) for the columns of row i.
  template <class F>
  CAROM_INLINE void for_row(int i, F&& f) const {
    for (int t = shape_.row_first[i]; t < shape_.row_first[i + 1]; ++t) f(shape_.column[t]);
  }
  /// The same with the columns shared among the lanes.
  template <class F>
  CAROM_INLINE void for_row_of_lanes(int i, F&& f) const {
    const int first = shape_.row_first[i];
    lanes_.for_each(shape_.row_first[i + 1] - first, [&](int t) { f(shape_.column[first + t]); });
  }
  /// f(k, P_jk) for the entries of row j of P that are not zero in all problems.
  template <class F>
  CAROM_INLINE void for_hessian(int j, F&& f) const {
    if (shape_.hessian_first == nullptr) {
      for (int k = 0; k <= j; ++k) f(k, view_.hessian[static_cast<long>(j) * n_ + k]);
      for (int k = j + 1; k < n_; ++k) f(k, view_.hessian[static_cast<long>(k) * n_ + j]);
      return;
    }
    for (int t = shape_.hessian_first[j]; t < shape_.hessian_first[j + 1]; ++t) {
      const int k = shape_.hessian_column[t];
      f(k, hessian(j, k));
    }
  }
  template <class F>
  CAROM_INLINE void for_cones(F&& f) const {
    for (int c = 0; c < shape_.cones; ++c) f(shape_.cone[c]);
  }
  /// All rows of a cone share the largest of their values.
  CAROM_CALL void join_cones(const Memory& values) const {
    using kernels::larger;
    for_cones([&](const kernels::QpConeSpan& cone) {
      V most(0.0);
      for (int i = cone.first; i < cone.first + cone.size; ++i) most = larger(values[i], most);
      lanes_.for_each(cone.size, [&](int t) { values[cone.first + t] = most; });
    });
  }

  /// value = A x and the sizes of its terms.
  template <class Answer>
  CAROM_CALL void multiply_rows(const Answer& x) const {
    using kernels::larger;
    using kernels::magnitude;
    lanes_.for_each(rows_, [&](int i) {
      V sum(0.0);
      V size(0.0);
      for_row(i, [&](int j) {
        const V term = matrix(i, j) * x[j];
        sum = sum + term;
        size = size + magnitude(term);
      });
      at_.value[i] = sum;
      at_.row_size[i] = size;
    });
    join_cones(at_.row_size);
  }
  /// bent = P x and the sizes of its terms.
  template <class Answer>
  CAROM_CALL void multiply_hessian(const Answer& x) const {
    using kernels::larger;
    using kernels::magnitude;
    lanes_.for_each(n_, [&](int j) {
      V sum(0.0);
      V size(0.0);
      for_hessian(j, [&](int k, V entry) {
        const V term = entry * x[k];
        sum = sum + term;
        size = size + magnitude(term);
      });
      at_.bent[j] = sum;
      at_.column_size[j] = size;
    });
  }
  CAROM_CALL void no_hessian() const {
    lanes_.for_each(n_, [&](int j) {
      at_.bent[j] = V(0.0);
      at_.column_size[j] = V(0.0);
    });
  }
  /// pull = A'y; its terms join the columns' sizes.
  template <class Answer>
  CAROM_CALL void multiply_columns(const Answer& y) const {
    using kernels::any_of;
    using kernels::magnitude;
    lanes_.for_each(n_, [&](int j) { at_.pull[j] = V(0.0); });
    for (int i = 0; i < rows_; ++i) {
      if (!any_of(y[i] != V(0.0))) continue;
      for_row_of_lanes(i, [&](int j) {
        const V term = matrix(i, j) * y[i];
        at_.pull[j] = at_.pull[j] + term;
        at_.column_size[j] = at_.column_size[j] + magnitude(term);
      });
    }
  }

  /// bent and pull, as if in twice the precision, so that their sum holds what q_j sees of terms
  /// that cancel; the columns' sizes become those of the two. Overwrites known_x.
  template <class X, class Y>
  CAROM_CALL void sharpen_columns(const X& x, const Y& y) const {
    using kernels::magnitude;
    const Memory rest = at_.known_x;
    lanes_.for_each(n_, [&](int j) {
      V sum(0.0);
      V low(0.0);
      for_hessian(j, [&](int k, V entry) { add_product<V>(entry, x[k], sum, low); });
      at_.bent[j] = sum + low;
      at_.pull[j] = sum - at_.bent[j];
      rest[j] = low;
    });
    for (int i = 0; i < rows_; ++i) {
      for_row_of_lanes(i, [&](int j) {
        V sum = at_.pull[j];
        V low = rest[j];
        add_product<V>(matrix(i, j), y[i], sum, low);
        at_.pull[j] = sum;
        rest[j] = low;
      });
    }
    lanes_.for_each(n_, [&](int j) {
      at_.pull[j] = at_.pull[j] + rest[j];
      at_.column_size[j] = magnitude(at_.bent[j]) + magnitude(at_.pull[j]);
    });
  }

  /// What a row's bounds explain: those that its terms reach at all.
  CAROM_INLINE V row_seed(int i) const {
    using kernels::larger;
    using kernels::magnitude;
    using kernels::select;
    const V most = V(2.0) * at_.row_size[i];
    const V l = magnitude(view_.lower[i]);
    const V u = magnitude(view_.upper[i]);
    return larger(select(l <= most, l, V(0.0)), select(u <= most, u, V(0.0)));
  }

  /// Which equations and unknowns take part in `explain`.
  struct Parts {
    bool rows, hessian, multipliers;
    bool seeds = true;  ///< of rows by their bounds, of columns by q; else nothing is given but
                        ///< known unknowns
  };

  /// What the bounds of a cone's rows explain together. If the vector of bounds is near the cone's
  /// boundary, as for t >= |x|^2, small terms decide on which side the slack lies.
  CAROM_INLINE V cone_seed(const kernels::QpConeSpan& cone) const {
    using kernels::larger;
    using kernels::magnitude;
    using kernels::select;
    using kernels::square_root;
    V most(0.0);
    V tail(0.0);
    for (int i = cone.first; i < cone.first + cone.size; ++i) {
      const V bound = view_.upper[i];
      most = larger(magnitude(bound), most);
      if (i > cone.first) tail = tail + bound * bound;
    }
    const V margin = magnitude(view_.upper[cone.first] - square_root(tail));
    return select(margin <= V(2.0) * at_.row_size[cone.first], most, V(0.0));
  }
  /// The data of a cone's rows are the largest of them, or by its bounds together.
  CAROM_CALL void join_cone_data(const Parts& parts) const {
    using kernels::larger;
    using kernels::select;
    for_cones([&](const kernels::QpConeSpan& cone) {
      const V together = parts.seeds ? cone_seed(cone) : V(0.0);
      V most(0.0);
      V own(0.0);
      for (int i = cone.first; i < cone.first + cone.size; ++i) {
        most = larger(at_.row_datum[i], most);
        own = larger(row_seed(parts, i), own);
      }
      most = select(together > own, (most - own) + together, most);
      lanes_.for_each(cone.size, [&](int t) { at_.row_datum[cone.first + t] = most; });
    });
  }

  /// Fills the data, from the seeds and the unknowns that are known at the start.
  template <class X, class Y>
  CAROM_CALL void explain(const Parts& parts, const X& x, const Y& y) const {
    using kernels::any_of;
    using kernels::larger;
    using kernels::select;
    if (knows_terms(parts, x, y)) {
      gather(parts, x, y, true);
      reach(parts, x, y);
    } else {  // the same, but rows are asked only where columns leave something open
      gather_columns(parts, x, y, false);
      reach_by_columns(parts, x, y);
      if (parts.rows && !is_known(at_.known_x, n_)) {
        gather_rows(parts, x, false);
        reach_by_rows(x);
      }
    }
    V before(-1.0);
    for (int round = 0; round <= n_ + rows_; ++round) {
      V count(0.0);
      const auto are_open = [&](const Memory& known, int of) {
        V open(0.0);
        for (int e = 0; e < of; ++e) {
          count = count + known[e];
          open = larger(select(known[e] > V(0.0), V(0.0), V(1.0)), open);
        }
        return any_of(open > V(0.0));
      };
      const bool open = are_open(at_.known_x, parts.rows || parts.hessian ? n_ : 0);
      if (!are_open(at_.known_y, parts.multipliers ? rows_ : 0) && !open) {
        // Then every term counts.
        if (parts.rows) {
          take_all_terms(parts);
          join_cone_data(parts);
        }
        lanes_.for_each(
            n_, [&](int j) { at_.column_datum[j] = column_seed(parts, j) + at_.column_size[j]; });
        return;
      }
      if (!any_of(count > before)) return;
      before = count;
      if (kInOrder && parts.rows && shape_.cones == 0) {
        if (open) {
          reach_in_order(parts, x);
        } else {
          take_all_terms(parts);
        }
        gather_columns(parts, x, y, true);
        reach_by_columns(parts, x, y);
      } else {
        gather(parts, x, y, true);
        reach(parts, x, y);
      }
    }
  }

 private:
  static constexpr bool kInOrder = std::is_base_of_v<kernels::SingleLane, Lanes>;

  CAROM_INLINE V row_seed(const Parts& parts, int i) const {
    return parts.seeds ? row_seed(i) : V(0.0);
  }
  CAROM_INLINE V column_seed(const Parts& parts, int j) const {
    using kernels::magnitude;
    return parts.seeds && parts.hessian ? magnitude(view_.gradient[j]) : V(0.0);
  }

  /// row_datum, where all of x is known.
  CAROM_INLINE void take_all_terms(const Parts& parts) const {
    lanes_.for_each(rows_, [&](int i) { at_.row_datum[i] = row_seed(parts, i) + at_.row_size[i]; });
  }

  /// Which unknowns the data explain.
  template <class X, class Y>
  CAROM_CALL void reach(const Parts& parts, const X& x, const Y& y) const {
    if (parts.rows) reach_by_rows(x);
    reach_by_columns(parts, x, y);
  }
  CAROM_INLINE bool is_known(const Memory& known, int count) const {
    using kernels::any_of;
    using kernels::smaller;
    V least(1.0);
    for (int e = 0; e < count; ++e) least = smaller(known[e], least);
    return !any_of(least < V(1.0));
  }
  template <class X>
  CAROM_INLINE void reach_by_rows(const X& x) const {
    for (int i = 0; i < rows_; ++i) reach_by_row(i, x);
  }
  template <class X>
  CAROM_INLINE void reach_by_row(int i, const X& x) const {
    using kernels::larger;
    using kernels::magnitude;
    for_row_of_lanes(i, [&](int j) {
      at_.known_x[j] =
          larger(reached(magnitude(matrix(i, j) * x[j]), at_.row_datum[i]), at_.known_x[j]);
    });
  }
  /// The same by rows whose data hold what those before them explain: it ends with the same
  /// unknowns, but a chain of rows needs no round each.
  template <class X>
  CAROM_CALL void reach_in_order(const Parts& parts, const X& x) const {
    for (int i = 0; i < rows_; ++i) {
      at_.row_datum[i] = row_seed(parts, i) + known_terms(i, x);
      reach_by_row(i, x);
    }
  }
  /// Of row i.
  template <class X>
  CAROM_INLINE V known_terms(int i, const X& x) const {
    using kernels::magnitude;
    V sum(0.0);
    for_row(i, [&](int j) { sum = sum + at_.known_x[j] * magnitude(matrix(i, j) * x[j]); });
    return sum;
  }
  template <class X, class Y>
  CAROM_CALL void reach_by_columns(const Parts& parts, const X& x, const Y& y) const {
    using kernels::any_of;
    using kernels::larger;
    using kernels::magnitude;
    if (parts.hessian) {
      lanes_.for_each(n_, [&](int j) {
        V known = at_.known_x[j];
        if (!any_of(known < V(1.0))) return;
        const V size = magnitude(x[j]);
        const auto meet = [&](int k, V entry) {
          known = larger(reached(magnitude(entry) * size, at_.column_datum[k]), known);
        };
        meet(j, hessian(j, j));  // mostly enough
        if (any_of(known < V(1.0))) for_hessian(j, meet);
        at_.known_x[j] = known;
      });
    }
    if (parts.multipliers) {
      lanes_.for_each(rows_, [&](int i) {
        V known = at_.known_y[i];
        if (!any_of(known < V(1.0))) return;
        for_row(i, [&](int j) {
          known = larger(reached(magnitude(matrix(i, j) * y[i]), at_.column_datum[j]), known);
        });
        at_.known_y[i] = known;
      });
      // (t, v) of a dual cone: who explains t bounds v, and a v that t is not far above explains t.
      // Columns that only one of them meets may have q_j = 0.
      for_cones([&](const kernels::QpConeSpan& cone) {
        V tail(0.0);
        for (int i = cone.first + 1; i < cone.first + cone.size; ++i) {
          tail = larger(at_.known_y[i] * magnitude(y[i]), tail);
        }
        const V head = larger(reached(magnitude(y[cone.first]), tail), at_.known_y[cone.first]);
        lanes_.for_each(cone.size, [&](int t) {
          const int i = cone.first + t;
          at_.known_y[i] = larger(head, at_.known_y[i]);
        });
      });
    }
  }

  /// Whether an unknown that is known from the start has terms.
  template <class X, class Y>
  CAROM_CALL bool knows_terms(const Parts& parts, const X& x, const Y& y) const {
    using kernels::any_of;
    using kernels::larger;
    using kernels::magnitude;
    V most(0.0);
    for (int j = 0; (parts.rows || parts.hessian) && j < n_; ++j) {
      most = larger(at_.known_x[j] * magnitude(x[j]), most);
    }
    for (int i = 0; parts.multipliers && i < rows_; ++i) {
      most = larger(at_.known_y[i] * magnitude(y[i]), most);
    }
    return any_of(most > V(0.0));
  }

  /// The data with the terms that are explained so far; `terms`: whether there are any.
  template <class X, class Y>
  CAROM_CALL void gather(const Parts& parts, const X& x, const Y& y, bool terms) const {
    if (parts.rows) gather_rows(parts, x, terms);
    gather_columns(parts, x, y, terms);
  }
  template <class X>
  CAROM_CALL void gather_rows(const Parts& parts, const X& x, bool terms) const {
    lanes_.for_each(rows_, [&](int i) { at_.row_datum[i] = terms ? known_terms(i, x) : V(0.0); });
    join_cones(at_.row_datum);
    lanes_.for_each(rows_,
                    [&](int i) { at_.row_datum[i] = row_seed(parts, i) + at_.row_datum[i]; });
    join_cone_data(parts);
  }
  template <class X, class Y>
  CAROM_CALL void gather_columns(const Parts& parts, const X& x, const Y& y, bool terms) const {
    using kernels::magnitude;
    lanes_.for_each(n_, [&](int j) {
      V datum(0.0);
      if (terms && parts.hessian) {
        for_hessian(
            j, [&](int k, V entry) { datum = datum + at_.known_x[k] * magnitude(entry * x[k]); });
      }
      at_.column_datum[j] = datum;
    });
    for (int i = 0; terms && parts.multipliers && i < rows_; ++i) {
      for_row_of_lanes(i, [&](int j) {
        at_.column_datum[j] = at_.column_datum[j] + at_.known_y[i] * magnitude(matrix(i, j) * y[i]);
      });
    }
    lanes_.for_each(
        n_, [&](int j) { at_.column_datum[j] = column_seed(parts, j) + at_.column_datum[j]; });
  }

 protected:
  const Lanes& lanes_;
  const kernels::QpShape& shape_;
  kernels::QpView<Data> view_;
  int n_, rows_;
  QpScalesLayout<Memory> at_;
};

}  // namespace carom::certificate
