#pragma once

#include <carom/kernels/qp_homogeneous_embedding.hpp>
#include <carom/kernels/qp_least_squares.hpp>

/// The last digits: which slacks and multipliers of an iterate of the homogeneous method vanish,
/// and the point of that face by Newton's method with least squares, so that faces without strict
/// complementarity, redundant rows and multipliers that are not unique are met as well.
namespace carom::kernels {

CAROM_INLINE constexpr long qp_face_workspace(long n, long rows) {
  const long columns = n + rows + 1;
  return 2 * ((n + 2 * rows + 2) * columns + 4 * columns + 2 * n + 6 * rows) + 3 * columns +
         6 * rows;
}

enum class QpFaceKind { answer, contradiction, ray };

template <class Real>
class QpFace {
 public:
  CAROM_HOST_DEVICE QpFace(const QpShape& shape, const QpReduction<Real>& problem,
                           const QpEmbedding<Real>& iterate, QpArena& arena)
      : shape_(shape), p_(problem), iterate_(iterate) {
    const long n = shape.variables;
    const long rows = shape.rows;
    const long columns = n + rows + 1;
    u = arena.take<Real>(n);
    z = arena.take<Real>(2 * rows);
    s_ = arena.take<Real>(2 * rows);
    place_ = arena.take<int>(2 * rows);
    slack_face_ = arena.take<int>(2 * rows);
    dual_face_ = arena.take<int>(2 * rows);
    order_ = arena.take<int>(columns);
    owner_ = arena.take<int>(columns);
    size_ = arena.take<double>(columns);
    step_ = arena.take<Real>(columns);
    table_ = arena.take<Real>((n + 2 * rows + 2) * columns);
  }

  Real *u, *z;  ///< the point of the face; unknowns of the reduced problem and its elements

  /// band: of slack over multiplier, within [1/band, band] both count as zero. Of proofs: what is
  /// below 1/band of the largest is zero. dependent, least: of least_squares. False where there is
  /// nothing to start from.
  CAROM_HOST_DEVICE bool find(QpFaceKind kind, double band, double dependent, double least) {
    kind_ = kind;
    if (!start()) return false;
    classify(band);
    list_unknowns();
    dependent_ = dependent;
    least_ = least;
    refine();
    if (kind_ == QpFaceKind::contradiction) {
      for (int e = 0; e < p_.elements; ++e) s_[e] = Real(0.0);
    }
    settle();
    return true;
  }

  /// Unknowns that the face leaves open to zero, one after another, as far as no slack and no
  /// multiplier forbids it: what the data do not ask for is not in the answer. False where none is.
  CAROM_HOST_DEVICE bool simplify() {
    const int rank =
        least_squares(linearise(), columns_, dependent_, least_, table_, order_, size_, step_);
    const int stride = columns_ + 1;
    bool changed = false;
    for (int c = columns_ - 1; c >= rank; --c) {
      const int open = order_[c];
      const Real change = -unknown(open);
      if (static_cast<double>(change) == 0.0) continue;
      // R d + R_open change = 0
      for (int j = 0; j < columns_; ++j) step_[j] = Real(0.0);
      step_[open] = change;
      for (int k = rank - 1; k >= 0; --k) {
        const Real* const row = table_ + static_cast<long>(k) * stride;
        Real sum = row[open] * change;
        for (int e = k + 1; e < rank; ++e) sum += row[order_[e]] * step_[order_[e]];
        step_[order_[k]] = -(sum / row[order_[k]]);
      }
      move(1.0);
      unknown(open) = Real(0.0);
      if (is_inside()) {
        changed = true;
      } else {
        unknown(open) = -change;
        step_[open] = Real(0.0);
        move(-1.0);
      }
    }
    if (!changed) return false;
    refine();
    settle();
    return true;
  }

  /// Whether the face has a point where we are, in the method's units: what only shrinks while the
  /// point escapes is no answer. On the boundary of a cone an escape leaves the square of its rest
  /// only, so that far points say nothing there; and a proof that large excludes nothing.
  [[nodiscard]] CAROM_HOST_DEVICE bool is_met() const {
    double size = larger(1.0, largest(z));
    for (int c = 0; c < p_.unknowns; ++c) {
      size = larger(magnitude(static_cast<double>(u[c])), size);
    }
    double round = 0.0;
    iterate_.for_cones([&](int first, int count) {
      for (const Real* const part : {s_, z}) {
        const Real* const v = part + first;
        const auto head = static_cast<double>(v[0]);
        if (static_cast<double>(v[0] - soc::tail_norm(v, count)) < kOnBoundary * head) {
          round = larger(head, round);
        }
      }
    });
    return rest_ * size <= kMet && round <= kFarOnBoundary &&
           (kind_ == QpFaceKind::answer || size <= kLargestProof);
  }

