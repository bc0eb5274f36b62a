#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "impact/kernels/impact.hpp"
#include "impact/step_modes.hpp"
#include "programs/derivatives/kernels/dense.hpp"
#include "programs/derivatives/kernels/report.hpp"

namespace carom::cpu {

/// E lambda = r of one step's modes (impact_modes::Row), and its transpose. Contacts that depend
/// on each other make E singular, while the velocity can still be unique: of dependent equations
/// some are left out and as many impulses held, and what is asked must not notice.
template <int Dim>
class StepEquations {
 public:
  using Rows = std::vector<impact_modes::Row>;

  StepEquations(const kernels::ImpactProblemView& problem, const kernels::ImpactRun& run)
      : problem_(problem),
        polygon_(run.polygon),
        nv_(run.velocities),
        m_(run.contacts),
        n_(Dim * m_),
        memory_(static_cast<std::size_t>(kernels::values_of<derivatives::FactorsLayout>(n_))),
        factors_(memory_.data(), n_),
        delassus_(square()),
        matrix_(square()) {
    for (int i = 0; i < n_; ++i) {
      for (int j = 0; j < n_; ++j) {
        delassus_[at(i, j)] = problem.delassus[at(i, j)] /
                              (problem.scale[contact_of(i)] * problem.scale[contact_of(j)]);
      }
    }
  }

  /// Index of component c (n, t_1, t_2) of a contact's velocity or impulse.
  [[nodiscard]] int index(int contact, int c) const {
    return c == 0 ? contact : m_ + (Dim - 1) * contact + c - 1;
  }
  [[nodiscard]] double mobility(int contact) const { return delassus_[at(contact, contact)]; }
  /// A = J M^-1 J'.
  [[nodiscard]] const std::vector<double>& delassus() const { return delassus_; }
  [[nodiscard]] const Rows& rows() const { return rows_; }
  [[nodiscard]] double condition() const { return n_ > 0 ? factors_.condition() : 1.0; }
  /// That of the determinant; zero where equations were left out.
  [[nodiscard]] double sign() const {
    if (n_ == 0) return 1.0;
    return pins_.empty() ? factors_.sign() : 0.0;
  }
  /// Whether equations were left out.
  [[nodiscard]] bool dependent() const { return !pins_.empty(); }

  /// Factors the equations of a step's modes; false where they are singular and leaving some out
  /// does not help.
  bool set(const std::vector<impact_modes::State>& states) {
    rows_.clear();
    for (int i = 0; i < m_; ++i) {
      for (const auto& row : impact_modes::rows_of<Dim>(polygon_, i, problem_.friction[i],
                                                        states[static_cast<std::size_t>(i)])) {
        rows_.push_back(row);
      }
    }
    for (int r = 0; r < n_; ++r) {
      const auto& row = rows_[static_cast<std::size_t>(r)];
      for (int j = 0; j < n_; ++j) {
        double sum = 0.0;
        for (int c = 0; c < Dim; ++c) {
          sum += row.velocity[c] * delassus_[at(index(row.contact, c), j)];
        }
        matrix_[at(r, j)] = sum;
      }
      for (int c = 0; c < Dim; ++c) matrix_[at(r, index(row.contact, c))] += row.impulse[c];
    }
    pins_.clear();
    std::copy(matrix_.begin(), matrix_.end(), factors_.matrix());
    if (n_ == 0 || factors_.factor(n_)) return true;
    find_pins();
    std::copy(matrix_.begin(), matrix_.end(), factors_.matrix());
    for (const Pin& pin : pins_) {
      double* row = factors_.matrix() + at(pin.row, 0);
      std::fill_n(row, n_, 0.0);
      row[pin.held] = 1.0;
    }
    return factors_.factor(n_);
  }

