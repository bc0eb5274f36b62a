#pragma once

#include <vector>

#include "reference/programs/lemke.hpp"

namespace carom::reference {

/// An impulse increment and what certifies it.
struct StepSolution {
  Status status = Status::numerical_error;
  Vector impulse;           ///< [lambda_n; lambda_t], [d m]; NaN unless solved or inaccurate
  Vector contact_velocity;  ///< J v', [d m]
  int pivots = 0;
  double residual = 0.0;  ///< natural residual of the full LCP
};

struct StepLcp {
  Matrix matrix;
  Vector vector;
};

/// Friction directions of a contact, [d - 1, k]; planar: +1, -1.
Matrix friction_polygon(int dimension, int directions);

/// The step LCP (75) in contact coordinates, z = [beta; lambda_n; lambda_D; gamma] with lambda_D
/// grouped by contact. A contact with infinite lambda_max has no beta; with none left it is (31).
class StepModel {
 public:
  /// delassus: A, [d m, d m]; friction: [m]; directions: k, ignored for planar contacts.
  StepModel(int dimension, const Matrix& delassus, const Vector& friction, int directions);

  [[nodiscard]] int dimension() const { return dimension_; }
  [[nodiscard]] int contacts() const { return contacts_; }
  [[nodiscard]] int directions() const { return static_cast<int>(polygon_.cols()); }
  [[nodiscard]] int tangents() const { return dimension_ - 1; }
  [[nodiscard]] int rows() const { return dimension_ * contacts_; }
  [[nodiscard]] const Matrix& delassus() const { return delassus_; }
  [[nodiscard]] const Vector& friction() const { return friction_; }
  /// Unit friction directions d_1..d_k as columns, [d-1, k].
  [[nodiscard]] const Matrix& polygon() const { return polygon_; }

  [[nodiscard]] StepLcp assemble(const Vector& contact_velocity, const Vector& max_impulse) const;

  /// z of the full LCP for a reduced impulse: beta, gamma and lambda_D as small as (32), (33), (73)
  /// and (74) allow.
  [[nodiscard]] Vector lift(const Vector& contact_velocity, const Vector& max_impulse,
                            const Vector& impulse) const;

  /// Natural residual of the lifted impulse, impulses times the mobility of their contact, relative
  /// to the fastest contact.
  [[nodiscard]] double residual(const Vector& contact_velocity, const Vector& max_impulse,
                                const Vector& impulse) const;

  [[nodiscard]] StepSolution solve(const Vector& contact_velocity, const Vector& max_impulse,
                                   double tolerance) const;

 private:
  [[nodiscard]] std::vector<int> bounded(const Vector& max_impulse) const;

  int dimension_;
  int contacts_;
  Matrix delassus_;
  Vector friction_;
  Matrix polygon_;
  Matrix spread_;         // J_bar = spread J, [(k+1) m, d m]
  Matrix full_delassus_;  // J_bar M^-1 J_bar'
};

}  // namespace carom::reference
