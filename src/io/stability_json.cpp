#include "io/stability_json.hpp"

#include "io/fields.hpp"
#include "io/setting_json.hpp"

#include "core/words.hpp"

namespace carom::io {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t kNumbers = 24;  // of labelled functions

ordered_json stance_json(const Stance& stance) {
  ordered_json contacts = ordered_json::array();
  for (const StanceContact& c : stance.contacts) {
    contacts.push_back({{"l", c.l},
                        {"h", c.h},
                        {"slope", c.slope},
                        {"friction", c.friction},
                        {"restitution", c.restitution}});
  }
  return {{"name", stance.name},
          {"contacts", std::move(contacts)},
          {"force", stance.force},
          {"angle", stance.angle},
          {"torque", stance.torque}};
}

ordered_json modes_json(const std::vector<StanceMode>& modes) {
  ordered_json list = ordered_json::array();
  for (const StanceMode& mode : modes) {
    ordered_json entry = {{"word", mode.word},
                          {"admissible", mode.admissible},
                          {"solvable", mode.solvable},
                          {"consistent", mode.consistent}};
    entry["acceleration"] = nullptr;
    entry["normal_force"] = nullptr;
    entry["tangential_force"] = nullptr;
    entry["margin"] = nullptr;
    if (mode.solvable) {
      entry["acceleration"] = mode.acceleration;
      entry["normal_force"] = mode.normal_force;
      entry["tangential_force"] = mode.tangential_force;
      entry["margin"] = json_number(mode.margin);
    }
    list.push_back(std::move(entry));
  }
  return list;
}

ordered_json events_json(const std::vector<StanceEvent>& events) {
  ordered_json list = ordered_json::array();
  for (const StanceEvent& event : events) {
    list.push_back(
        {{"time", event.time},
         {"kind", to_string(event.kind)},
         {"contact", event.contact < 0 ? ordered_json(nullptr) : ordered_json(event.contact + 1)},
         {"mode", event.mode},
         {"position", event.position},
         {"velocity", event.velocity}});
  }
  return list;
}

ordered_json certificate_json(const run::StabilityRun& run, std::size_t row) {
  const StabilityResult& result = run.result;
  const CertificateKind kind = result.certificate.host()[row];
  if (kind == CertificateKind::none) return nullptr;
  ordered_json entry = {{"kind", to_string(kind)}, {"exact", run.exact[row] != 0}};
  if (kind != CertificateKind::labelled) {
    entry["s"] = json_number(result.s.host()[row]);
    entry["kappa"] = json_number(result.kappa.host()[row]);
  } else {
    const double* first = result.coefficients.data() + kNumbers * row;
    entry["coefficients"] = std::vector<double>(first, first + kNumbers);
  }
  entry["margin"] = json_number(result.margin.host()[row]);
  return entry;
}

/// How the paper's own programme ended; null where none was posed.
ordered_json sos_json(const run::StabilityRun& run, const Stance& stance, std::size_t row) {
  const Status status = run.result.sos_status.host()[row];
  if (status == Status::cancelled) return nullptr;
  const SosProgramme programme = sos_programme(stance, run.settings.method);
  return {{"status", to_string(status)},
          {"residual", json_number(run.result.sos_residual.host()[row])},
          {"iterations", run.result.sos_iterations.host()[row]},
          {"rows", programme.rows},
          {"unknowns", programme.unknowns},
          {"blocks", programme.blocks.size()},
          {"largest_block", std::ranges::max(programme.blocks)},
          {"face_unknowns", programme.problem.objective.size() - 1},
          {"face_largest_block", std::ranges::max(programme.problem.blocks)}};
}

ordered_json counterexample_json(const StabilityResult& result, std::size_t row) {
  if (result.verdict.host()[row] != StabilityVerdict::unstable) return nullptr;
  const double* s = result.start.data() + 6 * row;
  return {{"position", {s[0], s[1], s[2]}},
          {"velocity", {s[3], s[4], s[5]}},
          {"growth", json_number(result.start_growth.host()[row])},
          {"events", result.start_events.host()[row]}};
}

ordered_json point_json(const run::StabilityRun& run, std::size_t i, bool with_modes) {
  const run::StancePoints& points = run.points;
  ordered_json entry, parameters = ordered_json::object();
  for (const auto& [name, value] : points.set) parameters[name] = value;
  for (std::size_t k = 0; k < points.varied.size(); ++k) {
    parameters[points.varied[k]] = points.at[i][k];
  }
  entry["parameters"] = std::move(parameters);
  const bool judged = run.row[i] >= 0;
  const auto row = static_cast<std::size_t>(judged ? run.row[i] : 0);
  const StabilityVerdict verdict = run.verdict(i);
  entry["stance"] = stance_json(points.stances[i]);
  std::vector<StanceMode> modes;
  if (with_modes || !judged) modes = contact_modes(points.stances[i]);
  double margin = judged ? run.result.force_margin.host()[row] : 0.0;
  ordered_json ambiguous = ordered_json::array();
  for (std::size_t code = 0; judged && code < 16; ++code) {
    if ((run.result.ambiguous_modes.host()[row] >> code & 1) == 0) continue;
    const auto letter = [](std::size_t l) {
      return std::string(to_string(static_cast<ContactLetter>(l)));
    };
    ambiguous.push_back(letter(code >> 2) + letter(code & 3));
  }
  for (const StanceMode& mode : modes) {
    if (judged) break;
    const bool rests = mode.word.find_first_not_of('S') == std::string::npos;
    if (rests) margin = mode.solvable ? mode.margin : -1.0;
    if (!rests && mode.admissible && mode.consistent) ambiguous.push_back(mode.word);
  }
  entry["equilibrium"] = margin >= 0.0;
  entry["force_margin"] = json_number(margin);
  entry["ambiguous_modes"] =
      verdict == StabilityVerdict::no_equilibrium ? ordered_json::array() : std::move(ambiguous);
  if (with_modes) entry["modes"] = modes_json(modes);
  entry["paradox"] = judged ? ordered_json(run.result.paradox.host()[row]) : ordered_json(nullptr);
  entry["growth"] = judged ? json_number(run.result.growth.host()[row]) : ordered_json(nullptr);
  entry["verdict"] = to_string(verdict);
  entry["certificate"] = judged ? certificate_json(run, row) : ordered_json(nullptr);
  if (poses_a_programme(run.settings.method)) {
    entry["sos"] = judged ? sos_json(run, points.stances[i], row) : ordered_json(nullptr);
  }
  entry["counterexample"] = judged ? counterexample_json(run.result, row) : ordered_json(nullptr);
  if (judged) add_fields(entry, run::numbers_of(run.result, StanceSizes{}, row));
  return entry;
}

}  // namespace

