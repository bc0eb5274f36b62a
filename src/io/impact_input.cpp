#include "io/impact_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <carom/error.hpp>

#include "core/buffer_slice.hpp"
#include "core/words.hpp"
#include "io/hdf5_file.hpp"
#include "io/json_file.hpp"
#include "io/problem_file.hpp"

namespace carom::io {

namespace {

constexpr std::array<std::string_view, 11> kImpactKeys = {
    "name",        "mass_matrix",     "normal_jacobian", "tangent_jacobian", "friction", "velocity",
    "restitution", "restitution_law", "measured",        "contact_names",    "source"};
/// What an HDF5 file may hold.
constexpr std::array<std::string_view, 9> kImpactSets = {
    "name",     "mass_matrix", "normal_jacobian",   "tangent_jacobian",   "restitution",
    "friction", "velocity",    "measured_velocity", "measured_covariance"};
constexpr std::array<std::string_view, 3> kMeasuredKeys = {"velocity", "sigma", "covariance"};
constexpr std::size_t kIntervalEnds = 2;

/// A number, numbers or pairs [low, high], one per contact; `high` is left empty where there are no
/// pairs.
void read_intervals(const nlohmann::json& object, const char* key, int contacts,
                    const std::string& where, std::vector<double>& low, std::vector<double>& high) {
  const nlohmann::json& list = required(object, key, where);
  if (!list.is_array() || list.empty() || !list.front().is_array()) {
    low = read_numbers(object, key, static_cast<std::size_t>(contacts), "one per contact", where);
    return;
  }
  const Matrix pairs = read_matrix(object, key, where);
  if (pairs.rows != contacts || pairs.columns != int{kIntervalEnds}) {
    throw InvalidInput(fmt::format(
        "{}: {} has {} rows of {} numbers: must be {} pairs [low, high], one per contact", where,
        key, pairs.rows, pairs.columns, contacts));
  }
  for (std::size_t i = 0; i < pairs.values.size(); i += kIntervalEnds) {
    low.push_back(pairs.values[i]);
    high.push_back(pairs.values[i + 1]);
  }
}

std::optional<RestitutionLaw> read_law(const nlohmann::json& object, const std::string& where) {
  if (!object.contains("restitution_law")) return std::nullopt;
  const nlohmann::json& word = object["restitution_law"];
  const auto law = word.is_string() ? value_of<RestitutionLaw>(word.get_ref<const std::string&>())
                                    : std::nullopt;
  if (law) return law;
  throw InvalidInput(fmt::format("{}: restitution_law is {}: must be one of {}", where, shown(word),
                                 listed<RestitutionLaw>()));
}

/// A name for every contact, each another; none where the key is missing.
std::vector<std::string> read_contact_names(const nlohmann::json& object, int contacts,
                                            const std::string& where) {
  std::vector<std::string> names;
  if (!object.contains("contact_names")) return names;
  const nlohmann::json& list = object["contact_names"];
  if (!list.is_array() || list.size() != static_cast<std::size_t>(contacts)) {
    throw InvalidInput(fmt::format("{}: contact_names is {}: must be a list of {} texts", where,
                                   shown(list), contacts));
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_string() || list[i].get_ref<const std::string&>().empty() ||
        std::count(list.begin(), list.end(), list[i]) > 1) {
      throw InvalidInput(fmt::format("{}: contact_names[{}] is {}: must be a text that no other is",
                                     where, i, shown(list[i])));
    }
    names.push_back(list[i].get<std::string>());
  }
  return names;
}

/// "measured": {"velocity", and of it "sigma" or "covariance"}.
MeasuredImpactArrays<Values> read_measured(const nlohmann::json& object, int velocities,
                                           const std::string& place) {
  MeasuredImpactArrays<Values> measured;
  if (!object.contains("measured")) return measured;
  const nlohmann::json& given = object["measured"];
  const std::string where = place + ": measured";
  if (!given.is_object()) {
    throw InvalidInput(fmt::format("{} is {}: must be an object", where, shown(given)));
  }
  require_known_keys(given, kMeasuredKeys, where);
  const auto nv = static_cast<std::size_t>(velocities);
  constexpr const char* kWords = "one per velocity";
  measured.measured_velocity = read_numbers(given, "velocity", nv, kWords, where);
  if (given.contains("sigma") && given.contains("covariance")) {
    throw InvalidInput(where + ": has sigma and covariance: give one of them");
  }
  if (given.contains("sigma")) {
    const std::vector<double> sigma = read_numbers(given, "sigma", nv, kWords, where);
    measured.measured_covariance.assign(nv * nv, 0.0);
    for (std::size_t i = 0; i < nv; ++i) {
      if (!(sigma[i] > 0.0)) {
        throw InvalidInput(fmt::format("{}: sigma[{}] is {}: must be > 0", where, i, sigma[i]));
      }
      measured.measured_covariance[i * nv + i] = sigma[i] * sigma[i];
    }
  }
  if (given.contains("covariance")) {
    Matrix covariance = read_matrix(given, "covariance", where);
    if (covariance.rows != velocities || covariance.columns != velocities) {
      throw InvalidInput(fmt::format("{}: covariance is {} by {}: must be {} by {}", where,
                                     covariance.rows, covariance.columns, velocities, velocities));
    }
    measured.measured_covariance = std::move(covariance.values);
  }
  return measured;
}

/// Numbers of a problem of right shapes, and what was measured of it.
void validate_entry(const NamedImpact& problem) {
  validate(problem);
  if (problem.measured.measured_velocity.empty()) return;
  MeasuredImpacts measured;
  measured.measured_velocity = Buffer<double>::from(problem.measured.measured_velocity);
  measured.measured_covariance = Buffer<double>::from(problem.measured.measured_covariance);
  const ImpactProblem& plain = problem;
  try {
    validate(make_batch({&plain, 1}), measured);
  } catch (const InvalidInput& error) {
    Refusal named = error.refusal();
    named.name = problem.name;
    throw InvalidInput(named);
  }
}

// m rows of tangents are planar contacts, 2m spatial ones.
int dimension_from_rows(std::size_t tangent_rows, std::size_t contacts, const std::string& where) {
  if (tangent_rows == contacts) return 2;
  if (tangent_rows == 2 * contacts) return 3;
  throw InvalidInput(fmt::format(
      "{}: tangent_jacobian has {} rows for {} contacts: must have {} (planar) or {} (spatial)",
      where, tangent_rows, contacts, contacts, 2 * contacts));
}

void require_columns(const Matrix& matrix, int velocities, std::string_view key,
                     const std::string& where) {
  if (matrix.rows > 0 && matrix.columns != velocities) {
    throw InvalidInput(fmt::format("{}: {} has {} columns: must have {}, as velocity has", where,
                                   key, matrix.columns, velocities));
  }
}

std::vector<NamedImpact> impacts_from_hdf5(const std::filesystem::path& path) {
  const std::string file = path.string();
  const Hdf5Reader reader(path);
  require_known_sets(reader, kImpactSets, file);
  const auto found = [&](std::string_view name, std::size_t rank) {
    const char* axes = rank == 3 ? "problems, rows, columns" : "problems, numbers";
    return required_shape(reader, name, rank, axes, file);
  };
  const Shape velocity = found("velocity", 2);
  const std::uint64_t count = velocity[0];
  const std::uint64_t contacts = found("normal_jacobian", 3)[1];
  if (velocity[1] == 0) throw InvalidInput(fmt::format("{}: velocity has no columns", file));
  const ImpactSizes sizes{static_cast<std::int64_t>(count),
                          dimension_from_rows(found("tangent_jacobian", 3)[1], contacts, file),
                          static_cast<int>(velocity[1]), static_cast<int>(contacts)};
  ImpactBatchArrays<Values> sets;
  ImpactBatch::each_array(
      sizes,
      [&](const char* name, const Extents& extents, std::vector<double>& values) {
        if (extents.optional() || std::string_view(name) == "friction") return;
        require_shape(found(name, extents.rank()), name, shape_of(extents), file);
        values = reader.doubles(name);
      },
      sets);
  MeasuredImpactArrays<Values> outcomes;
  if (reader.has("measured_covariance")) found("measured_velocity", 2);
  MeasuredImpacts::each_array(
      sizes,
      [&](const char* name, const Extents& extents, std::vector<double>& values) {
        if (!reader.has(name)) return;
        require_shape(found(name, extents.rank()), name, shape_of(extents), file);
        values = reader.doubles(name);
      },
      outcomes);
  // numbers [problems, m], or pairs [problems, m, 2]
  const auto intervals = [&](const char* name, std::vector<double>& low,
                             std::vector<double>& high) {
    const Shape numbers = {count, contacts}, pairs = {count, contacts, kIntervalEnds};
    std::vector<double> values = reader.doubles(name);
    if (reader.shape(name) != pairs) {
      require_shape(reader.shape(name), name, numbers, file);
      low = std::move(values);
      return;
    }
    for (std::size_t i = 0; i < values.size(); i += kIntervalEnds) {
      low.push_back(values[i]);
      high.push_back(values[i + 1]);
    }
  };
  if (!reader.has("friction")) found("friction", 2);
  intervals("friction", sets.friction, sets.friction_high);
  if (reader.has("restitution")) {
    intervals("restitution", sets.restitution_low, sets.restitution_high);
    if (sets.restitution_high.empty()) sets.restitution_high = sets.restitution_low;
  }
  std::optional<RestitutionLaw> law;
  if (reader.has_attribute("/", "restitution_law")) {
    const std::string word = reader.text_attribute("/", "restitution_law");
    law = read_law(nlohmann::json{{"restitution_law", word}}, file);
  }
  const std::vector<std::string> names = read_names(reader, count, "problems", file);

  std::vector<NamedImpact> problems(count);
  for (std::size_t p = 0; p < count; ++p) {
    NamedImpact& problem = problems[p];
    problem.name = names[p];
    problem.law = law;
    problem.dimension = sizes.dimension;
    problem.velocities = sizes.velocities;
    problem.contacts = sizes.contacts;
    const auto own = [p](const char*, const Extents& extents, auto& to, const auto& from) {
      if (from.empty()) return;
      const auto each = static_cast<std::size_t>(extents.stride());
      to = part(from, p * each, each);
    };
    ImpactBatch::each_array(sizes, own, static_cast<ImpactProblem&>(problem), sets);
    MeasuredImpacts::each_array(sizes, own, problem.measured, outcomes);
  }
  return problems;
}

}  // namespace