 private:
  static constexpr double kMet = 1e-12;
  static constexpr double kOnBoundary = 1e-6;
  static constexpr double kFarOnBoundary = 1e6;
  static constexpr double kLargestProof = 1e11;

  static constexpr int kSteps = 12;

  enum Face { zero = 0, boundary = 1, inside = 2 };

  [[nodiscard]] CAROM_INLINE Real& unknown(int column) {
    return owner_[column] < 0 ? u[column] : z[owner_[column]];
  }
  CAROM_HOST_DEVICE void move(double sign) {
    for (int j = 0; j < columns_; ++j) unknown(j) += step_[j] * sign;
  }

  /// Newton's method.
  CAROM_HOST_DEVICE void refine() {
    rest_ = kInfinity;
    for (int pass = 0; pass < kSteps; ++pass) {
      const int rows = linearise();
      const double rest = right_side(rows);
      if (!(rest < rest_)) {
        if (pass > 0) move(-1.0);
        return;
      }
      const bool slow = !(rest < 0.5 * rest_);
      rest_ = rest;
      if (slow || rest < 1e-31) return;
      least_squares(rows, columns_, dependent_, least_, table_, order_, size_, step_);
      move(1.0);
    }
  }

  /// Whether what is not zero on the face is on its side.
  [[nodiscard]] CAROM_HOST_DEVICE bool is_inside() {
    const bool with_u = kind_ != QpFaceKind::contradiction;
    const bool with_z = kind_ != QpFaceKind::ray;
    if (with_u) find_slacks();
    bool good = true;
    const auto check = [&](const Real* values, int first, int size, int face) {
      const Real* const v = values + first;
      if (face == inside) good = good && v[0] >= soc::tail_norm(v, size);
      if (face == boundary) good = good && v[0] > Real(0.0);
    };
    for (int e = 0; e < p_.halves; ++e) {
      if (with_u) check(s_, e, 1, slack_face_[e]);
      if (with_z) check(z, e, 1, dual_face_[e]);
    }
    iterate_.for_cones([&](int first, int size) {
      if (with_u) check(s_, first, size, slack_face_[first]);
      if (with_z) check(z, first, size, dual_face_[first]);
    });
    return good;
  }
  CAROM_HOST_DEVICE void find_slacks() {
    const bool answer = kind_ == QpFaceKind::answer;
    for (int e = 0; e < p_.elements; ++e) {
      s_[e] = (answer ? p_.bound[e] : Real(0.0)) - iterate_.image(e, u);
    }
  }

  CAROM_HOST_DEVICE bool start() {
    for (int e = 0; e < p_.elements; ++e) {
      z[e] = iterate_.z[e];
      s_[e] = iterate_.s[e];
    }
    // One multiplier for the two sides of a row: what both have in common proves nothing.
    for (int e = 0; e + 1 < p_.halves; ++e) {
      if (kind_ != QpFaceKind::contradiction || p_.element[e].row != p_.element[e + 1].row)
        continue;
      const Real common = smaller(z[e], z[e + 1]);
      z[e] -= common;
      z[e + 1] -= common;
    }
    Real unit(1.0);
    if (kind_ == QpFaceKind::answer) {
      unit = iterate_.tau;
    } else {
      unit = Real(0.0);
      if (kind_ == QpFaceKind::contradiction) {
        for (int e = 0; e < p_.elements; ++e) unit -= p_.bound[e] * z[e];
      } else {
        for (int c = 0; c < p_.unknowns; ++c) unit -= p_.gradient[c] * iterate_.u[c];
      }
    }
    if (!(unit > Real(0.0))) return false;
    for (int c = 0; c < p_.unknowns; ++c) u[c] = iterate_.u[c] / unit;
    for (int e = 0; e < p_.elements; ++e) {
      z[e] = z[e] / unit;
      s_[e] = s_[e] / unit;
    }
    return true;
  }

