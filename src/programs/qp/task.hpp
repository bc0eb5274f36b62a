#pragma once

#include <carom/types/qp.hpp>

#include "programs/qp/kernels/qp_task_arrays.hpp"
#include "programs/qp/layout.hpp"

namespace carom {

/// Arguments of the QP kernels for a call: without its arrays; and with arrays in host memory,
/// except `end`.
kernels::QpTaskArrays qp_task(const QpBatch& batch, const QpLayout& layout,
                              const QpSettings& settings);
kernels::QpTaskArrays qp_task(const QpBatch& batch, const QpLayout& layout,
                              const QpSettings& settings, const QpWarmStart& start,
                              QpResult& result);

}  // namespace carom
