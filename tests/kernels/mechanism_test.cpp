#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/Geometry>

#include <carom/models/scenarios.hpp>

#include "models/mechanism_problem.hpp"
#include "support/mechanisms.hpp"
#include "support/random_problems.hpp"

// Each mechanism's functor against differences and conservation laws, none of which it shares.
namespace carom {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::Generator;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class Mechanism>
class Judge {
 public:
  Judge(std::vector<double> parameters, std::string name)
      : p_(std::move(parameters)), name_(std::move(name)), sizes_(Mechanism::sizes(p_.data())) {}

  /// At random configurations about q.
  void judge(const VectorXd& q, Generator& random) const {
    for (int trial = 0; trial < 5; ++trial) {
      SCOPED_TRACE(name_ + ", trial " + std::to_string(trial));
      const VectorXd away = 0.4 * random.normal_vector(sizes_.velocities);
      const VectorXd at = trial == 0 ? q : moved(q, away, 1.0);
      const VectorXd v = random.normal_vector(sizes_.velocities);
      expect_mass_matrix(at);
      expect_rows(at, v);
      if (sizes_.positions == sizes_.velocities) expect_lagrange(at, v);
      expect_conserved(at, v);
    }
  }

  [[nodiscard]] VectorXd gaps(const VectorXd& q) const {
    const Mechanism at = mechanism(q);
    VectorXd gap(sizes_.constraints);
    for (int i = 0; i < sizes_.constraints; ++i) gap[i] = at.constraint(i).gap;
    return gap;
  }

 private:
  [[nodiscard]] Mechanism mechanism(const VectorXd& q) const {
    return Mechanism(p_.data(), 0.0, q.data());
  }
  [[nodiscard]] VectorXd rates(const VectorXd& q, const VectorXd& v) const {
    VectorXd q_dot(sizes_.positions);
    mechanism(q).rates(v.data(), q_dot.data());
    return q_dot;
  }
  /// q + h N v, a quaternion of unit length.
  [[nodiscard]] VectorXd moved(const VectorXd& q, const VectorXd& v, double h) const {
    VectorXd next = q + h * rates(q, v);
    if (sizes_.positions > sizes_.velocities) next.tail<4>().normalize();
    return next;
  }
  [[nodiscard]] MatrixXd mass(const VectorXd& q) const {
    RowMajor matrix(sizes_.velocities, sizes_.velocities);
    mechanism(q).mass_matrix(matrix.data());
    return matrix;
  }
  [[nodiscard]] VectorXd force(const VectorXd& q, const VectorXd& v) const {
    VectorXd f(sizes_.velocities);
    mechanism(q).force(v.data(), f.data());
    return f;
  }
  /// J of all constraints.
  [[nodiscard]] MatrixXd jacobian(const VectorXd& q) const {
    const Mechanism at = mechanism(q);
    RowMajor rows = RowMajor::Zero(Mechanism::kRows * sizes_.constraints, sizes_.velocities);
    for (int i = 0; i < sizes_.constraints; ++i) {
      at.jacobian(at.constraint(i), rows.row(Mechanism::kRows * i).data(), sizes_.velocities);
    }
    return rows;
  }
  [[nodiscard]] double energy(const VectorXd& q, const VectorXd& v) const {
    return 0.5 * v.dot(mass(q) * v) + mechanism(q).potential();
  }

  void expect_mass_matrix(const VectorXd& q) const {
    const MatrixXd m = mass(q);
    EXPECT_EQ(m, m.transpose());
    EXPECT_EQ(Eigen::LLT<MatrixXd>(m).info(), Eigen::Success);
    if constexpr (kernels::DiagonalMechanism<Mechanism>) {
      VectorXd inverse(sizes_.velocities);
      mechanism(q).inverse_mass(inverse.data());
      EXPECT_LE((m * inverse.asDiagonal() - MatrixXd::Identity(m.rows(), m.cols())).norm(), 1e-14);
    }
  }

