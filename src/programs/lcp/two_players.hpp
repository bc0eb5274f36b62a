#pragma once

#include <optional>
#include <vector>

#include "programs/lcp/boxed.hpp"

namespace carom::boxed {

/// A bimatrix game as an LCP: w_k = q_k + (positive costs) z of the other player, q < 0. Lemke's
/// path from z = 0 ends on a ray for every covering vector: while one player rests the other's z
/// grows for ever. A path from an equilibrium does not (Lemke and Howson 1964): where q is such
/// that one pure strategy of each player dominates, the answer is known and the only one, and
/// answers are bounded for all q < 0 between that one and the problem's.
class TwoPlayers {
 public:
  /// None where the LCP is something else.
  static std::optional<TwoPlayers> of(const Box& lcp);

  /// The LCP after the pivots on two strategies, one of each player, and the covering vector whose
  /// path begins where these dominate.
  struct Start {
    Box pivoted;
    std::vector<double> cover;
  };
  /// Of the players' strategies of this number.
  [[nodiscard]] Start start(int number) const;
  /// z of the LCP from that of the pivoted one.
  [[nodiscard]] std::vector<double> unpivoted(const Box& pivoted, int number,
                                              const std::vector<double>& z) const;

 private:
  explicit TwoPlayers(const Box& lcp) : lcp_(&lcp) {}
  /// A strategy of the player.
  [[nodiscard]] int strategy(int player, int number) const;

  const Box* lcp_;
  std::vector<int> own_[2];
};

}  // namespace carom::boxed
