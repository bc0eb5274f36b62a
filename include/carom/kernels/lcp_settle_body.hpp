#pragma once

#include <limits>

#include <carom/certificate_lcp.hpp>
#include <carom/kernels/doubled_lemke.hpp>
#include <carom/kernels/memory.hpp>
#include <carom/status.hpp>

/// What kernels::Lemke leaves unsolved is tried again in twice the precision, with the same covering
/// vector: a ray is reported only where it stands there too.
namespace carom::kernels {

CAROM_HOST_DEVICE constexpr long lcp_settle_workspace(int n) {
  return doubled_lemke_workspace(n) + certificate::lcp_judge_workspace(n) + n;
}

/// Whether an end is to be tried again. limited: the number of pivots is the caller's.
CAROM_INLINE bool lcp_is_open(Status status, bool limited) {
  return status == Status::inaccurate || status == Status::numerical_error ||
         status == Status::ray || (status == Status::iteration_limit && !limited);
}

struct LcpAnswer {
  Status status;
  int pivots;
  double residual;
};

/// z: [n] out where solved; memory: lcp_settle_workspace. `before`: what is to be settled, with its
/// residual, which stands where there is nothing better.
template <class Lanes>
CAROM_HOST_DEVICE LcpAnswer settle_lcp(const Lanes& lanes, int n, const double* matrix,
                                       const double* vector, double tolerance,
                                       const LcpAnswer& before, double* z, double* memory) {
  using Memory = PlainMemory<double>;
  double* found = memory + doubled_lemke_workspace(n);
  DoubledLemke<Lanes, Memory> lemke(lanes, Memory{memory});
  const LemkeEnd end = lemke.run(
      n, [&](int i, int j) { return Doubled(matrix[static_cast<long>(i) * n + j]); },
      [&](int i) { return Doubled(vector[i]); }, [](int) { return 1.0; }, 50 * (n + 1));
  LcpAnswer answer = before;
  if (end == LemkeEnd::ray && before.status != Status::inaccurate) answer.status = Status::ray;
  if (end != LemkeEnd::solution) return answer;
  lanes.for_each(n, [&](int i) { found[i] = at_least_zero(lemke.solution(i).hi); });
  const certificate::LcpJudge<Lanes> judge(lanes, n, matrix, vector, found + n);
  const double residual = judge.residual(found);
  if (!certificate::within(residual, tolerance)) return answer;
  lanes.for_each(n, [&](int i) { z[i] = found[i]; });
  return {Status::solved, lemke.pivots(), residual};
}

}  // namespace carom::kernels
