#pragma once

#include <type_traits>

#include <carom/certificate_derivative.hpp>

#include "compliant/kernels/step_derivative_arrays.hpp"
#include "programs/derivatives/kernels/long_sum.hpp"
#include "programs/derivatives/kernels/report.hpp"

namespace carom::derivatives {

/// Derivatives of steps with their answers, one for each lane of V, with the same loaded rows;
/// call modes() first. A single step (V is double) is differentiated if it has a derivative or an
/// element of one. Of a pack only smooth lanes are differentiated: functions that return a Mask
/// return the lanes that are done.
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
        independent_(ints + 4L * shape.rows),
        factors_(at_.factors, shape.rows),
        h_(problem.step_size[0]) {}

  /// carrying_rows of a step of the pack, which all its lanes have.
  CAROM_HOST_DEVICE void carry(double h, const double* stiffness, const double* damping);

  CAROM_HOST_DEVICE Mask modes(const V* force, ReportOf<V>& report);

  /// Gradients of what `gradient` has arrays for.
  CAROM_HOST_DEVICE Mask adjoint(const StepCotangentView<V>& cotangent,
                                 const StepGradientView<V>& gradient, ReportOf<V>& report);

  /// How far what is asked of the kinds is from rows that depend on each other counts, too.
  CAROM_INLINE void count_kinds(bool rates, V& condition) const {
    const Mask counts = rates ? moving_ | !moving_ : moving_;
    if (!centripetal_ || (!rates && !moves_)) return;
    condition = select(counts, larger(condition, steepest_), condition);
  }

  /// Lanes where what `gradient` has arrays for has no derivative, after modes().
  CAROM_INLINE Mask refuses(const StepGradientView<V>& gradient) {
    return moment_refuses(gradient.jacobian_dot_v != nullptr,
                          gradient.jacobian != nullptr || gradient.mass_matrix != nullptr);
  }

  CAROM_HOST_DEVICE Mask tangent(const StepDirectionView<V>& d, const StepTangentView<V>& out,
                                 ReportOf<V>& report);

  static CAROM_INLINE void fill(V* to, long count) {
    if (to == nullptr) return;
    for (long i = 0; i < count; ++i) to[i] = V(kNone);
  }

  /// No lane is good.
  CAROM_HOST_DEVICE Mask none(const StepGradientView<V>& gradient) const;

 private:
  /// A step of Newton's method below which what is left is rounding: it converges quadratically.
  static constexpr double kSettled = 1e-10;
  /// Slip, in units, below which rounding turns it.
  static constexpr double kCreep = 1e-6;
  /// What polishing may have moved for the factors of before it to be refined to those after.
  static constexpr double kFactorsKept = 1e-9;
  /// Share of the least pivot that rounding may move it by.
  static constexpr double kUnsurePivot = 0.1;
  /// The trace of a kind's inverse, rows of length one, from which on it is refined, where rows do
  /// not move and where they do, and up to which that settles; x of combination_size counts where
  /// it may be large.
  static constexpr double kSteepKind = 1e5, kSteepMoving = 1e3, kSteepestKind = 1e11;

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
  /// Where row k of G may differ from zero; with a full M all of it counts.
  CAROM_INLINE int first(int k) const {
    return shape_.begin != nullptr ? shape_.begin[row_[k]] : 0;
  }
  CAROM_INLINE int last(int k) const { return shape_.end != nullptr ? shape_.end[row_[k]] : n_; }
  CAROM_INLINE V* flexible(int k) const { return at_.flexible + static_cast<long>(k) * n_; }
  CAROM_INLINE V w(int k, int l) const {
    if (by_velocities_) return delassus(k, l);
    return at_.delassus[static_cast<long>(k) * count_ + l];
  }
  CAROM_INLINE V delassus(int k, int l) const {
    V sum = coupling(k, l);
    if (k == l) sum += per_eta(k);
    return sum;
  }
  /// G_k M^-1 G_l'.
  CAROM_INLINE V coupling(int k, int l) const {
    V sum = V(0.0);
    const int begin = first(k) > first(l) ? first(k) : first(l);
    const int end = last(k) < last(l) ? last(k) : last(l);
    for (int j = begin; j < end; ++j) sum += jacobian(k)[j] * flexible(l)[j];
    return sum;
  }
  CAROM_INLINE V rate(int k) const {  // s = h K + B
    return h_ * problem_.stiffness[row_[k]] + problem_.damping[row_[k]];
  }
  CAROM_INLINE V eta(int k) const { return h_ * rate(k); }
  CAROM_INLINE V per_eta(int k) const { return per_h_ * at_.per_rate[k]; }
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
  /// call(l): rows of the contact of row k, or k itself.
  template <class Call>
  CAROM_INLINE void each_of_contact(int k, Call&& call) const {
    const int n = normal_[k];
    for (int l = n; l <= n + tangents(n); ++l) call(l);
  }
  CAROM_INLINE V length(const V* values, int k, int tangent_count) const {
    V sum = V(0.0);
    for (int t = 1; t <= tangent_count; ++t) sum += values[k + t] * values[k + t];
    return square_root(sum);
  }

