#pragma once

#include <carom/backend.hpp>
#include <carom/batch.hpp>
#include <carom/qp.hpp>
#include <carom/settings.hpp>
#include <carom/types/derivative.hpp>
#include <carom/types/derivative_qp.hpp>

namespace carom {

/// Product from the left: the gradient in P, q, A, l, u, C and b of a loss whose gradient in the
/// answer is `cotangent`, by the optimality conditions of the rows and cones that are active
/// (docs/explanation/derivatives.md). The answer is polished before, and each problem says in
/// `status` whether there is a derivative. Of an equation, l = u, the bound that the sign of its
/// multiplier names has the gradient. Active rows that depend on each other: gradients in P and q
/// are those of an independent subset; with rows wanted the status is kink, of equations undefined;
/// multipliers are set_valued. A cone whose slack vanishes while its multiplier lies on the
/// boundary is a kink with the element of the freer state. `answer` is that of solve_qp(batch).
/// backend: automatic or cpu. Errors: InvalidInput for shapes, more than kMaxQpDerivative
/// variables, rows and cone rows, a cotangent that is not finite, and settings; BackendUnavailable.
QpGradient differentiate_qp(const QpBatch& batch, const QpResult& answer,
                            const QpCotangent& cotangent, const DerivativeSettings& settings = {},
                            const QpWanted& wanted = {}, Backend backend = Backend::automatic);

/// Product from the right: the directional derivative of x, y, z and the objective along
/// `direction`; one-sided at rows that are active with multiplier zero, where a small LCP of these
/// rows finds it. At such a cone, and along directions in which rows that
/// depend on each other turn or disagree, it is undefined. Otherwise as differentiate_qp.
QpTangent propagate_qp(const QpBatch& batch, const QpResult& answer, const QpDirection& direction,
                       const DerivativeSettings& settings = {},
                       Backend backend = Backend::automatic);

}  // namespace carom
