#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <carom/models/stances.hpp>
#include <carom/stability.hpp>

#include "cli/verify_files.hpp"
#include "core/words.hpp"
#include "io/stability_kept.hpp"

namespace carom::cli {

namespace {

// A replay of the same motion in other arithmetic may differ in its last event, and where impacts
// bounce long before that: it is given more events then.
constexpr double kReplayShare = 0.9;
constexpr std::int64_t kLongerReplay = 8;

std::string certificate_reason(const io::KeptVerdict& kept) {
  if (kept.certificate == CertificateKind::none) return "has no certificate";
  const bool proven = kept.certificate == CertificateKind::labelled
                          ? proves_stable(kept.stance, kept.coefficients)
                          : proves_stable(kept.stance, kept.s, kept.kappa);
  if (!proven) return "its certificate proves nothing";
  if (kept.exact == false) return "exact is false: the certificate holds in exact arithmetic";
  return {};
}

std::string replay_reason(const io::KeptVerdict& kept) {
  if (!kept.has_counterexample) return "has no counterexample";
  double growth = 0.0;
  for (const std::int64_t longer : {std::int64_t{1}, kLongerReplay}) {
    growth = replayed_growth(kept.stance, kept.start, longer * kept.events);
    const bool endless = std::isinf(kept.growth) && growth >= 1e300;
    if (endless || (growth > 1.0 && growth >= kReplayShare * kept.growth)) return {};
  }
  return fmt::format("the motion grows by {} within {} events, not by {}", growth,
                     kLongerReplay * kept.events, kept.growth);
}

class PointJudge {
 public:
  PointJudge(const io::KeptVerdict& kept, std::size_t index, VerifyReport& report)
      : kept_(kept), index_(index), report_(report), pair_(kept.stance.contacts.size() == 2) {}

  void judge() {
    if (kept_.verdict == StabilityVerdict::invalid_input) {
      report_.add(to_string(kept_.verdict), Judgement::unjudged);
      return;
    }
    held_ = pair_ && proves_equilibrium(kept_.stance);
    never_held_ = pair_ && proves_no_equilibrium(kept_.stance);
    judge_verdict();
    judge_rest();
    judge_modes();
    judge_spare();
  }

 private:
  void judge_verdict() {
    const std::string_view word = to_string(kept_.verdict);
    switch (kept_.verdict) {
      case StabilityVerdict::stable:
        return report_.add(word, index_, certificate_reason(kept_));
      case StabilityVerdict::unstable:
        return report_.add(word, index_, replay_reason(kept_));
      case StabilityVerdict::ambiguous:
        if (!pair_) break;
        return report_.add(word, index_, ambiguity_reason());
      case StabilityVerdict::no_equilibrium:
        if (never_held_) return report_.add(word, Judgement::proven);
        if (!held_) break;
        return report_.add(word, index_, "contact forces hold the body");
      default:
        break;
    }
    report_.add(word, Judgement::unjudged);
  }

  [[nodiscard]] std::string ambiguity_reason() const {
    for (const std::string& word : kept_.ambiguous_modes) {
      if (proves_ambiguous(kept_.stance, word)) return {};
    }
    return "none of its modes is certainly consistent";
  }

  void judge_rest() {
    const bool said = kept_.equilibrium.value_or(true);
    const bool none = kept_.verdict == StabilityVerdict::no_equilibrium;
    if (none == said) {
      report_.refute(
          index_, fmt::format("equilibrium is {}: verdict is {}", said, to_string(kept_.verdict)));
    }
    if (said != !(kept_.force_margin < 0.0)) {
      report_.refute(
          index_, fmt::format("equilibrium is {}: force_margin is {}", said, kept_.force_margin));
    }
    if (said ? never_held_ : held_) {
      report_.add("equilibrium", index_,
                  said ? "is true: no contact forces hold the body"
                       : "is false: contact forces hold the body");
    } else {
      report_.add("equilibrium",
                  (said ? held_ : never_held_) ? Judgement::proven : Judgement::unjudged);
    }
  }

  // Every mode of the list, and every one that is missing.
  void judge_modes() {
    if (kept_.verdict == StabilityVerdict::no_equilibrium) {
      if (!kept_.ambiguous_modes.empty()) {
        report_.refute(index_, "ambiguous_modes: a body that nothing holds has none");
      }
      return;
    }
    if (!pair_) {
      report_.leave_out("points.ambiguous_modes of more than two contacts");
      return;
    }
    for (const char a : {'F', 'S', 'P', 'N'}) {
      for (const char b : {'F', 'S', 'P', 'N'}) {
        const std::string word{a, b};
        const auto said =
            std::count(kept_.ambiguous_modes.begin(), kept_.ambiguous_modes.end(), word);
        const bool proven = proves_ambiguous(kept_.stance, word);
        if (said > 0)
          report_.add("ambiguous mode", index_, proven ? "" : word + " is not consistent");
        if (said == 0 && proven) {
          report_.refute(index_, fmt::format("ambiguous_modes: {} is missing", word));
        }
        if (said > 1)
          report_.refute(index_, fmt::format("ambiguous_modes: {} is given twice", word));
      }
    }
    for (const std::string& word : kept_.ambiguous_modes) {
      if (word.size() == 2 && word.find_first_not_of("FSPN") == std::string::npos) continue;
      report_.refute(index_, fmt::format("ambiguous_modes: \"{}\" is no mode", word));
    }
  }

