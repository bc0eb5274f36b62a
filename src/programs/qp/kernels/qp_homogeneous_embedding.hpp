#pragma once

#include <initializer_list>

#include "programs/qp/kernels/qp_homogeneous_cones.hpp"
#include "programs/qp/kernels/qp_homogeneous_reduction.hpp"

/// The homogeneous embedding of a convex quadratic program with cones (Andersen and Ye 1999;
/// Goulart and Chen, "Clarabel", 2024) by predictor and corrector:
///   P u + G'z + q t = 0,  G u + s - h t = 0,  u'P u / t + q'u + h'z + k = 0,  s o z = 0, t k = 0.
/// t > 0 in the limit is an answer u / t, z / t; k > 0 a proof that there is none.
namespace carom::kernels {

/// Doubles, for Real of at most two doubles.
CAROM_INLINE constexpr long qp_embedding_workspace(long n, long rows) {
  return 2 * (n * n + 9 * n + 26 * rows);
}

template <class Real>
class QpEmbedding {
 public:
  CAROM_HOST_DEVICE QpEmbedding(const QpShape& shape, const QpReduction<Real>& problem,
                                QpArena& arena)
      : shape_(shape), p_(problem) {
    const long n = shape.variables;
    const long elements = 2L * shape.rows;
    factor_ = arena.take<Real>(n * n);
    for (Real** part : {&u, &du_, &moved_u_, &dual_rest_, &pull_, &bent_, &rhs_, &right_, &fix_}) {
      *part = arena.take<Real>(n);
    }
    for (Real** part : {&s, &z, &ds_, &dz_, &moved_z_, &primal_rest_, &weight_, &lambda_, &target_,
                        &side_, &defect_, &affine_, &other_}) {
      *part = arena.take<Real>(elements);
    }
  }

  Real *u, *s, *z;
  Real tau, kappa;
  Real gap;  ///< (s'z + t k) / (degree + 1)

  CAROM_CALL void start() {
    k_ = p_.unknowns;
    elements_ = p_.elements;
    for (int j = 0; j < k_; ++j) u[j] = Real(0.0);
    for (int e = 0; e < elements_; ++e) s[e] = z[e] = Real(e < p_.halves ? 1.0 : 0.0);
    for_cones([&](int first, int) { s[first] = z[first] = Real(1.0); });
    tau = kappa = gap = Real(1.0);
  }

  /// From the iterate of the same problem in fewer digits; false, and as after `start`, where that
  /// is none of this one: its reduction may have chosen other unknowns. On the path residuals
  /// shrink with the gap.
  template <class Other>
  CAROM_CALL bool start_at(const QpEmbedding<Other>& ahead) {
    start();
    measure();
    const double at_start = residual_;
    for (int j = 0; j < k_; ++j) u[j] = Real(ahead.u[j]);
    for (int e = 0; e < elements_; ++e) {
      s[e] = Real(ahead.s[e]);
      z[e] = Real(ahead.z[e]);
    }
    tau = Real(ahead.tau);
    kappa = Real(ahead.kappa);
    find_gap();
    measure();
    if (inside() && residual_ <= 2.0 * at_start * static_cast<double>(gap)) return true;
    start();
    return false;
  }

  /// Largest of what is left of the linear equations, in the method's units.
  [[nodiscard]] CAROM_INLINE double residual() const { return residual_; }

  /// One predictor and corrector. Returns the step's length, 0 where there is none.
  CAROM_CALL double iterate() {
    measure();
    scale();
    factorise();
    // The solution's share that moves with t: K (u2, z2) = (-q, h).
    for (int j = 0; j < k_; ++j) rhs_[j] = -p_.gradient[j];
    for (int e = 0; e < elements_; ++e) side_[e] = p_.bound[e];
    solve(moved_u_, moved_z_);
    // Predictor: W (lambda \ lambda o lambda) = s.
    for (int e = 0; e < elements_; ++e) target_[e] = s[e];
    step(Real(0.0), tau * kappa);
    const Real reach = longest();
    const Real short_of = Real(1.0) - reach;
    const Real centre = short_of * short_of * short_of;
    // Corrector (Mehrotra 1992).
    correct(centre * gap);
    step(centre, tau * kappa + dtau_ * dkappa_ - centre * gap);
    Real length = smaller(Real(1.0), longest() * kShortened);
    for (int cut = 0; cut < kCuts && !is_centred(length); ++cut) length = length * kCut;
    for (int j = 0; j < k_; ++j) u[j] += length * du_[j];
    for (int e = 0; e < elements_; ++e) {
      s[e] += length * ds_[e];
      z[e] += length * dz_[e];
    }
    tau += length * dtau_;
    kappa += length * dkappa_;
    find_gap();
    if (!inside()) return 0.0;
    return static_cast<double>(length);
  }

