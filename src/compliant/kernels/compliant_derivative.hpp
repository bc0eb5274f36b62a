#pragma once

#include <type_traits>

#include <carom/certificate_derivative.hpp>
#include <carom/device/arena.hpp>
#include <carom/types/derivative_compliant.hpp>

#include "compliant/kernels/compliant_centripetal.hpp"
#include "core/pointers.hpp"
#include "programs/derivatives/kernels/dense.hpp"
#include "programs/derivatives/kernels/doubtful.hpp"
#include "programs/derivatives/kernels/report.hpp"

/// Derivatives of a compliant step under the law complementarity: docs/explanation/derivatives.md.
namespace carom::derivatives {

/// Where the arrays of a body with the numbers V are.
template <class V>
struct StepNumbers {
  template <class T>
  using Given = const std::conditional_t<std::is_same_v<T, double>, V, T>*;
  template <class T>
  using Made = V*;
};
template <class V>
struct StepView : CompliantBatchArrays<StepNumbers<V>::template Given> {};
template <class V>
struct StepDirectionView : CompliantDirectionArrays<StepNumbers<V>::template Given> {};
template <class V>
struct StepGradientView : CompliantDirectionArrays<StepNumbers<V>::template Made> {};
template <class V>
struct StepCotangentView : CompliantCotangentArrays<StepNumbers<V>::template Given> {};
template <class V>
struct StepTangentView {
  V* velocity;
  V* increment;
  V* force;
  V* kinetic_energy;
};

/// Modes of a row that carries: what its equation is.
enum class StepMode : int {
  open,    ///< p = 0
  closed,  ///< F = 0: bilateral, closed, sticking
  slide,   ///< p_t |F_t| + mu p_n F_t = 0, of a tangent
};

/// n velocities, r rows.
template <class Memory>
struct StepModesLayout {
  Memory mass;      ///< Cholesky factor of M, its diagonal by inverses, [n, n]
  Memory velocity;  ///< v', polished
  Memory push;      ///< v0 = v + h M^-1 f
  Memory flexible;  ///< M^-1 G_i', [r, n]
  Memory delassus;  ///< W, [r, r]
  Memory constant;  ///< u
  Memory impulse;   ///< p
  Memory flow;      ///< F
  Memory unit;      ///< of an impulse of the row
  Memory weight;    ///< rho = 1 / W_ii
  Memory factors;
  Memory schur, size, work;
  Memory source, test;  ///< of doubtful conditions: U and N', [r, r] each
  Memory touch, theta, direct;
  Memory g, y, extra, psi, psi_other, row;  ///< [r]
  Memory lambda, lambda_other, column;      ///< [n]
  Memory slip;                              ///< n or F^ of a contact at its tangents, [r]
  Memory hat;          ///< Cholesky factors of D of each kind of rows, diagonals by inverses
  Memory mode, doubt;  ///< StepMode; 0 none, 1 touching, 2 on the border of stick and slip
  Memory before, picked;
  Memory moment, turn;              ///< m = M^ (dG/dt) v, and its adjoint, [r]
  Memory along_moment, along_turn;  ///< M^-1 G'm and M^-1 G't of each kind, [5 n]

  StepModesLayout() = default;
  CAROM_INLINE constexpr StepModesLayout(kernels::Arena<Memory>& arena, long n, long r)
      : mass(arena.take(n * n)),
        velocity(arena.take(n)),
        push(arena.take(n)),
        flexible(arena.take(r * n)),
        delassus(arena.take(r * r)),
        constant(arena.take(r)),
        impulse(arena.take(r)),
        flow(arena.take(r)),
        unit(arena.take(r)),
        weight(arena.take(r)),
        factors(arena.take(kernels::values_of<FactorsLayout>(r))),
        schur(arena.take(r * r)),
        size(arena.take(r)),
        work(arena.take(doubtful_workspace(r))),
        source(arena.take(r * r)),
        test(arena.take(r * r)),
        touch(arena.take(r)),
        theta(arena.take(r)),
        direct(arena.take(r)),
        g(arena.take(r)),
        y(arena.take(r)),
        extra(arena.take(r)),
        psi(arena.take(r)),
        psi_other(arena.take(r)),
        row(arena.take(r)),
        lambda(arena.take(n)),
        lambda_other(arena.take(n)),
        column(arena.take(n)),
        slip(arena.take(r)),
        hat(arena.take(r * r)),
        mode(arena.take(r)),
        doubt(arena.take(r)),
        before(arena.take(r)),
        picked(arena.take(r)),
        moment(arena.take(r)),
        turn(arena.take(r)),
        along_moment(arena.take(kernels::kRowGroups * n)),
        along_turn(arena.take(kernels::kRowGroups * n)) {}
};
CAROM_HOST_DEVICE constexpr long step_derivative_reals(int n, int r) {
  return kernels::values_of<StepModesLayout>(static_cast<long>(n), static_cast<long>(r));
}
CAROM_HOST_DEVICE constexpr long step_derivative_ints(int r) { return 4L * r; }

struct StepShape {
  int velocities, rows, positions;
  /// M is diagonal: mass_matrix, a direction of it and its gradient are the diagonals, [n].
  bool diagonal = false;
  /// Rows of a kind that depend on each other do so whatever the inputs are, as feet of one body:
  /// the set of independent ones that the centripetal term stands on does not change.
  bool fixed_kinds = false;
};

/// Rows that carry, and the place of each one's normal among them: those that exert nothing, absent
/// or with K = B = 0, are left out. row, normal: [rows]. Their number.
CAROM_HOST_DEVICE inline int carrying_rows(int rows, const RowType* type, double h,
                                           const double* stiffness, const double* damping, int* row,
                                           int* normal) {
  int count = 0;
  int first = -1;  // normal of the contact, -1 where its tangents exert nothing
  for (int i = 0; i < rows; ++i) {
    if (type[i] == RowType::none) continue;
    const bool carries = h * (h * stiffness[i] + damping[i]) > 0.0;
    if (type[i] == RowType::tangent) {
      if (first < 0 || !carries) continue;
    } else {
      first = -1;
      if (!carries) continue;
    }
    row[count] = i;
    if (type[i] == RowType::normal) {
      bool all = true;  // tangents limit each other: one without a damper lets none exert
      for (int t = i + 1; t < rows && type[t] == RowType::tangent; ++t) {
        all = all && h * stiffness[t] + damping[t] > 0.0;
      }
      first = all ? count : -1;
    }
    normal[count] = type[i] == RowType::tangent ? first : count;
    ++count;
  }
  return count;
}

/// Steps with their answers, one for each lane of V, whose rows that carry are the same; modes()
/// comes first. One step (V is double) is differentiated wherever it has a derivative or an element
/// of one; of a pack, lanes that are smooth are, others are left open: what returns a Mask returns
/// those that are good.
template <class V>
class StepDerivative {
  using Mask = decltype(V() < V());
  static constexpr bool kAlone = std::is_same_v<V, double>;

 public:
  /// ints: step_derivative_ints; problem.type: of the first lane.
  CAROM_INLINE StepDerivative(const StepShape& shape, const StepView<V>& problem, bool centripetal,
                              const DerivativeRules& rules, V* reals, int* ints)
      : shape_(shape),
        n_(shape.velocities),
        problem_(problem),
        centripetal_(centripetal),
        rules_(rules),
        at_(kernels::placed<StepModesLayout>(reals, static_cast<long>(n_),
                                             static_cast<long>(shape.rows))),
        row_(ints),
        normal_(ints + 1L * shape.rows),
        doubtful_(ints + 2L * shape.rows),
        basic_(ints + 3L * shape.rows),
        factors_(at_.factors, shape.rows),
        h_(problem.step_size[0]) {}

  /// carrying_rows of a step of the pack, which all its lanes have.
  CAROM_HOST_DEVICE void carry(double h, const double* stiffness, const double* damping) {
    count_ = carrying_rows(shape_.rows, problem_.type, h, stiffness, damping, row_, normal_);
  }

