#include <limits>

#include <carom/kernels/planar_margin_body.hpp>

#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "cuda/runtime.hpp"
#include "cuda/solver_batch.hpp"
#include "equilibrium_planar_backends.hpp"
#include "planar_view.hpp"

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
  Status* status;
  double* distance;
  double* robust_distance;
  double* scale;
  std::int32_t* limiting;
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
    const kernels::MarginRecord margin =
        body.run(p, launch.centre[2 * p], launch.centre[2 * p + 1]);
    launch.status[p] = margin.status;
    launch.distance[p] = margin.distance;
    launch.robust_distance[p] = margin.robust_distance;
    launch.scale[p] = margin.scale;
    launch.limiting[p] = margin.limiting;
  }
}

/// Inputs of a batch, piece by piece on the device.
class PlanarInputs {
 public:
  explicit PlanarInputs(const PostureBatch& batch)
      : position_(batch.position, 2L * batch.contacts),
        normal_(batch.normal, 2L * batch.contacts),
        friction_(batch.friction, batch.contacts),
        length_(batch.length, batch.contacts),
        wrench_(batch.wrench, 3),
        vertices_(batch.wrench_vertices, 3L * batch.vertices),
        patches_(!batch.length.empty()),
        robust_(batch.vertices > 0) {}

  void bring(kernels::PlanarView& view, std::int64_t first, std::int64_t count,
             cudaStream_t stream) {
    view.position = position_.piece(first, count, stream);
    view.normal = normal_.piece(first, count, stream);
    view.friction = friction_.piece(first, count, stream);
    view.length = patches_ ? length_.piece(first, count, stream) : nullptr;
    view.wrench = wrench_.piece(first, count, stream);
    view.wrench_vertices = robust_ ? vertices_.piece(first, count, stream) : nullptr;
  }

 private:
  Input position_, normal_, friction_, length_, wrench_, vertices_;
  bool patches_, robust_;
};

/// Blocks that a launch gets and the workspace of their threads.
class PlanarGrid {
 public:
  PlanarGrid(const void* kernel, const kernels::PlanarView& view) {
    const DeviceLimits limits = device_limits();
    const auto rows =
        static_cast<std::size_t>(kernels::strip_workspace(view.contacts, view.patches()));
    const std::size_t block = rows * kPlanarThreads * sizeof(double);
    blocks_ = static_cast<unsigned>(std::clamp<std::size_t>(
        kWorkBytes / block, 1,
        static_cast<std::size_t>(resident_blocks(kernel, kPlanarThreads, 0, limits))));
    work_.reserve(rows * kPlanarThreads * blocks_);
  }
  [[nodiscard]] unsigned blocks(std::int64_t count) const {
    return static_cast<unsigned>(
        std::min<std::int64_t>(blocks_, (count + kPlanarThreads - 1) / kPlanarThreads));
  }
  [[nodiscard]] double* work() const { return work_.data(); }

 private:
  unsigned blocks_ = 1;
  DeviceArray<double> work_;
};

std::size_t bytes_of(const PostureBatch& batch) {
  const auto k = static_cast<std::size_t>(batch.contacts);
  const auto m = static_cast<std::size_t>(batch.vertices);
  return (12 * k + 20 + 11 * m) * sizeof(double);
}

}  // namespace

