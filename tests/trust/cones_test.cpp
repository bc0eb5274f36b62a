#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <carom/qp.hpp>

#include "support/cone_problems.hpp"
#include "support/from_environment.hpp"

// Quadratic programs with second-order cones whose verdicts are planted, sheared, in random units
// and beside huge numbers, through the public function: no verdict is wrong, and few are missing.
// CAROM_TRUST_PROBLEMS sets how many there are of each verdict, CAROM_TRUST_SEED the seed.
namespace carom {
namespace {

using test::ConeGenerator;
using test::ConeProblem;
using test::ConeVerdict;

Status status_of(ConeVerdict verdict) {
  return verdict == ConeVerdict::solved      ? Status::solved
         : verdict == ConeVerdict::unbounded ? Status::unbounded
                                             : Status::infeasible;
}

/// The terms of the objective at x, added up by their magnitudes.
double terms_of(const ConeProblem& problem, const double* x) {
  double terms = std::abs(problem.objective);
  for (int i = 0; i < problem.n; ++i) {
    terms += std::abs(problem.vector[static_cast<std::size_t>(i)] * x[i]);
    for (int j = 0; j < problem.n; ++j) terms += std::abs(0.5 * problem.p(i, j) * x[i] * x[j]);
  }
  return terms;
}

struct Attempt {
  const char* name;
  QpMethod method;
  Backend backend;
  int fewer;       ///< divides the number of problems
  double missing;  ///< share without a verdict at most
};

class Cones : public ::testing::TestWithParam<Attempt> {};

TEST_P(Cones, AreWhatTheyWerePlantedAs) {
  const Attempt& attempt = GetParam();
  const int problems = test::from_environment("CAROM_TRUST_PROBLEMS", 1000) / attempt.fewer;
  const auto seed = static_cast<std::uint64_t>(test::from_environment("CAROM_TRUST_SEED", 1));
  QpSettings settings;
  settings.method = attempt.method;
  settings.threads = 1;
  int open = 0;
  for (const ConeVerdict verdict : {ConeVerdict::solved, ConeVerdict::infeasible,
                                    ConeVerdict::unbounded, ConeVerdict::doubly_infeasible}) {
    ConeGenerator generator(seed * 1000 + static_cast<std::uint64_t>(verdict));
    for (int p = 0; p < problems; ++p) {
      const ConeProblem problem = generator.problem(verdict);
      const QpResult result = solve_qp(problem.batch(), settings, attempt.backend);
      const Status status = result.status.host()[0];
      const bool claimed = status == Status::solved || status == Status::infeasible ||
                           status == Status::unbounded || status == Status::nonconvex;
      if (!claimed) {
        ++open;
        continue;
      }
      EXPECT_EQ(status, status_of(verdict)) << p;
      EXPECT_LE(result.residual.host()[0], settings.tolerance) << p;
      if (status == Status::solved && verdict == ConeVerdict::solved) {
        EXPECT_NEAR(result.objective.host()[0], problem.objective,
                    1e-6 * terms_of(problem, result.solution.data()) + 1e-9 * problem.unit)
            << p;
      }
    }
  }
  EXPECT_LE(open, 2 + static_cast<int>(attempt.missing * 4 * problems));
  RecordProperty("open", open);
}

/// Contacts of a body in the plane: normal and tangent rows [x, y, turn], friction, and the
/// quadratic program of their impulses, P = J M^-1 J', impulses in the friction cones.
struct PlanarContacts {
  std::vector<std::array<double, 3>> rows;
  QpBatch batch;

