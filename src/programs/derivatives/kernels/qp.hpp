#pragma once

#include <carom/certificate_derivative.hpp>
#include <carom/device/arena.hpp>
#include <carom/types/derivative_qp.hpp>

#include "core/pointers.hpp"
#include "programs/derivatives/kernels/dense.hpp"
#include "programs/derivatives/kernels/doubtful.hpp"
#include "programs/derivatives/kernels/report.hpp"

/// Derivatives of the answer of a QP with rows and cones: docs/explanation/derivatives.md.
namespace carom::derivatives {

using certificate::RowMode;

struct QpView : QpBatchArrays<ConstPointer> {};
struct QpDirectionView : QpBatchArrays<ConstPointer> {};
struct QpGradientView : QpBatchArrays<Pointer> {};
struct QpCotangentView : QpCotangentArrays<ConstPointer> {};
struct QpTangentView {
  double* solution;
  double* dual;
  double* cone_dual;
  double* objective;
};

/// Extents and cones of every problem of a batch.
struct QpShape {
  int variables, rows, cone_rows, cones;
  const Cone* cone;
  [[nodiscard]] CAROM_INLINE int all_rows() const { return rows + cone_rows; }
};

/// r: rows and cone rows; unknowns at most n + r.
template <class Memory>
struct QpModesLayout {
  Memory x;
  Memory multiplier;  ///< [r]
  Memory slack;       ///< of cone rows b - C x, of rows with the sign that counts, [r]
  Memory unit;        ///< of slack, [r]
  Memory feel;        ///< of multipliers, [r]
  Memory gradient;    ///< of the equations, [r, n]
  Memory target;      ///< [r]
  Memory factors;
  Memory schur, size, work;
  Memory regular;        ///< [r, r]
  Memory g, sum, extra;  ///< [n + r] each
  Memory touch, theta;   ///< [r] each
  Memory basis;          ///< orthonormal rows, [n, n]
  Memory column_unit;    ///< of the stationarity, [n]
  Memory scratch;        ///< [2 n + r]
  Memory tau;            ///< of the edge that a cone row belongs to, [r]

  QpModesLayout() = default;
  CAROM_INLINE constexpr QpModesLayout(kernels::Arena<Memory>& arena, long n, long r)
      : x(arena.take(n)),
        multiplier(arena.take(r)),
        slack(arena.take(r)),
        unit(arena.take(r)),
        feel(arena.take(r)),
        gradient(arena.take(r * n)),
        target(arena.take(r)),
        factors(arena.take(kernels::values_of<FactorsLayout>(n + r))),
        schur(arena.take(r * r)),
        size(arena.take(r)),
        work(arena.take(doubtful_workspace(r))),
        regular(arena.take(r * r + r)),
        g(arena.take(n + r)),
        sum(arena.take(n + r)),
        extra(arena.take(n + r)),
        touch(arena.take(r)),
        theta(arena.take(r)),
        basis(arena.take(n * n)),
        column_unit(arena.take(n)),
        scratch(arena.take(2 * n + r)),
        tau(arena.take(r)) {}
};
CAROM_HOST_DEVICE constexpr long qp_derivative_reals(int n, int r) {
  return kernels::values_of<QpModesLayout>(static_cast<long>(n), static_cast<long>(r));
}
CAROM_HOST_DEVICE constexpr long qp_derivative_ints(int n, int r) {
  return static_cast<long>(n) + 9L * r;
}

/// States of a second-order cone.
/// border: s on the boundary and z = 0, a condition like that of a row along (R s)'C.
enum class ConeState : int { free, apex, edge, border };

/// One problem with its answer; modes() comes first. Row i < m is one of A, the others are of C;
/// all have the form G x <= or >= or = bound. The equations of the modes are
///   (P - sum tau C'R C) dx + G' dlambda = r1,   G dx = r2
/// over the gradients G of what is held: rows, all rows of a cone whose slack is zero, and (R s)'C
/// of a cone whose slack s and multiplier tau R s lie on the boundary, R = diag(1, -1, ..).
class QpDerivative {
 public:
  CAROM_INLINE QpDerivative(const QpShape& shape, const QpView& problem,
                            const DerivativeRules& rules, double* reals, int* ints)
      : shape_(shape),
        n_(shape.variables),
        m_(shape.rows),
        r_(shape.all_rows()),
        problem_(problem),
        rules_(rules),
        at_(kernels::placed<QpModesLayout>(reals, static_cast<long>(n_), static_cast<long>(r_))),
        mode_(ints + n_ + r_),
        sign_(mode_ + r_),
        equation_(sign_ + r_),
        owner_(equation_ + r_),
        doubtful_(owner_ + r_),
        basic_(doubtful_ + r_),
        state_(basic_ + r_),
        factors_(at_.factors, n_ + r_) {}

  /// As LcpDerivative::modes.
  CAROM_HOST_DEVICE bool modes(const double* x, const double* dual, const double* cone_dual,
                               Report& report) {
    for (int j = 0; j < n_; ++j) {
      at_.x[j] = x[j];
      if (!kernels::is_finite(x[j])) return false;
    }
    for (int i = 0; i < r_; ++i) {
      at_.multiplier[i] = i < m_ ? dual[i] : cone_dual[i - m_];
      if (!kernels::is_finite(at_.multiplier[i])) return false;
    }
    kinds();
    measure();
    if (!(wrong() <= kLargestShift)) return false;
    double tolerance = rules_.margin_tolerance;
    split(tolerance);
    report.shift = 0.0;
    report.status = Smoothness::undefined;
    bool stale = true;  // whether the factors are others' than the modes'
    for (int round = 0; round < 5; ++round) {
      if (stale || edges_ > 0) {
        dependent_ = false;
        if (!assemble(true)) {
          report.margin = margin_;
          report.doubtful = doubtfuls_;
          report.status = Smoothness::set_valued;
          return false;
        }
      }
      const double moved = newton();
      report.shift = kernels::larger(report.shift, moved);
      measure();
      tolerance = kernels::larger(rules_.margin_tolerance, 10.0 * moved);
      // Modes that do not settle have gaps about as large as what polishing moved.
      if (round >= 3) tolerance = kernels::larger(tolerance, 10.0 * report.shift);
      stale = split(tolerance);
      if (!stale && moved <= 1e-13) break;
    }
    report.margin = margin_;
    report.doubtful = doubtfuls_;
    const double most = doubtfuls_ > 0 || m_ < r_ ? kLargestShiftOfQp : kLargestShift;
    if (!(report.shift <= most) || !(wrong() <= 10.0 * tolerance)) return false;
    clean();
    if (stale || edges_ > 0) {
      dependent_ = false;
      if (!assemble(true)) {
        report.status = Smoothness::set_valued;
        return false;
      }
    }
    report.condition = factors_.condition();
    report.status = Smoothness::smooth;
    if (doubtfuls_ > 0) {
      settle();
      report.margin = margin_;
      report.doubtful = doubtfuls_;
      report.condition = factors_.condition();
      // P is definite on what the held rows leave: x is unique whether the multipliers are or not.
      semidefinite_ =
          doubtfuls_ > 0 && !symmetric_definite(doubtfuls_, at_.schur, at_.size, at_.work);
      dependent_ = dependent_ || semidefinite_;
    }
    if (doubtful_cones_ > 0 && report.status == Smoothness::smooth)
      report.status = Smoothness::kink;
    return true;
  }

