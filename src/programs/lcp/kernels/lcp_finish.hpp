#pragma once

#include <limits>

#include <carom/certificate_lcp.hpp>
#include <carom/device/memory.hpp>
#include <carom/types/status.hpp>

#include "programs/kernels/doubled_lemke.hpp"
#include "programs/kernels/median_scaling.hpp"

/// What kernels::Lemke leaves unsolved is tried again in twice the precision, with the same
/// covering vector, then without data that may be rounding. Where the inequalities have no point,
/// Farkas' vector proves it. Last comes a path that rounding of M bars less. A ray is reported
/// where all this fails.
namespace carom::kernels {

template <class Memory>
struct LcpFinishLayout {
  Memory lemke, other, found, low, rest, rest_low, judge, row_scale, column_scale, vector;

  CAROM_INLINE constexpr LcpFinishLayout(Arena<Memory>& arena, int n)
      : lemke(arena.take(doubled_lemke_workspace(n))),
        other(arena.take(doubled_lemke_workspace(n))),
        found(arena.take(n)),
        low(arena.take(n)),
        rest(arena.take(n)),
        rest_low(arena.take(n)),
        judge(arena.take(certificate::lcp_judge_workspace(n) + n)),
        row_scale(arena.take(n)),
        column_scale(arena.take(n)),
        vector(arena.take(n)) {}
};
CAROM_HOST_DEVICE constexpr long lcp_finish_workspace(int n) {
  return values_of<LcpFinishLayout>(n);
}

/// A certified answer with more than this left is done again too.
inline constexpr double kLcpDigits = 1e-12;

/// Larger ones keep the digits that they have: a pivot in doubled numbers costs a hundred of the
/// others.
inline constexpr int kLargestDoubledLcp = 64;

/// Data below this share of the largest, in units that bring M to one, are left out where the
/// method fails with them, and prove nothing.
inline constexpr double kLcpNoise = 0x1p-40;
/// What M's diagonal is raised by, in the same units.
inline constexpr double kLcpShift = 0x1p-34;
/// Proofs are exact up to rounding.
inline constexpr double kLcpProof = 1e-12;

/// Whether an end is to be tried again. limited: the number of pivots is the caller's.
CAROM_INLINE bool lcp_is_open(int n, Status status, double residual, bool limited) {
  return status == Status::inaccurate || status == Status::numerical_error ||
         status == Status::ray || (status == Status::iteration_limit && !limited) ||
         (status == Status::solved && n <= kLargestDoubledLcp && !(residual <= kLcpDigits));
}

struct LcpAnswer {
  Status status;
  int pivots;
  double residual;
};

/// Powers of two that bring most entries of M's rows and columns to one.
template <class Lanes>
CAROM_CALL void scale_lcp(const Lanes& lanes, int n, const double* matrix, double* row_scale,
                          double* column_scale) {
  lanes.for_each(n, [&](int j) { column_scale[j] = 0.0; });
  const auto median = [&](auto&& entry, const double* others) {
    return -median_exponent([&](auto&& visit) {
      for (int k = 0; k < n; ++k) {
        const double value = entry(k);
        if (value != 0.0) visit(exponent_of(value) + others[k]);
      }
    });
  };
  for (int sweep = 0; sweep < 3; ++sweep) {
    lanes.for_each(n, [&](int i) {
      row_scale[i] =
          median([&](int j) { return matrix[static_cast<long>(i) * n + j]; }, column_scale);
    });
    lanes.for_each(n, [&](int j) {
      column_scale[j] =
          median([&](int i) { return matrix[static_cast<long>(i) * n + j]; }, row_scale);
    });
  }
  lanes.for_each(n, [&](int i) {
    row_scale[i] = power_of_two(static_cast<int>(row_scale[i]));
    column_scale[i] = power_of_two(static_cast<int>(column_scale[i]));
  });
}

/// Tries again what is open, with memory for it: lcp_finish_workspace.
template <class Lanes>
class LcpFinish {
  using Memory = PlainMemory<double>;

 public:
  CAROM_HOST_DEVICE LcpFinish(const Lanes& lanes, int n, const double* matrix, const double* vector,
                              double tolerance, double* memory)
      : lanes_(lanes),
        n_(n),
        matrix_(matrix),
        vector_(vector),
        tolerance_(tolerance),
        at_(placed<LcpFinishLayout>(memory, n)),
        lemke_(lanes, Memory{at_.lemke}) {}

