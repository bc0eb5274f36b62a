#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include <carom/lp.hpp>
#include <carom/qp.hpp>

#include "emulation/emulation.hpp"
#include "programs/qp/backends.hpp"
#include "support/from_environment.hpp"
#include "support/integer_programs.hpp"

// Random programs of small integers of every status against exact arithmetic, by every method, in
// any units and beside huge numbers that have nothing to do with them. No verdict is wrong, and few
// are missing. CAROM_TRUST_PROBLEMS sets how many there are of each shape, CAROM_TRUST_SEED the
// seed.
namespace carom {
namespace {

using test::ExactVerdict;
using test::IntegerPrograms;
using test::Match;
using test::ProgramArrays;
using test::Units;

struct Disguise {
  const char* name;
  int exponent;
  bool huge;
};

/// Problems of one shape, what they are, and how they are disguised.
struct Family {
  ProgramArrays arrays;
  std::vector<ExactVerdict> truth;
  std::vector<Units> units;
  std::vector<bool> empty;  ///< of those that are nonconvex: no x meets the rows either
  int variables = 0;
};

Family family_of(const Disguise& disguise, bool curved, int round, int seed, int problems) {
  std::mt19937 shape(static_cast<unsigned>(seed + round));
  const int n = std::uniform_int_distribution<int>(1, 6)(shape);
  const int m = std::uniform_int_distribution<int>(1, 9)(shape);
  IntegerPrograms programs(n, m, static_cast<unsigned>(1000 * seed + round));
  Family family;
  family.variables = n;
  for (int p = 0; p < problems; ++p) {
    const test::IntegerProgram program = programs.next(curved);
    const ExactVerdict truth = test::decide(program);
    if (truth.status == Status::numerical_error) continue;  // 128 bits did not suffice
    const Units units = programs.units({disguise.exponent, disguise.huge});
    // A far bound on the sum of all variables would end what has no end.
    const int huge =
        disguise.huge ? programs.pick(1, truth.status == Status::unbounded ? 3 : 4) : 0;
    test::append(family.arrays, program, units, disguise.huge, huge);
    family.truth.push_back(truth);
    family.units.push_back(units);
    family.empty.push_back(truth.status == Status::nonconvex && test::has_no_point(program));
  }
  return family;
}

struct Tally {
  long right = 0, open = 0;
};

/// Compares statuses and optima; `result` is of LPs or QPs.
template <class Result>
void compare(const Family& family, const Result& result, const std::string& name, Tally& tally) {
  const auto width = static_cast<std::size_t>(family.arrays.variables);
  const auto n = static_cast<std::size_t>(family.variables);
  for (std::size_t p = 0; p < family.truth.size(); ++p) {
    const Status status = result.status.host()[p];
    double objective = 0.0;
    double terms = 0.0;
    if (status == Status::solved || status == Status::infeasible || status == Status::unbounded) {
      EXPECT_LE(result.residual.host()[p], 1e-9) << name << ", problem " << p;
    }
    if (status == Status::solved) {
      const double* x = result.solution.data() + p * width;
      const auto add = [&](double term) {
        objective += term / family.units[p].objective;
        terms += std::abs(term) / family.units[p].objective;
      };
      for (std::size_t i = 0; i < n; ++i) {
        add(family.arrays.vector[p * width + i] * x[i]);
        for (std::size_t j = 0; j < n; ++j) {
          add(0.5 * family.arrays.hessian[(p * width + i) * width + j] * x[i] * x[j]);
        }
      }
    }
    Match match = test::match(family.truth[p], status, objective, terms);
    if (status == Status::infeasible && family.empty[p]) match = Match::right;
    EXPECT_NE(match, Match::wrong) << name << ", problem " << p << ": " << to_string(status)
                                   << " is " << to_string(family.truth[p].status) << ", objective "
                                   << objective << " for " << family.truth[p].objective;
    ++(match == Match::open ? tally.open : tally.right);
  }
}

class Programs : public ::testing::TestWithParam<Disguise> {
 protected:
  static constexpr int kRounds = 8;
  int seed_ = test::from_environment("CAROM_TRUST_SEED", 1);
  int problems_ = test::from_environment("CAROM_TRUST_PROBLEMS", 200);

