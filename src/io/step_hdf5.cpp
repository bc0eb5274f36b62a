#include "io/step_hdf5.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "io/fields.hpp"
#include "io/hdf5_output.hpp"
#include "io/setting_attributes.hpp"

namespace carom::io {

namespace {

std::uint64_t extent(std::int64_t value) { return static_cast<std::uint64_t>(value); }

void settings_attributes(Hdf5Writer& writer, const CompliantSettings& settings, Backend backend) {
  writer.attribute("/", "backend", carom::to_string(backend));
  write_settings(writer, "/", settings);
}

// Columns [first, first + width) of rows of `whole` numbers.
std::vector<double> columns(const std::vector<double>& values, std::size_t whole, std::size_t first,
                            std::size_t width) {
  std::vector<double> part;
  part.reserve(whole == 0 ? 0 : values.size() / whole * width);
  for (std::size_t at = first; at + width <= values.size(); at += whole) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(at);
    part.insert(part.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
  }
  return part;
}

void write_parameters(Hdf5Writer& writer, const run::StepRun& run) {
  const std::size_t count = run.scenario->parameters.size();
  for (std::size_t i = 0; i < count; ++i) {
    const models::Parameter& parameter = run.scenario->parameters[i];
    const std::string path = "/parameters/" + parameter.name;
    writer.dataset(path, columns(run.parameters, count, i, 1), {extent(run.worlds)});
    writer.attribute(path, "unit", std::string_view(parameter.unit));
    writer.attribute(path, "meaning", std::string_view(parameter.meaning));
  }
  writer.dataset("/varied", run.varied);
}

void write_group(Hdf5Writer& writer, const run::StepRun& run, const run::StepGroup& group,
                 const std::string& path) {
  const WorldsResult& result = group.result;
  const models::Scenario& scenario = *run.scenario;
  const std::uint64_t worlds = group.worlds.size();
  const std::uint64_t frames = result.frame_time.size();
  const std::uint64_t nq = extent(result.positions);
  const std::uint64_t nv = extent(result.velocities);
  const auto at = [&path](std::string_view name) { return fmt::format("{}/{}", path, name); };
  writer.group(path);
  writer.attribute(path, "step_size", group.step_size);
  writer.attribute(path, "steps", group.steps);
  writer.attribute(path, "stride", group.stride);
  writer.attribute(path, "seconds", result.seconds);
  writer.attribute(path, "complete", std::int64_t{result.cancelled ? 0 : 1});
  writer.dataset(at("world"), group.worlds, {worlds});
  writer.dataset(at("position_names"), scenario.positions);
  writer.dataset(at("velocity_names"), scenario.velocities);

  writer.dataset(at("states/time"), result.frame_time, {frames});
  writer.dataset(at("states/position"), columns(result.frame_state, nq + nv, 0, nq),
                 {frames, worlds, nq});
  writer.dataset(at("states/velocity"), columns(result.frame_state, nq + nv, nq, nv),
                 {frames, worlds, nv});
  writer.dataset(at("states/energy"), result.frame_energy, {frames, worlds});
  writer.attribute(at("states/time"), "unit", std::string_view("s"));
  writer.attribute(at("states/energy"), "unit", std::string_view("J"));

  WorldsResult::each_array(
      result,
      [&](const char* name, const Extents& extents, const auto& values) {
        const std::string file_name = std::string_view(name) == "failed" ? "failed_steps" : name;
        write_array(writer, at("final/" + file_name), values, shape_of(extents));
      },
      result);
  writer.attribute(at("final/displacement"), "meaning", std::string_view(scenario.displacement));
}

void write_corner_velocities(Hdf5Writer& writer, const run::StepRun& run) {
  std::vector<double> normal;
  for (std::int64_t world = 0; world < run.worlds; ++world) {
    const auto pair = models::corner_velocity(run.parameters_of(world), run.position_of(world),
                                              run.velocity_of(world));
    normal.insert(normal.end(), pair.begin(), pair.end());
  }
  writer.dataset("/normal_velocity", normal, {extent(run.worlds), 2});
  if (!run.routh) return;
  const std::vector<double>& set = run.routh->normal_velocity;
  writer.dataset("/routh_set/normal_velocity", set, {set.size() / 2, 2});
  writer.attribute("/routh_set", "samples", run.routh->samples);
}

void write_batch(Hdf5Writer& writer, const run::ArrayStepRun& run, const run::ArrayStepBatch& batch,
                 const std::string& path) {
  const CompliantProblem& first = run.problems[batch.problems.front()];
  const std::uint64_t count = batch.problems.size();
  const std::uint64_t nv = extent(first.velocities);
  const std::uint64_t nq = first.positions > 0 ? extent(first.positions) : nv;
  const std::uint64_t rows = extent(batch.rows);
  std::vector<std::int64_t> index;
  std::vector<Status> status;
  std::vector<run::Numbers> numbers;
  std::vector<double> velocity, increment, force, dt;
  for (const std::size_t problem : batch.problems) {
    run::ArrayStep step = step_of(run, problem);
    step.force.resize(rows, 0.0);  // absent rows carry no force
    index.push_back(static_cast<std::int64_t>(problem));
    dt.push_back(run.problems[problem].step_size);
    velocity.insert(velocity.end(), step.velocity.begin(), step.velocity.end());
    increment.insert(increment.end(), step.increment.begin(), step.increment.end());
    force.insert(force.end(), step.force.begin(), step.force.end());
    status.push_back(step.status);
    numbers.push_back(std::move(step.numbers));
  }
  const auto at = [&path](std::string_view name) { return fmt::format("{}/{}", path, name); };
  writer.group(path);
  writer.attribute(path, "dimension", std::int64_t{first.dimension});
  writer.dataset(at("problem"), index, {count});
  writer.dataset(at("dt"), dt, {count});
  writer.dataset(at("velocity"), velocity, {count, nv});
  writer.dataset(at("increment"), increment, {count, nq});
  writer.dataset(at("force"), force, {count, rows});
  write_columns(writer, path, numbers);
  write_array(writer, at("status"), status, {count});
}

}  // namespace

void write_step_hdf5(const std::filesystem::path& file, const run::StepRun& run,
                     const std::string& command_line) {
  write_hdf5(file, command_line, [&run](Hdf5Writer& writer) {
    settings_attributes(writer, run.settings, run.backend);
    writer.attribute("/", "scenario", std::string_view(run.scenario->name));
    writer.attribute("/", "worlds", run.worlds);
    writer.attribute("/", "seed", run.seed);
    writer.attribute("/", "seconds", run.seconds);
    writer.attribute("/", "complete", std::int64_t{run.complete ? 1 : 0});
    write_parameters(writer, run);
    for (std::size_t i = 0; i < run.groups.size(); ++i) {
      write_group(writer, run, run.groups[i], fmt::format("/worlds_{}", i));
    }
    if (run.scenario->kind == models::ScenarioKind::compliant_block_impact) {
      write_corner_velocities(writer, run);
    }
  });
}

void write_array_step_hdf5(const std::filesystem::path& file, const run::ArrayStepRun& run,
                           const std::string& command_line) {
  write_hdf5(file, command_line, [&run](Hdf5Writer& writer) {
    settings_attributes(writer, run.settings, run.backend);
    writer.attribute("/", "problems", static_cast<std::int64_t>(run.problems.size()));
    writer.attribute("/", "seconds", run.seconds);
    writer.attribute("/", "complete", std::int64_t{run.complete ? 1 : 0});
    std::vector<std::string> names;
    for (std::size_t i = 0; i < run.problems.size(); ++i) names.push_back(run.name_of(i));
    writer.dataset("/name", names);
    for (std::size_t i = 0; i < run.batches.size(); ++i) {
      write_batch(writer, run, run.batches[i], fmt::format("/steps_{}", i));
    }
  });
}

}  // namespace carom::io