  CAROM_HOST_DEVICE void classify(double band) {
    const double most_slack = largest(s_);
    const double most_dual = largest(z);
    // Of a pair whose product vanishes: bit 0: the slack is zero; bit 1: the multiplier is.
    const auto pair = [&](const Real& slack, const Real& dual) {
      const auto a = static_cast<double>(slack);
      const auto b = static_cast<double>(dual);
      if (kind_ == QpFaceKind::answer) return (a <= b * band ? 1 : 0) + (b <= a * band ? 2 : 0);
      return (a * band <= most_slack ? 1 : 0) + (b * band <= most_dual ? 2 : 0);
    };
    for (int e = 0; e < p_.halves; ++e) {
      const int found = pair(s_[e], z[e]);
      slack_face_[e] = (found & 1) != 0 ? zero : inside;
      dual_face_[e] = (found & 2) != 0 ? zero : inside;
    }
    // Not both sides of one row.
    for (int e = 0; e + 1 < p_.halves; ++e) {
      if (p_.element[e].row != p_.element[e + 1].row) continue;
      const int far = s_[e] > s_[e + 1] ? e : e + 1;
      if (slack_face_[e] == zero && slack_face_[e + 1] == zero) slack_face_[far] = inside;
      if (dual_face_[e] == inside && dual_face_[e + 1] == inside) dual_face_[far] = zero;
    }
    iterate_.for_cones([&](int first, int size) {
      const Real* const s = s_ + first;
      const Real* const w = z + first;
      const Real s_tail = soc::tail_norm(s, size);
      const Real z_tail = soc::tail_norm(w, size);
      const int wide = pair(s[0] + s_tail, w[0] - z_tail);
      const int thin = pair(s[0] - s_tail, w[0] + z_tail);
      slack_face_[first] = (wide & 1) != 0 ? zero : (thin & 1) != 0 ? boundary : inside;
      dual_face_[first] = (thin & 2) != 0 ? zero : (wide & 2) != 0 ? boundary : inside;
      if (kind_ == QpFaceKind::answer && slack_face_[first] == inside) dual_face_[first] = zero;
      if (kind_ == QpFaceKind::answer && slack_face_[first] == boundary &&
          dual_face_[first] == inside) {
        dual_face_[first] = boundary;
      }
    });
  }

  [[nodiscard]] CAROM_HOST_DEVICE double largest(const Real* values) const {
    double most = 0.0;
    for (int e = 0; e < p_.elements; ++e) {
      most = larger(magnitude(static_cast<double>(values[e])), most);
    }
    return most;
  }

  CAROM_HOST_DEVICE void list_unknowns() {
    columns_ = kind_ == QpFaceKind::contradiction ? 0 : p_.unknowns;
    for (int j = 0; j < columns_; ++j) owner_[j] = -1;
    const auto place = [&](int first, int size, bool free) {
      for (int e = first; e < first + size; ++e) {
        place_[e] = -1;
        if (free && kind_ != QpFaceKind::ray) {
          owner_[columns_] = e;
          place_[e] = columns_++;
        } else {
          z[e] = Real(0.0);
        }
      }
    };
    for (int e = 0; e < p_.halves; ++e) place(e, 1, dual_face_[e] != zero);
    iterate_.for_cones([&](int first, int size) { place(first, size, dual_face_[first] != zero); });
  }

