#pragma once

// What each backend offers for quadratic programs. Shapes were validated before.

#include <carom/qp.hpp>

namespace carom {

namespace cpu {
QpResult solve_qp(const QpBatch& batch, const QpSettings& settings, const QpWarmStart& start,
                  WorkspaceState* workspace = nullptr);
}  // namespace cpu

/// The kernels of the device on a warp's worth of host lanes, run forwards or backwards.
namespace emulation {
QpResult solve_qp(const QpBatch& batch, const QpSettings& settings, bool backwards);
}  // namespace emulation

namespace reference {
QpResult solve_qp(const QpBatch& batch, const QpSettings& settings);
}  // namespace reference

namespace cuda {
QpResult solve_qp(const QpBatch& batch, const QpSettings& settings, const QpWarmStart& start,
                  WorkspaceState* workspace = nullptr);
}  // namespace cuda

}  // namespace carom