  void expect_rows(const VectorXd& q, const VectorXd& v) const {
    const double h = 1e-6;
    const VectorXd ahead = moved(q, v, h);
    const VectorXd behind = moved(q, v, -h);
    const VectorXd opening = (gaps(ahead) - gaps(behind)) / (2.0 * h);
    const VectorXd bending = (jacobian(ahead) - jacobian(behind)) * v / (2.0 * h);
    const VectorXd speed = jacobian(q) * v;
    const Mechanism at = mechanism(q);
    const double scale = 1e-8 * (1.0 + v.squaredNorm());
    for (int i = 0; i < sizes_.constraints; ++i) {
      const auto constraint = at.constraint(i);
      EXPECT_NEAR(speed[Mechanism::kRows * i], opening[i], scale) << "constraint " << i;
      double turning[Mechanism::kRows];
      at.jacobian_dot_v(constraint, v.data(), turning);
      for (int k = 0; k < Mechanism::kRows; ++k) {
        const int row = Mechanism::kRows * i + k;
        EXPECT_NEAR(turning[k], bending[row], scale) << "constraint " << i << " row " << k;
      }
      for (int j = 0; j < sizes_.velocities; ++j) {
        if (j >= constraint.begin && j < constraint.end) continue;
        EXPECT_EQ(jacobian(q).middleRows(Mechanism::kRows * i, Mechanism::kRows).col(j).norm(),
                  0.0);
      }
    }
  }

  /// Lagrange's equations with q' = v: F = -M' v + grad (v'M v / 2 - V).
  void expect_lagrange(const VectorXd& q, const VectorXd& v) const {
    const double h = 1e-5;
    VectorXd expected = -(mass(q + h * v) - mass(q - h * v)) * v / (2.0 * h);
    for (int j = 0; j < sizes_.positions; ++j) {
      const VectorXd step = h * VectorXd::Unit(sizes_.positions, j);
      const auto lagrangian = [&](const VectorXd& at) {
        return 0.5 * v.dot(mass(at) * v) - mechanism(at).potential();
      };
      expected[j] += (lagrangian(q + step) - lagrangian(q - step)) / (2.0 * h);
    }
    const VectorXd f = force(q, v);
    EXPECT_LE((f - expected).lpNorm<Eigen::Infinity>(), 1e-7 * (1.0 + f.norm())) << f;
  }

