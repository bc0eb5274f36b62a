#pragma once

#include <carom/types/qp.hpp>

#include "core/workspace.hpp"
#include "cpu/simd/programs/qp.hpp"
#include "programs/qp/layout.hpp"

namespace carom::cpu {

/// Runs `solve`, an instruction set's entry, on ranges of problems in threads, and finishes what it
/// leaves. It is not called for active_set and lemke.
QpResult drive_qp(const QpBatch& batch, const QpSettings& settings, const QpWarmStart& start,
                  void (*solve)(const simd::QpRange&), WorkspaceState* workspace = nullptr);

}  // namespace carom::cpu
