#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <carom/certificate_derivative.hpp>
#include <carom/derivative_lcp.hpp>

#include "core/arrays.hpp"
#include "core/workspace.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/programs/lcp_derivatives.hpp"
#include "programs/derivatives/kernels/report.hpp"
#include "support/bits.hpp"
#include "support/lcp_cases.hpp"
#include "support/message.hpp"

namespace carom {
namespace {

using test::expect_names;
using test::refusal;

struct Lcp {
  LcpBatch batch;
  LcpResult answer;
};

Lcp solved(int order, const std::vector<double>& matrix, const std::vector<double>& vector) {
  Lcp one;
  one.batch.problems = static_cast<std::int64_t>(vector.size()) / order;
  one.batch.order = order;
  one.batch.matrix = Buffer<double>::from(matrix);
  one.batch.vector = Buffer<double>::from(vector);
  one.answer = solve_lcp(one.batch);
  return one;
}

/// A P-matrix: definite with a skew part.
std::vector<double> definite(std::mt19937_64& random, int n) {
  std::normal_distribution<double> normal;
  std::vector<double> b(static_cast<std::size_t>(n) * n), m(b.size());
  for (double& value : b) value = normal(random);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = i == j ? 0.1 : 0.0;
      for (int k = 0; k < n; ++k) sum += b[i * n + k] * b[j * n + k] / n;
      m[i * n + j] = sum + 0.5 * (b[i * n + j] - b[j * n + i]);
    }
  }
  return m;
}

/// z of the modes `held` in long double.
std::vector<long double> branch(int n, const std::vector<long double>& matrix,
                                const std::vector<long double>& vector,
                                const std::vector<int>& held) {
  const int k = static_cast<int>(held.size());
  std::vector<long double> a(static_cast<std::size_t>(k) * k), x(k);
  for (int i = 0; i < k; ++i) {
    for (int j = 0; j < k; ++j) a[i * k + j] = matrix[held[i] * n + held[j]];
    x[i] = -vector[held[i]];
  }
  for (int c = 0; c < k; ++c) {
    int best = c;
    for (int i = c + 1; i < k; ++i) {
      if (std::fabs(a[i * k + c]) > std::fabs(a[best * k + c])) best = i;
    }
    for (int j = 0; j < k; ++j) std::swap(a[c * k + j], a[best * k + j]);
    std::swap(x[c], x[best]);
    for (int i = c + 1; i < k; ++i) {
      const long double factor = a[i * k + c] / a[c * k + c];
      for (int j = c; j < k; ++j) a[i * k + j] -= factor * a[c * k + j];
      x[i] -= factor * x[c];
    }
  }
  for (int i = k - 1; i >= 0; --i) {
    for (int j = i + 1; j < k; ++j) x[i] -= a[i * k + j] * x[j];
    x[i] /= a[i * k + i];
  }
  std::vector<long double> z(n, 0.0L);
  for (int i = 0; i < k; ++i) z[held[i]] = x[i];
  return z;
}

TEST(DifferentiateLcp, AgreesWithDifferencesInLongDouble) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  for (const int n : {1, 3, 8, 20}) {
    for (int trial = 0; trial < 20; ++trial) {
      const std::vector<double> matrix = definite(random, n);
      std::vector<double> vector(n), weight(n), d_matrix(matrix.size()), d_vector(n);
      for (auto* list : {&vector, &weight, &d_matrix, &d_vector}) {
        for (double& value : *list) value = normal(random);
      }
      const Lcp one = solved(n, matrix, vector);
      ASSERT_EQ(one.answer.status.host()[0], Status::solved);
      LcpCotangent cotangent;
      cotangent.solution = Buffer<double>::from(weight);
      const LcpGradient gradient = differentiate_lcp(one.batch, one.answer, cotangent);
      ASSERT_EQ(gradient.status.host()[0], Smoothness::smooth);
      std::vector<int> held;
      for (int i = 0; i < n; ++i) {
        if (one.answer.solution.host()[i] > 0.0) held.push_back(i);
      }
      const auto loss = [&](long double t) {
        std::vector<long double> m(matrix.size()), q(n);
        for (std::size_t i = 0; i < m.size(); ++i) m[i] = matrix[i] + t * d_matrix[i];
        for (int i = 0; i < n; ++i) q[i] = vector[i] + t * d_vector[i];
        const auto z = branch(n, m, q, held);
        long double sum = 0.0L;
        for (int i = 0; i < n; ++i) sum += weight[i] * z[i];
        return sum;
      };
      constexpr long double h = 1e-5L;
      const long double expected =
          (8.0L * (loss(h) - loss(-h)) - (loss(2.0L * h) - loss(-2.0L * h))) / (12.0L * h);
      double found = 0.0, size = 0.0;
      const auto add = [&](double g, double d) {
        found += g * d;
        size += std::fabs(g * d);
      };
      for (std::size_t i = 0; i < matrix.size(); ++i) add(gradient.matrix.host()[i], d_matrix[i]);
      for (int i = 0; i < n; ++i) add(gradient.vector.host()[i], d_vector[i]);
      EXPECT_NEAR(found, static_cast<double>(expected),
                  1e-10 * size * std::max(1.0, gradient.condition.host()[0] / 1e6));
    }
  }
}