  /// Gradients where `gradient` has arrays; false where there are none, all NaN.
  CAROM_HOST_DEVICE bool adjoint(const QpCotangentView& cotangent, const QpWanted& wanted,
                                 const QpGradientView& gradient, Report& report) {
    const double objective = cotangent.objective != nullptr ? *cotangent.objective : 0.0;
    bool asks_multipliers = false;
    // dL/dx, with what the multipliers of edges depend on x.
    for (int j = 0; j < n_; ++j) {
      double value = cotangent.solution != nullptr ? cotangent.solution[j] : 0.0;
      if (objective != 0.0) {
        double slope = problem_.vector[j];
        for (int k = 0; k < n_; ++k) slope += hessian(j, k) * at_.x[k];
        value += objective * slope;
      }
      at_.g[j] = value;
    }
    for (int j = 0; j < n_; ++j) at_.sum[j] = at_.g[j];
    for (int i = m_; i < r_; ++i) {
      if (!is_edge(i)) continue;
      const double pull = at_.tau[i] * reflect(i) * wish(cotangent, i);
      for (int j = 0; j < n_; ++j) at_.sum[j] -= row(i)[j] * pull;
    }
    for (int c = 0; c < equations_; ++c) {
      double value = 0.0;
      each_row_of(c, [&](int i, double weight) { value += weight * wish(cotangent, i); });
      at_.sum[n_ + c] = value;
    }
    for (int i = 0; i < r_; ++i) {
      const bool active = mode_[i] != static_cast<int>(RowMode::free);
      asks_multipliers = asks_multipliers || (active && wish(cotangent, i) != 0.0);
    }
    if (dependent_ && report.status != Smoothness::set_valued) {
      if (asks_multipliers) {
        report.status = Smoothness::set_valued;
      } else if (wanted.rows()) {
        report.status = dependent_equations_ ? Smoothness::undefined : Smoothness::kink;
      }
      if (asks_multipliers || report.status == Smoothness::undefined) {
        return none(gradient);
      }
    }
    factors_.solve(at_.sum);  // symmetric
    bool seen = false;
    for (int k = 0; k < doubtfuls_; ++k) {
      const int i = doubtful_[k];
      double value = 0.0;
      each_part(i, [&](int l, double share) { value += share * wish(cotangent, l); });
      double size = magnitude(value);
      const double* along = condition(i);
      for (int j = 0; j < n_; ++j) {
        const double term = along[j] * at_.sum[j];
        value -= term;
        size += magnitude(term);
      }
      at_.touch[k] = value;
      seen = seen || magnitude(value) > (kUnseen + 4e-16 * report.condition) * size;
    }
    const bool by_rows = report.status == Smoothness::smooth && seen;
    if (by_rows) report.status = Smoothness::kink;
    AtKink element = AtKink::free;
    if (report.status == Smoothness::kink) element = rules_.at_kink;
    if (element == AtKink::nan) return none(gradient);
    double weight = 0.0;  // of the element where doubtful rows are held
    if (report.status == Smoothness::kink && seen) {
      weight = element == AtKink::held ? 1.0 : element == AtKink::mean ? 0.5 : 0.0;
    }
    for (int k = 0; k < doubtfuls_; ++k) at_.theta[k] = 0.0;
    if (weight > 0.0) {
      double* t = at_.theta;
      if (!solve_semidefinite(doubtfuls_, at_.schur, at_.size, at_.touch, t, at_.regular,
                              at_.work)) {
        report.status = Smoothness::undefined;
        return none(gradient);
      }
      for (int j = 0; j < n_ + equations_; ++j) at_.extra[j] = 0.0;
      for (int k = 0; k < doubtfuls_; ++k) {
        const double* along = condition(doubtful_[k]);
        for (int j = 0; j < n_; ++j) at_.extra[j] += along[j] * t[k];
      }
      factors_.solve(at_.extra);
      for (int j = 0; j < n_ + equations_; ++j) at_.sum[j] += weight * at_.extra[j];
    }
    // The rows' part: c, and e of cones.
    double* e = at_.scratch;
    for (int i = 0; i < r_; ++i) e[i] = 0.0;
    for (int c = 0; c < equations_; ++c) {
      each_row_of(c, [&](int i, double share) { e[i] += share * at_.sum[n_ + c]; });
    }
    for (int k = 0; k < doubtfuls_; ++k) {
      each_part(doubtful_[k], [&](int i, double share) { e[i] = -weight * share * at_.theta[k]; });
    }
    for (int i = m_; i < r_; ++i) {
      if (!is_edge(i)) continue;
      double along = -wish(cotangent, i);
      for (int j = 0; j < n_; ++j) along += row(i)[j] * at_.sum[j];
      e[i] -= at_.tau[i] * reflect(i) * along;
    }
    report.residual = adjoint_residual(cotangent, e, weight);
    if (!certified(report, rules_)) return none(gradient);
    report.reach = kNone;
    write(gradient, objective, e);
    if (rules_.reach) {
      const bool at_border = doubtfuls_ + doubtful_cones_ > 0 || dependent_;
      report.reach = at_border ? 0.0 : reach_down(wanted, objective, e);
    }
    return true;
  }

