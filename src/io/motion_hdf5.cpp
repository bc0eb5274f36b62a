#include "io/motion_hdf5.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "core/words.hpp"
#include "io/hdf5_output.hpp"
#include "io/problem_file.hpp"
#include "io/setting_attributes.hpp"

namespace carom::io {

namespace {

template <class Value>
void write_array(Hdf5Writer& writer, const std::string& path, const Buffer<Value>& values,
                 const Extents& extents) {
  if (values.empty()) return;
  if constexpr (std::is_enum_v<Value>) {
    std::vector<std::uint8_t> codes;
    codes.reserve(values.size());
    for (const Value value : values.host()) codes.push_back(static_cast<std::uint8_t>(value));
    writer.dataset(path, codes, shape_of(extents));
    writer.attribute(path, "meaning", codes_meaning<Value>());
  } else if constexpr (std::is_same_v<Value, std::uint32_t>) {
    const std::vector<std::uint64_t> wide(values.host().begin(), values.host().end());
    writer.dataset(path, wide, shape_of(extents));
  } else {
    writer.dataset(path, values.host(), shape_of(extents));
  }
}

template <class Table>
void write_arrays(Hdf5Writer& writer, const std::string& group, const Table& table) {
  writer.group(group);
  Table::each_array(
      table,
      [&](const char* name, const Extents& extents, const auto& values) {
        write_array(writer, fmt::format("{}/{}", group, name), values, extents);
      },
      table);
}

}  // namespace

void write_motion_hdf5(const std::filesystem::path& file, const run::MotionRunResult& run,
                       const std::string& command_line) {
  const MotionSettings& settings = run.plan.settings;
  std::vector<double> times;
  for (std::int64_t k = 0; k < settings.grid_points(); ++k) {
    times.push_back(std::min(static_cast<double>(k) * settings.grid, settings.duration));
  }
  write_hdf5(file, command_line, [&](Hdf5Writer& writer) {
    writer.attribute("/", "kind", std::string_view("motion"));
    writer.attribute("/", "backend", to_string(run.plan.backend));
    writer.attribute("/", "complete", std::int64_t{run.complete ? 1 : 0});
    write_settings(writer, "/", settings);
    writer.dataset("/time", times, {times.size()});
    for (std::size_t p = 0; p < run.outcomes.size(); ++p) {
      const run::MotionTask& task = run.plan.tasks[p];
      const run::MotionOutcome& outcome = run.outcomes[p];
      const std::string group = fmt::format("/motion/{}", p);
      writer.group(group);
      writer.attribute(group, "name", std::string_view(task.problem.name));
      for (const auto& [name, value] : task.parameters) {
        writer.attribute(group, "parameter_" + name, value);
      }
      writer.attribute(group, "mechanism", to_string(task.problem.mechanism));
      writer.dataset(group + "/positions", task.model.positions);
      writer.dataset(group + "/velocities", task.model.velocities);
      writer.dataset(group + "/contacts", task.model.contact_names);
      write_arrays(writer, group + "/problem", make_batch({&task.problem, 1}));
      if (outcome.kept.samples > 0) write_arrays(writer, group + "/samples", outcome.kept);
      if (!(outcome.net.requested_epsilon > 0.0)) continue;
      const EpsilonNet& net = outcome.net;
      const std::string at = group + "/net";
      const auto points = static_cast<std::size_t>(net.points());
      writer.group(at);
      writer.attribute(at, "epsilon", net.epsilon);
      writer.dataset(at + "/state", net.velocity,
                     {points, static_cast<std::size_t>(net.velocities)});
      writer.dataset(at + "/first_sample", net.first_sample, {points});
      writer.dataset(at + "/multiplicity", net.multiplicity, {points});
      writer.dataset(at + "/coverage", net.coverage, {net.coverage.size()});
    }
  });
}

}  // namespace carom::io