  /// The impulses of the rows that carry. Lanes whose numbers are finite.
  CAROM_HOST_DEVICE Mask take(const V* force);

  /// Cholesky of M, M^-1 G', W and u. Lanes where M is definite.
  CAROM_HOST_DEVICE Mask prepare();
  CAROM_INLINE V bias(int k) const {
    const int i = row_[k];
    return h_ * problem_.jacobian_dot_v[i] + spring(k) * at_.per_rate[k];
  }
  /// K phi + m.
  CAROM_INLINE V spring(int k) const {
    return problem_.stiffness[row_[k]] * problem_.phi[row_[k]] + at_.moment[k];
  }

  /// m / s + p / eta. Where these nearly cancel, as F = 0 has it.
  CAROM_HOST_DEVICE V pressure(int k) const;

  // The centripetal term m = M^ (dG/dt) v, M^ = (G M^-1 G')^-1 of each kind of rows, on the first
  // rows of a kind that are independent, as the solver has it.

  CAROM_INLINE int kind_of(int i) const { return kernels::row_group(problem_.type, i); }
  CAROM_HOST_DEVICE void factor_kinds();
  /// x := M^ x, kind by kind; zero at rows that depend on others of their kind. pushed: M^-1 G'x,
  /// or null.
  CAROM_HOST_DEVICE void over_kinds(V* x, V* pushed);
  /// The same without refinement.
  CAROM_HOST_DEVICE void solve_kinds(V* x) const;
  /// M^-1 G'x of each kind's rows.
  CAROM_HOST_DEVICE void push_back(const V* x, V* to) const;
  /// Whether the derivative asks for what m does not have.
  CAROM_HOST_DEVICE Mask moment_refuses(bool rates, bool geometry);
  /// x := M^-1 x.
  CAROM_HOST_DEVICE void over_mass(V* x) const;
  /// M^-1 of a right-hand side in about twice the precision; right(j, sum) adds the terms of j.
  template <class Right>
  CAROM_INLINE void long_over_mass(Right&& right, V* high, V* low) const;
  /// The same of some vectors, M full.
  template <int kVectors>
  CAROM_HOST_DEVICE void vectors_over_mass(V* const* x) const;

  CAROM_HOST_DEVICE void flow();

  /// Units of impulses: rho times the terms of F or, if that is more, what the largest row would
  /// have there (p / sqrt(rho) is the root of an energy in all rows); a contact's rows share
  /// theirs.
  CAROM_HOST_DEVICE void measure();

  /// What is zero of impulses and of flows, in units: gaps of both are as exact as what they are
  /// made of.
  struct Tolerance {
    V impulse, flow;
  };
  /// Lanes where the answer misses more of its laws: an answer of another problem is seen by it.
  CAROM_HOST_DEVICE Mask wrong(const Tolerance& most) const;

  /// Lanes where a mode is another than before.
  CAROM_HOST_DEVICE Mask split(const Tolerance& tolerance);

