#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <carom/impact.hpp>

/// Models of a multi-contact impact to compare the sampled set with, and the utilities that the
/// theory of set-valued impacts gives. All of it runs on the host, with Eigen.
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
  double residual = 0.0;  ///< of (31), recomputed, relative to max|w|
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
    visit({"velocity_tolerance", "Slower approach counts as none", Range::at_least(0), "m/s"},
          tables.velocity_tolerance...);
    visit({"mode_tolerance", "Slower contacts count as sticking", Range::at_least(0), "m/s"},
          tables.mode_tolerance...);
    visit({"distinct_tolerance", "Two v+ differ by more than this, relative to max|v|",
           Range::at_least(0)},
          tables.distinct_tolerance...);
    visit({"max_combinations", "Combinations of contact modes that are enumerated at most",
           Range::at_least(1)},
          tables.max_combinations...);
    visit({"max_impacts", "Impacts of a sequence at most", Range::at_least(1)},
          tables.max_impacts...);
  }

  /// Errors: InvalidInput naming the field and its value.
  void validate() const;
};

/// All distinct v' of one step (75) from the problem's velocity, by enumeration of the basic
/// contact modes, ordered by kinetic energy. max_impulse: lambda_max, [m]; infinity takes the bound
/// away. Errors: InvalidInput where the modes exceed max_combinations.
std::vector<ImpactOutcome> step_outcomes(const ImpactProblem& problem,
                                         std::span<const double> max_impulse,
                                         const ImpactModelSettings& settings = {});

/// All distinct post-impact velocities of the simultaneous inelastic model (31), by enumeration of
/// the basic contact modes, ordered by kinetic energy.
/// Errors: InvalidInput where the modes exceed max_combinations.
std::vector<ImpactOutcome> simultaneous_impacts(const ImpactProblem& problem,
                                                const ImpactModelSettings& settings = {});

/// One solution of (31), by lexicographic Lemke.
ImpactOutcome simultaneous_impact(const ImpactProblem& problem,
                                  const ImpactModelSettings& settings = {});

/// Single impacts (31) in cyclic `order` until nothing approaches (section 2.2.2).
SequentialOutcome sequential_impact(const ImpactProblem& problem, std::span<const int> order,
                                    const ImpactModelSettings& settings = {});

/// Single planar impact of contact `contact` with Newton restitution e in [0, 1], closed form.
ImpactOutcome newton_impact(const ImpactProblem& problem, int contact, double restitution,
                            const ImpactModelSettings& settings = {});

/// Lemma 6: whether the linearised friction cone is pointed (Assumption 2) and, if so, an r with
/// r . M^-1 Jbar' lambda >= |lambda_n|_1 for every lambda in the cone, of smallest 1-norm, by LP.
struct Pointedness {
  bool pointed = false;
  std::vector<double> direction;  ///< r, [nv]; empty unless pointed
  double margin = 0.0;  ///< min over the extreme rays of r . M^-1 Jbar' lambda, recomputed
};
Pointedness pointedness(const ImpactProblem& problem, int friction_directions = 4);

/// Theorem 8: P(Z > steps) <= probability for steps = c ceil(|v|_M) + k, (78) and (79).
struct TerminationBound {
  double c = 0.0;
  double steps = 0.0;
  double probability = 1.0;
};
/// Errors: InvalidInput where the friction cone is not pointed, h <= 0 or k < 0.
TerminationBound termination_bound(const ImpactProblem& problem, double step_size, std::int64_t k,
                                   int friction_directions = 4);

/// Lemma 1: the smallest N for which the bound (1) reaches 1 - delta, for a function of Lipschitz
/// constant L on [0, h]^n and an epsilon-net of its image. Returned as double: it overflows 2^63.
double samples_for_epsilon_net(int n, double lipschitz, double step_size, double epsilon,
                               double delta);

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
UniquenessReport check_unique_step(const ImpactProblem& problem, const ImpactSettings& settings,
                                   std::int64_t trajectories = 256);

}  // namespace carom
