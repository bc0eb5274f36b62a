#include <carom/motion_function.hpp>

#include <Eigen/Cholesky>
#include <cmath>
#include <string>

#include "core/arrays.hpp"
#include "core/message.hpp"
#include "core/require.hpp"
#include "motion/backends.hpp"

namespace carom {

namespace {

constexpr double kMostPenetration = 1e-9;  // [m], as of a motion's start

Refusal of(const OwnMechanism& mechanism) { return {.kind = "mechanism", .name = mechanism.name}; }

void require_state(const OwnMechanism& mechanism, std::span<const double> position,
                   std::span<const double> velocity) {
  const Refusal whose = of(mechanism);
  require::between("dimension", mechanism.dimension, 2, 3, whose);
  require::between("velocities", mechanism.velocities, 1, kMostOwnVelocities, whose);
  const bool turns = mechanism.velocities > 5;  // room for a quaternion
  require::between("positions", mechanism.positions, mechanism.velocities,
                   mechanism.velocities + (turns ? 1 : 0), whose);
  require::between("contacts", mechanism.contacts, 0, kMostOwnContacts, whose);
  if (!mechanism.terms) require::refuse(whose, "terms", {}, "empty", "must be a function");
  require::size("position", position.size(), static_cast<std::size_t>(mechanism.positions), whose);
  require::size("velocity", velocity.size(), static_cast<std::size_t>(mechanism.velocities), whose);
  require::finite("position", position.data(), position.size(), 0, whose);
  require::finite("velocity", velocity.data(), velocity.size(), 0, whose);
}

}  // namespace

MotionTerms motion_terms(const OwnMechanism& mechanism, std::span<const double> position,
                         std::span<const double> velocity, double time) {
  require_state(mechanism, position, velocity);
  const auto nq = static_cast<std::size_t>(mechanism.positions);
  const auto nv = static_cast<std::size_t>(mechanism.velocities);
  const auto m = static_cast<std::size_t>(mechanism.contacts);
  const auto rows = static_cast<std::size_t>(mechanism.dimension);
  MotionTerms terms;
  terms.rows = mechanism.dimension;
  terms.mass.resize(nv * nv);
  terms.force.resize(nv);
  terms.rates.resize(nq);
  terms.gap.resize(m);
  terms.friction.resize(m);
  terms.jacobian.resize(m * rows * nv);
  terms.drift.resize(m * rows);
  MechanismAnswer answer{.mass = terms.mass,
                         .force = terms.force,
                         .rates = terms.rates,
                         .gap = terms.gap,
                         .friction = terms.friction,
                         .jacobian = terms.jacobian,
                         .drift = terms.drift};
  mechanism.terms({time, position, velocity}, answer);
  const Refusal whose = of(mechanism);
  const auto check = [&](const char* field, const std::vector<double>& values) {
    require::finite(field, values.data(), values.size(), 0, whose);
  };
  check("mass", terms.mass);
  check("force", terms.force);
  check("rates", terms.rates);
  check("gap", terms.gap);
  check("friction", terms.friction);
  check("jacobian", terms.jacobian);
  check("drift", terms.drift);
  for (std::size_t i = 0; i < m; ++i) {
    if (terms.friction[i] >= 0.0) continue;
    require::refuse(whose, "friction", {static_cast<std::int64_t>(i)},
                    message::number(terms.friction[i]), "must be >= 0");
  }
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const Matrix> mass(terms.mass.data(), mechanism.velocities,
                                      mechanism.velocities);
  if (!(mass - mass.transpose()).isZero(1e-12 * mass.norm()) ||
      Eigen::LLT<Eigen::MatrixXd>(mass).info() != Eigen::Success) {
    require::refuse(whose, "mass", {}, "singular or not symmetric", "must be positive definite");
  }
  if (mechanism.positions > mechanism.velocities) terms.quaternions = {3};
  const Eigen::Map<const Eigen::VectorXd> v(velocity.data(), mechanism.velocities);
  terms.energy = 0.5 * v.dot(mass * v) + answer.potential;
  return terms;
}

MotionResult simulate_motions(const OwnMechanism& mechanism, std::span<const double> position,
                              std::span<const double> velocity, const MotionSettings& settings) {
  settings.validate();
  require::countable(settings.first_problem, 1);
  const MotionTerms terms = motion_terms(mechanism, position, velocity);
  for (std::size_t i = 0; i < terms.gap.size(); ++i) {
    if (terms.gap[i] >= -kMostPenetration) continue;
    require::refuse(of(mechanism), "gap", {static_cast<std::int64_t>(i)},
                    message::number(terms.gap[i]), "must not be negative at the start");
  }
  // Friction polygons and the result's shape need only these.
  MotionSizes sizes;
  sizes.problems = 1;
  sizes.mechanism =
      mechanism.dimension == 2 ? MotionMechanism::tree : MotionMechanism::spatial_tree;
  sizes.positions = mechanism.positions;
  sizes.velocities = mechanism.velocities;
  sizes.contacts = mechanism.contacts;
  MotionBatch batch = allocate<MotionBatch>(sizes);
  for (Buffer<double>* absent : {&batch.position_spread, &batch.velocity_spread, &batch.drive}) {
    *absent = Buffer<double>();
  }
  std::copy(position.begin(), position.end(), batch.position.data());
  std::copy(velocity.begin(), velocity.end(), batch.velocity.data());
  return cpu::simulate_own(mechanism, batch, settings);
}

}  // namespace carom
