#include "cpu/qp_driver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include <carom/kernels/qp_problem.hpp>

#include "cpu/parallel.hpp"
#include "cpu/qp_single.hpp"
#include "qp_backends.hpp"

namespace carom::cpu {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kGrain = 64;

using Solve = std::function<void(const simd::QpRange&)>;

/// What one thread works with.
struct Thread {
  Thread(const QpLayout& layout, std::int64_t grain, long doubles)
      : workspace(static_cast<std::size_t>(doubles)),
        multiplier(static_cast<std::size_t>(grain) * static_cast<std::size_t>(layout.rows())),
        end(static_cast<std::size_t>(grain)),
        single(layout) {}
  Buffer<double> workspace;
  std::vector<double> multiplier;
  std::vector<std::uint8_t> end;
  QpSingle single;
};

class Driver {
 public:
  Driver(const QpBatch& batch, const QpSettings& settings, const QpWarmStart& start,
         const Solve& solve, std::int64_t grain,
         const std::function<long(const QpLayout&)>& workspace)
      : batch_(batch),
        settings_(settings),
        start_(start),
        solve_(solve),
        layout_(batch),
        grain_(grain),
        doubles_(workspace(layout_)) {
    const auto problems = static_cast<std::size_t>(batch.problems);
    const auto n = static_cast<std::size_t>(batch.variables);
    const auto rows = static_cast<std::size_t>(layout_.rows());
    proof_ = std::max(n, rows);
    result_.solution = Buffer<double>(problems * n);
    result_.dual = Buffer<double>(problems * static_cast<std::size_t>(batch.rows));
    result_.cone_dual = Buffer<double>(problems * (rows - static_cast<std::size_t>(batch.rows)));
    result_.objective = Buffer<double>(problems);
    result_.status = Buffer<Status>(problems);
    result_.method = Buffer<QpMethod>(problems);
    result_.iterations = Buffer<std::int32_t>(problems);
    result_.residual = Buffer<double>(problems);
    result_.certificate = Buffer<double>(problems * proof_);
  }

  QpResult run() {
    std::fill_n(result_.certificate.data(), result_.certificate.size(), kNan);
    tbb::enumerable_thread_specific<std::unique_ptr<Thread>> threads(
        [this] { return std::make_unique<Thread>(layout_, grain_, doubles_); });
    parallel_for(batch_.problems, grain_, settings_.threads,
                 [&](std::int64_t begin, std::int64_t end) {
                   Thread& thread = *threads.local();
                   for (std::int64_t first = begin; first < end; first += grain_) {
                     range(first, std::min(first + grain_, end), thread);
                   }
                 });
    return std::move(result_);
  }

 private:
  void range(std::int64_t begin, std::int64_t end, Thread& thread) {
    const bool inside = settings_.method != QpMethod::active_set;
    const auto given = [](const Buffer<double>& values) {
      return values.empty() ? nullptr : values.data();
    };
    if (inside) {
      simd::QpRange job{};
      job.begin = begin;
      job.end = end;
      job.shape = &layout_.shape();
      job.interval_rows = batch_.rows;
      job.row_kind = reinterpret_cast<const std::uint8_t*>(layout_.kinds().data());
      job.hessian = batch_.hessian.data();
      job.vector = batch_.vector.data();
      job.matrix = batch_.matrix.data();
      job.lower = batch_.lower.data();
      job.upper = batch_.upper.data();
      job.cone_matrix = batch_.cone_matrix.data();
      job.cone_vector = batch_.cone_vector.data();
      job.start_solution = given(start_.solution);
      job.start_dual = given(start_.dual);
      job.start_cone_dual = given(start_.cone_dual);
      job.method = settings_.method;
      job.max_iterations = settings_.max_iterations > 0        ? settings_.max_iterations
                           : job.method == QpMethod::admm      ? 20000
                           : job.method == QpMethod::projected ? 100000
                                                               : 100;
      job.tolerance = settings_.tolerance;
      job.polish = settings_.polish;
      job.over_relaxation = settings_.over_relaxation;
      job.penalty = settings_.penalty;
      job.solution = result_.solution.data();
      job.multiplier = thread.multiplier.data();
      job.objective = result_.objective.data();
      job.end_code = thread.end.data();
      job.iterations = result_.iterations.data();
      job.residual = result_.residual.data();
      job.workspace = thread.workspace.data();
      solve_(job);
    }
    for (std::int64_t p = begin; p < end; ++p) {
      const auto local = static_cast<std::size_t>(p - begin);
      const double* multiplier =
          thread.multiplier.data() + local * static_cast<std::size_t>(layout_.rows());
      if (inside && solved_by_range(p, thread.end[local])) {
        result_.status.data()[p] = Status::solved;
        result_.method.data()[p] =
            thread.end[local] == static_cast<std::uint8_t>(kernels::qp_end::kActiveSet)
                ? QpMethod::active_set
                : last_method();
        write_dual(p, multiplier);
      } else {
        settle(p, inside ? thread.end[local] : 0, multiplier, inside, thread.single);
      }
    }
  }

  /// The method whose answer a range leaves where the dual active set gave none.
  [[nodiscard]] QpMethod last_method() const {
    return settings_.method == QpMethod::automatic ? QpMethod::interior_point : settings_.method;
  }

  [[nodiscard]] bool solved_by_range(std::int64_t p, std::uint8_t end) const {
    const auto is = [end](double code) { return end == static_cast<std::uint8_t>(code); };
    return (is(kernels::qp_end::kActiveSet) || is(kernels::qp_end::kConverged) ||
            is(kernels::qp_end::kStalled) || is(kernels::qp_end::kRunning)) &&
           result_.residual.data()[p] <= settings_.tolerance;
  }