  /// J = E_F W + E_p.
  CAROM_HOST_DEVICE Mask assemble();

  // Many rows without friction: E_F and E_p are diagonal, and with S = E_F / eta + E_p, J is
  // S + E_F G M^-1 G'. By Woodbury's identity only C = I + M^-1 G' S^-1 E_F G has to be inverted, a
  // matrix of the velocities' order.

  CAROM_HOST_DEVICE Mask assemble_by_velocities();
  /// J x.
  CAROM_HOST_DEVICE void multiply(const V* x, V* product) const;
  /// J'x.
  CAROM_HOST_DEVICE void multiply_transposed(const V* x, V* product) const;
  /// G'E_F x.
  CAROM_HOST_DEVICE void pull(const V* x, V* pulled) const;
  CAROM_HOST_DEVICE void solve_once(V* x) const;
  CAROM_HOST_DEVICE void solve_transposed_once(V* x) const;
  /// x := A^-1 x by solve, refined by multiply.
  template <class Solve, class Multiply>
  CAROM_INLINE void refined(V* x, Solve&& solve, Multiply&& product_of) const {
    for (int k = 0; k < count_; ++k) at_.given[k] = x[k];
    solve(x);
    product_of(x, at_.rest);
    for (int k = 0; k < count_; ++k) at_.rest[k] = at_.given[k] - at_.rest[k];
    solve(at_.rest);
    for (int k = 0; k < count_; ++k) x[k] += at_.rest[k];
  }
  CAROM_HOST_DEVICE void solve_transposed(V* x) const;
  /// That of J with rows and columns of size one.
  [[nodiscard]] CAROM_HOST_DEVICE V condition() const;
  /// sliding: only rows that slide in some lane, whose equations change with the flow.
  CAROM_HOST_DEVICE void fill_matrix(bool sliding);
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
  CAROM_HOST_DEVICE V newton(Mask going);
  /// flow(), and how far it is from that of before, in units.
  CAROM_HOST_DEVICE V moved_flow();

  /// Polishes lanes that go on by flows in about twice the precision, from the problem's numbers:
  /// a slip that is far smaller than its terms has a direction as well, and so has v' where m is
  /// large. Lanes where it settles.
  CAROM_HOST_DEVICE Mask sharpen(Mask going);
  /// flow() of lanes that go on, likewise. low: what rounding leaves of the impulses.
  CAROM_HOST_DEVICE void long_flow(Mask going, const V* low);

  /// v' of the polished impulses, which sharpen() has left for its lanes.
  CAROM_HOST_DEVICE void finish(Mask sharp);

  // Doubtful conditions: 0 <= theta perp N dp + .. >= 0, J dp = .. + U theta. Touching: theta =
  // dp_n with friction against the slip, and dF_n; on the border: theta = -n dF_t and mu dp_n - n
  // dp_t.

  CAROM_HOST_DEVICE void reduce();

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
  CAROM_HOST_DEVICE bool add_element(bool held, double share, double* total);

  /// total: the adjoint of the element that `at_kink` names, or of the derivative where the loss
  /// does not see what is in doubt. False where there is none.
  CAROM_HOST_DEVICE bool adjoint_in_doubt(double* total, Report& report);

  /// y: with the doubtful conditions' own answer. False where there is none.
  CAROM_HOST_DEVICE bool tangent_in_doubt(const StepDirectionView<double>& d, Report& report);

  /// M^-1 G'x.
  CAROM_HOST_DEVICE void push(const V* x, V* pushed) const;
  /// The magnitudes of its terms.
  CAROM_HOST_DEVICE void push_sizes(const V* x, V* sizes) const;
  /// The magnitudes of the terms of row k of W x; pushed: push_sizes where the rows are solved by
  /// the velocities.
  CAROM_INLINE V product_size(int k, const V* x, const V* pushed) const {
    V size = V(0.0);
    if (by_velocities_) {
      size = magnitude(x[k] * per_eta(k));
      for (int j = first(k); j < last(k); ++j) size += magnitude(jacobian(k)[j]) * pushed[j];
      return size;
    }
    for (int l = 0; l < count_; ++l) size += magnitude(w(k, l) * x[l]);
    return size;
  }

