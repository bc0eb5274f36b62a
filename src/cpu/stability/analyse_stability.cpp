#include "core/arrays.hpp"
#include "core/parallel.hpp"
#include "stability/backends.hpp"
#include "stability/certify.hpp"
#include "stability/kernels/cascade.hpp"
#include "stability/prepare.hpp"

namespace carom::cpu {

namespace {

constexpr std::int64_t kStancesAtOnce =
    64;  // stances that need simulation stand side by side in charts

}  // namespace

StabilityResult analyse_stability(const StanceBatch& batch, const StabilitySettings& settings,
                                  WorkspaceState* workspace) {
  auto result = allocate<StabilityResult>(batch);
  const Scratch<stability::StanceBlock> scratch(workspace);
  stability::PreparedStances& prepared = scratch->prepared;
  stability::prepare(batch, settings.threads, prepared);
  kernels::stability::StabilityView view{};
  arrays::bind(view, prepared);
  arrays::bind(view, result);
  view.settings = stability::cascade_settings(settings);
  parallel_for(batch.problems, kStancesAtOnce, settings.threads,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t p = begin; p < end; ++p)
                   view.solve(p, static_cast<std::uint32_t>(p));
               });
  stability::certify_undecided(batch, prepared, settings, result);
  return result;
}

template <>
const StabilityEntries& entries() {
  static constexpr StabilityEntries kEntries{analyse_stability};
  return kEntries;
}

}  // namespace carom::cpu
