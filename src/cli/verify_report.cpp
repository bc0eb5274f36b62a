#include "cli/verify_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/commands.hpp"
#include "cli/json_output.hpp"
#include "cli/table.hpp"
#include "io/printable.hpp"

namespace carom::cli {

namespace {

constexpr std::size_t kListed = 20;  // refutations; --json lists all

std::vector<std::size_t> refuted_indices(const VerifyReport& report) {
  std::set<std::size_t> indices;
  for (const Refutation& found : report.refuted) indices.insert(found.index);
  return {indices.begin(), indices.end()};
}

void print_json(const std::string& file, const VerifyReport& report) {
  nlohmann::ordered_json document = {
      {"file", file}, {"kind", report.kind}, {report.things, report.count}};
  for (const auto& [word, counts] : report.statements) {
    document[word] = {{"proven", counts[0]}, {"refuted", counts[1]}, {"not_judged", counts[2]}};
  }
  document["refuted"] = refuted_indices(report);
  document["reasons"] = nlohmann::ordered_json::array();
  for (const Refutation& found : report.refuted) {
    document["reasons"].push_back(
        {{"of", found.thing}, {"index", found.index}, {"reason", found.reason}});
  }
  document["not_judged"] = report.not_judged;
  print_document(document);
}

void print_text(const std::string& file, const VerifyReport& report) {
  const std::string thing = report.things.substr(0, report.things.size() - 1);
  fmt::print("{}: {} {}\n\n", io::printable(file), report.count,
             report.count == 1 ? thing : report.things);
  TextTable table({"statement", "proven", "refuted", "not judged"});
  for (const auto& [word, counts] : report.statements) {
    table.add({word, fmt::format("{}", counts[0]), fmt::format("{}", counts[1]),
               fmt::format("{}", counts[2])});
  }
  fmt::print("{}", table.text());
  for (std::size_t i = 0; i < report.refuted.size() && i < kListed; ++i) {
    const Refutation& found = report.refuted[i];
    fmt::print("  refuted: {} {}: {}\n", found.thing, found.index, io::printable(found.reason));
  }
  if (report.refuted.size() > kListed) {
    fmt::print("  and {} more: --json lists all\n", report.refuted.size() - kListed);
  }
  if (report.not_judged.empty()) return;
  std::string line = "  not judged:";
  for (std::size_t i = 0; i < report.not_judged.size(); ++i) {
    const std::string word =
        " " + io::printable(report.not_judged[i]) + (i + 1 < report.not_judged.size() ? "," : "");
    if (line.size() + word.size() > 100) {
      fmt::print("{}\n", line);
      line = "   ";
    }
    line += word;
  }
  fmt::print("{}\n", line);
}

}  // namespace

void VerifyReport::add(std::string_view statement, Judgement judgement) {
  const auto found = std::find_if(statements.begin(), statements.end(),
                                  [&](const auto& entry) { return entry.first == statement; });
  auto& counts =
      found != statements.end()
          ? found->second
          : statements.emplace_back(std::string(statement), std::array<std::int64_t, 3>{}).second;
  ++counts[static_cast<std::size_t>(judgement)];
}

void VerifyReport::add(std::string_view statement, std::size_t index, const std::string& reason) {
  add(statement, reason.empty() ? Judgement::proven : Judgement::refuted);
  if (!reason.empty()) refute(index, fmt::format("{}: {}", statement, reason));
}

void VerifyReport::leave_out(const std::string& field) {
  if (std::find(not_judged.begin(), not_judged.end(), field) == not_judged.end()) {
    not_judged.push_back(field);
  }
}

void VerifyReport::join(const VerifyReport& other) {
  statements.insert(statements.end(), other.statements.begin(), other.statements.end());
  refuted.insert(refuted.end(), other.refuted.begin(), other.refuted.end());
  // words that tell what a judge could not judge are no fields
  const auto is_field = [](const std::string& name) { return name.starts_with('/'); };
  const auto lists = [](const std::vector<std::string>& names, const std::string& field) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return field == name ||
             (field.starts_with(name) && (field[name.size()] == '/' || field[name.size()] == '@'));
    });
  };
  std::vector<std::string> neither;
  const auto keep = [&](const std::vector<std::string>& own,
                        const std::vector<std::string>& others) {
    for (const std::string& name : own) {
      if ((!is_field(name) || lists(others, name)) &&
          std::find(neither.begin(), neither.end(), name) == neither.end()) {
        neither.push_back(name);
      }
    }
  };
  keep(not_judged, other.not_judged);
  keep(other.not_judged, not_judged);
  not_judged = std::move(neither);
}

int print_report(const std::string& file, const VerifyReport& report, const TextOptions& text) {
  if (text.json) {
    print_json(file, report);
  } else if (!text.quiet) {
    print_text(file, report);
  }
  return report.refuted.empty() ? kSuccess : kUnsuccessful;
}

}  // namespace carom::cli
