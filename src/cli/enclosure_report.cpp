#include "cli/enclosure_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/table.hpp"
#include "io/printable.hpp"

namespace carom::cli {

namespace {

constexpr std::size_t kShownOutcomes = 16;

std::string bounds_text(double low, double high) {
  return fmt::format("{:.7g} .. {:.7g}", low, high);
}

bool is_known(const ImpactEnclosure& set) {
  return set.status == EnclosureStatus::enclosed || set.status == EnclosureStatus::outer;
}

std::string question_text(const run::NeverAnswer& answer) {
  return fmt::format("never \"{}\"", io::printable(answer.question));
}

std::string answer_text(const run::NeverAnswer& answer) {
  const std::string_view word = run::answer_word(answer);
  if (!answer.sample) return std::string(word);
  return fmt::format("{}, sample {}", word, *answer.sample);
}

/// Why a question is open that the proof answers.
std::string doubt_text(const run::ImpactRun& run, const run::NeverAnswer& answer) {
  if (!answer.in_doubt) return {};
  return fmt::format(" (proven at tolerance 0, but samples count as it by --mode-tolerance {:g})",
                     run.settings.mode_tolerance);
}

/// "proven in 3, open in 1" of what word_of says of each run, in the order of their first ones.
template <class WordOf>
std::string counts_text(std::span<const run::ImpactRun> runs, WordOf&& word_of) {
  std::vector<std::pair<std::string, std::size_t>> counts;
  for (const run::ImpactRun& run : runs) {
    const std::string word = run.enclosure ? std::string(word_of(run)) : "not computed";
    const auto found = std::find_if(counts.begin(), counts.end(),
                                    [&](const auto& count) { return count.first == word; });
    if (found == counts.end()) {
      counts.emplace_back(word, 1);
    } else {
      ++found->second;
    }
  }
  std::vector<std::string> parts;
  parts.reserve(counts.size());
  for (const auto& [word, count] : counts) parts.push_back(fmt::format("{} in {}", word, count));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Whether polyhedra let releases end at any time, as of impacts with restitution.
bool ends_early(const run::ImpactRun& run) {
  const std::vector<double>& e = run.problem.restitution_high;
  return std::any_of(e.begin(), e.end(), [](double x) { return x > 0.0; });
}

std::string status_line(const run::ImpactRun& run) {
  const ImpactEnclosure& set = run.enclosure->set;
  std::string text = fmt::format("  enclosure: {}", to_string(set.status));
  if (set.status == EnclosureStatus::enclosed) {
    text += set.exact ? ", exact" : fmt::format(", moved outward by {:.1e} m/s", set.rounding);
    if (set.data_rounding > 0.0) text += fmt::format(", data rounded by {:.0e}", set.data_rounding);
  }
  const bool only_bounds = set.status == EnclosureStatus::outer && set.modes.empty();
  if (only_bounds) {
    return text + fmt::format(": only bounds are available, from functions that never grow ({})\n",
                              time_words(set.seconds));
  }
  if (set.status == EnclosureStatus::outer) {
    text += ends_early(run) ? ": contains the outcomes, with releases that end too early"
                            : ": the polyhedra are coarser than the set";
  }
  if (set.status == EnclosureStatus::budget) text += ": not finished, so nothing is proven";
  if (set.status == EnclosureStatus::contradiction) {
    text += ": samples end outside the proven range, so nothing is proven";
  }
  return text + fmt::format(" ({} polyhedra in {} faces, {})\n", set.made, set.faces,
                            time_words(set.seconds));
}

std::int64_t sampled(const run::ImpactRun& run, std::uint64_t modes) {
  for (const auto& [word, count] : run.summary.mode_counts) {
    if (word == modes) return count;
  }
  return 0;
}

std::string bounds_table(const ImpactEnclosure& set, const std::vector<std::string>& contacts) {
  const std::size_t m = contacts.size();
  const bool spatial = set.tangent_velocity_min.size() > m;
  std::vector<std::string> titles = {"contact", "proven range: normal [m/s]"};
  if (spatial) {
    titles.insert(titles.end(), {"tangential 1 [m/s]", "tangential 2 [m/s]"});
  } else {
    titles.emplace_back("tangential [m/s]");
  }
  TextTable bounds(titles);
  for (std::size_t i = 0; i < m; ++i) {
    std::vector<std::string> line = {
        contacts[i], bounds_text(set.normal_velocity_min[i], set.normal_velocity_max[i])};
    for (std::size_t t = spatial ? 2 * i : i; t <= (spatial ? 2 * i + 1 : i); ++t) {
      line.push_back(bounds_text(set.tangent_velocity_min[t], set.tangent_velocity_max[t]));
    }
    bounds.add(line);
  }
  return bounds.text();
}

std::string outcomes_text(const run::ImpactRun& run) {
  const ImpactEnclosure& set = run.enclosure->set;
  TextTable modes({"possible outcome", "samples"});
  for (std::size_t i = 0; i < set.modes.size() && i < kShownOutcomes; ++i) {
    const std::uint64_t word = set.modes[i].modes;
    modes.add({mode_words(word, run.problem.contacts, 2), fmt::format("{}", sampled(run, word))});
  }
  const std::vector<std::uint64_t>& within = run.enclosure->within_tolerance;
  for (std::size_t i = 0; i < within.size() && i < kShownOutcomes; ++i) {
    modes.add({mode_words(within[i], run.problem.contacts, 2) + " *",
               fmt::format("{}", sampled(run, within[i]))});
  }
  std::string text = modes.text();
  if (set.modes.size() > kShownOutcomes) {
    text += fmt::format("  and {} others\n", set.modes.size() - kShownOutcomes);
  }
  if (!within.empty()) {
    text +=
        fmt::format("  * by --mode-tolerance {:g} m/s only: slower contacts count as sticking\n",
                    run.settings.mode_tolerance);
  }
  return text + fmt::format("  impossible: {} of {} outcomes\n", set.impossible_modes.size(),
                            set.impossible_modes.size() + set.modes.size() + within.size());
}

std::string outside_text(const OutsideSamples& samples, const char* what) {
  return fmt::format("  {} outside: {} of {} compared, by up to {:.3g} m/s\n", what,
                     samples.outside, samples.compared, samples.largest);
}

/// Where the samples cover least of what is proven.
std::string worst_text(const run::ImpactRun& run) {
  const ImpactEnclosure& set = run.enclosure->set;
  const ImpactSummary& found = run.summary;
  if (found.terminated == 0) return "";
  const auto joined = [](std::vector<double> normals, const std::vector<double>& tangents) {
    normals.insert(normals.end(), tangents.begin(), tangents.end());
    return normals;
  };
  const std::vector<double> low = joined(set.normal_velocity_min, set.tangent_velocity_min);
  const std::vector<double> high = joined(set.normal_velocity_max, set.tangent_velocity_max);
  const std::vector<double> least = joined(found.normal_velocity_min, found.tangent_velocity_min);
  const std::vector<double> most = joined(found.normal_velocity_max, found.tangent_velocity_max);
  for (std::size_t k = 0; k < low.size(); ++k) {
    std::vector<double> own_low = low, own_high = high;  // all of the others is reached
    own_low[k] = least[k], own_high[k] = most[k];
    if (filled_share(set, own_low, own_high) > run.enclosure->filled) continue;
    if (run.enclosure->filled == 1.0) break;
    const std::size_t m = run.contact_names.size(), tangents = (low.size() - m) / m;
    if (k < m) return fmt::format(" (least: normal of {})", run.contact_names[k]);
    const std::string which = tangents == 1 ? "" : fmt::format(" {}", (k - m) % tangents + 1);
    return fmt::format(" (least: tangential{} of {})", which,
                       run.contact_names[(k - m) / tangents]);
  }
  return "";
}

std::string samples_text(const run::ImpactRun& run) {
  const OutsideSamples& samples = run.enclosure->samples;
  if (samples.outside > 0) {  // of Algorithm 1: events would contradict
    return outside_text(samples, "samples") +
           "  steps of size h leave the set; a smaller --step reduces the error\n";
  }
  return fmt::format("  coverage: samples reach {:.2f} % of the proven range{}\n",
                     100.0 * run.enclosure->filled, worst_text(run));
}

}  // namespace

std::string enclosure_report(const run::ImpactRun& run) {
  const ImpactEnclosure& set = run.enclosure->set;
  std::string text = status_line(run);
  if (is_known(set) && run.problem.contacts > 0) {
    text += "\n" + bounds_table(set, run.contact_names) + "\n";
    if (!set.modes.empty()) text += outcomes_text(run);
    text += samples_text(run);
  }
  if (set.status == EnclosureStatus::contradiction && run.enclosure->followed.compared > 0) {
    text += outside_text(run.enclosure->followed, "samples followed from event to event");
  }
  for (const run::NeverAnswer& answer : run.enclosure->answers) {
    text += fmt::format("  {}: {}{}\n", question_text(answer), answer_text(answer),
                        doubt_text(run, answer));
  }
  return text;
}

std::vector<std::string> enclosure_titles(const run::ImpactRun& run) {
  if (!run.enclosure) return {};
  std::vector<std::string> titles = {"enclosure", "coverage"};
  for (const run::NeverAnswer& answer : run.enclosure->answers) {
    titles.push_back(question_text(answer));
  }
  return titles;
}

std::vector<std::string> enclosure_cells(const run::ImpactRun& run) {
  if (!run.enclosure) return {};
  const ImpactEnclosure& set = run.enclosure->set;
  std::vector<std::string> cells = {
      std::string(to_string(set.status)),
      !is_known(set) ? "-"
      : run.enclosure->samples.outside > 0
          ? fmt::format("{} of {} outside", run.enclosure->samples.outside,
                        run.enclosure->samples.compared)
          : fmt::format("{:.2f} %", 100.0 * run.enclosure->filled)};
  for (const run::NeverAnswer& answer : run.enclosure->answers) {
    cells.push_back(answer_text(answer));
  }
  return cells;
}

std::string enclosure_totals(std::span<const run::ImpactRun> runs) {
  if (runs.empty() || !runs.front().enclosure) return "";
  std::string text =
      fmt::format("  enclosures: {}\n", counts_text(runs, [](const run::ImpactRun& run) {
                    return to_string(run.enclosure->set.status);
                  }));
  const std::vector<run::NeverAnswer>& questions = runs.front().enclosure->answers;
  for (std::size_t q = 0; q < questions.size(); ++q) {
    text += fmt::format("  {}: {}\n", question_text(questions[q]),
                        counts_text(runs, [q](const run::ImpactRun& run) {
                          return run::answer_word(run.enclosure->answers[q]);
                        }));
  }
  return text;
}

}  // namespace carom::cli