  /// G u of an element.
  [[nodiscard]] CAROM_CALL Real image(int e, const Real* v) const {
    const Real* const row = p_.matrix + static_cast<long>(p_.element[e].row) * k_;
    Real sum(0.0);
    for (int c = 0; c < k_; ++c) sum += row[c] * v[c];
    return p_.element[e].sign > 0 ? sum : -sum;
  }
  /// f(first element, size) for the cones.
  template <class F>
  CAROM_INLINE void for_cones(F&& f) const {
    int first = p_.halves;
    for (int c = 0; c < shape_.cones; ++c) {
      f(first, shape_.cone[c].size);
      first += shape_.cone[c].size;
    }
  }
  CAROM_CALL void bend(const Real* v, Real* result) const {
    for (int c = 0; c < k_; ++c) {
      Real sum(0.0);
      for (int d = 0; d < k_; ++d) sum += p_.hessian[static_cast<long>(c) * k_ + d] * v[d];
      result[c] = sum;
    }
  }
  /// result += G'v
  CAROM_CALL void add_pull(const Real* v, Real* result) const {
    for (int e = 0; e < elements_; ++e) {
      const Real value = p_.element[e].sign > 0 ? v[e] : -v[e];
      const Real* const row = p_.matrix + static_cast<long>(p_.element[e].row) * k_;
      for (int c = 0; c < k_; ++c) result[c] += value * row[c];
    }
  }

 private:
  static constexpr double kShortened = 0.99;
  static constexpr double kLeastShare = 1e-3;
  static constexpr double kCut = 0.8;
  static constexpr int kCuts = 20;

  template <class Vector>
  static CAROM_INLINE Real dot(int count, const Vector* a, const Vector* b) {
    Real sum(0.0);
    for (int i = 0; i < count; ++i) sum += a[i] * b[i];
    return sum;
  }

  CAROM_CALL void find_gap() {
    const double degree = static_cast<double>(p_.halves + shape_.cones + 1);
    gap = (dot(elements_, s, z) + tau * kappa) / degree;
  }

  [[nodiscard]] CAROM_CALL bool inside() const {
    bool good = is_finite(gap) && gap > Real(0.0) && tau > Real(0.0) && kappa > Real(0.0);
    for (int e = 0; e < p_.halves; ++e) good = good && s[e] > Real(0.0) && z[e] > Real(0.0);
    for_cones([&](int first, int size) {
      good = good && s[first] > soc::tail_norm(s + first, size) &&
             z[first] > soc::tail_norm(z + first, size);
    });
    return good;
  }

  /// Whether a step keeps all products of pairs above a share of their mean: the wide neighbourhood
  /// of the central path, without which a slack without interior runs ahead of the others.
  [[nodiscard]] CAROM_CALL bool is_centred(const Real& length) {
    for (int e = 0; e < elements_; ++e) {
      affine_[e] = s[e] + length * ds_[e];
      other_[e] = z[e] + length * dz_[e];
    }
    const Real pair = (tau + length * dtau_) * (kappa + length * dkappa_);
    const double degree = static_cast<double>(p_.halves + shape_.cones + 1);
    const Real least = (dot(elements_, affine_, other_) + pair) * (kLeastShare / degree);
    bool centred = pair >= least;
    for (int e = 0; e < p_.halves; ++e) centred = centred && affine_[e] * other_[e] >= least;
    for_cones([&](int first, int size) {
      centred = centred &&
                soc::determinant(affine_ + first, size) * soc::determinant(other_ + first, size) >=
                    least * least;
    });
    return centred;
  }

  CAROM_CALL void measure() {
    bend(u, bent_);
    for (int c = 0; c < k_; ++c) dual_rest_[c] = bent_[c] + p_.gradient[c] * tau;
    add_pull(z, dual_rest_);
    for (int e = 0; e < elements_; ++e) primal_rest_[e] = image(e, u) + s[e] - p_.bound[e] * tau;
    curved_ = dot(k_, u, bent_) / tau;
    gap_rest_ = curved_ + dot(k_, p_.gradient, u) + dot(elements_, p_.bound, z) + kappa;
    curved_ = curved_ / tau;
    residual_ = magnitude(static_cast<double>(gap_rest_));
    for (int c = 0; c < k_; ++c) {
      residual_ = larger(magnitude(static_cast<double>(dual_rest_[c])), residual_);
    }
    for (int e = 0; e < elements_; ++e) {
      residual_ = larger(magnitude(static_cast<double>(primal_rest_[e])), residual_);
    }
  }

