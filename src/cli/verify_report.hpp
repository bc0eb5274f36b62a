#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/text_options.hpp"

namespace carom::cli {

enum class Judgement { proven, refuted, unjudged };

/// A statement of a file that is not true, or not what its proof says.
struct Refutation {
  std::string thing;      ///< "enclosure", "path", "problem", "point" or "answer"
  std::size_t index = 0;  ///< of it, in the order of the file
  std::string reason;
};

/// What `carom verify` found of one file.
struct VerifyReport {
  std::string kind;    ///< enclosure, impact, stability or solve
  std::string things;  ///< "enclosures", "problems", "points", "answers"
  std::size_t count = 0;
  /// Counts of what was said, by its word, in the order of Judgement.
  std::vector<std::pair<std::string, std::array<std::int64_t, 3>>> statements;
  std::vector<Refutation> refuted;      ///< in the order of the file
  std::vector<std::string> not_judged;  ///< names of fields, each once

  void add(std::string_view statement, Judgement judgement);
  /// The same, and why where it is refuted: reason, none where it is empty.
  void add(std::string_view statement, std::size_t index, const std::string& reason);
  void refute(std::size_t index, std::string reason) {
    refuted.push_back({things.substr(0, things.size() - 1), index, std::move(reason)});
  }
  void leave_out(const std::string& field);
  /// What another judge found of the same file: not judged is then what neither judges.
  void join(const VerifyReport& other);
};

/// Prints a report; exit status of the command.
int print_report(const std::string& file, const VerifyReport& report, const TextOptions& text);

}  // namespace carom::cli
