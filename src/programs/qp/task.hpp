#pragma once

#include <carom/types/qp.hpp>

#include "programs/qp/kernels/qp_task_arrays.hpp"
#include "programs/qp/layout.hpp"

namespace carom {

/// What the bodies are told of a call, but for its arrays; and with those in host memory, but
/// `end`.
kernels::QpTaskArrays qp_task(const QpBatch& batch, const QpLayout& layout,
                              const QpSettings& settings);
kernels::QpTaskArrays qp_task(const QpBatch& batch, const QpLayout& layout,
                              const QpSettings& settings, const QpWarmStart& start,
                              QpResult& result);

}  // namespace carom
