#pragma once

#include <cstdint>
#include <functional>

#include <carom/qp.hpp>

#include "cpu/simd/qp.hpp"
#include "programs/qp/layout.hpp"

namespace carom::cpu {

/// Runs `solve` on ranges of at most `grain` problems in threads, proves infeasible, unbounded and
/// nonconvex, and hands what the interior point could not certify to the other methods
/// (QpMethod::automatic). `solve` is not called for active_set. `workspace`: doubles for each call.
QpResult drive_qp(const QpBatch& batch, const QpSettings& settings, const QpWarmStart& start,
                  const std::function<void(const simd::QpRange&)>& solve, std::int64_t grain,
                  const std::function<long(const QpLayout&)>& workspace);

/// The same with an instruction set's entry.
QpResult drive_qp(const QpBatch& batch, const QpSettings& settings, const QpWarmStart& start,
                  void (*solve)(const simd::QpRange&));

}  // namespace carom::cpu