  CAROM_HOST_DEVICE bool tangent(const QpDirectionView& d, const QpTangentView& out,
                                 Report& report) {
    bool turned = false;  // whether an active row's entries move
    // sum: r1 and r2; target: what each row's slack gains at fixed x.
    for (int j = 0; j < n_; ++j) {
      double value = d.vector != nullptr ? d.vector[j] : 0.0;
      if (d.hessian != nullptr) {
        for (int k = 0; k < n_; ++k) {
          value += 0.5 *
                   (d.hessian[static_cast<long>(j) * n_ + k] +
                    d.hessian[static_cast<long>(k) * n_ + j]) *
                   at_.x[k];
        }
      }
      at_.g[j] = -value;
    }
    for (int i = 0; i < r_; ++i) {
      const double* turn = row_direction(d, i);
      double gain = bound_direction(d, i);
      if (turn != nullptr) {
        for (int j = 0; j < n_; ++j) {
          gain -= turn[j] * at_.x[j];
          at_.g[j] -= turn[j] * at_.multiplier[i];
          turned = turned || (turn[j] != 0.0 && mode_[i] != static_cast<int>(RowMode::free));
        }
      }
      at_.target[i] = gain;
    }
    for (int j = 0; j < n_; ++j) at_.sum[j] = at_.g[j];
    for (int i = m_; i < r_; ++i) {
      if (!is_edge(i)) continue;
      for (int j = 0; j < n_; ++j) {
        at_.sum[j] -= at_.tau[i] * reflect(i) * row(i)[j] * at_.target[i];
      }
    }
    for (int c = 0; c < equations_; ++c) {
      double value = 0.0;
      each_row_of(c, [&](int i, double share) { value += share * at_.target[i]; });
      at_.sum[n_ + c] = value;
    }
    // Only bounds may move where rows depend on each other, as long as the rows agree, which the
    // residual shows: then every multiplier is as good as any other.
    if ((dependent_ && turned) || doubtful_cones_ > 0) report.status = Smoothness::undefined;
    factors_.solve(at_.sum);
    bool moved = false;
    for (int k = 0; k < doubtfuls_; ++k) {
      const int i = doubtful_[k];
      double value = 0.0;
      each_part(i, [&](int l, double share) { value += share * at_.target[l]; });
      double size = magnitude(value);
      const double* along = condition(i);
      for (int j = 0; j < n_; ++j) {
        const double term = along[j] * at_.sum[j];
        value -= term;
        size += magnitude(term);
      }
      at_.touch[k] = magnitude(value) > kUnseen * size ? value : 0.0;
      at_.theta[k] = 0.0;
      moved = moved || at_.touch[k] != 0.0;
    }
    if (report.status == Smoothness::smooth && moved) report.status = Smoothness::kink;
    if (report.status == Smoothness::kink) {
      const bool found =
          semidefinite_
              ? solve_semidefinite_doubtful(doubtfuls_, at_.schur, at_.size, at_.touch, at_.theta,
                                            basic_, at_.regular, at_.regular + r_ * r_, at_.work)
              : solve_doubtful(doubtfuls_, at_.schur, at_.touch, at_.theta, basic_, at_.work);
      if (!found) report.status = Smoothness::undefined;
      for (int j = 0; j < n_ + equations_; ++j) at_.extra[j] = 0.0;
      for (int k = 0; k < doubtfuls_; ++k) {
        const double* along = condition(doubtful_[k]);
        for (int j = 0; j < n_; ++j) at_.extra[j] += along[j] * at_.theta[k];
      }
      factors_.solve(at_.extra);
      for (int j = 0; j < n_ + equations_; ++j) at_.sum[j] -= at_.extra[j];
    }
    double* dz = at_.scratch;  // of all rows
    for (int i = 0; i < r_; ++i) dz[i] = 0.0;
    for (int c = 0; c < equations_; ++c) {
      each_row_of(c, [&](int i, double share) { dz[i] += share * at_.sum[n_ + c]; });
    }
    for (int k = 0; k < doubtfuls_; ++k) {
      each_part(doubtful_[k], [&](int i, double share) { dz[i] = share * at_.theta[k]; });
    }
    double* ds = at_.extra;
    for (int i = 0; i < r_; ++i) {
      ds[i] = at_.target[i];
      for (int j = 0; j < n_; ++j) ds[i] -= row(i)[j] * at_.sum[j];
      if (is_edge(i)) dz[i] += at_.tau[i] * reflect(i) * ds[i];
    }
    if (report.status != Smoothness::undefined) {
      report.residual = tangent_residual(dz, ds, report.status == Smoothness::set_valued);
    }
    const bool fine = report.status != Smoothness::undefined && certified(report, rules_);
    double objective = 0.0;
    for (int j = 0; j < n_; ++j) {
      double slope = problem_.vector[j];
      for (int k = 0; k < n_; ++k) slope += hessian(j, k) * at_.x[k];
      objective += slope * at_.sum[j];
      if (d.vector != nullptr) objective += d.vector[j] * at_.x[j];
      if (d.hessian != nullptr) {
        for (int k = 0; k < n_; ++k) {
          objective += 0.5 * d.hessian[static_cast<long>(j) * n_ + k] * at_.x[j] * at_.x[k];
        }
      }
      out.solution[j] = fine ? at_.sum[j] : kNone;
    }
    // The multipliers of rows that depend on each other are not unique.
    for (int i = 0; i < r_; ++i) {
      const bool unknown = dependent_ && mode_[i] != static_cast<int>(RowMode::free);
      const double value = fine && !unknown ? dz[i] : kNone;
      if (i < m_) {
        out.dual[i] = value;
      } else {
        out.cone_dual[i - m_] = value;
      }
    }
    *out.objective = fine ? objective : kNone;
    if (fine && rules_.reach) report.reach = dependent_ ? 0.0 : reach_along(dz, ds);
    return fine;
  }

 private:
  CAROM_INLINE double hessian(int i, int j) const {
    return i >= j ? problem_.hessian[static_cast<long>(i) * n_ + j]
                  : problem_.hessian[static_cast<long>(j) * n_ + i];
  }
  CAROM_INLINE const double* row(int i) const {
    return i < m_ ? problem_.matrix + static_cast<long>(i) * n_
                  : problem_.cone_matrix + static_cast<long>(i - m_) * n_;
  }
  /// 1 in the first row of a second-order cone, -1 in the others.
  CAROM_INLINE double reflect(int i) const {
    const int first = owner_[i];
    return first == i ? 1.0 : -1.0;
  }
  CAROM_INLINE bool in_cone(int i) const { return owner_[i] >= 0; }
  CAROM_INLINE bool is_edge(int i) const {
    return in_cone(i) && state_[owner_[i]] == static_cast<int>(ConeState::edge);
  }
  CAROM_INLINE double wish(const QpCotangentView& cotangent, int i) const {
    if (i < m_) return cotangent.dual != nullptr ? cotangent.dual[i] : 0.0;
    return cotangent.cone_dual != nullptr ? cotangent.cone_dual[i - m_] : 0.0;
  }
  CAROM_INLINE bool is_equation(int i) const { return sign_[i] == 0 && has_bound(i); }
  CAROM_INLINE bool has_bound(int i) const {
    return i >= m_ || problem_.lower[i] > -kernels::kInfinity ||
           problem_.upper[i] < kernels::kInfinity;
  }
  /// The bound that counts.
  CAROM_INLINE double bound(int i) const {
    if (i >= m_) return problem_.cone_vector[i - m_];
    return sign_[i] < 0 ? problem_.lower[i] : problem_.upper[i];
  }
  CAROM_INLINE const double* row_direction(const QpDirectionView& d, int i) const {
    const double* all = i < m_ ? d.matrix : d.cone_matrix;
    if (all == nullptr) return nullptr;
    return all + static_cast<long>(i < m_ ? i : i - m_) * n_;
  }
  CAROM_INLINE double bound_direction(const QpDirectionView& d, int i) const {
    if (i >= m_) return d.cone_vector != nullptr ? d.cone_vector[i - m_] : 0.0;
    if (!has_bound(i)) return 0.0;
    if (is_equation(i)) {  // the bound that the multiplier's sign names
      const double y = at_.multiplier[i];
      const double up = d.upper != nullptr ? d.upper[i] : 0.0;
      const double low = d.lower != nullptr ? d.lower[i] : 0.0;
      return y > 0.0 ? up : y < 0.0 ? low : 0.5 * (up + low);
    }
    const double* bounds = sign_[i] < 0 ? d.lower : d.upper;
    return bounds != nullptr ? bounds[i] : 0.0;
  }

  CAROM_INLINE bool is_border(int i) const {
    return in_cone(i) && state_[owner_[i]] == static_cast<int>(ConeState::border);
  }
  /// f(row, weight) over the rows that doubtful condition i is made of: a row with its sign, or a
  /// cone's rows along R s / |s|.
  template <class F>
  CAROM_INLINE void each_part(int i, F&& f) const {
    if (!in_cone(i)) return f(i, static_cast<double>(sign_[i]));
    double square = 0.0;
    for (int k = i; k < r_ && owner_[k] == i; ++k) square += at_.slack[k] * at_.slack[k];
    const double inverse = 1.0 / kernels::square_root(square);
    for (int k = i; k < r_ && owner_[k] == i; ++k) f(k, reflect(k) * at_.slack[k] * inverse);
  }
  /// Its gradient, [n]; valid until the next one is asked for.
  CAROM_HOST_DEVICE const double* condition(int i) const {
    double* to = at_.basis;
    for (int j = 0; j < n_; ++j) to[j] = 0.0;
    each_part(i, [&](int k, double share) {
      for (int j = 0; j < n_; ++j) to[j] += share * row(k)[j];
    });
    return to;
  }

