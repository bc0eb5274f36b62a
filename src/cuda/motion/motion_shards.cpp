#include "cuda/motion/motion_shards.hpp"

#include <algorithm>

#include "core/arrays.hpp"
#include "cuda/devices.hpp"
#include "cuda/shard_rows.hpp"
#include "motion/backends.hpp"
#include "motion/prepare.hpp"

namespace carom::cuda {

MotionResult motions_divided(const MotionBatch& batch, const MotionSettings& settings,
                             WorkspaceState* workspace) {
  const auto devices = static_cast<std::int64_t>(chosen_devices().size());
  const bool here = batch.parameters.space() == MemorySpace::device;
  const bool by_problems = batch.problems >= devices;
  const std::int64_t items = by_problems ? batch.problems : settings.samples;
  if (devices < 2 || here || batch.problems == 0 || items < 2) {
    return on_first([&] { return cuda::simulate_motions(batch, settings, workspace); });
  }
  MotionResult whole = motion::empty_result(batch, settings);
  on_each_device(items, workspace, [&](const Share& share, WorkspaceState* kept) {
    MotionSettings own = settings;
    if (by_problems) {
      own.first_problem += share.begin;
      place_rows(whole, share.begin, 0,
                 cuda::simulate_motions(arrays::slice(batch, share.begin, share.end), own, kept));
      return;
    }
    own.first_sample += share.begin;
    own.samples = share.end - share.begin;
    own.keep_samples =
        std::clamp<std::int64_t>(settings.keep_samples - share.begin, 0, own.samples);
    place_rows(whole, 0, share.begin, cuda::simulate_motions(batch, own, kept));
  });
  return whole;
}

}  // namespace carom::cuda