  CAROM_HOST_DEVICE Mask modes(const V* force, ReportOf<V>& report) {
    Mask good = take(force);
    if (!any_of(good)) return good;
    report.status = Smoothness::undefined;
    good = good & prepare();
    if (!any_of(good)) return good;
    flow();
    measure();
    good = good & (wrong() <= V(kLargestShift));
    if (!any_of(good)) {
      report.status = Smoothness::not_solved;
      return good;
    }
    V tolerance(rules_.margin_tolerance);
    split(tolerance);
    report.shift = V(0.0);
    Mask going = good;
    bool stale = true;  // whether the factors are others' than the modes'
    for (int round = 0; round < 5; ++round) {
      if (stale) {
        const Mask regular = assemble();
        good = good & (regular | !going);
        going = going & regular;
        if (!any_of(good)) {
          report.margin = margin_;
          return good;
        }
      }
      const V moved = newton(going);
      report.shift = select(going, larger(report.shift, moved), report.shift);
      flow();
      V wider = larger(V(rules_.margin_tolerance), V(10.0) * moved);
      // Modes that do not settle have gaps about as large as what polishing moved.
      if (round >= 3) wider = larger(wider, V(10.0) * report.shift);
      tolerance = select(going, wider, tolerance);
      const Mask changed = split(tolerance);
      if constexpr (kAlone) {
        stale = changed;
        going = going & (changed | !(moved <= V(kSettled)));
      } else {
        // New factors for some lanes would change the last bits of others.
        good = good & !changed;
        stale = false;
        going = going & good & !(moved <= V(kSettled));
      }
      if (!any_of(going)) break;
    }
    report.margin = margin_;
    report.doubtful = doubtfuls_;
    good = good & (report.shift <= V(kLargestShift)) & (wrong() <= V(10.0) * tolerance);
    if (!any_of(good)) return good;
    // A slide's equation changes with its flow, however little: factors of the one before, with
    // refinement, do for both.
    if constexpr (kAlone) {
      if (stale || (slides_ && report.shift > kFactorsKept)) {
        good = assemble();
      } else if (slides_) {
        fill_matrix();
      }
    } else {
      good = good & !(slides_ & (report.shift > V(kFactorsKept)));
      if (any_of(good & slides_)) fill_matrix();
    }
    if (!any_of(good)) return good;
    finish();
    report.condition = factors_.condition();
    // Each mode's determinant is positive unless friction has turned an answer over, beside which
    // there are others.
    const Mask upright = factors_.sign() > V(0.0);
    if constexpr (!kAlone) {
      report.status = Smoothness::smooth;
      return good & upright & !doubted_;
    } else {
      report.status = upright ? Smoothness::smooth : Smoothness::set_valued;
      if (doubtfuls_ > 0) {
        reduce();
        if (!shown_unique(doubtfuls_, at_.schur, at_.size, at_.work)) {
          report.status = Smoothness::set_valued;
        }
      }
      return true;
    }
  }

  /// Gradients of what `gradient` has arrays for.
  CAROM_HOST_DEVICE Mask adjoint(const StepCotangentView<V>& cotangent,
                                 const StepGradientView<V>& gradient, ReportOf<V>& report) {
    Mask good = !moment_refuses(gradient.jacobian_dot_v != nullptr,
                                gradient.jacobian != nullptr || gradient.mass_matrix != nullptr);
    if (!any_of(good)) {
      report.status = Smoothness::undefined;
      return none(gradient);
    }
    // g_v and g_p, the losses' gradients in v' and p.
    V* pull = at_.column;
    const V energy = cotangent.kinetic_energy != nullptr ? *cotangent.kinetic_energy : V(0.0);
    for (int j = 0; j < n_; ++j) {
      V value = cotangent.velocity != nullptr ? cotangent.velocity[j] : V(0.0);
      if (cotangent.kinetic_energy != nullptr) value += energy * times_mass(at_.velocity, j);
      pull[j] = value;
    }
    if (cotangent.increment != nullptr) {
      for (int j = 0; j < n_; ++j) {
        if (shape_.positions == 0) {
          pull[j] += h_ * cotangent.increment[j];
          continue;
        }
        for (int i = 0; i < shape_.positions; ++i) {
          pull[j] +=
              h_ * problem_.position_map[static_cast<long>(i) * n_ + j] * cotangent.increment[i];
        }
      }
    }
    for (int k = 0; k < count_; ++k) {
      V value = cotangent.force != nullptr ? cotangent.force[row_[k]] / h_ : V(0.0);
      for (int j = 0; j < n_; ++j) value += flexible(k)[j] * pull[j];
      at_.g[k] = value;
      at_.y[k] = value;
    }
    factors_.solve_transposed(at_.y);
    V* total = at_.extra;
    bool smooth = true;
    if constexpr (kAlone) {
      smooth = doubtfuls_ + loose_ == 0;
      if (!smooth && !adjoint_in_doubt(total, report)) return none(gradient);
    }
    if (smooth) {
      for (int k = 0; k < count_; ++k) total[k] = at_.y[k];
      report.residual = residual_of(total);
    }
    good = good & certified(report, rules_);
    if (!any_of(good)) return none(gradient);
    write(cotangent, gradient, total, energy, pull);
    if (rules_.reach) report.reach = smooth ? reach_down(gradient) : V(0.0);
    return good;
  }

  CAROM_HOST_DEVICE Mask tangent(const StepDirectionView<V>& d, const StepTangentView<V>& out,
                                 ReportOf<V>& report) {
    Mask good = !moment_refuses(d.jacobian_dot_v != nullptr,
                                d.jacobian != nullptr || d.mass_matrix != nullptr);
    if (!any_of(good)) report.status = Smoothness::undefined;
    change(d);
    solve_change(d);
    if constexpr (kAlone) {
      if (!tangent_in_doubt(d, report)) report.status = Smoothness::undefined;
    }
    if (report.status != Smoothness::undefined) {
      report.residual = tangent_residual(d);
      good = good & certified(report, rules_);
    } else {
      good = good & !good;
    }
    const bool fine = any_of(good);
    for (int i = 0; i < shape_.rows; ++i) out.force[i] = V(fine ? 0.0 : kNone);
    const V dh = d.step_size != nullptr ? d.step_size[0] : V(0.0);
    // dv' = what parameters do at fixed p, and M^-1 G'dp.
    V energy = V(0.0);
    for (int j = 0; j < n_; ++j) {
      V value = at_.lambda[j];
      for (int k = 0; k < count_; ++k) value += flexible(k)[j] * at_.y[k];
      at_.lambda_other[j] = value;
    }
    for (int j = 0; j < n_; ++j) {
      energy += times_mass(at_.velocity, j) * at_.lambda_other[j];
      if (d.mass_matrix != nullptr) {
        energy += V(0.5) * at_.velocity[j] * turned_mass(d, j, at_.velocity);
      }
      out.velocity[j] = fine ? at_.lambda_other[j] : V(kNone);
    }
    *out.kinetic_energy = fine ? energy : V(kNone);
    if (shape_.positions == 0) {
      for (int j = 0; j < n_; ++j) {
        out.increment[j] = fine ? h_ * at_.lambda_other[j] + dh * at_.velocity[j] : V(kNone);
      }
    }
    for (int i = 0; i < shape_.positions; ++i) {
      V value = V(0.0);
      for (int j = 0; j < n_; ++j) {
        const long place = static_cast<long>(i) * n_ + j;
        const V map = problem_.position_map[place];
        value += map * (h_ * at_.lambda_other[j] + dh * at_.velocity[j]);
        if (d.position_map != nullptr) value += h_ * d.position_map[place] * at_.velocity[j];
      }
      out.increment[i] = fine ? value : V(kNone);
    }
    for (int k = 0; k < count_; ++k) {
      if (fine) out.force[row_[k]] = (at_.y[k] - dh * at_.impulse[k] / h_) / h_;
    }
    if (fine && rules_.reach) report.reach = reach_along();
    return good;
  }

