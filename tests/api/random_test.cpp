#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <boost/random/sobol.hpp>

#include <carom/error.hpp>

#include "core/random.hpp"
#include "support/message.hpp"

namespace carom {
namespace {

/// The double that two output words of Philox stand for.
double expected(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (std::uint64_t{high} << 32) | low;
  return std::ldexp(static_cast<double>(bits >> 11), -53);
}

// Known answers of philox4x32-10 as published with Random123.
TEST(Random, PhiloxKnownAnswers) {
  struct Known {
    std::array<std::uint32_t, 4> counter;
    std::array<std::uint32_t, 2> key;
    std::array<std::uint32_t, 4> word;
  };
  constexpr std::uint32_t kOnes = 0xffffffffU;
  const Known known[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U}},
      {{kOnes, kOnes, kOnes, kOnes},
       {kOnes, kOnes},
       {0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU}},
      {{0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U},
       {0xa4093822U, 0x299f31d0U},
       {0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U}}};
  for (const Known& item : known) {
    const std::uint64_t seed = (std::uint64_t{item.key[1]} << 32) | item.key[0];
    const std::uint64_t sample = (std::uint64_t{item.counter[1]} << 32) | item.counter[0];
    const UniformPair pair = uniform_pair(seed, item.counter[3], sample, item.counter[2]);
    EXPECT_EQ(pair.first, expected(item.word[1], item.word[0]));
    EXPECT_EQ(pair.second, expected(item.word[3], item.word[2]));
  }
}

TEST(Random, UniformIsHalfOpen) {
  EXPECT_EQ(uniform_from_words(0, 0), 0.0);
  EXPECT_LT(uniform_from_words(0xffffffffU, 0xffffffffU), 1.0);
  EXPECT_EQ(uniform_from_words(0x80000000U, 0), 0.5);
  double sum = 0.0;
  double square = 0.0;
  constexpr int kCount = 200000;
  for (int i = 0; i < kCount; ++i) {
    const double u = uniform(99, 3, static_cast<std::uint64_t>(i), 5);
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
    square += u * u;
  }
  EXPECT_NEAR(sum / kCount, 0.5, 5.0 * std::sqrt(1.0 / 12.0 / kCount));
  EXPECT_NEAR(square / kCount, 1.0 / 3.0, 5.0 * std::sqrt(4.0 / 45.0 / kCount));
}

TEST(Random, PairIsTwoNeighbouringDraws) {
  for (std::uint32_t block = 0; block < 100; ++block) {
    const UniformPair pair = uniform_pair(7, 2, 11, block);
    EXPECT_EQ(pair.first, uniform(7, 2, 11, 2 * block));
    EXPECT_EQ(pair.second, uniform(7, 2, 11, 2 * block + 1));
  }
}

// Every part of the address counts, also its upper half.
TEST(Random, AddressesAreIndependent) {
  std::set<double> seen;
  std::size_t count = 0;
  const auto add = [&](double value) {
    seen.insert(value);
    ++count;
  };
  for (std::uint64_t i = 0; i < 200; ++i) {
    add(uniform(i, 0, 0, 0));
    add(uniform((i + 1) << 32, 0, 0, 0));
    add(uniform(0, static_cast<std::uint32_t>(i + 1), 0, 0));
    add(uniform(0, 0, i + 1, 0));
    add(uniform(0, 0, (i + 1) << 32, 0));
    add(uniform(0, 0, 0, static_cast<std::uint32_t>(i + 1)));
    add(uniform(0, 0, 0, kChoiceDraws + static_cast<std::uint32_t>(i)));
  }
  EXPECT_EQ(seen.size(), count);
}

TEST(Random, NeighboursAreUncorrelated) {
  constexpr int kCount = 100000;
  const auto correlation = [](const auto& a, const auto& b) {
    double sum = 0.0;
    for (int i = 0; i < kCount; ++i) {
      sum += (a(static_cast<std::uint64_t>(i)) - 0.5) * (b(static_cast<std::uint64_t>(i)) - 0.5);
    }
    return 12.0 * sum / kCount;
  };
  const double bound = 5.0 / std::sqrt(kCount);
  const auto base = [](std::uint64_t i) { return uniform(1, 0, i, 0); };
  EXPECT_LT(std::abs(correlation(base, [](std::uint64_t i) { return uniform(1, 0, i, 1); })),
            bound);
  EXPECT_LT(std::abs(correlation(base, [](std::uint64_t i) { return uniform(1, 0, i + 1, 0); })),
            bound);
  EXPECT_LT(std::abs(correlation(base, [](std::uint64_t i) { return uniform(1, 1, i, 0); })),
            bound);
  EXPECT_LT(std::abs(correlation(base, [](std::uint64_t i) { return uniform(2, 0, i, 0); })),
            bound);
}

std::uint64_t bits_of(double point) { return static_cast<std::uint64_t>(std::ldexp(point, 52)); }

// Boost's sequence (which leaves out the point zero), shifted digit by digit by one number a
// coordinate: that number is the point of index zero.
TEST(Sobol, IsBoostsSequenceShifted) {
  for (const int dimensions : {1, 2, 7, 40}) {
    const auto count = static_cast<std::size_t>(dimensions);
    const auto directions = sobol_directions(dimensions);
    ASSERT_EQ(directions.size(), count * kSobolBits);
    boost::random::sobol_engine<std::uint64_t, kSobolBits> boost(count);
    std::vector<std::uint64_t> shift(count);
    for (std::size_t d = 0; d < count; ++d) {
      shift[d] = bits_of(sobol(directions.data(), 42, 3, 0, static_cast<std::uint32_t>(d)));
    }
    for (std::uint64_t sample = 1; sample <= 3000; ++sample) {
      for (std::size_t d = 0; d < count; ++d) {
        const double point = sobol(directions.data(), 42, 3, sample, static_cast<std::uint32_t>(d));
        ASSERT_GE(point, 0.0);
        ASSERT_LT(point, 1.0);
        ASSERT_EQ(bits_of(point), boost() ^ shift[d]) << "sample " << sample << ", draw " << d;
      }
    }
  }
}

TEST(Sobol, DimensionsArePrefixes) {
  const auto few = sobol_directions(5);
  const auto many = sobol_directions(60);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
}

TEST(Sobol, ShiftDependsOnSeedAndProblem) {
  const auto directions = sobol_directions(3);
  EXPECT_NE(sobol(directions.data(), 1, 0, 5, 0), sobol(directions.data(), 2, 0, 5, 0));
  EXPECT_NE(sobol(directions.data(), 1, 0, 5, 0), sobol(directions.data(), 1, 1, 5, 0));
}

TEST(Sobol, RefusesTooManyDimensions) {
  EXPECT_EQ(sobol_directions(kMaxSobolDimensions).size(),
            static_cast<std::size_t>(kMaxSobolDimensions) * kSobolBits);
  test::expect_names(test::refusal([] { sobol_directions(kMaxSobolDimensions + 1); }),
                     {"sobol", "3668", "3667"});
  test::expect_names(test::refusal([] { sobol_directions(0); }), {"sobol", "0"});
}

}  // namespace
}  // namespace carom
