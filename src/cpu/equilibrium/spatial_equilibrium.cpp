#include <algorithm>

#include "core/parallel.hpp"
#include "core/thread_scratch.hpp"
#include "cpu/equilibrium/support_driver.hpp"
#include "cpu/simd/dispatch.hpp"
#include "equilibrium/margin_derivative.hpp"
#include "equilibrium/spatial_contour.hpp"

namespace carom::cpu {

SupportResult drive_support(const SupportCode& code, const PostureBatch& batch,
                            std::span<const double> directions, const SpatialSettings& settings,
                            WorkspaceState* workspace) {
  const SupportRules rules = support_rules(settings);
  const std::size_t n = directions.size() / 2;
  auto result = allocate<SupportResult>({batch.problems, static_cast<int>(n), batch.contacts});
  const Scratch<ThreadScratch<SupportMemory>> memories(workspace);
  const auto memory_of_thread = [&]() -> SupportMemory& {
    SupportMemory& memory = memories->local();
    memory.fit(code, rules, settings, batch.contacts);
    make_room(memory.work, static_cast<long>(support_work(n)));
    return memory;
  };
  constexpr std::int64_t kBlock = kSupportLanes;
  const std::int64_t blocks = (batch.problems + kBlock - 1) / kBlock;
  const auto count = static_cast<std::int64_t>(n);
  // A pack of postures takes `count` turns, the arcs of one posture take one.
  if (code.postures != nullptr && count <= kernels::kSupportArcs &&
      blocks * count <= batch.problems) {
    parallel_for(blocks, 2, settings.threads, [&](std::int64_t begin, std::int64_t end) {
      SupportMemory& memory = memory_of_thread();
      for (std::int64_t block = begin; block < end; ++block) {
        const std::int64_t first = block * kBlock;
        const auto postures = static_cast<int>(std::min(kBlock, batch.problems - first));
        memory.prepared->run_postures(batch, directions, first, postures, result);
      }
    });
    return result;
  }
  parallel_for(batch.problems, 4, settings.threads, [&](std::int64_t begin, std::int64_t end) {
    SupportMemory& memory = memory_of_thread();
    for (std::int64_t p = begin; p < end; ++p) {
      memory.prepared->prepare(batch, p);
      support_of(*memory.prepared, directions, result, static_cast<std::size_t>(p) * n,
                 memory.work.data());
    }
  });
  return result;
}

SupportResult support(const PostureBatch& batch, std::span<const double> directions,
                      const SpatialSettings& settings, WorkspaceState* workspace) {
  return drive_support(simd::instruction_set().support, batch, directions, settings, workspace);
}

std::vector<SpatialRegion> spatial_equilibrium(const PostureBatch& batch,
                                               const SpatialSettings& settings,
                                               WorkspaceState* workspace) {
  const SupportCode& code = simd::instruction_set().support;
  const SupportRules rules = support_rules(settings);
  const std::vector<double> directions = spread_directions(settings.directions);
  std::vector<SpatialRegion> regions(static_cast<std::size_t>(batch.problems));
  const Scratch<ThreadScratch<ContourMemory>> memories(workspace);
  parallel_for(batch.problems, 1, settings.threads, [&](std::int64_t begin, std::int64_t end) {
    SpatialContour& contour = memories->local().fit(code, rules, settings, batch.contacts);
    for (std::int64_t p = begin; p < end; ++p) {
      contour.prepared().prepare(batch, p);
      contour.sweep(directions);
      regions[static_cast<std::size_t>(p)] = finish_region(contour);
    }
  });
  return regions;
}

std::vector<SpatialRegion> regions_from(const PostureBatch& batch,
                                        std::span<const double> directions,
                                        const SupportResult& first,
                                        const SpatialSettings& settings) {
  return carom::regions_from(simd::instruction_set().support, batch, directions, first, settings);
}

std::vector<Membership> probe_membership(const PostureBatch& batch,
                                         std::span<const double> centre_of_mass,
                                         const SpatialSettings& settings,
                                         WorkspaceState* workspace) {
  return memberships(simd::instruction_set().support, batch, centre_of_mass, settings, workspace);
}

MarginGradient differentiate_margins(const PostureBatch& batch,
                                     std::span<const double> centre_of_mass,
                                     const SpatialSettings& settings,
                                     const DerivativeSettings& derivative,
                                     const MarginWanted& wanted) {
  return margin_gradients(simd::instruction_set().support, batch, centre_of_mass, settings,
                          derivative, wanted);
}

template <>
const SpatialEntries& entries() {
  static constexpr SpatialEntries kEntries{support, spatial_equilibrium};
  return kEntries;
}

}  // namespace carom::cpu
