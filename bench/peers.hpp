#pragma once

#include <memory>
#include <string>
#include <vector>

#include "problem_sets.hpp"

/// Other people's solvers of dense LCPs, each with the set's matrices in the layout that it wants,
/// filled before any clock runs.
namespace carom::bench {

class DenseSolver {
 public:
  virtual ~DenseSolver() = default;
  /// Whether the solver itself claims success; z: [order].
  virtual bool solve(long problem, double* z) = 0;
};

struct Peer {
  std::string name;
  std::unique_ptr<DenseSolver> (*prepare)(const DenseSet&);
  bool (*takes)(int order);
};

/// The plain Eigen solvers and what CaromPeers.cmake found.
const std::vector<Peer>& peers();

}  // namespace carom::bench
