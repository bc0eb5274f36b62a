#pragma once

#include <optional>

#include <carom/types/sdp.hpp>

namespace carom::sdp {

/// The program without the rows that are zero in every X: an equation <A_i, X> = 0 whose A_i has
/// nonnegative numbers on the diagonal and nothing else, on the rows that are left, makes the
/// rows with positive numbers zero. The dual stays the same; C - sum y A only has to be
/// semidefinite on the rows that are left, which is enough for the least upper bound of b'y if
/// it is finite. None if there are no such rows, or if no row is left.
std::optional<SdpProblem> without_zero_rows(const SdpProblem& problem);

}  // namespace carom::sdp
