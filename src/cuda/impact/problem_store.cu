#include "cuda/impact/problem_store.hpp"

#include <algorithm>
#include <string>

#include <cublas_v2.h>
#include <cusolverDn.h>

#include "core/arrays.hpp"
#include "cuda/launch.cuh"
#include "cuda/programs/problem_kernels.cuh"
#include "impact/friction_polygon.hpp"
#include "impact/mode_table.hpp"
#include "impact/prepare.hpp"

namespace carom::cuda {

namespace {

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw CudaError(std::string(call) + ": " + cublasGetStatusString(status));
  }
}

void check(cusolverStatus_t status, const char* call) {
  if (status != CUSOLVER_STATUS_SUCCESS) {
    throw CudaError(std::string(call) + ": cuSOLVER status " +
                    std::to_string(static_cast<int>(status)));
  }
}

}  // namespace

/// Mode tables of a batch, one behind the other.
struct ProblemStore::Tables {
  std::vector<TableSlot> slots;
  std::vector<double> numbers;
  std::vector<int> first;
  std::size_t reals = 0;
  std::size_t ints = 0;

  explicit Tables(std::size_t problems) : slots(problems, TableSlot{}) {}  // those without stay so

  void set(std::size_t p, int rows, int m, const kernels::ModeTableView& table) {
    if (table.count == 0) return;
    slots[p] = {table, static_cast<std::int64_t>(numbers.size()),
                static_cast<std::int64_t>(first.size())};
    slots[p].table.numbers = nullptr;
    slots[p].table.first = nullptr;
    const auto size = static_cast<std::size_t>(
        kernels::ModeTableView::size(rows, rows + m, table.count, table.first[table.count]));
    const auto count = static_cast<std::size_t>(table.count) + 1;
    numbers.insert(numbers.end(), table.numbers, table.numbers + size);
    first.insert(first.end(), table.first, table.first + count);
    reals = std::max(reals, size);
    ints = std::max(ints, count);
  }
};

struct ProblemStore::Handles {
  cublasHandle_t blas = nullptr;
  cusolverDnHandle_t solver = nullptr;

