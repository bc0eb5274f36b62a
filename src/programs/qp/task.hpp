#pragma once

#include <carom/qp.hpp>

#include "programs/qp/body/qp_task_body.hpp"
#include "programs/qp/layout.hpp"

namespace carom {

/// Buffers for the results of `batch`, in its memory space. rows: with those of the cones.
QpResult make_qp_result(const QpBatch& batch, int rows);

/// What the bodies are told of the settings.
kernels::QpTaskSettings qp_task_settings(const QpSettings& settings);

/// All arrays of a call in host memory, but `end`.
kernels::QpTaskArrays qp_task_arrays(const QpBatch& batch, const QpLayout& layout,
                                     const QpSettings& settings, const QpWarmStart& start,
                                     QpResult& result);

}  // namespace carom
