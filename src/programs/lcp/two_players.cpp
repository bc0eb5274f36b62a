#include "programs/lcp/two_players.hpp"

#include <algorithm>

#include "core/constants.hpp"
#include "core/index.hpp"

namespace carom::boxed {

std::optional<TwoPlayers> TwoPlayers::of(const Box& lcp) {
  TwoPlayers players(lcp);
  std::vector<bool> second(index(lcp.order));
  for (int k = 0; k < lcp.order; ++k) {
    second[index(k)] = lcp.entry(0, k) != 0.0;
    players.own_[second[index(k)] ? 1 : 0].push_back(k);
  }
  if (players.own_[0].empty() || players.own_[1].empty()) return std::nullopt;
  for (int k = 0; k < lcp.order; ++k) {
    if (!(lcp.vector[index(k)] < 0.0)) return std::nullopt;
    for (int l = 0; l < lcp.order; ++l) {
      const bool others = second[index(k)] != second[index(l)];
      const double cost = lcp.entry(k, l);
      if (others ? !(cost > 0.0) : cost != 0.0) return std::nullopt;
    }
  }
  return players;
}

int TwoPlayers::strategy(int player, int number) const {
  return own_[player][index(number) % own_[player].size()];
}

TwoPlayers::Start TwoPlayers::start(int number) const {
  const int n = lcp_->order;
  Start start{
      {n, std::vector<double>(index(n) * index(n), 0.0), lcp_->vector, lcp_->lower, lcp_->upper},
      std::vector<double>(index(n))};
  const auto pivoted = [&](int i, int j) -> double& {
    return start.pivoted.matrix[index(i) * index(n) + index(j)];
  };
  // z of each player's strategy from what the other's costs: w_f = cost z_s + others + q_f.
  for (const int player : {0, 1}) {
    const int s = strategy(player, number), f = strategy(1 - player, number);
    const double cost = lcp_->entry(f, s);
    pivoted(s, f) = 1.0 / cost;
    for (const int l : own_[player]) {
      if (l != s) pivoted(s, l) = -lcp_->entry(f, l) / cost;
    }
    start.pivoted.vector[index(s)] = -lcp_->vector[index(f)] / cost;
    start.cover[index(s)] = 1.0 / cost;
  }
  for (const int player : {0, 1}) {
    const int f = strategy(player, number), s = strategy(1 - player, number);
    for (const int k : own_[player]) {
      if (k == f) continue;
      const double cost = lcp_->entry(k, s);
      double least = kInfinity;  // of what k costs where f costs 1
      for (const int l : own_[1 - player]) {
        if (l != s) pivoted(k, l) = lcp_->entry(k, l) + cost * pivoted(s, l);
        least = std::min(least, lcp_->entry(k, l) / lcp_->entry(f, l));
      }
      pivoted(k, f) = cost * pivoted(s, f);
      start.pivoted.vector[index(k)] += cost * start.pivoted.vector[index(s)];
      start.cover[index(k)] = cost / lcp_->entry(f, s) - 0.5 * least;
    }
  }
  return start;
}

std::vector<double> TwoPlayers::unpivoted(const Box& pivoted, int number,
                                          const std::vector<double>& z) const {
  std::vector<double> own = z;
  for (const int player : {0, 1}) {
    const int s = strategy(player, number);
    double value = pivoted.vector[index(s)];
    for (int l = 0; l < pivoted.order; ++l) value += pivoted.entry(s, l) * z[index(l)];
    own[index(s)] = z[index(s)] > 0.0 ? 0.0 : std::max(value, 0.0);
  }
  return own;
}

}  // namespace carom::boxed