  void expect_few_open(const std::string& name, const Tally& tally) const {
    EXPECT_LE(static_cast<double>(tally.open),
              4.0 + 0.002 * static_cast<double>(tally.open + tally.right))
        << name << ", seed " << seed_;
    RecordProperty(name + "_right", static_cast<int>(tally.right));
    RecordProperty(name + "_open", static_cast<int>(tally.open));
  }
};

TEST_P(Programs, LinearOnesAreWhatExactArithmeticSays) {
  Tally tally;
  for (int round = 0; round < kRounds; ++round) {
    const Family family = family_of(GetParam(), false, round, seed_, problems_);
    for (const bool as_bounds : {false, true}) {
      const LpBatch batch = test::lp_batch(family.arrays, as_bounds);
      compare(family, solve_lp(batch, {}, Backend::cpu), "simplex", tally);
    }
  }
  expect_few_open("simplex", tally);
}

TEST_P(Programs, QuadraticOnesAreWhatExactArithmeticSays) {
  for (const QpMethod method : {QpMethod::automatic, QpMethod::interior_point, QpMethod::active_set,
                                QpMethod::admm, QpMethod::projected, QpMethod::lemke}) {
    QpSettings settings;
    settings.method = method;
    const std::string name(to_string(method));
    Tally tally;
    // The splittings take their time over what they cannot solve.
    const bool slow = method == QpMethod::admm || method == QpMethod::projected;
    const int problems = slow ? problems_ / 10 : problems_;
    for (int round = 0; round < kRounds; ++round) {
      const Family family = family_of(GetParam(), round % 4 != 0, round, seed_, problems);
      compare(family, solve_qp(test::qp_batch(family.arrays), settings, Backend::cpu), name, tally);
    }
    expect_few_open(name, tally);
  }
}

// The bodies of the device on a host's lanes.
TEST_P(Programs, EmulatedLanesAgree) {
  Tally tally;
  for (int round = 0; round < kRounds; ++round) {
    const Family family = family_of(GetParam(), true, round, seed_ + 50, problems_ / 10);
    compare(family, emulation::solve_qp(test::qp_batch(family.arrays), {}, round % 2 == 0),
            "emulation", tally);
  }
  expect_few_open("emulation", tally);
}

// The reference may give up; what it says is right.
TEST_P(Programs, TheReferenceIsNeverWrong) {
  Tally tally;
  for (int round = 0; round < kRounds; ++round) {
    const bool curved = round % 2 == 0;
    const Family family = family_of(GetParam(), curved, round, seed_ + 80, problems_ / 10);
    if (curved) {
      const QpBatch batch = test::qp_batch(family.arrays);
      compare(family, solve_qp(batch, {}, Backend::reference), "reference", tally);
    } else {
      const LpBatch batch = test::lp_batch(family.arrays, true);
      compare(family, solve_lp(batch, {}, Backend::reference), "reference", tally);
    }
  }
  EXPECT_GT(tally.right, tally.open);
}

// Two rows contradict each other by 1, 1e-11 of a far bound of all variables.
TEST(BesideAHugeBound, AContradictionIsOne) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  LpBatch batch;
  batch.problems = 1;
  batch.rows = 4;
  batch.columns = 7;
  batch.cost = Buffer<double>::from({-2, -3, 0, 0, -2, 0, 0});
  batch.matrix = Buffer<double>::from(
      {0, -1, -1, 0, 3, -3, 0, 0, -1, -1, 0, 3, -3, 0, 2, -1, 1, 2, 2, 2, 0, 1, 1, 1, 1, 1, 1, 0});
  batch.row_lower = Buffer<double>::from({-kInfinity, 1, 1, -kInfinity});
  batch.row_upper = Buffer<double>::from({0, 1, kInfinity, 1e11});
  batch.column_lower = Buffer<double>::from(
      {-kInfinity, -kInfinity, 0, -kInfinity, -kInfinity, -kInfinity, -kInfinity});
  batch.column_upper =
      Buffer<double>::from({kInfinity, kInfinity, kInfinity, -1, kInfinity, kInfinity, kInfinity});
  for (const Backend backend : {Backend::cpu, Backend::reference}) {
    EXPECT_EQ(to_string(solve_lp(batch, {}, backend).status.host()[0]), "infeasible")
        << to_string(backend);
  }
}

// A bound of 1e11 on the sum of all variables lets an interior point end at terms of 1e9 in row 4,
// whose rounding, times its multiplier, was 4.5e-9 of the objective.
TEST(FarAway, RoundingOfRowsLeavesTheObjectiveItsDigits) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  QpBatch batch;
  batch.problems = 1;
  batch.rows = 8;
  batch.variables = 6;
  batch.hessian = Buffer<double>::from(std::vector<double>(36, 0.0));
  batch.vector = Buffer<double>::from({-0x1p19, 0, 0, 0, 0, 0});
  batch.matrix = Buffer<double>::from(
      {0x1.8p30,  0, 0,      -0x1.8p21, -0x1.8p28, 0, 0,      0x1p23, 0x1p17, 0,         0,     0,
       0,         0, 0x1p19, 0,         0,         0, 6,      0,      0,      -0x1.8p-7, -1.5,  0,
       -0x1.8p19, 0, 0,      -0x1.8p10, -0x1.8p17, 0, 0,      0,      0,      0,         16,    0,
       0,         0, 0,      0,         0,         0, 0x1p11, 0x1p19, 0x1p13, 4,         0x1p9, 0});
  batch.lower =
      Buffer<double>::from({0x1p21, -32, -128, 0x1.2p-7, 1664, -0.0625, -kInfinity, -kInfinity});
  batch.upper = Buffer<double>::from(
      {0x1.2p21, kInfinity, kInfinity, kInfinity, kInfinity, kInfinity, 4, 1e11});
  for (const QpMethod method : {QpMethod::automatic, QpMethod::interior_point}) {
    QpSettings settings;
    settings.method = method;
    const QpResult result = solve_qp(batch, settings, Backend::cpu);
    ASSERT_EQ(to_string(result.status.host()[0]), "solved") << to_string(method);
    EXPECT_NEAR(result.objective.host()[0], 512.0 / 3.0, 1e-12 * 512.0 / 3.0) << to_string(method);
  }
}

INSTANTIATE_TEST_SUITE_P(Disguises, Programs,
                         ::testing::Values(Disguise{"plain", 0, false},
                                           Disguise{"in_other_units", 20, false},
                                           Disguise{"beside_huge_numbers", 0, true},
                                           Disguise{"both", 20, true}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace carom
