#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <carom/types/lp.hpp>
#include <carom/types/qp.hpp>

/// Quadratic programs with P = 0, solved by the simplex method.
namespace carom::qp_linear {

/// The problems of a batch in host memory whose P is zero: none where it has second-order cones or
/// more rows and columns than an LP may have.
std::vector<std::int64_t> problems(const QpBatch& batch);

using SolveLp = std::function<LpResult(const LpBatch&, const LpSettings&)>;
using SolveQp = std::function<QpResult(const QpBatch&, const QpWarmStart&)>;

/// Solves the problems listed as LPs and all others, and what the certificates of quadratic
/// programs do not accept, by `solve_qp`.
QpResult solve(const QpBatch& batch, const QpSettings& settings, const QpWarmStart& start,
               const std::vector<std::int64_t>& listed, const SolveLp& solve_lp,
               const SolveQp& solve_qp);

}  // namespace carom::qp_linear
