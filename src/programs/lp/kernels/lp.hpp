#pragma once

#include <cstdint>
#include <limits>

#include <carom/certificate_lp.hpp>
#include <carom/types/lp.hpp>

#include "core/pointers.hpp"
#include "programs/lp/kernels/simplex.hpp"

namespace carom::kernels {

/// A batch of linear programs and its result, in memory that the lanes see.
struct LpArrays : LpBatchArrays<ConstPointer>, LpResultArrays<Pointer> {
  int rows, columns, objectives;
  int max_pivots;
  double tolerance;
  bool limited;              ///< max_pivots is the caller's: more work is not asked for
  const BasisStatus* start;  ///< or null
};

/// What is known of one objective in addition to x, y or the proof.
struct LpAnswer {
  Status status;
  int pivots;
  double residual;
  bool left = false;  ///< y proves infeasibility but for rounding, and is written for LpFinish
  [[nodiscard]] CAROM_INLINE bool answered() const {
    return status == Status::solved || status == Status::inaccurate;
  }
};

/// Writes the answer to objective k, or NaN and its proof. x, y: in place or elsewhere; x holds the
/// point of an unbounded problem.
template <class Lanes>
CAROM_CALL void write_lp(const Lanes& lanes, const LpArrays& arrays, long k, const LpAnswer& answer,
                         const double* x, const double* y, const double* farkas, const double* ray,
                         double objective) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const int n = arrays.columns;
  const int m = arrays.rows;
  const bool unbounded = answer.status == Status::unbounded;
  lanes.for_each(n, [&](int j) {
    const double value = x[j];
    if (arrays.point != nullptr) arrays.point[k * n + j] = unbounded ? value : nan;
    if (arrays.ray != nullptr) arrays.ray[k * n + j] = unbounded ? ray[j] : nan;
    arrays.solution[k * n + j] = answer.answered() ? value : nan;
  });
  lanes.for_each(m, [&](int i) {
    if (arrays.farkas != nullptr) {
      arrays.farkas[k * m + i] = answer.status == Status::infeasible ? farkas[i] : nan;
    }
    arrays.dual[k * m + i] = answer.answered() || answer.left ? y[i] : nan;
  });
  lanes.for_each(1, [&](int) {
    arrays.objective[k] = objective;
    arrays.status[k] = answer.status;
    arrays.pivots[k] = answer.pivots;
    arrays.residual[k] = answer.residual;
  });
}

template <class Memory>
struct LpLayout {
  Memory simplex, certificate, multipliers, direction;

  /// The simplex method's first, as places that are known want it.
  CAROM_INLINE constexpr LpLayout(Arena<Memory>& arena, int rows, int columns)
      : simplex(arena.take(simplex_real_workspace(rows, columns))),
        certificate(arena.take(certificate::lp_certificate_workspace(rows, columns))),
        multipliers(arena.take(rows)),
        direction(arena.take(columns)) {}
};
CAROM_HOST_DEVICE constexpr long lp_real_workspace(int rows, int columns) {
  return values_of<LpLayout>(rows, columns);
}
CAROM_HOST_DEVICE constexpr long lp_int_workspace(int rows) { return simplex_int_workspace(rows); }

/// Solves the objectives of one problem after another and lets certificate_lp.hpp judge each.
/// Sizes: as of SimplexBasis; with PaddedColumns reals is lp_real_workspace of them.
template <class Lanes, int PaddedRows = 0, int PaddedColumns = 0>
class LpSolver {
 public:
  CAROM_HOST_DEVICE LpSolver(const Lanes& lanes, const LpArrays& arrays,
                             WorkspaceReals<Lanes> reals, int* ints)
      : LpSolver(lanes, arrays,
                 placed<LpLayout>(reals, kKnown ? PaddedRows : arrays.rows,
                                  kKnown ? PaddedColumns : arrays.columns),
                 ints) {}

  /// Problem p's one objective is ready for a pack's pivots; false: it wants solve.
  CAROM_INLINE bool begin(long p) {
    if (!load(p) || !certificate_.load_cost(arrays_.cost + p * n_)) return false;
    simplex_.load(certificate_);
    simplex_.start();
    simplex_.take(certificate_.cost());
    return true;
  }
  [[nodiscard]] CAROM_INLINE Simplex<Lanes, PaddedRows, PaddedColumns>* simplex() {
    return &simplex_;
  }
  /// After those pivots: false where the claim does not stand at once, and solve is to begin anew.
  CAROM_INLINE bool end(long p, Status claim, int pivots) {
    LpAnswer answer{claim, pivots, kNan};
    answer.residual = certify(claim, arrays_.solution + p * n_, arrays_.dual + p * m_, true);
    if (!certificate::within(answer.residual, kDrift * arrays_.tolerance)) return false;
    write(p, doubted(answer));
    simplex_.read_basis(arrays_.basis + p * (m_ + n_));
    return true;
  }