  /// Everything that was not solved at the first attempt.
  void settle(std::int64_t p, std::uint8_t end, const double* multiplier, bool inside,
              QpSingle& single) {
    using Answer = QpSingle::Answer;
    single.load(problem_of(batch_, p));
    Answer answer;
    answer.method = last_method();
    answer.iterations = inside ? result_.iterations.data()[p] : 0;
    if (end == simd::kInvalidEnd || !single.is_valid()) {
      answer.status = Status::invalid_input;
      answer.iterations = 0;
      return write(p, answer, single);
    }
    if (single.crossed_bounds()) {
      answer.status = Status::infeasible;
      return write(p, answer, single);
    }
    if (single.proves_nonconvex()) {
      answer.status = Status::nonconvex;
      return write(p, answer, single);
    }
    if (inside) {
      const double* x = result_.solution.data() + p * batch_.variables;
      std::copy_n(x, batch_.variables, single.x());
      std::copy_n(multiplier, layout_.rows(), single.y());
      if (single.proves_infeasible(settings_.tolerance)) {
        answer.status = Status::infeasible;
        return write(p, answer, single);
      }
      if (single.proves_unbounded(settings_.tolerance)) {
        answer.status = Status::unbounded;
        return write(p, answer, single);
      }
      std::copy_n(x, batch_.variables, single.x());
      std::copy_n(multiplier, layout_.rows(), single.y());
      single.judge(answer, settings_.tolerance);
      if (settings_.method != QpMethod::automatic) {
        if (end == static_cast<std::uint8_t>(kernels::qp_end::kBroken)) {
          answer.status = Status::numerical_error;
        } else if (end == static_cast<std::uint8_t>(kernels::qp_end::kRunning) &&
                   answer.status == Status::inaccurate) {
          answer.status = Status::iteration_limit;
        }
        return write(p, answer, single);
      }
    }
    start(p, single);
    const Answer other = single.solve(settings_.method, settings_);
    if (inside && other.status == Status::inaccurate && answer.residual <= other.residual) {
      std::copy_n(result_.solution.data() + p * batch_.variables, batch_.variables, single.x());
      std::copy_n(multiplier, layout_.rows(), single.y());
      return write(p, answer, single);
    }
    write(p, other, single);
  }

  /// The caller's first guess.
  void start(std::int64_t p, QpSingle& single) const {
    const auto fill = [p](const Buffer<double>& from, double* to, std::int64_t count) {
      if (from.empty()) {
        std::fill_n(to, count, 0.0);
      } else {
        std::copy_n(from.data() + p * count, count, to);
      }
    };
    fill(start_.solution, single.x(), batch_.variables);
    fill(start_.dual, single.y(), batch_.rows);
    fill(start_.cone_dual, single.y() + batch_.rows, layout_.rows() - batch_.rows);
  }

  void write_dual(std::int64_t p, const double* y) {
    const int m = batch_.rows;
    const int k = layout_.rows() - m;
    std::copy_n(y, m, result_.dual.data() + static_cast<std::int64_t>(m) * p);
    std::copy_n(y + m, k, result_.cone_dual.data() + static_cast<std::int64_t>(k) * p);
  }

  void write(std::int64_t p, const QpSingle::Answer& answer, QpSingle& single) {
    const bool usable = answer.status == Status::solved || answer.status == Status::inaccurate;
    result_.status.data()[p] = answer.status;
    result_.method.data()[p] = answer.method;
    result_.iterations.data()[p] = answer.iterations;
    result_.residual.data()[p] = usable ? answer.residual : kNan;
    result_.objective.data()[p] = usable ? answer.objective : kNan;
    double* proof = result_.certificate.data() + p * static_cast<std::int64_t>(proof_);
    if (answer.status == Status::infeasible) std::copy_n(single.y(), layout_.rows(), proof);
    if (answer.status == Status::unbounded || answer.status == Status::nonconvex) {
      std::copy_n(single.x(), batch_.variables, proof);
    }
    if (!usable) {
      std::fill_n(single.x(), batch_.variables, kNan);
      std::fill_n(single.y(), layout_.rows(), kNan);
    }
    std::copy_n(single.x(), batch_.variables, result_.solution.data() + p * batch_.variables);
    write_dual(p, single.y());
  }

  const QpBatch& batch_;
  const QpSettings& settings_;
  const QpWarmStart& start_;
  const Solve& solve_;
  QpLayout layout_;
  std::int64_t grain_;
  long doubles_;
  QpResult result_;
  std::size_t proof_ = 0;
};

}  // namespace

QpResult drive_qp(const QpBatch& batch, const QpSettings& settings, const QpWarmStart& start,
                  const Solve& solve, std::int64_t grain,
                  const std::function<long(const QpLayout&)>& workspace) {
  return Driver(batch, settings, start, solve, grain, workspace).run();
}

QpResult drive_qp(const QpBatch& batch, const QpSettings& settings, const QpWarmStart& start,
                  simd::SolveQps solve) {
  const std::int64_t grain = batch.variables > simd::kLargestPackedQp ? 1 : kGrain;
  return drive_qp(batch, settings, start, Solve(solve), grain,
                  [](const QpLayout& layout) { return simd::qp_workspace(layout.shape()); });
}

QpResult solve_qp(const QpBatch& batch, const QpSettings& settings, const QpWarmStart& start) {
  return drive_qp(batch, settings, start, simd::solve_qps());
}

}  // namespace carom::cpu