/// That of the matrix whose rows, then columns, are multiplied by powers of two that make their
/// largest entries lie in [1/2, 1), in the 1-norm.
double scaled_condition(int n, const std::vector<double>& matrix) {
  std::vector<double> a = matrix;
  const auto scale = [&](int from, int along, int across) {
    double most = 0.0;
    int exponent = 0;
    for (int j = 0; j < n; ++j) most = std::max(most, std::fabs(a[from * across + j * along]));
    static_cast<void>(std::frexp(most, &exponent));
    for (int j = 0; j < n; ++j) a[from * across + j * along] *= std::ldexp(1.0, -exponent);
  };
  for (int i = 0; i < n; ++i) scale(i, 1, n);
  for (int j = 0; j < n; ++j) scale(j, n, 1);
  const std::vector<long double> exact(a.begin(), a.end());
  std::vector<int> all(n);
  for (int i = 0; i < n; ++i) all[i] = i;
  long double norm = 0.0L, inverse = 0.0L;
  for (int j = 0; j < n; ++j) {
    std::vector<long double> unit(n, 0.0L);
    unit[j] = 1.0L;
    const std::vector<long double> x = branch(n, exact, unit, all);
    long double size = 0.0L, inverse_size = 0.0L;
    for (int i = 0; i < n; ++i) {
      size += std::fabs(exact[i * n + j]);
      inverse_size += std::fabs(x[i]);
    }
    norm = std::max(norm, size);
    inverse = std::max(inverse, inverse_size);
  }
  return static_cast<double>(norm * inverse);
}

TEST(DifferentiateLcp, ConditionOfFewRowsIsNoEstimate) {
  std::mt19937_64 random(17);
  std::normal_distribution<double> normal;
  for (const int n : {1, 2, 4, 6, 7, 10}) {
    for (int trial = 0; trial < 20; ++trial) {
      const std::vector<double> matrix = definite(random, n);
      std::vector<double> vector(n, 0.0);  // every row is held
      for (int i = 0; i < n; ++i) {
        const double z = 0.5 + std::fabs(normal(random));
        for (int k = 0; k < n; ++k) vector[k] -= matrix[k * n + i] * z;
      }
      const Lcp one = solved(n, matrix, vector);
      LcpCotangent cotangent;
      cotangent.solution = Buffer<double>::from(std::vector<double>(n, 1.0));
      const LcpGradient gradient = differentiate_lcp(one.batch, one.answer, cotangent);
      const double expected = scaled_condition(n, matrix);
      EXPECT_NEAR(gradient.condition.host()[0], expected, 1e-14 * expected * expected) << n;
    }
  }
}

