#pragma once

#include "programs/qp/kernels/qp_homogeneous_embedding.hpp"

/// Which slacks and multipliers of an iterate of the homogeneous method vanish, and the equations
/// of that face of answers, rays or proofs, linearised.
namespace carom::kernels {

enum class QpFaceKind { answer, contradiction, ray };

template <class Real>
class QpFaceEquations {
 public:
  Real *u, *z;  ///< the point of the face; unknowns of the reduced problem and its elements

 protected:
  enum Face { zero = 0, boundary = 1, inside = 2 };

  CAROM_HOST_DEVICE QpFaceEquations(const QpShape& shape, const QpReduction<Real>& problem,
                                    const QpEmbedding<Real>& iterate, QpArena& arena)
      : p_(problem), iterate_(iterate) {
    const long n = shape.variables;
    const long rows = shape.rows;
    const long columns = n + rows + 1;
    u = arena.take<Real>(n);
    z = arena.take<Real>(2 * rows);
    s_ = arena.take<Real>(2 * rows);
    place_ = arena.take<int>(2 * rows);
    slack_face_ = arena.take<int>(2 * rows);
    dual_face_ = arena.take<int>(2 * rows);
    owner_ = arena.take<int>(columns);
    table_ = arena.take<Real>((n + 2 * rows + 2) * columns);
  }

  CAROM_CALL bool start() {
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

  CAROM_CALL void classify(double band) {
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

  [[nodiscard]] CAROM_CALL double largest(const Real* values) const {
    double most = 0.0;
    for (int e = 0; e < p_.elements; ++e) {
      most = larger(magnitude(static_cast<double>(values[e])), most);
    }
    return most;
  }

  CAROM_CALL void list_unknowns() {
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

  CAROM_CALL void find_slacks() {
    const bool answer = kind_ == QpFaceKind::answer;
    for (int e = 0; e < p_.elements; ++e) {
      s_[e] = (answer ? p_.bound[e] : Real(0.0)) - iterate_.image(e, u);
    }
  }

  /// Rows of the linearised equations of the face, the negative residual last: whole, or the
  /// residual only, with the coefficients of an earlier point. Returns their number.
  CAROM_CALL int linearise(bool whole = true) {
    const int k = p_.unknowns;
    const int stride = columns_ + 1;
    const bool with_u = kind_ != QpFaceKind::contradiction;
    const bool with_z = kind_ != QpFaceKind::ray;
    const bool answer = kind_ == QpFaceKind::answer;
    if (with_u) find_slacks();
    int rows = 0;
    const auto new_row = [&]() {
      Real* const row = table_ + static_cast<long>(rows++) * stride;
      for (int c = 0; c < stride && whole; ++c) row[c] = Real(0.0);
      return row;
    };
    // row += value d s_e = -value G_e du
    const auto add_slack = [&](Real* row, int e, const Real& value) {
      const Real* const g = p_.matrix + static_cast<long>(p_.element[e].row) * k;
      const Real factor = p_.element[e].sign > 0 ? -value : value;
      for (int c = 0; c < k && whole; ++c) row[c] += factor * g[c];
    };
    const auto add_dual = [&](Real* row, int e, const Real& value) {
      if (place_[e] >= 0 && whole) row[place_[e]] += value;
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

  const QpReduction<Real>& p_;
  const QpEmbedding<Real>& iterate_;
  QpFaceKind kind_ = QpFaceKind::answer;
  int columns_ = 0;
  Real* s_;
  int *place_, *owner_;  // column of an element, element of a column; -1 where there is none
  int *slack_face_, *dual_face_;
  Real* table_;  // [rows, columns + 1]
};

}  // namespace carom::kernels
