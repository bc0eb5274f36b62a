#include "motion/prepare.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/arrays.hpp"
#include "core/message.hpp"
#include "core/require.hpp"
#include "impact/friction_polygon.hpp"
#include "impact/mode_table.hpp"
#include "motion/kernels/contact_forces.hpp"
#include "motion/mechanisms.hpp"

std::int64_t carom::MotionSettings::grid_points() const {
  if (!(grid > 0.0)) return 0;
  const double whole = std::ceil(duration / grid * (1.0 - 1e-12));
  return static_cast<std::int64_t>(whole) + 1;
}

namespace carom::motion {

namespace {

constexpr double kMostPenetration = 1e-9;  // [m], as of a motion's start
constexpr int kMostImpactSteps = 100000;   // of one impact; Algorithm 1 ends long before

kernels::motion::MotionRun run_of(const MotionBatch& batch, const MotionSettings& settings) {
  kernels::motion::MotionRun run{};
  run.mechanism = batch.mechanism;
  run.impact.polygon =
      friction_polygon(dimension_of(batch.mechanism), settings.friction_directions);
  run.step_size = settings.step_size;
  run.impact.max_steps = kMostImpactSteps;
  run.impact.velocity_tolerance = settings.velocity_tolerance;
  run.impact.residual_tolerance = ImpactSettings{}.residual_tolerance;
  run.impact.mode_tolerance = ImpactSettings{}.mode_tolerance;
  run.impact.seed = settings.seed;
  run.impact.sampler = Sampler::uniform;
  run.impact.selection = Selection::any;
  run.duration = settings.duration;
  run.coefficient = settings.coefficient;
  run.tolerance = settings.tolerance;
  run.contact_tolerance = settings.contact_tolerance;
  run.velocity_tolerance = settings.velocity_tolerance;
  run.law_tolerance = settings.law_tolerance;
  run.zeno_tolerance = settings.zeno_tolerance;
  run.grid = settings.grid;
  run.restitution = settings.restitution;
  run.max_events = static_cast<long>(settings.max_events);
  run.seed = settings.seed;
  return run;
}

}  // namespace

kernels::motion::MotionView view_of(const MotionBatch& batch, const MotionSettings& settings,
                                    const MotionResult& result) {
  kernels::motion::MotionView view{};
  view.run = run_of(batch, settings);
  const auto put = [](auto& steps, const auto& table, const auto& sizes, bool sampled) {
    int k = 0;
    std::remove_cvref_t<decltype(table)>::each_array(
        sizes,
        [&](const char*, const Extents& extents, const auto& values) {
          const auto bytes = static_cast<long>(sizeof(*values.data()));
          const long samples = sampled ? static_cast<long>(extents[1]) : 1;
          steps.problem[k] = bytes * static_cast<long>(extents.stride());
          steps.sample[k] = samples > 0 ? steps.problem[k] / samples : 0;
          steps.samples[k] = samples;
          ++k;
        },
        table);
  };
  put(view.batch_steps, batch, batch, false);
  put(view.result_steps, result, result, true);
  view.samples = static_cast<long>(settings.samples);
  view.knots = static_cast<long>(batch.knots);
  view.drive_interval = batch.drive_interval;
  view.grid_points = static_cast<long>(result.grid_points);
  view.event_rows = static_cast<long>(result.event_rows);
  view.first_problem = static_cast<long>(settings.first_problem);
  view.first_sample = static_cast<std::uint64_t>(settings.first_sample);
  view.wide_from = static_cast<std::uint64_t>(kWideFrom);
  return view;
}

MotionResult empty_result(const MotionBatch& batch, const MotionSettings& settings,
                          MemorySpace space) {
  MotionResultSizes sizes;
  sizes.problems = batch.problems;
  sizes.samples = settings.samples;
  sizes.positions = batch.positions;
  sizes.velocities = batch.velocities;
  sizes.contacts = batch.contacts;
  sizes.kept = std::min(settings.keep_samples, settings.samples);
  sizes.grid_points = sizes.kept > 0 ? settings.grid_points() : 0;
  sizes.event_rows = sizes.kept > 0 ? settings.keep_events : 0;
  return allocate<MotionResult>(sizes, space);
}

Refusal refused(const MotionBatch& batch, std::int64_t problem, const std::string& name) {
  Refusal wrong{.field = "", .kind = "motion", .problem = problem, .name = name};
  MotionBatch::each_array(
      batch,
      [&](const char* field, const Extents& extents, const Buffer<double>& values) {
        if (values.empty() || !wrong.field.empty()) return;
        const double* begin = values.data() + problem * extents.stride();
        const std::string_view word = field;
        const bool width = word == "position_spread" || word == "velocity_spread";
        for (std::int64_t i = 0; i < extents.stride(); ++i) {
          if (std::isfinite(begin[i]) && !(width && begin[i] < 0.0)) continue;
          wrong.field = field;
          wrong.index = require::place(i, word == "drive" ? batch.velocities : 0);
          wrong.value = message::number(begin[i]);
          wrong.rule = std::isfinite(begin[i]) ? "must be >= 0" : "must be finite";
          return;
        }
      },
      batch);
  if (!wrong.field.empty()) return wrong;
  const double* parameters = batch.parameters.data() + problem * batch.parameter_count;
  const double* position = batch.position.data() + problem * batch.positions;
  const double* velocity = batch.velocity.data() + problem * batch.velocities;
  with_mechanism(batch.mechanism, [&]<class T>() {
    kernels::motion::LocalState<T> local;
    if (!local.evaluate(parameters, T::sizes(parameters), 0.0, position, velocity, nullptr, 0U)) {
      wrong.field = "mass_matrix";
      wrong.value = "singular";
      wrong.rule = "must be positive definite at the start";
      return;
    }
    for (int i = 0; i < batch.contacts && batch.position_spread.empty(); ++i) {
      if (local.gap[i] >= -kMostPenetration) continue;
      wrong.field = "gap";
      wrong.index = {i};
      wrong.value = message::number(local.gap[i]);
      wrong.rule = "must not be negative at the start";
      return;
    }
  });
  return wrong;
}

void mark_refused(MotionResult& result, std::int64_t problem) {
  const MotionResultSizes& sizes = result;
  MotionResult::each_array(
      sizes,
      [&](const char*, const Extents& extents, auto& values) {
        using Value = std::remove_cvref_t<decltype(*values.data())>;
        auto* begin = values.data() + problem * extents.stride();
        if constexpr (std::is_same_v<Value, double>) {
          std::fill_n(begin, extents.stride(), std::numeric_limits<double>::quiet_NaN());
        } else if constexpr (std::is_same_v<Value, MotionEnd>) {
          std::fill_n(begin, extents.stride(), MotionEnd::invalid_input);
        } else {
          std::fill_n(begin, extents.stride(), Value{});
        }
      },
      result);
}

}  // namespace carom::motion