/// Frictionless contacts of one body, in pairs that are almost one contact, on springs: M = D (J J'
/// + 1e-8) D, whose condition is about 1e9, D from 1e-6 to 1e6.
Lcp pairs_of_contacts(int n, int problems, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(-6.0, 6.0);
  std::vector<double> matrix, vector;
  for (int p = 0; p < problems; ++p) {
    std::vector<double> rows(3UL * n), scale(n);
    for (double& one : scale) one = std::pow(10.0, uniform(random));
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < 3; ++k) {
        const bool again = i % 2 == 1;
        rows[3 * i + k] = again ? rows[3 * i + k - 3] + (k > 0 ? 1e-8 * normal(random) : 0.0)
                                : (k > 0 ? normal(random) : 1.0);
      }
    }
    const double falls = 1.0 + std::fabs(normal(random)), turns = normal(random);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        double sum = i == j ? 1e-8 : 0.0;
        for (int k = 0; k < 3; ++k) sum += rows[3 * i + k] * rows[3 * j + k];
        matrix.push_back(sum * (scale[i] * scale[j]));
      }
      vector.push_back((turns * rows[3 * i + 1] - falls) * scale[i]);
    }
  }
  return solved(n, matrix, vector);
}

TEST(DifferentiateLcp, LargeConditionsLoseNoMoreDigitsThanTheySay) {
  std::mt19937_64 random(19);
  std::normal_distribution<double> normal;
  for (const int n : {4, 10, 12}) {
    constexpr int kProblems = 64;
    const Lcp all = pairs_of_contacts(n, kProblems, random);
    std::vector<double> weight(kProblems * n), d_matrix(kProblems * n * n), d_vector(kProblems * n);
    for (auto* list : {&weight, &d_matrix, &d_vector}) {
      for (double& value : *list) value = normal(random);
    }
    for (std::size_t i = 0; i < d_matrix.size(); ++i) d_matrix[i] *= all.batch.matrix.host()[i];
    for (std::size_t i = 0; i < d_vector.size(); ++i) d_vector[i] *= all.batch.vector.host()[i];
    LcpCotangent cotangent;
    cotangent.solution = Buffer<double>::from(weight);
    LcpDirection direction;
    direction.matrix = Buffer<double>::from(d_matrix);
    direction.vector = Buffer<double>::from(d_vector);
    const LcpGradient gradient = differentiate_lcp(all.batch, all.answer, cotangent);
    const LcpTangent tangent = propagate_lcp(all.batch, all.answer, direction);
    DerivativeSettings one_by_one;
    one_by_one.radius = true;
    const LcpGradient alone = differentiate_lcp(all.batch, all.answer, cotangent, one_by_one);
    const LcpTangent ahead = propagate_lcp(all.batch, all.answer, direction, one_by_one);
    int steep = 0, ahead_of = 0;
    for (int p = 0; p < kProblems; ++p) {
      SCOPED_TRACE(p);
      if (gradient.status.host()[p] != Smoothness::smooth) continue;
      const double condition = gradient.condition.host()[p];
      steep += condition > 1e8;
      const auto wide = [p](const Buffer<double>& from, int count) {
        const double* at = from.data() + static_cast<std::ptrdiff_t>(p) * count;
        return std::vector<long double>(at, at + count);
      };
      const auto matrix = wide(all.batch.matrix, n * n), vector = wide(all.batch.vector, n);
      std::vector<long double> transposed(matrix.size()), pull(n), change(n);
      std::vector<int> held;
      for (int i = 0; i < n; ++i) {
        if (gradient.solution.host()[p * n + i] > 0.0) held.push_back(i);
        for (int j = 0; j < n; ++j) transposed[j * n + i] = matrix[i * n + j];
        pull[i] = -weight[p * n + i];
      }
      const auto z = branch(n, matrix, vector, held), y = branch(n, transposed, pull, held);
      for (int i = 0; i < n; ++i) {
        change[i] = d_vector[p * n + i];
        for (int j = 0; j < n; ++j) change[i] += d_matrix[(p * n + i) * n + j] * z[j];
      }
      const auto dz = branch(n, matrix, change, held);
      const auto expect_near = [&](const char* name, const Buffer<double>& found,
                                   const Buffer<double>& other, const auto& expected, int count) {
        SCOPED_TRACE(name);
        long double size = 0.0L, error = 0.0L;
        for (int i = 0; i < count; ++i) {
          const long double exact = expected(i);
          size = std::max(size, std::fabs(exact));
          error = std::max(error, std::fabs(found.host()[p * count + i] - exact));
          EXPECT_EQ(found.host()[p * count + i], other.host()[p * count + i]);
        }
        EXPECT_LE(error, 1e-10L * std::max(1.0, condition / 1e6) * size);
      };
      expect_near(
          "vector", gradient.vector, alone.vector, [&](int i) { return -y[i]; }, n);
      expect_near(
          "matrix", gradient.matrix, alone.matrix, [&](int i) { return -y[i / n] * z[i % n]; },
          n * n);
      if (tangent.status.host()[p] != Smoothness::smooth) continue;
      ++ahead_of;
      expect_near(
          "solution", tangent.solution, ahead.solution, [&](int i) { return dz[i]; }, n);
    }
    EXPECT_GE(steep, kProblems / 2) << n;
    EXPECT_GE(ahead_of, kProblems / 2) << n;
  }
}