  explicit PlanarContacts(int contacts)
      : batch(allocate<QpBatch>({1, 2 * contacts, 0,
                                 std::vector<Cone>(static_cast<std::size_t>(contacts),
                                                   Cone{ConeKind::second_order, 2})})) {
    const long n = batch.variables;
    std::fill_n(batch.cone_matrix.data(), n * n, 0.0);
    std::fill_n(batch.cone_vector.data(), n, 0.0);
  }
  void add(double turn, double ax, double ay, double friction) {
    const double nx = std::cos(turn);
    const double ny = std::sin(turn);
    const auto first = static_cast<long>(rows.size());
    rows.push_back({nx, ny, ax * ny - ay * nx});
    rows.push_back({ny, -nx, -ax * nx - ay * ny});
    const long n = batch.variables;
    batch.cone_matrix.data()[n * first + first] = -friction;
    batch.cone_matrix.data()[n * (first + 1) + first + 1] = -1.0;
  }
  void set_hessian(double inverse_mass, double inverse_inertia) {
    double* entry = batch.hessian.data();
    for (const auto& one : rows) {
      for (const auto& other : rows) {
        *entry++ = inverse_mass * (one[0] * other[0] + one[1] * other[1]) +
                   inverse_inertia * one[2] * other[2];
      }
    }
  }
};

/// A body between two walls, wedged: impulses along the line of its contacts lie inside of both
/// friction cones and move nothing, so that no multipliers are inside of theirs, and rounding
/// decides whether J M^-1 J' is definite. q = -W r with r inside of the cones: the least objective
/// is -r'W r / 2, where the body stops.
QpBatch wedged(std::mt19937_64& engine, double& least) {
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  const double inverse_mass = 0.2 + 3.0 * unit(engine);
  const double inverse_inertia = 1.0 + 50.0 * unit(engine);
  PlanarContacts contacts(2);
  std::array<double, 4> impulse{};
  for (int c = 0; c < 2; ++c) {
    const double turn = c * std::numbers::pi + 0.4 * (unit(engine) - 0.5);
    const double ax = -std::cos(turn) * (0.2 + unit(engine));
    const double ay = -std::sin(turn) * (0.2 + unit(engine));
    const double friction = 0.8 + unit(engine);
    contacts.add(turn, ax, ay, friction);
    const auto first = static_cast<std::size_t>(2 * c);
    impulse[first] = std::pow(10.0, 2.0 * unit(engine) - 1.0);
    impulse[first + 1] = 0.8 * friction * impulse[first] * (2.0 * unit(engine) - 1.0);
  }
  contacts.set_hessian(inverse_mass, inverse_inertia);
  least = 0.0;
  for (std::size_t i = 0; i < 4; ++i) {
    double moved = 0.0;
    for (std::size_t j = 0; j < 4; ++j) {
      moved += contacts.batch.hessian.data()[4 * i + j] * impulse[j];
    }
    contacts.batch.vector.data()[i] = -moved;
    least -= 0.5 * impulse[i] * moved;
  }
  return std::move(contacts.batch);
}

TEST(WedgedCones, OfWedgedBodiesHaveAnswers) {
  const int problems = test::from_environment("CAROM_TRUST_PROBLEMS", 1000);
  std::mt19937_64 engine(static_cast<std::uint64_t>(test::from_environment("CAROM_TRUST_SEED", 1)));
  int solved = 0;
  for (int p = 0; p < problems; ++p) {
    double least = 0.0;
    const QpBatch batch = wedged(engine, least);
    const QpResult result = solve_qp(batch, {}, Backend::cpu);
    const Status status = result.status.host()[0];
    // In the given doubles W may have a negative eigenvalue of 1e-17: no claim is right then.
    EXPECT_NE(status, Status::infeasible) << p;
    EXPECT_NE(status, Status::unbounded) << p;
    if (status != Status::solved) continue;
    ++solved;
    EXPECT_NEAR(result.objective.host()[0], least, 1e-7 * -least) << p;
  }
  EXPECT_GE(solved, problems * 8 / 10);
  RecordProperty("solved", solved);
}

// More contacts than freedoms and any q: where impulses inside of the cones move nothing and pull
// along q, nothing bounds the objective, whatever rounding makes of the zeros of J M^-1 J'.
TEST(WedgedCones, ThatPullHaveNoBound) {
  const int problems = test::from_environment("CAROM_TRUST_PROBLEMS", 300);
  std::mt19937_64 engine(static_cast<std::uint64_t>(test::from_environment("CAROM_TRUST_SEED", 1)));
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  std::normal_distribution<double> normal;
  int solved = 0, unbounded = 0;
  for (int p = 0; p < problems; ++p) {
    const int count = 2 + p % 5;
    PlanarContacts contacts(count);
    for (int c = 0; c < count; ++c) {
      contacts.add(6.3 * unit(engine), normal(engine), normal(engine), 0.2 + unit(engine));
    }
    contacts.set_hessian(0.3 + 9.0 * unit(engine), 0.3 + 9.0 * unit(engine));
    for (int i = 0; i < 2 * count; ++i) contacts.batch.vector.data()[i] = normal(engine);
    const QpResult result = solve_qp(contacts.batch, {}, Backend::cpu);
    const Status status = result.status.host()[0];
    solved += status == Status::solved ? 1 : 0;
    if (status != Status::unbounded) continue;
    ++unbounded;
    const double* d = result.certificate.data();
    std::array<double, 3> moved{};
    double fall = 0.0, size = 0.0;
    for (int i = 0; i < 2 * count; ++i) {
      for (std::size_t k = 0; k < 3; ++k)
        moved[k] += contacts.rows[static_cast<std::size_t>(i)][k] * d[i];
      fall -= contacts.batch.vector.data()[i] * d[i];
      size = std::max(size, std::abs(d[i]));
    }
    for (const double part : moved) EXPECT_NEAR(part, 0.0, 1e-12 * size) << p;
    EXPECT_GT(fall, 1e-9 * size) << p;
    for (int c = 0; c < count; ++c) {
      const double friction = -contacts.batch.cone_matrix.data()[(2 * count + 1) * 2 * c];
      EXPECT_GT(friction * d[2 * c], std::abs(d[2 * c + 1])) << p;
    }
  }
  EXPECT_GT(solved, problems / 4);
  EXPECT_GT(unbounded, problems / 5);
  EXPECT_GE(solved + unbounded, problems * 97 / 100);
}

INSTANTIATE_TEST_SUITE_P(
    Methods, Cones,
    ::testing::Values(Attempt{"automatic", QpMethod::automatic, Backend::cpu, 1, 0.002},
                      Attempt{"interior_point", QpMethod::interior_point, Backend::cpu, 1, 0.002},
                      Attempt{"admm", QpMethod::admm, Backend::cpu, 20, 0.002},
                      // It may give up; what it says is right.
                      Attempt{"reference", QpMethod::automatic, Backend::reference, 10, 0.5}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace carom
