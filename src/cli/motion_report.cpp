#include "cli/motion_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "cli/table.hpp"
#include "core/words.hpp"

namespace carom::cli {

namespace {

constexpr std::int32_t kMostEventsShown = 200;

std::string end_line(const char* word, std::int64_t count, std::int64_t of) {
  if (count == 0) return {};
  return fmt::format("  {:<12} {:>9}  {:.2f} %\n", word, count,
                     100.0 * static_cast<double>(count) / static_cast<double>(of));
}

std::string names_in(const models::MotionModel& model, std::uint32_t contacts) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < model.contact_names.size(); ++i) {
    if ((contacts >> i & 1U) != 0U) names.push_back(model.contact_names[i]);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string vector_text(const double* values, std::size_t count) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < count; ++i) words.push_back(fmt::format("{:.6g}", values[i]));
  return fmt::format("({})", fmt::join(words, ", "));
}

std::string events_table(const run::MotionTask& task, const MotionResult& kept) {
  const auto nq = static_cast<std::size_t>(kept.positions);
  const auto nv = static_cast<std::size_t>(kept.velocities);
  TextTable table({"event", "time [s]", "s", "contacts", "position", "velocity"});
  const std::int32_t count = kept.event_count.host()[0];
  for (std::int32_t i = 0; i < std::min(count, kMostEventsShown); ++i) {
    const auto row = static_cast<std::size_t>(i);
    const double* state = kept.event_state.data() + row * (nq + nv);
    table.add({std::string(to_string(kept.event_kind.host()[row])),
               fmt::format("{:.9f}", kept.event_time.host()[row]),
               fmt::format("{:.7f}", kept.event_s.host()[row]),
               names_in(task.model, kept.event_contacts.host()[row]), vector_text(state, nq),
               vector_text(state + nq, nv)});
  }
  std::string text = "\n" + table.text();
  if (count > kMostEventsShown) {
    text += fmt::format("  and {} more: --json or --output has all\n", count - kMostEventsShown);
  }
  return text;
}

std::string range_table(const run::MotionTask& task, const MotionSummary& sum) {
  TextTable table({"at the end", "from", "to"});
  const auto rows = [&](const std::vector<std::string>& names, const std::vector<double>& low,
                        const std::vector<double>& high) {
    for (std::size_t j = 0; j < low.size(); ++j) {
      table.add({j < names.size() ? names[j] : fmt::format("{}", j),
                 fmt::format("{:.6g}", low[j] + 0.0), fmt::format("{:.6g}", high[j] + 0.0)});
    }
  };
  rows(task.model.positions, sum.position_min, sum.position_max);
  rows(task.model.velocities, sum.velocity_min, sum.velocity_max);
  return table.text();
}

/// A row a point of a sweep.
std::string varied_table(const run::MotionRunResult& run) {
  std::vector<std::string> head;
  for (const auto& [name, value] : run.plan.tasks.front().parameters) head.push_back(name);
  head.insert(head.end(), {"duration", "rest", "event_limit", "failed", "impacts", "zeno",
                           "first t* [s]", "residual", "gap drift [m]"});
  TextTable table(head);
  for (std::size_t p = 0; p < run.outcomes.size(); ++p) {
    const MotionSummary& sum = run.outcomes[p].summary;
    std::vector<std::string> row;
    for (const auto& [name, value] : run.plan.tasks[p].parameters) {
      row.push_back(fmt::format("{:.6g}", value));
    }
    for (const std::int64_t count : {sum.ended_duration, sum.ended_rest, sum.ended_event_limit,
                                     sum.ended_failed, sum.impacts, sum.zeno}) {
      row.push_back(fmt::format("{}", count));
    }
    row.push_back(sum.zeno > 0 ? fmt::format("{:.6f}", sum.zeno_time) : "-");
    row.push_back(fmt::format("{:.1e}", sum.max_residual));
    row.push_back(fmt::format("{:.1e}", sum.max_gap_drift));
    table.add(row);
  }
  return table.text();
}

}  // namespace

std::string motion_report(const run::MotionRunResult& run, bool events) {
  const MotionSettings& settings = run.plan.settings;
  std::string text;
  if (!run.plan.tasks.front().parameters.empty()) {
    text = fmt::format("{}: {} points of {} {} of {:g} s, backend {}\n\n",
                       run.plan.tasks.front().model.name, run.outcomes.size(), settings.samples,
                       settings.samples == 1 ? "motion" : "motions", settings.duration,
                       to_string(run.plan.backend));
    if (!run.complete) text += "  STOPPED before all were simulated\n";
    return text + varied_table(run) + fmt::format("\n  {}\n", time_words(run.seconds));
  }
  for (std::size_t p = 0; p < run.outcomes.size(); ++p) {
    const run::MotionTask& task = run.plan.tasks[p];
    const MotionSummary& sum = run.outcomes[p].summary;
    text += fmt::format("{}: {} {} of {:g} s, backend {}\n", task.problem.name, sum.samples,
                        sum.samples == 1 ? "motion" : "motions", settings.duration,
                        to_string(run.plan.backend));
    if (!run.complete) text += "  STOPPED before all were simulated\n";
    text += end_line("duration", sum.ended_duration, sum.samples);
    text += end_line("rest", sum.ended_rest, sum.samples);
    text += end_line("event_limit", sum.ended_event_limit, sum.samples);
    text += end_line("failed", sum.ended_failed, sum.samples);
    text += fmt::format("  {} impacts, {} without collision, {} events\n", sum.impacts, sum.pushes,
                        sum.events);
    if (sum.ambiguous > 0) {
      text += fmt::format("  {} times the contact forces were not unique\n", sum.ambiguous);
    }
    if (sum.zeno > 0) {
      text += fmt::format(
          "  {} accumulations of impacts; of motion {} the first at t* = {:.6f} s, s* = {:.5f}\n",
          sum.zeno, sum.zeno_sample, sum.zeno_time, sum.zeno_s);
    }
    text += fmt::format(
        "  largest residual {:.1e}, gap drift {:.1e} m, energy gain {:.1e} J, error of the energy "
        "balance {:.1e} J\n",
        sum.max_residual, sum.max_gap_drift, sum.max_energy_gain, sum.max_energy_error);
    const EpsilonNet& net = run.outcomes[p].net;
    if (net.requested_epsilon > 0.0) {
      text +=
          fmt::format("  net of last states: {} points, epsilon {:g}\n", net.points(), net.epsilon);
    }
    text += "\n" + range_table(task, sum);
    if (events && run.outcomes[p].kept.kept > 0) text += events_table(task, run.outcomes[p].kept);
  }
  text += fmt::format("  {}\n", time_words(run.seconds));
  return text;
}

}  // namespace carom::cli
