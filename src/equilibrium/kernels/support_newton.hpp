#pragma once

#include "equilibrium/kernels/cone_simplex.hpp"

/// Newton's method on the optimality conditions of the exact cones: where the simplex method would
/// split one contact's force among ever closer rays, the force lies on its cone and turns with y.
///   slack_i(y) = 0 for loaded contacts, sum_i lambda_i A_i r_i(y) = b,  r_i = n - mu w_t / |w_t|;
/// a force inside its cone has w_i(y) = 0 and three free components instead.
namespace carom::kernels {

/// Contacts that carry force: at most four, as many as the equations have rows.
struct NewtonActive {
  int contact;
  bool inside;
  double force[3];       ///< boundary: multiplier in force[0]
  double tangential[2];  ///< boundary: unit vector against which the ray leans
  double turn[4];        ///< change of its angle by a change of y
};

class SupportNewton {
 public:
  CAROM_INLINE SupportNewton(int contacts, const SupportContact* contact, const double* right,
                             double tolerance)
      : contacts_(contacts), contact_(contact), right_(right), tolerance_(tolerance) {}

  /// From a simplex basis and its multipliers. On success y, and columns with multipliers x that
  /// carry the same meaning as a basis's.
  CAROM_INLINE bool run(const double* d, const SupportBasis<double>& basis, double* x, double* y,
                        SupportBasis<double>& columns) {
    constexpr int kSteps = 20;
    load(basis, x);
    double z[4] = {y[0], y[1], y[2], y[3]};
    for (int step = 0; step < kSteps; ++step) {
      const int size = assemble(d, z);
      if (size < 0 || !solve(size)) return false;
      double change = 0.0;
      double scale = 1.0;
      for (int j = 0; j < 4; ++j) {
        z[j] += matrix_[j][size];
        change = larger(change, magnitude(matrix_[j][size]));
        scale = larger(scale, magnitude(z[j]));
      }
      if (!(change <= 1e3)) return false;
      int row = 4;
      double load = 0.0;
      for (int a = 0; a < count_; ++a) {
        for (int j = 0; j < rows(a); ++j) {
          active_[a].force[j] = matrix_[row++][size];
          load += magnitude(active_[a].force[j]);
        }
        turn_ray(active_[a], size);
      }
      if (change > 1e-9 * scale) continue;
      // Near a cone's apex the ray turns faster than y moves.
      const double balanced = 1e-13 + 1e-14 * load;
      for (int turn = 0; turn < 3 && imbalance() > balanced; ++turn) {
        if (!balance()) break;
      }
      if (imbalance() > balanced) continue;
      const int verdict = settle(d, z);
      if (verdict < 0) return false;
      if (verdict == 0) continue;
      store(x, columns);
      for (int j = 0; j < 4; ++j) y[j] = z[j];
      return true;
    }
    return false;
  }

 private:
  static constexpr int kLargest = 8;

  [[nodiscard]] CAROM_INLINE int rows(int a) const { return active_[a].inside ? 3 : 1; }

  CAROM_INLINE void load(const SupportBasis<double>& basis, const double* x) {
    count_ = 0;
    for (int r = 0; r < 4; ++r) {
      const int i = static_cast<int>(basis.column[r].contact);
      if (i < 0 || !(x[r] > 1e-9)) continue;
      int at = 0;
      while (at < count_ && active_[at].contact != i) ++at;
      if (at == count_) {
        active_[count_++] = {i, false, {}, {}, {}};
        columns_[at] = 0;
      }
      ++columns_[at];
      active_[at].force[0] += x[r];
    }
    for (int a = 0; a < count_; ++a) active_[a].inside = columns_[a] >= 3;
  }

  CAROM_INLINE void field(const SupportContact& c, const double* d, const double* y,
                          double* w) const {
    const double* p = c.position;
    w[0] = fused(d[0], p[2], fused(-p[1], y[3], y[0]));
    w[1] = fused(d[1], p[2], fused(p[0], y[3], y[1]));
    w[2] = fused(-d[1], p[1], fused(-d[0], p[0], y[2]));
  }
  /// A_i r.
  CAROM_INLINE static void apply(const SupportContact& c, const double* r, double* out) {
    for (int j = 0; j < 3; ++j) out[j] = r[j];
    out[3] = fused(c.position[0], r[1], -(c.position[1] * r[0]));
  }
  /// Reduced cost of the contact's best ray, and that ray's tangential direction.
  CAROM_INLINE double slack(const SupportContact& c, const double* w, double* tangential,
                            double& size) const {
    tangential[0] = dot3(c.tangent[0], w);
    tangential[1] = dot3(c.tangent[1], w);
    size = square_root(fused(tangential[0], tangential[0], tangential[1] * tangential[1]));
    for (int j = 0; j < 2; ++j)
      tangential[j] = size > 0.0 ? tangential[j] / size : (j == 0 ? 1 : 0);
    return fused(-c.friction, size, dot3(c.normal, w));
  }
  CAROM_INLINE static void ray(const SupportContact& c, const double* tangential, double* r) {
    for (int j = 0; j < 3; ++j) {
      r[j] =
          fused(-c.friction, fused(tangential[0], c.tangent[0][j], tangential[1] * c.tangent[1][j]),
                c.normal[j]);
    }
  }

