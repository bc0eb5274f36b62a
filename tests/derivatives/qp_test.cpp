#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <carom/derivative_qp.hpp>
#include <carom/qp.hpp>

#include "core/arrays.hpp"
#include "core/workspace.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/programs/qp_derivatives.hpp"
#include "programs/derivatives/kernels/qp.hpp"
#include "support/random_qps.hpp"

namespace carom {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A batch with its answer and what is asked of it.
struct Asked {
  QpBatch batch;
  QpResult answer;
  QpCotangent cotangent;
  QpDirection direction;
};

Buffer<double> drawn(std::mt19937_64& random, std::size_t count) {
  std::normal_distribution<double> normal;
  Buffer<double> values(count);
  for (double& value : values.host()) value = normal(random);
  return values;
}

/// multipliers: whether they are asked for as well.
Asked asked(QpBatch batch, std::uint64_t seed, bool multipliers, QpMethod method,
            double tolerance = 1e-9) {
  std::mt19937_64 random(seed);
  Asked all;
  QpSettings settings;
  settings.method = method;
  settings.tolerance = tolerance;
  all.answer = solve_qp(batch, settings);
  all.cotangent.solution = drawn(random, all.answer.solution.size());
  if (multipliers) {
    all.cotangent.dual = drawn(random, all.answer.dual.size());
    all.cotangent.cone_dual = drawn(random, all.answer.cone_dual.size());
    all.cotangent.objective = drawn(random, static_cast<std::size_t>(batch.problems));
  }
  QpDirection::each_array(
      batch,
      [&](const char*, const Extents&, auto& to, const auto& from) {
        to = drawn(random, from.size());
      },
      all.direction, static_cast<QpBatchArrays<Buffer>&>(batch));
  all.batch = std::move(batch);
  return all;
}

QpBatch random_batch(int n, int m, int equations, std::vector<Cone> cones, double spread) {
  test::QpFlavour flavour;
  flavour.variables = flavour.rank = n;
  flavour.rows = m;
  flavour.equations = equations;
  flavour.cones = std::move(cones);
  flavour.spread = spread;
  return test::random_qps(flavour, 29, static_cast<unsigned>(n + m));
}

/// Every row twice, in two units: an interior point gives both of them a multiplier.
QpBatch doubled(QpBatch batch) {
  const int n = batch.variables, m = batch.rows;
  std::vector<double> matrix, lower, upper;
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    for (const double unit : {1.0, 4.0}) {
      for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j)
          matrix.push_back(unit * batch.matrix.data()[(p * m + i) * n + j]);
        lower.push_back(unit * batch.lower.data()[p * m + i]);
        upper.push_back(unit * batch.upper.data()[p * m + i]);
      }
    }
  }
  batch.rows = 2 * m;
  batch.matrix = Buffer<double>::from(matrix);
  batch.lower = Buffer<double>::from(lower);
  batch.upper = Buffer<double>::from(upper);
  return batch;
}

/// The same problems about a far point: terms of the stationarity become `far` times as large, the
/// multipliers stay.
QpBatch moved_away(QpBatch batch, double far) {
  const auto n = static_cast<std::size_t>(batch.variables);
  const std::size_t m = static_cast<std::size_t>(batch.rows);
  const std::size_t cone_rows = batch.cone_vector.size() / static_cast<std::size_t>(batch.problems);
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  for (std::size_t p = 0; p < static_cast<std::size_t>(batch.problems); ++p) {
    std::vector<double> by(n);
    for (double& t : by) t = far * normal(random);
    const auto image = [&](const Buffer<double>& of, std::size_t row) {
      double sum = 0.0;
      for (std::size_t j = 0; j < n; ++j) sum += of.data()[row * n + j] * by[j];
      return sum;
    };
    for (std::size_t j = 0; j < n; ++j) {
      batch.vector.data()[p * n + j] -= image(batch.hessian, p * n + j);
    }
    for (std::size_t i = p * m; i < (p + 1) * m; ++i) {
      batch.lower.data()[i] += image(batch.matrix, i);
      batch.upper.data()[i] += image(batch.matrix, i);
    }
    for (std::size_t i = p * cone_rows; i < (p + 1) * cone_rows; ++i) {
      batch.cone_vector.data()[i] += image(batch.cone_matrix, i);
    }
  }
  return batch;
}

