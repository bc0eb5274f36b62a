#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <carom/types/impact.hpp>

/// The plain structs of carom/impact_models.hpp.
namespace carom {

/// One post-impact state.
struct ImpactOutcome {
  Status status = Status::solved;
  std::vector<double> velocity;          ///< v+, [nv]
  std::vector<double> impulse;           ///< [dimension*m], normals first
  std::vector<double> normal_velocity;   ///< Jn v+, [m]
  std::vector<double> tangent_velocity;  ///< Jt v+, [(dimension-1) m]
  double kinetic_energy = 0.0;           ///< [J]
  std::uint64_t modes = 0;
  double residual = 0.0;  ///< of (31), recomputed, relative to max|u|
};

struct SequentialOutcome : ImpactOutcome {
  std::vector<int> order;  ///< contacts, in the order in which they are tried again and again
  int impacts = 0;         ///< single impacts resolved until nothing approached
};

struct ImpactModelSettings {
  int friction_directions = 4;
  double residual_tolerance = 1e-9;
  double velocity_tolerance = 1e-9;  ///< [m/s]
  double mode_tolerance = 1e-6;      ///< [m/s]
  double distinct_tolerance = 1e-7;  ///< two v+ differ by more than this, relative to max|v|
  std::int64_t max_combinations = 4'000'000;  ///< refuse to enumerate beyond
  int max_impacts = 100'000;                  ///< of a sequence

  /// See settings.hpp.
  template <class Visit, class... Tables>
  static void each_setting(Visit&& visit, Tables&&... tables) {
    using Range = SettingRange;
    visit({"friction_directions", "Friction directions of a spatial contact",
           Range::between(4, kMaxFrictionDirections)},
          tables.friction_directions...);
    visit(
        {"residual_tolerance", "Largest relative residual of a certified step", Range::tolerance()},
        tables.residual_tolerance...);
    visit({"velocity_tolerance", "Slower approach counts as zero", Range::at_least(0), "m/s"},
          tables.velocity_tolerance...);
    visit({"mode_tolerance", "Slower contacts count as sticking", Range::at_least(0), "m/s"},
          tables.mode_tolerance...);
    visit({"distinct_tolerance",
           "Two outcomes are distinct if they differ by more, relative to max|v|",
           Range::at_least(0)},
          tables.distinct_tolerance...);
    visit({"max_combinations", "Largest number of enumerated combinations of contact modes",
           Range::at_least(1)},
          tables.max_combinations...);
    visit({"max_impacts", "Largest number of impacts in a sequence", Range::at_least(1)},
          tables.max_impacts...);
  }

  /// Errors: InvalidInput naming the field and its value.
  void validate() const;
};

/// Lemma 6: whether the linearised friction cone is pointed (Assumption 2) and, if so, an r with
/// r . M^-1 Jbar' lambda >= |lambda_n|_1 for every lambda in the cone, of smallest 1-norm, by LP.
struct Pointedness {
  bool pointed = false;
  std::vector<double> direction;  ///< r, [nv]; empty unless pointed
  double margin = 0.0;  ///< min over the extreme rays of r . M^-1 Jbar' lambda, recomputed
};

/// Theorem 8: P(Z > steps) <= probability for steps = c ceil(|v|_M) + k, (78) and (79).
struct TerminationBound {
  double c = 0.0;
  double steps = 0.0;
  double probability = 1.0;
};

/// How often the step LCP has several v' along trajectories of this problem (Assumption 6).
struct UniquenessReport {
  std::int64_t steps = 0;
  std::int64_t nonunique = 0;
  int most_outcomes = 0;
  // the first step found with several outcomes
  std::vector<double> velocity;               ///< v before that step, [nv]
  std::vector<double> max_impulse;            ///< lambda_max, [m]
  std::vector<std::vector<double>> outcomes;  ///< the distinct v'
};

/// Assumption 6 decided: whether every step (75) of a problem has one v', for all velocities and
/// all lambda_max.
struct StepUniqueness {
  bool decided = false;
  bool unique = false;
  std::int64_t pairs = 0;   ///< of combinations of contact modes that were compared
  double difference = 0.0;  ///< where unique: largest that a linear programme left between two v',
                            ///< of contacts' velocities and impulses of size 1
  /// Where not unique: a step with several v', of which [nv] each; lambda_max is [m].
  std::vector<double> velocity;
  std::vector<double> max_impulse;
  std::vector<std::vector<double>> outcomes;
};

}  // namespace carom
