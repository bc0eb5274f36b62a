#include "io/answers_kept.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include <carom/error.hpp>

#include "core/words.hpp"
#include "io/case_file.hpp"
#include "io/hdf5_file.hpp"
#include "io/json_file.hpp"
#include "io/other_fields.hpp"
#include "io/problem_file.hpp"

namespace carom::io {

namespace {

using nlohmann::json;

constexpr std::string_view kNumbers[] = {
    "x",   "w",         "dual", "reduced_costs", "cone_dual", "farkas",      "point",
    "ray", "direction", "face", "limit",         "tree",      "leaf_farkas", "bound"};

bool is_answer(const json& entry) {
  return entry.is_object() && entry.contains("kind") && entry.contains("status") &&
         entry.contains("iterations") && entry["kind"] != "stability";
}

/// A list of numbers; of a tree's lists those of all rows.
std::vector<double> numbers_of(const json& entry, const std::string& name,
                               const std::string& where) {
  const json& value = entry[name];
  if (!value.is_array() || value.empty() || !value[0].is_array()) {
    return read_numbers(entry, name.c_str(), where);
  }
  const Matrix matrix = read_matrix(entry, name.c_str(), where);
  return matrix.values;
}

KeptCaseAnswer answer_from(const json& entry, const std::string& where) {
  if (!entry.is_object()) throw InvalidInput(where + ": must be an object");
  KeptCaseAnswer answer;
  answer.name = read_text(entry, "name", where);
  answer.kind = read_text(entry, "kind", where);
  answer.status = read_text(entry, "status", where);
  if (entry.contains("objective") && !entry["objective"].is_null()) {
    answer.objective = read_number(entry, "objective", where);
  }
  for (const std::string_view key : kNumbers) {
    const std::string name(key);
    if (name == "bound" && entry.contains("tree")) {  // null: without one
      answer.numbers[name] = {
          entry.contains(name) && entry[name].is_number() ? entry[name].get<double>() : INFINITY};
      continue;
    }
    if (!entry.contains(name) || entry[name].is_null()) continue;
    answer.numbers[name] = numbers_of(entry, name, where);
  }
  return answer;
}

KeptCaseAnswers answers_of_json(const std::filesystem::path& file) {
  const JsonDocument parsed(file);
  const json& root = parsed.root();
  static constexpr std::string_view kJudged[] = {
      "kind",   "status", "objective", "x",           "w",         "dual",
      "farkas", "point",  "ray",       "direction",   "cone_dual", "reduced_costs",
      "face",   "limit",  "tree",      "leaf_farkas", "bound"};
  KeptCaseAnswers kept;
  const auto add = [&](const json& entry, const std::string& where) {
    kept.answers.push_back(answer_from(entry, where));
    add_other_json_fields(entry, kJudged, kept.other_fields);
  };
  if (!root.is_array()) {
    add(root, file.string());
    return kept;
  }
  for (std::size_t i = 0; i < root.size(); ++i) {
    add(root[i], fmt::format("{}: answer {}", file.string(), i));
  }
  return kept;
}

/// The answers of one group of problems of one shape.
class AnswerGroup {
 public:
  AnswerGroup(const Hdf5Reader& reader, std::string file, std::string group)
      : reader_(reader), file_(std::move(file)), group_(std::move(group)) {}