  /// `before`: what is to be finished, with its residual, which stands where there is nothing
  /// better. z, y: [n] out where solved or infeasible; y may be null.
  CAROM_CALL LcpAnswer run(const LcpAnswer& before, double* z, double* y) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    scale_lcp(lanes_, n_, matrix_, at_.row_scale, at_.column_scale);
    lanes_.for_each(n_, [&](int i) { at_.vector[i] = vector_[i] * at_.row_scale[i]; });
    const auto solves = [&](double residual) { return certificate::within(residual, tolerance_); };
    const auto solved = [&](double residual) {
      lanes_.for_each(n_, [&](int i) { z[i] = at_.found[i]; });
      return LcpAnswer{Status::solved, lemke_.pivots(), residual};
    };
    const LemkeEnd end = follow();
    const int pivots = lemke_.pivots();
    double residual = judged(end);
    if (solves(residual)) return solved(residual);
    if (before.status == Status::solved) return before;
    LemkeEnd last = end;
    if (leave_out_noise()) {
      last = follow();
      residual = judged(last);
      if (solves(residual)) return solved(residual);
      residual = with_noise(last);
      if (solves(residual)) return solved(residual);
    }
    residual = excluded(last);
    if (residual <= smaller(tolerance_, kLcpProof)) {
      lanes_.for_each(n_, [&](int i) {
        z[i] = nan;
        if (y != nullptr) y[i] = at_.found[i];
      });
      return {Status::infeasible, before.status == Status::ray ? before.pivots : pivots, residual};
    }
    residual = shifted();
    if (solves(residual)) return solved(residual);
    if (end == LemkeEnd::ray) {
      lanes_.for_each(n_, [&](int i) { z[i] = nan; });
      return {Status::ray, before.status == Status::ray ? before.pivots : pivots, nan};
    }
    return before;
  }

 private:
  CAROM_INLINE double entry(int i, int j) const {
    return matrix_[static_cast<long>(i) * n_ + j] * at_.row_scale[i] * at_.column_scale[j];
  }
  /// The covering vector is e in the problem's own units, so that the path is.
  CAROM_CALL LemkeEnd follow(double shift = 0.0) {
    return lemke_.run(
        n_,
        [&](int i, int j) {
          const Doubled given(entry(i, j));
          return i == j && shift > 0.0 ? given + Doubled(shift) : given;
        },
        [&](int i) { return Doubled(at_.vector[i]); }, [&](int i) { return at_.row_scale[i]; },
        50 * (n_ + 1));
  }

  /// Residual of what a path ended at, `found`.
  CAROM_CALL double judged(LemkeEnd end) {
    if (end != LemkeEnd::solution) return kInfinity;
    lanes_.for_each(n_, [&](int i) {
      at_.found[i] = at_least_zero(lemke_.solution(i).hi * at_.column_scale[i]);
    });
    return clean_residual();
  }
  CAROM_CALL double clean_residual() const {
    return certificate::clean_lcp_residual(lanes_, n_, matrix_, vector_, at_.found, at_.judge);
  }

  /// The same of the path of M + shift I, which no ray ends where M is copositive. What the shift
  /// leaves in the w that ought to vanish is then removed.
  CAROM_CALL double shifted() {
    if (follow(kLcpShift) != LemkeEnd::solution) return kInfinity;
    const auto z = [&](int j) { return Doubled{at_.found[j], at_.low[j]}; };
    lanes_.for_each(n_, [&](int i) {
      const Doubled own = lemke_.solution(i);
      at_.found[i] = own.hi;
      at_.low[i] = own.lo;
    });
    for (int round = 0; round < kRounds; ++round) {
      lanes_.for_each(n_, [&](int k) {
        Doubled rest(0.0);
        if (lemke_.holds(k)) {
          rest = Doubled(at_.vector[k]);
          for (int j = 0; j < n_; ++j) {
            if (at_.found[j] != 0.0) rest = rest + Doubled(entry(k, j)) * z(j);
          }
        }
        at_.rest[k] = rest.hi;
        at_.rest_low[k] = rest.lo;
      });
      lanes_.for_each(n_, [&](int i) {
        Doubled own = z(i);
        for (int k = 0; k < n_; ++k) {
          if (at_.rest[k] == 0.0) continue;
          own = own - lemke_.response(i, k) * Doubled{at_.rest[k], at_.rest_low[k]};
        }
        at_.found[i] = own.hi;
        at_.low[i] = own.lo;
      });
    }
    lanes_.for_each(
        n_, [&](int i) { at_.found[i] = at_least_zero(at_.found[i] * at_.column_scale[i]); });
    return clean_residual();
  }

