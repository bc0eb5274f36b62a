// The kernels of tests are compiled where there is a device's compiler, or a host that plays it.
#if defined(CAROM_TEST_KERNELS)

#include "cuda/lanes.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <carom/device/lanes.hpp>
#include <carom/device/packed.hpp>

#include "cuda/cuda_test.hpp"
#include "support/random_problems.hpp"

namespace carom::test {
namespace {

using LanesOnDevice = CudaTest;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// What one lane says of the same numbers, to the bit.
void expect_same(const std::vector<double>& x, int columns) {
  const kernels::SingleLane one;
  const int n = static_cast<int>(x.size());
  std::vector<double> rows;
  const LanesSay say = lanes_on_device(x, columns, rows);
  const auto value = [&](auto, int i) { return x[static_cast<std::size_t>(i)]; };
  const kernels::ArgMin<double> best = kernels::argmin_packed(one, n, value);
  EXPECT_EQ(say.index, best.index);
  const auto bits = [](double number) { return std::bit_cast<std::uint64_t>(number); };
  EXPECT_EQ(bits(say.key), bits(best.key)) << say.key;
  EXPECT_EQ(bits(say.largest), bits(kernels::largest_packed(one, n, value))) << say.largest;
  EXPECT_EQ(say.any != 0, kernels::any_packed(one, n, [&](auto, int i) {
              return x[static_cast<std::size_t>(i)] < -1.0;
            }));
  const double sum = kernels::sum_packed(one, n / 8 * 8, value);
  EXPECT_TRUE(bits(say.sum) == bits(sum) || (sum != sum && say.sum != say.sum)) << say.sum;
  const int count = n / columns;
  for (int i = 0; i < count; ++i) {
    const double* row = x.data() + i * columns;
    const double total = kernels::sum_packed(one, columns, [&](auto, int j) { return row[j]; });
    const kernels::DotAndSize sums = kernels::dot_and_size(one, columns, row, x.data());
    const auto at = static_cast<std::size_t>(i);
    const auto stride = static_cast<std::size_t>(count);
    if (total == total) {
      EXPECT_EQ(bits(rows[at]), bits(total));
      EXPECT_EQ(bits(rows[stride + at]), bits(sums.dot));
      EXPECT_EQ(bits(rows[2 * stride + at]), bits(sums.size));
    }
  }
}

TEST_F(LanesOnDevice, SayWhatOneSays) {
  Generator random(29);
  for (const int n : {0, 1, 7, 8, 31, 32, 33, 48, 64, 100, 200}) {
    for (int turn = 0; turn < 8; ++turn) {
      SCOPED_TRACE(std::to_string(n) + " numbers, " + std::to_string(turn));
      std::vector<double> x;
      for (int i = 0; i < n; ++i) {
        const double draw = random.normal();
        // Many ties in every other turn, zeros of both signs among them.
        x.push_back(turn % 2 == 0
                        ? draw
                        : 0.5 * random.integer(turn == 7 ? 0 : -4, 4) * draw / std::abs(draw));
      }
      expect_same(x, 8 * (1 + turn % 3));
    }
  }
}

TEST_F(LanesOnDevice, OddNumbers) {
  constexpr double kInfinity = kernels::kInfinity;
  constexpr double kLeast = std::numeric_limits<double>::denorm_min();
  for (const std::vector<double>& x :
       {std::vector<double>{0.0, -0.0}, std::vector<double>{-0.0, 0.0},
        std::vector<double>{kNan, -kNan}, std::vector<double>{kInfinity, kNan, kInfinity},
        std::vector<double>{3.0, kNan, 2.0}, std::vector<double>{-kNan, 5.0},
        std::vector<double>{kInfinity, -kInfinity, -1e300}, std::vector<double>{-kLeast, 0.0},
        std::vector<double>{kLeast, 0.0, -0.0}, std::vector<double>{1e300, -2.0, -2.0}}) {
    for (const int behind : {0, 1, 40}) {  // also on another lane, and in a later turn
      std::vector<double> moved(static_cast<std::size_t>(behind), kInfinity);
      moved.insert(moved.end(), x.begin(), x.end());
      SCOPED_TRACE(behind);
      expect_same(moved, 8);
    }
  }
}

}  // namespace
}  // namespace carom::test

#endif
