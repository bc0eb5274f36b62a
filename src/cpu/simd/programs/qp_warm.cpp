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
  const int limit =
      task.settings.limit(QpMethod::active_set, static_cast<int>(n), static_cast<int>(rows));
  const auto each = [&](QpWideActiveSet<Isa>& body, auto&& solve, auto&& settle) {
    for (std::int64_t p = range.begin; p < range.end; ++p) {
      std::uint8_t* held = range.held + p * rows;
      range.taken[p] = 0;
      if (is_refused<Isa>(task, p) || !solve(p, held)) continue;
      const auto certified = [&] {
        return conclude_wide<Isa>(task, p, body.certify(certificate::Leaning::by_active_rows),
                                  body.iterations());
      };
      const bool taken = certified() || (settle() && certified());
      body.read_held(held);
      range.taken[p] = taken ? 1 : 0;
    }
  };
  if (range.shared == nullptr) {
    QpWideActiveSet<Isa> body(task, range.workspace);
    each(
        body,
        [&](std::int64_t p, const std::uint8_t* held) {
          return body.solve(p, limit, held) && !body.has_proof();
        },
        [] { return false; });
    return;
  }
  QpWideActiveSet<Isa> shared(task, range.shared);
  double* const kept = range.shared + qp_wide_workspace(n, rows);
  if (range.begin == range.end) {
    *range.usable = shared.factorise_shared(kept);
    return;
  }
  shared.adopt(kept);
  QpWideActiveSet<Isa> body(task, shared, range.workspace);
  each(
      body,
      [&](std::int64_t p, const std::uint8_t* held) { return body.solve_from(p, limit, held); },
      [&] { return body.settle_from(); });
}
template void warm_qps<CAROM_ISA>(const QpWarmRange&);

}  // namespace carom::cpu::simd
