#include "io/enclosure_kept.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>

#include <carom/error.hpp>

#include "core/words.hpp"
#include "io/file_words.hpp"
#include "io/hdf5_file.hpp"
#include "io/impact_input.hpp"
#include "io/impact_kept.hpp"
#include "io/json_file.hpp"
#include "io/other_fields.hpp"
#include "io/problem_file.hpp"

namespace carom::io {

namespace {

std::vector<double> part(const std::vector<double>& bounds, std::size_t at, std::size_t count) {
  const auto first = bounds.begin() + static_cast<std::ptrdiff_t>(at);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

/// Vertices of all modes, each with its own.
template <class Refuse>
void read_vertices(const Hdf5Reader& reader, const std::string& place, std::size_t rows,
                   ImpactEnclosure& set, Refuse&& refuse) {
  const std::vector<double> vertices = reader.doubles(place + "/vertices");
  const std::vector<std::int64_t> modes = reader.integers(place + "/vertex_modes");
  if (vertices.size() != modes.size() * rows) {
    refuse(
        fmt::format("vertices has {} numbers: must have {}", vertices.size(), modes.size() * rows));
  }
  for (std::size_t i = 0; i < modes.size(); ++i) {
    const auto code = static_cast<std::uint64_t>(modes[i]);
    const auto found =
        std::find_if(set.modes.begin(), set.modes.end(),
                     [code](const EnclosedMode& mode) { return mode.modes == code; });
    EnclosedMode& mode =
        found != set.modes.end() ? *found : set.modes.emplace_back(EnclosedMode{code, {}, {}});
    const std::vector<double> vertex = part(vertices, i * rows, rows);
    mode.vertices.insert(mode.vertices.end(), vertex.begin(), vertex.end());
  }
}

/// The code of an outcome in words; none where no outcome has them.
std::optional<std::uint64_t> code_of(const std::string& words, const ImpactProblem& problem) {
  const int contacts = problem.contacts, dimension = problem.dimension;
  std::uint64_t modes = 0;
  std::istringstream in(words);
  std::string word;
  for (int i = 0; i < std::min(contacts, kMaxModeContacts) && std::getline(in, word, '/'); ++i) {
    std::uint64_t mode = 0;
    while (mode < 3 && mode_words(mode, 1, dimension) != word) ++mode;
    modes |= mode << (2 * i);
  }
  if (mode_words(modes, contacts, dimension) != words) return std::nullopt;
  return modes;
}

KeptEnclosure kept_from(const Hdf5Reader& reader, const std::string& group,
                        const std::string& file) {
  const auto refuse = [&](const std::string& what) {
    throw InvalidInput(fmt::format("{}: {}: {}", file, group, what));
  };
  KeptEnclosure kept;
  kept.problem = kept_problem(reader, group, file);
  kept.problem.name = reader.text_attribute(group, "name");
  if (reader.has(group + "/problem/contact_names")) {
    kept.contact_names = reader.strings(group + "/problem/contact_names");
  }
  const auto m = static_cast<std::size_t>(kept.problem.contacts);
  const std::size_t rows = m * static_cast<std::size_t>(kept.problem.dimension);

  const std::string place = group + "/enclosure";
  const std::string where = fmt::format("{}: {}", file, group);
  kept.set.status =
      word_of<EnclosureStatus>(reader.text_attribute(place, "status"), "status", where);
  if (reader.has_attribute(place, "law")) {
    kept.set.law = word_of<RestitutionLaw>(reader.text_attribute(place, "law"), "law", where);
  }
  const std::vector<double> bounds = reader.doubles(place + "/bounds");
  if (bounds.size() != 2 * rows) {
    refuse(fmt::format("bounds has {} numbers: must have {}", bounds.size(), 2 * rows));
  }
  kept.set.normal_velocity_min = part(bounds, 0, m);
  kept.set.tangent_velocity_min = part(bounds, m, rows - m);
  kept.set.normal_velocity_max = part(bounds, rows, m);
  kept.set.tangent_velocity_max = part(bounds, rows + m, rows - m);
  for (const std::int64_t modes : reader.integers(place + "/impossible_modes")) {
    kept.set.impossible_modes.push_back(static_cast<std::uint64_t>(modes));
  }
  if (reader.has(place + "/modes_within_tolerance")) {
    kept.within_tolerance.emplace();
    for (const std::int64_t modes : reader.integers(place + "/modes_within_tolerance")) {
      kept.within_tolerance->push_back(static_cast<std::uint64_t>(modes));
    }
    kept.mode_tolerance = reader.number_attribute("/", "mode_tolerance");
    for (const std::string& words : reader.strings(group + "/mode_counts/modes")) {
      const std::optional<std::uint64_t> code = code_of(words, kept.problem);
      if (!code) refuse(fmt::format("mode_counts has {}: no outcome", words));
      kept.sampled_modes.push_back(*code);
    }
  }
  read_vertices(reader, place, rows, kept.set, refuse);
  kept.set.faces = static_cast<std::int64_t>(reader.number_attribute(place, "faces"));
  if (reader.has_attribute(place, "data_rounding")) {
    kept.data_rounding = reader.number_attribute(place, "data_rounding");
  }
  const std::vector<std::string> invariant = reader.strings(place + "/invariant");
  if (invariant.size() != 1) refuse("invariant must be one text");
  kept.set.invariant = invariant.front();
  return kept;
}

KeptEnclosures enclosures_of_hdf5(const std::filesystem::path& file) {
  const Hdf5Reader reader(file);
  const std::vector<std::string> names = reader.names();
  KeptEnclosures kept;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string group = fmt::format("/impact_{}", i);
    if (!reader.has(group)) break;
    if (reader.has(group + "/enclosure")) {
      kept.sets.push_back(kept_from(reader, group, file.string()));
    }
  }
  static constexpr std::string_view kJudged[] = {
      "/impact_*/enclosure/bounds",
      "/impact_*/enclosure/vertices",
      "/impact_*/enclosure/vertex_modes",
      "/impact_*/enclosure/impossible_modes",
      "/impact_*/enclosure/modes_within_tolerance",
      "/impact_*/enclosure/invariant",
      "/impact_*/enclosure@status",
      "/impact_*/enclosure@faces",
      "/impact_*/problem/mass_matrix",
      "/impact_*/enclosure@data_rounding",
      "/impact_*/problem/normal_jacobian",
      "/impact_*/problem/tangent_jacobian",
      "/impact_*/problem/friction",
      "/impact_*/problem/velocity",
      "/impact_*/problem/restitution",
      "/impact_*/enclosure@law",
  };
  kept.other_fields = other_hdf5_fields(reader, kJudged);
  return kept;
}

using nlohmann::json;

/// One run's document or a list of them.
std::vector<const json*> run_documents(const json& root) {
  std::vector<const json*> runs;
  if (!root.is_array()) return {&root};
  for (const json& run : root) runs.push_back(&run);
  return runs;
}

bool has_enclosure(const json& run) {
  return run.is_object() && run.contains("enclosure") && run["enclosure"].is_object();
}

std::uint64_t required_code(const json& words, const ImpactProblem& problem, const char* key,
                            const std::string& where) {
  const std::optional<std::uint64_t> code =
      words.is_string() ? code_of(words.get<std::string>(), problem) : std::nullopt;
  if (code) return *code;
  throw InvalidInput(fmt::format("{}: {} has {}: no outcome of {} contacts", where, key,
                                 shown(words), problem.contacts));
}

const json& required_list(const json& object, const char* key, const std::string& where) {
  const json& list = required(object, key, where);
  if (!list.is_array()) {
    throw InvalidInput(fmt::format("{}: {} is {}: must be a list", where, key, shown(list)));
  }
  return list;
}

std::int64_t integer_in(const json& object, const char* key, const std::string& where) {
  const json& value = required(object, key, where);
  if (!value.is_number_integer()) {
    throw InvalidInput(
        fmt::format("{}: {} is {}: must be a whole number", where, key, shown(value)));
  }
  return value.get<std::int64_t>();
}

void read_modes(const json& set, const std::string& where, KeptEnclosure& kept) {
  const int contacts = kept.problem.contacts;
  const json& modes = required_list(set, "modes", where);
  for (std::size_t i = 0; i < modes.size(); ++i) {
    const std::string place = fmt::format("{}: modes[{}]", where, i);
    const json& entry = modes[i];
    if (!entry.is_object()) throw InvalidInput(place + ": must be an object");
    EnclosedMode mode;
    mode.modes = required_code(required(entry, "modes", place), kept.problem, "modes", place);
    const auto columns = 2 * contacts;
    for (const auto& [key, width, to] :
         {std::tuple{"vertices", columns, &mode.vertices},
          std::tuple{"constraints", columns + 1, &mode.constraints}}) {
      const Matrix matrix = read_matrix(entry, key, place);
      if (matrix.rows > 0 && matrix.columns != width) {
        throw InvalidInput(
            fmt::format("{}: {} has {} columns: must have {}", place, key, matrix.columns, width));
      }
      *to = matrix.values;
    }
    kept.sampled.emplace_back(entry["modes"].get<std::string>(),
                              integer_in(entry, "sampled", place));
    kept.set.modes.push_back(std::move(mode));
  }
  for (const json& words : required_list(set, "impossible_modes", where)) {
    kept.set.impossible_modes.push_back(
        required_code(words, kept.problem, "impossible_modes", where));
  }
}

/// Which outcomes samples have by mode_tolerance only, and by what this is decided.
void read_within_tolerance(const json& set, const std::string& where, KeptEnclosure& kept) {
  if (!set.contains("mode_tolerance") && !set.contains("modes_within_tolerance")) return;
  kept.mode_tolerance = read_number(set, "mode_tolerance", where);
  kept.within_tolerance.emplace();
  for (const json& entry : required_list(set, "modes_within_tolerance", where)) {
    const std::string place = where + ": modes_within_tolerance";
    if (!entry.is_object()) throw InvalidInput(place + ": must be a list of objects");
    kept.within_tolerance->push_back(
        required_code(required(entry, "modes", place), kept.problem, "modes", place));
    kept.sampled.emplace_back(entry["modes"].get<std::string>(),
                              integer_in(entry, "sampled", place));
  }
  for (const auto& [words, count] : kept.mode_counts) {
    kept.sampled_modes.push_back(required_code(words, kept.problem, "mode_counts", where));
  }
}

KeptEnclosure enclosure_from(const json& run, const std::string& file, std::size_t index) {
  const json& set = run["enclosure"];
  const std::string where = fmt::format("{}: enclosure {}", file, index);
  KeptEnclosure kept;
  const NamedImpact problem =
      impact_problem_from_json(required(set, "problem", where), file, index);
  kept.problem = problem;
  kept.contact_names = problem.contact_names;
  const int m = kept.problem.contacts;
  kept.set.status = word_of<EnclosureStatus>(read_text(set, "status", where), "status", where);
  if (set.contains("law")) {
    kept.set.law = word_of<RestitutionLaw>(read_text(set, "law", where), "law", where);
  }
  if (set.contains("never")) {
    for (const json& entry : required_list(set, "never", where)) {
      const std::string place = where + ": never";
      if (!entry.is_object()) throw InvalidInput(place + ": must be a list of objects");
      kept.never.push_back({read_text(entry, "event", place), read_text(entry, "answer", place)});
    }
  }
  const EnclosureStatus status = kept.set.status;
  if (status != EnclosureStatus::enclosed && status != EnclosureStatus::outer) return kept;
  const auto count = static_cast<std::size_t>(m);
  const auto bounds = [&](const json& from, const char* key, std::size_t each) {
    return read_numbers(from, key, each * count, each == 1 ? "one per contact" : "two per contact",
                        where);
  };
  const std::size_t tangents = static_cast<std::size_t>(kept.problem.dimension) - 1;
  kept.set.normal_velocity_min = bounds(set, "normal_velocity_min", 1);
  kept.set.normal_velocity_max = bounds(set, "normal_velocity_max", 1);
  kept.set.tangent_velocity_min = bounds(set, "tangent_velocity_min", tangents);
  kept.set.tangent_velocity_max = bounds(set, "tangent_velocity_max", tangents);
  read_modes(set, where, kept);
  kept.set.faces = integer_in(set, "faces", where);
  if (set.contains("followed")) {  // since then
    kept.data_rounding = read_number(set, "data_rounding", where);
  }
  kept.set.invariant = read_text(set, "invariant", where);
  kept.filled = read_number(set, "filled", where);
  const json& counts = required(run, "mode_counts", where);
  if (!counts.is_object()) throw InvalidInput(where + ": mode_counts must be an object");
  for (const auto& [words, samples] : counts.items()) {
    kept.mode_counts[words] = integer_in(counts, words.c_str(), where + ": mode_counts");
  }
  read_within_tolerance(set, where, kept);
  if (integer_in(run, "terminated", where) > 0) {
    for (const char* side : {"min", "max"}) {
      std::vector<double>& to = side[1] == 'i' ? kept.sampled_low : kept.sampled_high;
      to = bounds(run, fmt::format("normal_velocity_{}", side).c_str(), 1);
      const auto slip = bounds(run, fmt::format("tangent_velocity_{}", side).c_str(), tangents);
      to.insert(to.end(), slip.begin(), slip.end());
    }
  }
  return kept;
}

KeptEnclosures enclosures_of_json(const std::filesystem::path& file) {
  const JsonDocument parsed(file);
  static constexpr std::string_view kJudged[] = {
      "enclosure.status",
      "enclosure.law",
      "enclosure.faces",
      "enclosure.data_rounding",
      "enclosure.normal_velocity_min",
      "enclosure.normal_velocity_max",
      "enclosure.tangent_velocity_min",
      "enclosure.tangent_velocity_max",
      "enclosure.modes.modes",
      "enclosure.modes.sampled",
      "enclosure.modes.vertices",
      "enclosure.modes.constraints",
      "enclosure.impossible_modes",
      "enclosure.modes_within_tolerance.modes",
      "enclosure.modes_within_tolerance.sampled",
      "enclosure.filled",
      "enclosure.never.event",
      "enclosure.never.answer",
      "enclosure.problem.mass_matrix",
      "enclosure.problem.normal_jacobian",
      "enclosure.problem.tangent_jacobian",
      "enclosure.problem.friction",
      "enclosure.problem.restitution",
      "enclosure.problem.velocity",
      "enclosure.problem.contact_names",
      "enclosure.invariant",
  };
  KeptEnclosures kept;
  for (const json* run : run_documents(parsed.root())) {
    if (!has_enclosure(*run)) continue;
    kept.sets.push_back(enclosure_from(*run, file.string(), kept.sets.size()));
    add_other_json_fields(*run, kJudged, kept.other_fields);
  }
  return kept;
}

bool json_holds_enclosures(const std::filesystem::path& file) {
  try {
    const JsonDocument parsed(file);
    const std::vector<const json*> runs = run_documents(parsed.root());
    return std::any_of(runs.begin(), runs.end(),
                       [](const json* run) { return has_enclosure(*run); });
  } catch (const InvalidInput&) {
    return false;  // whoever reads it says what is wrong
  }
}

}  // namespace

bool holds_enclosures(const std::filesystem::path& file) {
  if (!Hdf5Reader::is_hdf5(file)) return json_holds_enclosures(file);
  if (!hdf5_available()) return false;
  const Hdf5Reader reader(file);
  return reader.has_attribute("/", "enclosures");
}

KeptEnclosures read_kept_enclosures(const std::filesystem::path& file) {
  return read_either(file, enclosures_of_hdf5, enclosures_of_json);
}

}  // namespace carom::io
