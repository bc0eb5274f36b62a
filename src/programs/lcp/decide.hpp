#pragma once

#include <vector>

#include <carom/types/boxed_lcp.hpp>
#include <carom/types/lcp_decision.hpp>

// Decides LCPs by proof trees. Arguments are validated; known: answers found without a tree.
namespace carom::cpu {

std::vector<LcpDecision> decide_lcp(const LcpBatch& batch, const LcpDecisionSettings& settings);
std::vector<LcpDecision> decide_boxed_lcp(const BoxedLcpBatch& batch, const BoxedLcpResult& known,
                                          const LcpDecisionSettings& settings);

}  // namespace carom::cpu