TEST(DifferentiateLcp, TheCertificateRefusesMutations) {
  std::mt19937_64 random(12);
  std::normal_distribution<double> normal;
  int mutations = 0;
  for (int trial = 0; trial < 50; ++trial) {
    const int n = 6;
    const std::vector<double> matrix = definite(random, n);
    std::vector<double> vector(n), weight(n);
    for (double& value : vector) value = normal(random);
    for (double& value : weight) value = normal(random);
    const Lcp one = solved(n, matrix, vector);
    LcpCotangent cotangent;
    cotangent.solution = Buffer<double>::from(weight);
    const LcpGradient gradient = differentiate_lcp(one.batch, one.answer, cotangent);
    const double* z = one.answer.solution.data();
    const auto held = [z](int i) { return z[i] > 0.0; };
    std::vector<double> y = gradient.adjoint.to_vector();
    const auto residual = [&] {
      return certificate::lcp_adjoint_residual(n, matrix.data(), held, weight.data(), y.data());
    };
    EXPECT_LE(residual(), 1e-14);
    int rows = 0;
    for (int i = 0; i < n; ++i) rows += held(i) ? 1 : 0;
    if (rows < 2) continue;
    const std::vector<double> right = y;
    for (double& value : y) value = -value;  // wrong sign
    EXPECT_GE(residual(), 0.1);
    y = right;
    for (int i = 0; i < n; ++i) {  // a dropped row
      if (!held(i)) continue;
      y[i] = 0.0;
      EXPECT_GE(residual(), 1e-6);
      y[i] = right[i] * (1.0 + 1e-9);  // an iteration that stopped early
      EXPECT_GE(residual(), 1e-12);
      y = right;
      ++mutations;
    }
    for (int i = 0; i < n; ++i) {  // an inactive row kept
      if (held(i)) continue;
      y[i] = 1e-3;
      EXPECT_TRUE(std::isinf(residual()));
      y = right;
    }
    for (int i = 0; i < n; ++i) y[i] *= held(i) ? z[i] : 1.0;  // lambda squared
    EXPECT_GE(residual(), 1e-6);
  }
  EXPECT_GE(mutations, 50);
}

TEST(DifferentiateLcp, StatusesByConstruction) {
  // max(0, -q): kink at 0, its mean 1/2; one side free.
  const Lcp touching = solved(1, {1.0}, {0.0});
  LcpCotangent cotangent;
  cotangent.solution = Buffer<double>::from(std::vector<double>{1.0});
  const auto at = [&](AtKink element) {
    DerivativeSettings settings;
    settings.at_kink = element;
    const LcpGradient gradient =
        differentiate_lcp(touching.batch, touching.answer, cotangent, settings);
    EXPECT_EQ(gradient.status.host()[0], Smoothness::kink);
    EXPECT_EQ(gradient.doubtful.host()[0], 1);
    return gradient.vector.host()[0];
  };
  EXPECT_EQ(at(AtKink::mean), -0.5);
  EXPECT_EQ(at(AtKink::held), -1.0);
  EXPECT_EQ(at(AtKink::free), 0.0);
  EXPECT_TRUE(std::isnan(at(AtKink::nan)));
  LcpDirection direction;
  direction.vector = Buffer<double>::from(std::vector<double>{-1.0});
  EXPECT_EQ(propagate_lcp(touching.batch, touching.answer, direction).solution.host()[0], 1.0);
}

