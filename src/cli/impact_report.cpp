#include "cli/impact_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "cli/enclosure_report.hpp"
#include "cli/judge_report.hpp"
#include "cli/table.hpp"
#include "io/printable.hpp"
#include "run/impact_runner.hpp"

namespace carom::cli {

namespace {

constexpr std::size_t kShownModes = 12;

std::string share(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.2f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

double per(double amount, std::int64_t count) {
  return count > 0 ? amount / static_cast<double>(count) : 0.0;
}

// Solving time of one sample of the batch that the run was part of.
double sample_seconds(const run::ImpactRun& run) {
  return run.samples_per_second > 0.0 ? 1.0 / run.samples_per_second : 0.0;
}

std::vector<std::string> performance_cells(const run::ImpactRun& run) {
  const ImpactSummary& summary = run.summary;
  const double lcps = per(static_cast<double>(summary.lcp_solves), summary.samples);
  return {fmt::format("{}", summary.samples),
          fmt::format("{}", summary.terminated),
          fmt::format("{}", summary.max_steps_reached),
          fmt::format("{}", summary.failed),
          fmt::format("{:.3f}", lcps),
          time_words(sample_seconds(run)),
          lcps > 0.0 ? time_words(sample_seconds(run) / lcps) : "-",
          fmt::format("{:.3g}", run.samples_per_second)};
}

/// Solutions that are followed from event to event solve no LCPs: theirs are linear pieces.
std::vector<std::string> performance_head(const ImpactSettings& settings) {
  const char* unit = settings.method == ImpactMethod::events ? "piece" : "LCP";
  return {"samples",
          "terminated",
          "step limit",
          "failed",
          fmt::format("{}s/sample", unit),
          "time/sample",
          fmt::format("time/{}", unit),
          "samples/s"};
}

/// "0.3", or "0.2 .. 0.4", of all contacts or of each.
std::string interval_words(const std::vector<double>& low, const std::vector<double>& high) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < low.size(); ++i) {
    words.push_back(low[i] == high[i] ? fmt::format("{:g}", low[i])
                                      : fmt::format("{:g} .. {:g}", low[i], high[i]));
  }
  const bool same = std::all_of(words.begin(), words.end(),
                                [&](const std::string& word) { return word == words.front(); });
  return same && !words.empty() ? words.front() : fmt::format("{}", fmt::join(words, ", "));
}

std::string intervals_line(const run::ImpactRun& run) {
  const ImpactProblem& problem = run.problem;
  std::string text;
  if (!problem.restitution_high.empty()) {
    text = fmt::format("  restitution {} by the law of {}",
                       interval_words(problem.restitution_low, problem.restitution_high),
                       to_string(run.settings.law));
  }
  if (!problem.friction_high.empty()) {
    text += fmt::format("{}friction {}", text.empty() ? "  " : ", ",
                        interval_words(problem.friction, problem.friction_high));
  }
  if (text.empty()) return text;
  return text + (run.settings.vary ? ", drawn anew within each sample\n" : ", one draw a sample\n");
}

std::string heading(const run::ImpactRun& run) {
  const ImpactSettings& settings = run.settings;
  std::string text = fmt::format("{}  ({}, {} contacts: {})\n", io::printable(run.model),
                                 run.problem.dimension == 2 ? "planar" : "spatial",
                                 run.problem.contacts, fmt::join(run.contact_names, ", "));
  text += intervals_line(run);
  if (settings.method == ImpactMethod::events) {
    text += fmt::format("  backend {}, followed from event to event, seed {}, no step size\n",
                        to_string(run.backend), settings.seed);
    return text;
  }
  text += fmt::format(
      "  backend {}, {} numbers, selection {}, seed {}, h = {:g} N s, at most {} steps\n",
      to_string(run.backend), to_string(settings.sampler), to_string(settings.selection),
      settings.seed, settings.step_size, settings.max_steps);
  const std::vector<int> approaching = run::approaching_contacts(run);
  const auto contacts = static_cast<std::size_t>(run.problem.contacts);
  if (!run.step_size_reason.empty() && !approaching.empty()) {
    text += fmt::format("  h is {}; --step chooses another\n", io::printable(run.step_size_reason));
  }
  if (!approaching.empty() && approaching.size() < contacts) {
    std::vector<std::string> names;
    names.reserve(approaching.size());
    for (const int i : approaching) names.push_back(run.contact_names[static_cast<std::size_t>(i)]);
    text += fmt::format("  before the impact {} of {} contacts approach: {}\n", names.size(),
                        contacts, io::printable(fmt::format("{}", fmt::join(names, ", "))));
  }
  return text;
}

// What a wrong sign of the velocity looks like.
std::string nothing_to_solve(const run::ImpactRun& run) {
  const std::vector<double> speed = run::contact_velocity(run.problem, run.problem.velocity.data());
  std::string contacts;
  for (std::size_t i = 0; i < run.contact_names.size(); ++i) {
    contacts += fmt::format("{}{} {}", i == 0 ? "" : ", ", io::printable(run.contact_names[i]),
                            short_number(speed[i]));
  }
  return fmt::format(
      "  no contact approaches{}: nothing to solve, v does not change.\n"
      "  A contact approaches where its row of normal_jacobian times v, before the impact, is "
      "negative.\n",
      contacts.empty() ? "" : fmt::format(" (normal velocities {} m/s)", contacts));
}

std::string range(double low, double high) {
  return fmt::format("{} .. {}", short_number(low), short_number(high));
}

std::string velocity_table(const run::ImpactRun& run) {
  const ImpactSummary& summary = run.summary;
  const auto tangents = static_cast<std::size_t>(run.problem.dimension - 1);
  std::vector<std::string> head = {"contact", "before: normal", "after: normal [m/s]"};
  for (std::size_t t = 0; t < tangents; ++t) {
    head.push_back(tangents == 1 ? "tangential [m/s]" : fmt::format("tangential {} [m/s]", t + 1));
  }
  TextTable table(head);
  const std::vector<double> before =
      run::contact_velocity(run.problem, run.problem.velocity.data());
  for (std::size_t i = 0; i < run.contact_names.size(); ++i) {
    std::vector<std::string> row = {
        run.contact_names[i], short_number(before[i]),
        range(summary.normal_velocity_min[i], summary.normal_velocity_max[i])};
    for (std::size_t t = i * tangents; t < (i + 1) * tangents; ++t) {
      row.push_back(range(summary.tangent_velocity_min[t], summary.tangent_velocity_max[t]));
    }
    table.add(row);
  }
  return table.text();
}

std::string mode_table(const run::ImpactRun& run) {
  auto counts = run.summary.mode_counts;
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  TextTable table({"outcome", "samples", "share"});
  for (std::size_t i = 0; i < counts.size() && i < kShownModes; ++i) {
    table.add({mode_words(counts[i].first, run.problem.contacts, run.problem.dimension),
               fmt::format("{}", counts[i].second),
               share(counts[i].second, run.summary.terminated)});
  }
  std::string text = table.text();
  if (counts.size() > kShownModes) {
    text += fmt::format("  and {} rarer ones\n", counts.size() - kShownModes);
  }
  return text;
}

std::string certificate_lines(const run::ImpactRun& run, bool verbose) {
  const ImpactSummary& summary = run.summary;
  std::string text = fmt::format(
      "  largest residual {:.2e} (certified up to {:.0e}), kinetic energy after/before at most "
      "{:.6f}\n",
      summary.max_residual, run.settings.residual_tolerance, summary.max_energy_ratio);
  if (!std::isnan(summary.lost_compression_mean)) {
    text += fmt::format(
        "  of the energy before: {:.4f} .. {:.4f} left, {:.4f} lost in compression and {:.4f} by "
        "friction on average\n",
        summary.min_energy_ratio, summary.max_energy_ratio, summary.lost_compression_mean,
        summary.lost_friction_mean);
  }
  if (summary.guarded > 0) {
    text +=
        fmt::format("  in {} samples the law would return more work than the compression took\n",
                    summary.guarded);
  }
  if (summary.trimmed > 0) {
    text +=
        fmt::format("  in {} samples a step used stored work of other contacts: an error of h\n",
                    summary.trimmed);
  }
  if (run.settings.method == ImpactMethod::events) return text;
  if (verbose) {
    text += fmt::format("  solved by Lemke after the fast path: {} of {} ({})\n",
                        summary.fallback_solves, summary.lcp_solves,
                        share(summary.fallback_solves, summary.lcp_solves));
  }
  text += summary.nonunique_examined == 0
              ? "  steps with several solutions: not examined\n"
              : fmt::format("  steps with several solutions: {} of {} examined\n",
                            summary.nonunique_solves, summary.nonunique_examined);
  return text;
}

std::string net_lines(const run::ImpactRun& run) {
  if (!run.net) return "";
  const EpsilonNet& net = *run.net;
  std::string text = fmt::format("  epsilon-net: {} {}, epsilon {:.4g} m/s", net.points(),
                                 net.points() == 1 ? "point" : "points", net.epsilon);
  if (net.epsilon != net.requested_epsilon) {
    text += fmt::format(" (coarsened from {:.4g}: --net-capacity reached)", net.requested_epsilon);
  }
  if (!run.epsilon_reason.empty()) {
    text += fmt::format(" ({})", run.epsilon_reason);
  }
  if (net.dropped > 0) text += fmt::format(", {} samples dropped as still colliding", net.dropped);
  // the last doublings show whether the set has converged
  const std::size_t first = net.coverage.size() > 8 ? net.coverage.size() - 8 : 0;
  text += "\n  points after";
  for (std::size_t i = first; i < net.coverage.size(); ++i) {
    text += fmt::format("{} 2^{}: {}", i == first ? "" : ",", i, net.coverage[i]);
  }
  text += '\n';
  const run::SetExtent set = run::set_extent(run);
  if (set.rounding) {
    text += fmt::format("  the set is one point: its extent of {:.2g} is rounding\n", set.extent);
  } else if (set.extent > 0.0 && net.epsilon > set.extent) {
    text += fmt::format(
        "  epsilon is larger than the whole set, whose extent is {0:.4g}: the net and its curve "
        "say "
        "nothing\n  of its shape; try --epsilon {1:.2g}\n",
        set.extent, set.epsilon);
  }
  return text;
}

// Contacts that slide hard against friction may jam: the simultaneous model then has more
// outcomes than the one in which nothing happens.
constexpr const char* kJams =
    "  the other simultaneous outcomes are jams: the model's conditions also allow impulses\n"
    "  that come only from sliding friction\n";

}  // namespace