  static CAROM_INLINE void fill(V* to, long count) {
    if (to == nullptr) return;
    for (long i = 0; i < count; ++i) to[i] = V(kNone);
  }

  /// No lane is good.
  CAROM_HOST_DEVICE Mask none(const StepGradientView<V>& gradient) const {
    const long r = shape_.rows;
    fill(gradient.step_size, 1);
    fill(gradient.mass_matrix, shape_.diagonal ? n_ : static_cast<long>(n_) * n_);
    fill(gradient.force, n_);
    fill(gradient.velocity, n_);
    fill(gradient.position_map, static_cast<long>(shape_.positions) * n_);
    fill(gradient.jacobian, r * n_);
    for (V* rows : {gradient.jacobian_dot_v, gradient.phi, gradient.stiffness, gradient.damping,
                    gradient.friction}) {
      fill(rows, r);
    }
    return V(0.0) < V(0.0);
  }

 private:
  /// A step of Newton's method below which what is left is rounding: it converges quadratically.
  static constexpr double kSettled = 1e-10;
  /// What polishing may have moved for the factors of before it to be refined to those after.
  static constexpr double kFactorsKept = 1e-9;

  CAROM_INLINE V mass(int i, int j) const {
    return problem_.mass_matrix[static_cast<long>(i) * n_ + j];
  }
  /// Row j of M x.
  CAROM_INLINE V times_mass(const V* x, int j) const {
    if (shape_.diagonal) return problem_.mass_matrix[j] * x[j];
    V sum = V(0.0);
    for (int l = 0; l < n_; ++l) sum += mass(j, l) * x[l];
    return sum;
  }
  /// Row i of dM x, dM made symmetric.
  CAROM_INLINE V turned_mass(const StepDirectionView<V>& d, int i, const V* x) const {
    if (shape_.diagonal) return d.mass_matrix[i] * x[i];
    V sum = V(0.0);
    for (int j = 0; j < n_; ++j) {
      sum += V(0.5) *
             (d.mass_matrix[static_cast<long>(i) * n_ + j] +
              d.mass_matrix[static_cast<long>(j) * n_ + i]) *
             x[j];
    }
    return sum;
  }
  CAROM_INLINE const V* jacobian(int k) const {
    return problem_.jacobian + static_cast<long>(row_[k]) * n_;
  }
  CAROM_INLINE V* flexible(int k) const { return at_.flexible + static_cast<long>(k) * n_; }
  CAROM_INLINE V w(int k, int l) const { return at_.delassus[static_cast<long>(k) * count_ + l]; }
  CAROM_INLINE V rate(int k) const {  // s = h K + B
    return h_ * problem_.stiffness[row_[k]] + problem_.damping[row_[k]];
  }
  CAROM_INLINE V eta(int k) const { return h_ * rate(k); }
  CAROM_INLINE bool is_tangent(int k) const { return normal_[k] != k; }
  CAROM_INLINE bool is_bilateral(int k) const {
    return problem_.type[row_[k]] == RowType::bilateral;
  }
  CAROM_INLINE V friction(int k) const { return problem_.friction[row_[normal_[k]]]; }
  CAROM_INLINE Mask has_mode(int k, StepMode mode) const {
    return !(at_.mode[k] != V(static_cast<double>(mode)));
  }
  static CAROM_INLINE V zero_or_more(V x) { return select(x > V(0.0), x, V(0.0)); }
  static CAROM_INLINE V share_of(V sum, V size) {
    const V missing = magnitude(sum);
    return select(missing <= V(0.0), V(0.0), missing / larger(size, V(certificate::kTiny)));
  }
  /// Tangents of normal k, which follow it.
  CAROM_INLINE int tangents(int k) const {
    int count = 0;
    while (k + count + 1 < count_ && normal_[k + count + 1] == k) ++count;
    return count;
  }
  CAROM_INLINE V length(const V* values, int k, int tangent_count) const {
    V sum = V(0.0);
    for (int t = 1; t <= tangent_count; ++t) sum += values[k + t] * values[k + t];
    return square_root(sum);
  }

  /// The impulses of the rows that carry. Lanes whose numbers are finite.
  CAROM_HOST_DEVICE Mask take(const V* force) {
    if constexpr (kAlone) carry(h_, problem_.stiffness, problem_.damping);
    Mask good = V(0.0) <= V(0.0);
    for (int i = 0; i < shape_.rows; ++i) {
      good = good & (magnitude(force[i]) < V(kernels::kInfinity));
    }
    for (int k = 0; k < count_; ++k) {
      at_.impulse[k] = h_ * force[row_[k]];
      at_.mode[k] = at_.doubt[k] = V(0.0);
    }
    return good;
  }

  /// Cholesky of M, M^-1 G', W and u. Lanes where M is definite.
  CAROM_HOST_DEVICE Mask prepare() {
    Mask good = V(0.0) <= V(0.0);
    for (int i = 0; i < n_; ++i) {
      if (shape_.diagonal) {
        good = good & (problem_.mass_matrix[i] > V(0.0));
        at_.mass[i] = V(1.0) / problem_.mass_matrix[i];
        continue;
      }
      for (int j = 0; j <= i; ++j) {
        V sum = mass(i, j);
        for (int l = 0; l < j; ++l) sum -= at_.mass[i * n_ + l] * at_.mass[j * n_ + l];
        if (i == j) {
          good = good & (sum > V(0.0));
          at_.mass[i * n_ + i] = V(1.0) / square_root(sum);
        } else {
          at_.mass[i * n_ + j] = sum * at_.mass[j * n_ + j];
        }
      }
    }
    for (int j = 0; j < n_; ++j) at_.push[j] = problem_.force[j];
    over_mass(at_.push);
    for (int j = 0; j < n_; ++j) at_.push[j] = problem_.velocity[j] + h_ * at_.push[j];
    for (int k = 0; k < count_; ++k) {
      for (int j = 0; j < n_; ++j) flexible(k)[j] = jacobian(k)[j];
      over_mass(flexible(k));
    }
    moving_ = V(0.0) < V(0.0);
    for (int k = 0; k < count_; ++k) {
      at_.moment[k] = V(0.0);
      if (centripetal_) moving_ = moving_ | (problem_.jacobian_dot_v[row_[k]] != V(0.0));
    }
    moves_ = any_of(moving_);
    if (moves_) {
      factor_kinds();
      if (mixed_) good = good & !moving_;
      for (int k = 0; k < count_; ++k) at_.moment[k] = problem_.jacobian_dot_v[row_[k]];
      over_kinds(at_.moment);
      push_back(at_.moment, at_.along_moment);
    }
    for (int k = 0; k < count_; ++k) {
      for (int l = 0; l <= k; ++l) {
        V sum = V(0.0);
        for (int j = 0; j < n_; ++j) sum += jacobian(k)[j] * flexible(l)[j];
        if (k == l) sum += V(1.0) / eta(k);
        at_.delassus[static_cast<long>(k) * count_ + l] = sum;
        at_.delassus[static_cast<long>(l) * count_ + k] = sum;
      }
      at_.weight[k] = V(1.0) / w(k, k);
      V sum = bias(k);
      for (int j = 0; j < n_; ++j) sum += jacobian(k)[j] * at_.push[j];
      at_.constant[k] = sum;
    }
    return good;
  }
  CAROM_INLINE V bias(int k) const {
    const int i = row_[k];
    return h_ * problem_.jacobian_dot_v[i] + spring(k) / rate(k);
  }
  /// K phi + m.
  CAROM_INLINE V spring(int k) const {
    return problem_.stiffness[row_[k]] * problem_.phi[row_[k]] + at_.moment[k];
  }

  // The centripetal term m = M^ (dG/dt) v, M^ = (G M^-1 G')^-1 of each kind of rows, on the first
  // rows of a kind that are independent, as the solver has it.