/// A box that lands on corners of which more than three hold three velocities.
QpBatch landings(int corners) {
  std::mt19937_64 random(static_cast<std::uint64_t>(corners));
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<double> hessian, vector, matrix;
  for (int p = 0; p < 29; ++p) {
    const double skew = 0.01 * uniform(random), turn = p % 3 == 0 ? 4.0 : 0.1;
    const double mass[9] = {2.0, skew, skew, skew, 0.1, skew, skew, skew, 0.15};
    const double before[3] = {-0.5 + 0.4 * uniform(random), turn * uniform(random),
                              turn * uniform(random)};
    hessian.insert(hessian.end(), mass, mass + 9);
    for (int j = 0; j < 3; ++j) {
      double sum = 0.0;
      for (int k = 0; k < 3; ++k) sum -= mass[3 * j + k] * before[k];
      vector.push_back(sum);
    }
    for (int c = 0; c < corners; ++c) {
      const double size = c < 4 ? 1.0 : 0.6;
      matrix.insert(matrix.end(),
                    {1.0, size * (c % 2 == 0 ? -0.4 : 0.4), size * (c % 4 < 2 ? 0.5 : -0.5)});
    }
  }
  QpBatch batch;
  batch.problems = 29;
  batch.variables = 3;
  batch.rows = corners;
  batch.hessian = Buffer<double>::from(hessian);
  batch.vector = Buffer<double>::from(vector);
  batch.matrix = Buffer<double>::from(matrix);
  batch.lower = Buffer<double>::from(std::vector<double>(matrix.size() / 3, 0.0));
  batch.upper = Buffer<double>::from(std::vector<double>(matrix.size() / 3, kInfinity));
  return batch;
}

const derivatives::DerivativeRules kRules{AtKink::mean, 1e-9, 1e-6};

/// In the packs of an instruction set, forwards or backwards; what they leave open.
template <class Table>
std::vector<char> in_packs(const cpu::simd::InstructionSet& set, const Asked& all,
                           const QpWanted& wanted, Table& table, std::int64_t first = 0) {
  const QpBatch& batch = all.batch;
  const auto count = static_cast<std::size_t>(batch.problems);
  Buffer<double> reals(static_cast<std::size_t>(
      cpu::simd::qp_derivative_pack_reals(batch.variables, batch.rows + batch.cone_rows())));
  Buffer<bool> open(count);
  cpu::simd::QpDerivativeRange range{};
  arrays::bind(range, batch);
  range.begin = first;
  range.end = batch.problems;
  range.variables = batch.variables;
  range.rows = batch.rows;
  range.cone_rows = batch.cone_rows();
  range.cones = static_cast<int>(batch.cones.size());
  range.cone = batch.cones.data();
  range.solution = all.answer.solution.data();
  range.dual = all.answer.dual.data();
  range.cone_dual = all.answer.cone_dual.data();
  range.status = all.answer.status.data();
  range.rules = kRules;
  range.wanted = wanted;
  range.reals = reals.data();
  range.open = open.data();
  if constexpr (std::is_same_v<Table, QpGradient>) {
    arrays::bind(range.cotangent, all.cotangent, batch);
    arrays::bind(range.gradient, table, batch);
  } else {
    arrays::bind(range.direction, all.direction, batch);
    arrays::bind(range.tangent, table, batch);
  }
  cpu::simd::derivative_code(set).qps(range);
  const auto own = open.host().first(count - static_cast<std::size_t>(first));
  return {own.begin(), own.end()};
}

/// One problem after another, by the body that takes everything.
template <class Table>
Table one_by_one(const Asked& all, const QpWanted& wanted) {
  const QpBatch& batch = all.batch;
  const int n = batch.variables, m = batch.rows, k = batch.cone_rows();
  auto table = allocate<Table>(batch);
  const derivatives::QpShape shape{n, m, k, static_cast<int>(batch.cones.size()),
                                   batch.cones.data()};
  std::vector<double> reals(static_cast<std::size_t>(derivatives::qp_derivative_reals(n, m + k)));
  std::vector<int> ints(static_cast<std::size_t>(derivatives::qp_derivative_ints(n, m + k)));
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    derivatives::QpView problem;
    arrays::bind(problem, batch, batch, p);
    derivatives::QpDerivative one(shape, problem, kRules, reals.data(), ints.data());
    derivatives::Report report;
    if (all.answer.status.data()[p] == Status::solved &&
        one.modes(all.answer.solution.data() + p * n, all.answer.dual.data() + p * m,
                  all.answer.cone_dual.data() + p * k, report)) {
      if constexpr (std::is_same_v<Table, QpGradient>) {
        derivatives::QpCotangentView cotangent;
        derivatives::QpGradientView view;
        arrays::bind(cotangent, all.cotangent, batch, p);
        arrays::bind(view, static_cast<QpBatchArrays<Buffer>&>(table), batch, p);
        one.adjoint(cotangent, wanted, view, report);
      } else {
        derivatives::QpDirectionView along;
        arrays::bind(along, static_cast<const QpBatchArrays<Buffer>&>(all.direction), batch, p);
        one.tangent(along,
                    {table.solution.data() + p * n, table.dual.data() + p * m,
                     table.cone_dual.data() + p * k, table.objective.data() + p},
                    report);
      }
    }
    const auto at = static_cast<std::size_t>(p);
    table.status.data()[at] = report.status;
    table.residual.data()[at] = report.residual;
    table.margin.data()[at] = report.margin;
    table.condition.data()[at] = report.condition;
    table.shift.data()[at] = report.shift;
    table.reach.data()[at] = report.reach;
    table.doubtful.data()[at] = report.doubtful;
  }
  return table;
}