std::string run_report(const run::ImpactRun& run, bool verbose) {
  std::string text = heading(run);
  if (!run.complete) {
    text += fmt::format("  STOPPED after {} of {} samples\n", run.summary.samples,
                        run.settings.samples);
  }
  if (run::approaching_contacts(run).empty()) return text + nothing_to_solve(run);
  TextTable performance(performance_head(run.settings));
  performance.add(performance_cells(run));
  text += '\n';
  text += performance.text();
  if (run.summary.terminated > 0) {
    if (run.problem.contacts > 0) {
      text += fmt::format("\n{}\n{}\n", velocity_table(run), mode_table(run));
    }
    text += certificate_lines(run, verbose) + net_lines(run);
  }
  if (run.summary.max_steps_reached * 2 > run.summary.samples) {
    const StoppingImpulse stop = stopping_impulse(run.problem, run.settings.velocity_tolerance);
    text += "  most samples reached the step limit: try a larger --step or --max-steps\n";
    if (stop.impulse > run.settings.step_size) {
      text += fmt::format("  (stopping contact {} takes {:.4g} N s)\n",
                          io::printable(run.contact_names[static_cast<std::size_t>(stop.contact)]),
                          stop.impulse);
    }
  }
  if (run.enclosure) text += "\n" + enclosure_report(run);
  if (run.judgement) text += "\n" + judge_report(run);
  return text;
}

