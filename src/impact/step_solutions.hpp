#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "impact/mechanism.hpp"
#include "impact/step_modes.hpp"

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

/// The combinations of a step's basic contact modes: each contact is open, closed or at its largest
/// impulse, and where it bears, it sticks, slides along a direction d_j or between two neighbouring
/// ones. Those are left out that bounds on what contacts' velocities can become exclude.
class StepEnumeration {
 public:
  /// One mode of one contact: its impulse is basis x + offset lambda_max, where `equations` of its
  /// velocity vanish, as many as x has entries, and `conditions` of it are not above zero.
  struct Mode {
    Matrix basis;        ///< [d, p]
    Vector offset;       ///< [d]
    Matrix equations;    ///< [p, d]
    Matrix conditions;   ///< [c, d]
    Vector least, most;  ///< of x, for a lambda_max of 1, [p]
    bool full = false;   ///< lambda_n = lambda_max
    impact_modes::State state;
  };

  /// The model must outlive it.
  explicit StepEnumeration(const StepModel& model);

  /// The step to enumerate; solutions may miss their conditions by `tolerance`.
  void set(const Vector& contact_velocity, const Vector& max_impulse, double tolerance);
  /// How far impulses and velocities of a solution may miss their conditions.
  [[nodiscard]] double allowance() const { return allowance_; }

  /// Calls visit(choice), a mode of each contact, until it returns false; false then, and where
  /// more than `most` choices of some contacts' modes were looked at.
  bool each(const std::function<bool(const std::vector<int>&)>& visit,
            std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
  /// Impulse of a combination; where its equations are singular, one of several, and in the columns
  /// of `free` what they differ by.
  [[nodiscard]] Vector impulse(const std::vector<int>& choice, Matrix* free = nullptr) const;
  /// Whether all solutions have the contact velocities `after`, within `distinct`. Says false also
  /// where that is not shown: of combinations whose equations leave several impulses open, and
  /// where there are too many. taken(choice, impulse) is called
  /// for combinations that have them, and for what their open impulses span.
  [[nodiscard]] bool unique(
      const Vector& after, double distinct,
      const std::function<void(const std::vector<int>&, const Vector&)>& taken) const;
  [[nodiscard]] const impact_modes::State& state(int contact, int index) const {
    return mode(contact, index).state;
  }

 private:
  [[nodiscard]] int modes(int contact) const { return static_cast<int>(modes_[contact].size()); }
  [[nodiscard]] const Mode& mode(int contact, int index) const { return modes_[contact][index]; }
  [[nodiscard]] int slot(int contact, int index) const { return first_[contact] + index; }
  // Whether a contact velocity between these bounds can fulfil the conditions of the mode.
  [[nodiscard]] bool possible(int contact, const Mode& mode, const Vector& low,
                              const Vector& high) const;
  void narrow();
  bool descend(std::vector<int>& choice, const Vector& low, const Vector& high,
               const std::function<bool(const std::vector<int>&)>& visit, std::int64_t& left) const;
  enum class Found { none, same, other };
  [[nodiscard]] Found found(const std::vector<int>& choice, const Vector& impulse,
                            const Matrix& free, const Vector& after, double distinct) const;

  const StepModel& model_;
  std::vector<std::vector<Mode>> modes_;
  std::vector<int> first_;
  int slots_ = 0;
  std::vector<Matrix> basis_response_;   // [slot]: A basis_j
  std::vector<Vector> offset_response_;  // [slot]: A offset_j
  // Of one step.
  Vector before_, limit_, slack_;
  double tolerance_ = 0.0, allowance_ = 0.0;
  std::vector<Vector> low_, high_;         // [slot]: bounds of A (basis x + offset)
  std::vector<std::vector<int>> allowed_;  // of each contact
  std::vector<Vector> least_, most_;       // of what all contacts from one on add
};

/// All solutions of a step, one for each distinct velocity, by enumeration of the basic contact
/// modes. Every solution is certified. Where velocities form a continuum, its basic points are
/// found. `velocity_of` maps an impulse to the velocity that is compared, within `distinct`,
/// absolute.
std::vector<StepSolution> enumerate_step(const StepModel& model, const Vector& contact_velocity,
                                         const Vector& max_impulse, double tolerance,
                                         const std::function<Vector(const Vector&)>& velocity_of,
                                         double distinct);

}  // namespace carom::dense
