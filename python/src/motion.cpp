#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <type_traits>

#include <carom/models/motions.hpp>
#include <carom/motion.hpp>

#include "call.hpp"
#include "families.hpp"
#include "motions.hpp"
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
  return motions_of(std::move(batch));
}

/// Copies the result of a piece, samples from `sample` of problems from `problem`.
void append(MotionResult& whole, const MotionResult& piece, std::int64_t problem,
            std::int64_t sample) {
  MotionResult::each_array(
      whole,
      [&](const char*, const Extents& extents, auto& to, const auto& from) {
        using Value = std::remove_cvref_t<decltype(*to.data())>;
        if (to.empty()) to = Buffer<Value>(static_cast<std::size_t>(extents.count()));
        if (from.empty() || extents.count() == 0) return;
        const std::int64_t inner = extents.stride() / extents[1];
        const auto rows = static_cast<std::int64_t>(from.size()) / (piece.problems * inner);
        for (std::int64_t p = 0; p < piece.problems; ++p) {
          std::copy_n(from.data() + p * rows * inner, rows * inner,
                      to.data() + ((problem + p) * extents[1] + sample) * inner);
        }
      },
      whole, piece);
}

/// Piece by piece, with Ctrl-C and `progress` in between: by problems, or by samples where there
/// are more of these. They do not depend on each other. `done`: of those.
MotionResult in_pieces_of(const MotionBatch& batch, const MotionSettings& settings, Backend backend,
                          Workspace* workspace, Listener& listener, std::int64_t& done) {
  constexpr std::int64_t kMotions = 1024;  // of the first piece
  constexpr double kPiece = 0.05;          // [s]
  const bool by_samples = settings.samples > batch.problems;
  const std::int64_t all = by_samples ? settings.samples : batch.problems;
  const std::int64_t each = by_samples ? batch.problems : settings.samples;
  if (all == 0 || each == 0) return simulate_motions(batch, settings, backend, workspace);
  MotionResult whole;
  std::int64_t size = std::max<std::int64_t>(1, kMotions / each);
  for (std::int64_t begin = 0; begin < all;) {
    const std::int64_t count = std::min(size, all - begin);
    MotionSettings piece = settings;
    if (by_samples) {
      piece.first_sample += begin;
      piece.samples = count;
      piece.keep_samples = std::clamp<std::int64_t>(settings.keep_samples - begin, 0, count);
    } else {
      piece.first_problem += begin;
    }
    const auto start = Clock::now();
    MotionResult part = simulate_motions(by_samples ? arrays::slice(batch, 0, batch.problems)
                                                    : arrays::slice(batch, begin, begin + count),
                                         piece, backend, workspace);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (count == all) {
      whole = std::move(part);
    } else {
      if (begin == 0) {
        static_cast<MotionResultSizes&>(whole) = part;
        whole.problems = batch.problems;
        whole.samples = settings.samples;
        whole.kept = std::min(settings.keep_samples, settings.samples);
      }
      append(whole, part, by_samples ? 0 : begin, by_samples ? begin : 0);
    }
    done = begin += count;
    if (!listener.go_on(begin, all)) break;
    const double next = kPiece * static_cast<double>(count) / std::max(seconds, 1e-6);
    size = static_cast<std::int64_t>(std::min(next, 1e9)) + 1;
  }
  return whole;
}

/// progress: None, or called with (done, all) of problems, or of samples where there are more. What
/// is done is "done"; the arrays have room for all.
nb::dict simulate(const nb::dict& arrays, const nb::dict& given, const nb::dict& settings,
                  nb::handle backend, nb::object progress, nb::handle workspace) {
  const MotionBatch batch = motion_batch(arrays, given);
  const auto chosen = settings_from<MotionSettings>(settings);
  const auto where = enumerator<Backend>("backend", backend);
  Workspace* const memory = workspace_of(workspace);
  Listener listener(std::move(progress));
  std::int64_t done = 0;
  MotionResult result = without_gil([&] {
    validate(batch);
    return in_pieces_of(batch, chosen, where, memory, listener, done);
  });
  listener.raise();
  const MotionResultSizes sizes = result;
  nb::dict all = arrays_of(static_cast<MotionResultArrays<Buffer>&&>(std::move(result)), sizes);
  all["done"] = done;
  return all;
}

}  // namespace

MotionBatch motion_batch(const nb::dict& arrays, const nb::dict& given) {
  const auto kind = enumerator<MotionMechanism>("mechanism", given["mechanism"]);
  const auto problems = nb::cast<std::int64_t>(given["problems"]);
  const auto parameters = borrowed<double>(arrays["parameters"]);
  const auto each = problems > 0 ? parameters.size() / static_cast<std::size_t>(problems) : 0;
  MotionBatch batch;
  static_cast<MotionSizes&>(batch) = motion_sizes(kind, {parameters.data(), each});
  batch.problems = problems;
  batch.mechanism = kind;
  batch.parameter_count = static_cast<int>(each);
  batch.knots = nb::cast<std::int64_t>(given["knots"]);
  batch.drive_interval = nb::cast<double>(given["drive_interval"]);
  borrow(batch, batch, arrays);
  return batch;
}

nb::tuple motions_of(MotionBatch&& batch) {
  const MotionSizes sizes = batch;
  return nb::make_tuple(
      arrays_of(static_cast<MotionBatchArrays<Buffer>&&>(std::move(batch)), sizes),
      std::string(word_of(sizes.mechanism)), sizes.drive_interval);
}

void add_motion(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def("motion_models", models_of);
  module.def("build_motions", build);
  module.def("simulate_motions", simulate, "arrays"_a, "given"_a, "settings"_a, "backend"_a,
             "progress"_a.none(), "workspace"_a.none());
  module.def("motion_settings", described<MotionSettings>);
}

}  // namespace carom::python
