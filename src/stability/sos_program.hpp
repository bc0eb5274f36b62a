#pragma once

#include <string>
#include <vector>

#include <carom/types/sdp.hpp>

#include "stability/label_setting.hpp"
#include "stability/polynomial.hpp"

/// Theorem 2's conditions on V2 = y + P(z, theta, v), P of degrees 1 to 3, as sums of squares
/// (section IV.A of the paper, e = 0; docs/explanation/stability.md, "The paper's own programme").
/// y stands for the part of q along n, z and theta for the parts along two unit vectors across.
namespace carom::stability {

/// f(x) >= 0 wherever all of `where` are >= 0. f is affine in the coefficients of P.
struct SosCondition {
  std::string name;  ///< e.g. "impact 1 slip+"
  std::size_t variables = 0;
  std::vector<Polynomial> per_coefficient;  ///< [monomials of P]
  Polynomial known;
  std::vector<Polynomial> where;  ///< linear and products of two; the unit ball last
  /// (z, theta, v) as linear polynomials of x.
  std::array<Polynomial, 5> state;
};

/// A programme whose X are the Gram matrices: f = sum_k where_k (basis' X_k basis), where_0 = 1,
/// coefficient by coefficient, the coefficients of P being eliminated by the first condition.
struct SosForm {
  std::vector<Monomial> of_p;  ///< monomials of P
  std::vector<SosCondition> conditions;
  SdpProblem sdp;
  int rows = 0;      ///< equalities before the coefficients of P were eliminated
  int unknowns = 0;  ///< entries of the Gram matrices and coefficients of P
  std::vector<std::vector<double>> coefficient_rows;  ///< of_p from X: [monomial][sum of n^2]
  std::vector<double> coefficient_constants;

  /// Coefficients of P from the Gram matrices.
  [[nodiscard]] std::vector<double> coefficients(const std::vector<double>& x) const;
};

/// Both e are 0 and `setting` is usable.
SosForm pose_sos(const Setting& setting);

}  // namespace carom::stability
