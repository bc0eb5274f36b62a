#pragma once

#include <vector>

#include <carom/types/boxed_lcp.hpp>
#include <carom/types/lcp_decision.hpp>

// Shapes and settings were validated before; known: what is decided without a tree.
namespace carom::cpu {

std::vector<LcpDecision> decide_lcp(const LcpBatch& batch, const LcpDecisionSettings& settings);
std::vector<LcpDecision> decide_boxed_lcp(const BoxedLcpBatch& batch, const BoxedLcpResult& known,
                                          const LcpDecisionSettings& settings);

}  // namespace carom::cpu
