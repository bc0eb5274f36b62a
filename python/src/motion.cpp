#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <carom/models/motions.hpp>
#include <carom/motion.hpp>

#include "call.hpp"
#include "families.hpp"
#include "parameters.hpp"
#include "settings.hpp"
#include "tables.hpp"

namespace carom::python {

namespace {

nb::list models_of() {
  nb::list result;
  for (const models::MotionModel& model : models::motions()) {
    nb::dict entry = entry_of(model);
    entry["dimension"] = model.dimension;
    entry["contact_names"] = words_of(model.contact_names);
    entry["step_size"] = model.step_size;
    entry["positions"] = words_of(model.positions);
    entry["velocities"] = words_of(model.velocities);
    entry["duration"] = model.duration;
    entry["coefficient"] = model.coefficient;
    result.append(entry);
  }
  return result;
}

/// (arrays, mechanism in words, drive_interval)
nb::tuple build(const std::string& name, const Columns& columns, std::int64_t problems) {
  std::vector<MotionProblem> built;
  MotionBatch batch = without_gil([&] {
    for (std::size_t p = 0; p < static_cast<std::size_t>(problems); ++p) {
      try {
        built.push_back(models::build_motion(name, row_of(columns, p)));
      } catch (const InvalidInput& error) {
        of_problem(error, p, static_cast<std::size_t>(problems));
      }
    }
    return make_batch(built);
  });
  const MotionSizes sizes = batch;
  return nb::make_tuple(
      arrays_of(static_cast<MotionBatchArrays<Buffer>&&>(std::move(batch)), sizes),
      std::string(word_of(sizes.mechanism)), sizes.drive_interval);
}

nb::dict simulate(const nb::dict& arrays, std::int64_t problems, const std::string& mechanism,
                  std::int64_t knots, double drive_interval, const nb::dict& settings,
                  nb::handle backend) {
  const auto kind = enumerator<MotionMechanism>("mechanism", nb::cast(mechanism));
  const auto parameters = borrowed<double>(arrays["parameters"]);
  const auto each = problems > 0 ? parameters.size() / static_cast<std::size_t>(problems) : 0;
  MotionBatch batch;
  static_cast<MotionSizes&>(batch) = motion_sizes(kind, {parameters.data(), each});
  batch.problems = problems;
  batch.mechanism = kind;
  batch.parameter_count = static_cast<int>(each);
  batch.knots = knots;
  batch.drive_interval = drive_interval;
  borrow(batch, batch, arrays);
  const auto chosen = settings_from<MotionSettings>(settings);
  const auto where = enumerator<Backend>("backend", backend);
  MotionResult result = without_gil([&] {
    validate(batch);
    return simulate_motions(batch, chosen, where);
  });
  const MotionResultSizes sizes = result;
  return arrays_of(static_cast<MotionResultArrays<Buffer>&&>(std::move(result)), sizes);
}

}  // namespace

void add_motion(nb::module_& module) {
  module.def("motion_models", models_of);
  module.def("build_motions", build);
  module.def("simulate_motions", simulate);
  module.def("motion_settings", described<MotionSettings>);
}

}  // namespace carom::python
