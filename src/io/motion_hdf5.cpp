#include "io/motion_hdf5.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/fields.hpp"
#include "io/hdf5_output.hpp"
#include "io/setting_attributes.hpp"

namespace carom::io {

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
      const MotionBatch start = make_batch({&task.problem, 1});
      write_table(writer, group + "/problem", start, start);
      if (outcome.kept.samples > 0) {
        write_table(writer, group + "/samples", outcome.kept, outcome.kept);
      }
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
