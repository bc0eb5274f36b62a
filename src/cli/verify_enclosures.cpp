#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <carom/error.hpp>

#include "cli/verify_files.hpp"
#include "core/words.hpp"
#include "io/enclosure_kept.hpp"

namespace carom::cli {

namespace {

// Of the largest bound: what two ways to write one number may differ by.
constexpr double kSame = 1e-9;

double largest_of(const std::vector<double>& values, double most) {
  for (const double value : values) most = std::max(most, std::fabs(value));
  return most;
}

double size_of(const ImpactEnclosure& set) {
  double most = largest_of(set.normal_velocity_min, 0.0);
  most = largest_of(set.normal_velocity_max, most);
  most = largest_of(set.tangent_velocity_min, most);
  return largest_of(set.tangent_velocity_max, most);
}

/// What is wrong with one side's bounds; empty where they are those of the proof.
std::string bounds_reason(const char* key, const std::vector<double>& said,
                          const std::vector<double>& held, bool upper, double room) {
  if (said.size() != held.size()) return fmt::format("{} has {} numbers", key, said.size());
  for (std::size_t i = 0; i < held.size(); ++i) {
    const double inside = upper ? held[i] - said[i] : said[i] - held[i];
    if (inside > 0.0) {
      return fmt::format("{}[{}] is {}: the proof reaches {}", key, i, said[i], held[i]);
    }
    if (!(inside >= -room)) {
      return fmt::format("{}[{}] is {}: the proof has {}", key, i, said[i], held[i]);
    }
  }
  return {};
}

/// Whether every row of `a` is one of `b`.
bool rows_among(const std::vector<double>& a, const std::vector<double>& b, std::size_t columns,
                double room) {
  for (std::size_t i = 0; i < a.size(); i += columns) {
    bool found = false;
    for (std::size_t j = 0; j < b.size() && !found; j += columns) {
      found = true;
      for (std::size_t k = 0; k < columns && found; ++k) {
        found = std::fabs(a[i + k] - b[j + k]) <= room;
      }
    }
    if (!found) return false;
  }
  return true;
}

const EnclosedMode* mode_of(const ImpactEnclosure& set, std::uint64_t code) {
  const auto found = std::find_if(set.modes.begin(), set.modes.end(),
                                  [code](const EnclosedMode& mode) { return mode.modes == code; });
  return found == set.modes.end() ? nullptr : &*found;
}

class EnclosureJudge {
 public:
  EnclosureJudge(const io::KeptEnclosure& kept, std::size_t index, VerifyReport& report)
      : kept_(kept), index_(index), report_(report) {}

  void judge() {
    const EnclosureStatus status = kept_.set.status;
    const bool claims = status == EnclosureStatus::enclosed || status == EnclosureStatus::outer;
    if (claims) held_ = proven_enclosure(kept_.problem, kept_.set);
    const bool proven = held_.status != EnclosureStatus::budget;
    if (!claims) {
      report_.add("enclosure", Judgement::unjudged);
      report_.leave_out(fmt::format("everything of enclosures of status {}", to_string(status)));
    } else {
      report_.add("enclosure", index_,
                  proven ? "" : "its invariant proves nothing of this problem");
    }
    if (proven && kept_.within_tolerance) {
      within_ = compare_modes(kept_.problem, kept_.sampled_modes, kept_.mode_tolerance, held_)
                    .within_tolerance;
    }
    if (proven) judge_set();
    for (const io::KeptAnswer& answer : kept_.never) judge_answer(answer, proven);
  }

 private:
  void judge_set() {
    const double room = kSame * size_of(held_);
    std::string reason;
    const auto compare = [&](const char* key, const std::vector<double>& said,
                             const std::vector<double>& held, bool upper) {
      if (reason.empty()) reason = bounds_reason(key, said, held, upper, room);
    };
    const ImpactEnclosure& said = kept_.set;
    compare("normal_velocity_min", said.normal_velocity_min, held_.normal_velocity_min, false);
    compare("normal_velocity_max", said.normal_velocity_max, held_.normal_velocity_max, true);
    compare("tangent_velocity_min", said.tangent_velocity_min, held_.tangent_velocity_min, false);
    compare("tangent_velocity_max", said.tangent_velocity_max, held_.tangent_velocity_max, true);
    report_.add("bounds", index_, reason);
    if (kept_.set.faces != held_.faces) {
      report_.refute(index_,
                     fmt::format("faces is {}: the proof has {}", kept_.set.faces, held_.faces));
    }
    if (kept_.data_rounding &&
        !(std::fabs(*kept_.data_rounding - held_.data_rounding) <= kSame * held_.data_rounding)) {
      report_.refute(index_,
                     fmt::format("data_rounding is {}: the proof is of data that are off by {}",
                                 *kept_.data_rounding, held_.data_rounding));
    }
    report_.add("outcomes", index_, modes_reason(room));
    if (kept_.filled) report_.add("filled", index_, filled_reason());
    for (const auto& [words, count] : kept_.sampled) {
      const auto found = kept_.mode_counts.find(words);
      const std::int64_t own = found == kept_.mode_counts.end() ? 0 : found->second;
      if (count == own) continue;
      report_.refute(index_,
                     fmt::format("sampled of {} is {}: mode_counts has {}", words, count, own));
    }
  }

