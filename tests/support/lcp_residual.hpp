#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace carom::test {

/// max|min(z, M z + q)| / max|q|, in long double.
inline double lcp_residual(const std::vector<double>& matrix, const std::vector<double>& vector,
                           const double* z) {
  const std::size_t n = vector.size();
  long double worst = 0.0L;
  long double scale = 1e-300L;
  for (std::size_t i = 0; i < n; ++i) {
    long double w = vector[i];
    for (std::size_t j = 0; j < n; ++j) {
      w += static_cast<long double>(matrix[i * n + j]) * z[j];
    }
    const long double gap = std::fabs(std::min(w, static_cast<long double>(z[i])));
    if (std::isnan(w) || std::isnan(z[i])) return static_cast<double>(NAN);
    worst = std::max(worst, gap);
    scale = std::max(scale, static_cast<long double>(std::fabs(vector[i])));
  }
  return static_cast<double>(worst / scale);
}

}  // namespace carom::test
