#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <carom/types/stability.hpp>

#include "core/workspace.hpp"
#include "stability/kernels/cascade.hpp"

/// Converts stances to the kernels' form, on the host, so that all backends have the same sines.
namespace carom::stability {

/// Errors: InvalidInput where the stances differ in their number of contacts.
StanceBatch batch_of(std::span<const Stance> stances);

/// Stance `problem` of a batch on the host, without a name.
Stance stance_at(const StanceBatch& batch, std::int64_t problem);

struct PreparedStances : StanceSizes, kernels::stability::StanceFormArrays<Buffer> {};

/// `batch` lives on the host.
PreparedStances prepare(const StanceBatch& batch);
/// Into arrays that grow where they lack room.
void prepare(const StanceBatch& batch, int threads, PreparedStances& to);

/// What a call leaves to the next.
struct StanceBlock : ScratchBlock {
  PreparedStances prepared;
};

/// One stance; `accepted` of the result is 0 where a number is refused.
PreparedStances prepare(const Stance& stance);

/// The form of a stance on two contacts.
kernels::stability::StanceForm form_of(const Stance& stance);

kernels::stability::CascadeSettings cascade_settings(const StabilitySettings& settings);

}  // namespace carom::stability
