#pragma once

#include "compliant/kernels/compliant_laws.hpp"
#include "compliant/kernels/compliant_path.hpp"

/// Impulses of compliant unilateral and frictional rows: with F(p) = W p + u [m/s], W symmetric
/// positive definite, find
///   p_i = max(0, p_i - rho_i F_i)                      unilateral and normal rows,
///   p_t = proj_{|p_t| <= mu p_n}(p_t - rho_t F_t)      tangent rows of a contact.
/// A generalised Newton method (Alart and Curnier 1991) finds the modes, with sweeps of block
/// Gauss-Seidel in between. If it does not converge, a path to a solution is followed.
namespace carom::kernels {

template <class Memory>
struct ContactNewtonLayout {
  Memory path;    ///< or a Jacobian, [rows, rows], of which only the band is touched
  Memory weight;  ///< rho
  Memory force;   ///< p - rho F
  Memory slip;    ///< F
  Memory step;
  Memory best;
  Memory trial;

  CAROM_INLINE constexpr ContactNewtonLayout(Arena<Memory>& arena, long rows)
      : path(arena.take(path_workspace(rows))),
        weight(arena.take(rows)),
        force(arena.take(rows)),
        slip(arena.take(rows)),
        step(arena.take(rows)),
        best(arena.take(rows)),
        trial(arena.take(rows)) {}
};
CAROM_HOST_DEVICE constexpr long contact_workspace(long rows) {
  return values_of<ContactNewtonLayout>(rows);
}

struct ContactOutcome {
  bool finite;
  int iterations;
};

/// Target: a type of its own for each instruction set, so that no two translation units share code.
template <class Target>
class ContactNewton {
 public:
  CAROM_INLINE ContactNewton(const ContactSystem& system, double* scratch)
      : s_(system), n_(system.rows), at_(placed<ContactNewtonLayout>(scratch, n_)) {}

  /// p: [rows], in: first guess, out: the best found. Stops at `accuracy` relative to max|rho u|.
  /// max_iterations bounds Newton's method; a path may take a multiple of it.
  CAROM_CALL ContactOutcome solve(double* p, double accuracy, int max_iterations) {
    set_weights();
    double scale = 0.0;
    bool finite = true;
    for (int i = 0; i < n_; ++i) {
      const double impulse = at_.weight[i] * magnitude(s_.vector[i]);
      finite = finite && is_finite(impulse);
      scale = larger(scale, impulse);
    }
    if (!finite) return {false, 0};
    scale = larger(scale, 1e-300);
    const double target = accuracy * scale;
    for (int i = 0; i < n_; ++i) at_.best[i] = p[i];
    least_ = natural_residual(p);
    int iterations = attempt(p, target, scale, max_iterations);
    for (int variant = 0; variant < kPaths && !(least_ <= kFloor * size(scale)); ++variant) {
      CompliantPath<Target> path(s_, at_.weight, at_.path);
      const int budget = kPathSteps * max_iterations;
      const bool arrived = path.follow(p, budget, variant);
      iterations += budget - path.left();
      if (!arrived) continue;
      const double merit = natural_residual(p);
      if (!(least_ <= merit)) keep(p, merit);
      iterations += attempt(p, target, scale, max_iterations);
    }
    for (int i = 0; i < n_; ++i) p[i] = at_.best[i];
    return {is_finite(least_), iterations};
  }

 private:
  static constexpr double kFloor = 1e-10;
  static constexpr double kRounding = 1e-14;
  static constexpr int kPatience = 3;
  static constexpr int kSweeps = 8;
  static constexpr int kFirstTry = 20;  // iterations, unless at the goal
  static constexpr int kPaths = 3;
  static constexpr int kPathSteps = 20;  // of max_iterations