/// A share of the largest number of an array: below it a problem's zeros are only rounding.
template <class Values>
double floor_of(const Values& values) {
  double most = 0.0;
  for (const auto value : values) {
    const double size = std::fabs(static_cast<double>(value));
    if (size < kInfinity) most = std::max(most, size);
  }
  return 1e-3 * most;
}

/// What packs took of a batch: the same numbers in all instruction sets, those of one by one to
/// rounding, the same statuses. How many they took.
template <class Table>
int expect_numbers_of_one_by_one(const Asked& all, const QpWanted& wanted) {
  const auto expected = one_by_one<Table>(all, wanted);
  std::vector<char> first_open;
  std::optional<Table> first;
  int taken = 0;
  for (const cpu::simd::InstructionSet* set : cpu::simd::instruction_sets()) {
    SCOPED_TRACE(set->name);
    auto found = allocate<Table>(all.batch);
    const std::vector<char> open = in_packs(*set, all, wanted, found);
    if (!first) {
      first_open = open;
      taken = static_cast<int>(std::count(open.begin(), open.end(), 0));
    }
    EXPECT_EQ(open, first_open);
    Table::each_array(
        all.batch,
        [&](const char* name, const Extents& extents, const auto& x, const auto& y, const auto& z) {
          SCOPED_TRACE(name);
          const std::size_t stride = static_cast<std::size_t>(extents.stride());
          const double least = floor_of(y.host());
          for (std::size_t i = 0; i < x.size(); ++i) {
            const std::size_t p = i / stride;
            if (open[p] != 0) continue;
            const auto a = static_cast<double>(x.host()[i]), b = static_cast<double>(y.host()[i]);
            const auto c = static_cast<double>(z.host()[i]);
            if (std::isnan(b)) {
              EXPECT_TRUE(std::isnan(a) && std::isnan(c)) << p;
              continue;
            }
            EXPECT_EQ(a, c) << p;  // bit for bit but for -0
            const std::string field = name;
            const double condition = expected.condition.host()[p];
            if (field == "residual" || field == "shift") {
              EXPECT_LE(a, 1e-12 * std::max(1.0, b / 1e-13)) << p;
            } else if (field == "condition") {
              EXPECT_LT(a, 3.0 * b) << p;
              EXPECT_GT(a, b / 3.0) << p;
            } else if (field == "reach" && b > 1e12) {  // of a gradient that only rounding makes
              EXPECT_GT(a, 1e12) << p;
            } else if (std::isinf(b)) {
              EXPECT_EQ(a, b) << p;
            } else if (field == "reach") {  // a small gap over its rate
              EXPECT_NEAR(a, b, 1e-7 * b) << p;
            } else if (field == "margin") {  // its unit is that of before polishing
              EXPECT_NEAR(a, b, 1e-5 * b) << p;
            } else {
              double size = std::max(least, std::fabs(b));
              for (std::size_t k = p * stride; k < (p + 1) * stride; ++k) {
                size = std::max(size, std::fabs(static_cast<double>(y.host()[k])));
              }
              EXPECT_NEAR(a, b, 1e-14 * condition * size + 1e-12 * size) << p;
            }
          }
        },
        found, expected, first ? *first : found);
    // Other neighbours in the packs: the same numbers.
    auto shifted = allocate<Table>(all.batch);
    constexpr std::int64_t kLeft = 3;
    const std::vector<char> left_open = in_packs(*set, all, wanted, shifted, kLeft);
    EXPECT_TRUE(std::equal(left_open.begin(), left_open.end(), open.begin() + kLeft));
    Table::each_array(
        all.batch,
        [&](const char* name, const Extents& extents, const auto& x, const auto& y) {
          SCOPED_TRACE(name);
          const std::size_t stride = static_cast<std::size_t>(extents.stride());
          for (std::size_t i = kLeft * stride; i < x.size(); ++i) {
            if (open[i / stride] != 0) continue;
            const auto a = static_cast<double>(x.host()[i]), b = static_cast<double>(y.host()[i]);
            EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << i / stride;
          }
        },
        found, shifted);
    if (!first) first = std::move(found);
  }
  return taken;
}

