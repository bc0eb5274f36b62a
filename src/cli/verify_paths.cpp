#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <vector>

#include "cli/verify_files.hpp"
#include "cli/verify_reasons.hpp"
#include "core/words.hpp"
#include "io/paths_kept.hpp"

namespace carom::cli {

namespace {

/// What the sample's own row says against its path; empty where nothing.
std::string row_reason(const io::KeptPaths& kept, std::size_t path, const exact::KeptPath& rows) {
  const auto nv = static_cast<std::size_t>(kept.problem.velocities);
  for (std::size_t j = 0; j < nv; ++j) {
    const double last = rows.velocity[rows.velocity.size() - nv + j];
    if (kept.outcome[path * nv + j] != last) {
      return fmt::format("samples/velocity[{}] is {}: the path ends with {}", j,
                         kept.outcome[path * nv + j], last);
    }
  }
  return {};
}

}  // namespace

VerifyReport verify_paths(const std::string& file, const TextOptions& text) {
  VerifyReport report{"impact", "paths", 0, {}, {}, {}};
  std::vector<std::string> other_fields;
  for (const io::KeptPaths& kept : io::read_kept_paths(file, other_fields)) {
    std::vector<std::size_t> judged, index_of;
    for (std::size_t i = 0; i + 1 < kept.offset.size(); ++i) {
      const std::size_t index = report.count++;
      const auto rows = kept.offset[i + 1] - kept.offset[i];
      const auto unjudged = [&](const std::string& why) {
        report.add("path", Judgement::unjudged);
        report.leave_out(why);
      };
      const bool row = i < kept.status.size();
      const auto ended = static_cast<std::int64_t>(TrajectoryStatus::terminated);
      if (kept.law != RestitutionLaw::stronge) {
        unjudged(fmt::format("paths by the law of {}", to_string(kept.law)));
      } else if (rows == 0 || (row && kept.status[i] != ended)) {
        unjudged("paths of samples that are no outcomes");
      } else if (row && rows == kept.max_steps + 1 && kept.steps[i] > kept.max_steps) {
        unjudged("paths of more pieces than max_steps");
      } else if (row && kept.steps[i] + 1 != rows) {
        report.add("path", index,
                   fmt::format("has {} pieces: steps is {}", rows - 1, kept.steps[i]));
      } else {
        judged.push_back(i);
        index_of.push_back(index);
      }
    }
    const std::vector<std::string> found = reasons(judged.size(), "paths", text, [&](auto j) {
      const std::size_t i = judged[j];
      const exact::KeptPath path = kept.path(i);
      std::string reason = exact::refutation(path);
      return reason.empty() && i < kept.status.size() ? row_reason(kept, i, path) : reason;
    });
    for (std::size_t j = 0; j < found.size(); ++j) report.add("path", index_of[j], found[j]);
  }
  for (const std::string& field : other_fields) report.leave_out(field);
  return report;
}

}  // namespace carom::cli
