#include "io/motion_json.hpp"

#include "core/words.hpp"
#include "io/fields.hpp"
#include "io/setting_json.hpp"

namespace carom::io {

namespace {

using nlohmann::ordered_json;

ordered_json json_numbers(const double* values, std::size_t count) {
  ordered_json list = ordered_json::array();
  for (std::size_t i = 0; i < count; ++i) list.push_back(json_number(values[i]));
  return list;
}

ordered_json contact_names(const models::MotionModel& model, std::uint32_t contacts) {
  ordered_json list = ordered_json::array();
  for (std::size_t i = 0; i < model.contact_names.size(); ++i) {
    if ((contacts >> i & 1U) != 0U) list.push_back(model.contact_names[i]);
  }
  return list;
}

ordered_json net_json(const EpsilonNet& net) {
  return {{"requested_epsilon", net.requested_epsilon},
          {"epsilon", net.epsilon},
          {"points", net.points()},
          {"dropped", net.dropped},
          {"coverage", net.coverage}};
}

ordered_json summary_json(const run::MotionTask& task, const run::MotionOutcome& outcome) {
  ordered_json entry;
  entry["name"] = task.problem.name;
  for (const auto& [name, value] : task.parameters) entry["parameters"][name] = value;
  add_fields(entry, outcome.summary);
  if (outcome.net.requested_epsilon > 0.0) entry["net"] = net_json(outcome.net);
  return entry;
}

ordered_json sample_json(const run::MotionPlan& plan, const run::MotionTask& task,
                         const MotionResult& kept) {
  const auto nq = static_cast<std::size_t>(kept.positions);
  const auto nv = static_cast<std::size_t>(kept.velocities);
  ordered_json events = ordered_json::array();
  for (std::size_t i = 0; i < static_cast<std::size_t>(kept.event_count.host()[0]); ++i) {
    const double* state = kept.event_state.data() + i * (nq + nv);
    events.push_back({{"time", kept.event_time.host()[i]},
                      {"s", kept.event_s.host()[i]},
                      {"kind", to_string(kept.event_kind.host()[i])},
                      {"contacts", contact_names(task.model, kept.event_contacts.host()[i])},
                      {"position", json_numbers(state, nq)},
                      {"velocity", json_numbers(state + nq, nv)}});
  }
  return {{"index", plan.settings.first_sample},
          {"end", to_string(kept.end.host()[0])},
          {"time", json_number(kept.time.host()[0])},
          {"s", json_number(kept.s.host()[0])},
          {"load", json_numbers(kept.load.data(), static_cast<std::size_t>(kept.contacts))},
          {"events", std::move(events)}};
}

}  // namespace

ordered_json motion_json(const run::MotionRunResult& run, bool events) {
  const run::MotionPlan& plan = run.plan;
  ordered_json document;
  document["backend"] = to_string(plan.backend);
  document["complete"] = run.complete;
  document["seconds"] = run.seconds;
  document["settings"] = settings_json(plan.settings);
  ordered_json problems = ordered_json::array();
  for (std::size_t p = 0; p < run.outcomes.size(); ++p) {
    ordered_json entry = summary_json(plan.tasks[p], run.outcomes[p]);
    if (events && run.outcomes[p].kept.kept > 0) {
      entry["sample"] = sample_json(plan, plan.tasks[p], run.outcomes[p].kept);
    }
    problems.push_back(std::move(entry));
  }
  document["problems"] = std::move(problems);
  return document;
}

}  // namespace carom::io
