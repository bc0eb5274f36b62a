#include "io/motion_input.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "io/problem_file.hpp"

namespace carom::io {

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 7> kMotionKeys = {
    "name", "model", "set", "position", "velocity", "position_spread", "velocity_spread"};
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

run::MotionTask motion_from_json(const json& object, const std::string& file, std::size_t index) {
  std::string name;
  const std::string where = begin_entry(object, kMotionKeys, file, "motion", index, name);
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
  MotionProblem& problem = task.problem;
  const std::size_t nq = problem.position.size();
  const std::size_t nv = problem.velocity.size();
  read_vector(object, "position", where, nq, problem.position);
  read_vector(object, "velocity", where, nv, problem.velocity);
  read_vector(object, "position_spread", where, nq, problem.position_spread);
  read_vector(object, "velocity_spread", where, nv, problem.velocity_spread);
  return task;
}

}  // namespace

std::vector<run::MotionTask> read_motions(const std::filesystem::path& file) {
  auto tasks = with_memory_for(file, [&] { return read_json_entries(file, motion_from_json); });
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