  /// [matrix | right side] of the Newton step for (change of y, new forces); its size, or -1.
  CAROM_INLINE int assemble(const double* d, const double* y) {
    int size = 4;
    for (int a = 0; a < count_; ++a) size += rows(a);
    if (size > kLargest) return -1;
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j <= size; ++j) matrix_[i][j] = 0.0;
    }
    for (int j = 0; j < 4; ++j) matrix_[j][size] = right_[j];
    int row = 4;
    for (int a = 0; a < count_; ++a) {
      const SupportContact& c = contact_[active_[a].contact];
      double w[3];
      field(c, d, y, w);
      double column[4];
      if (active_[a].inside) {
        for (int axis = 0; axis < 3; ++axis) {
          const double unit[3] = {axis == 0 ? 1.0 : 0.0, axis == 1 ? 1.0 : 0.0,
                                  axis == 2 ? 1.0 : 0.0};
          apply(c, unit, column);
          for (int j = 0; j < 4; ++j) matrix_[j][row] = matrix_[row][j] = column[j];
          matrix_[row++][size] = -w[axis];
        }
        continue;
      }
      double* t = active_[a].tangential;
      double length;
      const double gap = slack(c, w, t, length);
      double r[3];
      ray(c, t, r);
      for (double& value : active_[a].turn) value = 0.0;
      apply(c, r, column);
      for (int j = 0; j < 4; ++j) matrix_[j][row] = matrix_[row][j] = column[j];
      matrix_[row++][size] = -gap;
      if (!(c.friction > 0.0)) continue;
      if (!(length > 1e-12)) return -1;
      const double across[2] = {-t[1], t[0]};
      double turn[3];
      for (int j = 0; j < 3; ++j) {
        turn[j] = fused(across[0], c.tangent[0][j], across[1] * c.tangent[1][j]);
      }
      apply(c, turn, column);
      for (int j = 0; j < 4; ++j) active_[a].turn[j] = column[j] / length;
      const double curvature = at_least_zero(active_[a].force[0]) * c.friction / length;
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
          matrix_[i][j] = fused(-curvature * column[i], column[j], matrix_[i][j]);
        }
      }
    }
    return size;
  }

  /// Gaussian elimination with partial pivoting; the solution in column `size`.
  CAROM_INLINE bool solve(int size) {
    for (int c = 0; c < size; ++c) {
      int best = c;
      for (int i = c + 1; i < size; ++i) {
        if (magnitude(matrix_[i][c]) > magnitude(matrix_[best][c])) best = i;
      }
      if (!(magnitude(matrix_[best][c]) > 1e-11)) return false;
      if (best != c) {
        for (int j = c; j <= size; ++j) {
          const double other = matrix_[c][j];
          matrix_[c][j] = matrix_[best][j];
          matrix_[best][j] = other;
        }
      }
      const double scale = 1.0 / matrix_[c][c];
      for (int j = c; j <= size; ++j) matrix_[c][j] *= scale;
      for (int i = 0; i < size; ++i) {
        if (i == c) continue;
        const double factor = -matrix_[i][c];
        for (int j = c; j <= size; ++j) matrix_[i][j] = fused(factor, matrix_[c][j], matrix_[i][j]);
      }
    }
    return true;
  }

  /// Rays turn by the step itself: those of the new y would carry its rounding, which large forces
  /// and small w_t magnify beyond the balance asked for.
  CAROM_INLINE void turn_ray(NewtonActive& active, int size) const {
    if (active.inside) return;
    double angle = 0.0;
    for (int j = 0; j < 4; ++j) angle = fused(active.turn[j], matrix_[j][size], angle);
    turn_by(active, angle);
  }

  /// Turns a boundary contact's ray by a small angle.
  CAROM_INLINE static void turn_by(NewtonActive& active, double angle) {
    const double x = fused(-angle, active.tangential[1], active.tangential[0]);
    const double y = fused(angle, active.tangential[0], active.tangential[1]);
    const double scale = 1.0 / square_root(fused(x, x, y * y));
    active.tangential[0] = x * scale;
    active.tangential[1] = y * scale;
  }

  /// Directions in which a force may change to first order: its ray and the ray's turning, or all
  /// three axes; how many.
  CAROM_INLINE int tangent_plane(int a, double (*out)[3]) const {
    const NewtonActive& active = active_[a];
    const SupportContact& c = contact_[active.contact];
    if (active.inside) {
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) out[i][j] = i == j ? 1.0 : 0.0;
      }
      return 3;
    }
    ray(c, active.tangential, out[0]);
    if (!(c.friction > 0.0) || !(active.force[0] > 0.0)) return 1;
    // r = n - mu t, and t turns to (-t_2, t_1).
    for (int j = 0; j < 3; ++j) {
      out[1][j] = -c.friction * fused(-active.tangential[1], c.tangent[0][j],
                                      active.tangential[0] * c.tangent[1][j]);
    }
    return 2;
  }

  /// Least change of the forces within the cones' tangent planes that balances them; the objective
  /// does not change to first order, as w_i is orthogonal to those planes.
  CAROM_INLINE bool balance() {
    double rest[4];
    resultant(rest);
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) matrix_[i][j] = 0.0;
      matrix_[i][4] = -rest[i];
    }
    double plane[3][3];
    double column[4];
    for (int a = 0; a < count_; ++a) {
      const int free = tangent_plane(a, plane);
      for (int v = 0; v < free; ++v) {
        apply(contact_[active_[a].contact], plane[v], column);
        for (int i = 0; i < 4; ++i) {
          for (int j = 0; j < 4; ++j) {
            matrix_[i][j] = fused(column[i], column[j], matrix_[i][j]);
          }
        }
      }
    }
    if (!solve(4)) return false;
    double weight[4];
    for (int j = 0; j < 4; ++j) weight[j] = matrix_[j][4];
    for (int a = 0; a < count_; ++a) {
      NewtonActive& active = active_[a];
      const int free = tangent_plane(a, plane);
      double change[3];
      for (int v = 0; v < free; ++v) {
        apply(contact_[active.contact], plane[v], column);
        change[v] = 0.0;
        for (int j = 0; j < 4; ++j) change[v] = fused(column[j], weight[j], change[v]);
      }
      if (active.inside) {
        for (int v = 0; v < 3; ++v) active.force[v] += change[v];
      } else {
        active.force[0] += change[0];
        if (free == 2) turn_by(active, change[1] / active.force[0]);
      }
    }
    return true;
  }

  /// sum_i A_i f_i - b.
  CAROM_INLINE void resultant(double* sum) const {
    for (int j = 0; j < 4; ++j) sum[j] = -right_[j];
    for (int a = 0; a < count_; ++a) {
      const SupportContact& c = contact_[active_[a].contact];
      double force[3];
      force_of(a, force);
      double column[4];
      apply(c, force, column);
      for (int j = 0; j < 4; ++j) sum[j] += column[j];
    }
  }
  /// Its largest component.
  CAROM_INLINE double imbalance() const {
    double sum[4];
    resultant(sum);
    double worst = 0.0;
    for (const double value : sum) worst = larger(worst, magnitude(value));
    return worst;
  }
  CAROM_INLINE void force_of(int a, double* force) const {
    const NewtonActive& active = active_[a];
    if (active.inside) {
      for (int j = 0; j < 3; ++j) force[j] = active.force[j];
      return;
    }
    const SupportContact& c = contact_[active.contact];
    ray(c, active.tangential, force);
    for (int j = 0; j < 3; ++j) force[j] *= active.force[0];
  }

  /// 1 where the converged point is optimal, 0 where the loaded contacts changed, -1 to give up.
  CAROM_INLINE int settle(const double* d, const double* y) {
    if (++changes_ > 4) return -1;
    for (int a = 0; a < count_; ++a) {
      NewtonActive& active = active_[a];
      const SupportContact& c = contact_[active.contact];
      if (active.inside) {
        const double normal = dot3(c.normal, active.force);
        const double t1 = dot3(c.tangent[0], active.force);
        const double t2 = dot3(c.tangent[1], active.force);
        const double size = square_root(fused(t1, t1, t2 * t2));
        if (!(fused(-c.friction, normal, size) <= 1e-14)) return -1;
      } else if (active.force[0] < -1e-13) {
        for (int b = a + 1; b < count_; ++b) active_[b - 1] = active_[b];
        --count_;
        return count_ > 0 ? 0 : -1;
      }
    }
    double worst = -tolerance_;
    int entering = -1;
    for (int i = 0; i < contacts_; ++i) {
      double w[3];
      double t[2];
      double length;
      field(contact_[i], d, y, w);
      const double here = slack(contact_[i], w, t, length);
      if (here < worst) {
        worst = here;
        entering = i;
      }
    }
    if (entering < 0) return 1;
    for (int a = 0; a < count_; ++a) {
      if (active_[a].contact == entering) return 0;  // y is not settled yet
    }
    if (count_ == 4) return -1;
    active_[count_++] = {entering, false, {}, {}, {}};
    return 0;
  }

  CAROM_INLINE void store(double* x, SupportBasis<double>& columns) const {
    for (int r = 0; r < 4; ++r) {
      SupportColumn<double>& column = columns.column[r];
      column.contact = -1.0;
      x[r] = 0.0;
      for (double& value : column.wrench) value = 0.0;
      if (r >= count_) continue;
      const SupportContact& c = contact_[active_[r].contact];
      double force[3];
      force_of(r, force);
      x[r] = 1.0;
      ray_wrench(c.position, force, column.wrench);
      column.contact = static_cast<double>(active_[r].contact);
    }
  }

  int contacts_;
  const SupportContact* contact_;
  const double* right_;
  double tolerance_;
  NewtonActive active_[4] = {};
  int columns_[4] = {};
  int count_ = 0;
  int changes_ = 0;
  double matrix_[kLargest][kLargest + 1] = {};
};

}  // namespace carom::kernels