  CAROM_HOST_DEVICE void solve(long p) {
    const long first = p * arrays_.objectives;
    const bool usable = load(p);
    // A lower bound above its upper bound is a proof by itself.
    const bool crossed = !usable && certificate_.crossed();
    bool started = false;
    if (crossed) {
      const int row = certificate_.crossed_row();
      lanes_.for_each(m_, [&](int i) { multipliers_[i] = i == row ? 1.0 : 0.0; });
    }
    if (usable) {
      simplex_.load(certificate_);
      if (arrays_.start != nullptr) {
        simplex_.start(arrays_.start + p * (m_ + n_));
        started = true;
      }
    }
    for (int k = 0; k < arrays_.objectives; ++k) {
      LpAnswer answer{Status::invalid_input, 0, kNan};
      const bool finite =
          (usable || crossed) && certificate_.load_cost(arrays_.cost + (first + k) * n_);
      if (finite && crossed) answer = {Status::infeasible, 0, 0.0};
      if (finite && usable) {
        if (!started) simplex_.start();
        answer = doubted(
            solve_objective(arrays_.solution + (first + k) * n_, arrays_.dual + (first + k) * m_));
        started = answer.status != Status::numerical_error;
      }
      write(first + k, answer);
    }
    if (started) {
      simplex_.read_basis(arrays_.basis + p * (m_ + n_));
    } else {
      // No basis was reached: all rows, as a cold start has it.
      lanes_.for_each(n_ + m_, [&](int j) {
        arrays_.basis[p * (m_ + n_) + j] = j < n_ ? BasisStatus::at_lower : BasisStatus::basic;
      });
    }
  }

 private:
  CAROM_HOST_DEVICE LpSolver(const Lanes& lanes, const LpArrays& arrays,
                             const LpLayout<WorkspaceReals<Lanes>>& at, int* ints)
      : lanes_(lanes),
        arrays_(arrays),
        m_(arrays.rows),
        n_(arrays.columns),
        simplex_(lanes, arrays.rows, arrays.columns, at.simplex, ints),
        certificate_(lanes, arrays.rows, arrays.columns, at.certificate),
        multipliers_(at.multipliers),
        direction_(at.direction) {}

  CAROM_CALL bool load(long p) {
    return certificate_.load({m_, n_, nullptr, arrays_.matrix + p * m_ * n_,
                              arrays_.row_lower + p * m_, arrays_.row_upper + p * m_,
                              arrays_.column_lower + p * n_, arrays_.column_upper + p * n_});
  }

  static constexpr bool kKnown = PaddedColumns > 0;
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  static constexpr int kAttempts = 3;
  static constexpr double kDrift = 1e-3;     // of the tolerance: asks for a new inverse
  static constexpr double kSure = 1e-4;      // of the tolerance: a small problem is not asked again
  static constexpr int kDoubtedPairs = 192;  // what LpFinish takes whatever bounds are there
  static constexpr double kDust = Simplex<Lanes, PaddedRows, PaddedColumns>::kDust;
  static constexpr double kCoarseDust = 1e-9;  // of a basis that is nearly singular

  /// Solutions whose rounding could hide a bound, or that are good and no more than that, are left
  /// to LpFinish: inaccurate with a residual within the tolerance. So are points of unbounded
  /// problems that Lemke's method takes.
  CAROM_INLINE LpAnswer doubted(LpAnswer answer) const {
    const bool sharp = answer.residual <= kDrift * arrays_.tolerance;
    const bool small = 2 * m_ + 3 * n_ <= kDoubtedPairs;
    const bool sure = small ? answer.residual <= kSure * arrays_.tolerance : sharp;
    if (answer.status == Status::solved && !(sure && !simplex_.mixed())) {
      answer.status = Status::inaccurate;
    }
    if (answer.status == Status::unbounded && !sharp && small) {
      answer.status = Status::numerical_error;
    }
    return answer;
  }

  /// x lies so far away that the tolerance of its terms is more than what the rows contradict each
  /// other by, but for rounding: LpFinish gets the multipliers of the contradiction instead.
  CAROM_CALL LpAnswer left_to_rounding(LpAnswer answer, double* x, double* y) {
    simplex_.start();
    const SimplexOutcome outcome = simplex_.optimise(certificate_.cost(), arrays_.max_pivots);
    certify(outcome.status, x, y);
    answer.pivots += outcome.pivots;
    answer.status = Status::numerical_error;
    return answer;
  }