std::string runs_table(const std::vector<run::ImpactRun>& runs) {
  const bool varied = !runs.front().parameters.empty();
  std::vector<std::string> head;
  for (const auto& [name, value] : runs.front().parameters) head.push_back(name);
  if (!varied) head.emplace_back("problem");
  if (varied) head.emplace_back("outcomes");
  const std::vector<std::string> performance = performance_head(runs.front().settings);
  head.insert(head.end(), performance.begin(), performance.end());
  head.push_back("net points");
  const std::vector<std::string> enclosed = enclosure_titles(runs.front());
  head.insert(head.end(), enclosed.begin(), enclosed.end());
  const std::vector<std::string> judged = judge_titles(runs.front());
  head.insert(head.end(), judged.begin(), judged.end());
  TextTable table(head);
  std::vector<std::string> still;
  for (const run::ImpactRun& run : runs) {
    std::vector<std::string> row;
    for (const auto& [name, value] : run.parameters) row.push_back(fmt::format("{:.6g}", value));
    if (!varied) row.push_back(run.model);
    if (varied) row.push_back(fmt::format("{}", run.summary.mode_counts.size()));
    const std::vector<std::string> cells = performance_cells(run);
    row.insert(row.end(), cells.begin(), cells.end());
    row.push_back(run.net ? fmt::format("{}", run.net->points()) : "-");
    std::vector<std::string> set = enclosure_cells(run);
    set.resize(enclosed.size(), "-");  // a run that was stopped
    row.insert(row.end(), set.begin(), set.end());
    std::vector<std::string> outcome = judge_cells(run);
    outcome.resize(judged.size(), "-");
    row.insert(row.end(), outcome.begin(), outcome.end());
    table.add(row);
    const std::vector<int> approaching = run::approaching_contacts(run);
    if (approaching.empty()) still.push_back(run.model);
  }
  std::string text = table.text() + enclosure_totals(runs) + judge_totals(runs);
  if (!still.empty()) {
    constexpr std::size_t kNamed = 12;
    const std::size_t named = std::min(still.size(), kNamed);
    text += fmt::format(
        "  no contact approaches, nothing to solve, in {} of {}: {}{}\n", still.size(), runs.size(),
        io::printable(fmt::format(
            "{}", fmt::join(std::vector(still.begin(),
                                        still.begin() + static_cast<std::ptrdiff_t>(named)),
                            ", "))),
        still.size() > named ? ", ..." : "");
  }
  return text;
}

