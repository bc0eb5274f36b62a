#pragma once

#include <vector>

#include <carom/boxed_lcp.hpp>
#include <carom/certificate_boxed_lcp.hpp>
#include <carom/lcp.hpp>
#include <carom/types/lcp_decision.hpp>

namespace carom {

/// Decides LCPs that Lemke's method leaves on a ray: what solve_lcp leaves open is tried along
/// other covering vectors, then by a tree over the pairs (z_k, w_k), one of which is zero in every
/// answer. A node is the linear program {z >= 0, M z + q >= 0, the zeros fixed so far}; it is
/// branched where its point has both of a pair positive, and closed by Farkas' vector. A point with
/// no such pair, judged as any answer is, solves the problem; a tree whose leaves are all closed
/// proves that none exists. On the cpu, host memory. Errors: InvalidInput for shapes and settings.
std::vector<LcpDecision> decide_lcp(const LcpBatch& batch,
                                    const LcpDecisionSettings& settings = {});

/// The same for boxed and mixed LCPs with friction indices (FrictionLaw::simultaneous). A pair has
/// up to three sides: z_k at its lower bound with w_k >= 0, w_k = 0, z_k at its upper one with w_k
/// <= 0. Of friction row i the bounds are -mu_i z_j and mu_i z_j.
std::vector<LcpDecision> decide_boxed_lcp(const BoxedLcpBatch& batch,
                                          const LcpDecisionSettings& settings = {});

/// Judges a tree by the problem only: the largest residual of its leaves
/// (certificate::LpCertificate::farkas_residual), infinity where a side of a branch is missing or a
/// vector proves nothing. matrix: [n, n], vector: [n].
double lcp_tree_residual(int order, const double* matrix, const double* vector,
                         const LcpDecision& decision);
double boxed_lcp_tree_residual(const certificate::BoxedLcpData& problem,
                               const LcpDecision& decision);

}  // namespace carom
