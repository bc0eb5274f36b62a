#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <carom/types/stability.hpp>

/// Verifies proofs from a stance's numbers, with code that shares nothing with the search.
namespace carom::exact {

/// V = V1 + (zeta + kappa) c.q + s (c.v)^2 / 2 proves that the stance is stable.
bool paper_function_proves(const Stance& stance, double s, double kappa);

/// The labelled functions of these numbers (StabilityResult::coefficients) do. What their
/// equalities leave no choice of is taken from them, not from the numbers.
bool labelled_functions_prove(const Stance& stance, const std::array<double, 24>& numbers);
/// Whether intervals of doubles suffice to show that: in a tenth of the time.
bool labelled_functions_prove_plainly(const Stance& stance, const std::array<double, 24>& numbers);

/// `word` is no rest, some velocity moves so, and at rest it is consistent with strict margins,
/// while forces hold the body.
bool is_ambiguous_by(const Stance& stance, const std::string& word);

/// Forces within their cones certainly hold the body at rest; certainly none do.
bool is_held(const Stance& stance);
bool is_never_held(const Stance& stance);

/// Largest growth of the motion from (q, v) within `events` events, simulated anew with 60 digits;
/// where several modes or orders of impacts are possible, of four ways to choose. 1e300 where a
/// mode goes on for ever, 0 where none is possible.
double replayed_growth(const Stance& stance, const std::array<double, 6>& start,
                       std::int64_t events);

}  // namespace carom::exact