nlohmann::ordered_json stability_json(const run::StabilityRun& run) {
  ordered_json document = {{"kind", "stability"},
                           {"model", run.points.name},
                           {"backend", to_string(run.backend)},
                           {"method", to_string(run.settings.method)},
                           {"seed", run.settings.seed},
                           {"complete", run.complete}};
  ordered_json counts = ordered_json::object();
  std::array<std::int64_t, words<StabilityVerdict>.size()> seen{};
  for (std::size_t i = 0; i < run.points.stances.size(); ++i) {
    ++seen[static_cast<std::size_t>(run.verdict(i))];
  }
  for (const auto& [verdict, word] : words<StabilityVerdict>) {
    if (verdict != StabilityVerdict::invalid_input) {
      counts[std::string(word)] = seen[static_cast<std::size_t>(verdict)];
    }
  }
  document["verdicts"] = std::move(counts);
  const bool with_modes = run.points.stances.size() <= kMostPointsWithModes;
  ordered_json points = ordered_json::array();
  for (std::size_t i = 0; i < run.points.stances.size(); ++i) {
    points.push_back(point_json(run, i, with_modes));
  }
  document["points"] = std::move(points);
  if (run.impact) {
    document["impact"] = {{"type", to_string(run.impact->kind)},
                          {"normal_impulse", run.impact->normal_impulse},
                          {"tangential_impulse", run.impact->tangential_impulse},
                          {"velocity", run.impact->velocity}};
  }
  if (!run.events.empty()) document["events"] = events_json(run.events);
  document["settings"] = settings_json(run.settings);
  document["seconds"] = run.seconds;
  return document;
}

}  // namespace carom::io
