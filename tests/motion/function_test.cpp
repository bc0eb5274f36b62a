// One's own mechanisms as C++ functions, against the built-in ones and closed forms.

#include <carom/motion_function.hpp>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/error.hpp>
#include <carom/models/motions.hpp>

namespace carom {
namespace {

/// The rocking block of 1 m by 2 m.
OwnMechanism block() {
  OwnMechanism own;
  own.positions = own.velocities = 3;
  own.contacts = 2;
  own.terms = [](const MechanismState& at, MechanismAnswer& out) {
    const double s = std::sin(at.position[2]);
    const double c = std::cos(at.position[2]);
    const double omega = at.velocity[2];
    out.mass[0] = out.mass[4] = 1.0;
    out.mass[8] = 5.0 / 12.0;
    out.force[1] = -9.81;
    for (std::size_t j = 0; j < 3; ++j) out.rates[j] = at.velocity[j];
    out.potential = 9.81 * at.position[1];
    for (std::size_t i = 0; i < 2; ++i) {
      const double x = i == 0 ? -0.5 : 0.5;
      const double arm[2] = {c * x + s, s * x - c};
      out.gap[i] = at.position[1] + arm[1];
      out.friction[i] = 1.0;
      double* rows = &out.jacobian[6 * i];
      rows[1] = rows[3] = 1.0;
      rows[2] = arm[0];
      rows[5] = -arm[1];
      out.drift[2 * i] = -omega * omega * arm[1];
      out.drift[2 * i + 1] = -omega * omega * arm[0];
    }
  };
  return own;
}

/// A point of 2 kg above the floor z = 0, in space.
OwnMechanism point(double friction) {
  OwnMechanism own;
  own.dimension = 3;
  own.positions = own.velocities = 3;
  own.contacts = 1;
  own.terms = [friction](const MechanismState& at, MechanismAnswer& out) {
    for (std::size_t j = 0; j < 3; ++j) {
      out.mass[4 * j] = 2.0;
      out.rates[j] = at.velocity[j];
    }
    out.force[2] = -2.0 * 9.81;
    out.potential = 2.0 * 9.81 * at.position[2];
    out.gap[0] = at.position[2];
    out.friction[0] = friction;
    out.jacobian[2] = out.jacobian[3] = out.jacobian[7] = 1.0;
  };
  return own;
}

TEST(OwnMechanism, BlockReachesItsZenoPoint) {
  const std::vector<double> q{0.0, 1.0, 0.0};
  const std::vector<double> v{-1.0, 0.5, 1.0};
  MotionSettings settings;
  settings.duration = 4.0;
  settings.step_size = 0.3;
  settings.samples = 5;
  const MotionResult result = simulate_motions(block(), q, v, settings);
  const MotionSummary sum = summarise(result, 0);
  EXPECT_EQ(sum.ended_rest, 5);
  EXPECT_NEAR(sum.zeno_time, 2.671421, 1e-6);
  EXPECT_NEAR(sum.zeno_s, 28.37807, 1e-5);
  EXPECT_LT(sum.max_residual, 1e-9);
  EXPECT_LT(sum.max_energy_error, 1e-8);
  EXPECT_NEAR(result.load.host()[0], 9.81 / 2, 1e-6);
  settings.threads = 1;
  const MotionResult again = simulate_motions(block(), q, v, settings);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(again.s.host()[i], result.s.host()[i]);
}

TEST(OwnMechanism, TermsAndImpactAreTheModels) {
  MotionProblem model = models::build_motion("rocking_block_zeno");
  const std::vector<double> q{0.1, 1.3, 0.2};
  const std::vector<double> v{0.3, -0.4, 0.7};
  const MotionTerms own = motion_terms(block(), q, v);
  const MotionTerms built = motion_terms(model, q, v);
  const auto same = [](const std::vector<double>& a, const std::vector<double>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-14) << i;
  };
  same(own.mass, built.mass);
  same(own.force, built.force);
  same(own.rates, built.rates);
  same(own.gap, built.gap);
  same(own.jacobian, built.jacobian);
  same(own.drift, built.drift);
  EXPECT_NEAR(own.energy, built.energy, 1e-13);
  const ImpactProblem impact =
      impact_problem(motion_terms(block(), std::vector<double>{0.0, 1.0, 0.0}, v), v);
  EXPECT_EQ(impact.contacts, 2);
  same(impact.normal_jacobian, {0.0, 1.0, -0.5, 0.0, 1.0, 0.5});
  same(impact.tangent_jacobian, {1.0, 0.0, 1.0, 1.0, 0.0, 1.0});
}

TEST(OwnMechanism, PointSlidesToItsStop) {
  const double friction = 0.3;
  const std::vector<double> q{0.0, 0.0, 0.0};
  const std::vector<double> v{0.6, 0.8, 0.0};
  MotionSettings settings;
  settings.duration = 2.0;
  const MotionResult result = simulate_motions(point(friction), q, v, settings);
  EXPECT_EQ(result.end.host()[0], MotionEnd::rest);
  const double way = 1.0 / (2.0 * friction * 9.81);
  EXPECT_NEAR(result.position.host()[0], 0.6 * way, 1e-8);
  EXPECT_NEAR(result.position.host()[1], 0.8 * way, 1e-8);
  EXPECT_NEAR(result.time.host()[0], 1.0 / (friction * 9.81), 1e-7);
  EXPECT_NEAR(result.load.host()[0], 2.0 * 9.81, 1e-9);
}

TEST(OwnMechanism, RefusesByName) {
  const std::vector<double> q{0.0, 1.0, 0.0};
  const auto refusal = [&](const OwnMechanism& own, const std::vector<double>& start) {
    try {
      simulate_motions(own, start, q);
    } catch (const InvalidInput& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  const auto expect = [&](const auto& change, const std::string& words) {
    OwnMechanism own = block();
    change(own);
    EXPECT_NE(refusal(own, q).find(words), std::string::npos) << refusal(own, q);
  };
  expect([](OwnMechanism& own) { own.dimension = 4; }, "dimension");
  expect([](OwnMechanism& own) { own.velocities = 13; }, "velocities");
  expect([](OwnMechanism& own) { own.positions = 4; }, "positions");
  expect([](OwnMechanism& own) { own.contacts = 9; }, "contacts");
  expect([](OwnMechanism& own) { own.terms = nullptr; }, "terms");
  expect([](OwnMechanism& own) { own.terms = [](const auto&, auto&) {}; }, "mass");
  EXPECT_NE(refusal(block(), {0.0, 0.9, 0.0}).find("gap[0]"), std::string::npos);
  EXPECT_NE(refusal(block(), {0.0, 1.0}).find("position"), std::string::npos);
  EXPECT_NE(refusal(block(), {0.0, std::numeric_limits<double>::quiet_NaN(), 0.0}).find("position"),
            std::string::npos);
  OwnMechanism throws = block();
  throws.terms = [inner = throws.terms](const MechanismState& at, MechanismAnswer& out) {
    if (at.time > 0.1) throw std::runtime_error("no table beyond 0.1 s");
    inner(at, out);
  };
  EXPECT_THROW(simulate_motions(throws, q, std::vector<double>{-1.0, 0.5, 1.0}),
               std::runtime_error);
}

}  // namespace
}  // namespace carom
