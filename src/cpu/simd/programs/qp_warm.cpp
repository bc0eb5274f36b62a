#include CAROM_ISA_HEADER

#include "cpu/simd/programs/qp_warm.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/programs/qp_wide_conclude.hpp"

namespace carom::cpu::simd {

namespace {

/// Whether a number of problem p is one that the task refuses.
template <class Isa>
bool is_refused(const kernels::QpTaskArrays& task, std::int64_t p) {
  const long n = task.shape.variables;
  const long m = task.shape.rows;
  using Vector = Eight<Isa>;
  Vector sums(0.0);
  const double* vector = task.vector + p * n;
  long j = 0;
  for (; j + 8 <= n; j += 8) sums = sums + Vector::load(vector + j) * Vector(0.0);
  double sum = sums.sum();
  for (; j < n; ++j) sum += vector[j] * 0.0;
  bool wrong = sum != 0.0;
  for (long i = p * m; i < (p + 1) * m; ++i) {
    wrong = wrong | !(task.lower[i] < kernels::kInfinity) | !(task.upper[i] > -kernels::kInfinity);
  }
  return wrong;
}

}  // namespace

template <class Isa>
void warm_qps(const QpWarmRange& range) {
  const kernels::QpTaskArrays& task = *range.task;
  const long n = task.shape.variables;
  const long rows = task.shape.rows;
  QpWideActiveSet<Isa> shared(task, range.shared);
  const bool filled = range.begin < range.end;
  double* const kept = range.shared + qp_wide_workspace(n, rows);
  if (!filled) {
    *range.usable = shared.factorise_shared(kept);
    return;
  }
  shared.adopt(kept);
  QpWideActiveSet<Isa> body(task, shared, range.workspace);
  const int limit =
      task.settings.limit(QpMethod::active_set, static_cast<int>(n), static_cast<int>(rows));
  for (std::int64_t p = range.begin; p < range.end; ++p) {
    std::uint8_t* held = range.held + p * rows;
    range.taken[p] = 0;
    if (is_refused<Isa>(task, p) || !body.solve_from(p, limit, held)) continue;
    const auto certified = [&] {
      return conclude_wide<Isa>(task, p, body.certify(certificate::Leaning::by_active_rows),
                                body.iterations());
    };
    bool taken = certified();
    if (!taken && body.settle_from()) taken = certified();
    body.read_held(held);
    range.taken[p] = taken ? 1 : 0;
  }
}
template void warm_qps<CAROM_ISA>(const QpWarmRange&);

}  // namespace carom::cpu::simd