  /// x: right-hand side, then lambda, of which `held` has the values of held impulses, else zero.
  /// sizes: of the terms that the right-hand side is the sum of. Returns the residual of all
  /// equations, also of those left out, relative to their terms.
  double solve(std::vector<double>& x, const std::vector<double>& sizes,
               const double* held = nullptr) const {
    const std::vector<double> given = x;
    for (const Pin& pin : pins_) x[pin.row] = held != nullptr ? held[pin.held] : 0.0;
    if (n_ > 0) factors_.solve(x.data());
    double worst = 0.0;
    const double size = n_ > 0 ? factors_.size_in_units(x.data()) : 0.0;
    for (int r = 0; r < n_; ++r) {
      // Numbers that are zero have the rounding of the others.
      double rest = given[r], terms = sizes[r];
      for (int j = 0; j < n_; ++j) {
        terms += kShareOfTerms * size * std::fabs(matrix_[at(r, j)]) * factors_.unit(j);
      }
      for (int j = 0; j < n_; ++j) {
        const double term = matrix_[at(r, j)] * x[j];
        rest -= term;
        terms += std::fabs(term);
      }
      if (terms > 0.0) worst = kernels::larger(worst, std::fabs(rest) / terms);
    }
    return worst;
  }

  /// y: right-hand side, then E^-T of it, zero in equations left out; likewise.
  double solve_transposed(std::vector<double>& y, const std::vector<double>& sizes) const {
    const std::vector<double> given = y;
    if (n_ > 0) factors_.solve_transposed(y.data());
    for (const Pin& pin : pins_) y[pin.row] = 0.0;
    double worst = 0.0;
    for (int j = 0; j < n_; ++j) {
      double rest = given[j], terms = sizes[j];
      for (int r = 0; r < n_; ++r) {
        const double term = matrix_[at(r, j)] * y[r];
        rest -= term;
        terms += std::fabs(term);
      }
      if (terms > 0.0) worst = kernels::larger(worst, std::fabs(rest) / terms);
    }
    return worst;
  }

  /// psi = E_F'y, the multipliers of the contact velocities.
  [[nodiscard]] std::vector<double> velocity_part(const std::vector<double>& y) const {
    std::vector<double> psi(static_cast<std::size_t>(n_));
    for (int r = 0; r < n_; ++r) {
      const auto& row = rows_[static_cast<std::size_t>(r)];
      for (int c = 0; c < Dim; ++c) psi[index(row.contact, c)] += row.velocity[c] * y[r];
    }
    return psi;
  }

  /// Sum of y slope lambda_n over the contact's equations: the gradient in mu.
  [[nodiscard]] double friction_part(const std::vector<double>& y, int contact,
                                     const double* impulse) const {
    double sum = 0.0;
    for (int r = 0; r < n_; ++r) {
      const auto& row = rows_[static_cast<std::size_t>(r)];
      if (row.contact == contact) sum += y[r] * row.slope * impulse[contact];
    }
    return sum;
  }

  /// Changes of the impulses that no equation notices, one for each that was left out.
  [[nodiscard]] std::vector<std::vector<double>> free_impulses() const {
    std::vector<std::vector<double>> all;
    for (const Pin& pin : pins_) {
      all.emplace_back(static_cast<std::size_t>(n_))[pin.row] = 1.0;
      factors_.solve(all.back().data());
    }
    return all;
  }

  /// Whether equations that were left out hold as the others do when v, M and h change, and so the
  /// impulses that were held do not matter for v'; `friction`, `jacobians`: and when those change.
  [[nodiscard]] bool unique(bool friction, bool jacobians, const double* impulse) const {
    for (const Pin& pin : pins_) {
      // E'y = 0, and y = 1 in the equation left out.
      std::vector<double> y(matrix_.begin() + at(pin.row, 0), matrix_.begin() + at(pin.row + 1, 0));
      factors_.solve_transposed(y.data());
      double size = 1.0;
      for (double& value : y) {
        value = -value;
        size = kernels::larger(size, std::fabs(value));
      }
      for (const Pin& other : pins_) {
        if (std::fabs(y[other.row]) > kDependent * size) return false;
        y[other.row] = 0.0;
      }
      y[pin.row] = 1.0;
      const std::vector<double> psi = velocity_part(y);
      double largest = 0.0;
      for (const double value : psi) largest = kernels::larger(largest, std::fabs(value));
      if (jacobians && largest > 0.0) return false;
      for (int j = 0; j < nv_; ++j) {
        if (seen(psi, largest,
                 [&](int i) { return problem_.jacobian[static_cast<long>(i) * nv_ + j]; })) {
          return false;
        }
      }
      for (int r = 0; r < n_; ++r) {
        const auto& row = rows_[static_cast<std::size_t>(r)];
        if (std::fabs(y[r]) <= kDependent * size) continue;
        if (row.limit != 0.0) return false;
        if (friction && row.slope != 0.0 && impulse[row.contact] != 0.0) return false;
      }
    }
    for (const std::vector<double>& x : free_impulses()) {
      double most = 0.0;
      for (const double value : x) most = kernels::larger(most, std::fabs(value));
      for (int i = 0; i < nv_; ++i) {
        if (seen(x, most,
                 [&](int j) { return problem_.response[static_cast<long>(i) * n_ + j]; })) {
          return false;
        }
      }
    }
    return true;
  }

