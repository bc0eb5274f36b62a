#pragma once

#include <cstdint>
#include <vector>

namespace carom::test {

/// What a warp's lanes say of n numbers, and of them as rows of `columns`.
struct LanesSay {
  double key;  ///< of argmin
  int index;
  double largest;
  int any;     ///< whether one is below -1
  double sum;  ///< of all, by kernels::sum_of_all
};

/// On the device, one warp. numbers: [n], in host memory; rows: their sums, dots with the first row
/// and sizes of those, [3 n / columns].
LanesSay lanes_on_device(const std::vector<double>& numbers, int columns,
                         std::vector<double>& rows);

}  // namespace carom::test