  /// f(row, weight) over the rows that equation c is made of.
  template <class F>
  CAROM_INLINE void each_row_of(int c, F&& f) const {
    const int i = equation_[c];
    if (!is_edge(i)) return f(i, 1.0);
    for (int k = i; k < r_ && owner_[k] == i; ++k) f(k, reflect(k) * at_.slack[k]);
  }

  /// owner: the first row of the second-order cone, or -1; sign 0 of equations.
  CAROM_HOST_DEVICE void kinds() {
    for (int i = 0; i < r_; ++i) {
      owner_[i] = -1;
      sign_[i] = 1;
      state_[i] = 0;
      mode_[i] = static_cast<int>(RowMode::free);
    }
    for (int i = 0; i < m_; ++i) {
      if (problem_.lower[i] == problem_.upper[i]) sign_[i] = 0;
    }
    int first = m_;
    for (int c = 0; c < shape_.cones; ++c) {
      const Cone& cone = shape_.cone[c];
      for (int k = 0; k < cone.size; ++k) {
        if (cone.kind == ConeKind::zero) sign_[first + k] = 0;
        if (cone.kind == ConeKind::second_order && cone.size > 1) owner_[first + k] = first;
      }
      first += cone.size;
    }
  }

  /// Share of the terms of the objective that rounding leaves.
  static constexpr double kRounding = 0x1.0p-50;

  /// Slacks, and in which units they and the multipliers are measured.
  CAROM_HOST_DEVICE void measure() {
    double energy = 0.0, work = 0.0;
    double* root = at_.scratch;         // 1 / sqrt(P_jj), zero where that does not count
    double* column = at_.scratch + n_;  // 1 / unit of the stationarity
    for (int j = 0; j < n_; ++j) {
      double size = magnitude(problem_.vector[j]), largest = 0.0;
      for (int k = 0; k < n_; ++k) {
        size += magnitude(hessian(j, k) * at_.x[k]);
        largest = kernels::larger(largest, magnitude(hessian(j, k)));
      }
      at_.column_unit[j] = size;
      const double diagonal = hessian(j, j);
      root[j] = diagonal > 1e-8 * largest ? 1.0 / kernels::square_root(diagonal) : 0.0;
    }
    for (int i = 0; i < r_; ++i) {
      if (at_.multiplier[i] == 0.0) continue;
      for (int j = 0; j < n_; ++j) {
        at_.column_unit[j] += magnitude(row(i)[j] * at_.multiplier[i]);
      }
    }
    for (int j = 0; j < n_; ++j) {
      energy = kernels::larger(energy, at_.column_unit[j] * root[j]);
    }
    for (int j = 0; j < n_; ++j) {
      if (root[j] > 0.0) {
        at_.column_unit[j] = kernels::larger(at_.column_unit[j], energy / root[j]);
      }
      column[j] = at_.column_unit[j] > 0.0 ? 1.0 / at_.column_unit[j] : 0.0;
      work += at_.column_unit[j] * magnitude(at_.x[j]);
    }
    for (int i = 0; i < r_; ++i) {
      double value = 0.0, size = 0.0, feel = 0.0, spread = 0.0;
      for (int j = 0; j < n_; ++j) {
        const double term = row(i)[j] * at_.x[j];
        value += term;
        size += magnitude(term);
        feel = kernels::larger(feel, magnitude(row(i)[j]) * column[j]);
        const double share = row(i)[j] * root[j];
        spread += share * share;
      }
      at_.feel[i] = feel;
      if (i < m_ && sign_[i] != 0) choose_bound(i, value);
      const double limit = has_bound(i) ? bound(i) : 0.0;
      const double side = in_cone(i) || sign_[i] >= 0 ? 1.0 : -1.0;
      at_.slack[i] = has_bound(i) ? side * (limit - value) : kernels::kInfinity;
      if (!kernels::is_finite(limit)) at_.slack[i] = kernels::kInfinity;
      at_.unit[i] = kernels::larger(size + (kernels::is_finite(limit) ? magnitude(limit) : 0.0),
                                    kernels::square_root(spread) * energy);
      // A row whose terms are what rounding left is not measured by them.
      if (at_.unit[i] <= kRounding * feel * work) at_.unit[i] = feel * work;
      if (!(at_.unit[i] > 0.0)) at_.unit[i] = 1.0;
    }
    // A cone's rows have one unit.
    for (int i = m_; i < r_; ++i) {
      if (!in_cone(i) || owner_[i] == i) continue;
      const int first = owner_[i];
      at_.unit[first] = kernels::larger(at_.unit[first], at_.unit[i]);
      at_.feel[first] = kernels::larger(at_.feel[first], at_.feel[i]);
    }
    for (int i = m_; i < r_; ++i) {
      if (!in_cone(i)) continue;
      at_.unit[i] = at_.unit[owner_[i]];
      at_.feel[i] = at_.feel[owner_[i]];
    }
  }
  /// Of two bounds the one whose multiplier is there, else the nearer one.
  CAROM_INLINE void choose_bound(int i, double value) {
    const double low = problem_.lower[i], up = problem_.upper[i];
    if (!(up < kernels::kInfinity)) {
      sign_[i] = low > -kernels::kInfinity ? -1 : 1;
    } else if (!(low > -kernels::kInfinity)) {
      sign_[i] = 1;
    } else {
      const double felt = at_.feel[i] * at_.multiplier[i];
      sign_[i] = felt > rules_.margin_tolerance    ? 1
                 : felt < -rules_.margin_tolerance ? -1
                 : up - value <= value - low       ? 1
                                                   : -1;
    }
  }

  /// What the answer misses, in the rows' units: an answer of another problem is seen by it.
  CAROM_HOST_DEVICE double wrong() const {
    double worst = 0.0;
    for (int j = 0; j < n_; ++j) {
      double value = problem_.vector[j];
      for (int k = 0; k < n_; ++k) value += hessian(j, k) * at_.x[k];
      for (int i = 0; i < r_; ++i) value += row(i)[j] * at_.multiplier[i];
      const double unit = at_.column_unit[j] > 0.0 ? at_.column_unit[j] : 1.0;
      worst = kernels::larger(worst, magnitude(value) / unit);
    }
    for (int i = 0; i < r_; ++i) {
      if (in_cone(i)) continue;
      if (!has_bound(i)) continue;
      const double open = at_.slack[i] / at_.unit[i];
      if (is_equation(i)) {
        worst = kernels::larger(worst, magnitude(open));
        continue;
      }
      const double closed = sign_[i] * at_.multiplier[i] * at_.feel[i];
      worst = kernels::larger(worst, -open);
      worst = kernels::larger(worst, -closed);
      worst = kernels::larger(worst, kernels::smaller(magnitude(open), magnitude(closed)));
    }
    return worst;
  }

  CAROM_INLINE double length(const double* from, int first) const {
    double sum = 0.0;
    for (int k = first + 1; k < r_ && owner_[k] == first; ++k) sum += from[k] * from[k];
    return kernels::square_root(sum);
  }