  [[nodiscard]] CAROM_INLINE soc::Scaling<Real> scaling(int first, int size) const {
    return {lambda_[first], weight_ + first, size};
  }

  /// weight_: z / s of half-lines, w of cones; lambda_[first] of a cone: eta.
  CAROM_CALL void scale() {
    for (int e = 0; e < p_.halves; ++e) weight_[e] = z[e] / s[e];
    for_cones([&](int first, int size) {
      lambda_[first] = soc::find_scaling(s + first, z + first, size, weight_ + first);
    });
  }
  /// v -> W^-2 v, or W^2 v. May overwrite.
  CAROM_CALL void weigh(const Real* from, Real* to) const {
    for (int e = 0; e < p_.halves; ++e) to[e] = from[e] * weight_[e];
    for_cones([&](int first, int size) {
      const soc::Scaling<Real> w = scaling(first, size);
      w.apply_inverse(from + first, to + first);
      w.apply_inverse(to + first, to + first);
    });
  }
  CAROM_CALL void unweigh(const Real* from, Real* to) const {
    for (int e = 0; e < p_.halves; ++e) to[e] = from[e] / weight_[e];
    for_cones([&](int first, int size) {
      const soc::Scaling<Real> w = scaling(first, size);
      w.apply(from + first, to + first);
      w.apply(to + first, to + first);
    });
  }

  /// L D L' of P + (W^-1 G)'(W^-1 G), lower half; the diagonal holds 1 / D.
  CAROM_CALL void factorise() {
    const int k = k_;
    const auto entry = [&](int i, int j) -> Real& { return factor_[static_cast<long>(i) * k + j]; };
    for (int i = 0; i < k; ++i) {
      for (int j = 0; j <= i; ++j) entry(i, j) = p_.hessian[static_cast<long>(i) * k + j];
    }
    const auto add = [&](const Real* row, const Real& weight) {
      for (int i = 0; i < k; ++i) {
        if (static_cast<double>(row[i]) == 0.0) continue;
        const Real value = weight * row[i];
        for (int j = 0; j <= i; ++j) entry(i, j) += value * row[j];
      }
    };
    for (int e = 0; e < p_.halves; ++e) {
      add(p_.matrix + static_cast<long>(p_.element[e].row) * k, weight_[e]);
    }
    for_cones([&](int first, int size) {
      const Real* const w = weight_ + first;
      const Real* const g = p_.matrix + static_cast<long>(p_.element[first].row) * k;
      const Real weight = Real(1.0) / (lambda_[first] * lambda_[first]);
      // Rows of W^-1 G eta, the tail's share with w first.
      for (int c = 0; c < k; ++c) {
        Real sum(0.0);
        for (int i = 1; i < size; ++i) sum += w[i] * g[static_cast<long>(i) * k + c];
        pull_[c] = sum;
        fix_[c] = w[0] * g[c] - sum;
      }
      add(fix_, weight);
      for (int i = 1; i < size; ++i) {
        for (int c = 0; c < k; ++c) {
          fix_[c] = g[static_cast<long>(i) * k + c] + w[i] * (pull_[c] / (Real(1.0) + w[0]) - g[c]);
        }
        add(fix_, weight);
      }
    });
    for (int j = 0; j < k; ++j) {
      Real pivot = entry(j, j);
      for (int c = 0; c < j; ++c) {
        // entry(j, c) still times D_c
        const Real scaled = entry(j, c) * entry(c, c);
        pivot -= scaled * entry(j, c);
        for (int i = j + 1; i < k; ++i) entry(i, j) -= entry(i, c) * scaled;
      }
      // A pivot lost to rounding leaves its direction as it is.
      entry(j, j) = pivot > Real(0.0) ? Real(1.0) / pivot : Real(0.0);
    }
  }
  CAROM_CALL void solve_factor(Real* x) const {
    const int k = k_;
    const auto entry = [&](int i, int j) { return factor_[static_cast<long>(i) * k + j]; };
    for (int j = 0; j < k; ++j) {
      x[j] = x[j] * entry(j, j);
      for (int i = j + 1; i < k; ++i) x[i] -= entry(i, j) * x[j];
    }
    for (int j = k - 1; j >= 0; --j) {
      Real sum(0.0);
      for (int i = j + 1; i < k; ++i) sum += entry(i, j) * x[i];
      x[j] -= sum * entry(j, j);
    }
  }

