#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <Eigen/Dense>

#include "enclosure/arrangement.hpp"
#include "enclosure/interior_point.hpp"

/// Functions of the velocity that no solution of the inclusion lets grow, and that bound one
/// contact velocity where the impact ends (docs/explanation/enclosure.md, "Piecewise quadratic
/// forms").
namespace carom::enclosure {

/// V = gamma |z|^2 + sum_ab entry_ab y_a y_b: z the velocity in coordinates of the kinetic energy,
/// of length 1 before the impact, y_2k = max(r_k.z, 0) and y_2k+1 = max(-r_k.z, 0) for every
/// plane's unit row r_k. Where nothing approaches V >= alpha |z|^2 + (1 - alpha) max(c.z, 0)^2 for
/// the row c that is bounded (BoundedRow). Where contacts have stores V is this and sum_i stores_i
/// E_i / K before, and the stores E_i are empty in the end. All times 2^kFormBits.
struct PiecewiseForm {
  std::int64_t gamma = 0;
  std::int64_t alpha = 0;
  std::int64_t beta = 0;              ///< of gamma, that is not needed for this
  std::vector<std::int64_t> entries;  ///< as FormEntries has them
  /// [m], >= 0 where stores may lose some; empty: inelastic.
  std::vector<std::int64_t> stores;
};

/// Places of the entries a >= b of a symmetric matrix of parts, without those of both parts of one
/// plane, one of which is 0.
class FormEntries {
 public:
  explicit FormEntries(int planes);

  [[nodiscard]] std::size_t parts() const { return parts_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  /// Of two parts that are not those of one plane.
  [[nodiscard]] std::size_t place(std::size_t a, std::size_t b) const {
    return place_[a * parts_ + b];
  }
  /// visit(a, b, place), b <= a.
  template <class Visit>
  void each(Visit&& visit) const {
    for (std::size_t a = 0; a < parts_; ++a) {
      for (std::size_t b = 0; b <= a; ++b) {
        if (a / 2 != b / 2 || a == b) visit(a, b, place(a, b));
      }
    }
  }

 private:
  std::size_t parts_, count_ = 0;
  std::vector<std::size_t> place_;
};

/// What an upper bound of a row's velocity is asked of: a row of J, and 1 or -1 for its opposite.
struct BoundedRow {
  std::size_t row;
  int sign;
  /// Of a normal: its lower bound instead, beyond the 0 that an outcome has at least. Then V >=
  /// -(c.z)^2 where nothing approaches, and (c.z)^2 is at least what V is below 0 before.
  bool least = false;
};

/// Whether rounding leaves no doubt that no motion lets the form grow, and that it bounds the row
/// where nothing approaches.
bool is_bound(const Arrangement& arrangement, const PiecewiseForm& form, const BoundedRow& bounded);
/// The bound that such a form is [m/s], rounded up.
double bound_of(const Arrangement& arrangement, const PiecewiseForm& form,
                const BoundedRow& bounded);

/// Linear programs for the forms of one impact, whose conditions become rows as they are met.
class FormSearch {
 public:
  explicit FormSearch(const Arrangement& arrangement);

  /// The form that bounds it closest; none where that is not found.
  [[nodiscard]] std::optional<PiecewiseForm> closest(const BoundedRow& bounded) const;
  /// The same; later searches begin with the conditions that mattered for it.
  std::optional<PiecewiseForm> first_closest(const BoundedRow& bounded);

 private:
  struct Met;  // a condition that x violates
  struct Asked {
    Eigen::VectorXd velocity;  ///< of the bounded row at every corner, at least 0
    bool least = false;        ///< BoundedRow::least
  };
  struct Solved {
    Eigen::VectorXd x;
    std::vector<std::size_t> active;  ///< conditions that matter
  };

  /// Conditions at x, and where: descents first, then pairs of corners.
  [[nodiscard]] std::vector<Met> violated(const Eigen::VectorXd& x, const Asked& asked,
                                          double margin, double beyond) const;
  /// A condition as row <= bound, of largest coefficient about 1; row: all 0. Its bound.
  double write_row(std::size_t condition, const Asked& asked, Eigen::VectorXd& row) const;
  /// The chosen conditions as the program's rows.
  void fill(const std::vector<std::size_t>& chosen, const Asked& asked, bool margin,
            InnerProgram& program) const;
  /// Over all conditions; margin: the unknown after the others stands in every row. Empty where it
  /// fails.
  [[nodiscard]] Solved solve(InnerProgram program, const Asked& asked, bool margin) const;
  [[nodiscard]] std::optional<PiecewiseForm> search(const BoundedRow& bounded,
                                                    std::vector<std::size_t>* active) const;
  /// Unknowns are the entries, the stores' shares, those below 0 apart, then gamma, alpha, beta and
  /// perhaps the margin.
  [[nodiscard]] Eigen::Index store(std::size_t contact) const {
    return static_cast<Eigen::Index>(entries_.count() + contact);
  }
  [[nodiscard]] Eigen::Index owed(std::size_t contact) const {
    return store(all_.stored.size() + contact);
  }
  [[nodiscard]] std::size_t stores() const { return all_.stored.size() + all_.least_stored.size(); }
  [[nodiscard]] std::size_t gamma() const { return entries_.count() + stores(); }
  /// visit(unknown, rate) for the stores that change along a descent.
  template <class Visit>
  void each_stored(const Descent& descent, Visit&& visit) const;

  const Arrangement& all_;
  FormEntries entries_;
  Eigen::MatrixXd corner_parts_;                         // a column each
  std::vector<double> descent_energy_, outcome_energy_;  // products of both directions
  std::vector<double> descent_scale_, outcome_scale_;
  std::vector<std::size_t> active_;  // conditions that searches begin with
  Eigen::VectorXd centre_;           // fulfils all conditions without a velocity by ...
  double margin_ = 0.0;              // ... this
};

}  // namespace carom::enclosure