 private:
  /// What of the largest number, each in its unit, counts as a row's term.
  static constexpr double kShareOfTerms = 1e-4;
  /// Share of its terms below which a sum is zero.
  static constexpr double kDependent = 1e-9;
  /// Share of the scaled entries below which what elimination leaves is zero.
  static constexpr double kNothing = 1e-11;

  struct Pin {
    int row, held;
  };

  [[nodiscard]] std::size_t square() const { return static_cast<std::size_t>(n_) * n_; }
  [[nodiscard]] std::size_t at(int i, int j) const { return static_cast<std::size_t>(i) * n_ + j; }
  [[nodiscard]] int contact_of(int row) const { return row < m_ ? row : (row - m_) / (Dim - 1); }

  /// Whether weight(i) x_i do not add up to zero, x being of this size.
  template <class Weight>
  [[nodiscard]] bool seen(const std::vector<double>& x, double size, Weight&& weight) const {
    double sum = 0.0, terms = 0.0;
    for (int i = 0; i < n_; ++i) {
      sum += weight(i) * x[static_cast<std::size_t>(i)];
      terms += std::fabs(weight(i)) * size;
    }
    return std::fabs(sum) > kDependent * terms;
  }

  /// What complete pivoting leaves without a pivot.
  void find_pins() {
    std::vector<double> a = matrix_;
    for (int i = 0; i < n_; ++i) {
      double size = 0.0;
      for (int j = 0; j < n_; ++j) size = kernels::larger(size, std::fabs(a[at(i, j)]));
      for (int j = 0; j < n_ && size > 0.0; ++j) a[at(i, j)] /= size;
    }
    std::vector<int> row(static_cast<std::size_t>(n_)), column(row.size());
    std::iota(row.begin(), row.end(), 0);
    std::iota(column.begin(), column.end(), 0);
    for (int k = 0; k < n_; ++k) {
      int p = k, q = k;
      double most = 0.0;
      for (int i = k; i < n_; ++i) {
        for (int j = k; j < n_; ++j) {
          const double size = std::fabs(a[at(row[i], column[j])]);
          if (size <= most) continue;
          most = size;
          p = i;
          q = j;
        }
      }
      if (!(most > kNothing)) {
        for (int i = k; i < n_; ++i) pins_.push_back({row[i], column[i]});
        return;
      }
      std::swap(row[k], row[p]);
      std::swap(column[k], column[q]);
      for (int i = k + 1; i < n_; ++i) {
        const double factor = a[at(row[i], column[k])] / a[at(row[k], column[k])];
        for (int j = k + 1; j < n_ && factor != 0.0; ++j) {
          a[at(row[i], column[j])] -= factor * a[at(row[k], column[j])];
        }
      }
    }
  }

  const kernels::ImpactProblemView& problem_;
  const kernels::FrictionPolygon& polygon_;
  int nv_, m_, n_;
  std::vector<double> memory_;
  derivatives::Factors factors_;
  std::vector<double> delassus_, matrix_;
  Rows rows_;
  std::vector<Pin> pins_;
};

}  // namespace carom::cpu
