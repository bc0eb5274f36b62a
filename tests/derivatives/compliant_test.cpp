#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <carom/derivative_compliant.hpp>

#include "compliant/kernels/compliant_derivative.hpp"
#include "core/arrays.hpp"
#include "support/message.hpp"

namespace carom {
namespace {

using test::expect_names;
using test::refusal;

/// A block on the ground, in the plane, that moves at `speed`.
CompliantBatch block(double speed, double friction) {
  CompliantConstraint contact;
  contact.type = CompliantConstraint::Type::contact;
  contact.jacobian = {0.0, 1.0, 1.0, 0.0};
  contact.phi = {-1e-4, 0.0};
  contact.stiffness = {1e4, 0.0};
  contact.damping = {1e3, 1e6};
  contact.friction = friction;
  CompliantProblem problem;
  problem.dimension = 2;
  problem.velocities = 2;
  problem.step_size = 0.01;
  problem.mass_matrix = {1.0, 0.0, 0.0, 1.0};
  problem.force = {0.0, -9.81};
  problem.velocity = {speed, 0.0};
  problem.constraints = {contact};
  return make_batch(std::vector<CompliantProblem>{problem});
}

CompliantCotangent of_velocity(double x, double z) {
  CompliantCotangent cotangent;
  cotangent.velocity = Buffer<double>::from(std::vector<double>{x, z});
  return cotangent;
}

TEST(DifferentiateCompliant, ASlidingBlockHasTheClosedForm) {
  const CompliantBatch batch = block(1.0, 0.5);
  const CompliantResult answer = solve_compliant(batch);
  ASSERT_EQ(answer.status.host()[0], Status::solved);
  const double impulse = 0.01 * answer.force.host()[0];
  const CompliantGradient gradient = differentiate_compliant(batch, answer, of_velocity(1.0, 0.0));
  EXPECT_EQ(gradient.status.host()[0], Smoothness::smooth);
  EXPECT_NEAR(gradient.friction.host()[0], -impulse, 1e-15);
  EXPECT_NEAR(gradient.velocity.host()[0], 1.0, 1e-14);
  // dp_n / dphi = -(K/s) / (1 + 1/eta), and v_x' = v_x - mu p_n.
  const double s = 0.01 * 1e4 + 1e3, eta = 0.01 * s;
  EXPECT_NEAR(gradient.phi.host()[0], 0.5 * (1e4 / s) / (1.0 + 1.0 / eta), 1e-12);
  CompliantDirection direction;
  direction.friction = Buffer<double>::from(std::vector<double>{1.0, 0.0});
  const CompliantTangent tangent = propagate_compliant(batch, answer, direction);
  EXPECT_NEAR(tangent.velocity.host()[0], -impulse, 1e-15);
  EXPECT_NEAR(tangent.velocity.host()[1], 0.0, 1e-15);
}

TEST(DifferentiateCompliant, OnlyWhatIsWantedIsThere) {
  const CompliantBatch batch = block(0.0, 0.5);
  const CompliantResult answer = solve_compliant(batch);
  const CompliantGradient gradient =
      differentiate_compliant(batch, answer, of_velocity(1.0, 1.0), {}, {}, {"friction"});
  EXPECT_TRUE(gradient.mass_matrix.empty());
  EXPECT_EQ(gradient.friction.host()[0], 0.0);  // it sticks
  EXPECT_EQ(gradient.status.host()[0], Smoothness::smooth);
  expect_names(refusal([&] {
                 static_cast<void>(
                     differentiate_compliant(batch, answer, of_velocity(1.0, 1.0), {}, {}, {"mu"}));
               }),
               {"wanted", "mu"});
  CompliantSettings programme;
  programme.law = StepLaw::programme;
  expect_names(
      refusal([&] {
        static_cast<void>(differentiate_compliant(batch, answer, of_velocity(1.0, 1.0), programme));
      }),
      {"law", "programme"});
}

/// Three joints in a plane's two directions, nearly or truly dependent: rows (1, 0), (1, near) and
/// one that is their combination, which rounding alone would let seem independent.
CompliantBatch plane_joints(const std::vector<double>& rates, double near = 0x1.0p-15) {
  CompliantProblem problem;
  problem.velocities = 3;
  problem.step_size = 0.01;
  problem.mass_matrix = {1.3, 0.41, 0.2, 0.41, 0.9, -0.17, 0.2, -0.17, 0.7};
  problem.force = {0.3, -1.0, 0.2};
  problem.velocity = {0.2, 0.1, -0.3};
  CompliantConstraint joints;
  joints.type = CompliantConstraint::Type::bilateral;
  joints.jacobian = {1.0, 0.0, 0.0, 1.0, near, 0.0, 0.37, 0.81, 0.0};
  joints.jacobian_dot_v = rates;
  joints.phi = {1e-3, -2e-3, 5e-4};
  joints.stiffness = {1e3, 2e3, 7e2};
  joints.damping = {10.0};
  problem.constraints = {joints};
  return make_batch(std::vector<CompliantProblem>{problem});
}

/// Of the inverse of M^-1's upper left part, which is a Schur complement of M.
long double upper_left(const CompliantBatch& batch, int i, int j) {
  const double* m = batch.mass_matrix.data();
  return m[3 * i + j] - m[3 * i + 2] * (m[6 + j] / static_cast<long double>(m[8]));
}

/// D^-1 (x, y), D = G M^-1 G' of the first two rows, by substitution on both sides of that inverse.
std::pair<double, double> over_first_two(const CompliantBatch& batch, long double x,
                                         long double y) {
  const long double e = batch.jacobian.host()[4], second = (y - x) / e;
  const long double f = upper_left(batch, 0, 0) * x + upper_left(batch, 0, 1) * second;
  const long double g = (upper_left(batch, 1, 0) * x + upper_left(batch, 1, 1) * second) / e;
  return {static_cast<double>(f - g), static_cast<double>(g)};
}

TEST(DifferentiateCompliant, RoundingDoesNotMakeRowsIndependent) {
  const CompliantBatch batch = plane_joints({0.0, 0.0, 0.0});
  const CompliantResult answer = solve_compliant(batch);
  CompliantCotangent cotangent;
  cotangent.velocity = Buffer<double>::from(std::vector<double>{0.7, -0.4, 0.9});
  const CompliantGradient gradient = differentiate_compliant(batch, answer, cotangent);
  ASSERT_EQ(gradient.status.host()[0], Smoothness::smooth);
  const auto rate = [&](int i) {
    return 0.01 * batch.stiffness.host()[i] + batch.damping.host()[i];
  };
  const auto phi_share = [&](int i) { return gradient.phi.host()[i] / batch.stiffness.host()[i]; };
  const auto [first, second] = over_first_two(batch, phi_share(0), phi_share(1));
  const double hat[3] = {first, second, 0.0};
  for (int i = 0; i < 3; ++i) {
    const double expected = 0.01 * rate(i) * phi_share(i) + hat[i];
    const double size = i == 2 ? std::fabs(expected) : std::fabs(second);
    EXPECT_NEAR(gradient.jacobian_dot_v.host()[i], expected, 1e-6 * size) << i;
  }
  // The second row's share that is not the first's.
  const long double e = 0x1.0p-15L, u = upper_left(batch, 1, 1), v = upper_left(batch, 0, 1);
  const long double w = upper_left(batch, 0, 0), length = u * (u - 2.0L * e * v + e * e * w);
  const auto inverse = static_cast<double>(length / (e * e * (u * w - v * v)));
  EXPECT_NEAR(gradient.condition.host()[0], inverse, 1e-5 * inverse);
}
TEST(DifferentiateCompliant, MovingRowsThatNearlyDependAreThoseOfTheirForces) {
  // m stands with K phi, so that a step with that phi and without m is the same.
  const std::vector<double> rates = {0.1, 0.1 + 0x1.0p-14, 0.3};
  const CompliantBatch batch = plane_joints(rates);
  const CompliantResult answer = solve_compliant(batch);
  ASSERT_EQ(answer.status.host()[0], Status::solved);
  CompliantBatch pushed = plane_joints(rates);
  const auto [first, second] = over_first_two(batch, rates[0], rates[1]);
  pushed.phi.host()[0] += first / pushed.stiffness.host()[0];
  pushed.phi.host()[1] += second / pushed.stiffness.host()[1];
  CompliantSettings without;
  without.centripetal = false;
  const CompliantResult expected = solve_compliant(pushed, without);
  ASSERT_EQ(expected.status.host()[0], Status::solved);
  CompliantCotangent cotangent;
  cotangent.velocity = Buffer<double>::from(std::vector<double>{0.7, -0.4, 0.9});
  const std::vector<std::string> wanted = {"velocity", "phi", "jacobian_dot_v"};
  const CompliantGradient g = differentiate_compliant(batch, answer, cotangent, {}, {}, wanted);
  const CompliantGradient h =
      differentiate_compliant(pushed, expected, cotangent, without, {}, wanted);
  EXPECT_EQ(g.status.host()[0], Smoothness::smooth);
  EXPECT_EQ(h.status.host()[0], Smoothness::smooth);
  for (int j = 0; j < 3; ++j) {
    const double v = expected.velocity.host()[j];
    EXPECT_NEAR(answer.velocity.host()[j], v, 1e-6 * (1.0 + std::fabs(v))) << j;
    EXPECT_NEAR(g.velocity.host()[j], h.velocity.host()[j], 1e-10) << j;
    EXPECT_NEAR(g.phi.host()[j], h.phi.host()[j], 1e-10 * std::fabs(h.phi.host()[1])) << j;
  }
  // In G and M there is none, since the set of independent rows may jump.
  const CompliantGradient all = differentiate_compliant(batch, answer, cotangent);
  EXPECT_EQ(all.status.host()[0], Smoothness::undefined);
}

/// A^-1 b, A definite.
std::array<long double, 3> over(std::array<std::array<long double, 3>, 3> a,
                                std::array<long double, 3> b) {
  for (int k = 0; k < 3; ++k) {
    for (int i = k + 1; i < 3; ++i) {
      const long double by = a[i][k] / a[k][k];
      for (int j = k; j < 3; ++j) a[i][j] -= by * a[k][j];
      b[i] -= by * b[k];
    }
  }
  for (int k = 2; k >= 0; --k) {
    for (int j = k + 1; j < 3; ++j) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  return b;
}

TEST(DifferentiateCompliant, SpringsOfMovingRowsThatNearlyDependHaveTheirDigits) {
  // m and p / h nearly cancel in their gradients.
  constexpr long double h = 0.01;
  const std::array<long double, 3> weight = {0.7, -0.4, 0.9};
  for (const double near : {0x1.0p-6, 0x1.0p-8, 0x1.0p-10, 0x1.0p-12}) {
    SCOPED_TRACE(near);
    const std::vector<double> rates = {0.1, 0.6, 0.3};
    const CompliantBatch batch = plane_joints(rates, near);
    const CompliantResult answer = solve_compliant(batch);
    CompliantCotangent cotangent;
    cotangent.velocity = Buffer<double>::from(std::vector<double>(weight.begin(), weight.end()));
    const CompliantGradient gradient = differentiate_compliant(
        batch, answer, cotangent, {}, {}, {"phi", "stiffness", "damping", "velocity"});
    ASSERT_EQ(gradient.status.host()[0], Smoothness::smooth);
    std::array<std::array<long double, 3>, 3> mass, flexible, w;
    std::array<long double, 3> push, rest, pull, moment{}, s;
    const auto g = [&](int i, int j) -> long double { return batch.jacobian.host()[3 * i + j]; };
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) mass[i][j] = batch.mass_matrix.host()[3 * i + j];
      push[i] = h * batch.force.host()[i];
      s[i] = h * batch.stiffness.host()[i] + batch.damping.host()[i];
    }
    push = over(mass, push);
    const long double step = (rates[1] - static_cast<long double>(rates[0])) / near;
    const long double f = upper_left(batch, 0, 0) * rates[0] + upper_left(batch, 0, 1) * step;
    moment[1] = (upper_left(batch, 1, 0) * rates[0] + upper_left(batch, 1, 1) * step) / near;
    moment[0] = f - moment[1];
    for (int i = 0; i < 3; ++i) {
      push[i] += batch.velocity.host()[i];
      flexible[i] = over(mass, {g(i, 0), g(i, 1), g(i, 2)});
    }
    const auto phi = [&](int i) -> long double { return batch.phi.host()[i]; };
    const auto stiff = [&](int i) -> long double { return batch.stiffness.host()[i]; };
    const auto damp = [&](int i) -> long double { return batch.damping.host()[i]; };
    for (int i = 0; i < 3; ++i) {
      rest[i] = -h * rates[i] - (stiff(i) * phi(i) + moment[i]) / s[i];
      pull[i] = 0.0L;
      for (int j = 0; j < 3; ++j) {
        rest[i] -= g(i, j) * push[j];
        pull[i] += flexible[i][j] * weight[j];
        w[i][j] = i == j ? 1.0L / (h * s[i]) : 0.0L;
        for (int k = 0; k < 3; ++k) w[i][j] += g(i, k) * flexible[j][k];
      }
    }
    const std::array<long double, 3> p = over(w, rest), psi = over(w, pull);
    const auto expect_near = [&](const char* name, const Buffer<double>& found, auto&& expected) {
      SCOPED_TRACE(name);
      long double size = 0.0L;
      for (int i = 0; i < 3; ++i) size = std::max(size, std::fabs(expected(i)));
      for (int i = 0; i < 3; ++i) {
        EXPECT_NEAR(found.host()[i], static_cast<double>(expected(i)),
                    2e-17 / (near * near) * static_cast<double>(size));
      }
    };
    expect_near("phi", gradient.phi, [&](int i) { return -psi[i] * stiff(i) / s[i]; });
    expect_near("stiffness", gradient.stiffness, [&](int i) {
      return -psi[i] * (phi(i) * damp(i) - h * moment[i] - p[i]) / (s[i] * s[i]);
    });
    expect_near("damping", gradient.damping, [&](int i) {
      return psi[i] * (stiff(i) * phi(i) + moment[i] + p[i] / h) / (s[i] * s[i]);
    });
  }
}

/// Contacts that stick, slide, open and touch, joints, rows that depend on each other, one problem
/// that is not solved, and two kinds of rows.
CompliantBatch steps(std::mt19937_64& random, int dimension, int problems) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  constexpr int n = 5;
  std::vector<CompliantProblem> all;
  for (int p = 0; p < problems; ++p) {
    CompliantProblem problem;
    problem.dimension = dimension;
    problem.velocities = n;
    problem.step_size = 0.01;
    std::vector<double> b(n * n);
    for (double& value : b) value = normal(random);
    problem.mass_matrix.assign(n * n, 0.0);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        for (int k = 0; k < n; ++k) problem.mass_matrix[i * n + j] += b[i * n + k] * b[j * n + k];
      }
      problem.mass_matrix[i * n + i] += 0.5;
      problem.force.push_back(normal(random));
      problem.velocity.push_back(normal(random));
    }
    const int contacts = p % 5 == 4 ? 1 : 3;
    for (int c = 0; c < contacts + 1; ++c) {
      CompliantConstraint one;
      const bool joint = c == contacts;
      one.type = joint ? CompliantConstraint::Type::bilateral : CompliantConstraint::Type::contact;
      const int rows = joint ? 1 : dimension;
      for (int i = 0; i < rows * n; ++i) one.jacobian.push_back(normal(random));
      if (c == 1 && !joint && p % 3 == 0) one.jacobian = problem.constraints[0].jacobian;
      for (int i = 0; i < rows; ++i) {
        one.jacobian_dot_v.push_back(p % 2 == 0 ? 0.1 * normal(random) : 0.0);
        one.phi.push_back(i == 0 ? 1e-3 * normal(random) : 0.0);
        one.stiffness.push_back(i == 0 ? 1e3 : 0.0);
        one.damping.push_back(i == 0 ? 10.0 : 1e3);
      }
      one.friction = c == 2 && p % 4 == 1 ? 0.0 : 0.2 + uniform(random);
      problem.constraints.push_back(one);
    }
    all.push_back(problem);
  }
  return make_batch(all);
}

