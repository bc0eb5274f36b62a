#pragma once

#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <carom/batch.hpp>
#include <carom/impact.hpp>

/// Comparisons bit for bit: NaN equals the same NaN, and 0 differs from -0.
namespace carom::test {

/// Index of the first value whose bits differ, -1 where none does, -2 for different sizes.
template <class T>
std::ptrdiff_t first_difference(std::span<const T> a, std::span<const T> b) {
  if (a.size() != b.size()) return -2;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::memcmp(&a[i], &b[i], sizeof(T)) != 0) return static_cast<std::ptrdiff_t>(i);
  }
  return -1;
}
template <class T>
std::ptrdiff_t first_difference(const std::vector<T>& a, const std::vector<T>& b) {
  return first_difference(std::span<const T>(a), std::span<const T>(b));
}
template <class T>
std::ptrdiff_t first_difference(const Buffer<T>& a, const Buffer<T>& b) {
  return first_difference(a.host(), b.host());
}
/// The same for a slice of each buffer.
template <class T>
std::ptrdiff_t first_difference(const Buffer<T>& a, std::size_t from_a, const Buffer<T>& b,
                                std::size_t from_b, std::size_t count) {
  return first_difference(a.host().subspan(from_a, count), b.host().subspan(from_b, count));
}

/// Every array of two results, in either memory space.
template <class Table>
requires requires { typename Table::Sizes; }
void expect_identical(const Table& a, const Table& b) {
  Table::each_array(
      {},
      [](const char* name, const Extents&, const auto& one, const auto& other) {
        EXPECT_EQ(first_difference(one.to_vector(), other.to_vector()), -1) << name;
      },
      a, b);
}

/// same(values of a, values of b, name of the field) for every array of a summary; counts are
/// equal.
template <class Same>
void expect_summaries(const ImpactSummary& a, const ImpactSummary& b, Same&& same) {
  EXPECT_EQ(a.mode_counts, b.mode_counts);
  ImpactSummary::each_field(
      [&](const Field& field, const auto& one, const auto& other) {
        const std::string_view name = field.name;
        if constexpr (std::is_same_v<decltype(one), const std::vector<double>&>) {
          same(one, other, field.name);
        } else if (name != "step_size" && name != "max_steps" && name != "epsilon" &&
                   name != "contact_speed") {
          const bool undefined = one != one && other != other;  // losses without restitution
          if (!undefined) {
            EXPECT_EQ(one, other) << name;
          }
        }
      },
      a, b);
}

inline void expect_identical(const ImpactSummary& a, const ImpactSummary& b) {
  expect_summaries(a, b, [](const auto& one, const auto& other, const char* what) {
    EXPECT_EQ(first_difference(one, other), -1) << what;
  });
}

inline void expect_identical(const EpsilonNet& a, const EpsilonNet& b) {
  EXPECT_EQ(a.epsilon, b.epsilon);
  EXPECT_EQ(a.dropped, b.dropped);
  EXPECT_EQ(first_difference(a.velocity, b.velocity), -1);
  EXPECT_EQ(first_difference(a.impulse, b.impulse), -1);
  EXPECT_EQ(a.modes, b.modes);
  EXPECT_EQ(a.multiplicity, b.multiplicity);
  EXPECT_EQ(a.first_sample, b.first_sample);
  EXPECT_EQ(a.coverage, b.coverage);
}

/// Nets and paths bit for bit.
inline void expect_identical_sets(const ImpactResult& a, const ImpactResult& b) {
  ASSERT_EQ(a.net.size(), b.net.size());
  for (std::size_t p = 0; p < a.net.size(); ++p) expect_identical(a.net[p], b.net[p]);
  ASSERT_EQ(a.paths.size(), b.paths.size());
  for (std::size_t p = 0; p < a.paths.size(); ++p) {
    EXPECT_EQ(a.paths[p].offset, b.paths[p].offset);
    EXPECT_EQ(first_difference(a.paths[p].velocity, b.paths[p].velocity), -1);
    EXPECT_EQ(first_difference(a.paths[p].impulse, b.paths[p].impulse), -1);
    EXPECT_EQ(first_difference(a.paths[p].restitution, b.paths[p].restitution), -1);
    EXPECT_EQ(first_difference(a.paths[p].friction, b.paths[p].friction), -1);
  }
}

inline void expect_identical(const ImpactResult& a, const ImpactResult& b) {
  ASSERT_EQ(a.summary.size(), b.summary.size());
  for (std::size_t p = 0; p < a.summary.size(); ++p) {
    expect_identical(a.summary[p], b.summary[p]);
  }
  expect_identical_sets(a, b);
  expect_identical(a.samples, b.samples);
}

}  // namespace carom::test