  CAROM_INLINE int kind_of(int i) const { return kernels::row_group(problem_.type, i); }
  CAROM_HOST_DEVICE void factor_kinds() {
    // A row that exerts nothing belongs to its kind all the same, and is not among these.
    mixed_ = false;
    redundant_ = V(0.0) < V(0.0);
    for (int i = 0, k = 0; i < shape_.rows; ++i) {
      if (k < count_ && row_[k] == i) {
        ++k;
        continue;
      }
      for (int l = 0; l < count_; ++l) mixed_ = mixed_ || kind_of(row_[l]) == kind_of(i);
    }
    V taken[kernels::kRowGroups];
    for (V& number : taken) number = V(0.0);
    const V zero(0.0), one(1.0), most(static_cast<double>(n_));
    for (int k = 0; k < count_; ++k) {
      const int kind = kind_of(row_[k]);
      V* lower = at_.hat + static_cast<long>(k) * count_;
      V diagonal = zero;
      for (int j = 0; j < n_; ++j) diagonal += jacobian(k)[j] * flexible(k)[j];
      V pivot = diagonal;
      for (int l = 0; l < k; ++l) {  // rows that were not picked have zeros
        if (kind_of(row_[l]) != kind) continue;
        const V* earlier = at_.hat + static_cast<long>(l) * count_;
        V sum = zero;
        for (int j = 0; j < n_; ++j) sum += jacobian(k)[j] * flexible(l)[j];
        for (int j = 0; j < l; ++j) {
          if (kind_of(row_[j]) == kind) sum -= lower[j] * earlier[j];
        }
        lower[l] = select(at_.picked[l] > zero, sum * earlier[l], zero);
        pivot -= lower[l] * lower[l];
      }
      const Mask picks = (pivot > V(kernels::kIndependent) * diagonal) & (taken[kind] < most);
      redundant_ = redundant_ | !picks;
      at_.picked[k] = select(picks, one, zero);
      taken[kind] += at_.picked[k];
      lower[k] = select(picks, one / square_root(select(picks, pivot, one)), zero);
    }
  }
  /// x := M^ x, kind by kind; zero at rows that depend on others of their kind.
  CAROM_HOST_DEVICE void over_kinds(V* x) const {
    const V zero(0.0);
    for (int k = 0; k < count_; ++k) {
      const V* lower = at_.hat + static_cast<long>(k) * count_;
      V value = x[k];
      for (int l = 0; l < k; ++l) {
        if (kind_of(row_[l]) == kind_of(row_[k])) value -= lower[l] * x[l];
      }
      x[k] = select(at_.picked[k] > zero, value * lower[k], zero);
    }
    for (int k = count_ - 1; k >= 0; --k) {
      V value = x[k];
      for (int l = k + 1; l < count_; ++l) {
        if (kind_of(row_[l]) != kind_of(row_[k])) continue;
        value -= at_.hat[static_cast<long>(l) * count_ + k] * x[l];
      }
      x[k] = select(at_.picked[k] > zero, value * at_.hat[static_cast<long>(k) * count_ + k], zero);
    }
  }
  /// M^-1 G'x of each kind's rows.
  CAROM_HOST_DEVICE void push_back(const V* x, V* to) const {
    for (int j = 0; j < kernels::kRowGroups * n_; ++j) to[j] = V(0.0);
    for (int k = 0; k < count_; ++k) {
      V* own = to + kind_of(row_[k]) * n_;
      for (int j = 0; j < n_; ++j) own[j] += flexible(k)[j] * x[k];
    }
  }
  /// Whether the derivative asks for what m does not have.
  CAROM_HOST_DEVICE Mask moment_refuses(bool rates, bool geometry) {
    const Mask no = V(0.0) < V(0.0);
    if (!centripetal_ || (!rates && !moves_)) return no;
    if (!moves_) factor_kinds();
    const Mask asked = rates ? !no : moving_;
    Mask refused = mixed_ ? asked : no;
    if (geometry && !shape_.fixed_kinds) refused = refused | (moving_ & redundant_);
    return refused;
  }
  /// x := M^-1 x.
  CAROM_HOST_DEVICE void over_mass(V* x) const {
    if (shape_.diagonal) {
      for (int i = 0; i < n_; ++i) x[i] *= at_.mass[i];
      return;
    }
    for (int i = 0; i < n_; ++i) {
      V sum = x[i];
      for (int j = 0; j < i; ++j) sum -= at_.mass[i * n_ + j] * x[j];
      x[i] = sum * at_.mass[i * n_ + i];
    }
    for (int i = n_ - 1; i >= 0; --i) {
      V sum = x[i];
      for (int j = i + 1; j < n_; ++j) sum -= at_.mass[j * n_ + i] * x[j];
      x[i] = sum * at_.mass[i * n_ + i];
    }
  }

  CAROM_HOST_DEVICE void flow() {
    for (int k = 0; k < count_; ++k) {
      V sum = at_.constant[k];
      for (int l = 0; l < count_; ++l) sum += w(k, l) * at_.impulse[l];
      at_.flow[k] = sum;
    }
  }

  /// Units of impulses: rho times the terms of F or, if that is more, what the largest row would
  /// have there (p / sqrt(rho) is the root of an energy in all rows); a contact's rows share
  /// theirs.
  CAROM_HOST_DEVICE void measure() {
    V energy = V(0.0);
    for (int k = 0; k < count_; ++k) {
      const int i = row_[k];
      V size =
          magnitude(h_ * problem_.jacobian_dot_v[i]) +
          (magnitude(problem_.stiffness[i] * problem_.phi[i]) + magnitude(at_.moment[k])) / rate(k);
      for (int j = 0; j < n_; ++j) {
        const V v = problem_.velocity[j];
        size += magnitude(jacobian(k)[j]) * (magnitude(v) + magnitude(at_.push[j] - v));
      }
      for (int l = 0; l < count_; ++l) size += magnitude(w(k, l) * at_.impulse[l]);
      at_.unit[k] = at_.weight[k] * size;
      energy = larger(energy, at_.unit[k] / square_root(at_.weight[k]));
    }
    for (int k = 0; k < count_; ++k) {
      at_.unit[k] = larger(at_.unit[k], square_root(at_.weight[k]) * energy);
      at_.unit[k] = select(at_.unit[k] > V(0.0), at_.unit[k], V(1.0));
    }
    for (int k = 0; k < count_; ++k) {
      if (!is_tangent(k)) continue;
      at_.unit[normal_[k]] = larger(at_.unit[normal_[k]], at_.unit[k]);
    }
    for (int k = 0; k < count_; ++k) at_.unit[k] = at_.unit[normal_[k]];
  }

  /// What the answer misses of its laws, in units: an answer of another problem is seen by it.
  CAROM_HOST_DEVICE V wrong() const {
    V worst = V(0.0);
    for (int k = 0; k < count_; ++k) {
      if (is_tangent(k)) continue;
      const V f = at_.weight[k] * at_.flow[k] / at_.unit[k];
      const V p = at_.impulse[k] / at_.unit[k];
      if (is_bilateral(k)) {
        worst = larger(worst, magnitude(f));
        continue;
      }
      worst = larger(worst, larger(-f, -p));
      worst = larger(worst, smaller(magnitude(f), magnitude(p)));
      const int t = tangents(k);
      if (t == 0) continue;
      const V excess =
          (length(at_.impulse, k, t) - friction(k) * zero_or_more(at_.impulse[k])) / at_.unit[k];
      worst = larger(worst, excess);
      const V slip = at_.weight[k + 1] * length(at_.flow, k, t) / at_.unit[k];
      const Mask rubs = (friction(k) > V(0.0)) & (at_.impulse[k] > V(0.0));
      worst = select(rubs, larger(worst, smaller(slip, -excess)), worst);
    }
    return worst;
  }