bool equal(double x, double y) { return x == y || (x != x && y != y); }

/// Steps of two velocities with nine rows without friction; `beside`: a contact far away, with
/// which each row has an unknown of its own in the derivative's equations. touching: row and phi of
/// each problem that are not drawn.
CompliantBatch many_rows(bool beside, const std::vector<std::pair<int, double>>& touching = {}) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  std::vector<CompliantProblem> all;
  for (int p = 0; p < 40; ++p) {
    CompliantProblem problem;
    problem.dimension = 2;
    problem.velocities = 2;
    problem.step_size = 0.01;
    problem.mass_matrix = {2.0, 0.3, 0.3, 1.0};
    problem.force = {normal(random), normal(random)};
    problem.velocity = {normal(random), normal(random)};
    for (int i = 0; i < 9; ++i) {
      using Type = CompliantConstraint::Type;
      CompliantConstraint row;
      row.type = i == 4 ? Type::bilateral : Type::unilateral;
      row.jacobian = {normal(random), normal(random)};
      row.phi = {1e-2 * normal(random)};
      row.stiffness = {std::exp(3.0 * normal(random) + 5.0)};
      row.damping = {i % 3 == 0 ? 0.0 : 20.0};
      if (!touching.empty() && touching[p].first == i) row.phi = {touching[p].second};
      problem.constraints.push_back(row);
    }
    CompliantConstraint contact;
    contact.type = CompliantConstraint::Type::contact;
    contact.jacobian = {0.0, 1.0, 1.0, 0.0};
    contact.phi = {10.0, 0.0};
    contact.stiffness = {1e3, 0.0};
    contact.damping = {10.0, 10.0};
    contact.friction = 0.5;
    if (beside) problem.constraints.push_back(contact);
    all.push_back(problem);
  }
  return make_batch(all);
}

