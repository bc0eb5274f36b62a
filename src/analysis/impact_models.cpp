#include <carom/impact_models.hpp>

#include <limits>
#include <string>

#include <carom/error.hpp>

#include "analysis/dense_models.hpp"
#include "core/message.hpp"
#include "core/require.hpp"
#include "core/settings.hpp"

namespace carom {

namespace {

void check(const ImpactProblem& problem, const ImpactModelSettings& settings) {
  validate(problem);
  ImpactModelSettings used = settings;
  if (problem.dimension == 2) used.friction_directions = ImpactModelSettings{}.friction_directions;
  used.validate();
}

}  // namespace

void dense::require_order(std::span<const int> order, int contacts) {
  std::vector<bool> seen(contacts, false);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] < 0 || order[i] >= contacts) {
      require::refuse({}, "order", {static_cast<std::int64_t>(i)}, std::to_string(order[i]),
                      "must be in 0.." + std::to_string(contacts - 1));
    }
    seen[order[i]] = true;
  }
  for (int i = 0; i < contacts; ++i) {
    if (!seen[i]) {
      throw InvalidInput(Refusal{.field = "order",
                                 .relation = "lacks",
                                 .value = "contact " + std::to_string(i),
                                 .rule = "must name every contact"});
    }
  }
}

void ImpactModelSettings::validate() const { require::settings(*this); }

std::vector<ImpactOutcome> step_outcomes(const ImpactProblem& problem,
                                         std::span<const double> max_impulse,
                                         const ImpactModelSettings& settings) {
  check(problem, settings);
  require::size("max_impulse", max_impulse.size(), static_cast<std::size_t>(problem.contacts));
  for (std::size_t i = 0; i < max_impulse.size(); ++i) {
    if (max_impulse[i] >= 0.0) continue;
    require::refuse({}, "max_impulse", {static_cast<std::int64_t>(i)},
                    message::number(max_impulse[i]), "must be >= 0");
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
  dense::require_order(order, problem.contacts);
  return dense::sequential_impact(problem, order, settings);
}

ImpactOutcome newton_impact(const ImpactProblem& problem, int contact, double restitution,
                            const ImpactModelSettings& settings) {
  check(problem, settings);
  if (problem.dimension != 2) {
    require::refuse({.whole = "problem \"" + problem.name + "\""}, "dimension", {},
                    std::to_string(problem.dimension), "newton_impact is planar, must be 2");
  }
  require::between("contact", contact, 0, problem.contacts - 1);
  if (!(restitution >= 0.0 && restitution <= 1.0)) {
    require::refuse({}, "restitution", {}, std::to_string(restitution), "must be in [0, 1]");
  }
  return dense::newton_impact(problem, contact, restitution, settings);
}

}  // namespace carom