TEST(DifferentiateLcp, OtherProjectsProblems) {
  // A third of them have no derivative in z: friction's slack variables, or redundant contacts.
  int smooth = 0, set_valued = 0, solvable = 0;
  for (const test::LcpCase& item : test::lcp_cases()) {
    const Lcp one = solved(item.order, item.matrix, item.vector);
    if (one.answer.status.host()[0] != Status::solved) continue;
    ++solvable;
    std::vector<double> weight(item.order);
    for (int i = 0; i < item.order; ++i) weight[i] = 1.0 + 0.37 * i;
    LcpCotangent cotangent;
    cotangent.solution = Buffer<double>::from(weight);
    const Smoothness status = differentiate_lcp(one.batch, one.answer, cotangent).status.host()[0];
    smooth += status == Smoothness::smooth ? 1 : 0;
    set_valued += status == Smoothness::set_valued ? 1 : 0;
  }
  EXPECT_EQ(solvable, 32);
  EXPECT_EQ(smooth, 21);
  EXPECT_EQ(set_valued, 11);
}

TEST(DifferentiateLcp, RefusalsNameFieldIndexAndValue) {
  const Lcp one = solved(2, {1, 0, 0, 1}, {-1, 1});
  LcpCotangent cotangent;
  cotangent.solution =
      Buffer<double>::from(std::vector<double>{1.0, std::numeric_limits<double>::infinity()});
  expect_names(
      refusal([&] { static_cast<void>(differentiate_lcp(one.batch, one.answer, cotangent)); }),
      {"cotangent.solution[1]", "problem 0", "inf"});
  cotangent.solution = Buffer<double>::from(std::vector<double>{1.0});
  expect_names(
      refusal([&] { static_cast<void>(differentiate_lcp(one.batch, one.answer, cotangent)); }),
      {"cotangent.solution", "1", "2"});
  cotangent.solution = Buffer<double>::from(std::vector<double>{1.0, 1.0});
  DerivativeSettings settings;
  settings.margin_tolerance = 0.0;
  expect_names(refusal([&] {
                 static_cast<void>(differentiate_lcp(one.batch, one.answer, cotangent, settings));
               }),
               {"margin_tolerance", "0"});
  EXPECT_THROW(static_cast<void>(
                   differentiate_lcp(one.batch, one.answer, cotangent, {}, {}, Backend::reference)),
               BackendUnavailable);
}

/// Smooth answers, kinks, answers beside kinks, and one that is not solved.
Lcp mixed(int n, std::int64_t problems, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<double> matrix, vector;
  for (std::int64_t p = 0; p < problems; ++p) {
    const std::vector<double> m = definite(random, n);
    std::vector<double> z(n), w(n);
    for (int i = 0; i < n; ++i) (normal(random) > 0.0 ? z : w)[i] = std::fabs(normal(random));
    if (p % 7 == 3) z[0] = w[0] = 0.0;
    if (p % 7 == 5) z[0] = 1e-12, w[0] = 0.0;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) w[i] -= m[i * n + j] * z[j];
    }
    matrix.insert(matrix.end(), m.begin(), m.end());
    vector.insert(vector.end(), w.begin(), w.end());
  }
  Lcp one = solved(n, matrix, vector);
  if (problems > 2) one.answer.status.host()[2] = Status::inaccurate;
  return one;
}

template <class Table>
void expect_equal_reports(const Table& a, const Table& b) {
  Table::each_report(
      static_cast<std::int64_t>(a.status.size()),
      [](const char* name, const Extents&, const auto& one, const auto& other) {
        SCOPED_TRACE(name);
        ASSERT_EQ(one.size(), other.size());
        for (std::size_t i = 0; i < one.size(); ++i) {
          const auto x = one.host()[i], y = other.host()[i];
          EXPECT_TRUE(x == y || (x != x && y != y))
              << i << ": " << static_cast<double>(x) << ", " << static_cast<double>(y);
        }
      },
      a, b);
}
void expect_equal_numbers(const Buffer<double>& one, const Buffer<double>& other) {
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    const double x = one.host()[i], y = other.host()[i];
    EXPECT_TRUE(x == y || (x != x && y != y)) << i << ": " << x << ", " << y;
  }
}

