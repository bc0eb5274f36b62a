#pragma once

#include <vector>

#include <carom/types/lcp_decision.hpp>

// Shapes and settings were validated before.
namespace carom::cpu {

std::vector<LcpDecision> decide_lcp(const LcpBatch& batch, const LcpDecisionSettings& settings);

}  // namespace carom::cpu
