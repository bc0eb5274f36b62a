#include "io/impact_json.hpp"

#include "io/enclosure_json.hpp"
#include "io/fields.hpp"
#include "io/judge_json.hpp"
#include "io/setting_json.hpp"

namespace carom::io {

using nlohmann::ordered_json;

namespace {

ordered_json outcome_json(const ImpactOutcome& outcome) {
  ordered_json result;
  result["normal_velocity"] = outcome.normal_velocity;
  result["tangent_velocity"] = outcome.tangent_velocity;
  result["kinetic_energy"] = outcome.kinetic_energy;
  return result;
}

// Null if the user chose it.
ordered_json reason(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

ordered_json net_json(const EpsilonNet& net, const run::ImpactRun& run) {
  ordered_json result;
  result["epsilon"] = net.epsilon;
  result["reason"] = reason(run.epsilon_reason);
  result["points"] = net.points();
  result["coverage"] = net.coverage;
  return result;
}

}  // namespace

ordered_json impact_json(const run::ImpactRun& run) {
  const ImpactSummary& summary = run.summary;
  const double samples = static_cast<double>(summary.samples);
  ordered_json result;
  result["model"] = run.model;
  for (const auto& [name, value] : run.parameters) result["parameters"][name] = value;
  result["backend"] = to_string(run.backend);
  result["sampler"] = to_string(run.settings.sampler);
  result["selection"] = to_string(run.settings.selection);
  result["seed"] = run.settings.seed;
  result["contacts"] = run.problem.contacts;
  result["approaching"] = run::approaching_contacts(run);
  add_fields(result, summary);
  result["step_size"] = run.settings.step_size;
  result["step_size_reason"] = reason(run.step_size_reason);
  result["max_steps"] = run.settings.max_steps;
  result["lcp_per_sample"] =
      summary.samples > 0 ? static_cast<double>(summary.lcp_solves) / samples : 0.0;
  result["mode_counts"] = ordered_json::object();
  for (const auto& [modes, count] : summary.mode_counts) {
    result["mode_counts"][mode_words(modes, run.problem.contacts, run.problem.dimension)] = count;
  }
  result["epsilon_net"] = run.net ? net_json(*run.net, run) : ordered_json(nullptr);
  result["settings"] = settings_json(run.settings);
  result["seconds"] = run.seconds;
  result["samples_per_second"] = run.samples_per_second;
  if (run.enclosure) result["enclosure"] = enclosure_json(run);
  if (run.judgement) result["judgement"] = judgement_json(run);
  if (run.identified) result["identify"] = identify_json(*run.identified);
  if (!run.complete) {
    result["cancelled"] = true;
    result["samples_requested"] = run.settings.samples;
  }
  return result;
}

ordered_json models_json(const run::ComparedModels& models) {
  ordered_json result;
  result["simultaneous"] = ordered_json::array();
  for (const ImpactOutcome& outcome : models.simultaneous) {
    result["simultaneous"].push_back(outcome_json(outcome));
  }
  result["sequential"] = ordered_json::array();
  for (const SequentialOutcome& outcome : models.sequential) {
    ordered_json entry = outcome_json(outcome);
    entry["order"] = outcome.order;
    entry["impacts"] = outcome.impacts;
    result["sequential"].push_back(entry);
  }
  result["simultaneous_complete"] = models.simultaneous_complete;
  return result;
}

ordered_json bounces_json(const run::ImpactRun& run) {
  ordered_json result = ordered_json::array();
  for (const run::ModelledBounce& bounce : run.bounces) {
    ordered_json entry;
    entry["model"] = bounce.model;
    entry["status"] = to_string(bounce.outcome.status);
    entry["impacts"] = bounce.outcome.impacts;
    entry["velocity"] = bounce.outcome.velocity;
    entry["energy_ratio"] = bounce.energy_ratio;
    entry["distance"] = bounce.distance;
    entry["resolution"] = bounce.resolution;
    entry["from_measured"] = bounce.measured;
    entry.update(outcome_json(bounce.outcome));
    result.push_back(std::move(entry));
  }
  return result;
}

}  // namespace carom::io