  /// Lanes where a mode is another than before.
  CAROM_HOST_DEVICE Mask split(V tolerance) {
    const V zero(0.0), one(1.0), two(2.0);
    const Mask no = zero < zero;
    Mask changed = no;
    doubtfuls_ = loose_ = 0;
    doubted_ = slides_ = no;
    margin_ = V(kernels::kInfinity);
    for (int k = 0; k < count_; ++k) {
      at_.before[k] = at_.mode[k] + V(8.0) * at_.doubt[k];
      at_.doubt[k] = zero;
      if (is_tangent(k)) continue;
      at_.mode[k] = V(static_cast<double>(StepMode::closed));
      if (is_bilateral(k)) continue;
      const V open = at_.weight[k] * at_.flow[k] / at_.unit[k];
      const V closed = at_.impulse[k] / at_.unit[k];
      const V gap = larger(open, closed);
      margin_ = smaller(margin_, zero_or_more(gap));
      const Mask touching = !(gap > tolerance);
      const Mask is_open = touching | (open > closed);
      at_.mode[k] = select(is_open, zero, one);
      at_.doubt[k] = select(touching, one, zero);
      doubted_ = doubted_ | touching;
      const int t = tangents(k);
      Mask border = no;
      if (t > 0) {
        const V flow_size = length(at_.flow, k, t), impulse_size = length(at_.impulse, k, t);
        const V slip = at_.weight[k + 1] * flow_size / at_.unit[k];
        const V inside = (friction(k) * at_.impulse[k] - impulse_size) / at_.unit[k];
        const Mask rough = friction(k) != zero;
        const Mask closes = !is_open;
        const Mask decided = closes & rough;
        const V own = larger(inside, slip);
        margin_ = select(decided, smaller(margin_, zero_or_more(own)), margin_);
        border = decided & !(own > tolerance);
        doubted_ = doubted_ | border;
        at_.doubt[k] = select(border, two, at_.doubt[k]);
        const Mask sticks = decided & ((inside >= slip) | border);
        const Mask moves = !sticks;
        const Mask slides = closes & moves & (rough | (slip > tolerance));
        slides_ = slides_ | slides;
        const V tangent = select(sticks, one, select(slides, two, zero));
        // Directions: of slip, or of the friction that it would begin against.
        const V size = select(border, impulse_size, flow_size);
        const Mask there = size > zero;
        for (int c = 1; c <= t; ++c) {
          at_.mode[k + c] = tangent;
          const V along = select(border, at_.impulse[k + c], at_.flow[k + c]);
          at_.slip[k + c] = select(there, along / select(there, size, one), zero);
        }
        if constexpr (kAlone) {
          if (touching && friction(k) > 0.0 && !(slip > tolerance)) ++loose_;
        }
      }
      if constexpr (kAlone) {
        if (touching || border) doubtful_[doubtfuls_++] = k;
      }
    }
    for (int k = 0; k < count_; ++k) {
      changed = changed | (at_.before[k] != at_.mode[k] + V(8.0) * at_.doubt[k]);
    }
    return changed;
  }

  /// J = E_F W + E_p.
  CAROM_HOST_DEVICE Mask assemble() {
    fill_matrix();
    return factors_.factor(count_);
  }
  CAROM_HOST_DEVICE void fill_matrix() {
    V* a = factors_.matrix();
    for (int k = 0; k < count_; ++k) {
      V* to = a + static_cast<long>(k) * count_;
      for (int l = 0; l < count_; ++l) to[l] = V(0.0);
      each_flow(k, [&](int l, V share) {
        for (int m = 0; m < count_; ++m) to[m] += share * w(l, m);
      });
      each_impulse(k, [&](int l, V share) { to[l] += share; });
    }
  }
  /// f(l, E_F entry (k, l)).
  template <class F>
  CAROM_INLINE void each_flow(int k, F&& f) const {
    const Mask open = has_mode(k, StepMode::open), slides = has_mode(k, StepMode::slide);
    if (all_of(open)) return;
    const V own = select(open, V(0.0), V(1.0));
    if (!any_of(slides)) return f(k, own);
    const int n = normal_[k], t = tangents(n);
    for (int c = 1; c <= t; ++c) {
      const V direct = n + c == k ? friction(k) * at_.impulse[n] : V(0.0);
      const V sliding = direct + at_.impulse[k] * at_.slip[n + c];
      f(n + c, select(slides, sliding, n + c == k ? own : V(0.0)));
    }
  }
  /// f(l, E_p entry (k, l)).
  template <class F>
  CAROM_INLINE void each_impulse(int k, F&& f) const {
    const Mask open = has_mode(k, StepMode::open), slides = has_mode(k, StepMode::slide);
    if (!any_of(open | slides)) return;
    const V own = select(open, V(1.0), V(0.0));
    if (!any_of(slides)) return f(k, own);
    const int n = normal_[k];
    f(k, select(slides, length(at_.flow, n, tangents(n)), own));
    f(n, select(slides, friction(k) * at_.flow[k], V(0.0)));
  }

  /// What the impulses of lanes that go on moved, in units.
  CAROM_HOST_DEVICE V newton(Mask going) {
    V* step = at_.y;
    for (int k = 0; k < count_; ++k) {
      V value = select(has_mode(k, StepMode::open), at_.impulse[k], at_.flow[k]);
      const Mask slides = has_mode(k, StepMode::slide);
      if (any_of(slides)) {
        const int n = normal_[k];
        const V sliding = at_.impulse[k] * length(at_.flow, n, tangents(n)) +
                          friction(k) * at_.impulse[n] * at_.flow[k];
        value = select(slides, sliding, value);
      }
      step[k] = -value;
    }
    factors_.solve_once(step);
    V moved = V(0.0);
    for (int k = 0; k < count_; ++k) {
      at_.impulse[k] = select(going, at_.impulse[k] + step[k], at_.impulse[k]);
      moved = larger(moved, magnitude(step[k]) / at_.unit[k]);
    }
    return moved;
  }

  /// v' of the polished impulses.
  CAROM_HOST_DEVICE void finish() {
    for (int j = 0; j < n_; ++j) {
      V sum = at_.push[j];
      for (int k = 0; k < count_; ++k) sum += flexible(k)[j] * at_.impulse[k];
      at_.velocity[j] = sum;
    }
  }

  // Doubtful conditions: 0 <= theta perp N dp + .. >= 0, J dp = .. + U theta. Touching: theta =
  // dp_n with friction against the slip, and dF_n; on the border: theta = -n dF_t and mu dp_n - n
  // dp_t.

  CAROM_HOST_DEVICE void reduce() {
    const int b = doubtfuls_;
    for (int d = 0; d < b; ++d) {
      const int k = doubtful_[d], t = tangents(k);
      double* source = at_.source + static_cast<long>(d) * count_;
      double* test = at_.test + static_cast<long>(d) * count_;
      for (int l = 0; l < count_; ++l) source[l] = test[l] = 0.0;
      if (at_.doubt[k] == 1.0) {
        source[k] = 1.0;
        for (int c = 1; c <= t; ++c) source[k + c] = -friction(k) * at_.slip[k + c];
        for (int l = 0; l < count_; ++l) test[l] = w(k, l);
      } else {
        test[k] = friction(k);
        for (int c = 1; c <= t; ++c) {
          source[k + c] = -at_.slip[k + c];
          test[k + c] = -at_.slip[k + c];
        }
      }
    }
    for (int l = 0; l < b; ++l) {
      for (int k = 0; k < count_; ++k) at_.extra[k] = at_.source[static_cast<long>(l) * count_ + k];
      solve_modes(at_.extra);
      for (int d = 0; d < b; ++d) {
        double sum = 0.0, size = 0.0;
        for (int k = 0; k < count_; ++k) {
          const double term = at_.test[static_cast<long>(d) * count_ + k] * at_.extra[k];
          sum += term;
          size += magnitude(term);
        }
        at_.schur[d * b + l] = sum;
        if (d == l) at_.size[d] = size;
      }
    }
  }

  CAROM_INLINE bool any_seen(const double* y) const {
    for (int k = 0; k < count_; ++k) {
      if (at_.doubt[k] != 1.0) continue;
      for (int c = 0; c <= tangents(k); ++c) {
        if (y[k + c] != 0.0) return true;
      }
    }
    return false;
  }

