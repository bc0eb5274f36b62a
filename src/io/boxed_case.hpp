#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "run/cases.hpp"

namespace carom::io {

/// Keys M, q, lo, hi, optionally findex, mu and friction_law.
run::BoxedLcpProblem read_boxed_lcp(const nlohmann::json& object, const std::string& where);
/// Keys A, B, C, D, a, b: A u + C v + a = 0 and 0 <= v perp D u + B v + b >= 0.
run::BoxedLcpProblem read_mixed_lcp(const nlohmann::json& object, const std::string& where);

/// Keys M, q, A, l, u, col_lower, col_upper: the boxed LCP of an affine variational inequality
/// (carom/affine_vi.hpp).
run::BoxedLcpProblem read_affine_vi(const nlohmann::json& object, const std::string& where);

/// The blocks of what read_mixed_lcp has put together, by their keys.
struct MixedBlocks {
  std::vector<double> A, B, C, D, a, b;
};
MixedBlocks mixed_blocks(const run::BoxedLcpProblem& problem);

}  // namespace carom::io
