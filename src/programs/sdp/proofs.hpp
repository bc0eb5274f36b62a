#pragma once

#include <optional>

#include "programs/sdp/blocks.hpp"

/// Proofs of infeasibility from an iterate, as exact as doubles allow: residuals of equalities and
/// eigenvalues are rounding errors, so that no program with a solution of size below 1e9
/// has such a proof. Matrices and objective must have size 1 (scaling.hpp).
namespace carom::sdp {

inline constexpr double kOverflowing = 1e9;  ///< entries of any proof or point, at most
inline constexpr double kRounding = 1e-14;   ///< of an eigenvalue, over the terms of its matrix

struct Proof {
  Numbers numbers;  ///< X with <C, X> = -1, or d with b'd = 1
  double residual;  ///< what is left: |<A_i, X>|, negative eigenvalues
};

/// X >= 0 with <A_i, X> = 0 and <C, X> < 0 near x: there is no y.
std::optional<Proof> infeasibility(const BlockForm& form, const Numbers& x);

/// d with b'd > 0 and -sum d_i A_i >= 0 near y, s_inverse being the inverse of C - sum y A: b'y has
/// no bound if there is a y at all.
std::optional<Proof> ascent(const BlockForm& form, const Numbers& y, const Numbers& s_inverse);

struct FreeAscent {
  Proof d;                               ///< b'd = 1, sum d_i A_i = 0 but for rounding
  std::vector<std::size_t> independent;  ///< variables whose A_i the others' are combinations of
};

/// b'y has no bound if there is a y at all.
std::optional<FreeAscent> free_ascent(const BlockForm& form);

}  // namespace carom::sdp