TEST(DifferentiateQp, PacksHaveTheNumbersOfOneByOne) {
  struct Case {
    QpBatch batch;
    int least;  // of 29 that packs take
    int least_without_rows;
    QpMethod method = QpMethod::automatic;
  };
  const Case cases[] = {
      {random_batch(6, 8, 0, {}, 0.0), 26, 26},
      {random_batch(12, 20, 0, {}, 0.0), 26, 26},
      {random_batch(9, 15, 3, {}, 2.0), 26, 26},
      {random_batch(24, 48, 5, {}, 0.0), 26, 26},
      {random_batch(7, 5, 0, {{ConeKind::nonnegative, 6}, {ConeKind::zero, 2}}, 0.0), 26, 26},
      {random_batch(5, 0, 0, {}, 0.0), 28, 28},
      {random_batch(12, 8, 0, std::vector<Cone>(4, {ConeKind::second_order, 3}), 0.0), 24, 24},
      {random_batch(8, 4, 1, {{ConeKind::second_order, 5}, {ConeKind::nonnegative, 2}}, 1.0), 24,
       24},
      {landings(4), 3, 28},
      {landings(8), 3, 28},
      {doubled(random_batch(6, 8, 0, {}, 0.0)), 2, 18},
      {doubled(random_batch(6, 8, 0, {}, 0.0)), 2, 18, QpMethod::interior_point},
      {doubled(random_batch(5, 3, 1, {}, 2.0)), 0, 0, QpMethod::interior_point}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.batch.variables);
    SCOPED_TRACE(one.batch.rows);
    Asked all = asked(one.batch.to(MemorySpace::host), 3, true, one.method);
    all.answer.status.data()[2] = Status::inaccurate;
    all.answer.solution.data()[5 * one.batch.variables] = std::nan("");
    EXPECT_GE(expect_numbers_of_one_by_one<QpGradient>(all, {}), one.least - 2);
    EXPECT_GE(expect_numbers_of_one_by_one<QpTangent>(all, {}), one.least - 2);
    for (Buffer<double>* of_rows : {&all.direction.matrix, &all.direction.cone_matrix,
                                    &all.direction.lower, &all.direction.upper}) {
      *of_rows = {};
    }
    EXPECT_GE(expect_numbers_of_one_by_one<QpTangent>(all, {}), one.least_without_rows - 2);
    const Asked solution = asked(one.batch.to(MemorySpace::host), 4, false, one.method);
    EXPECT_GE(expect_numbers_of_one_by_one<QpGradient>(solution, {}), one.least_without_rows);
    EXPECT_GE(expect_numbers_of_one_by_one<QpGradient>(
                  solution, {true, true, false, false, false, false, false}),
              one.least_without_rows);
  }
}

// Multipliers that are small beside the other terms of their columns, as forces of contacts are
// beside stiffness times position: polishing moves more than their gaps, and is right all the same
// where it ends in an answer.
TEST(DifferentiateQp, SmallMultipliersBesideLargeTermsAreSmooth) {
  struct Case {
    QpBatch near;
    double far;
    int smooth;  // of 29, at least
  };
  const std::vector<Cone> cones(4, {ConeKind::second_order, 3});
  const Case cases[] = {{random_batch(12, 20, 0, {}, 0.0), 1e5, 27},
                        {random_batch(12, 8, 0, cones, 0.0), 1e4, 27},
                        {random_batch(12, 8, 0, cones, 0.0), 1e5, 26}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.far);
    const auto solved = [](QpBatch batch) {
      return asked(std::move(batch), 3, false, QpMethod::automatic);
    };
    const Asked plain = solved(one.near.to(MemorySpace::host));
    const Asked moved = solved(moved_away(one.near.to(MemorySpace::host), one.far));
    const QpGradient expected = differentiate_qp(plain.batch, plain.answer, plain.cotangent);
    const QpGradient found = differentiate_qp(moved.batch, moved.answer, moved.cotangent);
    const auto n = static_cast<std::size_t>(one.near.variables);
    int smooth = 0;
    for (std::size_t p = 0; p < 29; ++p) {
      ASSERT_EQ(expected.status.data()[p], Smoothness::smooth);
      if (found.status.data()[p] != Smoothness::smooth) continue;
      ++smooth;
      double size = 1e-3;
      for (std::size_t j = p * n; j < (p + 1) * n; ++j) {
        size = std::max(size, std::abs(expected.vector.data()[j]));
      }
      for (std::size_t j = p * n; j < (p + 1) * n; ++j) {
        EXPECT_NEAR(found.vector.data()[j], expected.vector.data()[j], 1e-3 * size) << p;
      }
    }
    EXPECT_GE(smooth, one.smooth);
  }
}