TEST(DifferentiateLcp, PacksHaveTheNumbersOfOneLane) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  for (const int n : {1, 2, 5, 9, 14, 21, 48}) {
    SCOPED_TRACE(n);
    const Lcp all = mixed(n, 29, random);
    LcpCotangent cotangent;
    LcpDirection direction;
    const auto drawn = [&](std::size_t count) {
      Buffer<double> values(count);
      for (double& value : values.host()) value = normal(random);
      return values;
    };
    cotangent.solution = drawn(29 * n);
    cotangent.w = drawn(29 * n);
    direction.vector = drawn(29 * n);
    direction.matrix = drawn(29 * n * n);
    DerivativeSettings alone;
    alone.radius = true;  // one lane has it
    const LcpGradient g = differentiate_lcp(all.batch, all.answer, cotangent);
    const LcpGradient h = differentiate_lcp(all.batch, all.answer, cotangent, alone);
    expect_equal_reports<LcpGradientArrays<Buffer>>(g, h);
    expect_equal_numbers(g.matrix, h.matrix);
    expect_equal_numbers(g.vector, h.vector);
    expect_equal_numbers(g.adjoint, h.adjoint);
    expect_equal_numbers(g.solution, h.solution);
    const LcpTangent t = propagate_lcp(all.batch, all.answer, direction);
    const LcpTangent u = propagate_lcp(all.batch, all.answer, direction, alone);
    expect_equal_reports<LcpTangentArrays<Buffer>>(t, u);
    expect_equal_numbers(t.solution, u.solution);
    expect_equal_numbers(t.w, u.w);
    DerivativeSettings unreached;
    unreached.reach = false;
    LcpGradient less = differentiate_lcp(all.batch, all.answer, cotangent, unreached);
    for (const double reach : less.reach.host()) EXPECT_NE(reach, reach);
    std::copy(g.reach.host().begin(), g.reach.host().end(), less.reach.host().begin());
    expect_equal_reports<LcpGradientArrays<Buffer>>(g, less);
    expect_equal_numbers(g.matrix, less.matrix);
    const LcpTangent short_sighted = propagate_lcp(all.batch, all.answer, direction, unreached);
    for (const double reach : short_sighted.reach.host()) EXPECT_NE(reach, reach);
    expect_equal_numbers(t.solution, short_sighted.solution);
    int smooth = 0;
    for (const Smoothness status : g.status.host()) smooth += status == Smoothness::smooth;
    EXPECT_GE(smooth, 18);
    EXPECT_LE(smooth, 28);
  }
}

TEST(DifferentiateLcp, InstructionSetsHaveTheSameNumbers) {
  std::mt19937_64 random(6);
  constexpr int n = 11;
  const Lcp all = mixed(n, 21, random);
  LcpCotangent cotangent;
  cotangent.solution = Buffer<double>::from(std::vector<double>(21 * n, 1.0));
  const LcpGradient expected = differentiate_lcp(all.batch, all.answer, cotangent);
  for (const cpu::simd::InstructionSet* set : cpu::simd::instruction_sets()) {
    SCOPED_TRACE(set->name);
    auto found = allocate<LcpGradient>(all.batch, MemorySpace::host, true);
    Buffer<double> reals(cpu::simd::lcp_derivative_pack_reals(n));
    Buffer<bool> open(21);
    cpu::simd::LcpDerivativeRange range{};
    arrays::bind(range, all.batch);
    range.end = 21;
    range.order = n;
    range.solution = all.answer.solution.data();
    range.status = all.answer.status.data();
    range.rules = {AtKink::mean, 1e-9, 1e-6};
    range.reals = reals.data();
    range.open = open.data();
    arrays::bind(range.cotangent, cotangent, all.batch);
    arrays::bind(range.gradient, found, all.batch);
    cpu::simd::derivative_code(*set).lcps(range);
    int taken = 0;
    for (int p = 0; p < 21; ++p) {
      if (open.host()[p]) continue;
      ++taken;
      for (int i = 0; i < n * n; ++i) {
        EXPECT_EQ(found.matrix.host()[p * n * n + i], expected.matrix.host()[p * n * n + i]);
      }
      EXPECT_EQ(found.reach.host()[p], expected.reach.host()[p]);
    }
    EXPECT_EQ(taken > 0, set->name != "generic");
  }
}

}  // namespace
}  // namespace carom
