#pragma once

#include <vector>

#include <carom/types/sdp.hpp>

#include "stability/sos_program.hpp"

/// Conditions as sums of squares, reduced to the face of the cone that holds all solutions
/// (docs/explanation/stability.md, "The paper's program").
namespace carom::stability {

/// What a solution consists of: coefficients of P, and of every condition the Gram matrix of its
/// sum of squares and the numbers that multiply some of `where`.
struct SosSolution {
  struct Part {
    std::vector<std::size_t> squared;  ///< which of x the squares are made of
    Eigen::MatrixXd gram;
    std::vector<std::size_t> factor;  ///< which of `where`
    std::vector<double> multiplier;
  };
  std::vector<double> p;
  std::vector<Part> parts;  ///< [conditions]
};

class SosFace {
 public:
  /// unit: what the coefficients of P are measured in; pull: size of g.
  SosFace(std::vector<SosCondition> conditions, std::size_t of_p, double unit, double pull);

  /// The equalities between the coefficients of P contradict each other.
  [[nodiscard]] bool empty() const { return empty_; }
  /// max t over: squares and multipliers are at least t, in the unit's size; t is the last
  /// variable.
  [[nodiscard]] SdpProblem largest_margin() const;
  /// The same with t = 0 and nothing to maximise: where it is infeasible, so is the whole.
  [[nodiscard]] SdpProblem feasibility() const;
  /// From the variables of either.
  [[nodiscard]] SosSolution solution(const std::vector<double>& y) const;
  /// Largest error of f = sum_k where_k s_k, coefficient by coefficient of the unreduced
  /// conditions, and negative eigenvalue or multiplier, relative to the sizes of f's coefficients.
  [[nodiscard]] double residual(const SosSolution& solution) const;

 private:
  struct Part {
    std::vector<std::size_t> squared, factor;
    std::vector<std::size_t> column;  ///< of its multipliers, among all unknowns
    std::vector<double> scale;        ///< what a multiplier is measured in
    std::vector<double> size;         ///< of its margin of 1
  };
  /// An affine function of the unknowns (P, multipliers): a row and its constant.
  struct Row {
    Eigen::VectorXd per;
    double constant = 0.0;
  };
  [[nodiscard]] Row row(std::size_t condition, const Monomial& m) const;
  [[nodiscard]] Row gram(std::size_t condition, std::size_t i, std::size_t j) const;
  void reduce(std::size_t condition);
  [[nodiscard]] SdpProblem posed(bool with_margin) const;

  std::vector<SosCondition> conditions_;
  std::size_t of_p_, unknowns_ = 0;
  double unit_, pull_;
  std::vector<Part> parts_;
  bool empty_ = false;
  Eigen::VectorXd origin_;  ///< unknowns = origin + directions w
  Eigen::MatrixXd directions_;
};

}  // namespace carom::stability
