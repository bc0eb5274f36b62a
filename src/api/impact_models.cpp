#include <carom/impact_models.hpp>

#include <limits>
#include <string>

#include <carom/error.hpp>

#include "core/message.hpp"
#include "core/require.hpp"
#include "impact/impact_models.hpp"

namespace carom {

namespace {

void check(const ImpactProblem& problem, const ImpactModelSettings& settings) {
  validate(problem);
  if (problem.dimension == 3) {
    require::between("friction_directions", settings.friction_directions, 4,
                     kMaxFrictionDirections);
  }
  require::tolerance("residual_tolerance", settings.residual_tolerance);
  const auto nonnegative = [](const char* field, double value) {
    if (value >= 0.0) return;
    throw InvalidInput(std::string(field) + " is " + std::to_string(value) + ": must be >= 0");
  };
  nonnegative("velocity_tolerance", settings.velocity_tolerance);
  nonnegative("mode_tolerance", settings.mode_tolerance);
  nonnegative("distinct_tolerance", settings.distinct_tolerance);
  require::at_least("max_combinations", settings.max_combinations, 1);
  require::at_least("max_impacts", settings.max_impacts, 1);
}

void check_order(std::span<const int> order, int contacts) {
  std::vector<bool> seen(contacts, false);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] < 0 || order[i] >= contacts) {
      throw InvalidInput("order[" + std::to_string(i) + "] is " + std::to_string(order[i]) +
                         ": must be in 0.." + std::to_string(contacts - 1));
    }
    seen[order[i]] = true;
  }
  for (int i = 0; i < contacts; ++i) {
    if (!seen[i]) {
      throw InvalidInput("order lacks contact " + std::to_string(i) + ": must name every contact");
    }
  }
}

}  // namespace

std::vector<ImpactOutcome> step_outcomes(const ImpactProblem& problem,
                                         std::span<const double> max_impulse,
                                         const ImpactModelSettings& settings) {
  check(problem, settings);
  require::size("max_impulse", max_impulse.size(), static_cast<std::size_t>(problem.contacts));
  for (std::size_t i = 0; i < max_impulse.size(); ++i) {
    if (max_impulse[i] >= 0.0) continue;
    throw InvalidInput("max_impulse[" + std::to_string(i) + "] is " +
                       message::number(max_impulse[i]) + ": must be >= 0");
  }
  return dense::step_outcomes(problem, max_impulse, settings);
}

std::vector<ImpactOutcome> simultaneous_impacts(const ImpactProblem& problem,
                                                const ImpactModelSettings& settings) {
  check(problem, settings);
  const std::vector<double> unlimited(static_cast<std::size_t>(problem.contacts),
                                      std::numeric_limits<double>::infinity());
  return dense::step_outcomes(problem, unlimited, settings);
}

ImpactOutcome simultaneous_impact(const ImpactProblem& problem,
                                  const ImpactModelSettings& settings) {
  check(problem, settings);
  return dense::simultaneous_impact(problem, settings);
}

SequentialOutcome sequential_impact(const ImpactProblem& problem, std::span<const int> order,
                                    const ImpactModelSettings& settings) {
  check(problem, settings);
  check_order(order, problem.contacts);
  return dense::sequential_impact(problem, order, settings);
}

ImpactOutcome newton_impact(const ImpactProblem& problem, int contact, double restitution,
                            const ImpactModelSettings& settings) {
  check(problem, settings);
  if (problem.dimension != 2) {
    throw InvalidInput("dimension of problem \"" + problem.name + "\" is " +
                       std::to_string(problem.dimension) + ": newton_impact is planar, must be 2");
  }
  if (contact < 0 || contact >= problem.contacts) {
    throw InvalidInput("contact is " + std::to_string(contact) + ": must be in 0.." +
                       std::to_string(problem.contacts - 1));
  }
  if (!(restitution >= 0.0 && restitution <= 1.0)) {
    throw InvalidInput("restitution is " + std::to_string(restitution) + ": must be in [0, 1]");
  }
  return dense::newton_impact(problem, contact, restitution, settings);
}

}  // namespace carom