  // What a verdict has no use for.
  void judge_spare() {
    if (kept_.has_counterexample && kept_.verdict != StabilityVerdict::unstable) {
      report_.refute(index_,
                     fmt::format("counterexample: verdict {} has none", to_string(kept_.verdict)));
    }
    if (kept_.certificate != CertificateKind::none && kept_.verdict != StabilityVerdict::stable) {
      report_.refute(index_,
                     fmt::format("certificate: verdict {} has none", to_string(kept_.verdict)));
    }
  }

  const io::KeptVerdict& kept_;
  std::size_t index_;
  VerifyReport& report_;
  bool pair_;
  bool held_ = false, never_held_ = false;
};

/// That a point's parameters give its stance, by the model's definition.
class ParameterJudge {
 public:
  ParameterJudge(const io::KeptVerdicts& kept, VerifyReport& report)
      : kept_(kept), report_(report) {
    for (const models::StanceModel& model : models::stances()) {
      if (model.name == kept.model) model_ = &model;
    }
  }

  void judge() {
    if (kept_.parameters.empty()) return;  // HDF5: among the fields that are left out
    for (std::size_t i = 0; i < kept_.points.size(); ++i) {
      if (model_ != nullptr) {
        report_.add("parameters", i, reason(i));
      } else if (!kept_.parameters[i].empty()) {
        report_.add("parameters", Judgement::unjudged);
        report_.leave_out("points.parameters of stances of no model");
      }
    }
    if (model_ == nullptr) report_.leave_out("model");
  }

 private:
  [[nodiscard]] std::string reason(std::size_t i) const {
    std::vector<double> values;
    for (const auto& parameter : model_->parameters) values.push_back(parameter.value);
    for (const auto& given : kept_.parameters[i]) {
      const auto found =
          std::find_if(model_->parameters.begin(), model_->parameters.end(),
                       [&](const auto& parameter) { return parameter.name == given.first; });
      if (found == model_->parameters.end()) {
        return fmt::format("{} has no {}", model_->name, given.first);
      }
      values[static_cast<std::size_t>(found - model_->parameters.begin())] = given.second;
    }
    try {
      const Stance own = models::stance_of(*model_, values);
      const Stance& said = kept_.points[i].stance;
      const bool same = own.contacts.size() == said.contacts.size() && own.force == said.force &&
                        own.angle == said.angle && own.torque == said.torque &&
                        std::equal(own.contacts.begin(), own.contacts.end(), said.contacts.begin(),
                                   [](const StanceContact& a, const StanceContact& b) {
                                     return a.l == b.l && a.h == b.h && a.slope == b.slope &&
                                            a.friction == b.friction &&
                                            a.restitution == b.restitution;
                                   });
      return same ? "" : "the model makes another stance of them";
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  const io::KeptVerdicts& kept_;
  VerifyReport& report_;
  const models::StanceModel* model_ = nullptr;
};

}  // namespace

VerifyReport verify_stability(const std::string& file) {
  const io::KeptVerdicts kept = io::read_kept_verdicts(file);
  VerifyReport report{"stability", "points", kept.points.size(), {}, {}, {}};
  for (const StabilityVerdict claim :
       {StabilityVerdict::stable, StabilityVerdict::unstable, StabilityVerdict::ambiguous}) {
    report.statements.emplace_back(to_string(claim), std::array<std::int64_t, 3>{});
  }
  std::map<std::string, std::int64_t> counts;
  for (std::size_t i = 0; i < kept.points.size(); ++i) {
    PointJudge(kept.points[i], i, report).judge();
    ++counts[std::string(to_string(kept.points[i].verdict))];
  }
  for (const auto& [word, count] : kept.counts) {
    if (counts[word] == count) continue;
    report.refute(0, fmt::format("verdicts: {} is {}: {} points are", word, count, counts[word]));
  }
  for (const auto& [word, count] : counts) {
    if (!kept.counts.empty() && count > 0 && kept.counts.count(word) == 0) {
      report.refute(0, fmt::format("verdicts: {} is missing", word));
    }
  }
  ParameterJudge(kept, report).judge();
  for (const std::string& field : kept.other_fields) report.leave_out(field);
  return report;
}

}  // namespace carom::cli
