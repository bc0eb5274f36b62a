#pragma once

// What the tests of the built-in models share.

#include <map>
#include <numbers>
#include <string>

#include <gtest/gtest.h>

#include <Eigen/Core>

#include <carom/error.hpp>
#include <carom/models/models.hpp>

namespace carom::test {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

inline constexpr double kDegree = std::numbers::pi / 180.0;

/// The arrays of a problem as matrices.
struct Parts {
  Matrix mass, normal, tangent;
  Eigen::VectorXd velocity;
  explicit Parts(const ImpactProblem& p)
      : mass(Eigen::Map<const Matrix>(p.mass_matrix.data(), p.velocities, p.velocities)),
        normal(Eigen::Map<const Matrix>(p.normal_jacobian.data(), p.contacts, p.velocities)),
        tangent(Eigen::Map<const Matrix>(p.tangent_jacobian.data(), (p.dimension - 1) * p.contacts,
                                         p.velocities)),
        velocity(Eigen::Map<const Eigen::VectorXd>(p.velocity.data(), p.velocities)) {}
};

/// What `build` says of refused overrides, or "accepted".
inline std::string message_of(const std::string& model,
                              const std::map<std::string, double>& overrides) {
  try {
    models::build(model, overrides);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "accepted";
}

inline void expect_near(const Eigen::MatrixXd& actual, const Eigen::MatrixXd& expected,
                        double tolerance) {
  ASSERT_EQ(actual.rows(), expected.rows());
  ASSERT_EQ(actual.cols(), expected.cols());
  EXPECT_LE((actual - expected).cwiseAbs().maxCoeff(), tolerance) << "actual\n"
                                                                  << actual << "\nexpected\n"
                                                                  << expected;
}

}  // namespace carom::test
