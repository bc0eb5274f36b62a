#pragma once

#include <carom/backend.hpp>
#include <carom/batch.hpp>
#include <carom/lcp.hpp>
#include <carom/settings.hpp>
#include <carom/types/derivative.hpp>
#include <carom/types/derivative_lcp.hpp>

namespace carom {

/// Product from the left: the gradient in M and q of a loss whose gradient in the answer is
/// `cotangent`. With alpha = {z > 0}, M_aa' y_a = g_a, y = 0 elsewhere: dL/dM = -y z', dL/dq = -y
/// (implicit differentiation of w_a = 0). The answer is polished before, and each problem says in
/// `status` whether there is a derivative; rows with z = w = 0 make a kink unless the loss does not
/// see them (docs/explanation/derivatives.md). Units: those of the loss over those of the input.
/// `answer` is that of solve_lcp(batch). backend: automatic or cpu. Errors: InvalidInput for
/// shapes, a cotangent that is not finite where the answer is solved, and settings;
/// BackendUnavailable.
LcpGradient differentiate_lcp(const LcpBatch& batch, const LcpResult& answer,
                              const LcpCotangent& cotangent,
                              const DerivativeSettings& settings = {}, const LcpWanted& wanted = {},
                              Backend backend = Backend::automatic);

/// Product from the right: the directional derivative of z and w along `direction`, one-sided and
/// exact at kinks, where it is found by the small LCP of the doubtful rows (Bouligand derivative;
/// Cottle, Pang, Stone 2009, section 7.4). Otherwise as differentiate_lcp.
LcpTangent propagate_lcp(const LcpBatch& batch, const LcpResult& answer,
                         const LcpDirection& direction, const DerivativeSettings& settings = {},
                         Backend backend = Backend::automatic);

}  // namespace carom
