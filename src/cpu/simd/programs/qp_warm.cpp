#include CAROM_ISA_HEADER

#include "cpu/simd/programs/qp_warm.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/programs/qp_warm_active_set.hpp"
#include "cpu/simd/programs/qp_wide_conclude.hpp"

namespace carom::cpu::simd {

namespace {
constexpr int kAttempts = 4;  // to meet the certificate
}  // namespace

template <class Isa>
void warm_qps(const QpWarmRange& range) {
  const kernels::QpTaskArrays& task = *range.task;
  const int n = task.shape.variables;
  const int rows = task.shape.rows;
  const long size = kernels::values_of<QpKeptLayout>(n, rows);
  const bool shared = range.shared != nullptr;
  double* const starts = range.workspace + qp_wide_workspace(n, rows);
  double* const rest = starts + kernels::values_of<QpStartsLayout>(n, rows);
  QpWarmActiveSet<Isa> body(task, range.shared, range.workspace, starts);
  if (range.keeps) {
    for (std::int64_t p = range.begin; p < range.end; ++p) {
      range.usable[p] = body.keep(p, range.kept + p * size) ? 1 : 0;
      if (shared && range.usable[p] != 0) body.share(range.shared);
    }
    return;
  }
  const int limit = task.settings.limit(QpMethod::active_set, n, rows);
  if (shared) body.adopt(0, range.kept);
  for (std::int64_t p = range.begin; p < range.end; ++p) {
    std::uint8_t* held = range.held + p * rows;
    range.taken[p] = 0;
    if (range.usable[shared ? 0 : p] == 0) continue;
    if (shared && (p - range.begin) % kStarts == 0) {
      body.know_starts(p, p + kStarts < range.end ? p + kStarts : range.end);
    }
    double* const own = range.kept + (shared ? 0 : p * size);
    if (!shared) body.adopt(p, own);
    if (p + 1 < range.end) body.look_ahead(p + 1, shared ? nullptr : own + size, size);
    if (!body.solve(p, limit, held)) {
      const bool refuted =
          body.has_proof() && conclude_refuted<Isa>(task, p, shared ? 0 : p, body, rest);
      range.taken[p] = refuted ? 1 : 0;
      if (refuted) body.read_held(held);
      continue;
    }
    for (int attempt = 0; attempt < kAttempts && range.taken[p] == 0; ++attempt) {
      const QpWideCertified seen = body.certify();
      if (conclude_wide<Isa>(task, p, seen, body.iterations())) {
        range.taken[p] = 1;
      } else {
        body.correct(seen);
      }
    }
    if (range.taken[p] != 0) body.read_held(held);
  }
}
template void warm_qps<CAROM_ISA>(const QpWarmRange&);

}  // namespace carom::cpu::simd