PlanarResult planar_equilibrium(const PostureBatch& batch, const PlanarSettings& settings) {
  const MemorySpace space = batch.position.space();
  PlanarResult result = planar_result(batch, space);
  if (batch.problems == 0) return result;
  const Stream stream;
  PlanarLaunch launch{planar_inputs(batch, settings), 0, nullptr};
  const PlanarGrid grid(reinterpret_cast<const void*>(&solve_planar), launch.view);
  launch.work = grid.work();
  PlanarInputs inputs(batch);
  const std::int64_t k = batch.contacts;
  const std::int64_t m = batch.vertices;
  Output<Status> status(result.status, 1);
  Output<double> torque_min(result.torque_min, 1);
  Output<double> torque_max(result.torque_max, 1);
  Output<double> normal(result.normal, 2);
  Output<double> lower(result.lower, 1);
  Output<double> upper(result.upper, 1);
  Output<double> force(result.force, 4 * k);
  Output<double> torque(result.torque, 2 * k);
  Output<double> height(result.height, 2);
  Output<double> separation(result.separation, 2);
  Output<std::int32_t> essential(result.essential, 4);
  Output<double> residual(result.residual, 1);
  Output<Status> robust_status(result.robust_status, 1);
  Output<double> robust_strip(result.robust_strip, 4 * m);
  Output<double> robust_residual(result.robust_residual, 1);
  Output<std::int32_t> robust_count(result.robust_count, 1);
  Output<double> robust_polygon(result.robust_polygon, 4 * m);
  const std::int64_t piece = piece_size(batch.problems, space, bytes_of(batch));
  for (std::int64_t first = 0; first < batch.problems; first += piece) {
    const std::int64_t count = std::min(piece, batch.problems - first);
    kernels::PlanarView& view = launch.view;
    launch.postures = count;
    inputs.bring(view, first, count, stream.get());
    view.status = status.piece(first, count);
    view.torque_min = torque_min.piece(first, count);
    view.torque_max = torque_max.piece(first, count);
    view.normal_out = normal.piece(first, count);
    view.lower = lower.piece(first, count);
    view.upper = upper.piece(first, count);
    view.force = force.piece(first, count);
    view.torque = torque.piece(first, count);
    view.height = height.piece(first, count);
    view.separation = separation.piece(first, count);
    view.essential = essential.piece(first, count);
    view.residual = residual.piece(first, count);
    if (m > 0) {
      view.robust_status = robust_status.piece(first, count);
      view.robust_strip = robust_strip.piece(first, count);
      view.robust_residual = robust_residual.piece(first, count);
      view.robust_count = robust_count.piece(first, count);
      view.robust_polygon = robust_polygon.piece(first, count);
    }
    launch_kernel("solve_planar", solve_planar, {grid.blocks(count), kPlanarThreads}, stream.get(),
                  launch);
    const auto finish = [&](auto&... outputs) {
      (outputs.finish(first, count, stream.get()), ...);
    };
    finish(status, torque_min, torque_max, normal, lower, upper, force, torque, height, separation,
           essential, residual);
    if (m > 0) finish(robust_status, robust_strip, robust_residual, robust_count, robust_polygon);
    stream.synchronize();
  }
  return result;
}

PlanarMargin planar_margins(const PostureBatch& batch, const Buffer<double>& centre_of_mass,
                            const PlanarSettings& settings) {
  const MemorySpace space = batch.position.space();
  PlanarMargin margin = planar_margin(batch, space);
  if (batch.problems == 0) return margin;
  const Stream stream;
  MarginLaunch launch{};
  launch.planar.view = planar_inputs(batch, settings);
  const PlanarGrid grid(reinterpret_cast<const void*>(&planar_margin_kernel), launch.planar.view);
  launch.planar.work = grid.work();
  PlanarInputs inputs(batch);
  Input centre(centre_of_mass, 2);
  Output<Status> status(margin.status, 1);
  Output<double> distance(margin.distance, 1);
  Output<double> robust_distance(margin.robust_distance, 1);
  Output<double> scale(margin.scale, 1);
  Output<std::int32_t> limiting(margin.limiting_vertex, 1);
  const std::int64_t piece = piece_size(batch.problems, space, bytes_of(batch));
  for (std::int64_t first = 0; first < batch.problems; first += piece) {
    const std::int64_t count = std::min(piece, batch.problems - first);
    launch.planar.postures = count;
    inputs.bring(launch.planar.view, first, count, stream.get());
    launch.centre = centre.piece(first, count, stream.get());
    launch.status = status.piece(first, count);
    launch.distance = distance.piece(first, count);
    launch.robust_distance = robust_distance.piece(first, count);
    launch.scale = scale.piece(first, count);
    launch.limiting = limiting.piece(first, count);
    launch_kernel("planar_margin_kernel", planar_margin_kernel,
                  {grid.blocks(count), kPlanarThreads}, stream.get(), launch);
    status.finish(first, count, stream.get());
    distance.finish(first, count, stream.get());
    robust_distance.finish(first, count, stream.get());
    scale.finish(first, count, stream.get());
    limiting.finish(first, count, stream.get());
    stream.synchronize();
  }
  return margin;
}

}  // namespace carom::cuda
