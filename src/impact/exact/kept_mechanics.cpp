#include "impact/exact/kept_mechanics.hpp"

#include <algorithm>

#include <Eigen/Cholesky>

namespace carom::exact {

namespace {

constexpr double kNoise = 1e-12;     // of the impulse that takes all energy
constexpr double kMomentum = 1e-11;  // of the momentum that moves, or that the energy can move

}  // namespace

KeptMechanics::KeptMechanics(const ImpactProblem& of, int friction_directions)
    : problem(of),
      nv(static_cast<std::size_t>(of.velocities)),
      contacts(static_cast<std::size_t>(of.contacts)),
      tangents(static_cast<std::size_t>(of.dimension) - 1),
      rows(contacts * (tangents + 1)),
      polygon(friction_polygon(of.dimension, friction_directions)),
      before(kinetic_energy(of.velocity.data())),
      speed(largest(contact_velocities(of.velocity.data()))) {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const Matrix> mass(of.mass_matrix.data(), of.velocities, of.velocities);
  const Eigen::Map<const Matrix> normals(of.normal_jacobian.data(), of.contacts, of.velocities);
  const Eigen::LLT<Matrix> factor(mass);
  const double twice = std::max(0.0, 2.0 * before.middle());
  const auto root = [](double value) {
    const double size = std::sqrt(value);
    return moderate(size) ? size : 0.0;
  };
  for (int i = 0; i < of.contacts; ++i) {
    const Eigen::VectorXd row = normals.row(i).transpose();
    const double own = factor.info() == Eigen::Success ? row.dot(factor.solve(row)) : 0.0;
    noise_.emplace_back(own > 0.0 ? kNoise * root(twice / own) : 0.0);
  }
  for (int i = 0; i < of.velocities; ++i) still_.emplace_back(kMomentum * root(twice * mass(i, i)));
}

std::size_t KeptMechanics::wrong_momentum(const double* v, const std::vector<F>& impulse) const {
  const double* const v0 = problem.velocity.data();
  for (std::size_t i = 0; i < nv; ++i) {
    F missing, moved;
    for (std::size_t j = 0; j < nv; ++j) {
      const F part = F(problem.mass_matrix[i * nv + j]);
      missing = missing + part * (F(v[j]) - F(v0[j]));
      moved = moved + size_of(part) * (size_of(F(v[j])) + size_of(F(v0[j])));
    }
    for (std::size_t row = 0; row < rows; ++row) {
      missing = missing - jacobian(row, i) * impulse[row];
      moved = moved + size_of(jacobian(row, i) * impulse[row]);
    }
    if (!(F(kMomentum) * moved + still_[i] - size_of(missing)).at_least_zero()) return i;
  }
  return nv;
}

}  // namespace carom::exact
