#include "programs/qp/kernels/qp_refine_active_set.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/index.hpp"
#include "programs/kernels/doubled.hpp"
#include "programs/qp/kernels/qp_homogeneous_problem.hpp"
#include "programs/qp/kernels/qp_least_squares.hpp"

namespace carom::kernels {

namespace {

using Sum = SizedSum<Doubled>;

constexpr int kPasses = 4;
constexpr double kMet = 0x1p-51;      // of a condition's terms: rounding of the unknowns
constexpr double kClear = 1e-6;       // of a cone's head: not on its boundary
constexpr double kDependent = 1e-17;  // of a column
constexpr double kNear = 1e-7;        // of the largest terms
constexpr double kSteep = 1e-4;       // from pass to pass

/// Real: of the steps. What the conditions leave is always summed in doubled precision.
template <class Real>
class ActiveSet {
 public:
  ActiveSet(const QpShape& shape, const QpView<const double*>& view, double* x, double* y)
      : shape_(shape), view_(view), n_(shape.variables), x_(x), y_(y), columns_(shape.variables) {
    const auto measure = [&](int i, double bound) {
      bound_.push_back(bound);
      slack_.push_back(gap(i, is_there(bound) ? bound : 0.0));
    };
    for_parts(
        shape,
        [&](int i) {
          measure(i, y[i] < 0.0 || !is_there(view.upper[i]) ? view.lower[i] : view.upper[i]);
        },
        [&](const QpConeSpan& cone) {
          for (int i = cone.first; i < cone.first + cone.size; ++i) measure(i, view.upper[i]);
        });
    double most_terms = 0.0;
    double most_dual = 0.0;
    for (int i = 0; i < shape.rows; ++i) {
      most_terms = larger(most_terms, slack_[index(i)].size);
      most_dual = larger(most_dual, magnitude(y[i]));
    }
    // Of slack and multiplier the one that is smaller relative to the largest of its kind vanishes.
    const auto is_open = [&](double slack, double dual) {
      return slack * most_dual >= dual * most_terms;
    };
    for_parts(
        shape,
        [&](int i) {
          const bool equation = view_.lower[i] == view_.upper[i];
          const double slack = magnitude(static_cast<double>(slack_[index(i)].value));
          take(i, 1,
               equation || (y_[i] != 0.0 && !is_open(slack, magnitude(y_[i]))) ? Part::held
                                                                               : Part::open);
        },
        [&](const QpConeSpan& cone) {
          const double slack = static_cast<double>(slack_[index(cone.first)].value);
          const double dual = y_[cone.first];
          const auto slack_of = [&](int i) { return static_cast<double>(slack_[index(i)].value); };
          const auto dual_of = [&](int i) { return y_[i]; };
          const bool open = is_open(slack, dual);
          const bool clear = open ? is_clear(cone, slack_of) : is_clear(cone, dual_of);
          take(cone.first, cone.size, !clear ? Part::round : open ? Part::open : Part::held);
        });
  }

  void refine() {
    std::vector<int> order(index(columns_));
    std::vector<double> size(index(columns_));
    std::vector<Real> step(index(columns_)), head(index(columns_));
    LeastSquares<Real> system{};
    double before = 0.0;
    for (int pass = 0; pass < kPasses; ++pass) {
      // A factor serves as long as what is left falls steeply.
      if (pass > 0 && linearise() && !(most_ <= kSteep * before)) factorised_ = false;
      if ((!factorised_ && !linearise()) || !open_ || !is_near()) return;
      before = most_;
      if (!factorised_) {
        system = {rows_, columns_, table_.data(), order.data(), size.data(), head.data()};
        system.reflect(kDependent, 0.0, step.data());
        factorised_ = true;
      } else {
        for (int i = 0; i < rows_; ++i) system.row(i)[columns_] = side_[index(i)];
        system.reflect_side();
      }
      system.solve(step.data());
      for (int j = 0; j < n_; ++j) x_[j] = static_cast<double>(step[index(j)] + x_[j]);
      for (int i = 0; i < shape_.rows; ++i) {
        if (column_[index(i)] < 0) continue;
        y_[i] = static_cast<double>(step[index(column_[index(i)])] + y_[i]);
      }
    }
  }

 private:
  /// Of a row or cone: the multiplier is zero, the slack is, or both are on the cone's boundary.
  enum class Part { open, held, round };

  /// The largest of what some conditions leave, and of their terms.
  struct Scope {
    double rest = 0.0, size = 0.0;
    void add(const Sum& sum) {
      rest = larger(magnitude(static_cast<double>(sum.value)), rest);
      size = larger(sum.size, size);
    }
    [[nodiscard]] bool is_near() const { return rest <= kNear * size; }
  };
  /// Whether x, y are an answer except for what is small relative to the largest numbers.
  [[nodiscard]] bool is_near() const { return balance_.is_near() && reach_.is_near(); }

  void take(int first, int size, Part part) {
    for (int i = first; i < first + size; ++i) {
      part_.push_back(part);
      column_.push_back(part == Part::open ? -1 : columns_++);
      if (part == Part::open) y_[i] = 0.0;
    }
  }
  template <class Value>
  static bool is_clear(const QpConeSpan& cone, Value&& value) {
    double tail = 0.0;
    for (int i = cone.first + 1; i < cone.first + cone.size; ++i) tail = std::hypot(tail, value(i));
    return value(cone.first) - tail > kClear * value(cone.first);
  }

