#pragma once

#include <memory>
#include <string>
#include <vector>

#include <carom/certificate_lp.hpp>

/// Other people's simplex codes on small dense linear programs, each loaded before any clock runs.
namespace carom::bench {

class LpPeer {
 public:
  virtual ~LpPeer() = default;
  /// Solves with another objective: from all rows basic, or from where the last call ended. Returns
  /// the solver's own claim of an optimum.
  virtual bool solve(const double* cost, bool cold) = 0;
  /// x and y of the last call, in the convention of lp.hpp.
  virtual void answer(double* x, double* y) = 0;
};

struct LpPeerKind {
  std::string name;
  std::unique_ptr<LpPeer> (*load)(const certificate::LpData& lp);
};

/// What CaromPeers.cmake found; may be empty.
const std::vector<LpPeerKind>& lp_peers();

}  // namespace carom::bench