std::string models_report(const run::ImpactRun& run) {
  const run::ComparedModels& models = *run.models;
  std::vector<std::string> head = {"model", "impacts", "K+ [J]"};
  for (const std::string& name : run.contact_names) head.push_back("n " + name);
  const bool planar = run.problem.dimension == 2;
  for (const std::string& name : run.contact_names) {
    for (int t = 1; t < run.problem.dimension; ++t) {
      head.push_back(planar ? "t " + name : fmt::format("t{} {}", t, name));
    }
  }
  TextTable table(head);
  const auto add = [&table](std::string name, std::string impacts, const ImpactOutcome& outcome) {
    if (outcome.status != Status::solved) impacts = std::string(to_string(outcome.status));
    std::vector<std::string> row = {std::move(name), std::move(impacts),
                                    short_number(outcome.kinetic_energy)};
    for (const double value : outcome.normal_velocity) row.push_back(short_number(value));
    for (const double value : outcome.tangent_velocity) row.push_back(short_number(value));
    table.add(row);
  };
  for (const ImpactOutcome& outcome : models.simultaneous) add("simultaneous", "-", outcome);
  for (const SequentialOutcome& outcome : models.sequential) {
    std::vector<std::string> names;
    for (const int contact : outcome.order) {
      names.push_back(run.contact_names[static_cast<std::size_t>(contact)]);
    }
    add(fmt::format("{}, ...", fmt::join(names, ", ")), fmt::format("{}", outcome.impacts),
        outcome);
  }
  std::string text = table.text();
  if (run::approaching_contacts(run).empty() && models.simultaneous.size() > 1) text += kJams;
  if (!models.simultaneous_complete) {
    text += "  simultaneous: one solution by Lemke; there are too many to enumerate all\n";
  }
  return text;
}

std::string bounces_report(const run::ImpactRun& run) {
  if (run.bounces.empty()) return "";
  const bool measured = !run.measured.measured_velocity.empty();
  std::vector<std::string> head = {"model with restitution", "impacts", "K+/K-", "from the set",
                                   "between samples"};
  if (measured) head.emplace_back("from measured");
  for (const std::string& name : run.contact_names) head.push_back("n " + name);
  TextTable table(head);
  for (const run::ModelledBounce& bounce : run.bounces) {
    const bool solved = bounce.outcome.status == Status::solved;
    std::vector<std::string> row = {bounce.model,
                                    solved ? fmt::format("{}", bounce.outcome.impacts)
                                           : std::string(to_string(bounce.outcome.status)),
                                    short_number(bounce.energy_ratio),
                                    short_number(bounce.distance), short_number(bounce.resolution)};
    if (measured) row.push_back(short_number(bounce.measured));
    for (const double value : bounce.outcome.normal_velocity) row.push_back(short_number(value));
    table.add(row);
  }
  return "\n" + table.text();
}

}  // namespace carom::cli