  /// Full Newton steps from p, sweeps where several in turn do not descend; keeps the best point in
  /// best and least_, and leaves it in p.
  CAROM_CALL int attempt(double* p, double target, double scale, int max_iterations) {
    int worse = 0;
    int iteration = 0;
    double merit = least_;
    for (; iteration < max_iterations && !(least_ <= target); ++iteration) {
      if (iteration >= kFirstTry && !(least_ <= kFloor * scale)) break;
      const bool solved = newton_step(p);
      if (solved) {
        for (int i = 0; i < n_; ++i) p[i] += at_.step[i];
        merit = natural_residual(p);
      }
      if (solved && merit < least_) {
        keep(p, merit);
        worse = 0;
        continue;
      }
      // Rounding's floor: Newton repeats itself.
      if (worse >= 2 && least_ <= larger(kFloor * scale, kRounding * size(scale))) break;
      ++worse;
      if (!solved || worse % kPatience == 0) {
        if (!is_finite(merit) || !solved) {
          for (int i = 0; i < n_; ++i) p[i] = at_.best[i];
        }
        sweep(p, kSweeps * (1 + worse / kPatience));
        merit = natural_residual(p);
        if (merit < least_) keep(p, merit);
      }
    }
    for (int i = 0; i < n_; ++i) p[i] = at_.best[i];
    natural_residual(p);
    return iteration;
  }

  /// Of the best impulses, and at least `scale`: what rounding errors are in proportion to.
  CAROM_INLINE double size(double scale) const {
    for (int i = 0; i < n_; ++i) scale = larger(scale, magnitude(at_.best[i]));
    return scale;
  }

  CAROM_INLINE void keep(const double* p, double merit) {
    least_ = merit;
    for (int i = 0; i < n_; ++i) at_.best[i] = p[i];
  }

  CAROM_INLINE void set_weights() {
    for (int i = 0; i < n_; ++i) at_.weight[i] = 1.0 / s_.row(i)[i];
    if (s_.tangents < 2) return;
    for (int i = 0; i < n_; i += 1 + s_.tangents_of(i)) {
      if (s_.tangents_of(i) == 2) {
        at_.weight[i + 1] = at_.weight[i + 2] = smaller(at_.weight[i + 1], at_.weight[i + 2]);
      }
    }
  }

  /// max |p - Pi(p - rho F)| in impulses; leaves p - rho F in force and F in slip.
  CAROM_HOST_DEVICE double natural_residual(const double* p) {
    for (int i = 0; i < n_; ++i) {
      at_.slip[i] = s_.flow(i, p);
      at_.force[i] = fused(-at_.weight[i], at_.slip[i], p[i]);
    }
    double worst = 0.0;
    for (int i = 0; i < n_; i += 1 + s_.tangents_of(i)) {
      note(worst, p[i] - at_least_zero(at_.force[i]));
      const int count = s_.tangents_of(i);
      if (count == 0) continue;
      const double radius = s_.friction[i] * at_least_zero(p[i]);
      const double size = tangent_length(at_.force + i + 1, count);
      const double shrink = size > radius ? radius / size : 1.0;
      for (int k = 1; k <= count; ++k) note(worst, p[i + k] - shrink * at_.force[i + k]);
    }
    return worst;
  }
  static CAROM_INLINE void note(double& worst, double x) {
    const double size = magnitude(x);
    worst = worst != worst || size <= worst ? worst : size;
  }

  /// Linearises at p (force and slip as natural_residual left them) and solves for
  /// step.
  CAROM_CALL bool newton_step(const double* p) {
    for (int i = 0; i < n_; ++i) {
      const int low = lu_first(i);
      const int high = lu_last(i);
      for (int j = low; j < high; ++j) entry(i, j) = 0.0;
    }
    for (int i = 0; i < n_; i += 1 + s_.tangents_of(i)) {
      const int count = s_.tangents_of(i);
      if (!(at_.force[i] > 0.0)) {
        for (int k = 0; k <= count; ++k) {
          entry(i + k, i + k) = 1.0;
          at_.step[i + k] = -p[i + k];
        }
        continue;
      }
      flow_row(i);
      if (count > 0) tangent_rows(p, i, count);
    }
    return eliminate();
  }

  /// rho F = 0.
  CAROM_INLINE void flow_row(int i) {
    for (int j = s_.first(i); j < s_.last(i); ++j) entry(i, j) = at_.weight[i] * s_.row(i)[j];
    at_.step[i] = -at_.weight[i] * at_.slip[i];
  }

