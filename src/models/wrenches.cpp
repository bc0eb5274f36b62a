#include "models/wrenches.hpp"

#include <cmath>
#include <string>

#include <carom/types/error.hpp>

#include "core/message.hpp"

namespace carom::wrenches {

std::vector<double> polygon(std::span<const double> pq, double f_y) {
  if (!(f_y < 0.0) || !std::isfinite(f_y)) {
    throw InvalidInput(
        Refusal{.field = "f_y",
                .value = message::number(f_y),
                .rule = "must be negative, since (p, q) are relative to a downward force"});
  }
  if (pq.size() % 2 != 0) {
    throw InvalidInput(Refusal{.field = "pq",
                               .relation = "has",
                               .value = std::to_string(pq.size()) + " values",
                               .rule = "must have two a vertex"});
  }
  std::vector<double> wrenches;
  for (std::size_t v = 0; v < pq.size(); v += 2) {
    for (const double value : {f_y * pq[v], f_y, f_y * pq[v + 1]}) wrenches.push_back(value);
  }
  return wrenches;
}

std::vector<double> rectangle(double p1, double p2, double q1, double q2, double f_y) {
  const auto ascending = [](const char* field, double low, double high) {
    if (low <= high) return;
    throw InvalidInput(
        Refusal{.field = field,
                .value = "[" + message::number(low) + ", " + message::number(high) + "]",
                .rule = "must not decrease"});
  };
  ascending("p", p1, p2);
  ascending("q", q1, q2);
  const double pq[] = {p1, q1, p2, q1, p2, q2, p1, q2};
  return polygon(pq, f_y);
}

}  // namespace carom::wrenches
