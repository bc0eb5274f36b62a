#include "cuda/impact/problem_store.hpp"

#include <algorithm>

#include "core/arrays.hpp"
#include "cuda/impact/problem_kernels.cuh"
#include "cuda/launch.cuh"
#include "impact/backends.hpp"

namespace carom::cuda {

namespace {

/// What is wrong with one problem of a device batch, in the words of the host.
[[noreturn]] void refuse(const ImpactBatch& batch, std::int64_t problem) {
  const ImpactBatch one = arrays::slice(batch, problem, problem + 1).to(MemorySpace::host);
  Refusal refused = problem_refusal(one, 0).value_or(
      Refusal{.field = "mass_matrix", .rule = "must be positive definite"});
  refused.problem = problem;
  throw InvalidInput(std::move(refused));
}

}  // namespace

ProblemArrays ProblemStore::arrays(TableBreadth breadth) const {
  ProblemArrays arrays = arrays_;
  const DeviceTables& tables = breadth == TableBreadth::wide ? wide_ : narrow_;
  if (tables.reals == 0) return arrays;
  arrays.tables = tables.slots.data();
  arrays.table_numbers = tables.numbers.data();
  arrays.table_first = tables.first.data();
  arrays.table_reals = tables.reals;
  arrays.table_ints = tables.ints;
  return arrays;
}

void ProblemStore::DeviceTables::upload(const PackedTables& tables, cudaStream_t stream) {
  slots.upload(tables.slots.data(), tables.slots.size(), stream);
  numbers.upload(tables.numbers.data(), tables.numbers.size(), stream);
  first.upload(tables.first.data(), tables.first.size(), stream);
  reals = tables.reals;
  ints = tables.ints;
}

void ProblemStore::take(const HostProblems& piece, cudaStream_t stream) {
  const ImpactBatch& batch = piece.batch();
  const PreparedImpacts& prepared = piece.prepared();
  const auto problems = static_cast<std::size_t>(batch.problems);
  const auto nv = static_cast<std::size_t>(batch.velocities);
  const auto m = static_cast<std::size_t>(batch.contacts);
  const auto rows = static_cast<std::size_t>(batch.contact_rows());
  valid_ = prepared.valid();
  stores_ = piece.stores();
  const kernels::ImpactProblemView first = prepared.view(0);
  arrays_ = ProblemArrays{};
  arrays_.first = piece.first();
  arrays_.mass = mass_.upload(first.mass, problems * nv * nv, stream);
  arrays_.jacobian = jacobian_.upload(first.jacobian, problems * rows * nv, stream);
  arrays_.response = response_.upload(first.response, problems * nv * rows, stream);
  arrays_.delassus = delassus_.upload(first.delassus, problems * rows * rows, stream);
  arrays_.scale = scale_.upload(first.scale, problems * m, stream);
  arrays_.friction = friction_.upload(first.friction, problems * m, stream);
  arrays_.velocity = velocity_.upload(first.velocity, problems * nv, stream);
  arrays_.contact_velocity =
      contact_velocity_.upload(first.contact_velocity, problems * rows, stream);
  arrays_.energy = energy_.upload(prepared.energy().data(), problems, stream);
  arrays_.step_size = step_size_.upload(prepared.step_size().data(), problems, stream);
  facts_.resize(problems);
  for (std::size_t p = 0; p < problems; ++p) {
    facts_[p] = {prepared.step_size()[p], prepared.contact_speed()[p]};
  }
  arrays_.closing_impulse = closing_.upload(prepared.closing_impulse().data(), problems, stream);
  take_intervals(batch, stream);
  take(piece.tables(), stream);
  // The piece may end here.
  cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

/// Of a batch in either memory space, whose friction lies on the device.
void ProblemStore::take_intervals(const ImpactBatch& batch, cudaStream_t stream) {
  if (!has_stores(batch)) return;
  const auto size =
      static_cast<std::size_t>(batch.problems) * static_cast<std::size_t>(batch.contacts);
  const auto place = [&](DeviceArray<double>& to, const Buffer<double>& from) -> const double* {
    if (!from.empty() && from.space() == MemorySpace::device) return from.data();
    if (!from.empty()) return to.upload(from.data(), size, stream);
    double* const zeros = to.reserve(size);
    cuda::check(cudaMemsetAsync(zeros, 0, size * sizeof(double), stream), "cudaMemsetAsync");
    return zeros;
  };
  arrays_.restitution_low = place(restitution_low_, batch.restitution_low);
  arrays_.restitution_high = place(restitution_high_, batch.restitution_high);
  arrays_.friction_high =
      batch.friction_high.empty() ? arrays_.friction : place(friction_high_, batch.friction_high);
}

void ProblemStore::take(const BreadthTables& tables, cudaStream_t stream) {
  narrow_.upload(tables.narrow, stream);
  wide_.upload(tables.wide, stream);
}

void ProblemStore::factorise(int nv, int rows, int problems, const LibraryHandles& handles) {
  // The libraries see a row-major matrix as its transpose: their upper triangle is M's lower one,
  // and J, [rows, nv], is the right-hand side J' of M X = J'.
  constexpr int kBatch = 32768;
  const double one = 1.0;
  const double zero = 0.0;
  for (int first = 0; first < problems; first += kBatch) {
    const int count = std::min(kBatch, problems - first);
    double** factors = factor_pointers_.data() + first;
    double** solutions = solution_pointers_.data() + first;
    check(libraries().cusolverDnDpotrfBatched(handles.solver(), CUBLAS_FILL_MODE_UPPER, nv, factors,
                                              nv, info_.data() + first, count),
          "cusolverDnDpotrfBatched");
    if (rows == 0) continue;
    for (const cublasOperation_t side : {CUBLAS_OP_T, CUBLAS_OP_N}) {
      check(libraries().cublasDtrsmBatched(handles.blas(), CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER,
                                           side, CUBLAS_DIAG_NON_UNIT, nv, rows, &one, factors, nv,
                                           solutions, nv, count),
            "cublasDtrsmBatched");
    }
    const long long jacobian_stride = static_cast<long long>(rows) * nv;
    check(libraries().cublasDgemmStridedBatched(
              handles.blas(), CUBLAS_OP_T, CUBLAS_OP_N, rows, rows, nv, &one,
              jacobian_.data() + first * jacobian_stride, nv, jacobian_stride,
              solution_.data() + first * jacobian_stride, nv, jacobian_stride, &zero,
              product_.data() + static_cast<long long>(first) * rows * rows, rows,
              static_cast<long long>(rows) * rows, count),
          "cublasDgemmStridedBatched");
  }
}

void ProblemStore::screen(const ImpactBatch& whole, const ImpactSettings& settings,
                          const kernels::ImpactRun& run, std::int64_t begin, std::int64_t end,
                          cudaStream_t stream) {
  const ImpactBatch batch = arrays::slice(whole, begin, end);
  const auto problems = static_cast<std::size_t>(batch.problems);
  const auto nv = static_cast<std::size_t>(batch.velocities);
  const auto m = static_cast<std::size_t>(batch.contacts);
  const auto rows = static_cast<std::size_t>(batch.contact_rows());
  ImpactBatch::each_array(
      batch,
      [](const char*, const Extents&, const auto& values) {
        if (!values.empty()) require_current_device(values.data());
      },
      batch);
  PrepareLaunch launch{};
  launch.problems = static_cast<int>(problems);
  launch.nv = batch.velocities;
  launch.m = batch.contacts;
  launch.polygon = run.polygon;
  launch.step_size = settings.step_size;
  launch.velocity_tolerance = settings.velocity_tolerance;
  launch.epsilon = settings.epsilon;
  const ImpactSettings part = part_of(settings, begin, end);
  if (!part.problem_epsilon.empty()) {
    launch.problem_epsilon = epsilon_.upload(part.problem_epsilon.data(), problems, stream);
  }
  arrays::bind(launch, batch);
  launch.jacobian = jacobian_.reserve(problems * rows * nv);
  launch.response = response_.reserve(problems * nv * rows);
  launch.delassus = delassus_.reserve(problems * rows * rows);
  launch.scale = scale_.reserve(problems * m);
  launch.contact_velocity = contact_velocity_.reserve(problems * rows);
  launch.energy = energy_.reserve(problems);
  launch.step_sizes = step_size_.reserve(problems);
  launch.contact_speed = contact_speed_.reserve(problems);
  launch.closing_impulse = closing_.reserve(problems);
  launch.factor = factor_.reserve(problems * nv * nv);
  launch.solution = solution_.reserve(problems * rows * nv);
  launch.product = product_.reserve(problems * rows * rows);
  launch.factor_pointers = factor_pointers_.reserve(problems);
  launch.solution_pointers = solution_pointers_.reserve(problems);
  launch.info = info_.reserve(problems);
  launch.valid = device_valid_.reserve(problems);
  const GridSize grid{std::min<std::int64_t>(launch.problems, 1 << 16), WarpLanes::kWidth};
  const bool planar = batch.dimension == 2;
  launch_kernel("screen_problems", planar ? &screen_problems<2> : &screen_problems<3>, grid, stream,
                launch);
  const LibraryHandles handles(stream);  // until their work is done
  factorise(batch.velocities, batch.contact_rows(), launch.problems, handles);
  launch_kernel("finish_problems", planar ? &finish_problems<2> : &finish_problems<3>, grid, stream,
                launch);
  valid_.resize(problems);
  download(valid_.data(), device_valid_.data(), problems, stream);
  std::vector<double> step_size(problems), contact_speed(problems);
  download(step_size.data(), launch.step_sizes, problems, stream);
  download(contact_speed.data(), launch.contact_speed, problems, stream);
  cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  if (settings.bad_problem == BadProblem::refuse) {
    const auto bad = std::find(valid_.begin(), valid_.end(), std::uint8_t{0});
    if (bad != valid_.end()) refuse(whole, begin + (bad - valid_.begin()));
  }
  facts_.resize(problems);
  for (std::size_t p = 0; p < problems; ++p) facts_[p] = {step_size[p], contact_speed[p]};
  arrays_ = ProblemArrays{};
  arrays_.first = begin;
  arrays_.mass = launch.mass_matrix;
  arrays_.jacobian = launch.jacobian;
  arrays_.response = launch.response;
  arrays_.delassus = launch.delassus;
  arrays_.scale = launch.scale;
  arrays_.friction = launch.friction;
  arrays_.velocity = launch.velocity;
  arrays_.contact_velocity = launch.contact_velocity;
  arrays_.energy = launch.energy;
  arrays_.step_size = launch.step_sizes;
  arrays_.closing_impulse = launch.closing_impulse;
  take_intervals(batch, stream);
}

void ProblemStore::prepare(const ImpactBatch& whole, const ImpactSettings& settings,
                           const kernels::ImpactRun& run, std::int64_t begin, std::int64_t end,
                           cudaStream_t stream) {
  screen(whole, settings, run, begin, end, stream);
  const ImpactBatch batch = arrays::slice(whole, begin, end);
  const auto problems = static_cast<std::size_t>(batch.problems);
  const auto m = static_cast<std::size_t>(batch.contacts);
  const auto rows = static_cast<std::size_t>(batch.contact_rows());
  ImpactBatch intervals;
  static_cast<ImpactSizes&>(intervals) = batch;
  if (has_stores(batch)) {
    intervals.friction = batch.friction.to(MemorySpace::host);
    for (const auto which : {&ImpactBatch::restitution_low, &ImpactBatch::restitution_high,
                             &ImpactBatch::friction_high}) {
      if (!(batch.*which).empty()) intervals.*which = (batch.*which).to(MemorySpace::host);
    }
  }
  stores_ = store_kinds(intervals, settings);
  const TableNeeds needs = table_needs(batch, settings);
  if (!needs.any()) return take(BreadthTables{}, stream);
  // Tables are built on the host from what the device prepared.
  std::vector<double> delassus, scale, friction, contact_velocity, step_size;
  const auto fetch = [&](std::vector<double>& to, const double* from, std::size_t size) {
    to.resize(size);
    download(to.data(), from, size, stream);
    return to.data();
  };
  const std::vector<std::uint8_t> with = with_tables(intervals, valid_);
  const TableSource source{batch.dimension,
                           run,
                           with,
                           fetch(delassus, arrays_.delassus, problems * rows * rows),
                           fetch(scale, arrays_.scale, problems * m),
                           fetch(friction, arrays_.friction, problems * m),
                           fetch(contact_velocity, arrays_.contact_velocity, problems * rows),
                           fetch(step_size, arrays_.step_size, problems)};
  cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  const BreadthTables tables = build_tables(source, needs, settings.threads);
  take(tables, stream);
  // The host's tables end here.
  cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

}  // namespace carom::cuda
