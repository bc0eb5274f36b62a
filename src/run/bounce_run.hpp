#pragma once

#include <optional>
#include <vector>

#include <carom/impact_bounces.hpp>

#include "run/impact_runner.hpp"

namespace carom::run {

/// Options of other impact models with restitution, run at the midpoints of a problem's intervals.
struct BounceRequest {
  bool sequential = false;  ///< all orders, as of ComparedModels
  std::vector<BounceRounds> rounds;
  std::optional<CompliantContacts> springs;
};

/// Their outcomes, how far they are from the sampled set, and from what was measured.
/// request: with which the run was made. Errors: InvalidInput, also of what a model does not take.
void add_bounces(const ImpactRequest& request, const BounceRequest& asked, ImpactRun& run);

}  // namespace carom::run
