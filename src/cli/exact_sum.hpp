#pragma once

#include <cmath>
#include <span>
#include <vector>

namespace carom::cli {

/// The sum of the terms, rounded once: partial sums that do not overlap (Shewchuk, as Python's
/// math.fsum). Infinite or NaN where a term is.
inline double exact_sum(std::span<const double> terms) {
  std::vector<double> partials;
  for (double x : terms) {
    if (!std::isfinite(x)) {
      double plain = 0.0;
      for (const double term : terms) plain += term;
      return plain;
    }
    std::size_t kept = 0;
    for (double y : partials) {
      if (std::fabs(x) < std::fabs(y)) std::swap(x, y);
      const double high = x + y;
      const double low = y - (high - x);
      if (low != 0.0) partials[kept++] = low;
      x = high;
    }
    partials.resize(kept);
    partials.push_back(x);
  }
  double sum = 0.0;
  for (std::size_t i = partials.size(); i-- > 0;) sum += partials[i];
  return sum;
}

}  // namespace carom::cli
