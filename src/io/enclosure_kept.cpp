#include "io/enclosure_kept.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include <carom/error.hpp>

#include "core/words.hpp"
#include "io/hdf5_file.hpp"
#include "io/impact_input.hpp"
#include "io/json_file.hpp"
#include "io/problem_file.hpp"

namespace carom::io {

namespace {

std::vector<double> part(const std::vector<double>& bounds, std::size_t at, std::size_t count) {
  const auto first = bounds.begin() + static_cast<std::ptrdiff_t>(at);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

KeptEnclosure kept_from(const Hdf5Reader& reader, const std::string& group,
                        const std::string& file) {
  const auto refuse = [&](const std::string& what) {
    throw InvalidInput(fmt::format("{}: {}: {}", file, group, what));
  };
  KeptEnclosure kept;
  ImpactProblem& problem = kept.problem;
  problem.name = reader.text_attribute(group, "name");
  problem.mass_matrix = reader.doubles(group + "/problem/mass_matrix");
  problem.normal_jacobian = reader.doubles(group + "/problem/normal_jacobian");
  problem.tangent_jacobian = reader.doubles(group + "/problem/tangent_jacobian");
  problem.friction = reader.doubles(group + "/problem/friction");
  problem.velocity = reader.doubles(group + "/problem/velocity");
  const std::size_t m = problem.friction.size();
  if (problem.velocity.size() > static_cast<std::size_t>(kMaxVelocities) ||
      m > static_cast<std::size_t>(kMaxContacts)) {
    refuse("has more velocities or contacts than an enclosure");
  }
  problem.velocities = static_cast<int>(problem.velocity.size());
  problem.contacts = static_cast<int>(m);
  const std::size_t tangents = problem.tangent_jacobian.size();
  const std::size_t one_each = m * problem.velocity.size();
  if (tangents != one_each && tangents != 2 * one_each) {
    refuse("tangent_jacobian must have one or two rows for each contact");
  }
  problem.dimension = tangents > one_each ? 3 : 2;
  const std::size_t rows = m * static_cast<std::size_t>(problem.dimension);

  const std::string place = group + "/enclosure";
  const auto status = value_of<EnclosureStatus>(reader.text_attribute(place, "status"));
  if (!status) refuse("status of the enclosure is none of " + listed<EnclosureStatus>());
  kept.set.status = *status;
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
  const std::vector<std::string> invariant = reader.strings(place + "/invariant");
  if (invariant.size() != 1) refuse("invariant must be one text");
  kept.set.invariant = invariant.front();
  return kept;
}

std::vector<KeptEnclosure> enclosures_of_hdf5(const std::filesystem::path& file) {
  const Hdf5Reader reader(file);
  const std::vector<std::string> names = reader.names();
  std::vector<KeptEnclosure> kept;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string group = fmt::format("/impact_{}", i);
    if (!reader.has(group)) break;
    if (reader.has(group + "/enclosure")) kept.push_back(kept_from(reader, group, file.string()));
  }
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

KeptEnclosure enclosure_from(const json& set, const std::string& file, std::size_t index) {
  const std::string where = fmt::format("{}: enclosure {}", file, index);
  KeptEnclosure kept;
  kept.problem = impact_problem_from_json(required(set, "problem", where), file, index);
  const int m = kept.problem.contacts;
  const std::string status = read_text(set, "status", where);
  const auto known = value_of<EnclosureStatus>(status);
  if (!known) {
    throw InvalidInput(fmt::format("{}: status is \"{}\": must be one of {}", where, status,
                                   listed<EnclosureStatus>()));
  }
  kept.set.status = *known;
  if (*known != EnclosureStatus::enclosed && *known != EnclosureStatus::outer) return kept;
  const auto count = static_cast<std::size_t>(m);
  const auto bounds = [&](const char* key, std::size_t each) {
    return read_numbers(set, key, each * count, each == 1 ? "one per contact" : "two per contact",
                        where);
  };
  const std::size_t tangents = static_cast<std::size_t>(kept.problem.dimension) - 1;
  kept.set.normal_velocity_min = bounds("normal_velocity_min", 1);
  kept.set.normal_velocity_max = bounds("normal_velocity_max", 1);
  kept.set.tangent_velocity_min = bounds("tangent_velocity_min", tangents);
  kept.set.tangent_velocity_max = bounds("tangent_velocity_max", tangents);
  for (const json& words : required(set, "impossible_modes", where)) {
    const std::uint64_t combinations =
        m <= kMaxEnclosedContacts ? std::uint64_t{1} << (2 * m) : std::uint64_t{0};
    std::uint64_t modes = 0;
    while (modes < combinations && words != mode_words(modes, m, 2)) ++modes;
    if (modes == combinations) {
      throw InvalidInput(fmt::format("{}: impossible_modes has {}: no outcome of {} contacts",
                                     where, shown(words), m));
    }
    kept.set.impossible_modes.push_back(modes);
  }
  kept.set.invariant = read_text(set, "invariant", where);
  return kept;
}

std::vector<KeptEnclosure> enclosures_of_json(const std::filesystem::path& file) {
  const JsonDocument parsed(file);
  std::vector<KeptEnclosure> kept;
  for (const json* run : run_documents(parsed.root())) {
    if (has_enclosure(*run)) {
      kept.push_back(enclosure_from((*run)["enclosure"], file.string(), kept.size()));
    }
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

std::vector<KeptEnclosure> read_kept_enclosures(const std::filesystem::path& file) {
  return read_either(file, enclosures_of_hdf5, enclosures_of_json);
}

}  // namespace carom::io