  [[nodiscard]] std::vector<KeptCaseAnswer> read() const {
    const std::vector<std::int64_t> codes = reader_.integers(at("answer/status"));
    const std::vector<std::string> names = reader_.strings(at("problem/name"));
    const std::vector<std::string> kinds = reader_.strings(at("problem/kind"));
    const std::size_t count = codes.size();
    if (names.size() != count || kinds.size() != count) refuse("status", count);
    std::vector<KeptCaseAnswer> answers(count);
    for (std::size_t p = 0; p < count; ++p) {
      answers[p].name = names[p];
      answers[p].kind = kinds[p];
      answers[p].status = fmt::format("code {}", codes[p]);
      for (const auto& [value, word] : words<Status>) {
        if (codes[p] == static_cast<std::int64_t>(value)) answers[p].status = word;
      }
    }
    if (reader_.has(at("answer/objective"))) {
      const std::vector<double> objective = rows("objective", count);
      for (std::size_t p = 0; p < count; ++p) {
        if (!std::isnan(objective[p])) answers[p].objective = objective[p];
      }
    }
    for (const std::string_view key : kNumbers) {
      const std::string name(key);
      if (!reader_.has(at("answer/" + name))) continue;
      const std::vector<double> values = rows(name, count);
      const std::size_t width = values.size() / count;
      for (std::size_t p = 0; p < count; ++p) {
        std::vector<double> row = part(values, p * width, width);
        const bool none =
            std::all_of(row.begin(), row.end(), [](double v) { return std::isnan(v); });
        if (name == "tree" || name == "leaf_farkas") {  // shorter than the longest of its group
          while (!row.empty() && std::isnan(row.back())) row.pop_back();
        }
        if (!none) answers[p].numbers[name] = std::move(row);
      }
    }
    return answers;
  }

 private:
  [[nodiscard]] std::string at(const std::string& path) const { return group_ + "/" + path; }
  [[noreturn]] void refuse(const std::string& name, std::size_t count) const {
    throw InvalidInput(
        fmt::format("{}: {} does not fit {} problems", file_, at("answer/" + name), count));
  }
  [[nodiscard]] std::vector<double> rows(const std::string& name, std::size_t count) const {
    std::vector<double> values = reader_.doubles(at("answer/" + name));
    if (count == 0 || values.size() % count != 0) refuse(name, count);
    return values;
  }

  const Hdf5Reader& reader_;
  std::string file_, group_;
};

KeptCaseAnswers answers_of_hdf5(const std::filesystem::path& file) {
  KeptCaseAnswers kept;
  kept.problems = read_cases(file);
  const Hdf5Reader reader(file);
  kept.answers.resize(kept.problems->size());
  for (int g = 0; reader.has(fmt::format("/problems_{}", g)); ++g) {
    const std::string group = fmt::format("/problems_{}", g);
    std::vector<KeptCaseAnswer> own = AnswerGroup(reader, file.string(), group).read();
    // read_cases found that these number the problems
    const std::vector<std::int64_t> places = reader.integers(group + "/index");
    if (places.size() != own.size()) {
      throw InvalidInput(fmt::format("{}: {}/answer has {} problems, index has {}", file.string(),
                                     group, own.size(), places.size()));
    }
    for (std::size_t p = 0; p < own.size(); ++p) {
      kept.answers[static_cast<std::size_t>(places[p])] = std::move(own[p]);
    }
  }
  std::vector<std::string> judged = {"/problems_*/index", "/problems_*/answer/status",
                                     "/problems_*/answer/objective"};
  for (const std::string_view key : kNumbers) {
    judged.push_back("/problems_*/answer/" + std::string(key));
  }
  for (const char* key :
       {"kind",         "M",     "q",      "c",  "A",   "row_lower", "row_upper", "col_lower",
        "col_upper",    "sense", "offset", "P",  "l",   "u",         "b",         "cone_kinds",
        "cone_sizes",   "r",     "W",      "mu", "dim", "lo",        "hi",        "findex",
        "friction_law", "B",     "C",      "D",  "a"}) {
    judged.push_back("/problems_*/problem/" + std::string(key));
  }
  const std::vector<std::string_view> names(judged.begin(), judged.end());
  kept.other_fields = other_hdf5_fields(reader, names);
  return kept;
}

}  // namespace

bool holds_case_answers(const std::filesystem::path& file) {
  if (Hdf5Reader::is_hdf5(file)) {
    return hdf5_available() && Hdf5Reader(file).has("/problems_0/answer/status");
  }
  try {
    const JsonDocument parsed(file);
    const json& root = parsed.root();
    return is_answer(root.is_array() && !root.empty() ? root[0] : root);
  } catch (const InvalidInput&) {
    return false;  // whoever reads it says what is wrong
  }
}

KeptCaseAnswers read_case_answers(const std::filesystem::path& file) {
  return read_either(file, answers_of_hdf5, answers_of_json);
}

}  // namespace carom::io
