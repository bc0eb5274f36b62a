#pragma once

#include <vector>

#include <carom/types/stability.hpp>

#include "stability/kernels/cascade.hpp"

/// Single stances on the host: modes of any number of contacts, and recorded motions.
namespace carom::stability {

std::vector<StanceMode> contact_modes(const Stance& stance);

/// The word of letters as indices, e.g. "PF".
std::string word_of_letters(const std::vector<int>& letters);

std::vector<StanceEvent> trajectory(const Stance& stance, const std::array<double, 3>& q,
                                    const std::array<double, 3>& v, std::int64_t events,
                                    std::uint64_t seed);

}  // namespace carom::stability