  /// The conditions that hold with equality, the negative residual last; with the factor of
  /// earlier ones only the residual. False where all are met.
  bool linearise() {
    if (!factorised_) {
      table_.clear();
      unit_.clear();
    }
    side_.clear();
    rows_ = 0;
    most_ = 0.0;
    open_ = false;
    balance_ = {};
    reach_ = {};
    std::vector<Sum> rest(index(n_));
    for (int j = 0; j < n_; ++j) {
      begin();
      rest[index(j)].add(Doubled(view_.gradient[j]), 1.0);
      for (int k = 0; k < n_; ++k) {
        const double entry = hessian_entry(view_, n_, j, k);
        if (entry == 0.0) continue;
        add(j, k, Real(entry));
        rest[index(j)].add(Doubled(entry), x_[k]);
      }
    }
    for (int i = 0; i < shape_.rows; ++i) {
      if (column_[index(i)] < 0) continue;
      for_row(shape_, view_, i, [&](int j, double entry) {
        add(j, column_[index(i)], Real(entry));
        rest[index(j)].add(Doubled(entry), y_[i]);
      });
    }
    for (int j = 0; j < n_; ++j) {
      balance_.add(rest[index(j)]);
      end(j, rest[index(j)]);
    }
    for (int i = 0; i < shape_.rows; ++i) {
      if (part_[index(i)] == Part::held) meet(i);
    }
    for (int c = 0; c < shape_.cones; ++c) {
      if (part_[index(shape_.cone[c].first)] == Part::round) press(shape_.cone[c]);
    }
    return open_;
  }

  [[nodiscard]] Sum gap(int i, double bound) const {
    Sum gap;
    gap.add(Doubled(bound), 1.0);
    for_row(shape_, view_, i, [&](int j, double entry) { gap.add(Doubled(-entry), x_[j]); });
    return gap;
  }
  /// a'x = bound
  void meet(int i) {
    const int row = begin();
    for_row(shape_, view_, i, [&](int j, double entry) { add(row, j, Real(-entry)); });
    const Sum rest = gap(i, bound_[index(i)]);
    reach_.add(rest);
    end(row, rest);
  }
  /// s o z = 0 over the larger head.
  void press(const QpConeSpan& span) {
    std::vector<Sum> slack;
    for (int i = span.first; i < span.first + span.size; ++i) {
      slack.push_back(gap(i, view_.upper[i]));
    }
    const double scale =
        1.0 / std::max(std::fabs(static_cast<double>(slack[0].value)), std::fabs(y_[span.first]));
    for (int t = 0; t < span.size; ++t) {
      const int row = begin();
      Sum rest;
      for (int a = 0; a < span.size; ++a) {
        // Row 0: sum of s_a z_a; row t: s_0 z_t + s_t z_0.
        if (t > 0 && a != 0 && a != t) continue;
        const int b = span.first + (t == 0 ? a : t - a);
        const Doubled s = slack[index(a)].value * scale;
        for_row(shape_, view_, span.first + a,
                [&](int j, double entry) { add(row, j, Real(-entry) * (y_[b] * scale)); });
        add(row, column_[index(b)], static_cast<Real>(s));
        rest.add(s, y_[b]);
        rest.size += slack[index(a)].size * scale * std::fabs(y_[b]);
      }
      end(row, rest);
    }
  }

  /// A new row of zeros.
  int begin() {
    if (!factorised_) table_.resize(table_.size() + index(columns_ + 1), Real(0.0));
    return rows_++;
  }
  [[nodiscard]] Real* row_of(int row) { return table_.data() + index(row * (columns_ + 1)); }
  void add(int row, int column, const Real& value) {
    if (!factorised_) row_of(row)[column] += value;
  }
  /// In units of the row's largest entry; what is met needs no correction.
  void end(int row, const Sum& rest) {
    if (!factorised_) {
      Real* const entry = row_of(row);
      double most = 0.0;
      for (int c = 0; c < columns_; ++c) {
        most = std::max(most, std::fabs(static_cast<double>(entry[c])));
      }
      unit_.push_back(most == 0.0 ? 0.0 : 1.0 / power_of_two(exponent_of(most)));
      for (int c = 0; c < columns_ && most > 0.0; ++c) entry[c] *= unit_.back();
    }
    const bool met =
        unit_[index(row)] == 0.0 || std::fabs(static_cast<double>(rest.value)) <= kMet * rest.size;
    side_.push_back(met ? Real(0.0) : static_cast<Real>(-rest.value * unit_[index(row)]));
    if (!factorised_) row_of(row)[columns_] = side_.back();
    if (met) return;
    most_ = std::max(most_, std::fabs(static_cast<double>(side_.back())));
    open_ = true;
  }

  const QpShape& shape_;
  const QpView<const double*>& view_;
  int n_;
  double *x_, *y_;
  int columns_;
  std::vector<double> bound_;
  std::vector<Sum> slack_;  ///< at the beginning
  std::vector<Part> part_;
  std::vector<int> column_;  ///< of a row's multiplier, or -1
  std::vector<Real> table_;  ///< [conditions, columns + 1]; its factor if factorised_
  std::vector<Real> side_;   ///< [conditions]
  std::vector<double> unit_;
  int rows_ = 0;
  double most_ = 0.0;  ///< of side_
  bool open_ = false, factorised_ = false;
  Scope balance_;  ///< of P x + q + A'y
  Scope reach_;    ///< of the rows that hold
};

}  // namespace

template <class Real>
void refine_active_set(const QpShape& shape, const QpView<const double*>& view, double* x,
                       double* y) {
  ActiveSet<Real>(shape, view, x, y).refine();
}
template void refine_active_set<double>(const QpShape&, const QpView<const double*>&, double*,
                                        double*);
template void refine_active_set<Doubled>(const QpShape&, const QpView<const double*>&, double*,
                                         double*);

}  // namespace carom::kernels
