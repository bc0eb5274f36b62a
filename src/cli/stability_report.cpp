#include "cli/stability_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "cli/table.hpp"
#include "core/words.hpp"

namespace carom::cli {

namespace {

constexpr std::size_t kRows = 24;

std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "-";
}
template <class Values>
std::string numbers(const Values& values) {
  std::vector<std::string> words;
  words.reserve(values.size());
  for (const double value : values) words.push_back(number(value));
  return fmt::format("({})", fmt::join(words, ", "));
}

std::string mode_table(const Stance& stance) {
  TextTable table(
      {"mode", "acceleration", "normal forces [N]", "tangential forces [N]", "margin", "at rest"});
  for (const StanceMode& mode : contact_modes(stance)) {
    if (!mode.admissible) continue;
    table.add({mode.word, mode.solvable ? numbers(mode.acceleration) : "-",
               mode.solvable ? numbers(mode.normal_force) : "-",
               mode.solvable ? numbers(mode.tangential_force) : "-", number(mode.margin),
               mode.consistent ? "consistent" : "-"});
  }
  return table.text();
}

std::string proof_of(const run::StabilityRun& run, std::size_t i) {
  if (run.row[i] < 0) return "-";
  const auto row = static_cast<std::size_t>(run.row[i]);
  const StabilityResult& r = run.result;
  if (r.certificate.host()[row] == CertificateKind::paper) {
    return fmt::format("V2 with s = {:.6g}, slack {:.2g}{}", r.s.host()[row], r.margin.host()[row],
                       run.exact[row] != 0 ? ", exact" : "");
  }
  if (r.certificate.host()[row] == CertificateKind::sos) {
    return fmt::format("V2 of the programme with s = {:.6g}, kappa = {:.3g}, slack {:.2g}{}",
                       r.s.host()[row], r.kappa.host()[row], r.margin.host()[row],
                       run.exact[row] != 0 ? ", exact" : "");
  }
  if (r.certificate.host()[row] == CertificateKind::labelled) {
    return fmt::format("labelled functions, slack {:.2g}{}", r.margin.host()[row],
                       run.exact[row] != 0 ? ", exact" : "");
  }
  if (r.verdict.host()[row] == StabilityVerdict::unstable) {
    return fmt::format("grows {:.3g} times in {} events", r.start_growth.host()[row],
                       r.start_events.host()[row]);
  }
  return "-";
}

std::string point_table(const run::StabilityRun& run) {
  const run::StancePoints& points = run.points;
  std::vector<std::string> head = {"stance"};
  head.insert(head.end(), points.varied.begin(), points.varied.end());
  for (const char* name : {"force margin [N]", "chatter growth", "verdict", "proof"}) {
    head.emplace_back(name);
  }
  TextTable table(head);
  const std::size_t shown = std::min(points.stances.size(), kRows);
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string& name = points.stances[i].name;
    std::vector<std::string> line = {name.empty() || !points.varied.empty() ? fmt::format("{}", i)
                                                                            : name};
    for (const double value : points.at[i]) line.push_back(number(value));
    const bool judged = run.row[i] >= 0;
    const auto row = static_cast<std::size_t>(judged ? run.row[i] : 0);
    line.push_back(judged ? number(run.result.force_margin.host()[row]) : "-");
    line.push_back(judged ? number(run.result.growth.host()[row]) : "-");
    line.emplace_back(to_string(run.verdict(i)));
    line.push_back(proof_of(run, i));
    table.add(line);
  }
  std::string text = table.text();
  if (shown < points.stances.size()) {
    text +=
        fmt::format("  and {} more: --json or --output has all\n", points.stances.size() - shown);
  }
  return text;
}

