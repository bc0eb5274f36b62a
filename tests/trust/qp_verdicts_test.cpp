#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>

#include <carom/lp.hpp>
#include <carom/qp.hpp>

#include "emulation/emulation.hpp"
#include "programs/qp/backends.hpp"
#include "support/from_environment.hpp"
#include "support/integer_programs.hpp"
#include "support/qp_page.hpp"
#include "support/random_problems.hpp"

// Quadratic programs that are ill-posed on purpose, of known truth: contradictions by little,
// rounding in place of zeros, Hessians that are convex on the equations only, variables fixed far
// away, in any units. No verdict is wrong, proofs pass docs/howto/check_a_proof.md, few are
// missing. CAROM_TRUST_PROBLEMS and CAROM_TRUST_SEED as in programs_test.cpp.
namespace carom::qp_verdicts {
namespace {

using test::ExactVerdict;
using test::IntegerProgram;
using test::IntegerPrograms;
using test::Match;
using test::ProgramArrays;
using test::Units;

/// Of one shape. truth: of the numbers as given, but for rounding in place of zeros.
struct Family {
  ProgramArrays arrays;
  std::vector<ExactVerdict> truth;
  std::vector<Units> units;
  std::vector<bool> empty;   ///< of those that are nonconvex: no x meets the rows either
  std::vector<bool> slight;  ///< likewise: by no more than what counts as rounding of P
};

struct Kind {
  const char* name;
  int exponent;         ///< of the units
  double open = 0.002;  ///< share that may stay open
  /// Changes a program of small integers, and says what it is.
  std::function<ExactVerdict(IntegerPrograms&, IntegerProgram&)> change;
  double noise = 0.0;  ///< share of the data that rounding is added to
};

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Two parallel rows that contradict each other by 1e-7 to 1e-2 of their bounds, touch, or leave
/// as much room.
ExactVerdict near_contradiction(IntegerPrograms& programs, IntegerProgram& p) {
  int scale = 1;
  for (int digits = programs.pick(2, 7); digits > 0; --digits) scale *= 10;
  for (auto& bound : p.lower) bound = bound ? std::optional(*bound * scale) : bound;
  for (auto& bound : p.upper) bound = bound ? std::optional(*bound * scale) : bound;
  if (p.rows < 2) return test::decide(p);
  const int i = programs.pick(0, p.rows - 2);
  const int sign = programs.chance(0.5) ? 1 : -1;
  for (int j = 0; j < p.variables; ++j) {
    p.matrix[at((i + 1) * p.variables + j)] = sign * p.matrix[at(i * p.variables + j)];
  }
  const int bound = programs.pick(-3, 3) * scale;
  const int other = sign * (bound - programs.pick(-2, 2));
  p.lower[at(i)] = bound;
  p.upper[at(i)].reset();
  p.lower[at(i + 1)] = sign > 0 ? std::nullopt : std::optional(other);
  p.upper[at(i + 1)] = sign > 0 ? std::optional(other) : std::nullopt;
  return test::decide(p);
}

/// Rows of which the later is the earlier, 1e5 to 1e8 times, and a little more:
/// they meet far away, or nowhere.
ExactVerdict nearly_parallel(IntegerPrograms& programs, IntegerProgram& p) {
  for (int pairs = programs.pick(1, 2); pairs > 0 && p.rows > 1; --pairs) {
    int scale = 1;
    for (int digits = programs.pick(5, 8); digits > 0; --digits) scale *= 10;
    const int i = programs.pick(1, p.rows - 1);
    const int k = programs.pick(0, i - 1);
    const int sign = programs.chance(0.5) ? 1 : -1;
    long most = 0;
    for (int j = 0; j < p.variables; ++j) {
      most = std::max(most, std::labs(p.matrix[at(k * p.variables + j)]));
    }
    if (most > 100) continue;  // it is scaled itself
    for (int j = 0; j < p.variables; ++j) {
      p.matrix[at(i * p.variables + j)] =
          sign * scale * p.matrix[at(k * p.variables + j)] + programs.pick(-1, 1);
    }
    const auto& near = programs.chance(0.5) && p.lower[at(k)] ? p.lower[at(k)] : p.upper[at(k)];
    const int bound = sign * scale * near.value_or(programs.pick(-2, 2)) + programs.pick(-3, 3);
    const double kind = programs.uniform();
    p.lower[at(i)] = kind < 0.6 ? std::optional(bound) : std::nullopt;
    p.upper[at(i)] = kind > 0.4 ? std::optional(bound) : std::nullopt;
  }
  return test::decide(p);
}

ExactVerdict fixed_far_away(IntegerPrograms& programs, IntegerProgram& p) {
  const int i = programs.pick(0, p.rows - 1);
  const int fixed = programs.pick(0, p.variables - 1);
  for (int j = 0; j < p.variables; ++j) p.matrix[at(i * p.variables + j)] = j == fixed ? 1 : 0;
  const int place = programs.pick(1, 2'000'000'000);
  p.lower[at(i)] = p.upper[at(i)] = programs.chance(0.5) ? place : -place;
  return test::decide(p);
}

/// P + E'W + W'E and q - W'e, the same objective where E x = e.
ExactVerdict convex_on_equations(IntegerPrograms& programs, IntegerProgram& p) {
  const int any = programs.pick(0, p.rows - 1);
  p.lower[at(any)] = p.upper[at(any)] = p.lower[at(any)].value_or(p.upper[at(any)].value_or(1));
  const ExactVerdict truth = test::decide(p);
  for (int i = 0; i < p.rows; ++i) {
    if (!p.lower[at(i)] || p.lower[at(i)] != p.upper[at(i)]) continue;
    const int* row = p.matrix.data() + i * p.variables;
    std::vector<int> w(at(p.variables));
    for (int& value : w) value = programs.pick(-2, 2);
    for (int a = 0; a < p.variables; ++a) {
      for (int b = 0; b < p.variables; ++b) {
        p.hessian[at(a * p.variables + b)] += row[a] * w[at(b)] + w[at(a)] * row[b];
      }
      p.vector[at(a)] -= w[at(a)] * *p.lower[at(i)];
    }
  }
  return truth;
}

/// Whether what no equation ends has no curvature below -2e-9 of P.
bool is_slight(const IntegerProgram& p) {
  const Eigen::Map<const Eigen::MatrixXi> hessian(p.hessian.data(), p.variables, p.variables);
  test::Matrix equations = test::Matrix::Zero(p.rows, p.variables);
  for (int i = 0; i < p.rows; ++i) {
    if (!p.lower[at(i)] || p.lower[at(i)] != p.upper[at(i)]) continue;
    for (int j = 0; j < p.variables; ++j) equations(i, j) = p.matrix[at(i * p.variables + j)];
  }
  const Eigen::FullPivLU<Eigen::MatrixXd> reduced(equations);
  if (reduced.dimensionOfKernel() == 0) return false;
  const Eigen::MatrixXd kernel = reduced.kernel();
  const Eigen::MatrixXd along = Eigen::HouseholderQR<Eigen::MatrixXd>(kernel).householderQ() *
                                Eigen::MatrixXd::Identity(kernel.rows(), kernel.cols());
  const Eigen::MatrixXd bent = along.transpose() * hessian.cast<double>() * along;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> values(bent, Eigen::EigenvaluesOnly);
  return values.eigenvalues()[0] >= -2e-9 * hessian.cwiseAbs().maxCoeff();
}

Family family_of(const Kind& kind, int round, int seed, int problems) {
  std::mt19937 shape(static_cast<unsigned>(seed + round));
  const int n = std::uniform_int_distribution<int>(1, 6)(shape);
  const int m = std::uniform_int_distribution<int>(1, 9)(shape);
  IntegerPrograms programs(n, m, static_cast<unsigned>(1000 * seed + round));
  Family family;
  for (int p = 0; p < problems; ++p) {
    IntegerProgram program = programs.next(round % 4 != 0);
    const ExactVerdict truth = kind.change ? kind.change(programs, program) : test::decide(program);
    if (truth.status == Status::numerical_error) continue;  // 128 bits did not suffice
    const Units units = programs.units({kind.exponent, false});
    test::append(family.arrays, program, units, false, 0);
    family.truth.push_back(truth);
    family.units.push_back(units);
    const bool bent = truth.status == Status::nonconvex;
    family.empty.push_back(bent && test::has_no_point(program));
    family.slight.push_back(bent && is_slight(program));
    if (kind.noise == 0.0) continue;
    const double size = std::pow(10.0, -programs.pick(14, 17));
    const auto noise = [&] {
      return programs.chance(kind.noise) ? size * (2.0 * programs.uniform() - 1.0) : 0.0;
    };
    ProgramArrays& arrays = family.arrays;
    for (std::size_t j = arrays.vector.size() - at(n); j < arrays.vector.size(); ++j) {
      arrays.vector[j] += noise();
    }
    for (std::size_t i = arrays.lower.size() - at(m); i < arrays.lower.size(); ++i) {
      const bool equation = arrays.lower[i] == arrays.upper[i];
      arrays.lower[i] += noise();
      arrays.upper[i] =
          equation ? arrays.lower[i] : std::max(arrays.upper[i] + noise(), arrays.lower[i]);
    }
  }
  return family;
}

struct Tally {
  long right = 0, open = 0;
};

/// The objective changes by what the rows miss times their multipliers: as terms of 1e-9.
template <class Result>
double moved_by_rounding(const Family& family, const Result& result, std::size_t p) {
  const ProgramArrays& arrays = family.arrays;
  const auto n = at(arrays.variables), m = at(arrays.rows);
  const double missed = (1e3 * result.residual.host()[p] + 1e-15) / 1e-9;
  double terms = 0.0;
  for (std::size_t i = 0; i < m; ++i) {
    const double* row = arrays.matrix.data() + (p * m + i) * n;
    double size = 0.0;
    for (std::size_t j = 0; j < n; ++j)
      size += std::abs(row[j] * result.solution.data()[p * n + j]);
    terms += missed * size * std::abs(result.dual.data()[p * m + i]) / family.units[p].objective;
  }
  return terms;
}

void compare(const Kind& kind, const Family& family, const QpBatch& batch, const QpResult& result,
             const std::string& name, Tally& tally) {
  const auto n = at(batch.variables);
  for (std::size_t p = 0; p < family.truth.size() && p < at(static_cast<int>(batch.problems));
       ++p) {
    const Status status = result.status.host()[p];
    double objective = 0.0;
    double terms = 0.0;
    const double* x = result.solution.data() + p * n;
    const auto add = [&](double term) {
      objective += term / family.units[p].objective;
      terms += std::abs(term) / family.units[p].objective;
    };
    for (std::size_t i = 0; status == Status::solved && i < n; ++i) {
      add(family.arrays.vector[p * n + i] * x[i]);
      for (std::size_t j = 0; j < n; ++j) {
        add(0.5 * family.arrays.hessian[(p * n + i) * n + j] * x[i] * x[j]);
      }
    }
    if (status == Status::solved) terms += moved_by_rounding(family, result, p);
    const std::string objection =
        status == Status::solved
            ? std::string()
            : test::QpPage(batch, result, static_cast<std::int64_t>(p)).objection();
    EXPECT_EQ(objection, "") << kind.name << ", " << name << ", problem " << p << ": "
                             << to_string(status);
    Match match = test::match(family.truth[p], status, objective, terms);
    // What rounding makes of a zero may prove more than the zero did.
    const bool proven = status == Status::infeasible || status == Status::unbounded;
    if (kind.noise > 0.0 && proven) match = Match::right;
    if (status == Status::infeasible && family.empty[p]) match = Match::right;
    if (match == Match::wrong && family.slight[p]) match = Match::open;
    EXPECT_NE(match, Match::wrong)
        << kind.name << ", " << name << ", problem " << p << ": " << to_string(status) << " is "
        << to_string(family.truth[p].status) << ", objective " << objective << " for "
        << family.truth[p].objective;
    ++(match == Match::open ? tally.open : tally.right);
  }
}

class QpVerdicts : public ::testing::TestWithParam<Kind> {
 protected:
  static constexpr int kRounds = 8;
  int seed_ = test::from_environment("CAROM_TRUST_SEED", 1);
  int problems_ = test::from_environment("CAROM_TRUST_PROBLEMS", 100);

  void expect_few_open(const std::string& name, const Tally& tally) const {
    EXPECT_LE(static_cast<double>(tally.open),
              4.0 + GetParam().open * static_cast<double>(tally.open + tally.right))
        << GetParam().name << ", " << name << ", seed " << seed_;
    RecordProperty(name + "_right", static_cast<int>(tally.right));
    RecordProperty(name + "_open", static_cast<int>(tally.open));
  }
};

TEST_P(QpVerdicts, AreWhatExactArithmeticSaysByEveryMethod) {
  for (const QpMethod method : {QpMethod::automatic, QpMethod::interior_point, QpMethod::active_set,
                                QpMethod::admm, QpMethod::projected, QpMethod::lemke}) {
    QpSettings settings;
    settings.method = method;
    const std::string name(to_string(method));
    const bool slow = method == QpMethod::admm || method == QpMethod::projected;
    Tally tally;
    for (int round = 0; round < kRounds; ++round) {
      const Family family =
          family_of(GetParam(), round, seed_, slow ? (problems_ + 9) / 10 : problems_);
      if (family.truth.empty()) continue;
      const QpBatch batch = test::qp_batch(family.arrays);
      compare(GetParam(), family, batch, solve_qp(batch, settings, Backend::cpu), name, tally);
    }
    expect_few_open(name, tally);
  }
}

// Those without P, by the simplex method.
TEST_P(QpVerdicts, OfLinearOnesAreWhatExactArithmeticSays) {
  Tally tally;
  for (const int round : {0, 4}) {
    const Family family = family_of(GetParam(), round, seed_, problems_);
    const std::vector<double>& hessian = family.arrays.hessian;
    if (std::count(hessian.begin(), hessian.end(), 0.0) < std::ssize(hessian)) continue;
    for (const bool as_bounds : {false, true}) {
      const LpResult result = solve_lp(test::lp_batch(family.arrays, as_bounds), {}, Backend::cpu);
      for (std::size_t p = 0; p < family.truth.size(); ++p) {
        const Status status = result.status.host()[p];
        double terms = 0.0, objective = 0.0;
        const auto n = at(family.arrays.variables);
        for (std::size_t j = 0; status == Status::solved && j < n; ++j) {
          const double term = family.arrays.vector[p * n + j] * result.solution.data()[p * n + j] /
                              family.units[p].objective;
          objective += term;
          terms += std::abs(term);
        }
        if (status == Status::solved) terms += moved_by_rounding(family, result, p);
        Match match = test::match(family.truth[p], status, objective, terms);
        if (GetParam().noise > 0.0 && status != Status::solved) match = Match::right;
        EXPECT_NE(match, Match::wrong)
            << GetParam().name << ", problem " << p << ": " << to_string(status) << " is "
            << to_string(family.truth[p].status) << ", objective " << objective << " for "
            << family.truth[p].objective << ", terms " << terms;
        ++(match == Match::open ? tally.open : tally.right);
      }
    }
  }
  expect_few_open("simplex", tally);
}

TEST_P(QpVerdicts, AreTheSameOnEmulatedLanes) {
  Tally tally;
  for (int round = 0; round < kRounds; ++round) {
    const Family family = family_of(GetParam(), round, seed_ + 50, (problems_ + 9) / 10);
    if (family.truth.empty()) continue;
    const QpBatch batch = test::qp_batch(family.arrays);
    compare(GetParam(), family, batch, emulation::solve_qp(batch, {}, round % 2 == 0), "emulation",
            tally);
  }
  expect_few_open("emulation", tally);
}

// The reference may give up; what it says is right.
TEST_P(QpVerdicts, OfTheReferenceAreNeverWrong) {
  Tally tally;
  for (int round = 0; round < kRounds; ++round) {
    const Family family = family_of(GetParam(), round, seed_ + 80, (problems_ + 9) / 10);
    if (family.truth.empty()) continue;
    const QpBatch batch = test::qp_batch(family.arrays);
    compare(GetParam(), family, batch, solve_qp(batch, {}, Backend::reference), "reference", tally);
  }
  EXPECT_GT(tally.right, tally.open);
}

// Curvature of -2^-50 in a variable of small units, beside an equation of another one.
TEST(Nonconvex, InUnitsThatNoEquationGives) {
  QpBatch batch;
  batch.problems = 1;
  batch.variables = 3;
  batch.rows = 1;
  batch.hessian = Buffer<double>::from({-0x1p-50, 0, 0, 0, 4, 0, 0, 0, 0});
  batch.vector = Buffer<double>::from({0, -1, 1});
  batch.matrix = Buffer<double>::from({0, 0, 128});
  batch.lower = Buffer<double>::from({128});
  batch.upper = Buffer<double>::from({128});
  for (const Backend backend : {Backend::cpu, Backend::reference}) {
    const QpResult result = solve_qp(batch, {}, backend);
    EXPECT_EQ(to_string(result.status.host()[0]), "nonconvex") << to_string(backend);
    EXPECT_NE(result.certificate.host()[0], 0.0);
    EXPECT_EQ(result.certificate.host()[2], 0.0);
  }
}

// -4/9 along (2, -2/3, 1), which a row of large numbers allows.
TEST(Nonconvex, BesideAnEquationOfLargeNumbers) {
  QpBatch batch;
  batch.problems = 1;
  batch.variables = 3;
  batch.rows = 1;
  batch.hessian = Buffer<double>::from({1, 0, -2, 0, -1, 0, -2, 0, 4});
  batch.vector = Buffer<double>::from({3, 1, -6});
  batch.matrix = Buffer<double>::from({1, 30000000, 19999999});
  batch.lower = Buffer<double>::from({19999998});
  batch.upper = Buffer<double>::from({19999998});
  for (const QpMethod method :
       {QpMethod::automatic, QpMethod::interior_point, QpMethod::active_set, QpMethod::lemke}) {
    QpSettings settings;
    settings.method = method;
    EXPECT_EQ(to_string(solve_qp(batch, settings).status.host()[0]), "nonconvex")
        << to_string(method);
  }
}

// Rows 0 and 2 say the same of x_0, x_1, x_3. Multipliers of 1e-13 of rows 3 to 5 cancel in x_4
// alone and are rounding in the other columns, yet a bound of 2e6 made a margin of them.
TEST(Noise, OfRowsThatCancelAmongThemselvesIsNoProof) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  QpBatch batch;
  batch.problems = 1;
  batch.variables = 5;
  batch.rows = 8;
  batch.hessian = Buffer<double>::from(std::vector<double>(25, 0.0));
  batch.vector = Buffer<double>::from({-0x1p-28, 0, 0x1p-16, 0x1p-7, 0});
  batch.matrix = Buffer<double>::from(
      {-0x1p-11, 64, 0, -1536,   0,   -16,      0,        131072, -67108864, 805306368,
       -0x1p-17, 1,  0, -24,     0,   -0x1p-23, 0,        0,      0.25,      -2,
       0,        0,  0, 0,       8,   8,        -2097152, 0,      50331648,  268435456,
       -0x1p-24, 0,  0, -0.0625, 0.5, -0x1p-26, 0x1p-9,   0,      -0x1.8p-5, 0});
  batch.lower = Buffer<double>::from(
      {-2, -425984, -kInfinity, 0x1.4p-10, -1881962.6142578125, 16384, -0x1p-13, -0x1.cp-14});
  batch.upper = Buffer<double>::from(
      {-1, kInfinity, -0.03125, 0x1.4p-10, -1881962.6142578125, 16384, kInfinity, kInfinity});
  for (const QpMethod method :
       {QpMethod::automatic, QpMethod::interior_point, QpMethod::active_set, QpMethod::lemke}) {
    QpSettings settings;
    settings.method = method;
    EXPECT_EQ(to_string(solve_qp(batch, settings).status.host()[0]), "solved") << to_string(method);
  }
}

// P is of rank 1 but for noise of 1e-14: along (1, -2, 0) x would be 8e13, where the terms of x'P x
// hide q'x. Multipliers in doubles that prove an objective exist for no such x.
TEST(Noise, OfCurvatureThatHidesTheCostIsNoSolution) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  QpBatch batch;
  batch.problems = 1;
  batch.variables = 3;
  batch.rows = 3;
  batch.hessian = Buffer<double>::from({4.000000000000017, 1.9999999999999916, -1.9999999999999916,
                                        1.9999999999999916, 1.0000000000000167, -0.9999999999999917,
                                        -1.9999999999999916, -0.9999999999999917, 1.0});
  batch.vector = Buffer<double>::from({0.0, 2.0, 1.0});
  batch.matrix = Buffer<double>::from({-4.914727966571977e-15, 0.9999999999999951,
                                       -4.914727966571977e-15, -0.06250000000000015,
                                       0.031249999999999847, 0.03125, -1.1998847574638616e-18,
                                       0.0004882812500000012, -1.1998847574638616e-18});
  batch.lower = Buffer<double>::from({2.99999999999917, -kInfinity, 0.0});
  batch.upper = Buffer<double>::from({3.0, -0.0625, kInfinity});
  const QpResult found = solve_qp(batch);
  EXPECT_EQ(to_string(found.status.host()[0]), "inaccurate");
  batch.vector = Buffer<double>::from({4.0, 2.0, -2.0});  // along P's range: no x is far away
  batch.upper.data()[1] = kInfinity;
  EXPECT_EQ(to_string(solve_qp(batch).status.host()[0]), "solved");
}

// Two of those, which have no x at all by 1 in 3e8: no other verdict is one.
TEST(NearlyParallel, RowsWithoutAPointAreNotMet) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  QpBatch bent;
  bent.problems = 1;
  bent.variables = 4;
  bent.rows = 9;
  bent.hessian = Buffer<double>::from({1, 0, -1, 1, 0, 1, 2, 0, -1, 2, 5, -1, 1, 0, -1, 1});
  bent.vector = Buffer<double>::from({1, 3, 3, 0});
  bent.matrix = Buffer<double>::from({1, 0, 0, 0,  0, 3, 0, -1, 0,  0,         0,  0,
                                      1, 1, 0, 1,  0, 0, 0, 3,  -1, 300000000, -1, -100000001,
                                      0, 0, 0, -1, 0, 0, 0, -1, 3,  0,         2,  3});
  bent.lower = Buffer<double>::from({-2, -4, 0, 1, 0, -399999998, -kInfinity, -1, -1});
  bent.upper =
      Buffer<double>::from({kInfinity, -4, 0, 1, kInfinity, -399999998, -1, kInfinity, -1});
  QpBatch plain;
  plain.problems = 1;
  plain.variables = 4;
  plain.rows = 9;
  plain.hessian = Buffer<double>::from(std::vector<double>(16, 0.0));
  plain.vector = Buffer<double>::from({0, 0, 2, 3});
  plain.matrix =
      Buffer<double>::from({0, 3,  0, 0, 0, 0, 0,  2, -1, 0, 0, 3, 0, -3, 0, 0, 1, 300000001,
                            0, -1, 0, 0, 0, 1, -2, 0, 0,  0, 0, 0, 0, 0,  0, 1, 0, 0});
  plain.lower = Buffer<double>::from({-6, 2, 0, 6, -kInfinity, -2, -2, 0, -kInfinity});
  plain.upper = Buffer<double>::from({kInfinity, 2, 2, 6, -600000003, kInfinity, -2, 0, -2});
  for (const QpBatch* batch : {&bent, &plain}) {
    for (const QpMethod method :
         {QpMethod::automatic, QpMethod::interior_point, QpMethod::active_set, QpMethod::lemke}) {
      QpSettings settings;
      settings.method = method;
      const std::string status(to_string(solve_qp(*batch, settings).status.host()[0]));
      EXPECT_TRUE(status != "solved" && status != "unbounded")
          << to_string(method) << ": " << status;
    }
  }
}

