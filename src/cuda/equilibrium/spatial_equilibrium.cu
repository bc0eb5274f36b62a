#include <algorithm>
#include <limits>

#include "core/pointers.hpp"
#include "cuda/device_scratch.hpp"
#include "cuda/lanes.cuh"
#include "cuda/launch.cuh"
#include "cuda/runtime.hpp"
#include "cuda/staging.hpp"
#include "equilibrium/kernels/support_sweep.hpp"
#include "equilibrium/kernels/support_verdict.hpp"
#include "equilibrium/spatial_backends.hpp"

// A thread takes one arc of one posture's directions, so that the eight arcs of four postures make
// a warp: every thread runs the simplex body on its own basis in registers, and neighbours read the
// same contacts.
namespace carom::cuda {

namespace {

struct SupportLaunch : PostureBatchArrays<ConstPointer>, SupportArrays<Pointer> {
  kernels::ConeRule rule[2];  ///< of points, of half-planes
  bool two;
  int problems;
  int contacts;
  int directions;
  int max_pivots;
  double slack_tolerance;
  double tolerance;
  const double* direction;
  kernels::SupportPosture* prepared;  ///< [rules, problems]
  kernels::SupportContact* contact;   ///< [rules, problems, k]
  double* scratch;                    ///< [threads, 3 k]
  double* state;                      ///< [rules, problems, n]
  double* taken;                      ///< [rules, problems, n], pivots
};

CAROM_INLINE kernels::PostureView view_of(const SupportLaunch& launch, int p) {
  const long k = launch.contacts;
  return {launch.contacts, launch.position + 3 * k * p, launch.normal + 3 * k * p,
          launch.friction + k * p};
}

__global__ void prepare_postures(const __grid_constant__ SupportLaunch launch) {
  const int rules = launch.two ? 2 : 1;
  for (int job = Grid::global_thread(); job < rules * launch.problems;
       job += Grid::global_threads()) {
    const int rule = job / launch.problems;
    const int p = job % launch.problems;
    const kernels::PostureView view = view_of(launch, p);
    kernels::SupportPosture& prepared = launch.prepared[job];
    kernels::SupportContact* contact = launch.contact + static_cast<long>(job) * view.contacts;
    kernels::prepare_support(view.contacts, view.position, view.normal, view.friction,
                             launch.wrench + 6L * p, launch.rule[rule], launch.slack_tolerance,
                             launch.max_pivots, prepared, contact);
    kernels::SupportAnswer<double> answer;
    if (prepared.status == Status::infeasible &&
        !kernels::prove_infeasible(view, prepared, contact, launch.rule[rule],
                                   launch.slack_tolerance, answer)) {
      prepared.status = Status::numerical_error;
    }
  }
}

__global__ void __launch_bounds__(128)
    sweep_postures(const __grid_constant__ SupportLaunch launch, int rule) {
  const int k = launch.contacts;
  const long n = launch.directions;
  const long jobs = static_cast<long>(launch.problems) * kernels::kSupportArcs;
  for (long at = Grid::global_thread(); at < jobs; at += Grid::global_threads()) {
    const int p = static_cast<int>(at / kernels::kSupportArcs);
    const long set_up = static_cast<long>(rule) * launch.problems + p;
    if (launch.prepared[set_up].status != Status::solved) continue;
    kernels::ProbeJob job{};
    job.view = view_of(launch, p);
    job.prepared = launch.prepared + set_up;
    job.contact = launch.contact + set_up * k;
    job.rule = &launch.rule[rule];
    job.tolerance = launch.slack_tolerance;
    job.max_pivots = launch.max_pivots;
    job.count = launch.directions;
    job.direction = launch.direction;
    job.state = launch.state + set_up * n;
    job.pivots = launch.taken + set_up * n;
    if (rule == 0) {
      job.lower = launch.lower + p * n;
      job.point = launch.point + 2 * p * n;
      job.forces = launch.forces + 3 * k * p * n;
      job.residual = launch.residual + p * n;
    }
    if (rule == 1 || !launch.two) {
      job.upper = launch.upper + p * n;
      job.dual = launch.dual + 6 * p * n;
      job.slack = launch.slack + p * n;
    }
    job.scratch = launch.scratch + static_cast<long>(Grid::global_thread()) * 3 * k;
    kernels::sweep_arcs<double>(job, static_cast<int>(at % kernels::kSupportArcs));
  }
}

__global__ void judge_supports(const __grid_constant__ SupportLaunch launch) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const long n = launch.directions;
  const long all = n * launch.problems;
  const int k = launch.contacts;
  for (long at = Grid::global_thread(); at < all; at += Grid::global_threads()) {
    const int p = static_cast<int>(at / n);
    const int other = launch.two ? launch.problems + p : p;
    const kernels::SupportPosture& inner = launch.prepared[p];
    const kernels::SupportPosture& outer = launch.prepared[other];
    const long second = launch.two ? all + at : at;
    Status status = outer.status;
    launch.pivots[at] = 0;
    if (inner.status == Status::solved && outer.status == Status::solved) {
      status = kernels::support_status(
          {inner.status, outer.status, launch.state[at], launch.state[second], launch.residual[at],
           launch.slack[at], launch.lower[at], launch.upper[at]},
          launch.two, inner.length, launch.tolerance);
      launch.pivots[at] =
          static_cast<std::int32_t>(launch.taken[at] + (launch.two ? launch.taken[second] : 0.0));
    } else if (outer.status == Status::solved) {
      status = inner.status == Status::infeasible ? Status::inaccurate : inner.status;
    }
    launch.status[at] = status;
    const bool known = status == Status::solved || status == Status::inaccurate;
    if (!(known && inner.status == Status::solved)) {
      launch.lower[at] = kNan;
      launch.point[2 * at] = launch.point[2 * at + 1] = kNan;
      if (status != Status::unbounded) {
        launch.residual[at] = kNan;
        for (int c = 0; c < 3 * k; ++c) launch.forces[3 * k * at + c] = kNan;
      }
    }
    if (!(known && outer.status == Status::solved)) {
      launch.upper[at] = launch.slack[at] = kNan;
      kernels::SupportAnswer<double> answer;
      const bool empty = outer.status == Status::infeasible &&
                         kernels::prove_infeasible(view_of(launch, p), outer,
                                                   launch.contact + static_cast<long>(other) * k,
                                                   launch.rule[launch.two ? 1 : 0],
                                                   launch.slack_tolerance, answer);
      for (int j = 0; j < 6; ++j) launch.dual[6 * at + j] = empty ? answer.dual[j] : kNan;
    }
  }
}

struct SupportBlock : DeviceBlock {
  using DeviceBlock::DeviceBlock;
  DeviceArray<double> direction;
};

}  // namespace

