#include <carom/derivative_impact.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "api/derivative_checks.hpp"
#include "core/arrays.hpp"
#include "core/require.hpp"
#include "impact/derivative_backends.hpp"
#include "impact/prepare.hpp"

namespace carom {

namespace {

/// The settings that the samples were taken with, without the net and with the steps decided.
template <class Given>
ImpactSettings require_samples(const ImpactBatch& batch, const ImpactSettings& sampled,
                               const ImpactSamples& samples, const Given& given,
                               const typename Given::Sizes& sizes, const char* prefix,
                               const DerivativeSettings& settings, Backend backend) {
  sampled.validate();
  settings.validate();
  const auto only = [](const char* field, std::string_view value, const char* rule) {
    throw InvalidInput(
        Refusal{.field = field, .relation = "", .value = std::string(value), .rule = rule});
  };
  if (sampled.method != ImpactMethod::lcp) {
    only("method", to_string(sampled.method), "derivatives are those of samples by lcp");
  }
  if (sampled.selection != Selection::lemke) {
    only("selection", to_string(sampled.selection),
         "derivatives are those of samples with selection lemke: others jump where a step has "
         "several solutions");
  }
  derivative_checks::require_cpu(backend);
  require::reachable(Backend::cpu, arrays::common_space("impact batch", batch, given));
  if (sampled.bad_problem == BadProblem::refuse) {
    validate(batch);
  } else {
    arrays::require_sizes(batch, batch);
  }
  const std::vector<double> inelastic(static_cast<std::size_t>(batch.contacts));
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    const auto intervals = restitution_of(batch, p, sampled, inelastic.data());
    if (!intervals) continue;
    for (int i = 0; i < batch.contacts; ++i) {
      const bool bounces = intervals->restitution_high[i] > 0.0;
      if (!bounces && !(intervals->friction_high[i] > intervals->friction_low[i])) continue;
      require::refuse(
          {.problem = p}, bounces ? "restitution_high" : "friction_high", {i},
          std::to_string(bounces ? intervals->restitution_high[i] : intervals->friction_high[i]),
          "derivatives are those of samples without restitution and intervals of friction");
    }
  }
  const auto count = static_cast<std::size_t>(batch.problems * samples.count);
  require::size("samples.velocity", samples.velocity.size(),
                count * static_cast<std::size_t>(batch.velocities));
  require::size("samples.status", samples.status.size(), count);
  require::size("samples.steps", samples.steps.size(), count);
  arrays::require_sizes(given, sizes, prefix);
  derivative_checks::require_finite(given, sizes, prefix);
  ImpactSettings decided = sampled;
  decided.epsilon = 0.0;
  decided.problem_epsilon = {};
  if (decided.max_steps == 0) decided.max_steps = kDerivedSteps;
  return decided;
}

}  // namespace

ImpactGradient differentiate_impacts(const ImpactBatch& batch, const ImpactSettings& sampled,
                                     const ImpactSamples& samples, const ImpactCotangent& cotangent,
                                     const DerivativeSettings& settings, const ImpactWanted& wanted,
                                     Backend backend) {
  const ImpactSettings decided =
      require_samples(batch, sampled, samples, cotangent, samples, "cotangent.", settings, backend);
  return cpu::differentiate_impacts(batch, decided, samples, cotangent, settings, wanted);
}

ImpactTangent propagate_impacts(const ImpactBatch& batch, const ImpactSettings& sampled,
                                const ImpactSamples& samples, const ImpactDirection& direction,
                                const DerivativeSettings& settings, Backend backend) {
  const ImpactSettings decided =
      require_samples(batch, sampled, samples, direction, batch, "direction.", settings, backend);
  return cpu::propagate_impacts(batch, decided, samples, direction, settings);
}

}  // namespace carom
