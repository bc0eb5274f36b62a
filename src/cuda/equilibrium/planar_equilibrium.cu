#include <limits>

#include "cuda/device_scratch.hpp"
#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "cuda/runtime.hpp"
#include "cuda/staging.hpp"
#include "equilibrium/kernels/planar_margin.hpp"
#include "equilibrium/planar_backends.hpp"
#include "equilibrium/planar_view.hpp"

namespace carom::cuda {

namespace {

/// Threads of a block: enough to hide latency, few enough for the registers of the polygon.
constexpr int kPlanarThreads = 128;

struct PlanarLaunch {
  kernels::PlanarView view;
  std::int64_t postures;
  double* work;  ///< strip_workspace rows of all threads of the grid, thread by thread
};

struct MarginLaunch {
  PlanarLaunch planar;
  const double* centre;
  PlanarMarginArrays<Pointer> margin;
};

/// Rows of one thread's workspace; neighbours in the grid are neighbours in memory.
CAROM_INLINE kernels::LaneMemory<double> thread_memory(const PlanarLaunch& launch) {
  return {launch.work + Grid::global_thread(), Grid::global_threads()};
}

/// A thread solves postures in turn, each under its nominal wrench and all vertices of W.
__global__ void __launch_bounds__(kPlanarThreads)
    solve_planar(const __grid_constant__ PlanarLaunch launch) {
  const kernels::PlanarView& view = launch.view;
  const kernels::LaneMemory<double> memory = thread_memory(launch);
  for (std::int64_t p = Grid::global_thread(); p < launch.postures; p += Grid::global_threads()) {
    const certificate::PlanarContacts contacts = view.posture(p);
    const bool usable = kernels::usable_contacts(contacts);
    if (usable) view.gather(p, [&](long row, double value) { memory.store(row, value); });
    for (int which = 0; which <= view.vertices; ++which) {
      const double* wrench = view.wrench_of(p, which);
      kernels::StripRecord record = kernels::refused_strip();
      const kernels::ForceFrame frame = kernels::force_frame(wrench);
      if (usable && kernels::usable_wrench(wrench, frame)) {
        kernels::PlanarStripBody<double> body(memory, view.contacts, view.patches());
        record = kernels::strip_record(contacts, view.patches(), wrench, frame,
                                       body.run(frame.x, frame.y), view.tolerance);
      }
      if (which == 0) {
        view.write(p, record);
      } else {
        view.write_strip(p, which - 1, record);
      }
    }
    if (view.vertices > 0) view.finish_robust(p);
  }
}

__global__ void __launch_bounds__(kPlanarThreads)
    planar_margin_kernel(const __grid_constant__ MarginLaunch launch) {
  const kernels::PlanarMarginBody body(launch.planar.view, thread_memory(launch.planar));
  for (std::int64_t p = Grid::global_thread(); p < launch.planar.postures;
       p += Grid::global_threads()) {
    body.run(p, launch.centre[2 * p], launch.centre[2 * p + 1]).write(launch.margin, p);
  }
}

/// Blocks that a launch gets, with the workspace of their threads.
std::int64_t bind_work(Staging& staging, const PostureBatch& batch, const void* kernel,
                       PlanarLaunch& launch) {
  const long rows = kernels::strip_workspace(launch.view.contacts, launch.view.patches());
  const auto block = static_cast<std::int64_t>(rows * kPlanarThreads * sizeof(double));
  const std::int64_t resident = resident_blocks(kernel, kPlanarThreads, 0, device_limits());
  const std::int64_t blocks =
      std::min({resident, (batch.problems + kPlanarThreads - 1) / kPlanarThreads,
                std::max<std::int64_t>(1, static_cast<std::int64_t>(kWorkBytes) / block)});
  staging.memory(launch.work, blocks * kPlanarThreads * rows);
  return blocks;
}

std::int64_t blocks_for(std::int64_t most, std::int64_t postures) {
  return std::min(most, (postures + kPlanarThreads - 1) / kPlanarThreads);
}

}  // namespace

PlanarResult planar_equilibrium(const PostureBatch& batch, const PlanarSettings& settings,
                                WorkspaceState* workspace) {
  auto result = allocate<PlanarResult>(batch, batch.position.space());
  if (batch.problems == 0) return result;
  const DeviceScratch<> scratch(workspace);
  const Stream& stream = scratch->stream;
  Staging staging(stream, batch.problems, &scratch->staging);
  PlanarLaunch launch{planar_inputs(batch, settings), 0, nullptr};
  const std::int64_t most =
      bind_work(staging, batch, reinterpret_cast<const void*>(&solve_planar), launch);
  staging.inputs(launch.view, batch, batch);
  staging.results(launch.view.result, result, batch);
  staging.run([&](std::int64_t, std::int64_t count) {
    launch.postures = count;
    launch_kernel("solve_planar", solve_planar, {blocks_for(most, count), kPlanarThreads},
                  stream.get(), launch);
  });
  return result;
}

PlanarMargin planar_margins(const PostureBatch& batch, const Buffer<double>& centre_of_mass,
                            const PlanarSettings& settings, WorkspaceState* workspace) {
  auto margin = allocate<PlanarMargin>(batch, batch.position.space());
  if (batch.problems == 0) return margin;
  const DeviceScratch<> scratch(workspace);
  const Stream& stream = scratch->stream;
  Staging staging(stream, batch.problems, &scratch->staging);
  MarginLaunch launch{};
  launch.planar.view = planar_inputs(batch, settings);
  const std::int64_t most = bind_work(
      staging, batch, reinterpret_cast<const void*>(&planar_margin_kernel), launch.planar);
  staging.inputs(launch.planar.view, batch, batch);
  staging.input(launch.centre, centre_of_mass, 2);
  staging.results(launch.margin, margin, batch);
  staging.run([&](std::int64_t, std::int64_t count) {
    launch.planar.postures = count;
    launch_kernel("planar_margin_kernel", planar_margin_kernel,
                  {blocks_for(most, count), kPlanarThreads}, stream.get(), launch);
  });
  return margin;
}

}  // namespace carom::cuda