/// How the programmes of methods sos and single ended.
std::string sos_lines(const run::StabilityRun& run) {
  std::string text;
  std::map<Status, std::int64_t> ended;
  for (std::size_t row = 0; row < static_cast<std::size_t>(run.done); ++row) {
    ++ended[run.result.sos_status.host()[row]];
  }
  for (const auto& [status, count] : ended) {
    text += fmt::format("  programme {:<10} {:>9}\n",
                        status == Status::cancelled ? "not posed" : to_string(status), count);
  }
  for (std::size_t i = 0; i < std::min(run.points.stances.size(), kRows); ++i) {
    if (run.row[i] < 0) continue;
    const auto row = static_cast<std::size_t>(run.row[i]);
    const Status status = run.result.sos_status.host()[row];
    if (status == Status::cancelled) continue;
    const SosProgramme programme = sos_programme(run.points.stances[i], run.settings.method);
    text += fmt::format(
        "  {}: program of {} equalities, {} unknowns, {} blocks up to {}; reduced to {} "
        "unknowns, "
        "blocks up to {}: {} after {} iterations, residual {:.2g}; {}\n",
        i, programme.rows, programme.unknowns, programme.blocks.size(),
        std::ranges::max(programme.blocks), programme.problem.objective.size() - 1,
        std::ranges::max(programme.problem.blocks), to_string(status),
        run.result.sos_iterations.host()[row], run.result.sos_residual.host()[row],
        status == Status::infeasible                                 ? "no such function exists"
        : run.result.certificate.host()[row] == CertificateKind::sos ? "its function is proven"
                                                                     : "no function confirmed");
  }
  return text;
}

}  // namespace

std::string stability_report(const run::StabilityRun& run) {
  const std::size_t count = run.points.stances.size();
  std::string text = fmt::format("{}: {} {}, backend {}, method {}\n", run.points.name, count,
                                 count == 1 ? "stance" : "stances", to_string(run.backend),
                                 to_string(run.settings.method));
  if (!run.complete) text += "  STOPPED before all were decided\n";
  text += '\n';
  if (count == 1) text += mode_table(run.points.stances.front()) + '\n';
  if (!run.points.chart()) text += point_table(run) + '\n';
  std::array<std::int64_t, words<StabilityVerdict>.size()> seen{};
  std::array<std::int64_t, words<CertificateKind>.size()> kinds{};
  std::int64_t events = 0, exact = 0;
  for (std::size_t i = 0; i < count; ++i) ++seen[static_cast<std::size_t>(run.verdict(i))];
  for (std::size_t row = 0; row < static_cast<std::size_t>(run.done); ++row) {
    events += run.result.events.host()[row];
    ++kinds[static_cast<std::size_t>(run.result.certificate.host()[row])];
    exact += run.exact[row];
  }
  for (const auto& [verdict, word] : words<StabilityVerdict>) {
    const std::int64_t of = seen[static_cast<std::size_t>(verdict)];
    if (of == 0) continue;
    text += fmt::format("  {:<20} {:>9}  {:.2f} %", word, of,
                        100.0 * static_cast<double>(of) / static_cast<double>(count));
    if (verdict == StabilityVerdict::stable) {
      text +=
          fmt::format("  (paper's class {}, labelled {}{}; {} proven exactly)", kinds[1], kinds[2],
                      kinds[3] > 0 ? fmt::format(", its programme {}", kinds[3]) : "", exact);
    }
    text += '\n';
  }
  if (poses_a_programme(run.settings.method)) text += sos_lines(run);
  if (run.impact) {
    text += fmt::format("\n  impact: {}, impulses {:.10g} and {:.10g} N s, velocity after {}\n",
                        to_string(run.impact->kind), run.impact->normal_impulse,
                        run.impact->tangential_impulse, numbers(run.impact->velocity));
  }
  if (!run.events.empty()) {
    TextTable table({"event", "time [s]", "contact", "mode", "position", "velocity"});
    for (const StanceEvent& event : run.events) {
      table.add({std::string(to_string(event.kind)), number(event.time),
                 event.contact < 0 ? "-" : fmt::format("{}", event.contact + 1), event.mode,
                 numbers(event.position), numbers(event.velocity)});
    }
    text += "\n" + table.text();
  }
  text += fmt::format("  {} for {} simulated events\n", time_words(run.seconds), events);
  return text;
}

}  // namespace carom::cli