  /// Modes from slacks and multipliers; true where one is another than before.
  CAROM_HOST_DEVICE bool split(double tolerance) {
    bool changed = false;
    doubtfuls_ = doubtful_cones_ = edges_ = 0;
    margin_ = kernels::kInfinity;
    for (int i = 0; i < r_; ++i) {
      RowMode mode = RowMode::free;
      if (in_cone(i)) {
        const int first = owner_[i];
        if (first == i) changed = split_cone(i, tolerance) || changed;
        mode = is_border(first) || state_[first] == static_cast<int>(ConeState::free)
                   ? RowMode::free
                   : RowMode::held;
      } else if (is_equation(i)) {
        mode = RowMode::held;
      } else if (has_bound(i)) {
        const double open = at_.slack[i] / at_.unit[i];
        const double closed = sign_[i] * at_.multiplier[i] * at_.feel[i];
        const double gap = kernels::larger(open, closed);
        margin_ = kernels::smaller(margin_, gap > 0.0 ? gap : 0.0);
        mode = !(gap > tolerance) ? RowMode::doubtful
               : closed >= open   ? RowMode::held
                                  : RowMode::free;
        if (mode == RowMode::doubtful) doubtful_[doubtfuls_++] = i;
      }
      changed = changed || mode_[i] != static_cast<int>(mode);
      mode_[i] = static_cast<int>(mode);
    }
    return changed;
  }
  CAROM_HOST_DEVICE bool split_cone(int first, double tolerance) {
    const double* s = at_.slack;
    const double* z = at_.multiplier;
    const double s_length = length(s, first), z_length = length(z, first);
    const double s_inside = (s[first] - s_length) / at_.unit[first];
    const double z_inside = (z[first] - z_length) * at_.feel[first];
    const double s_size = (magnitude(s[first]) + s_length) / at_.unit[first];
    const double z_size = (magnitude(z[first]) + z_length) * at_.feel[first];
    ConeState state = ConeState::edge;
    double gap = 0.0;
    if (z_size <= s_inside) {
      state = ConeState::free;
      gap = s_inside;
    } else if (s_size <= z_inside) {
      state = ConeState::apex;
      gap = z_inside;
    } else {
      gap = kernels::smaller(s_size, z_size);
    }
    margin_ = kernels::smaller(margin_, gap > 0.0 ? gap : 0.0);
    if (!(gap > tolerance)) {  // between states: the freer one
      if (s_size > tolerance && z_size <= tolerance) {
        state = ConeState::border;
        doubtful_[doubtfuls_++] = first;
      } else {
        ++doubtful_cones_;
        state = z_size > tolerance ? ConeState::apex : ConeState::free;
      }
    }
    if (state == ConeState::edge) ++edges_;
    const bool changed = state_[first] != static_cast<int>(state);
    state_[first] = static_cast<int>(state);
    double along = 0.0, square = 0.0;
    for (int k = first; k < r_ && owner_[k] == first; ++k) {
      along += reflect(k) * s[k] * z[k];
      square += s[k] * s[k];
    }
    for (int k = first; k < r_ && owner_[k] == first; ++k) {
      at_.tau[k] = state == ConeState::edge ? along / square : 0.0;
    }
    return changed;
  }

  /// The modes' equations and their factors; an independent subset of the gradients where they
  /// depend on each other and `drop` says so. False where they stay singular.
  CAROM_HOST_DEVICE bool assemble(bool drop) {
    equations_ = 0;
    for (int i = 0; i < r_; ++i) {
      if (mode_[i] != static_cast<int>(RowMode::held)) continue;
      if (is_edge(i) && owner_[i] != i) continue;
      equation_[equations_++] = i;
    }
    if (fill()) return true;
    if (!drop) return false;
    independent();
    return fill();
  }
  CAROM_HOST_DEVICE bool fill() {
    const int size = n_ + equations_;
    double* a = factors_.matrix();
    for (long k = 0; k < static_cast<long>(size) * size; ++k) a[k] = 0.0;
    for (int i = 0; i < n_; ++i) {
      for (int j = 0; j < n_; ++j) a[static_cast<long>(i) * size + j] = hessian(i, j);
    }
    for (int i = m_; i < r_; ++i) {
      if (!is_edge(i)) continue;
      for (int j = 0; j < n_; ++j) {
        const double pull = at_.tau[i] * reflect(i) * row(i)[j];
        if (pull == 0.0) continue;
        for (int k = 0; k < n_; ++k) a[static_cast<long>(j) * size + k] -= pull * row(i)[k];
      }
    }
    for (int c = 0; c < equations_; ++c) {
      double* g = at_.gradient + static_cast<long>(c) * n_;
      for (int j = 0; j < n_; ++j) g[j] = 0.0;
      each_row_of(c, [&](int i, double share) {
        for (int j = 0; j < n_; ++j) g[j] += share * row(i)[j];
      });
      for (int j = 0; j < n_; ++j) {
        a[static_cast<long>(n_ + c) * size + j] = g[j];
        a[static_cast<long>(j) * size + n_ + c] = g[j];
      }
    }
    return size > 0 && factors_.factor(size);
  }
  /// Keeps equations whose gradients are independent: equations first, then by their multipliers,
  /// so that what stays has multipliers of the right sign where a vertex has them.
  CAROM_HOST_DEVICE void independent() {
    for (int c = 1; c < equations_; ++c) {  // insertion sort
      const int kept = equation_[c];
      const double key = priority(kept);
      int place = c;
      for (; place > 0 && priority(equation_[place - 1]) < key; --place) {
        equation_[place] = equation_[place - 1];
      }
      equation_[place] = kept;
    }
    int count = 0;
    double* v = at_.sum;
    for (int c = 0; c < equations_; ++c) {
      for (int j = 0; j < n_; ++j) v[j] = 0.0;
      each_row_of(c, [&](int i, double share) {
        for (int j = 0; j < n_; ++j) {
          v[j] += share * row(i)[j] / (at_.column_unit[j] > 0.0 ? at_.column_unit[j] : 1.0);
        }
      });
      double before = 0.0;
      for (int j = 0; j < n_; ++j) before += v[j] * v[j];
      for (int pass = 0; pass < 2; ++pass) {
        for (int k = 0; k < count; ++k) {
          const double* b = at_.basis + static_cast<long>(k) * n_;
          double along = 0.0;
          for (int j = 0; j < n_; ++j) along += b[j] * v[j];
          for (int j = 0; j < n_; ++j) v[j] -= along * b[j];
        }
      }
      double after = 0.0;
      for (int j = 0; j < n_; ++j) after += v[j] * v[j];
      if (!(after > 1e-20 * before) || count >= n_) {
        dependent_ = true;
        if (is_equation(equation_[c])) dependent_equations_ = true;
        continue;
      }
      const double inverse = 1.0 / kernels::square_root(after);
      double* b = at_.basis + static_cast<long>(count) * n_;
      for (int j = 0; j < n_; ++j) b[j] = v[j] * inverse;
      equation_[count++] = equation_[c];
    }
    equations_ = count;
  }
  CAROM_INLINE double priority(int i) const {
    if (is_equation(i)) return kernels::kInfinity;
    return at_.feel[i] * magnitude(at_.multiplier[i]);
  }

