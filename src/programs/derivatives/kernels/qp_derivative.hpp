#pragma once

#include "programs/derivatives/kernels/long_sum.hpp"
#include "programs/derivatives/kernels/qp_arrays.hpp"
#include "programs/derivatives/kernels/report.hpp"

namespace carom::derivatives {

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
                               Report& report);

  /// Gradients where `gradient` has arrays; false where there are none, all NaN.
  CAROM_HOST_DEVICE bool adjoint(const QpCotangentView& cotangent, const QpWanted& wanted,
                                 const QpGradientView& gradient, Report& report);

  CAROM_HOST_DEVICE bool tangent(const QpDirectionView& d, const QpTangentView& out,
                                 Report& report);

 private:
  CAROM_INLINE double hessian(int i, int j) const {
    return at_.hessian[static_cast<long>(i) * n_ + j];
  }
  /// to += P x: column by column, so that entries do not wait for each other.
  CAROM_INLINE void add_hessian_times(const double* x, double* to) const {
    for (int k = 0; k < n_; ++k) {
      const double* column = at_.hessian + static_cast<long>(k) * n_;
      for (int j = 0; j < n_; ++j) to[j] += column[j] * x[k];
    }
  }
  /// to += G'y.
  CAROM_INLINE void add_rows_times(const double* y, double* to) const {
    for (int i = 0; i < r_; ++i) {
      if (y[i] == 0.0) continue;
      const double* of = row(i);
      for (int j = 0; j < n_; ++j) to[j] += of[j] * y[i];
    }
  }
  static constexpr int kSideBySide = 4;
  /// f(i, G_i x), some rows side by side.
  template <class F>
  CAROM_INLINE void each_row_times(const double* x, F&& f) const {
    int i = 0;
    for (; i + kSideBySide <= r_; i += kSideBySide) {
      const double* of[kSideBySide];
      double sum[kSideBySide] = {};
      for (int k = 0; k < kSideBySide; ++k) of[k] = row(i + k);
      for (int j = 0; j < n_; ++j) {
        for (int k = 0; k < kSideBySide; ++k) sum[k] += of[k][j] * x[j];
      }
      for (int k = 0; k < kSideBySide; ++k) f(i + k, sum[k]);
    }
    for (; i < r_; ++i) {
      double sum = 0.0;
      for (int j = 0; j < n_; ++j) sum += row(i)[j] * x[j];
      f(i, sum);
    }
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
  CAROM_HOST_DEVICE const double* condition(int i) const;

  /// f(row, weight) over the rows that equation c is made of.
  template <class F>
  CAROM_INLINE void each_row_of(int c, F&& f) const {
    const int i = equation_[c];
    if (!is_edge(i)) return f(i, 1.0);
    for (int k = i; k < r_ && owner_[k] == i; ++k) f(k, reflect(k) * at_.slack[k]);
  }

  /// owner: the first row of the second-order cone, or -1; sign 0 of equations. What the problem
  /// alone says of its units.
  CAROM_HOST_DEVICE void kinds();

  /// Share of the terms of the objective that rounding leaves.
  static constexpr double kRounding = 0x1.0p-50;

  /// Slacks, and in which units they and the multipliers are measured.
  /// cones_known: newton() has put the slacks of cones.
  CAROM_HOST_DEVICE void measure(bool cones_known = false);
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
  CAROM_HOST_DEVICE double wrong() const;

  CAROM_INLINE double length(const double* from, int first) const {
    double sum = 0.0;
    for (int k = first + 1; k < r_ && owner_[k] == first; ++k) sum += from[k] * from[k];
    return kernels::square_root(sum);
  }

  /// x and multipliers as given; whether they are finite.
  CAROM_HOST_DEVICE bool start(const double* x, const double* dual, const double* cone_dual);
  /// An answer polished in its modes, which are those that Newton's method ends in. within > 0: it
  /// starts with all held whose slacks are within that, and lets go what signs refuse. False where
  /// it does not end in an answer. x null: from where approach() ended.
  CAROM_HOST_DEVICE bool polish(const double* x, const double* dual, const double* cone_dual,
                                double within, Report& report, bool& stale);
  static constexpr int kMostRounds = 12;

  /// Moves x and the multipliers to an answer by the method of multipliers (Rockafellar 1976): each
  /// of its problems is convex and smooth, so that Newton's method along a line ends wherever it
  /// starts. Which modes it ends in is left in the multipliers and target; shift: how far it
  /// moved. False where it does not end.
  CAROM_HOST_DEVICE bool approach(double& shift);
  static constexpr int kMostApproaches = 8, kMostDescents = 20, kMostTrials = 12;
  static constexpr double kApproached = 1e-11;
  /// The least of P x'x / 2 + q'x + sum |theta|^2 / (2 penalty), by x.
  CAROM_HOST_DEVICE bool descend(double& shift);
  /// theta: multipliers - penalty times slacks, projected to where multipliers are; target: of
  /// cones at an edge what is left of w's length; sum: the slope.
  CAROM_HOST_DEVICE void press();
  CAROM_HOST_DEVICE bool assemble_pressed();
  /// What a slack of one unit presses, in the multipliers' units.
  static constexpr double kPenalty = 1e4;
  CAROM_INLINE double penalty(int i) const {
    return at_.feel[i] > 0.0 ? kPenalty / (at_.feel[i] * at_.unit[i]) : 0.0;
  }

  /// Modes from slacks and multipliers; true where one is another than before. nearer: also within
  /// the tolerance that which is nearer, none doubtful. by_slacks: held within the tolerance.
  /// pressed: those that approach() ended in. kept: as they are, but for what has the wrong sign.
  enum class Choice : int { doubted, nearer, by_slacks, pressed, kept };
  CAROM_HOST_DEVICE bool split(double tolerance, Choice choice);
  CAROM_HOST_DEVICE bool split_cone(int first, double tolerance, Choice choice);

  /// The modes' equations and their factors; an independent subset of the gradients where they
  /// depend on each other and `drop` says so. False where they stay singular.
  CAROM_HOST_DEVICE bool assemble(bool drop);
  CAROM_HOST_DEVICE bool fill();
  /// Keeps equations whose gradients are independent: equations first, then by their multipliers,
  /// so that what stays has multipliers of the right sign where a vertex has them.
  CAROM_HOST_DEVICE void independent();
  CAROM_INLINE double priority(int i) const {
    if (is_equation(i)) return kernels::kInfinity;
    return at_.feel[i] * magnitude(at_.multiplier[i]);
  }

  /// One Newton step of the modes' equations, and the same again with these factors where they are
  /// linear; what it moved, in the rows' units.
  CAROM_HOST_DEVICE double newton();
  /// -(P x + q + G'lambda), and the slack of row i, in twice the precision where there are cones,
  /// since an edge's normal is s or z divided by its length, which may be small, and where the
  /// condition is large.
  CAROM_HOST_DEVICE void descent(double* to) const;
  template <int kColumns>
  CAROM_HOST_DEVICE void long_descent(int first, double* to) const;
  template <int kRows>
  CAROM_HOST_DEVICE void long_slacks(int first, LongSum<double>* to) const;
  CAROM_INLINE double long_slack(int i) const {
    LongSum<double> slack;
    long_slacks<1>(i, &slack);
    return slack.value();
  }
  /// Of all rows of cones.
  CAROM_HOST_DEVICE void put_long_slacks();
  /// x += step, with what rounding leaves.
  CAROM_HOST_DEVICE void advance(const double* step);
  /// s near the tip along R z, so that the edge has a normal; z on the boundary.
  CAROM_HOST_DEVICE void leave_apex(int first);

  /// Exact zeros where modes say so.
  CAROM_HOST_DEVICE void clean();

  /// S of the doubtful rows. Those that have a positive multiplier in some other answer, since they
  /// and the held rows depend on each other, are held: nothing but a change of the rows themselves
  /// moves their slack. With S d = 0, d >= 0, the multipliers may move along d.
  CAROM_HOST_DEVICE void settle();
  CAROM_HOST_DEVICE void reduce();
  /// About what S_ii would be without held rows.
  CAROM_INLINE double free_size(int i) const {
    double sum = 0.0;
    for (int j = 0; j < n_; ++j) {
      const double diagonal = hessian(j, j);
      if (diagonal > 0.0) sum += row(i)[j] * row(i)[j] / diagonal;
    }
    return sum / n_;
  }

  CAROM_HOST_DEVICE bool none(const QpGradientView& gradient) const;

 public:
  static CAROM_INLINE void fill_array(double* to, long count) {
    if (to == nullptr) return;
    for (long i = 0; i < count; ++i) to[i] = kNone;
  }

 private:
  /// From a = sum[0, n) and e.
  CAROM_HOST_DEVICE void write(const QpGradientView& gradient, double objective,
                               const double* e) const;

  // The certificate: from the problem's arrays and the modes, without the equations that were
  // factored.

  /// P a + C'e = g with a = sum[0, n); of_rows: e. Also the size that `typical` measures by.
  CAROM_HOST_DEVICE certificate::MaxAbs<> stationarity_residual(const double* of_rows);

  /// P a + A'c + C'e = dL/dx, and what held rows ask of a. weight: of the element in which doubtful
  /// rows are held; between the two their own conditions are those of both.
  CAROM_HOST_DEVICE double adjoint_residual(const QpCotangentView& cotangent, const double* e,
                                            double weight);

  /// P dx + A'dy + C'dz = -(dP x + dq + dA'y + dC'z), and what every row says of ds and dz.
  CAROM_HOST_DEVICE double tangent_residual(const double* dz, const double* ds, bool branch);
  /// |row| times unknowns of the solution's size: rows that hold everything leave only rounding,
  /// which is not to be measured by itself.
  CAROM_INLINE double typical(int i) const {
    double size = 0.0;
    for (int j = 0; j < n_; ++j) size += magnitude(row(i)[j]) * factors_.unit(j);
    return size * solution_size_;
  }
  /// The same of the columns' equations, whose unknowns are those of P and the multipliers.
  CAROM_INLINE void typical_columns(double* to) const {
    for (int j = 0; j < n_; ++j) to[j] = 0.0;
    const auto add = [&](const double* of, double share, double unit) {
      for (int j = 0; j < n_; ++j) to[j] += magnitude(share * of[j]) * unit;
    };
    for (int k = 0; k < n_; ++k) {
      add(at_.hessian + static_cast<long>(k) * n_, 1.0, factors_.unit(k));
    }
    for (int c = 0; c < equations_; ++c) {
      each_row_of(c, [&](int i, double share) { add(row(i), share, factors_.unit(n_ + c)); });
    }
    for (int j = 0; j < n_; ++j) to[j] *= solution_size_;
  }
  /// Whether the condition is large, or P zero: rows' multipliers then have units of their own, and
  /// what is small for the equations may be all of a gradient.
  CAROM_INLINE bool is_steep(const Report& report) const {
    return flat_ || report.condition > kSteep;
  }
  /// certified, or certified after the solution and what it makes of the rows, e, were corrected:
  /// the error then is less than the last correction, and that less than what the condition makes
  /// of the residual. wish(i): what row i is to be; judge(): the residual.
  template <class Wish, class Judge>
  CAROM_HOST_DEVICE bool refined(Report& report, double* e, Wish&& wish, Judge&& judge) {
    report.residual = judge();
    double error = report.condition * report.residual;
    const bool closer = is_steep(report) && report.status == Smoothness::smooth;
    const int least = closer ? kSteepCorrections : 0;
    for (int round = 0; round < kMostCorrections; ++round) {
      if (round >= least && !(error > rules_.error_tolerance)) break;
      error = correct(e, wish);
      report.residual = judge();
    }
    const bool fine = report.residual <= kLargestResidual && error <= rules_.error_tolerance;
    if (!fine) report.status = Smoothness::undefined;
    return fine;
  }
  /// Corrects the solution, sum and e, by what the equations still miss of it in twice the
  /// precision. Returns the size of the correction, relative to the solution.
  template <class Wish>
  CAROM_HOST_DEVICE double correct(double* e, Wish&& wish) {
    double* by = at_.rest;
    for (int j = 0; j < n_; ++j) {
      LongSum<double> sum(at_.g[j]);
      sum.add_rest(at_.g_rest[j]);
      for (int k = 0; k < n_; ++k) sum.add_product(-hessian(j, k), at_.sum[k]);
      for (int i = 0; i < r_; ++i) sum.add_product(-row(i)[j], e[i]);
      by[j] = sum.value();
    }
    for (int c = 0; c < equations_; ++c) {
      LongSum<double> sum;
      each_row_of(c, [&](int i, double share) {
        LongSum<double> part(wish(i));
        for (int j = 0; j < n_; ++j) part.add_product(-row(i)[j], at_.sum[j]);
        sum.add_product(share, part.value());
      });
      by[n_ + c] = sum.value();
    }
    factors_.solve(by);
    for (int j = 0; j < n_ + equations_; ++j) at_.sum[j] += by[j];
    for (int c = 0; c < equations_; ++c) {
      each_row_of(c, [&](int i, double share) { e[i] += share * by[n_ + c]; });
    }
    for (int i = m_; i < r_; ++i) {
      if (!is_edge(i)) continue;
      double along = 0.0;
      for (int j = 0; j < n_; ++j) along += row(i)[j] * by[j];
      e[i] -= at_.tau[i] * reflect(i) * along;
    }
    const double size = factors_.size_in_units(at_.sum);
    return size > 0.0 ? factors_.size_in_units(by) / size : 0.0;
  }
  static constexpr int kMostCorrections = 3;

  CAROM_INLINE double largest_of_row(int i) const {
    double most = 0.0;
    for (int j = 0; j < n_; ++j) most = kernels::larger(most, magnitude(row(i)[j]));
    return most;
  }
  /// Near their tip edges' multipliers are differences of terms that are larger by far; the
  /// condition counts that where it leaves less than ten digits.
  static constexpr double kCurvature = 1000.0;
  CAROM_HOST_DEVICE void bend(Report& report, double bent, const double* e) const;
  CAROM_INLINE double size_of(int i) const {
    double size = magnitude(at_.target[i]) + typical(i);
    for (int j = 0; j < n_; ++j) size += magnitude(row(i)[j] * at_.sum[j]);
    return size;
  }

  /// The largest step that keeps signs and states, to first order. ds of rows as they stand.
  CAROM_HOST_DEVICE double reach_along(const double* dz, const double* ds) const;
  /// The step at which v + t dv leaves its cone, of those on the boundary only the cone's axis
  /// counts: t0 + t dt0 = 0.
  CAROM_HOST_DEVICE double leaves(int first, const double* v, const double* dv) const;

  /// Along minus the gradient of what was wanted.
  CAROM_HOST_DEVICE double reach_down(const QpWanted& wanted, double objective, const double* e);

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
  bool bent_ = false;   // whether there are second-order cones
  bool flat_ = false;   // whether P is zero
  bool long_ = false;   // whether the answer's residuals are in twice the precision
  double turn_ = 0.0;   // of edges' normals in the last step
  double tried_ = 0.0;  // within what slacks were held when the polish started the last time
  double solution_size_ = 0.0;
};

}  // namespace carom::derivatives