TEST(DifferentiateQp, NeighboursThatArePolishedLongerChangeNoBits) {
  const std::vector<Cone> cones(4, {ConeKind::second_order, 3});
  Asked all = asked(random_batch(12, 8, 0, cones, 0.0), 6, false, QpMethod::automatic, 1e-12);
  // A few answers are right to a millionth: edges need one more step of Newton's method there.
  for (int p = 1; p < 29; p += 5) {
    for (int j = 0; j < 12; ++j) all.answer.solution.data()[p * 12 + j] *= 1.0 + 1e-7;
  }
  EXPECT_GE(expect_numbers_of_one_by_one<QpGradient>(all, {}), 20);
}

/// x and the multipliers of the held rows from a problem's equations in long double, or what these
/// say of other right-hand sides.
std::vector<long double> solved_equations(int n, const double* hessian,
                                          const std::vector<const double*>& rows,
                                          std::vector<long double> x) {
  const std::size_t size = x.size();
  std::vector<long double> a(size * size, 0.0L);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) a[static_cast<std::size_t>(i) * size + j] = hessian[i * n + j];
    for (std::size_t c = 0; c < rows.size(); ++c) {
      a[static_cast<std::size_t>(i) * size + n + c] = rows[c][i];
      a[(n + c) * size + static_cast<std::size_t>(i)] = rows[c][i];
    }
  }
  for (std::size_t k = 0; k < size; ++k) {
    std::size_t best = k;
    for (std::size_t i = k + 1; i < size; ++i) {
      if (std::fabs(a[i * size + k]) > std::fabs(a[best * size + k])) best = i;
    }
    for (std::size_t j = 0; j < size; ++j) std::swap(a[k * size + j], a[best * size + j]);
    std::swap(x[k], x[best]);
    for (std::size_t i = k + 1; i < size; ++i) {
      const long double factor = a[i * size + k] / a[k * size + k];
      for (std::size_t j = k; j < size; ++j) a[i * size + j] -= factor * a[k * size + j];
      x[i] -= factor * x[k];
    }
  }
  for (std::size_t i = size; i-- > 0;) {
    for (std::size_t j = i + 1; j < size; ++j) x[i] -= a[i * size + j] * x[j];
    x[i] /= a[i * size + i];
  }
  return x;
}

TEST(DifferentiateQp, AgreesWithTheEquationsInLongDouble) {
  for (const auto& [n, m, equations, spread] :
       {std::tuple{4, 6, 0, 0.0}, std::tuple{12, 20, 2, 0.0}, std::tuple{10, 14, 0, 3.0},
        std::tuple{24, 48, 0, 0.0}}) {
    SCOPED_TRACE(n);
    const Asked all =
        asked(random_batch(n, m, equations, {}, spread), 5, false, QpMethod::automatic);
    const QpBatch& batch = all.batch;
    const QpGradient g = differentiate_qp(batch, all.answer, all.cotangent);
    int smooth = 0;
    for (int p = 0; p < batch.problems; ++p) {
      if (g.status.host()[p] != Smoothness::smooth) continue;
      ++smooth;
      const double* matrix = batch.matrix.data() + static_cast<long>(p) * m * n;
      std::vector<const double*> rows;
      std::vector<int> place(m, -1);
      std::vector<long double> right(n), back(n);
      for (int j = 0; j < n; ++j) {
        right[j] = -static_cast<long double>(batch.vector.data()[p * n + j]);
        back[j] = all.cotangent.solution.data()[p * n + j];
      }
      for (int i = 0; i < m; ++i) {
        const double low = batch.lower.data()[p * m + i], up = batch.upper.data()[p * m + i];
        const double y = all.answer.dual.data()[p * m + i];
        if (low != up && std::fabs(y) < 1e-9) continue;
        place[i] = static_cast<int>(rows.size());
        rows.push_back(matrix + static_cast<long>(i) * n);
        right.push_back(low == up || y > 0.0 ? up : low);
        back.push_back(0.0L);
      }
      const double* hessian = batch.hessian.data() + static_cast<long>(p) * n * n;
      const auto x = solved_equations(n, hessian, rows, right);
      const auto a = solved_equations(n, hessian, rows, back);
      const double tolerance = 1e-10 * std::max(1.0, g.condition.host()[p] / 1e6);
      const auto expect_close = [&](const double* found, const std::vector<long double>& expected,
                                    double least) {
        long double size = least;
        for (const long double value : expected) size = std::max(size, std::fabs(value));
        for (std::size_t k = 0; k < expected.size(); ++k) {
          EXPECT_NEAR(found[k], static_cast<double>(expected[k]),
                      tolerance * static_cast<double>(size));
        }
      };
      std::vector<long double> of_vector, of_hessian, of_matrix, of_bounds;
      for (int j = 0; j < n; ++j) of_vector.push_back(-a[j]);
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) of_hessian.push_back(-0.5L * (a[i] * x[j] + a[j] * x[i]));
      }
      for (int i = 0; i < m; ++i) {
        const long double y = place[i] < 0 ? 0.0L : x[n + place[i]];
        const long double c = place[i] < 0 ? 0.0L : a[n + place[i]];
        of_bounds.push_back(c);
        for (int j = 0; j < n; ++j) of_matrix.push_back(-(y * a[j] + c * x[j]));
      }
      expect_close(g.vector.data() + static_cast<long>(p) * n, of_vector,
                   floor_of(g.vector.host()));
      expect_close(g.hessian.data() + static_cast<long>(p) * n * n, of_hessian,
                   floor_of(g.hessian.host()));
      expect_close(g.matrix.data() + static_cast<long>(p) * m * n, of_matrix,
                   floor_of(g.matrix.host()));
      std::vector<double> bounds(m);
      for (int i = 0; i < m; ++i) {
        bounds[i] = g.lower.data()[p * m + i] + g.upper.data()[p * m + i];
      }
      expect_close(bounds.data(), of_bounds, floor_of(g.lower.host()));
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < i; ++j) {
          EXPECT_EQ(g.hessian.data()[(p * n + i) * n + j], g.hessian.data()[(p * n + j) * n + i]);
        }
      }
    }
    EXPECT_GE(smooth, 26);
  }
}

