#pragma once

#include <vector>

#include <carom/boxed_lcp.hpp>
#include <carom/certificate_boxed_lcp.hpp>
#include <carom/lcp.hpp>
#include <carom/types/lcp_decision.hpp>

namespace carom {

/// Decides LCPs for which Lemke's method ends on a ray: by other covering vectors, then by a tree
/// over the pairs (z_k, w_k), of which one is zero in every answer. Each node is the linear program
/// {z >= 0, M z + q >= 0, the zeros fixed so far}. If its point has a pair with both positive, it
/// branches on this pair; otherwise, if the certificate holds, the point is the answer. An
/// infeasible node is closed by a Farkas vector. If all leaves are closed, there is no answer.
/// CPU and host memory only. Errors: InvalidInput for shapes and settings.
std::vector<LcpDecision> decide_lcp(const LcpBatch& batch,
                                    const LcpDecisionSettings& settings = {});

/// The same for boxed and mixed LCPs with friction indices (FrictionLaw::simultaneous). A pair has
/// up to three sides: z_k at its lower bound with w_k >= 0, w_k = 0, z_k at its upper one with w_k
/// <= 0. Of friction row i the bounds are -mu_i z_j and mu_i z_j.
std::vector<LcpDecision> decide_boxed_lcp(const BoxedLcpBatch& batch,
                                          const LcpDecisionSettings& settings = {});

/// Checks a tree against the problem only. Returns the largest residual of its leaves
/// (certificate::LpCertificate::farkas_residual); infinity if a branch lacks a side or a vector
/// proves nothing. matrix: [n, n], vector: [n].
double lcp_tree_residual(int order, const double* matrix, const double* vector,
                         const LcpDecision& decision);
double boxed_lcp_tree_residual(const certificate::BoxedLcpData& problem,
                               const LcpDecision& decision);

}  // namespace carom
