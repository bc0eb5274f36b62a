#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "compliant/kernels/compliant_contact.hpp"
#include "support/compliant_problems.hpp"

namespace carom {
namespace {

using kernels::CompliantPath;
using kernels::ContactNewton;
using kernels::ContactSystem;

struct Target {};

/// W, u and the rows' kinds of one problem.
struct Laws {
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> matrix;
  Eigen::VectorXd vector;
  std::vector<RowType> type;
  std::vector<double> friction;
  int tangents = 2;

  [[nodiscard]] ContactSystem system() const {
    ContactSystem system;
    system.rows = static_cast<int>(type.size());
    system.stride = system.rows;
    system.bandwidth = system.rows - 1;
    system.matrix = matrix.data();
    system.vector = vector.data();
    system.type = type.data();
    system.friction = friction.data();
    system.tangents = tangents;
    return system;
  }
};

struct Family {
  int contacts = 8;
  int velocities = 6;
  int tangents = 2;
  int unilateral = 0;
  double step_size = 0.1;
  double roughest = 1.5;
  double stiffest = 1e13;
  bool twins = false;  ///< every second contact is the one before once more
};

Laws random_laws(const Family& family, std::uint32_t index) {
  test::Draws draw(23, index);
  const int width = 1 + family.tangents;
  const int rows = family.unilateral + family.contacts * width;
  const double h = family.step_size;
  Eigen::MatrixXd g(rows, family.velocities);
  for (double& x : g.reshaped()) x = draw.uniform(-1.0, 1.0);
  Eigen::VectorXd free(family.velocities);
  for (double& x : free) x = draw.uniform(-1.0, 1.0);
  Eigen::VectorXd compliance(rows);
  Eigen::VectorXd push(rows);
  Laws laws;
  laws.tangents = family.tangents;
  for (int i = 0; i < rows; ++i) {
    const int within = i < family.unilateral ? 0 : (i - family.unilateral) % width;
    const double k = within == 0 ? draw.logarithmic(1e3, family.stiffest) : 0.0;
    const double b = within == 0 ? draw.logarithmic(1e-2, 1e3) : 1e2 * std::pow(10.0, index % 7);
    compliance(i) = 1.0 / (h * (h * k + b));
    push(i) = within == 0 ? k * draw.uniform(-1e-3, 1e-3) / (h * k + b) : 0.0;
    laws.type.push_back(i < family.unilateral ? RowType::unilateral
                        : within == 0         ? RowType::normal
                                              : RowType::tangent);
    laws.friction.push_back(within == 0 ? draw.uniform(0.0, family.roughest) : 0.0);
  }
  for (int c = 1; family.twins && c < family.contacts; c += 2) {
    const int at = family.unilateral + c * width;
    g.middleRows(at, width) = g.middleRows(at - width, width).eval();
    compliance.segment(at, width) = compliance.segment(at - width, width).eval();
    push.segment(at, width) = push.segment(at - width, width).eval();
    laws.friction[static_cast<std::size_t>(at)] =
        laws.friction[static_cast<std::size_t>(at - width)];
  }
  laws.matrix = g * g.transpose();
  laws.matrix.diagonal() += compliance;
  laws.vector = g * free + push;
  return laws;
}

/// 1/W_ii, the smaller one for the two tangents of a contact.
std::vector<double> weights(const Laws& laws) {
  std::vector<double> weight;
  for (Eigen::Index i = 0; i < laws.matrix.rows(); ++i) weight.push_back(1.0 / laws.matrix(i, i));
  for (std::size_t i = 0; laws.tangents == 2 && i < weight.size(); ++i) {
    if (laws.type[i] != RowType::normal) continue;
    weight[i + 1] = weight[i + 2] = std::min(weight[i + 1], weight[i + 2]);
  }
  return weight;
}

/// Largest violation of the laws, each said in its own words, relative to the largest impulse and
/// W^-1 u by its diagonal.
double violation(const Laws& laws, const Eigen::VectorXd& p) {
  const Eigen::VectorXd flow = laws.matrix * p + laws.vector;
  const std::vector<double> weight = weights(laws);
  double worst = 0.0;
  double scale = p.cwiseAbs().maxCoeff();
  const auto note = [&](double x) { worst = std::isnan(x) ? x : std::max(worst, std::abs(x)); };
  for (Eigen::Index i = 0; i < p.size(); ++i) {
    const double w = laws.matrix(i, i);
    scale = std::max(scale, std::abs(laws.vector(i) / w));
    if (laws.type[static_cast<std::size_t>(i)] == RowType::tangent) continue;
    note(std::min(p(i), flow(i) / w));
    if (laws.type[static_cast<std::size_t>(i)] == RowType::unilateral) continue;
    const Eigen::Index d = laws.tangents;
    const Eigen::VectorXd t = p.segment(i + 1, d);
    const Eigen::VectorXd slip = flow.segment(i + 1, d);
    const double radius = laws.friction[static_cast<std::size_t>(i)] * std::max(0.0, p(i));
    const Eigen::VectorXd wish = t - weight[static_cast<std::size_t>(i) + 1] * slip;
    const Eigen::VectorXd kept = wish.norm() > radius ? wish * (radius / wish.norm()) : wish;
    note((t - kept).norm());
  }
  return worst / scale;
}

Eigen::VectorXd solve(const Laws& laws, int max_iterations = 100) {
  const ContactSystem system = laws.system();
  std::vector<double> scratch(static_cast<std::size_t>(kernels::contact_workspace(system.rows)));
  Eigen::VectorXd p = Eigen::VectorXd::Zero(system.rows);
  ContactNewton<Target> newton(system, scratch.data());
  EXPECT_TRUE(newton.solve(p.data(), 1e-13, max_iterations).finite);
  return p;
}

void expect_solved(const Family& family, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const Laws laws = random_laws(family, i);
    const Eigen::VectorXd p = solve(laws);
    EXPECT_LE(violation(laws, p), 1e-11)
        << family.contacts << " contacts, " << family.velocities << " velocities, problem " << i;
  }
}

TEST(ContactNewton, SolvesEveryFamilyOfFewContacts) {
  for (const int tangents : {1, 2}) {
    for (const int contacts : {1, 2, 3, 4}) {
      for (const int velocities : {3, 6, 12}) {
        for (const double h : {1e-3, 1e-1}) {
          Family family{contacts, velocities, tangents};
          family.step_size = h;
          expect_solved(family, 60);
          family.twins = true;
          expect_solved(family, 20);
        }
      }
    }
  }
}

TEST(ContactNewton, SolvesRedundantContactsAtLargeFriction) {
  for (const int velocities : {3, 6}) {
    for (const int tangents : {1, 2}) {
      expect_solved({.velocities = velocities, .tangents = tangents}, 200);
      expect_solved({.velocities = velocities, .tangents = tangents, .unilateral = 3}, 100);
      expect_solved({.velocities = velocities, .tangents = tangents, .twins = true}, 100);
    }
  }
}

/// The path by itself, without Newton's method before or after it.
TEST(CompliantPath, ArrivesAtASolution) {
  for (const int tangents : {1, 2}) {
    for (const int contacts : {1, 3, 8}) {
      for (std::uint32_t i = 0; i < 100; ++i) {
        const Laws laws =
            random_laws({.contacts = contacts, .tangents = tangents, .unilateral = 1}, i);
        const ContactSystem system = laws.system();
        const std::vector<double> weight = weights(laws);
        std::vector<double> scratch(static_cast<std::size_t>(kernels::path_workspace(system.rows)));
        CompliantPath<Target> path(system, weight.data(), scratch.data());
        Eigen::VectorXd p = Eigen::VectorXd::Constant(system.rows, 1e9);
        ASSERT_TRUE(path.follow(p.data(), 2000, 0)) << contacts << " " << i;
        EXPECT_LE(violation(laws, p), 1e-8) << contacts << " " << i;
      }
    }
  }
}

/// A rigid rod's end at an angle (Painleve): coupling that makes the normal equation fall with the
/// impulse while sliding. Newton's method and the path must find a solution all the same.
TEST(CompliantPath, FollowsThroughTurningPoints) {
  Laws laws;
  laws.tangents = 1;
  laws.type = {RowType::normal, RowType::tangent};
  laws.friction = {1.5, 0.0};
  laws.matrix.resize(2, 2);
  laws.matrix << 1.0, 0.9, 0.9, 1.0;
  laws.vector.resize(2);
  for (const double u : {-1.0, -1e-3, 1e-3, 0.1, 1.0}) {
    laws.vector << u, 0.3;  // slides forwards: friction pushes the foot into the ground
    const ContactSystem system = laws.system();
    const std::vector<double> weight{1.0, 1.0};
    std::vector<double> scratch(static_cast<std::size_t>(kernels::path_workspace(2)));
    CompliantPath<Target> path(system, weight.data(), scratch.data());
    Eigen::VectorXd p(2);
    ASSERT_TRUE(path.follow(p.data(), 100, 0));
    EXPECT_LE(violation(laws, p), 1e-10) << u;
    EXPECT_LE(violation(laws, solve(laws)), 1e-12) << u;
    if (u > 0.3 * 1.5) {
      EXPECT_EQ(p.norm(), 0.0);
    }
  }
}

TEST(ContactNewton, OneContactSticksOrSlides) {
  Laws laws;
  laws.type = {RowType::normal, RowType::tangent, RowType::tangent};
  laws.friction = {0.5, 0.0, 0.0};
  laws.matrix = 2.0 * Eigen::MatrixXd::Identity(3, 3);
  laws.vector.resize(3);
  laws.vector << -4.0, 0.6, -0.8;  // p_n = 2, sticking force 0.5 < mu p_n = 1
  EXPECT_LE((solve(laws) - Eigen::Vector3d(2.0, -0.3, 0.4)).norm(), 1e-14);
  laws.vector << -4.0, 6.0, -8.0;  // slides: |p_t| = 1 against the slip
  EXPECT_LE((solve(laws) - Eigen::Vector3d(2.0, -0.6, 0.8)).norm(), 1e-13);
  laws.vector << 4.0, 6.0, -8.0;
  EXPECT_EQ(solve(laws).norm(), 0.0);
}

/// Nothing is written behind the workspace that contact_workspace asks for.
TEST(ContactNewton, KeepsToItsWorkspace) {
  for (const int contacts : {1, 2, 8}) {
    for (std::uint32_t i = 0; i < 40; ++i) {
      const Laws laws = random_laws({.contacts = contacts, .velocities = 3}, i);
      const ContactSystem system = laws.system();
      const auto size = static_cast<std::size_t>(kernels::contact_workspace(system.rows));
      std::vector<double> scratch(size + 8, 42.0);
      Eigen::VectorXd p = Eigen::VectorXd::Zero(system.rows);
      ContactNewton<Target>(system, scratch.data()).solve(p.data(), 1e-13, 100);
      EXPECT_EQ(
          std::count(scratch.begin() + static_cast<std::ptrdiff_t>(size), scratch.end(), 42.0), 8);
    }
  }
}

TEST(ContactNewton, NonFiniteNumbersEndInARefusal) {
  Laws laws = random_laws({.contacts = 2}, 1);
  laws.vector(3) = std::numeric_limits<double>::quiet_NaN();
  const ContactSystem system = laws.system();
  std::vector<double> scratch(static_cast<std::size_t>(kernels::contact_workspace(system.rows)));
  Eigen::VectorXd p = Eigen::VectorXd::Zero(system.rows);
  EXPECT_FALSE(ContactNewton<Target>(system, scratch.data()).solve(p.data(), 1e-13, 100).finite);
}

}  // namespace
}  // namespace carom
