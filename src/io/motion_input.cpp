#include "io/motion_input.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <type_traits>

#include "io/motion_tree_input.hpp"
#include "io/problem_file.hpp"

namespace carom::io {

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 11> kMotionKeys = {"name",
                                                          "model",
                                                          "set",
                                                          "mechanism",
                                                          "position",
                                                          "velocity",
                                                          "position_spread",
                                                          "velocity_spread",
                                                          "duration",
                                                          "step_size",
                                                          "coefficient"};
constexpr std::array<std::string_view, 2> kPolicyKeys = {"interval", "drive"};

void read_vector(const json& object, const char* key, const std::string& where, std::size_t count,
                 std::vector<double>& to) {
  if (!object.contains(key)) return;
  std::vector<double> values = read_numbers(object, key, where);
  if (values.size() != count) {
    throw InvalidInput(
        fmt::format("{}: {} has {} numbers: must have {}", where, key, values.size(), count));
  }
  to = std::move(values);
}

/// Names of a tree's coordinates and contacts.
template <class Tree>
models::MotionModel model_of(const Tree& tree) {
  constexpr bool kSpatial = std::is_same_v<Tree, SpatialTree>;
  models::MotionModel model;
  model.name = tree.name;
  model.summary = "own mechanism";
  model.dimension = kSpatial ? 3 : 2;
  if (tree.floating) {
    model.positions = {"x", "y"};
    model.velocities = {"vx", "vy"};
  }
  if (tree.floating && kSpatial) {
    model.positions = {"x", "y", "z", "qw", "qx", "qy", "qz"};
    model.velocities = {"vx", "vy", "vz", "wx", "wy", "wz"};
  }
  for (std::size_t i = tree.floating && kSpatial ? 1 : 0; i < tree.links.size(); ++i) {
    model.positions.push_back(tree.links[i].name);
    model.velocities.push_back(tree.links[i].name + " rate");
  }
  for (std::size_t i = 0; i < tree.contacts.size(); ++i) {
    const std::string& name = tree.contacts[i].name;
    model.contact_names.push_back(name.empty() ? fmt::format("{}", i + 1) : name);
  }
  return model;
}

run::MotionTask own_motion(const json& object, const std::string& name, const std::string& where) {
  for (const char* key : {"model", "set"}) {
    if (!object.contains(key)) continue;
    throw InvalidInput(fmt::format("{}: {} and mechanism: leave one out", where, key));
  }
  const json& mechanism = object["mechanism"];
  const std::string place = where + ": mechanism";
  const std::vector<double> position = read_numbers(object, "position", where);
  const std::vector<double> velocity = object.contains("velocity")
                                           ? read_numbers(object, "velocity", where)
                                           : std::vector<double>(position.size(), 0.0);
  run::MotionTask task;
  const auto start = [&](const auto& tree) {
    task.model = model_of(tree);
    try {
      task.problem = motion_problem(tree, position, velocity);
    } catch (const InvalidInput& error) {
      throw error.with_source(where);
    }
  };
  if (tree_dimension(mechanism, place) == 2) {
    start(tree_from_json(mechanism, name, place));
  } else {
    start(spatial_tree_from_json(mechanism, name, place));
  }
  return task;
}

run::MotionTask model_motion(const json& object, const std::string& name,
                             const std::string& where) {
  run::MotionTask task;
  if (object.contains("set")) {
    const json& set = object["set"];
    if (!set.is_object()) {
      throw InvalidInput(fmt::format("{}: set is {}: must be an object", where, shown(set)));
    }
    for (const auto& [key, value] : set.items()) {
      task.set[key] = read_number(set, key.c_str(), where + ": set");
    }
  }
  const std::string model = read_text(object, "model", where);
  try {
    task.model = models::find_motion(model);
    task.problem = models::build_motion(model, task.set);
  } catch (const InvalidInput& error) {
    throw error.with_source(where);
  }
  if (!name.empty()) task.problem.name = name;
  const std::size_t nq = task.problem.position.size();
  read_vector(object, "position", where, nq, task.problem.position);
  read_vector(object, "velocity", where, task.problem.velocity.size(), task.problem.velocity);
  return task;
}

run::MotionTask motion_from_json(const json& object, const std::string& file, std::size_t index) {
  std::string name;
  const std::string where = begin_entry(object, kMotionKeys, file, "motion", index, name);
  run::MotionTask task = object.contains("mechanism") ? own_motion(object, name, where)
                                                      : model_motion(object, name, where);
  MotionProblem& problem = task.problem;
  read_vector(object, "position_spread", where, problem.position.size(), problem.position_spread);
  read_vector(object, "velocity_spread", where, problem.velocity.size(), problem.velocity_spread);
  const auto number = [&](const char* key, double& value) {
    if (object.contains(key)) value = read_number(object, key, where);
  };
  number("duration", task.model.duration);
  number("step_size", task.step_size);
  number("coefficient", task.model.coefficient);
  return task;
}

}  // namespace

std::vector<run::MotionTask> read_motions(const std::filesystem::path& file) {
  const auto no_hdf5 = [](const std::filesystem::path& path) -> std::vector<run::MotionTask> {
    throw InvalidInput(path.string() +
                       ": is HDF5, but no output of carom motion: motions are read from JSON");
  };
  auto tasks = read_either(file, no_hdf5, [](const std::filesystem::path& path) {
    return read_json_entries(path, motion_from_json);
  });
  check_entries(file, tasks, "motion", [](const run::MotionTask& task, std::size_t index) {
    try {
      validate(make_batch({&task.problem, 1}));
    } catch (const InvalidInput& error) {
      throw error.with_problem(static_cast<std::int64_t>(index));
    }
  });
  return tasks;
}

void read_policy(const std::filesystem::path& file, MotionProblem& problem) {
  const JsonDocument document(file);
  const json& root = document.root();
  const std::string where = file.string();
  if (!root.is_object()) throw InvalidInput(where + ": must be an object");
  require_known_keys(root, kPolicyKeys, where);
  problem.drive_interval = read_number(root, "interval", where);
  if (!(problem.drive_interval > 0.0)) {
    throw InvalidInput(
        fmt::format("{}: interval is {}: must be > 0", where, problem.drive_interval));
  }
  const Matrix drive = read_matrix(root, "drive", where);
  const int nv = static_cast<int>(problem.velocity.size());
  if (drive.rows == 0 || drive.columns != nv) {
    throw InvalidInput(fmt::format("{}: drive has {} rows of {} numbers: must have rows of {}",
                                   where, drive.rows, drive.rows == 0 ? 0 : drive.columns, nv));
  }
  problem.drive = drive.values;
}

}  // namespace carom::io