  /// x := W x by G, M^-1 and the rows' own softness, and the magnitudes of its terms.
  CAROM_HOST_DEVICE void times_delassus(const V* x, V* product, V* size);

  /// |W E_F'y + E_p'y - g| over its terms, W anew and the modes' definitions.
  CAROM_HOST_DEVICE V residual_of(const V* y);

  /// certified, or certified after y was corrected: the error then is less than the last
  /// correction. judge(): the residual.
  template <class Judge>
  CAROM_HOST_DEVICE Mask corrected(ReportOf<V>& report, bool transposed, Judge&& judge);
  /// Corrects y of lanes that go on by what J y = g, or J'y = g, still misses in twice the
  /// precision. Returns the size of the correction, relative to y.
  CAROM_HOST_DEVICE V correct(Mask going, bool transposed);
  static constexpr int kMostCorrections = 3;

  /// Gradients from the adjoint y and the elements' direct parts.
  CAROM_HOST_DEVICE void write(const StepCotangentView<V>& cotangent,
                               const StepGradientView<V>& gradient, const V* y, V energy,
                               const V* pull);

  /// lambda: dv' at fixed p; row: dF at fixed p.
  CAROM_HOST_DEVICE void change(const StepDirectionView<V>& d);
  /// turn := dm = M^ (d(dG/dt v) - dD m), dD m = dG M^-1 G'm + G M^-1 (dG'm - dM M^-1 G'm).
  CAROM_HOST_DEVICE void change_moment(const StepDirectionView<V>& d);
  CAROM_INLINE V friction_change(const StepDirectionView<V>& d, int k) const {
    return d.friction != nullptr ? d.friction[row_[normal_[k]]] : V(0.0);
  }
  /// J^-1 x, where open rows, p = .., are told exactly.
  CAROM_HOST_DEVICE void solve_modes(V* x, bool accurate = true);
  /// y := dp with the doubtful conditions' theta zero.
  CAROM_HOST_DEVICE void solve_change(const StepDirectionView<V>& d, bool accurate = true);
  /// The rate of condition i, and its terms.
  CAROM_HOST_DEVICE V condition_of(int i, const V* dp, const StepDirectionView<V>& d,
                                   V& size) const;

  /// Every law of dp and dF = W dp + .., and the complementarity of the doubtful conditions.
  CAROM_HOST_DEVICE V tangent_residual(const StepDirectionView<V>& d);

  /// The largest step that keeps the modes to first order, along dp = y and dF = psi.
  CAROM_HOST_DEVICE V reach_along() const;

  /// Down the gradient of what was wanted: along minus its arrays.
  CAROM_HOST_DEVICE V reach_down(const StepGradientView<V>& gradient);

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
  int* independent_;  // rows that are picked in some lane, kind by kind
  FactorsOf<V> factors_;
  V h_, per_h_{0.0};
  int count_ = 0;
  int kind_end_[kernels::kRowGroups] = {};  // behind a kind's last one
  int doubtfuls_ = 0;
  int loose_ = 0;
  V margin_{0.0};
  Mask doubted_{};                        // lanes with a doubtful row
  Mask slides_{};                         // lanes where any contact slides
  Mask creeps_{};                         // lanes where one slips less than kCreep
  Mask moving_{};                         // lanes where m is not zero
  Mask redundant_{};                      // lanes where a kind has rows that depend on each other
  Mask unsure_{};                         // lanes where rounding decides which rows do
  Mask steep_[kernels::kRowGroups] = {};  // lanes where the kind's rows nearly do
  Mask steeps_{};                         // lanes that move where some kind's do
  V steepest_{1.0};                       // the largest such trace
  bool moves_ = false;                    // whether any lane moves
  bool by_velocities_ = false;            // J is inverted through a matrix of their order
  bool mixed_ = false;                    // a kind has rows that exert nothing
  bool kinds_known_ = false;              // whether the kinds are factored
};

}  // namespace carom::derivatives
