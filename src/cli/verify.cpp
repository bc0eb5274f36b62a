#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <carom/error.hpp>
#include <carom/stability.hpp>

#include "cli/commands.hpp"
#include "cli/json_output.hpp"
#include "cli/table.hpp"
#include "io/enclosure_kept.hpp"
#include "io/stability_kept.hpp"

namespace carom::cli {

namespace {

struct VerifyOptions {
  std::string file;
  bool json = false;
  bool quiet = false;
};

enum class Judgement { proven, refuted, unjudged };

// A replay of the same motion in other arithmetic may differ in its last event, and where impacts
// bounce long before that: it is given more events then.
constexpr double kReplayShare = 0.9;
constexpr std::int64_t kLongerReplay = 8;

Judgement judge(const io::KeptVerdict& kept) {
  const auto of = [](bool proven) { return proven ? Judgement::proven : Judgement::refuted; };
  switch (kept.verdict) {
    case StabilityVerdict::stable:
      if (kept.certificate == CertificateKind::labelled) {
        return of(proves_stable(kept.stance, kept.coefficients));
      }
      return of(kept.certificate != CertificateKind::none &&
                proves_stable(kept.stance, kept.s, kept.kappa));
    case StabilityVerdict::ambiguous: {
      if (kept.stance.contacts.size() != 2) return Judgement::unjudged;
      for (const std::string& word : kept.ambiguous_modes) {
        if (proves_ambiguous(kept.stance, word)) return Judgement::proven;
      }
      return Judgement::refuted;
    }
    case StabilityVerdict::unstable: {
      for (const std::int64_t longer : {std::int64_t{1}, kLongerReplay}) {
        const double growth = replayed_growth(kept.stance, kept.start, longer * kept.events);
        const bool endless = std::isinf(kept.growth) && growth >= 1e300;
        if (endless || (growth > 1.0 && growth >= kReplayShare * kept.growth)) {
          return Judgement::proven;
        }
      }
      return Judgement::refuted;
    }
    default:
      return Judgement::unjudged;
  }
}

int verify_enclosures(const VerifyOptions& options) {
  const std::vector<io::KeptEnclosure> kept = io::read_kept_enclosures(options.file);
  std::vector<std::size_t> refuted;
  std::int64_t proven = 0, unjudged = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const EnclosureStatus status = kept[i].set.status;
    if (status != EnclosureStatus::enclosed && status != EnclosureStatus::outer) {
      ++unjudged;
    } else if (proves_enclosure(kept[i].problem, kept[i].set)) {
      ++proven;
    } else {
      refuted.push_back(i);
    }
  }
  if (options.json) {
    print_document({{"file", options.file},
                    {"kind", "enclosure"},
                    {"proven", proven},
                    {"not_judged", unjudged},
                    {"refuted", refuted}});
  } else if (!options.quiet) {
    fmt::print("{}: {} enclosures\n  proven anew {}, refuted {}, not judged {}\n", options.file,
               kept.size(), proven, refuted.size(), unjudged);
    for (const std::size_t i : refuted) fmt::print("  enclosure {} is refuted\n", i);
  }
  return refuted.empty() ? kSuccess : kUnsuccessful;
}

int run_verify(const VerifyOptions& options) {
  if (io::holds_enclosures(options.file)) return verify_enclosures(options);
  const std::vector<io::KeptVerdict> kept = io::read_kept_verdicts(options.file);
  constexpr StabilityVerdict kClaims[] = {StabilityVerdict::stable, StabilityVerdict::unstable,
                                          StabilityVerdict::ambiguous};
  nlohmann::ordered_json document = {{"file", options.file}, {"kind", "stability"}};
  document["points"] = kept.size();
  std::vector<std::size_t> refuted;
  TextTable table({"verdict", "proven anew", "refuted", "not judged"});
  for (const StabilityVerdict claim : kClaims) {
    std::int64_t counts[3] = {};
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (kept[i].verdict != claim) continue;
      const Judgement judgement = judge(kept[i]);
      ++counts[static_cast<std::size_t>(judgement)];
      if (judgement == Judgement::refuted) refuted.push_back(i);
    }
    const std::string word(to_string(claim));
    document[word] = {{"proven", counts[0]}, {"refuted", counts[1]}, {"not_judged", counts[2]}};
    table.add({word, fmt::format("{}", counts[0]), fmt::format("{}", counts[1]),
               fmt::format("{}", counts[2])});
  }
  document["refuted"] = refuted;
  if (options.json) {
    print_document(document);
  } else if (!options.quiet) {
    fmt::print("{}: {} points\n\n{}", options.file, kept.size(), table.text());
    for (const std::size_t i : refuted) fmt::print("  point {} is refuted\n", i);
  }
  return refuted.empty() ? kSuccess : kUnsuccessful;
}

}  // namespace

void add_verify(Program& program) {
  CLI::App* command = program.app.add_subcommand(
      "verify", "Judge a kept answer's proofs anew, exactly, from its file alone");
  command->footer("Example: carom verify chart.h5");
  const auto options = std::make_shared<VerifyOptions>();
  command
      ->add_option("file", options->file,
                   "What carom stability or carom impact --enclose wrote, by --json or --output")
      ->required()
      ->type_name("FILE");
  command->add_flag("--json", options->json, "One JSON document instead of text");
  command->add_flag("--quiet", options->quiet, "No text: the exit status alone");
  command->callback(
      [&program, options] { program.chosen = [options] { return run_verify(*options); }; });
}

}  // namespace carom::cli