// Hilbert's matrix of order 9 has the condition 5e11: what that makes of the residual of a solution
// in double precision is more than the tolerance, the error of the corrected solution is not.
TEST(DifferentiateQp, SolutionsOfHilbertsMatrixAreCorrected) {
  constexpr int kOrder = 9;
  QpBatch batch;
  batch.problems = 1;
  batch.variables = kOrder;
  std::vector<double> hessian, vector(kOrder, 0.0);
  for (int i = 0; i < kOrder; ++i) {
    for (int j = 0; j < kOrder; ++j) {
      hessian.push_back(1.0 / (i + j + 1.0));
      vector[i] -= hessian.back();
    }
  }
  batch.hessian = Buffer<double>::from(hessian);
  batch.vector = Buffer<double>::from(vector);
  QpResult answer;
  answer.solution = Buffer<double>::from(std::vector<double>(kOrder, 1.0));
  answer.status = Buffer<Status>(1);
  answer.status.data()[0] = Status::solved;
  for (int k = 0; k < kOrder; ++k) {
    SCOPED_TRACE(k);
    QpCotangent cotangent;
    cotangent.solution = Buffer<double>(kOrder);
    for (int j = 0; j < kOrder; ++j) cotangent.solution.data()[j] = j == k ? 1.0 : 0.0;
    std::vector<long double> right(kOrder, 0.0L);
    right[k] = -1.0L;
    const auto expected = solved_equations(kOrder, hessian.data(), {}, right);
    const QpGradient found = differentiate_qp(batch, answer, cotangent);
    ASSERT_EQ(found.status.data()[0], Smoothness::smooth);
    long double size = 0.0L;
    for (const long double value : expected) size = std::max(size, std::fabs(value));
    for (int j = 0; j < kOrder; ++j) {
      EXPECT_NEAR(found.vector.data()[j], static_cast<double>(expected[j]),
                  1e-6 * static_cast<double>(size));
    }
  }
}