  /// Zeros in place of data that may be rounding; false where there are none.
  CAROM_CALL bool leave_out_noise() {
    double most = 0.0;
    for (int i = 0; i < n_; ++i) most = larger(most, magnitude(at_.vector[i]));
    bool any = false;
    for (int i = 0; i < n_; ++i) {
      any = any || (at_.vector[i] != 0.0 && magnitude(at_.vector[i]) <= kLcpNoise * most);
    }
    if (any) {
      lanes_.for_each(n_, [&](int i) {
        if (magnitude(at_.vector[i]) <= kLcpNoise * most) at_.vector[i] = 0.0;
      });
    }
    return any;
  }

  /// Residual of what stands at the end of a path without noise and answers to it: among the pairs
  /// that are both zero there, the noise decides by a problem of its own, in whatever small units.
  CAROM_CALL double with_noise(LemkeEnd end) {
    if (end != LemkeEnd::solution) return kInfinity;
    const auto given = [&](int k) { return Doubled(vector_[k] * at_.row_scale[k]); };
    lanes_.for_each(n_, [&](int i) {
      const Doubled value = lemke_.value_for(i, given);
      at_.rest[i] = value.hi;
      at_.rest_low[i] = value.lo;
    });
    double most = 0.0;
    for (int i = 0; i < n_; ++i) most = larger(most, magnitude(lemke_.level(i)));
    // Rows of the pairs, in front.
    int count = 0;
    for (int i = 0; i < n_; ++i) {
      if (lemke_.level(i) > kLcpNoise * most && at_.rest[i] >= 0.0) continue;
      lanes_.for_each(1, [&](int) { at_.low[count] = i; });
      ++count;
    }
    const auto row = [&](int i) { return static_cast<int>(at_.low[i]); };
    const auto value = [&](int i) { return Doubled{at_.rest[i], at_.rest_low[i]}; };
    DoubledLemke<Lanes, Memory> noise(lanes_, Memory{at_.other});
    if (count == 0 ||
        noise.run(
            count, [&](int i, int j) { return lemke_.slope(row(i), lemke_.pair(row(j))); },
            [&](int i) { return value(row(i)); }, [](int) { return 1.0; },
            50 * (count + 1)) != LemkeEnd::solution) {
      return kInfinity;
    }
    lanes_.for_each(n_, [&](int k) { at_.found[k] = 0.0; });
    lanes_.for_each(n_, [&](int i) {
      Doubled own = value(i);
      for (int j = 0; j < count; ++j) {
        if (noise.holds(j)) {
          own = own + lemke_.slope(i, lemke_.pair(row(j))) * noise.solution(j);
        }
      }
      const int k = lemke_.pair(i);
      if (lemke_.has_z(i)) at_.found[k] = at_least_zero(own.hi * at_.column_scale[k]);
    });
    for (int j = 0; j < count; ++j) {
      const int k = lemke_.pair(row(j));
      if (noise.holds(j)) {
        lanes_.for_each(1, [&](int) {
          at_.found[k] = lemke_.has_z(row(j))
                             ? 0.0
                             : at_least_zero(noise.solution(j).hi * at_.column_scale[k]);
        });
      }
    }
    return clean_residual();
  }

  /// Residual of the proof that no z >= 0 has w >= 0, which `found` then is.
  CAROM_CALL double excluded(LemkeEnd end) {
    if (end != LemkeEnd::ray && lemke_.begin(
                                    n_, [&](int i, int j) { return Doubled(entry(i, j)); },
                                    [&](int i) { return Doubled(at_.vector[i]); },
                                    [&](int i) { return at_.row_scale[i]; }) != LemkeEnd::limit) {
      return kInfinity;
    }
    if (!lemke_.excludes_all(50 * (n_ + 1))) return kInfinity;
    double margin = 0.0, noise = 0.0;
    for (int i = 0; i < n_; ++i) {
      const double share = lemke_.multiplier(i).hi;
      margin -= at_.vector[i] * share;
      noise = larger(noise, magnitude(at_.vector[i]));
    }
    noise *= kLcpNoise;
    for (int i = 0; i < n_; ++i) margin -= noise * lemke_.multiplier(i).hi;
    if (!(margin > 0.0)) return kInfinity;
    lanes_.for_each(n_, [&](int i) { at_.found[i] = lemke_.multiplier(i).hi * at_.row_scale[i]; });
    certificate::LcpJudge<Lanes> judge(lanes_, n_, matrix_, vector_, at_.judge);
    return judge.farkas_residual(at_.found);
  }

  static constexpr int kRounds = 6;  // each leaves a share of the shift of what it found

  const Lanes& lanes_;
  int n_;
  const double* matrix_;
  const double* vector_;
  double tolerance_;
  LcpFinishLayout<double*> at_;
  DoubledLemke<Lanes, Memory> lemke_;
};

}  // namespace carom::kernels