  Handles() {
    check(cublasCreate(&blas), "cublasCreate");
    check(cusolverDnCreate(&solver), "cusolverDnCreate");
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  ~Handles() {
    if (solver != nullptr) cusolverDnDestroy(solver);
    if (blas != nullptr) cublasDestroy(blas);
  }
};

ProblemStore::ProblemStore() = default;
ProblemStore::~ProblemStore() = default;

void ProblemStore::prepare(const ImpactBatch& batch, const ImpactSettings& settings,
                           const kernels::ImpactRun& run, cudaStream_t stream) {
  arrays_ = ProblemArrays{};
  valid_.assign(static_cast<std::size_t>(batch.problems), 0);
  if (batch.problems == 0) return;
  if (batch.mass_matrix.space() == MemorySpace::host) {
    from_host(batch, settings, run, stream);
  } else {
    from_device(batch, settings, run, stream);
  }
}

void ProblemStore::from_host(const ImpactBatch& batch, const ImpactSettings& settings,
                             const kernels::ImpactRun& run, cudaStream_t stream) {
  const PreparedImpacts prepared(batch, settings);
  const auto problems = static_cast<std::size_t>(batch.problems);
  const auto nv = static_cast<std::size_t>(batch.velocities);
  const auto m = static_cast<std::size_t>(batch.contacts);
  const auto rows = static_cast<std::size_t>(batch.contact_rows());
  std::vector<double> energy(problems), closing(problems);
  for (std::size_t p = 0; p < problems; ++p) {
    valid_[p] = prepared.valid(static_cast<std::int64_t>(p)) ? 1 : 0;
    if (valid_[p] == 0) continue;
    const kernels::ImpactProblemView view = prepared.view(static_cast<std::int64_t>(p));
    energy[p] = view.energy;
    closing[p] = view.closing_impulse;
  }
  // Each array of the prepared problems is contiguous over the problems.
  const kernels::ImpactProblemView first = prepared.view(0);
  arrays_.mass = mass_.upload(first.mass, problems * nv * nv, stream);
  arrays_.jacobian = jacobian_.upload(first.jacobian, problems * rows * nv, stream);
  arrays_.response = response_.upload(first.response, problems * nv * rows, stream);
  arrays_.delassus = delassus_.upload(first.delassus, problems * rows * rows, stream);
  arrays_.scale = scale_.upload(first.scale, problems * m, stream);
  arrays_.friction = friction_.upload(first.friction, problems * m, stream);
  arrays_.velocity = velocity_.upload(first.velocity, problems * nv, stream);
  arrays_.contact_velocity =
      contact_velocity_.upload(first.contact_velocity, problems * rows, stream);
  arrays_.energy = energy_.upload(energy.data(), problems, stream);
  arrays_.closing_impulse = closing_.upload(closing.data(), problems, stream);
  if (wants_mode_table(batch.dimension, batch.contacts, settings)) {
    source_ = {batch.dimension,
               batch.contacts,
               run,
               {first.delassus, first.delassus + problems * rows * rows},
               {first.scale, first.scale + problems * m},
               {first.friction, first.friction + problems * m},
               {first.contact_velocity, first.contact_velocity + problems * rows}};
    tabulate(0, batch.problems, TableBreadth::narrow, narrow_, arrays_, stream);
  }
  // The host arrays end here.
  cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

void ProblemStore::tabulate(std::int64_t first, std::int64_t count, TableBreadth breadth,
                            DeviceTables& to, ProblemArrays& arrays, cudaStream_t stream) {
  const int m = source_.contacts;
  const int rows = source_.dimension * m;
  Tables tables(static_cast<std::size_t>(count));
  ModeTableBuilder builder(cpu::pilot_code());
  ModeTable table;
  for (std::int64_t p = first; p < first + count; ++p) {
    if (!valid(p)) continue;
    kernels::ImpactProblemView view{};
    view.delassus = source_.delassus.data() + p * rows * rows;
    view.scale = source_.scale.data() + p * m;
    view.friction = source_.friction.data() + p * m;
    view.contact_velocity = source_.contact_velocity.data() + p * rows;
    builder.build(source_.dimension, view, source_.run, table, breadth);
    tables.set(static_cast<std::size_t>(p - first), rows, m, table.view());
  }
  arrays.tables = to.slots.upload(tables.slots.data(), tables.slots.size(), stream);
  arrays.first_table = first;
  arrays.table_numbers = to.numbers.upload(tables.numbers.data(), tables.numbers.size(), stream);
  arrays.table_first = to.first.upload(tables.first.data(), tables.first.size(), stream);
  arrays.table_reals = static_cast<int>(tables.reals);
  arrays.table_ints = static_cast<int>(tables.ints);
  // The host's tables end here.
  cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

ProblemArrays ProblemStore::widened(std::int64_t first, std::int64_t count, cudaStream_t stream) {
  ProblemArrays arrays = arrays_;
  tabulate(first, count, TableBreadth::wide, wide_, arrays, stream);
  return arrays;
}

void ProblemStore::factorise(int nv, int rows, int problems, cudaStream_t stream) {
  if (handles_ == nullptr) handles_ = std::make_unique<Handles>();
  check(cusolverDnSetStream(handles_->solver, stream), "cusolverDnSetStream");
  check(cublasSetStream(handles_->blas, stream), "cublasSetStream");
  // The libraries see a row-major matrix as its transpose: their upper triangle is M's lower one,
  // and J, [rows, nv], is the right-hand side J' of M X = J'.
  constexpr int kBatch = 32768;
  const double one = 1.0;
  const double zero = 0.0;
  for (int first = 0; first < problems; first += kBatch) {
    const int count = std::min(kBatch, problems - first);
    double** factors = factor_pointers_.data() + first;
    double** solutions = solution_pointers_.data() + first;
    check(cusolverDnDpotrfBatched(handles_->solver, CUBLAS_FILL_MODE_UPPER, nv, factors, nv,
                                  info_.data() + first, count),
          "cusolverDnDpotrfBatched");
    if (rows == 0) continue;
    for (const cublasOperation_t side : {CUBLAS_OP_T, CUBLAS_OP_N}) {
      check(cublasDtrsmBatched(handles_->blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, side,
                               CUBLAS_DIAG_NON_UNIT, nv, rows, &one, factors, nv, solutions, nv,
                               count),
            "cublasDtrsmBatched");
    }
    const long long jacobian_stride = static_cast<long long>(rows) * nv;
    check(cublasDgemmStridedBatched(handles_->blas, CUBLAS_OP_T, CUBLAS_OP_N, rows, rows, nv, &one,
                                    jacobian_.data() + first * jacobian_stride, nv, jacobian_stride,
                                    solution_.data() + first * jacobian_stride, nv, jacobian_stride,
                                    &zero,
                                    product_.data() + static_cast<long long>(first) * rows * rows,
                                    rows, static_cast<long long>(rows) * rows, count),
          "cublasDgemmStridedBatched");
  }
}

void ProblemStore::from_device(const ImpactBatch& batch, const ImpactSettings& settings,
                               const kernels::ImpactRun& run, cudaStream_t stream) {
  const auto problems = static_cast<std::size_t>(batch.problems);
  const auto nv = static_cast<std::size_t>(batch.velocities);
  const auto m = static_cast<std::size_t>(batch.contacts);
  const auto rows = static_cast<std::size_t>(batch.contact_rows());
  if (problems > (std::size_t{1} << 30)) throw CudaError("device batch: more than 2^30 problems");
  ImpactBatch::each_array(
      batch,
      [](const char*, const Extents&, const auto& values) {
        require_current_device(values.data());
      },
      batch);
  PrepareLaunch launch{};
  launch.problems = static_cast<int>(problems);
  launch.nv = batch.velocities;
  launch.m = batch.contacts;
  launch.polygon = run.polygon;
  launch.epsilon = settings.epsilon;
  arrays::bind(launch, batch);
  launch.jacobian = jacobian_.reserve(problems * rows * nv);
  launch.response = response_.reserve(problems * nv * rows);
  launch.delassus = delassus_.reserve(problems * rows * rows);
  launch.scale = scale_.reserve(problems * m);
  launch.contact_velocity = contact_velocity_.reserve(problems * rows);
  launch.energy = energy_.reserve(problems);
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
  factorise(batch.velocities, batch.contact_rows(), launch.problems, stream);
  launch_kernel("finish_problems", planar ? &finish_problems<2> : &finish_problems<3>, grid, stream,
                launch);
  download(valid_.data(), device_valid_.data(), problems, stream);
  cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  if (settings.bad_problem == BadProblem::refuse) {
    const auto bad = std::find(valid_.begin(), valid_.end(), std::uint8_t{0});
    if (bad != valid_.end()) {
      throw InvalidInput(Refusal{.field = "mass_matrix",
                                 .problem = bad - valid_.begin(),
                                 .rule = "must be positive definite"});
    }
  }
  arrays_ = ProblemArrays{};
  arrays_.mass = launch.mass_matrix;
  arrays_.jacobian = launch.jacobian;
  arrays_.response = launch.response;
  arrays_.delassus = launch.delassus;
  arrays_.scale = launch.scale;
  arrays_.friction = launch.friction;
  arrays_.velocity = launch.velocity;
  arrays_.contact_velocity = launch.contact_velocity;
  arrays_.energy = launch.energy;
  arrays_.closing_impulse = launch.closing_impulse;
  if (!wants_mode_table(batch.dimension, batch.contacts, settings)) return;
  // Tables are built on the host from what the device prepared.
  source_ = {batch.dimension, batch.contacts, run, {}, {}, {}, {}};
  const auto take = [&](std::vector<double>& to, const double* from, std::size_t size) {
    to.resize(size);
    download(to.data(), from, size, stream);
  };
  take(source_.delassus, arrays_.delassus, problems * rows * rows);
  take(source_.scale, arrays_.scale, problems * m);
  take(source_.friction, arrays_.friction, problems * m);
  take(source_.contact_velocity, arrays_.contact_velocity, problems * rows);
  cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  tabulate(0, batch.problems, TableBreadth::narrow, narrow_, arrays_, stream);
}

}  // namespace carom::cuda