  /// Sticking: F_t = 0. Sliding: p_t = mu p_n d(p), d the direction of p_t - rho F_t.
  CAROM_INLINE void tangent_rows(const double* p, int i, int count) {
    const double mu = s_.friction[i];
    const double size = tangent_length(at_.force + i + 1, count);
    if (size <= mu * at_.force[i]) {
      for (int k = 1; k <= count; ++k) flow_row(i + k);
      return;
    }
    const double normal = at_least_zero(p[i]);
    double d[2] = {at_.force[i + 1] / size, count == 2 ? at_.force[i + 2] / size : 0.0};
    const double bend = count == 2 ? smaller(mu * normal / size, 1.0) : 0.0;
    for (int k = 1; k <= count; ++k) {
      entry(i + k, i + k) = 1.0;
      entry(i + k, i) = -mu * d[k - 1];
      at_.step[i + k] = -(p[i + k] - mu * p[i] * d[k - 1]);
    }
    if (bend == 0.0) return;
    for (int k = 1; k <= count; ++k) {
      for (int l = 1; l <= count; ++l) {
        const double across = bend * ((k == l ? 1.0 : 0.0) - d[k - 1] * d[l - 1]);
        entry(i + k, i + l) -= across;
        const double* from = s_.row(i + l);
        const double factor = across * at_.weight[i + l];
        for (int j = s_.first(i + l); j < s_.last(i + l); ++j) {
          entry(i + k, j) = fused(factor, from[j], entry(i + k, j));
        }
      }
    }
  }

  // Band of the factors: a pivot from below widens the upper half. The rows of one contact share
  // their bands, hence the two more.
  CAROM_INLINE int width() const { return s_.bandwidth + 2; }
  CAROM_INLINE int lu_first(int i) const { return i > width() ? i - width() : 0; }
  CAROM_INLINE int lu_last(int i) const {
    return i + 2 * width() + 1 < n_ ? i + 2 * width() + 1 : n_;
  }
  CAROM_INLINE double& entry(int i, int j) { return at_.path[static_cast<long>(i) * n_ + j]; }

  /// Gauss with row pivots inside the band; step: right-hand side in, solution out.
  CAROM_CALL bool eliminate() {
    for (int k = 0; k < n_; ++k) {
      const int below = k + width() + 1 < n_ ? k + width() + 1 : n_;
      const int right = lu_last(k);
      int pivot = k;
      for (int i = k + 1; i < below; ++i) {
        if (magnitude(entry(i, k)) > magnitude(entry(pivot, k))) pivot = i;
      }
      if (!(magnitude(entry(pivot, k)) > 0.0)) return false;
      if (pivot != k) {
        for (int j = k; j < right; ++j) exchange(entry(k, j), entry(pivot, j));
        exchange(at_.step[k], at_.step[pivot]);
      }
      const double inverse = 1.0 / entry(k, k);
      const double* source = &entry(k, 0);
      for (int i = k + 1; i < below; ++i) {
        double* target = &entry(i, 0);
        if (target[k] == 0.0) continue;
        const double factor = -target[k] * inverse;
        for (int j = k + 1; j < right; ++j) target[j] = fused(factor, source[j], target[j]);
        at_.step[i] = fused(factor, at_.step[k], at_.step[i]);
      }
    }
    for (int k = n_ - 1; k >= 0; --k) {
      double sum = at_.step[k];
      for (int j = k + 1; j < lu_last(k); ++j) sum = fused(-entry(k, j), at_.step[j], sum);
      at_.step[k] = sum / entry(k, k);
      if (!is_finite(at_.step[k])) return false;
    }
    return true;
  }

  /// Block Gauss-Seidel: each contact's own problem with the others held.
  CAROM_CALL void sweep(double* p, int sweeps) {
    for (int turn = 0; turn < sweeps; ++turn) {
      for (int i = 0; i < n_; i += 1 + s_.tangents_of(i)) {
        const int count = s_.tangents_of(i);
        p[i] = at_least_zero(fused(-at_.weight[i], s_.flow(i, p), p[i]));
        if (count == 0) continue;
        for (int inner = 0; inner < 2; ++inner) {
          for (int k = 1; k <= count; ++k) {
            at_.trial[k] = fused(-at_.weight[i + k], s_.flow(i + k, p), p[i + k]);
          }
          const double radius = s_.friction[i] * p[i];
          const double size = tangent_length(at_.trial + 1, count);
          const double shrink = size > radius ? radius / size : 1.0;
          for (int k = 1; k <= count; ++k) p[i + k] = shrink * at_.trial[k];
        }
      }
    }
  }

  ContactSystem s_;
  int n_;
  ContactNewtonLayout<double*> at_;
  double least_ = 0.0;  // residual of best
};

}  // namespace carom::kernels
