#pragma once

#include <carom/types/derivative_lcp.hpp>
#include <carom/types/derivative_qp.hpp>

// What the backend cpu offers for derivatives of LCPs and QPs; no other has them. Shapes and
// numbers were validated before.
namespace carom::cpu {

LcpGradient differentiate_lcp(const LcpBatch& batch, const LcpResult& answer,
                              const LcpCotangent& cotangent, const DerivativeSettings& settings,
                              const LcpWanted& wanted);
LcpTangent propagate_lcp(const LcpBatch& batch, const LcpResult& answer,
                         const LcpDirection& direction, const DerivativeSettings& settings);

QpGradient differentiate_qp(const QpBatch& batch, const QpResult& answer,
                            const QpCotangent& cotangent, const DerivativeSettings& settings,
                            const QpWanted& wanted);
QpTangent propagate_qp(const QpBatch& batch, const QpResult& answer, const QpDirection& direction,
                       const DerivativeSettings& settings);

}  // namespace carom::cpu
