#pragma once

#include <string>
#include <vector>

#include <carom/backend.hpp>
#include <carom/batch.hpp>
#include <carom/compliant.hpp>
#include <carom/settings.hpp>
#include <carom/types/derivative.hpp>
#include <carom/types/derivative_compliant.hpp>

namespace carom {

/// Product from the left: the gradient in h, M, f, v, N, G, (dG/dt) v, phi, K, B and mu of a loss
/// whose gradient in the step's arrays is `cotangent`, for the law complementarity. Each row's mode
/// (open, closed, sticking, sliding) is one equation in F = W p + u and p, whose transpose is
/// solved (docs/explanation/derivatives.md); redundant contacts are regular, since W = G M^-1 G' +
/// 1/(h^2 K
/// + h B) is definite. `solver` is what the step was taken with. With (dG/dt) v not zero, its
/// centripetal term and rows of one kind that depend on each other, G and M have no derivative; a
/// kind of which some rows exert nothing has none at all then: undefined.
/// wanted: names of the gradients; empty: all.
/// `answer` is that of solve_compliant(batch, solver). backend: automatic or cpu. Errors:
/// InvalidInput for shapes, settings, the law programme, a cotangent that is not finite, a name
/// that is no input; BackendUnavailable.
CompliantGradient differentiate_compliant(
    const CompliantBatch& batch, const CompliantResult& answer, const CompliantCotangent& cotangent,
    const CompliantSettings& solver = {}, const DerivativeSettings& settings = {},
    const std::vector<std::string>& wanted = {}, Backend backend = Backend::automatic);

/// Product from the right: the directional derivative of the step along `direction`; one-sided at a
/// contact that touches while it slips, and at the border of stick and slip, by a small LCP. At one
/// that touches without slip it is undefined. Otherwise as differentiate_compliant.
CompliantTangent propagate_compliant(const CompliantBatch& batch, const CompliantResult& answer,
                                     const CompliantDirection& direction,
                                     const CompliantSettings& solver = {},
                                     const DerivativeSettings& settings = {},
                                     Backend backend = Backend::automatic);

}  // namespace carom