// Linear programs whose vertex lies where rows meet that are nearly one.
TEST(DifferentiateQp, VerticesOfRowsThatAreNearlyOneKeepTheirDigits) {
  constexpr int n = 4, kProblems = 60;
  std::mt19937_64 random(23);
  std::normal_distribution<double> normal;
  QpBatch batch;
  batch.problems = kProblems;
  batch.variables = batch.rows = n;
  std::vector<double> vector, matrix, bounds, solution, dual;
  QpCotangent cotangent;
  std::vector<double> weight(kProblems * n);
  for (double& value : weight) value = normal(random);
  std::vector<std::vector<long double>> vertices, adjoints;
  for (int p = 0; p < kProblems; ++p) {
    std::vector<double> rows(n * n), at(n);
    for (double& value : rows) value = normal(random);
    const double near = std::pow(10.0, -4.0 - p % 6);
    for (int j = 0; j < n; ++j) rows[n + j] = rows[j] + near * normal(random);
    for (double& value : at) value = normal(random);
    std::vector<const double*> pointers;
    std::vector<long double> right(2 * n, 0.0L), pull(2 * n, 0.0L);
    for (int i = 0; i < n; ++i) {
      double bound = 0.0;
      for (int j = 0; j < n; ++j) bound += rows[i * n + j] * at[j];
      bounds.push_back(bound);
      vector.push_back(normal(random));
      right[i] = -static_cast<long double>(vector.back());
      right[n + i] = bound;
      pointers.push_back(rows.data() + static_cast<std::ptrdiff_t>(i) * n);
    }
    const std::vector<double> zero(n * n, 0.0);
    vertices.push_back(solved_equations(n, zero.data(), pointers, right));
    for (int j = 0; j < n; ++j) pull[j] = weight[p * n + j];
    adjoints.push_back(solved_equations(n, zero.data(), pointers, pull));
    matrix.insert(matrix.end(), rows.begin(), rows.end());
    const auto& known = vertices.back();
    solution.insert(solution.end(), known.begin(), known.begin() + n);
    dual.insert(dual.end(), known.begin() + n, known.end());
  }
  batch.hessian = Buffer<double>::from(std::vector<double>(kProblems * n * n, 0.0));
  batch.vector = Buffer<double>::from(vector);
  batch.matrix = Buffer<double>::from(matrix);
  batch.lower = Buffer<double>::from(bounds);
  batch.upper = Buffer<double>::from(bounds);
  QpResult answer;
  answer.solution = Buffer<double>::from(solution);
  answer.dual = Buffer<double>::from(dual);
  answer.status = Buffer<Status>::from(std::vector<Status>(kProblems, Status::solved));
  cotangent.solution = Buffer<double>::from(weight);
  const QpGradient found = differentiate_qp(batch, answer, cotangent);
  for (int p = 0; p < kProblems; ++p) {
    SCOPED_TRACE(p);
    ASSERT_EQ(found.status.host()[p], Smoothness::smooth);
    const auto& x = vertices[p];
    const auto& y = adjoints[p];
    const double tolerance = 1e-11 * std::max(1.0, found.condition.host()[p] / 1e6);
    const auto expect_near = [&](const char* name, int count, auto&& number, auto&& expected) {
      SCOPED_TRACE(name);
      long double size = 0.0L;
      for (int i = 0; i < count; ++i) size = std::max(size, std::fabs(expected(i)));
      for (int i = 0; i < count; ++i) {
        EXPECT_NEAR(number(p * count + i), static_cast<double>(expected(i)),
                    tolerance * static_cast<double>(size));
      }
    };
    expect_near(
        "bounds", n, [&](int i) { return found.lower.host()[i] + found.upper.host()[i]; },
        [&](int i) { return y[n + i]; });
    expect_near(
        "matrix", n * n, [&](int i) { return found.matrix.host()[i]; },
        [&](int i) { return -y[n + i / n] * x[i % n]; });
  }
}

// A multiplier that is 1e-8 of the others in the rows' units is the largest one where its row is
// given in units that are larger by 2^40.
TEST(DifferentiateQp, ObjectivesOfLpsHaveTheDigitsOfSmallMultipliers) {
  constexpr int n = 3;
  constexpr double kShare = 0.7;
  std::vector<double> matrix = {0.37, -0.61, 0.83, 0.29, 0.47, 0.71, -0.53, 0.19, 0.97};
  std::vector<double> bounds = {0.3, 0.2, -0.4};
  const std::vector<double> zero(n * n, 0.0), multiplier = {1.0, 1e-8, 1.0};
  std::vector<double> vector(n, 0.0);
  std::vector<const double*> rows;
  std::vector<long double> right(2 * n), pull(2 * n, 0.0L);
  for (int i = 0; i < n; ++i) {
    rows.push_back(matrix.data() + static_cast<std::ptrdiff_t>(i) * n);
    for (int k = 0; k < n; ++k) vector[i] -= matrix[k * n + i] * multiplier[k];
    right[i] = -static_cast<long double>(vector[i]);
    right[n + i] = bounds[i];
    pull[i] = kShare * static_cast<long double>(vector[i]);
  }
  auto known = solved_equations(n, zero.data(), rows, right);
  const auto adjoint = solved_equations(n, zero.data(), rows, pull);
  for (int j = 0; j < n; ++j) matrix[n + j] = std::ldexp(matrix[n + j], -40);
  bounds[1] = std::ldexp(bounds[1], -40);
  known[n + 1] = std::ldexp(known[n + 1], 40);
  QpBatch batch;
  batch.problems = 1;
  batch.variables = batch.rows = n;
  batch.hessian = Buffer<double>::from(zero);
  batch.vector = Buffer<double>::from(vector);
  batch.matrix = Buffer<double>::from(matrix);
  batch.lower = Buffer<double>::from(bounds);
  batch.upper = Buffer<double>::from(bounds);
  QpResult answer;
  answer.solution = Buffer<double>::from(std::vector<double>(known.begin(), known.begin() + n));
  answer.dual = Buffer<double>::from(std::vector<double>(known.begin() + n, known.end()));
  answer.status = Buffer<Status>::from(std::vector<Status>(1, Status::solved));
  QpCotangent cotangent;
  cotangent.objective = Buffer<double>::from(std::vector<double>{kShare});
  const QpGradient found = differentiate_qp(batch, answer, cotangent);
  ASSERT_EQ(found.status.host()[0], Smoothness::smooth);
  const auto expected = static_cast<double>(std::ldexp(adjoint[n + 1], 40));
  EXPECT_NEAR(found.lower.host()[1] + found.upper.host()[1], expected, 1e-10 * std::fabs(expected));
}