  /// One Newton step of the modes' equations, and the same again with these factors where they are
  /// linear; what it moved, in the rows' units.
  CAROM_HOST_DEVICE double newton() {
    double* step = at_.sum;
    for (int j = 0; j < n_; ++j) {
      double value = problem_.vector[j];
      for (int k = 0; k < n_; ++k) value += hessian(j, k) * at_.x[k];
      at_.g[j] = value;
    }
    // Multipliers of the equations that are kept; others' are zero or, where the kept rows say the
    // same, moved over to them.
    for (int i = 0; i < r_; ++i) at_.theta[i] = at_.multiplier[i];
    for (int i = 0; i < r_; ++i) at_.multiplier[i] = 0.0;
    for (int c = 0; c < equations_; ++c) {
      const int i = equation_[c];
      if (is_edge(i)) {
        each_row_of(c, [&](int k, double share) { at_.multiplier[k] = at_.tau[k] * share; });
      } else {
        at_.multiplier[i] = at_.theta[i];
      }
    }
    for (int i = 0; i < r_; ++i) {
      for (int j = 0; j < n_; ++j) at_.g[j] += row(i)[j] * at_.multiplier[i];
    }
    for (int j = 0; j < n_; ++j) step[j] = -at_.g[j];
    for (int c = 0; c < equations_; ++c) {
      const int i = equation_[c];
      double value = 0.0;
      if (is_edge(i)) {
        each_row_of(c, [&](int k, double share) { value += 0.5 * share * at_.slack[k]; });
      } else {
        value = (in_cone(i) || sign_[i] >= 0 ? 1.0 : -1.0) * at_.slack[i];
      }
      step[n_ + c] = value;
    }
    factors_.solve(step);
    double moved = 0.0;
    for (int j = 0; j < n_; ++j) at_.x[j] += step[j];
    for (int i = 0; i < r_; ++i) {
      double change = 0.0;
      for (int j = 0; j < n_; ++j) change += row(i)[j] * step[j];
      if (has_bound(i)) moved = kernels::larger(moved, magnitude(change) / at_.unit[i]);
    }
    for (int j = 0; j < n_; ++j) {
      double change = 0.0;
      for (int k = 0; k < n_; ++k) change += hessian(j, k) * step[k];
      if (at_.column_unit[j] > 0.0) {
        moved = kernels::larger(moved, magnitude(change) / at_.column_unit[j]);
      }
    }
    for (int c = 0; c < equations_; ++c) {
      const int i = equation_[c];
      if (is_edge(i)) {  // z = tau R s at the new s
        const double tau = at_.tau[i] + step[n_ + c];
        for (int k = i; k < r_ && owner_[k] == i; ++k) {
          double s = bound(k);
          for (int j = 0; j < n_; ++j) s -= row(k)[j] * at_.x[j];
          at_.multiplier[k] = tau * reflect(k) * s;
        }
      } else {
        at_.multiplier[i] += step[n_ + c];
      }
    }
    if (!dependent_) {
      for (int i = 0; i < r_; ++i) {
        moved = kernels::larger(moved, at_.feel[i] * magnitude(at_.multiplier[i] - at_.theta[i]));
      }
    } else {
      // Rows that the kept ones imply keep their own multipliers, which are as good as any.
      spread_multipliers();
    }
    return moved;
  }
  /// Where rows depend on each other the answer's own multipliers stay, with what the step changed
  /// in the kept ones' sum: G'(lambda) is unique, lambda is not.
  CAROM_HOST_DEVICE void spread_multipliers() {
    // rhs: -(P x + q) - G' theta over the kept rows.
    double* rhs = at_.sum;
    for (int j = 0; j < n_; ++j) {
      double value = -problem_.vector[j];
      for (int k = 0; k < n_; ++k) value -= hessian(j, k) * at_.x[k];
      for (int i = 0; i < r_; ++i) {
        const bool held = mode_[i] == static_cast<int>(RowMode::held);
        if (held && !is_edge(i)) value -= row(i)[j] * at_.theta[i];
        if (is_edge(i)) value -= row(i)[j] * at_.multiplier[i];
      }
      rhs[j] = value;
    }
    for (int c = 0; c < equations_; ++c) rhs[n_ + c] = 0.0;
    factors_.solve(rhs);
    for (int i = 0; i < r_; ++i) {
      if (is_edge(i)) continue;
      at_.multiplier[i] = mode_[i] == static_cast<int>(RowMode::held) ? at_.theta[i] : 0.0;
    }
    for (int c = 0; c < equations_; ++c) {
      if (!is_edge(equation_[c])) at_.multiplier[equation_[c]] += rhs[n_ + c];
    }
  }

  /// Exact zeros where modes say so.
  CAROM_HOST_DEVICE void clean() {
    for (int i = 0; i < r_; ++i) {
      if (mode_[i] != static_cast<int>(RowMode::held)) at_.multiplier[i] = 0.0;
    }
  }

  /// S of the doubtful rows. Those that have a positive multiplier in some other answer, since they
  /// and the held rows depend on each other, are held: nothing but a change of the rows themselves
  /// moves their slack. With S d = 0, d >= 0, the multipliers may move along d.
  CAROM_HOST_DEVICE void settle() {
    while (doubtfuls_ > 0) {
      reduce();
      const int b = doubtfuls_;
      bool moved = false;
      for (int i = 0; i < b; ++i) {
        if (in_cone(doubtful_[i]) || mode_[doubtful_[i]] == static_cast<int>(RowMode::held)) {
          continue;
        }
        const bool implied = !(at_.schur[i * b + i] > 1e-9 * at_.size[i]);
        if (!implied && !vanishing_combination(b, at_.schur, i, at_.theta, basic_, at_.work)) {
          continue;
        }
        bool rows_alone = true;
        for (int k = 0; k < b && !implied; ++k) {
          rows_alone = rows_alone && (!(at_.theta[k] > 0.0) || !in_cone(doubtful_[k]));
        }
        if (!rows_alone) continue;
        moved = true;
        mode_[doubtful_[i]] = static_cast<int>(RowMode::held);
        for (int k = 0; k < b && !implied; ++k) {
          if (at_.theta[k] > 0.0) mode_[doubtful_[k]] = static_cast<int>(RowMode::held);
        }
      }
      if (!moved) return;
      doubtfuls_ = 0;
      margin_ = kernels::kInfinity;
      for (int i = 0; i < r_; ++i) {
        if (mode_[i] == static_cast<int>(RowMode::doubtful) || (is_border(i) && owner_[i] == i)) {
          doubtful_[doubtfuls_++] = i;
        }
        if (in_cone(i) || is_equation(i) || !has_bound(i)) continue;
        const double gap =
            kernels::larger(at_.slack[i] / at_.unit[i], sign_[i] * at_.multiplier[i] * at_.feel[i]);
        const bool settled = mode_[i] == static_cast<int>(RowMode::held) && gap <= 1e-9;
        if (!settled) margin_ = kernels::smaller(margin_, gap > 0.0 ? gap : 0.0);
      }
      assemble(true);
      dependent_ = true;
    }
  }
  CAROM_HOST_DEVICE void reduce() {
    const int b = doubtfuls_;
    for (int l = 0; l < b; ++l) {
      const int i = doubtful_[l];
      const double* along = condition(i);
      for (int j = 0; j < n_; ++j) at_.sum[j] = along[j];
      for (int c = 0; c < equations_; ++c) at_.sum[n_ + c] = 0.0;
      factors_.solve(at_.sum);
      for (int k = 0; k < b; ++k) {
        const int o = doubtful_[k];
        const double* other = condition(o);
        double value = 0.0, size = 0.0;
        for (int j = 0; j < n_; ++j) {
          const double term = other[j] * at_.sum[j];
          value += term;
          size += magnitude(term);
        }
        at_.schur[k * b + l] = value;
        if (k == l) at_.size[k] = kernels::larger(size, free_size(o));
      }
    }
  }
  /// About what S_ii would be without held rows.
  CAROM_INLINE double free_size(int i) const {
    double sum = 0.0;
    for (int j = 0; j < n_; ++j) {
      const double diagonal = hessian(j, j);
      if (diagonal > 0.0) sum += row(i)[j] * row(i)[j] / diagonal;
    }
    return sum / n_;
  }