  /// A claim of the simplex method stands once its certificate does; a new inverse where it fails
  /// or has drifted.
  CAROM_CALL LpAnswer solve_objective(double* x, double* y) {
    const int limit = arrays_.max_pivots;
    LpAnswer answer{Status::numerical_error, 0, kNan};
    Status refuted = Status::numerical_error;
    bool contradicted = false;
    by_rounding_ = false;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const SimplexOutcome outcome = attempt == 0
                                         ? simplex_.optimise(certificate_.cost(), limit)
                                         : simplex_.repeat(limit - answer.pivots, attempt, refuted);
      answer.pivots += outcome.pivots;
      answer.status = outcome.status;
      answer.residual = certify(outcome.status, x, y);
      if (answer.status == Status::iteration_limit) return answer;
      const bool good = certificate::within(answer.residual, arrays_.tolerance);
      contradicted = contradicted || by_rounding_;
      if (good && contradicted && outcome.status == Status::solved &&
          certificate_.misses_own_bounds(arrays_.tolerance)) {
        return left_to_rounding(answer, x, y);
      }
      if (certificate::within(answer.residual, kDrift * arrays_.tolerance)) return answer;
      if (attempt > 0 && good) return answer;
      if (!good) {
        refuted = outcome.status;
        answer.status = answer.status == Status::solved && is_finite(answer.residual)
                            ? Status::inaccurate
                            : Status::numerical_error;
      }
    }
    return answer;
  }

  /// The residual that belongs to the claim. packed: of a pack's pivots, whose inverse is
  /// elsewhere.
  CAROM_CALL double certify(Status claim, double* x, double* y, bool packed = false) {
    switch (claim) {
      case Status::solved: {
        by_rounding_ = false;
        const double residual = certify_solution(x, y);
        if (packed || certificate::within(residual, arrays_.tolerance)) return residual;
        simplex_.refine_solution();
        const double refined = certify_solution(x, y);
        if (certificate::within(refined, arrays_.tolerance)) return refined;
        simplex_.undo_refinement();
        simplex_.read(x, y);
        return certificate_.residual(x, y);
      }
      case Status::infeasible: {
        simplex_.read_prices(multipliers_);
        const double proof = certificate_.farkas_residual(multipliers_);
        const bool proven = certificate::within(proof, arrays_.tolerance);
        if (proven && !simplex_.doubtful_prices() &&
            !certificate_.doubtful(simplex_.statuses(), simplex_.kBasic)) {
          return proof;
        }
        if (proven && !by_rounding_) {
          by_rounding_ = true;
          lanes_.for_each(m_, [&](int i) { y[i] = multipliers_[i]; });
        }
        if (packed || !simplex_.refine_prices()) return kInfinity;
        simplex_.read_prices(multipliers_);
        return certificate_.farkas_residual(multipliers_);
      }
      case Status::unbounded: {
        // A ray proves something only where there is a point to start from; x holds it.
        simplex_.read_point(x);
        simplex_.drop_value_dust(x);
        double point = certificate_.primal_residual(x);
        if (!certificate::within(point, kDrift * arrays_.tolerance)) {
          simplex_.read_point(x);
          point = certificate_.primal_residual(x);
        }
        double ray = kInfinity;
        if (!simplex_.doubtful_rates()) {
          simplex_.read_ray(direction_);
          ray = certificate_.ray_residual(direction_);
        }
        if (!certificate::within(ray, arrays_.tolerance) && simplex_.refine_rates()) {
          simplex_.read_ray(direction_, 0.0);
          ray = certificate_.ray_residual(direction_);
        }
        return larger(point, ray);
      }
      default:
        return kNan;
    }
  }

  CAROM_INLINE bool stands(double residual) const {
    return certificate::within(residual, arrays_.tolerance) && !certificate_.widened();
  }

  /// What rounding left in place of zeros is dropped from nothing, from x and y, from y, from x,
  /// first the least of it: the first that is certified stands, or what was read.
  CAROM_CALL double certify_solution(double* x, double* y) {
    simplex_.read(x, y);
    const double as_read = certificate_.residual(x, y);
    if (stands(as_read)) return as_read;
    constexpr int kOfX = 1;
    constexpr int kOfY = 2;
    for (const double share : {kDust, kCoarseDust}) {
      for (int dropped = kOfX | kOfY; dropped > 0; --dropped) {
        simplex_.read(x, y);
        if ((dropped & kOfX) != 0) simplex_.drop_value_dust(x, share);
        if ((dropped & kOfY) != 0) simplex_.drop_dust(y, share);
        const double residual = certificate_.residual(x, y);
        if (stands(residual)) return residual;
      }
    }
    simplex_.read(x, y);
    return certificate_.residual(x, y);
  }

  CAROM_CALL void write(long k, LpAnswer answer) {
    double* x = arrays_.solution + k * n_;
    double* y = arrays_.dual + k * m_;
    answer.left = by_rounding_ && answer.status == Status::numerical_error;
    write_lp(lanes_, arrays_, k, answer, x, y, multipliers_, direction_,
             answer.answered() ? certificate_.objective() : kNan);
  }
  const Lanes& lanes_;
  const LpArrays& arrays_;
  int m_, n_;
  Simplex<Lanes, PaddedRows, PaddedColumns> simplex_;
  typename Simplex<Lanes, PaddedRows, PaddedColumns>::Certificate certificate_;
  double* multipliers_;       // [m]
  double* direction_;         // [n]
  bool by_rounding_ = false;  ///< as LpAnswer::left
};

}  // namespace carom::kernels