  [[nodiscard]] std::string modes_reason(double room) const {
    const int m = kept_.problem.contacts;
    const std::size_t columns = 2 * static_cast<std::size_t>(m);
    std::vector<std::uint64_t> impossible = kept_.set.impossible_modes;
    if (kept_.within_tolerance) {
      const std::vector<std::uint64_t>& said = *kept_.within_tolerance;
      if (!std::is_permutation(said.begin(), said.end(), within_.begin(), within_.end())) {
        return fmt::format(
            "modes_within_tolerance has {} outcomes: samples have {} that are "
            "possible within mode_tolerance only",
            said.size(), within_.size());
      }
      // where there are only bounds nothing is called impossible
      if (!held_.modes.empty()) impossible.insert(impossible.end(), said.begin(), said.end());
    }
    std::sort(impossible.begin(), impossible.end());
    if (impossible != held_.impossible_modes) {
      return fmt::format("{} outcomes are said to be impossible: not those {} of the proof",
                         impossible.size(), held_.impossible_modes.size());
    }
    if (kept_.set.modes.size() != held_.modes.size()) {
      return fmt::format("has {} possible outcomes: the proof leaves {} possible",
                         kept_.set.modes.size(), held_.modes.size());
    }
    for (const EnclosedMode& own : held_.modes) {
      const std::string words = mode_words(own.modes, m, 2);
      const EnclosedMode* said = mode_of(kept_.set, own.modes);
      if (said == nullptr)
        return fmt::format("{} is missing: the proof does not exclude it", words);
      if (!rows_among(said->vertices, own.vertices, columns, room) ||
          !rows_among(own.vertices, said->vertices, columns, room)) {
        return fmt::format("vertices of {} are not those of the proof", words);
      }
      // HDF5 files have none
      if (said->constraints.empty() && !from_json()) continue;
      if (!rows_among(said->constraints, own.constraints, columns + 1, room) ||
          !rows_among(own.constraints, said->constraints, columns + 1, room)) {
        return fmt::format("constraints of {} are not those of the proof", words);
      }
    }
    return {};
  }

  [[nodiscard]] bool from_json() const { return kept_.filled.has_value(); }

  [[nodiscard]] std::string filled_reason() const {
    const double own = kept_.sampled_low.empty()
                           ? 0.0
                           : filled_share(kept_.set, kept_.sampled_low, kept_.sampled_high);
    if (std::fabs(*kept_.filled - own) <= kSame * std::max(1.0, std::fabs(own))) return {};
    return fmt::format("is {}: the samples' bounds fill {}", *kept_.filled, own);
  }

  void judge_answer(const io::KeptAnswer& answer, bool proven) {
    const std::string statement = fmt::format("never \"{}\"", answer.event);
    bool excluded = false, in_doubt = false;
    try {
      const ImpactEvent event = impact_event(answer.event, names(), kept_.problem.dimension);
      excluded = proven && never_happens(held_, event);
      in_doubt = excluded && is_in_doubt(held_, event, within_);
    } catch (const InvalidInput& error) {
      if (kept_.contact_names.empty()) {
        throw InvalidInput(fmt::format(
            "{}: contact_names of its problem are missing: are not A, B, .. where it asks {}",
            statement, error.what()));
      }
      return add_answer(Judgement::refuted, statement + ": " + error.what());
    }
    if (answer.answer == "proven" && in_doubt) {
      return add_answer(Judgement::refuted,
                        statement + " is said to be proven: samples count as it by mode_tolerance");
    }
    if (answer.answer == "proven") {
      return excluded
                 ? add_answer(Judgement::proven, {})
                 : add_answer(Judgement::refuted,
                              statement + " is said to be proven: the proof does not exclude it");
    }
    if (answer.answer != "open" && answer.answer != "counterexample") {
      return add_answer(Judgement::refuted,
                        fmt::format("{}: answer is \"{}\": must be proven, counterexample or open",
                                    statement, answer.answer));
    }
    if (excluded && !(in_doubt && answer.answer == "open")) {
      return add_answer(
          Judgement::refuted,
          fmt::format("{} is said to be {}: the proof excludes it", statement, answer.answer));
    }
    // which sample it is, only the samples tell
    report_.leave_out(fmt::format("enclosure.never answers \"{}\"", answer.answer));
    add_answer(Judgement::unjudged, {});
  }

  /// Files have had them since questions are judged; before, most were letters.
  [[nodiscard]] std::vector<std::string> names() const {
    if (!kept_.contact_names.empty()) return kept_.contact_names;
    std::vector<std::string> letters;
    for (int i = 0; i < std::min(kept_.problem.contacts, 26); ++i) {
      letters.emplace_back(1, static_cast<char>('A' + i));
    }
    return letters;
  }

  void add_answer(Judgement judgement, const std::string& reason) {
    report_.add("never", judgement);
    if (judgement == Judgement::refuted) report_.refute(index_, reason);
  }

  const io::KeptEnclosure& kept_;
  std::size_t index_;
  VerifyReport& report_;
  ImpactEnclosure held_;
  std::vector<std::uint64_t> within_;  ///< of held_ and the file's samples
};

}  // namespace

VerifyReport verify_enclosures(const std::string& file) {
  const io::KeptEnclosures kept = io::read_kept_enclosures(file);
  VerifyReport report{"enclosure", "enclosures", kept.sets.size(), {}, {}, {}};
  for (std::size_t i = 0; i < kept.sets.size(); ++i) {
    EnclosureJudge(kept.sets[i], i, report).judge();
  }
  for (const std::string& field : kept.other_fields) report.leave_out(field);
  return report;
}

}  // namespace carom::cli
