#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "cli/judge_terms.hpp"

namespace carom::cli {

using run::BoxedLcpProblem;
using run::LcpProblem;

namespace {

/// y >= 0 with M'y <= 0 and q'y < 0: no z >= 0 has M z + q >= 0.
void judge_infeasible(const LcpProblem& lcp, Given& given) {
  const std::size_t n = lcp.vector.size();
  const MatrixView matrix{lcp.matrix, n, n};
  const Numbers& y = given.take("farkas", n);
  const double zero = zero_for_margin(products(lcp.vector, y), "q'farkas");
  for (std::size_t i = 0; i < n; ++i) {
    if (y[i] < 0.0) refute("farkas[{}] is {}: must be >= 0", i, y[i]);
    if (const double sum = total(matrix.column_by(i, y), zero); sum > 0.0) {
      refute("entry {} of M'farkas is {}: must be <= 0", i, sum);
    }
  }
}

/// The same problem with its bounds written out.
BoxedLcpProblem boxed(const LcpProblem& lcp) {
  BoxedLcpProblem box;
  box.order = lcp.order;
  box.matrix = lcp.matrix;
  box.vector = lcp.vector;
  box.lower.assign(lcp.vector.size(), 0.0);
  box.upper.assign(lcp.vector.size(), std::numeric_limits<double>::infinity());
  return box;
}

/// A contact approaches, and no force within the cones raises its normal velocity.
void judge_infeasible(const CoulombProblem& problem) {
  const auto d = static_cast<std::size_t>(problem.dimension);
  const std::size_t n = problem.vector.size();
  const MatrixView matrix{problem.matrix, n, n};
  for (std::size_t i = 0; i < n; i += d) {
    bool hopeless = problem.vector[i] < 0.0;
    for (std::size_t j = 0; j < n && hopeless; j += d) {
      double tail = 0.0;
      for (std::size_t k = 1; k < d; ++k) tail = std::hypot(tail, matrix.at(i, j + k));
      hopeless = matrix.at(i, j) + problem.friction[j / d] * tail <= 0.0;
    }
    if (hopeless) return;
  }
  refute("every contact that approaches can be opened by some force");
}

}  // namespace

void judge(const LcpProblem& lcp, const std::string& status, Given& given) {
  if (status == "infeasible" && given.has("tree")) return judge_tree(boxed(lcp), given);
  if (status == "infeasible") return judge_infeasible(lcp, given);
  if (status != "solved") refute("status {} has no proof for this kind", status);
  const std::size_t n = lcp.vector.size();
  const MatrixView matrix{lcp.matrix, n, n};
  const Numbers& z = given.take("x", n);
  const Numbers& w = given.take("w", n);
  std::vector<bool> felt(n, false);  // z_j is more than rounding in some row, or in no row at all
  for (std::size_t i = 0; i < n; ++i) {
    const Numbers terms = matrix.row_by(i, z);
    const double room = kRounding * std::max(largest(terms), std::fabs(lcp.vector[i]));
    for (std::size_t j = 0; j < n; ++j) felt[j] = felt[j] || std::fabs(terms[j]) > room;
  }
  for (std::size_t j = 0; j < n; ++j) {
    bool any = false;
    for (std::size_t i = 0; i < n; ++i) any = any || matrix.at(i, j) != 0.0;
    felt[j] = any ? felt[j] : z[j] != 0.0;
  }
  for (std::size_t i = 0; i < n; ++i) {
    Numbers terms = matrix.row_by(i, z);
    terms.push_back(lcp.vector[i]);
    const double own = total(terms);
    if (z[i] < 0.0) refute("x[{}] is {}: must be >= 0", i, z[i]);
    if (own < 0.0) refute("row {} of M x + q is {}: must be >= 0", i, own);
    if (own != 0.0 && felt[i]) {
      refute("x[{}] is {} and row {} of M x + q is {}: one must be 0", i, z[i], i, own);
    }
    terms.push_back(-w[i]);
    if (total(terms) != 0.0) refute("w[{}] is {}: M x + q is {}", i, w[i], own);
  }
}

// Every contact by its own force and its own velocities.
void judge(const CoulombProblem& problem, const std::string& status, Given& given) {
  if (status == "infeasible") return judge_infeasible(problem);
  if (status != "solved") refute("status {} has no proof for this kind", status);
  const auto d = static_cast<std::size_t>(problem.dimension);
  const std::size_t n = problem.vector.size();
  const MatrixView matrix{problem.matrix, n, n};
  const Numbers& r = given.take("x", n);
  for (std::size_t c = 0; c < problem.friction.size(); ++c) {
    Numbers force, velocity;
    double size = 0.0, own = 0.0;
    for (std::size_t i = c * d; i < c * d + d; ++i) {
      Numbers terms = matrix.row_by(i, r);
      terms.push_back(problem.vector[i]);
      size = std::max(size, largest(terms));
      own = std::max(own, matrix.at(i, i));
      force.push_back(r[i]);
      velocity.push_back(exact_sum(terms));
    }
    const double mu = problem.friction[c];
    const double room_u = kRounding * size;
    const double room_r = kRounding * std::max(largest(force), own > 0.0 ? size / own : 0.0);
    double pull = 0.0, slip = 0.0, power = 0.0;
    for (std::size_t k = 1; k < d; ++k) {
      pull = std::hypot(pull, force[k]);
      slip = std::hypot(slip, velocity[k]);
      power += force[k] * velocity[k];
    }
    if (force[0] < -room_r) refute("contact {}: pulls with {}", c, force[0]);
    if (velocity[0] < -room_u) refute("contact {}: penetrates with {}", c, velocity[0]);
    if (pull > mu * std::max(force[0], 0.0) + room_r * (1.0 + mu)) {
      refute("contact {}: friction {} exceeds mu x {}", c, pull, force[0]);
    }
    if (force[0] > room_r && velocity[0] > room_u) {
      refute("contact {}: presses with {} and separates with {}", c, force[0], velocity[0]);
    }
    // slips only at the cone's edge, and against the friction
    if (slip > room_u && force[0] > room_r &&
        power > -mu * force[0] * slip + 3.0 * room_r * (1.0 + mu) * slip +
                    3.0 * room_u * mu * force[0]) {
      refute("contact {}: slips with {} where friction is {}, not opposed or not mu x {}", c, slip,
             pull, force[0]);
    }
  }
}

}  // namespace carom::cli