/// Of a batch in packs and of each of its steps alone, one of which is said not to be solved. How
/// many are smooth, and how many of their contacts slide.
std::pair<int, int> expect_numbers_of_one_step(const CompliantBatch& batch,
                                               std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  CompliantResult answer = solve_compliant(batch);
  answer.status.host()[5] = Status::inaccurate;
  CompliantCotangent cotangent;
  CompliantDirection direction;
  const auto draw = [&](const char*, const Extents& extents, auto& values) {
    values = Buffer<double>(static_cast<std::size_t>(extents.count()));
    for (double& value : values.host()) value = normal(random);
  };
  CompliantCotangent::each_array(batch, draw, cotangent);
  CompliantDirection::each_array(batch, draw, direction);
  const CompliantGradient found = differentiate_compliant(batch, answer, cotangent);
  const CompliantTangent along = propagate_compliant(batch, answer, direction);
  CompliantGradient expected = allocate<CompliantGradient>(batch, MemorySpace::host, true);
  const int n = batch.velocities, r = batch.rows;
  std::vector<double> reals(derivatives::step_derivative_reals(n, r));
  std::vector<double> velocity(n), increment(n), force(r);
  std::vector<int> ints(derivatives::step_derivative_ints(r));
  const derivatives::StepShape shape{n, r, 0};
  const derivatives::DerivativeRules rules{AtKink::mean, 1e-9, 1e-6};
  int smooth = 0, sliding = 0;
  for (int p = 0; p < static_cast<int>(batch.problems); ++p) {
    SCOPED_TRACE(p);
    derivatives::StepView<double> problem;
    derivatives::StepCotangentView<double> asked;
    derivatives::StepGradientView<double> view;
    derivatives::StepDirectionView<double> way;
    arrays::bind(problem, batch, batch, p);
    arrays::bind(asked, cotangent, batch, p);
    arrays::bind(way, direction, batch, p);
    arrays::bind(view, static_cast<CompliantDirectionArrays<Buffer>&>(expected), batch, p);
    derivatives::Report report, forwards;
    derivatives::StepDerivative<double> one(shape, problem, true, rules, reals.data(), ints.data());
    const bool solved = answer.status.host()[p] == Status::solved;
    const bool there = solved && one.modes(answer.force.data() + p * r, report);
    forwards = report;
    if (there) {
      one.adjoint(asked, view, report);
    } else {
      one.none(view);
    }
    EXPECT_EQ(found.status.host()[p], report.status);
    EXPECT_TRUE(equal(found.residual.host()[p], report.residual));
    EXPECT_TRUE(equal(found.margin.host()[p], report.margin));
    EXPECT_TRUE(equal(found.condition.host()[p], report.condition));
    EXPECT_TRUE(equal(found.shift.host()[p], report.shift));
    EXPECT_TRUE(equal(found.reach.host()[p], report.reach));
    smooth += report.status == Smoothness::smooth;
    for (int i = 0; i < r; ++i) sliding += expected.friction.host()[p * r + i] != 0.0;
    if (!there) continue;
    double energy = 0.0;
    one.tangent(way, {velocity.data(), increment.data(), force.data(), &energy}, forwards);
    EXPECT_EQ(along.status.host()[p], forwards.status);
    EXPECT_TRUE(equal(along.residual.host()[p], forwards.residual));
    EXPECT_TRUE(equal(along.reach.host()[p], forwards.reach));
    EXPECT_TRUE(equal(along.kinetic_energy.host()[p], energy));
    for (int j = 0; j < n; ++j) {
      EXPECT_TRUE(equal(along.velocity.host()[p * n + j], velocity[j]));
      EXPECT_TRUE(equal(along.increment.host()[p * n + j], increment[j]));
    }
    for (int i = 0; i < r; ++i) EXPECT_TRUE(equal(along.force.host()[p * r + i], force[i]));
  }
  CompliantDirection::each_array(
      batch,
      [](const char* name, const Extents&, const auto& one, const auto& other) {
        SCOPED_TRACE(name);
        ASSERT_EQ(one.size(), other.size());
        for (std::size_t i = 0; i < one.size(); ++i) {
          EXPECT_TRUE(equal(one.host()[i], other.host()[i])) << i;
        }
      },
      found, expected);
  return {smooth, sliding};
}