  /// Adds share times the adjoint of one element: held keeps touching rows closed and borders
  /// sticking. Its part outside J in direct.
  CAROM_HOST_DEVICE bool add_element(bool held, double share, double* total) {
    const int b = doubtfuls_;
    int n = 0;
    for (int d = 0; d < b; ++d) basic_[d] = (at_.doubt[doubtful_[d]] == 1.0) == held ? 1 : 0;
    for (int d = 0; d < b; ++d) n += basic_[d];
    double* a = at_.work;
    double* e = at_.theta;
    int place = 0;
    for (int d = 0; d < b; ++d) {
      if (basic_[d] == 0) continue;
      e[place] = at_.touch[d];
      int column = 0;
      for (int l = 0; l < b; ++l) {
        if (basic_[l] != 0) a[place * n + column++] = at_.schur[l * b + d];
      }
      ++place;
    }
    if (!eliminate(n, a, e)) return false;
    double* more = at_.row;
    for (int k = 0; k < count_; ++k) more[k] = 0.0;
    place = 0;
    for (int d = 0; d < b; ++d) {
      if (basic_[d] == 0) continue;
      for (int k = 0; k < count_; ++k) {
        more[k] += at_.test[static_cast<long>(d) * count_ + k] * e[place];
      }
      at_.direct[d] += share * e[place++];
    }
    factors_.solve_transposed(more);
    for (int k = 0; k < count_; ++k) total[k] += share * (at_.y[k] - more[k]);
    return true;
  }

  /// total: the adjoint of the element that `at_kink` names, or of the derivative where the loss
  /// does not see what is in doubt. False where there is none.
  CAROM_HOST_DEVICE bool adjoint_in_doubt(double* total, Report& report) {
    bool seen = false;
    const int b = doubtfuls_;
    for (int d = 0; d < b; ++d) {
      double value = 0.0, size = 0.0;
      for (int k = 0; k < count_; ++k) {
        const double term = at_.source[d * count_ + k] * at_.y[k];
        value += term;
        size += magnitude(term);
      }
      at_.touch[d] = value;
      seen = seen || magnitude(value) > (kUnseen + 4e-16 * report.condition) * size;
    }
    // A contact that touches without slip may take any direction of friction.
    const bool open_ended = loose_ > 0 && any_seen(at_.y);
    if (report.status == Smoothness::smooth && (seen || open_ended)) {
      report.status = Smoothness::kink;
    }
    AtKink element = AtKink::free;
    const bool kink = report.status == Smoothness::kink;
    if (kink) element = rules_.at_kink;
    if (element == AtKink::nan) return false;
    report.residual = 0.0;
    for (int k = 0; k < count_; ++k) at_.psi[k] = 0.0;
    for (int d = 0; d < b; ++d) at_.direct[d] = 0.0;
    for (int k = 0; k < count_; ++k) total[k] = 0.0;
    if (!kink || b == 0) {
      for (int k = 0; k < count_; ++k) total[k] = at_.y[k];
      report.residual = residual_of(total);
    } else {
      const bool both = element == AtKink::mean;
      const double share = both ? 0.5 : 1.0;
      for (int part = 0; part < 2; ++part) {
        const bool held = part == 0;
        if (!both && held != (element == AtKink::held)) continue;
        if (!add_element(held, share, total)) {
          report.status = Smoothness::undefined;
          return false;
        }
      }
      report.residual = residual_of(at_.y);
    }
    return true;
  }

  /// y: with the doubtful conditions' own answer. False where there is none.
  CAROM_HOST_DEVICE bool tangent_in_doubt(const StepDirectionView<double>& d, Report& report) {
    const int b = doubtfuls_;
    bool moved = false;
    for (int i = 0; i < b; ++i) {
      double size = 0.0;
      const double value = condition_of(i, at_.y, d, size);
      at_.touch[i] = magnitude(value) > kUnseen * size ? value : 0.0;
      at_.theta[i] = 0.0;
      moved = moved || at_.touch[i] != 0.0;
    }
    if (loose_ > 0) return false;
    if (report.status == Smoothness::smooth && moved) report.status = Smoothness::kink;
    if (report.status != Smoothness::kink) return true;
    const bool found = solve_doubtful(b, at_.schur, at_.touch, at_.theta, basic_, at_.work);
    for (int i = 0; i < b; ++i) {
      if (!(at_.theta[i] > 0.0)) continue;
      for (int k = 0; k < count_; ++k) at_.extra[k] = at_.source[i * count_ + k];
      solve_modes(at_.extra);
      for (int k = 0; k < count_; ++k) at_.y[k] += at_.theta[i] * at_.extra[k];
    }
    return found;
  }

  /// x := W x by G, M^-1 and the rows' own softness, and the magnitudes of its terms.
  CAROM_HOST_DEVICE void times_delassus(const V* x, V* product, V* size) {
    V* pushed = at_.lambda_other;
    for (int j = 0; j < n_; ++j) pushed[j] = V(0.0);
    for (int k = 0; k < count_; ++k) {
      if (!any_of(x[k] != V(0.0))) continue;
      for (int j = 0; j < n_; ++j) pushed[j] += flexible(k)[j] * x[k];
    }
    for (int k = 0; k < count_; ++k) {
      V sum = x[k] / eta(k), terms = V(0.0);
      for (int j = 0; j < n_; ++j) sum += jacobian(k)[j] * pushed[j];
      for (int l = 0; l < count_; ++l) terms += magnitude(w(k, l) * x[l]);
      product[k] = sum;
      size[k] = terms;
    }
  }

  /// |W E_F'y + E_p'y - g| over its terms, W anew and the modes' definitions.
  CAROM_HOST_DEVICE V residual_of(const V* y) {
    V* sum = at_.row;
    V* size = at_.psi_other;
    V* psi = at_.psi;
    for (int k = 0; k < count_; ++k) psi[k] = V(0.0);
    for (int k = 0; k < count_; ++k) {
      each_flow(k, [&](int l, V share) { psi[l] += share * y[k]; });
    }
    times_delassus(psi, sum, size);
    for (int k = 0; k < count_; ++k) {
      sum[k] -= at_.g[k];
      size[k] += magnitude(at_.g[k]);
    }
    for (int k = 0; k < count_; ++k) {
      each_impulse(k, [&](int l, V share) {
        sum[l] += share * y[k];
        size[l] += magnitude(share * y[k]);
      });
    }
    certificate::MaxAbs<V> worst;
    for (int k = 0; k < count_; ++k) worst.add(share_of(sum[k], size[k]));
    return worst.value;
  }

