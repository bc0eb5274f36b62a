#pragma once

#include <string>
#include <vector>

#include "stability/label_setting.hpp"
#include "stability/polynomial.hpp"

/// The conditions on a polynomial function as sums of squares (section IV.A of the paper;
/// docs/explanation/stability.md, "The paper's program"). y stands for the part of q along n,
/// z and theta for the parts along two unit vectors across.
namespace carom::stability {

enum class SosTheorem : std::uint8_t {
  one,  ///< a single V = P, which may not rise in flight either (Theorem 1)
  two,  ///< V2 = y + P next to the energy V1 (Theorem 2)
};

/// f(x) >= 0 wherever all of `where` are >= 0. f is affine in the coefficients of P.
struct SosCondition {
  std::string name;  ///< e.g. "impact 1 slip+"
  std::size_t variables = 0;
  std::vector<Polynomial> per_coefficient;  ///< [monomials of P]
  Polynomial known;
  std::vector<Polynomial> where;  ///< linear, their products of two, others; the unit ball last
  /// (z, theta, v) as polynomials of x.
  std::array<Polynomial, 5> state;
  /// Weights of x: 2 of positions, 1 of velocities and durations. f starts with terms of `order`.
  std::array<int, kMostPolynomialVariables> weight{};
  int order = 2;
  int main_degree = 2;    ///< of the monomials whose squares are summed
  int factor_degree = 1;  ///< of those that multiply one of `where`

  /// f = sum_k where_k (basis' X_k basis) with where_0 = 1: the monomials of basis k.
  [[nodiscard]] std::vector<Monomial> basis(std::size_t k) const {
    return monomials(variables, 0, k == 0 ? main_degree : factor_degree);
  }
  /// f with the coefficients p of P.
  [[nodiscard]] Polynomial at(const std::vector<double>& p) const;
};

/// Monomials of P: degrees 1 to 3 in (z, theta, v), 55; and those of weight 2, 8.
std::vector<Monomial> monomials_of_p();
std::vector<Monomial> leading_monomials_of_p();

/// `setting` is usable.
std::vector<SosCondition> sos_conditions(const Setting& setting, SosTheorem theorem,
                                         const std::vector<Monomial>& of_p);

}  // namespace carom::stability
