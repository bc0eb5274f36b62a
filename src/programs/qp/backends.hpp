#pragma once

// What each backend offers for quadratic programs. Shapes were validated before.

#include <carom/types/qp.hpp>

#include "core/backends.hpp"

namespace carom {

struct QpEntries {
  QpResult (*solve)(const QpBatch&, const QpSettings&, const QpWarmStart&, WorkspaceState*);
};

namespace cpu {
QpResult solve_qp(const QpBatch& batch, const QpSettings& settings, const QpWarmStart& start,
                  WorkspaceState* workspace = nullptr);
template <>
const QpEntries& entries();
}  // namespace cpu

namespace reference {
QpResult solve_qp(const QpBatch& batch, const QpSettings& settings,
                  WorkspaceState* workspace = nullptr);
template <>
const QpEntries& entries();
}  // namespace reference

namespace cuda {
QpResult solve_qp(const QpBatch& batch, const QpSettings& settings, const QpWarmStart& start,
                  WorkspaceState* workspace = nullptr);
template <>
const QpEntries& entries();
}  // namespace cuda

}  // namespace carom