  /// P x + G'y = rhs_, G x - W^2 y = side_, refined once.
  CAROM_CALL void solve(Real* x, Real* y) {
    for (int c = 0; c < k_; ++c) {
      x[c] = Real(0.0);
      right_[c] = rhs_[c];
    }
    for (int e = 0; e < elements_; ++e) {
      y[e] = Real(0.0);
      defect_[e] = side_[e];
    }
    for (int pass = 0;; ++pass) {
      weigh(defect_, other_);
      add_pull(other_, right_);
      solve_factor(right_);
      for (int c = 0; c < k_; ++c) x[c] += right_[c];
      for (int e = 0; e < elements_; ++e) other_[e] = image(e, right_) - defect_[e];
      weigh(other_, other_);
      for (int e = 0; e < elements_; ++e) y[e] += other_[e];
      if (pass == kRefinements) return;
      bend(x, right_);
      for (int c = 0; c < k_; ++c) right_[c] = rhs_[c] - right_[c];
      for (int e = 0; e < elements_; ++e) other_[e] = -y[e];
      add_pull(other_, right_);
      unweigh(y, defect_);
      for (int e = 0; e < elements_; ++e) defect_[e] += side_[e] - image(e, x);
    }
  }

  /// Step to (1 - centre) less residual, with target_ = W (lambda \ d_s) and d_k.
  CAROM_CALL void step(const Real& centre, const Real& dk) {
    const Real share = Real(1.0) - centre;
    for (int c = 0; c < k_; ++c) rhs_[c] = -(share * dual_rest_[c]);
    for (int e = 0; e < elements_; ++e) side_[e] = target_[e] - share * primal_rest_[e];
    solve(du_, dz_);
    // (2 P u / t + q)'du + h'dz - (u'P u / t^2) dt + dk = -rest, k dt + t dk = -d_k
    Real above = dk / tau - share * gap_rest_ - dot(elements_, p_.bound, dz_);
    Real below = dot(elements_, p_.bound, moved_z_) - kappa / tau - curved_;
    for (int c = 0; c < k_; ++c) {
      const Real slope = Real(2.0) * bent_[c] / tau + p_.gradient[c];
      above -= slope * du_[c];
      below += slope * moved_u_[c];
    }
    dtau_ = above / below;
    dkappa_ = -(dk + kappa * dtau_) / tau;
    for (int c = 0; c < k_; ++c) du_[c] += dtau_ * moved_u_[c];
    for (int e = 0; e < elements_; ++e) dz_[e] += dtau_ * moved_z_[e];
    unweigh(dz_, ds_);
    for (int e = 0; e < elements_; ++e) ds_[e] = -target_[e] - ds_[e];
  }

  /// target_ = W (lambda \ (lambda o lambda + (W^-1 ds) o (W dz) - centre e)).
  CAROM_CALL void correct(const Real& centre) {
    for (int e = 0; e < p_.halves; ++e) {
      target_[e] = s[e] + (ds_[e] * dz_[e] - centre) / z[e];
    }
    for_cones([&](int first, int size) {
      const soc::Scaling<Real> w = scaling(first, size);
      Real* const a = affine_ + first;
      Real* const b = other_ + first;
      Real* const t = target_ + first;
      w.apply_inverse(ds_ + first, a);
      w.apply(dz_ + first, b);
      soc::product(a, b, size, t);
      t[0] -= centre;
      w.apply(z + first, b);  // lambda
      const Real det = square_root(soc::determinant(s + first, size)) *
                       square_root(soc::determinant(z + first, size));
      soc::quotient(b, det, t, size, t);
      w.apply(t, t);
      for (int i = 0; i < size; ++i) t[i] += s[first + i];
    });
  }

  /// Longest step, at most 1.
  [[nodiscard]] CAROM_CALL Real longest() const {
    Real most(1.0);
    for (int e = 0; e < p_.halves; ++e) {
      most = larger(most, larger(-(ds_[e] / s[e]), -(dz_[e] / z[e])));
    }
    for_cones([&](int first, int size) {
      most = larger(most, soc::inverse_step(s + first, ds_ + first, size));
      most = larger(most, soc::inverse_step(z + first, dz_ + first, size));
    });
    most = larger(most, larger(-(dtau_ / tau), -(dkappa_ / kappa)));
    return Real(1.0) / most;
  }

  static constexpr int kRefinements = 1;

  QpShape shape_;
  const QpReduction<Real>& p_;
  int k_ = 0, elements_ = 0;
  Real* factor_;
  Real *du_, *moved_u_, *dual_rest_, *pull_, *bent_, *rhs_, *right_, *fix_;
  Real *ds_, *dz_, *moved_z_, *primal_rest_, *weight_, *lambda_, *target_, *side_, *defect_,
      *affine_, *other_;
  Real dtau_, dkappa_, gap_rest_, curved_;
  double residual_ = kInfinity;
};

}  // namespace carom::kernels