  CAROM_HOST_DEVICE bool none(const QpGradientView& gradient) const {
    fill_array(gradient.hessian, static_cast<long>(n_) * n_);
    fill_array(gradient.vector, n_);
    fill_array(gradient.matrix, static_cast<long>(m_) * n_);
    fill_array(gradient.lower, m_);
    fill_array(gradient.upper, m_);
    fill_array(gradient.cone_matrix, static_cast<long>(r_ - m_) * n_);
    fill_array(gradient.cone_vector, r_ - m_);
    return false;
  }

 public:
  static CAROM_INLINE void fill_array(double* to, long count) {
    if (to == nullptr) return;
    for (long i = 0; i < count; ++i) to[i] = kNone;
  }

 private:
  /// From a = sum[0, n) and e.
  CAROM_HOST_DEVICE void write(const QpGradientView& gradient, double objective,
                               const double* e) const {
    const double* a = at_.sum;
    for (int i = 0; i < n_; ++i) {
      if (gradient.vector != nullptr) gradient.vector[i] = objective * at_.x[i] - a[i];
      if (gradient.hessian == nullptr) continue;
      for (int j = 0; j < n_; ++j) {
        gradient.hessian[static_cast<long>(i) * n_ + j] =
            0.5 * (objective * (at_.x[i] * at_.x[j]) - (a[i] * at_.x[j] + a[j] * at_.x[i]));
      }
    }
    for (int i = 0; i < r_; ++i) {
      double* turned = i < m_ ? gradient.matrix : gradient.cone_matrix;
      if (turned != nullptr) {
        double* to = turned + static_cast<long>(i < m_ ? i : i - m_) * n_;
        for (int j = 0; j < n_; ++j) to[j] = -(at_.multiplier[i] * a[j] + e[i] * at_.x[j]);
      }
      if (i >= m_) {
        if (gradient.cone_vector != nullptr) gradient.cone_vector[i - m_] = e[i];
        continue;
      }
      double up = 0.0;  // share of the upper bound
      if (is_equation(i)) {
        const double y = at_.multiplier[i];
        up = y > 0.0 ? 1.0 : y < 0.0 ? 0.0 : 0.5;
      } else {
        up = sign_[i] > 0 ? 1.0 : 0.0;
      }
      if (gradient.upper != nullptr) gradient.upper[i] = up == 0.0 ? 0.0 : up * e[i];
      if (gradient.lower != nullptr) gradient.lower[i] = up == 1.0 ? 0.0 : (1.0 - up) * e[i];
    }
  }

  // The certificate: from the problem's arrays and the modes, without the equations that were
  // factored.

  /// P a + A'c + C'e = dL/dx, and what held rows ask of a. weight: of the element in which doubtful
  /// rows are held; between the two their own conditions are those of both.
  CAROM_HOST_DEVICE double adjoint_residual(const QpCotangentView& cotangent, const double* e,
                                            double weight) {
    const double* a = at_.sum;
    solution_size_ = factors_.size_in_units(a);
    certificate::MaxAbs<> worst;
    for (int j = 0; j < n_; ++j) {
      double sum = -at_.g[j], size = magnitude(at_.g[j]) + typical_column(j);
      for (int k = 0; k < n_; ++k) {
        sum += hessian(j, k) * a[k];
        size += magnitude(hessian(j, k) * a[k]);
      }
      for (int i = 0; i < r_; ++i) {
        sum += row(i)[j] * e[i];
        size += magnitude(row(i)[j] * e[i]);
      }
      worst.add(certificate::share_of(sum, size));
    }
    for (int i = 0; i < r_; ++i) {
      const bool border = is_border(i);
      const bool doubtful = border || mode_[i] == static_cast<int>(RowMode::doubtful);
      if (border && owner_[i] != i) continue;
      if ((!border && mode_[i] == static_cast<int>(RowMode::free)) || (doubtful && weight != 1.0)) {
        continue;
      }
      if (is_edge(i) && owner_[i] != i) continue;
      double sum = 0.0, size = 0.0;
      const auto add = [&](int k, double share) {
        sum -= share * wish(cotangent, k);
        size += magnitude(share * wish(cotangent, k)) + magnitude(share) * typical(k);
        for (int j = 0; j < n_; ++j) {
          sum += share * row(k)[j] * a[j];
          size += magnitude(share * row(k)[j] * a[j]);
        }
      };
      if (is_edge(i)) {
        for (int k = i; k < r_ && owner_[k] == i; ++k) add(k, reflect(k) * at_.slack[k]);
      } else if (border) {
        each_part(i, add);
      } else {
        add(i, 1.0);
      }
      if (doubtful && dependent_) continue;
      worst.add(certificate::share_of(sum, size));
    }
    return worst.value;
  }

  /// P dx + A'dy + C'dz = -(dP x + dq + dA'y + dC'z), and what every row says of ds and dz.
  CAROM_HOST_DEVICE double tangent_residual(const double* dz, const double* ds, bool branch) {
    solution_size_ = factors_.size_in_units(at_.sum);
    certificate::MaxAbs<> worst;
    for (int j = 0; j < n_; ++j) {
      double sum = -at_.g[j], size = magnitude(at_.g[j]) + typical_column(j);
      for (int k = 0; k < n_; ++k) {
        sum += hessian(j, k) * at_.sum[k];
        size += magnitude(hessian(j, k) * at_.sum[k]);
      }
      for (int i = 0; i < r_; ++i) {
        sum += row(i)[j] * dz[i];
        size += magnitude(row(i)[j] * dz[i]);
      }
      worst.add(certificate::share_of(sum, size));
    }
    for (int i = 0; i < r_; ++i) {
      const bool border = is_border(i);
      if (border && owner_[i] != i) continue;
      if (border || mode_[i] == static_cast<int>(RowMode::doubtful)) {
        if (branch) continue;
        double slack = 0.0, multiplier = 0.0, terms = 0.0;
        each_part(i, [&](int k, double share) {
          slack += share * ds[k];
          multiplier += share * dz[k];
          terms += magnitude(share) * size_of(k);
        });
        if (multiplier < 0.0) worst.add(kernels::kInfinity);
        worst.add(multiplier > 0.0 || slack < 0.0 ? certificate::share_of(slack, terms) : 0.0);
        continue;
      }
      if (mode_[i] == static_cast<int>(RowMode::free)) continue;
      if (!is_edge(i)) {
        worst.add(certificate::share_of(ds[i], size_of(i)));
        continue;
      }
      if (owner_[i] != i) continue;
      double sum = 0.0, size = 0.0;
      for (int k = i; k < r_ && owner_[k] == i; ++k) {
        sum += reflect(k) * at_.slack[k] * ds[k];
        size += magnitude(at_.slack[k]) * size_of(k);
      }
      worst.add(certificate::share_of(sum, size));
    }
    return worst.value;
  }
  /// |row| times unknowns of the solution's size: rows that hold everything leave only rounding,
  /// which is not to be measured by itself.
  CAROM_INLINE double typical(int i) const {
    double size = 0.0;
    for (int j = 0; j < n_; ++j) size += magnitude(row(i)[j]) * factors_.unit(j);
    return size * solution_size_;
  }
  /// The same of column j's equation, whose unknowns are those of P and the multipliers.
  CAROM_INLINE double typical_column(int j) const {
    double size = 0.0;
    for (int k = 0; k < n_; ++k) size += magnitude(hessian(j, k)) * factors_.unit(k);
    for (int c = 0; c < equations_; ++c) {
      each_row_of(c, [&](int i, double share) {
        size += magnitude(share * row(i)[j]) * factors_.unit(n_ + c);
      });
    }
    return size * solution_size_;
  }
  CAROM_INLINE double size_of(int i) const {
    double size = magnitude(at_.target[i]) + typical(i);
    for (int j = 0; j < n_; ++j) size += magnitude(row(i)[j] * at_.sum[j]);
    return size;
  }