  /// Free motion by classical Runge-Kutta: energy stays, and a free body's angular momentum.
  void expect_conserved(VectorXd q, VectorXd v) const {
    const double h = 1e-4;
    const double before = energy(q, v);
    const Eigen::Vector3d momentum = angular_momentum(q, v);
    const auto acceleration = [&](const VectorXd& at, const VectorXd& u) -> VectorXd {
      return mass(at).ldlt().solve(force(at, u));
    };
    for (int step = 0; step < 100; ++step) {
      const VectorXd k1 = acceleration(q, v);
      const VectorXd r1 = rates(q, v);
      const VectorXd k2 = acceleration(q + h / 2 * r1, v + h / 2 * k1);
      const VectorXd r2 = rates(q + h / 2 * r1, v + h / 2 * k1);
      const VectorXd k3 = acceleration(q + h / 2 * r2, v + h / 2 * k2);
      const VectorXd r3 = rates(q + h / 2 * r2, v + h / 2 * k2);
      const VectorXd k4 = acceleration(q + h * r3, v + h * k3);
      const VectorXd r4 = rates(q + h * r3, v + h * k3);
      q += h / 6 * (r1 + 2 * r2 + 2 * r3 + r4);
      v += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    EXPECT_NEAR(energy(q, v), before, 1e-9 * (1.0 + std::abs(before)));
    EXPECT_LE((angular_momentum(q, v) - momentum).norm(), 1e-10 * (1.0 + momentum.norm()));
  }
  [[nodiscard]] Eigen::Vector3d angular_momentum(const VectorXd& q, const VectorXd& v) const {
    if (sizes_.positions == sizes_.velocities) return Eigen::Vector3d::Zero();
    const Eigen::Quaterniond turned(q[3], q[4], q[5], q[6]);
    const MatrixXd m = mass(q);
    return turned * (m.bottomRightCorner<3, 3>() * v.tail<3>());
  }

  std::vector<double> p_;
  std::string name_;
  kernels::MechanismSizes sizes_;
};

models::detail::Values values_of(const std::string& model,
                                 const std::map<std::string, double>& overrides) {
  models::detail::Values values(models::find(model));
  for (const auto& [name, value] : overrides) values.set(name, value);
  return values;
}

TEST(Mechanisms, OfImpactModelsObeyTheEquationsOfMotion) {
  // No two of a problem's numbers alike, where that is allowed.
  const std::map<std::string, std::map<std::string, double>> overrides = {
      {"rocking_block", {{"mass", 1.3}, {"width", 0.7}}},
      {"box_wall", {{"mass", 1.3}, {"angle", 17.0}}},
      {"compass_gait", {{"mass", 1.3}, {"leading_angle", -35.0}, {"trailing_angle", 28.0}}},
      {"disk_stack", {{"radius", 0.8}, {"mass", 1.7}}},
      {"tripod", {{"slope", 25.0}, {"mass", 1.4}}},
      {"bar_on_steps", {{"mass", 1.4}, {"rise", 0.25}}}};
  Generator random(17);
  int count = 0;
  test::each_impact_mechanism([&](auto type, const std::string& name) {
    using Mechanism = typename decltype(type)::type;
    static_assert(kernels::ImpactMechanism<Mechanism>);
    const auto found = overrides.find(name);
    const auto values =
        values_of(name, found == overrides.end() ? std::map<std::string, double>() : found->second);
    const auto p = models::detail::mechanism_parameters<Mechanism>(values);
    VectorXd q(Mechanism::kSizes.positions);
    VectorXd v(Mechanism::kSizes.velocities);
    Mechanism::start(p.data(), q.data(), v.data());
    Judge<Mechanism>(p, name).judge(q, random);
    ++count;
  });
  EXPECT_EQ(count + 2, static_cast<int>(models::all().size()));  // two models are no mechanisms
}

TEST(Mechanisms, OfImpactModelsTouchAtTheImpact) {
  test::each_impact_mechanism([&](auto type, const std::string& name) {
    SCOPED_TRACE(name);
    using Mechanism = typename decltype(type)::type;
    const auto p = models::detail::mechanism_parameters<Mechanism>(values_of(name, {}));
    VectorXd q(Mechanism::kSizes.positions);
    VectorXd v(Mechanism::kSizes.velocities);
    Mechanism::start(p.data(), q.data(), v.data());
    // The walkers' tables round angles to 0.01 degrees.
    const double tolerance = name == "compass_gait" || name == "ramone" ? 1e-5 : 1e-15;
    EXPECT_LE(Judge<Mechanism>(p, name).gaps(q).template lpNorm<Eigen::Infinity>(), tolerance);
  });
}

TEST(Mechanisms, OfScenariosObeyTheEquationsOfMotion) {
  // A drive that does work on the foundation's cube belongs to no potential.
  const std::map<std::string, std::map<std::string, double>> overrides = {
      {"elastic_foundation", {{"load", 0.0}, {"elements_per_side", 2}}},
      {"inclined_block", {{"angle", 20.0}}},
      {"sphere_stack", {{"spheres", 3}}},
      {"spring_mass_damper", {{"force", 3.0}}}};
  Generator random(18);
  int count = 0;
  test::each_scenario([&](auto type, const std::string& name) {
    using Scenario = typename decltype(type)::type;
    using Mechanism = typename Scenario::Mechanism;
    static_assert(kernels::DiagonalMechanism<Mechanism>);
    const models::Scenario& scenario = models::find_scenario(name);
    const auto found = overrides.find(name);
    const auto p = models::scenario_parameters(
        scenario, found == overrides.end() ? std::map<std::string, double>() : found->second);
    const kernels::MechanismSizes sizes = Mechanism::sizes(p.data());
    VectorXd q(sizes.positions);
    VectorXd v(sizes.velocities);
    Scenario::start(p.data(), q.data(), v.data());
    Judge<Mechanism>(p, name).judge(q, random);
    ++count;
  });
  EXPECT_EQ(count, static_cast<int>(models::scenarios().size()));
}

TEST(Mechanisms, TheScenariosBlockIsTheRockingBlock) {
  // Parameters of both begin alike; gravity is the last.
  const auto block = models::scenario_parameters(models::find_scenario("compliant_block_impact"));
  using Block = kernels::CompliantBlockImpact;
  std::vector<double> p(block.begin(), block.begin() + Block::kFriction + 1);
  p.push_back(block[Block::kGravity]);
  const double q[3] = {0.2, 0.9, 0.3};
  const double v[3] = {0.4, -0.7, 1.1};
  const auto size =
      static_cast<std::size_t>(test::mechanism_numbers<kernels::RockingBlock>(p.data()));
  std::vector<double> own(size);
  std::vector<double> scenarios(size);
  test::write_mechanism<kernels::RockingBlock>({p.data(), 0.0, q, v}, own.data());
  test::write_mechanism<Block::Mechanism>({block.data(), 0.0, q, v}, scenarios.data());
  EXPECT_EQ(own, scenarios);
}

}  // namespace
}  // namespace carom
