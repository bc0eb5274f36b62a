#include "impact/exact/kept_mechanics.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include <Eigen/Cholesky>

namespace carom::exact {

namespace {

constexpr double kNoise = 1e-12;     // of the impulse that takes all energy
constexpr double kMomentum = 1e-11;  // of the momentum that moves, or that the energy can move

/// Rows of some of these matrices, one below the other, without their zeros.
template <class Rows>
Rows rows_of(std::initializer_list<const std::vector<double>*> matrices, std::size_t columns) {
  Rows rows;
  for (const std::vector<double>* matrix : matrices) {
    for (std::size_t k = 0; k < matrix->size(); ++k) {
      if (k % columns == 0) rows.emplace_back();
      if ((*matrix)[k] != 0.0) rows.back().push_back({k % columns, FineInterval((*matrix)[k])});
    }
  }
  return rows;
}

}  // namespace

KeptMechanics::KeptMechanics(const ImpactProblem& of, int friction_directions)
    : mass_(rows_of<Rows>({&of.mass_matrix}, static_cast<std::size_t>(of.velocities))),
      jacobian_(rows_of<Rows>({&of.normal_jacobian, &of.tangent_jacobian},
                              static_cast<std::size_t>(of.velocities))),
      problem(of),
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
    impulse_of_speed_.emplace_back(own > 0.0 && moderate(1.0 / own) ? 1.0 / own : 0.0);
  }
  for (int i = 0; i < of.velocities; ++i) still_.emplace_back(kMomentum * root(twice * mass(i, i)));
}

std::size_t KeptMechanics::wrong_momentum(const double* v, const std::vector<F>& impulse) const {
  const double* const v0 = problem.velocity.data();
  std::vector<F> change(nv), missing;
  std::vector<double> moved(nv, 0.0);  // the scale of a tolerance: rounded
  for (std::size_t j = 0; j < nv; ++j) change[j] = F(v[j]) - F(v0[j]);
  missing = products(mass_, change);
  for (std::size_t i = 0; i < nv; ++i) {
    for (std::size_t j = 0; j < nv; ++j) {
      moved[i] += std::fabs(problem.mass_matrix[i * nv + j]) * (std::fabs(v[j]) + std::fabs(v0[j]));
    }
  }
  for (std::size_t row = 0; row < rows; ++row) {
    for (const Entry& entry : jacobian_[row]) {
      const F part = entry.value * impulse[row];
      missing[entry.column] = missing[entry.column] - part;
      moved[entry.column] += std::fabs(part.middle());
    }
  }
  for (std::size_t i = 0; i < nv; ++i) {
    if (!(F(kMomentum) * F(moved[i]) + still_[i] - size_of(missing[i])).at_least_zero()) return i;
  }
  return nv;
}

}  // namespace carom::exact
