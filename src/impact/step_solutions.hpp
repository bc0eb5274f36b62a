#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "impact/mechanism.hpp"

namespace carom::dense {

/// Largest number of mode combinations that a step is enumerated over by default.
inline constexpr std::int64_t kMaxCombinations = 4'000'000;
/// Two velocities differ by more than this, relative to the largest speed before.
inline constexpr double kDistinct = 1e-7;

/// The step (75) in contact coordinates; with every lambda_max infinite it is (31).
class StepModel {
 public:
  /// delassus: A, [d m, d m]; friction: [m]; directions: k, ignored for planar contacts.
  StepModel(int dimension, const Matrix& delassus, const Vector& friction, int directions);

  [[nodiscard]] int dimension() const { return dimension_; }
  [[nodiscard]] int contacts() const { return static_cast<int>(friction_.size()); }
  [[nodiscard]] int directions() const { return static_cast<int>(polygon_.cols()); }
  [[nodiscard]] int tangents() const { return dimension_ - 1; }
  [[nodiscard]] int rows() const { return dimension_ * contacts(); }
  [[nodiscard]] const Matrix& delassus() const { return delassus_; }
  [[nodiscard]] const Vector& friction() const { return friction_; }
  /// Unit friction directions d_1..d_k as columns, [d-1, k].
  [[nodiscard]] const Matrix& polygon() const { return polygon_; }

  /// Natural residual of the full LCP, z = [beta; lambda_n; lambda_D; gamma], with beta, lambda_D
  /// and gamma as small as the impulse allows; impulses times the mobility of their contact, all
  /// relative to the fastest contact.
  [[nodiscard]] double residual(const Vector& contact_velocity, const Vector& max_impulse,
                                const Vector& impulse) const;

 private:
  int dimension_;
  Matrix delassus_;
  Vector friction_;
  Matrix polygon_;
  Matrix full_delassus_;  // of J_bar = [Jn; J_D]
};

/// A certified impulse increment.
struct StepSolution {
  Vector impulse;           ///< [lambda_n; lambda_t], [d m]
  Vector contact_velocity;  ///< J v', [d m]
  double residual = 0.0;
};

/// Contacts of an enumeration at most.
inline constexpr int kMaxEnumeratedContacts = 16;
/// Number of combinations of basic contact modes; saturates at the largest int64.
std::int64_t combinations(const StepModel& model, const Vector& max_impulse);

/// All solutions of a step, one for each distinct velocity, by enumeration of the basic contact
/// modes: each contact is open, closed or at its largest impulse, and where it bears, it sticks,
/// slides along a direction d_j or between two neighbouring ones. Every solution is certified.
/// Where velocities form a continuum, its basic points are found.
/// `velocity_of` maps an impulse to the velocity that is compared, within `distinct`, absolute.
std::vector<StepSolution> enumerate_step(const StepModel& model, const Vector& contact_velocity,
                                         const Vector& max_impulse, double tolerance,
                                         const std::function<Vector(const Vector&)>& velocity_of,
                                         double distinct);

}  // namespace carom::dense