TEST(DifferentiateCompliant, PacksHaveTheNumbersOfOneStep) {
  std::mt19937_64 random(3);
  for (const int dimension : {2, 3}) {
    const auto [smooth, sliding] = expect_numbers_of_one_step(steps(random, dimension, 67), random);
    EXPECT_GE(smooth, 25);
    EXPECT_GE(sliding, 10);
  }
  EXPECT_EQ(expect_numbers_of_one_step(many_rows(false), random).first, 39);
}

/// Row by row the derivatives of nine rows and of the same with the contact beside them.
void expect_equal_derivatives(const CompliantBatch& few, const CompliantBatch& more,
                              Smoothness backwards) {
  CompliantSettings settings;
  settings.tolerance = 1e-12;
  const CompliantResult answer = solve_compliant(few, settings);
  const CompliantResult other = solve_compliant(more, settings);
  std::mt19937_64 random(12);
  std::normal_distribution<double> normal;
  CompliantCotangent cotangent;
  CompliantDirection direction;
  for (Buffer<double>* values : {&cotangent.velocity, &direction.velocity}) {
    *values = Buffer<double>(80);
    for (double& value : values->host()) value = normal(random);
  }
  const CompliantGradient g = differentiate_compliant(few, answer, cotangent, settings);
  const CompliantGradient h = differentiate_compliant(more, other, cotangent, settings);
  const CompliantTangent t = propagate_compliant(few, answer, direction, settings);
  const CompliantTangent u = propagate_compliant(more, other, direction, settings);
  const auto near = [](double x, double y) { EXPECT_NEAR(x, y, 1e-9 * (1.0 + std::fabs(y))); };
  for (int p = 0; p < 40; ++p) {
    SCOPED_TRACE(p);
    EXPECT_EQ(g.status.host()[p], backwards);
    EXPECT_EQ(h.status.host()[p], backwards);
    EXPECT_EQ(t.status.host()[p], u.status.host()[p]);
    EXPECT_EQ(g.doubtful.host()[p], h.doubtful.host()[p]);
    EXPECT_LE(g.residual.host()[p], 1e-14);
    // Estimates of two matrices that differ by the contact's rows and by their scales.
    EXPECT_LT(g.condition.host()[p], 30.0 * h.condition.host()[p]);
    EXPECT_GT(g.condition.host()[p], h.condition.host()[p] / 30.0);
    near(g.step_size.host()[p], h.step_size.host()[p]);
    for (int j = 0; j < 2; ++j) {
      near(g.velocity.host()[p * 2 + j], h.velocity.host()[p * 2 + j]);
      near(t.velocity.host()[p * 2 + j], u.velocity.host()[p * 2 + j]);
    }
    for (int i = 0; i < 9; ++i) {
      near(g.phi.host()[p * 9 + i], h.phi.host()[p * 11 + i]);
      near(g.stiffness.host()[p * 9 + i], h.stiffness.host()[p * 11 + i]);
      near(t.force.host()[p * 9 + i], u.force.host()[p * 11 + i]);
      near(g.jacobian.host()[(p * 9 + i) * 2], h.jacobian.host()[(p * 11 + i) * 2]);
    }
  }
}