TEST(DifferentiateQp, HeldElementsOfNearlyEqualRowsAreThoseOfTheirVertex) {
  // min |x - (1, 2, 4)|^2 / 2 touches x1 <= 1 and x1 + x2 / 1000 <= 1.002, neither of which presses
  // as x3 <= 3 does.
  constexpr double kNear = 1e-3;
  QpBatch batch;
  batch.problems = 1;
  batch.variables = batch.rows = 3;
  batch.hessian = Buffer<double>::from(std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1});
  batch.vector = Buffer<double>::from(std::vector<double>{-1.0, -2.0, -4.0});
  batch.matrix = Buffer<double>::from(std::vector<double>{1, 0, 0, 1, kNear, 0, 0, 0, 1});
  batch.lower = Buffer<double>::from(std::vector<double>(3, -kInfinity));
  batch.upper = Buffer<double>::from(std::vector<double>{1.0, 1.0 + 2.0 * kNear, 3.0});
  QpCotangent cotangent;
  cotangent.solution = Buffer<double>::from(std::vector<double>{0.3, 0.7, 0.5});
  DerivativeSettings settings;
  settings.at_kink = AtKink::held;
  const QpGradient held = differentiate_qp(batch, solve_qp(batch), cotangent, settings);
  ASSERT_EQ(held.status.host()[0], Smoothness::kink);
  const double second = 0.7 / kNear;
  const double expected[3] = {0.3 - second, second, 0.5};
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(held.upper.host()[i], expected[i], 1e-9 * second) << i;
    EXPECT_NEAR(held.vector.host()[i], 0.0, 1e-9) << i;
  }
}

TEST(DifferentiateQp, RedundantContactsAreSmoothInVelocity) {
  // Four corners of a resting body hold three velocities: multipliers are not unique, v is.
  QpBatch batch;
  batch.problems = 1;
  batch.variables = 3;
  batch.rows = 4;
  batch.hessian = Buffer<double>::from(std::vector<double>{2, 0, 0, 0, 0.3, 0, 0, 0, 0.5});
  batch.vector = Buffer<double>::from(std::vector<double>{2, 0, 0});
  batch.matrix = Buffer<double>::from(std::vector<double>{1, 1, 1, 1, 1, -1, 1, -1, 1, 1, -1, -1});
  batch.lower = Buffer<double>::from(std::vector<double>(4, 0.0));
  batch.upper = Buffer<double>::from(std::vector<double>(4, kInfinity));
  const QpResult answer = solve_qp(batch);
  ASSERT_EQ(answer.status.host()[0], Status::solved);
  QpCotangent cotangent;
  cotangent.solution = Buffer<double>::from(std::vector<double>{1, 2, 3});
  QpWanted velocity{true, true, false, false, false, false, false};
  const QpGradient smooth = differentiate_qp(batch, answer, cotangent, {}, velocity);
  EXPECT_EQ(smooth.status.host()[0], Smoothness::smooth);
  for (const double value : smooth.vector.host()) EXPECT_NEAR(value, 0.0, 1e-14);
  EXPECT_TRUE(smooth.matrix.empty());
  EXPECT_EQ(differentiate_qp(batch, answer, cotangent).status.host()[0], Smoothness::kink);
}

}  // namespace
}  // namespace carom