  /// Rows of the linearised equations of the face, the negative residual last. Returns their
  /// number.
  CAROM_HOST_DEVICE int linearise() {
    const int k = p_.unknowns;
    const int stride = columns_ + 1;
    const bool with_u = kind_ != QpFaceKind::contradiction;
    const bool with_z = kind_ != QpFaceKind::ray;
    const bool answer = kind_ == QpFaceKind::answer;
    if (with_u) find_slacks();
    int rows = 0;
    const auto new_row = [&]() {
      Real* const row = table_ + static_cast<long>(rows++) * stride;
      for (int c = 0; c < stride; ++c) row[c] = Real(0.0);
      return row;
    };
    // row += value d s_e = -value G_e du
    const auto add_slack = [&](Real* row, int e, const Real& value) {
      const Real* const g = p_.matrix + static_cast<long>(p_.element[e].row) * k;
      const Real factor = p_.element[e].sign > 0 ? -value : value;
      for (int c = 0; c < k; ++c) row[c] += factor * g[c];
    };
    const auto add_dual = [&](Real* row, int e, const Real& value) {
      if (place_[e] >= 0) row[place_[e]] += value;
    };
    // P u + q + G'z = 0, one column of G at a time.
    for (int c = 0; c < k; ++c) {
      Real* const row = new_row();
      Real rest(answer ? p_.gradient[c] : Real(0.0));
      for (int d = 0; d < k && with_u; ++d) {
        row[d] = p_.hessian[static_cast<long>(c) * k + d];
        rest += row[d] * u[d];
      }
      for (int e = 0; e < p_.elements && with_z; ++e) {
        if (place_[e] < 0) continue;
        const Real g = p_.matrix[static_cast<long>(p_.element[e].row) * k + c];
        row[place_[e]] = p_.element[e].sign > 0 ? g : -g;
        rest += row[place_[e]] * z[e];
      }
      row[columns_] = -rest;
    }
    if (kind_ == QpFaceKind::contradiction) {
      Real* const row = new_row();
      Real rest(1.0);
      for (int e = 0; e < p_.elements; ++e) {
        add_dual(row, e, p_.bound[e]);
        rest += p_.bound[e] * z[e];
      }
      row[columns_] = -rest;
    } else if (kind_ == QpFaceKind::ray) {
      Real* const row = new_row();
      Real rest(1.0);
      for (int c = 0; c < k; ++c) {
        row[c] = p_.gradient[c];
        rest += p_.gradient[c] * u[c];
      }
      row[columns_] = -rest;
    }
    const auto vanish = [&](int e) {
      Real* const row = new_row();
      add_slack(row, e, Real(1.0));
      row[columns_] = -s_[e];
    };
    // t - |v| = 0
    const auto on_boundary = [&](int first, int size, const Real* values, auto&& add) {
      const Real tail = soc::tail_norm(values + first, size);
      Real* const row = new_row();
      add(row, first, Real(1.0));
      for (int e = first + 1; e < first + size; ++e) {
        if (tail > Real(0.0)) add(row, e, -(values[e] / tail));
      }
      row[columns_] = tail - values[first];
    };
    for (int e = 0; e < p_.halves && with_u; ++e) {
      if (slack_face_[e] == zero) vanish(e);
    }
    iterate_.for_cones([&](int first, int size) {
      const int slack = slack_face_[first];
      const int dual = dual_face_[first];
      if (with_u && slack == zero) {
        for (int e = first; e < first + size; ++e) vanish(e);
      }
      if (with_u && slack == boundary && !(answer && dual == boundary)) {
        on_boundary(first, size, s_, add_slack);
      }
      if (with_z && dual == boundary && !(answer && slack == boundary)) {
        on_boundary(first, size, z, add_dual);
      }
      if (!answer || slack != boundary || dual != boundary) return;
      // s o z = 0, over the larger head
      const Real scale = Real(1.0) / larger(magnitude(s_[first]), magnitude(z[first]));
      for (int t = 0; t < size; ++t) {
        Real* const row = new_row();
        Real rest(0.0);
        for (int i = 0; i < size; ++i) {
          const int a = first + i;
          // Row 0: sum of s_i z_i; row t: s_0 z_t + z_0 s_t.
          if (t > 0 && i != 0 && i != t) continue;
          const int b = t == 0 ? a : first + t - i;
          add_slack(row, a, z[b] * scale);
          add_dual(row, b, s_[a] * scale);
          rest += s_[a] * z[b] * scale;
        }
        row[columns_] = -rest;
      }
    });
    return rows;
  }

  [[nodiscard]] CAROM_HOST_DEVICE double right_side(int rows) const {
    double most = 0.0;
    for (int i = 0; i < rows; ++i) {
      const auto rest =
          magnitude(static_cast<double>(table_[static_cast<long>(i) * (columns_ + 1) + columns_]));
      if (!(rest < kInfinity)) return kInfinity;
      most = larger(rest, most);
    }
    return most;
  }

  /// Multipliers that only rounding keeps from zero, or from their cone.
  CAROM_HOST_DEVICE void settle() {
    constexpr double kNothing = 1e-24;
    const double most = larger(1.0, largest(z));
    for (int e = 0; e < p_.halves; ++e) {
      if (static_cast<double>(z[e]) <= kNothing * most) z[e] = Real(0.0);
    }
    iterate_.for_cones([&](int first, int size) {
      for (int e = first; e < first + size; ++e) {
        if (magnitude(static_cast<double>(z[e])) <= kNothing * most) z[e] = Real(0.0);
      }
    });
  }

  QpShape shape_;
  const QpReduction<Real>& p_;
  const QpEmbedding<Real>& iterate_;
  QpFaceKind kind_ = QpFaceKind::answer;
  int columns_ = 0;
  double rest_ = kInfinity, dependent_ = 0.0, least_ = 0.0;
  Real* s_;
  int *place_, *slack_face_, *dual_face_, *order_, *owner_;
  double* size_;
  Real *step_, *table_;
};

}  // namespace carom::kernels