// Rows 2 and 3 are one, and contradict each other by 1e-7 of their bounds; x where it is 1e-11 of
// their terms was an answer to some methods.
TEST(NearContradictions, AreTheSameToAllMethods) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  QpBatch batch;
  batch.problems = 1;
  batch.variables = 6;
  batch.rows = 9;
  batch.hessian = Buffer<double>::from(std::vector<double>(36, 0.0));
  batch.vector = Buffer<double>::from(std::vector<double>(6, 0.0));
  batch.matrix = Buffer<double>::from(
      {0,      0,        -0x1.8p-7, -768,   0,      0,       0,        0,        0,
       0,      0,        0x1p-10,   -128,   -4,     0,       -2097152, -98304,   0,
       -4,     -0.125,   0,         -65536, -3072,  0,       0,        0,        0,
       0,      0,        0,         0x1p-4, 0x1p-9, -0x1p-6, 0,        0,        -48,
       0,      0x1p-18,  0,         2,      0x1p-4, 0x1p-4,  -0x1p-20, -0x1p-24, 0,
       0x1p-5, -0x1p-10, 0x1p-11,   0,      0,      262144,  0,        0,        0});
  batch.lower = Buffer<double>::from({937500, 0, 2560000000, -kInfinity, -kInfinity, -3750000,
                                      6103.515625, -38.14697265625, -10485760000000});
  batch.upper = Buffer<double>::from({kInfinity, kInfinity, kInfinity, 79999992, 0, -3750000,
                                      kInfinity, -38.14697265625, kInfinity});
  for (const QpMethod method : {QpMethod::automatic, QpMethod::interior_point, QpMethod::admm,
                                QpMethod::active_set, QpMethod::lemke}) {
    QpSettings settings;
    settings.method = method;
    const QpResult result = solve_qp(batch, settings);
    EXPECT_EQ(to_string(result.status.host()[0]), "infeasible") << to_string(method);
    EXPECT_EQ(test::QpPage(batch, result, 0).objection(), "") << to_string(method);
  }
}