TEST(DifferentiateCompliant, ManyRowsAreSolvedByTheVelocities) {
  const CompliantBatch few = many_rows(false);
  expect_equal_derivatives(few, many_rows(true), Smoothness::smooth);
  // One open row of each step is moved to where it touches.
  CompliantSettings settings;
  settings.tolerance = 1e-12;
  const CompliantResult answer = solve_compliant(few, settings);
  std::vector<std::pair<int, double>> touching;
  int open = 0;
  for (int p = 0; p < 40; ++p) {
    int row = -1;
    for (int i = 0; i < 9; ++i) {
      if (answer.force.host()[p * 9 + i] != 0.0) continue;
      ++open;
      if (row < 0) row = i;
    }
    ASSERT_GE(row, 0) << p;
    const double* along = few.jacobian.data() + (p * 9 + row) * 2;
    const double* v = answer.velocity.data() + p * 2;
    const double stiffness = few.stiffness.host()[p * 9 + row];
    const double rate = 0.01 * stiffness + few.damping.host()[p * 9 + row];
    touching.emplace_back(row, -(along[0] * v[0] + along[1] * v[1]) * rate / stiffness);
  }
  EXPECT_GT(open, 60);
  EXPECT_LT(open, 260);
  expect_equal_derivatives(many_rows(false, touching), many_rows(true, touching), Smoothness::kink);
}

}  // namespace
}  // namespace carom