SupportResult support(const PostureBatch& batch, std::span<const double> directions,
                      const SpatialSettings& settings, WorkspaceState* workspace) {
  constexpr int kThreads = 128;
  const int n = static_cast<int>(directions.size() / 2);
  const int k = batch.contacts;
  const SupportSizes sizes{batch.problems, n, k};
  auto result = allocate<SupportResult>(sizes, batch.position.space());
  if (batch.problems == 0) return result;
  const SupportRules rules = support_rules(settings);
  const int sets = rules.two ? 2 : 1;
  const DeviceScratch<SupportBlock> scratch(workspace);
  const Stream& stream = scratch->stream;
  const DeviceLimits limits = device_limits();
  SupportLaunch launch{};
  launch.rule[0] = rules.inner;
  launch.rule[1] = rules.outer;
  launch.two = rules.two;
  launch.contacts = k;
  launch.directions = n;
  launch.max_pivots = support_pivots(settings, k);
  launch.slack_tolerance = slack_tolerance(settings);
  launch.tolerance = settings.tolerance;
  Staging staging(stream, batch.problems, &scratch->staging);
  launch.direction = scratch->direction.upload(directions.data(), directions.size(), stream.get());
  // Of the three kernels the one with the most threads a posture.
  const std::int64_t most = std::min<std::int64_t>(
      resident_blocks(reinterpret_cast<const void*>(&sweep_postures), kThreads, 0, limits),
      (batch.problems * std::max(kernels::kSupportArcs, n) + kThreads - 1) / kThreads);
  staging.memory(launch.scratch, most * kThreads * 3 * k);
  staging.scratch(launch.prepared, sets);
  staging.scratch(launch.contact, sets * k);
  staging.scratch(launch.state, sets * n);
  staging.scratch(launch.taken, sets * n);
  staging.inputs(launch, batch, batch);
  staging.results(launch, result, sizes);
  staging.run([&](std::int64_t, std::int64_t count) {
    launch.problems = static_cast<int>(count);
    const auto size = [&](std::int64_t threads) {
      return GridSize{std::clamp<std::int64_t>((threads + kThreads - 1) / kThreads, 1, most),
                      kThreads};
    };
    launch_kernel("prepare_postures", prepare_postures, size(count * sets), stream.get(), launch);
    for (int rule = 0; rule < sets; ++rule) {
      launch_kernel("sweep_postures", sweep_postures, size(count * kernels::kSupportArcs),
                    stream.get(), launch, rule);
    }
    launch_kernel("judge_supports", judge_supports, size(count * n), stream.get(), launch);
  });
  return result;
}

}  // namespace carom::cuda