// A row of small integers that is a sum of others and contradicts what they ask by 2^-28 to 2^-20,
// where the objective falls along a ray of them all: never solved, never unbounded. Proven where
// the contradiction is more than the tolerance of its terms.
TEST(Combinations, OfRowsThatContradictThemByLittleAreNoUnboundedProblems) {
  constexpr int kVariables = 7, kRows = 4;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  test::Generator random(static_cast<std::uint64_t>(test::from_environment("CAROM_TRUST_SEED", 1)) +
                         40);
  const int problems = test::from_environment("CAROM_TRUST_PROBLEMS", 400);
  const auto integers = [&](int rows, int columns, int most) {
    test::Matrix of(rows, columns);
    for (double& entry : of.reshaped()) entry = random.integer(-most, most);
    return of;
  };
  std::vector<double> hessian, vector, matrix, lower, upper;
  const auto append = [](std::vector<double>& to, const test::Matrix& values) {
    to.insert(to.end(), values.data(), values.data() + values.size());
  };
  std::vector<bool> clear;
  for (int p = 0; p < problems; ++p) {
    test::Matrix rows = integers(kRows, kVariables, 3);
    test::Matrix weight(1, kRows - 1);
    for (double& w : weight.reshaped()) w = random.integer(1, 3);
    rows.row(kRows - 1) = weight * rows.topRows(kRows - 1);
    const test::Matrix met = rows * integers(kVariables, 1, 3);
    const int digits = random.integer(20, 28);
    const double terms =
        std::abs(met(kRows - 1, 0)) + (weight * met.topRows(kRows - 1).cwiseAbs())(0, 0);
    clear.push_back(std::ldexp(1.0, -digits) > QpSettings().tolerance * terms);
    const test::Matrix half = integers(p % 2, kVariables, 2);
    append(hessian, half.transpose() * half);
    append(vector, integers(1, kVariables, 3));
    append(matrix, rows);
    for (int i = 0; i < kRows; ++i) {
      const bool last = i == kRows - 1;
      lower.push_back(last ? -kInfinity : met(i, 0));
      upper.push_back(last ? met(i, 0) - std::ldexp(1.0, -digits) : kInfinity);
    }
  }
  QpBatch batch;
  batch.problems = problems;
  batch.variables = kVariables;
  batch.rows = kRows;
  batch.hessian = Buffer<double>::from(hessian);
  batch.vector = Buffer<double>::from(vector);
  batch.matrix = Buffer<double>::from(matrix);
  batch.lower = Buffer<double>::from(lower);
  batch.upper = Buffer<double>::from(upper);
  EXPECT_GE(std::ranges::count(clear, true), problems / 4);
  for (const QpMethod method : {QpMethod::automatic, QpMethod::interior_point, QpMethod::admm,
                                QpMethod::active_set, QpMethod::lemke}) {
    QpSettings settings;
    settings.method = method;
    const QpResult result = solve_qp(batch, settings);
    for (int p = 0; p < problems; ++p) {
      const Status status = result.status.host()[at(p)];
      EXPECT_NE(to_string(status), "solved") << to_string(method) << " " << p;
      EXPECT_NE(to_string(status), "unbounded") << to_string(method) << " " << p;
      if (clear[at(p)]) EXPECT_EQ(to_string(status), "infeasible") << to_string(method) << " " << p;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, QpVerdicts,
    ::testing::Values(Kind{"plain", 0, 0.002, {}}, Kind{"in_other_units", 20, 0.002, {}},
                      Kind{"near_contradictions", 0, 0.01, near_contradiction},
                      Kind{"near_contradictions_in_other_units", 20, 0.01, near_contradiction},
                      Kind{"nearly_parallel", 0, 0.04, nearly_parallel},
                      Kind{"fixed_far_away", 0, 0.002, fixed_far_away},
                      Kind{"fixed_far_away_in_other_units", 20, 0.002, fixed_far_away},
                      Kind{"convex_on_equations", 0, 0.01, convex_on_equations},
                      Kind{"rounding_for_zeros", 0, 0.003, {}, 0.5}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace carom::qp_verdicts