  /// The largest step that keeps signs and states, to first order. ds of rows as they stand.
  CAROM_HOST_DEVICE double reach_along(const double* dz, const double* ds) const {
    double reach = kernels::kInfinity;
    for (int i = 0; i < r_; ++i) {
      if (in_cone(i)) {
        if (owner_[i] != i) continue;
        const auto state = static_cast<ConeState>(state_[i]);
        if (state == ConeState::border) return 0.0;
        if (state != ConeState::apex) reach = kernels::smaller(reach, leaves(i, at_.slack, ds));
        if (state != ConeState::free)
          reach = kernels::smaller(reach, leaves(i, at_.multiplier, dz));
        continue;
      }
      if (!has_bound(i) || is_equation(i)) continue;
      if (mode_[i] == static_cast<int>(RowMode::held)) {
        const double rate = sign_[i] * dz[i];
        if (rate < 0.0) {
          reach = kernels::smaller(reach, sign_[i] * at_.multiplier[i] / -rate);
        }
      } else if (mode_[i] == static_cast<int>(RowMode::free)) {
        const double rate = sign_[i] * ds[i];
        if (rate < 0.0) reach = kernels::smaller(reach, at_.slack[i] / -rate);
      }
    }
    return reach;
  }
  /// The step at which v + t dv leaves its cone, of those on the boundary only the cone's axis
  /// counts: t0 + t dt0 = 0.
  CAROM_HOST_DEVICE double leaves(int first, const double* v, const double* dv) const {
    const double inside = v[first] - length(v, first);
    if (state_[first] == static_cast<int>(ConeState::edge)) {
      return dv[first] < 0.0 ? v[first] / -dv[first] : kernels::kInfinity;
    }
    // (v0 + t d0)^2 = |v1 + t d1|^2, its least positive root.
    double a = dv[first] * dv[first], b = v[first] * dv[first], c = v[first] * v[first];
    for (int k = first + 1; k < r_ && owner_[k] == first; ++k) {
      a -= dv[k] * dv[k];
      b -= v[k] * dv[k];
      c -= v[k] * v[k];
    }
    if (!(inside > 0.0)) return 0.0;
    const double root = b * b - a * c;
    if (root < 0.0) return kernels::kInfinity;
    const double down = -b + kernels::square_root(root);
    // c / (-b + root) is the smaller positive root without cancellation.
    return down > 0.0 ? c / down : kernels::kInfinity;
  }

  /// Along minus the gradient of what was wanted.
  CAROM_HOST_DEVICE double reach_down(const QpWanted& wanted, double objective, const double* e) {
    const double* a = at_.sum;
    double* gain = at_.target;
    double* rhs = at_.extra;
    double square = 0.0, along = 0.0;
    for (int j = 0; j < n_; ++j) {
      square += at_.x[j] * at_.x[j];
      along += a[j] * at_.x[j];
    }
    for (int j = 0; j < n_; ++j) {
      double value = 0.0;
      if (wanted.vector) value += a[j] - objective * at_.x[j];
      if (wanted.hessian) {
        value += 0.5 * (a[j] * square + at_.x[j] * along) - 0.5 * objective * at_.x[j] * square;
      }
      at_.g[j] = -value;
    }
    for (int i = 0; i < r_; ++i) {
      const bool turned = i < m_ ? wanted.matrix : wanted.cone_matrix;
      const bool moved = i >= m_          ? wanted.cone_vector
                         : is_equation(i) ? (at_.multiplier[i] >= 0.0 ? wanted.upper : wanted.lower)
                                          : (sign_[i] > 0 ? wanted.upper : wanted.lower);
      const double y = at_.multiplier[i];
      gain[i] = moved ? -e[i] : 0.0;
      if (!turned) continue;
      gain[i] -= y * along + e[i] * square;  // dA = y a' + e x'
      for (int j = 0; j < n_; ++j) at_.g[j] -= y * (y * a[j] + e[i] * at_.x[j]);
    }
    for (int j = 0; j < n_; ++j) rhs[j] = at_.g[j];
    for (int i = m_; i < r_; ++i) {
      if (!is_edge(i)) continue;
      for (int j = 0; j < n_; ++j) rhs[j] -= at_.tau[i] * reflect(i) * row(i)[j] * gain[i];
    }
    for (int c = 0; c < equations_; ++c) {
      double value = 0.0;
      each_row_of(c, [&](int i, double share) { value += share * gain[i]; });
      rhs[n_ + c] = value;
    }
    factors_.solve(rhs);
    double* dz = at_.theta;
    double* ds = at_.touch;
    for (int i = 0; i < r_; ++i) dz[i] = 0.0;
    for (int c = 0; c < equations_; ++c) {
      each_row_of(c, [&](int i, double share) { dz[i] += share * rhs[n_ + c]; });
    }
    for (int i = 0; i < r_; ++i) {
      ds[i] = gain[i];
      for (int j = 0; j < n_; ++j) ds[i] -= row(i)[j] * rhs[j];
      if (is_edge(i)) dz[i] += at_.tau[i] * reflect(i) * ds[i];
    }
    return reach_along(dz, ds);
  }

  const QpShape& shape_;
  int n_, m_, r_;
  const QpView& problem_;
  const DerivativeRules& rules_;
  QpModesLayout<double*> at_;
  int* mode_;
  int* sign_;
  int* equation_;
  int* owner_;
  int* doubtful_;
  int* basic_;
  int* state_;
  Factors factors_;
  int equations_ = 0;
  int doubtfuls_ = 0;
  int doubtful_cones_ = 0;
  double margin_ = 0.0;
  bool dependent_ = false;
  bool dependent_equations_ = false;
  bool semidefinite_ = false;
  int edges_ = 0;
  double solution_size_ = 0.0;
};

}  // namespace carom::derivatives