  /// Gradients from the adjoint y and the elements' direct parts.
  CAROM_HOST_DEVICE void write(const StepCotangentView<V>& cotangent,
                               const StepGradientView<V>& gradient, const V* y, V energy,
                               const V* pull) {
    V* psi = at_.psi;
    for (int k = 0; k < count_; ++k) psi[k] = V(0.0);
    for (int k = 0; k < count_; ++k) {
      each_flow(k, [&](int l, V share) { psi[l] += share * y[k]; });
    }
    if constexpr (kAlone) {
      for (int d = 0; d < doubtfuls_; ++d) {
        if (at_.doubt[doubtful_[d]] == 1.0) psi[doubtful_[d]] += at_.direct[d];
      }
    }
    if (moves_ || (centripetal_ && gradient.jacobian_dot_v != nullptr)) {
      for (int k = 0; k < count_; ++k) at_.turn[k] = -psi[k] / rate(k);
      over_kinds(at_.turn);
      push_back(at_.turn, at_.along_turn);
    }
    V* lambda = at_.lambda;
    for (int j = 0; j < n_; ++j) {
      V sum = pull[j];
      for (int k = 0; k < count_; ++k) sum -= jacobian(k)[j] * psi[k];
      lambda[j] = sum;
    }
    over_mass(lambda);
    const V* v = at_.velocity;
    if (gradient.mass_matrix != nullptr) {
      for (int i = 0; i < n_; ++i) {
        V* to = gradient.mass_matrix + (shape_.diagonal ? 0L : static_cast<long>(i) * n_);
        const int first = shape_.diagonal ? i : 0, last = shape_.diagonal ? i + 1 : n_;
        for (int j = first; j < last; ++j) {
          const V one = lambda[i] * (v[j] - problem_.velocity[j]);
          const V other = lambda[j] * (v[i] - problem_.velocity[i]);
          V twist = V(0.0);
          for (int kind = 0; kind < kernels::kRowGroups * n_ && moves_; kind += n_) {
            twist += at_.along_turn[kind + i] * at_.along_moment[kind + j] +
                     at_.along_turn[kind + j] * at_.along_moment[kind + i];
          }
          to[j] = V(0.5) * (energy * (v[i] * v[j]) - (one + other) + twist);
        }
      }
    }
    V step = V(0.0);
    for (int j = 0; j < n_; ++j) {
      if (gradient.force != nullptr) gradient.force[j] = h_ * lambda[j];
      if (gradient.velocity != nullptr) gradient.velocity[j] = times_mass(lambda, j);
      step += lambda[j] * problem_.force[j];
    }
    const int nq = shape_.positions;
    for (int i = 0; i < (nq > 0 ? nq : n_); ++i) {
      const V asked = cotangent.increment != nullptr ? cotangent.increment[i] : V(0.0);
      if (nq == 0) {
        step += asked * v[i];
        continue;
      }
      for (int j = 0; j < n_; ++j) {
        const long place = static_cast<long>(i) * n_ + j;
        step += asked * problem_.position_map[place] * v[j];
        if (gradient.position_map != nullptr) gradient.position_map[place] = h_ * asked * v[j];
      }
    }
    for (int i = 0; i < shape_.rows; ++i) {
      for (V* rows : {gradient.jacobian_dot_v, gradient.phi, gradient.stiffness, gradient.damping,
                      gradient.friction}) {
        if (rows != nullptr) rows[i] = V(0.0);
      }
      if (gradient.jacobian == nullptr) continue;
      for (int j = 0; j < n_; ++j) gradient.jacobian[static_cast<long>(i) * n_ + j] = V(0.0);
    }
    for (int k = 0; k < count_; ++k) {
      const int i = row_[k];
      const V stiff = problem_.stiffness[i], damp = problem_.damping[i], phi = problem_.phi[i];
      const V s = rate(k), e = eta(k), p = at_.impulse[k];
      if (gradient.jacobian != nullptr) {
        V* to = gradient.jacobian + static_cast<long>(i) * n_;
        for (int j = 0; j < n_; ++j) to[j] = p * lambda[j] - psi[k] * v[j];
      }
      if (gradient.jacobian_dot_v != nullptr) {
        gradient.jacobian_dot_v[i] = -h_ * psi[k] + (centripetal_ ? at_.turn[k] : V(0.0));
      }
      if (moves_ && gradient.jacobian != nullptr) {
        V* to = gradient.jacobian + static_cast<long>(i) * n_;
        const int kind = kind_of(i) * n_;
        for (int j = 0; j < n_; ++j) {
          to[j] -=
              at_.turn[k] * at_.along_moment[kind + j] + at_.moment[k] * at_.along_turn[kind + j];
        }
      }
      if (gradient.phi != nullptr) gradient.phi[i] = -psi[k] * stiff / s;
      const V soft = p * h_ / (e * e);
      if (gradient.stiffness != nullptr) {
        gradient.stiffness[i] = -psi[k] * ((phi * damp - h_ * at_.moment[k]) / (s * s) - h_ * soft);
      }
      if (gradient.damping != nullptr) {
        gradient.damping[i] = psi[k] * (spring(k) / (s * s) + soft);
      }
      step += psi[k] * (stiff * spring(k) / (s * s) + p * (V(2.0) * h_ * stiff + damp) / (e * e) -
                        problem_.jacobian_dot_v[i]);
      if (cotangent.force != nullptr) step -= p / h_ * cotangent.force[i] / h_;
      const Mask slides = has_mode(k, StepMode::slide);
      if (gradient.friction != nullptr && any_of(slides)) {
        const V pull_of = at_.impulse[normal_[k]] * y[k] * at_.flow[k];
        gradient.friction[row_[normal_[k]]] -= select(slides, pull_of, V(0.0));
      }
    }
    if constexpr (kAlone) {
      for (int d = 0; d < doubtfuls_ && gradient.friction != nullptr; ++d) {
        const int k = doubtful_[d];
        if (at_.doubt[k] == 2.0) gradient.friction[row_[k]] -= at_.direct[d] * at_.impulse[k];
      }
    }
    if (gradient.step_size != nullptr) *gradient.step_size = step;
  }

  /// lambda: dv' at fixed p; row: dF at fixed p.
  CAROM_HOST_DEVICE void change(const StepDirectionView<V>& d) {
    const V dh = d.step_size != nullptr ? d.step_size[0] : V(0.0);
    const V* v = at_.velocity;
    V* dv = at_.lambda;
    for (int j = 0; j < n_; ++j) at_.column[j] = v[j] - problem_.velocity[j];
    for (int i = 0; i < n_; ++i) {
      V sum = dh * problem_.force[i];
      if (d.force != nullptr) sum += h_ * d.force[i];
      if (d.mass_matrix != nullptr) sum -= turned_mass(d, i, at_.column);
      if (d.velocity != nullptr) sum += times_mass(d.velocity, i);
      for (int k = 0; k < count_ && d.jacobian != nullptr; ++k) {
        sum += d.jacobian[static_cast<long>(row_[k]) * n_ + i] * at_.impulse[k];
      }
      dv[i] = sum;
    }
    over_mass(dv);
    const bool turned = centripetal_ && (moves_ || d.jacobian_dot_v != nullptr);
    if (turned) change_moment(d);
    for (int k = 0; k < count_; ++k) {
      const int i = row_[k];
      const V stiff = problem_.stiffness[i], damp = problem_.damping[i], phi = problem_.phi[i];
      const V s = rate(k), e = eta(k), p = at_.impulse[k];
      const V dk = d.stiffness != nullptr ? d.stiffness[i] : V(0.0);
      const V db = d.damping != nullptr ? d.damping[i] : V(0.0);
      V sum = dh * problem_.jacobian_dot_v[i];
      if (d.jacobian_dot_v != nullptr) sum += h_ * d.jacobian_dot_v[i];
      if (d.phi != nullptr) sum += stiff * d.phi[i] / s;
      if (turned) sum += at_.turn[k] / s;
      sum += dk * ((phi * damp - h_ * at_.moment[k]) / (s * s) - p * h_ * h_ / (e * e));
      sum -= db * (spring(k) / (s * s) + p * h_ / (e * e));
      sum -= dh * (stiff * spring(k) / (s * s) + p * (V(2.0) * h_ * stiff + damp) / (e * e));
      for (int j = 0; j < n_; ++j) {
        sum += jacobian(k)[j] * dv[j];
        if (d.jacobian != nullptr) sum += d.jacobian[static_cast<long>(i) * n_ + j] * v[j];
      }
      at_.row[k] = sum;
    }
  }
  /// turn := dm = M^ (d(dG/dt v) - dD m), dD m = dG M^-1 G'm + G M^-1 (dG'm - dM M^-1 G'm).
  CAROM_HOST_DEVICE void change_moment(const StepDirectionView<V>& d) {
    for (int j = 0; j < kernels::kRowGroups * n_; ++j) at_.along_turn[j] = V(0.0);
    for (int k = 0; k < count_ && moves_ && d.jacobian != nullptr; ++k) {
      V* own = at_.along_turn + kind_of(row_[k]) * n_;
      for (int j = 0; j < n_; ++j) {
        own[j] += d.jacobian[static_cast<long>(row_[k]) * n_ + j] * at_.moment[k];
      }
    }
    for (int kind = 0; kind < kernels::kRowGroups * n_ && moves_; kind += n_) {
      V* own = at_.along_turn + kind;
      for (int i = 0; i < n_ && d.mass_matrix != nullptr; ++i) {
        own[i] -= turned_mass(d, i, at_.along_moment + kind);
      }
      over_mass(own);
    }
    for (int k = 0; k < count_; ++k) {
      const int kind = kind_of(row_[k]) * n_;
      V sum = d.jacobian_dot_v != nullptr ? d.jacobian_dot_v[row_[k]] : V(0.0);
      for (int j = 0; j < n_ && moves_; ++j) {
        sum -= jacobian(k)[j] * at_.along_turn[kind + j];
        if (d.jacobian != nullptr) {
          sum -= d.jacobian[static_cast<long>(row_[k]) * n_ + j] * at_.along_moment[kind + j];
        }
      }
      at_.turn[k] = sum;
    }
    over_kinds(at_.turn);
  }
  CAROM_INLINE V friction_change(const StepDirectionView<V>& d, int k) const {
    return d.friction != nullptr ? d.friction[row_[normal_[k]]] : V(0.0);
  }
  /// J^-1 x, where open rows, p = .., are told exactly.
  CAROM_HOST_DEVICE void solve_modes(V* x) {
    for (int k = 0; k < count_; ++k) at_.g[k] = x[k];
    factors_.solve(x);
    for (int k = 0; k < count_; ++k) {
      x[k] = select(has_mode(k, StepMode::open), at_.g[k], x[k]);
    }
  }
  /// y := dp with the doubtful conditions' theta zero.
  CAROM_HOST_DEVICE void solve_change(const StepDirectionView<V>& d) {
    for (int k = 0; k < count_; ++k) {
      V sum = V(0.0);
      each_flow(k, [&](int l, V share) { sum -= share * at_.row[l]; });
      const V pushed = at_.impulse[normal_[k]] * at_.flow[k] * friction_change(d, k);
      sum -= select(has_mode(k, StepMode::slide), pushed, V(0.0));
      at_.y[k] = sum;
    }
    solve_modes(at_.y);
  }
  /// The rate of condition i, and its terms.
  CAROM_HOST_DEVICE V condition_of(int i, const V* dp, const StepDirectionView<V>& d,
                                   V& size) const {
    const int k = doubtful_[i];
    V sum = at_.doubt[k] == 1.0 ? at_.row[k] : at_.impulse[k] * friction_change(d, k);
    size = magnitude(sum);
    for (int l = 0; l < count_; ++l) {
      const V term = at_.test[static_cast<long>(i) * count_ + l] * dp[l];
      sum += term;
      size += magnitude(term);
    }
    return sum;
  }

