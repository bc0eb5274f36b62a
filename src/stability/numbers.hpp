#pragma once

#include <cstdint>

#include <carom/types/error.hpp>
#include <carom/types/stability.hpp>

/// Checks of the numbers of a stance.
namespace carom::stability {

/// What is refused of stance `problem`, without the problem itself; an empty field where nothing
/// is. batch: on the host.
Refusal refused(const StanceBatch& batch, std::int64_t problem);

}  // namespace carom::stability