NamedImpact impact_problem_from_json(const nlohmann::json& object, const std::string& file,
                                     std::size_t index) {
  NamedImpact problem;
  const std::string where = begin_entry(object, kImpactKeys, file, "problem", index, problem.name);
  problem.velocity = read_numbers(object, "velocity", where);
  problem.velocities = static_cast<int>(problem.velocity.size());
  if (problem.velocities == 0) throw InvalidInput(where + ": velocity is empty");

  problem.mass_matrix = read_mass_matrix(object, problem.velocities, where);
  Matrix normal = read_matrix(object, "normal_jacobian", where);
  require_columns(normal, problem.velocities, "normal_jacobian", where);
  problem.contacts = normal.rows;
  Matrix tangent = read_matrix(object, "tangent_jacobian", where);
  require_columns(tangent, problem.velocities, "tangent_jacobian", where);
  problem.dimension = dimension_from_rows(static_cast<std::size_t>(tangent.rows),
                                          static_cast<std::size_t>(normal.rows), where);
  read_intervals(object, "friction", problem.contacts, where, problem.friction,
                 problem.friction_high);
  if (object.contains("restitution")) {
    read_intervals(object, "restitution", problem.contacts, where, problem.restitution_low,
                   problem.restitution_high);
    if (problem.restitution_high.empty()) problem.restitution_high = problem.restitution_low;
  }
  problem.law = read_law(object, where);
  problem.normal_jacobian = std::move(normal.values);
  problem.tangent_jacobian = std::move(tangent.values);
  problem.measured = read_measured(object, problem.velocities, where);
  problem.contact_names = read_contact_names(object, problem.contacts, where);
  if (object.contains("source")) read_text(object, "source", where);
  return problem;
}

std::vector<NamedImpact> read_impact_problems(const std::filesystem::path& file) {
  std::vector<NamedImpact> problems = read_either(file, impacts_from_hdf5, [](const auto& path) {
    return read_json_entries(path, impact_problem_from_json);
  });
  check_entries(file, problems, "problem", [](const NamedImpact& problem, std::size_t i) {
    try {
      validate_entry(problem);
    } catch (const InvalidInput& error) {
      // the library was shown one problem and calls it the first
      throw error.with_problem(static_cast<std::int64_t>(i));
    }
  });
  return problems;
}

}  // namespace carom::io