  /// Every law of dp and dF = W dp + .., and the complementarity of the doubtful conditions.
  CAROM_HOST_DEVICE V tangent_residual(const StepDirectionView<V>& d) {
    certificate::MaxAbs<V> worst;
    V* df = at_.psi;
    V* size = at_.psi_other;
    times_delassus(at_.y, df, size);
    for (int k = 0; k < count_; ++k) {
      df[k] += at_.row[k];
      size[k] += magnitude(at_.row[k]);
    }
    for (int k = 0; k < count_; ++k) {
      V sum = V(0.0), terms = V(0.0);
      each_flow(k, [&](int l, V share) {
        sum += share * df[l];
        terms += magnitude(share) * size[l];
      });
      each_impulse(k, [&](int l, V share) {
        sum += share * at_.y[l];
        terms += magnitude(share * at_.y[l]);
      });
      const V pushed =
          select(has_mode(k, StepMode::slide),
                 at_.impulse[normal_[k]] * at_.flow[k] * friction_change(d, k), V(0.0));
      sum += pushed;
      terms += magnitude(pushed);
      for (int i = 0; i < doubtfuls_; ++i) {
        const V driven = at_.source[static_cast<long>(i) * count_ + k] * at_.theta[i];
        sum -= driven;
        terms += magnitude(driven);
      }
      worst.add(share_of(sum, terms));
    }
    if constexpr (kAlone) {
      for (int i = 0; i < doubtfuls_; ++i) {
        double terms = 0.0;
        const double value = condition_of(i, at_.y, d, terms);
        if (at_.theta[i] < 0.0) worst.add(kernels::kInfinity);
        worst.add(at_.theta[i] > 0.0 || value < 0.0 ? share_of(value, terms) : 0.0);
      }
    }
    return worst.value;
  }

  /// The largest step that keeps the modes to first order, along dp = y and dF = psi.
  CAROM_HOST_DEVICE V reach_along() const {
    const V* dp = at_.y;
    const V* df = at_.psi;
    V reach = V(kernels::kInfinity);
    if (doubtfuls_ > 0) return V(0.0);
    const V zero(0.0);
    for (int k = 0; k < count_; ++k) {
      if (is_tangent(k) || is_bilateral(k)) continue;
      const Mask open = has_mode(k, StepMode::open);
      const V value = select(open, at_.flow[k], at_.impulse[k]);
      const V slope = select(open, df[k], dp[k]);
      reach = select(slope < zero, smaller(reach, zero_or_more(value) / -slope), reach);
      const int t = tangents(k);
      if (t == 0) continue;
      const Mask presses = !open;
      const Mask slides = presses & has_mode(k + 1, StepMode::slide);
      if (any_of(slides)) {
        V rate = zero;
        for (int c = 1; c <= t; ++c) rate += at_.slip[k + c] * df[k + c];
        const V step = length(at_.flow, k, t) / -rate;
        reach = select(slides & (rate < zero), smaller(reach, step), reach);
      }
      const Mask sticks = presses & has_mode(k + 1, StepMode::closed);
      if (any_of(sticks)) {
        // (R + t dR)^2 = |p_t + t dp_t|^2
        const V radius = friction(k) * at_.impulse[k], grows = friction(k) * dp[k];
        V a = grows * grows, b = radius * grows, c0 = radius * radius;
        for (int c = 1; c <= t; ++c) {
          a -= dp[k + c] * dp[k + c];
          b -= at_.impulse[k + c] * dp[k + c];
          c0 -= at_.impulse[k + c] * at_.impulse[k + c];
        }
        const V root = b * b - a * c0;
        const Mask real = sticks & !(root < zero);
        const V down = -b + square_root(select(real, root, zero));
        reach = select(real & (down > zero), smaller(reach, zero_or_more(c0) / down), reach);
      }
    }
    return reach;
  }

  /// Down the gradient of what was wanted: along minus its arrays.
  CAROM_HOST_DEVICE V reach_down(const StepGradientView<V>& gradient) {
    StepDirectionView<V> d;
    d.step_size = gradient.step_size;
    d.mass_matrix = gradient.mass_matrix;
    d.force = gradient.force;
    d.velocity = gradient.velocity;
    d.position_map = nullptr;
    d.jacobian = gradient.jacobian;
    d.jacobian_dot_v = gradient.jacobian_dot_v;
    d.phi = gradient.phi;
    d.stiffness = gradient.stiffness;
    d.damping = gradient.damping;
    d.friction = gradient.friction;
    change(d);
    solve_change(d);
    for (int k = 0; k < count_; ++k) {
      V sum = at_.row[k];
      for (int l = 0; l < count_; ++l) sum += w(k, l) * at_.y[l];
      at_.psi[k] = -sum;
    }
    for (int k = 0; k < count_; ++k) at_.y[k] = -at_.y[k];
    return reach_along();
  }

  const StepShape& shape_;
  int n_;
  const StepView<V>& problem_;
  bool centripetal_;
  const DerivativeRules& rules_;
  StepModesLayout<V*> at_;
  int* row_;
  int* normal_;
  int* doubtful_;
  int* basic_;
  FactorsOf<V> factors_;
  V h_;
  int count_ = 0;
  int doubtfuls_ = 0;
  int loose_ = 0;
  V margin_{0.0};
  Mask doubted_{};      // lanes with a doubtful row
  Mask slides_{};       // lanes where any contact slides
  Mask moving_{};       // lanes where m is not zero
  Mask redundant_{};    // lanes where a kind has rows that depend on each other
  bool moves_ = false;  // whether any lane moves
  bool mixed_ = false;  // a kind has rows that exert nothing
};

}  // namespace carom::derivatives
