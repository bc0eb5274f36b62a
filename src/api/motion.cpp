#include <carom/motion.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/arrays.hpp"
#include "core/backends.hpp"
#include "core/constants.hpp"
#include "core/fields.hpp"
#include "core/require.hpp"
#include "core/settings.hpp"
#include "core/words.hpp"
#include "core/workspace.hpp"
#include "motion/backends.hpp"
#include "motion/mechanisms.hpp"
#include "motion/prepare.hpp"

namespace carom {

namespace {

constexpr double kMostGridPoints = 1e8;

void require_shape(const MotionBatch& batch) {
  require::at_least("problems", batch.problems, 0);
  if (batch.problems == 0) return;
  arrays::require_sizes(batch, batch);
  const MotionSizes sizes =
      motion_sizes(batch.mechanism,
                   {batch.parameters.data(), static_cast<std::size_t>(batch.parameters.size())});
  require::between("parameters", batch.parameters.size() / static_cast<std::size_t>(batch.problems),
                   sizes.parameter_count, sizes.parameter_count);
  require::between("positions", batch.positions, sizes.positions, sizes.positions);
  require::between("velocities", batch.velocities, sizes.velocities, sizes.velocities);
  require::between("contacts", batch.contacts, sizes.contacts, sizes.contacts);
  require::at_least("knots", batch.knots, 0);
  if (batch.knots > 1) require::positive("drive_interval", batch.drive_interval);
}

}  // namespace

void MotionSettings::validate() const {
  require::settings(*this);
  if (grid > 0.0 && duration / grid > kMostGridPoints) {
    throw InvalidInput(Refusal{.field = "grid",
                               .value = settings::shown(grid),
                               .rule = "must not divide the duration more than 1e8 times"});
  }
}

MotionSizes motion_sizes(MotionMechanism mechanism, std::span<const double> parameters) {
  return motion::with_mechanism(mechanism, [&]<class T>() {
    const kernels::MechanismSizes sizes = T::sizes(parameters.data());
    MotionSizes result;
    result.mechanism = mechanism;
    if constexpr (requires { T::parameter_count(parameters.data()); }) {
      result.parameter_count = T::parameter_count(parameters.data());
    } else {
      result.parameter_count = T::kParameters;
    }
    result.positions = sizes.positions;
    result.velocities = sizes.velocities;
    result.contacts = sizes.constraints;
    return result;
  });
}

MotionBatch make_batch(std::span<const MotionProblem> problems) {
  MotionBatch batch;
  if (problems.empty()) return batch;
  const MotionProblem& first = problems[0];
  MotionSizes sizes = motion_sizes(first.mechanism, first.parameters);
  sizes.problems = static_cast<std::int64_t>(problems.size());
  sizes.knots = static_cast<std::int64_t>(first.drive.size()) / sizes.velocities;
  sizes.drive_interval = first.drive_interval;
  batch = allocate<MotionBatch>(sizes);
  const auto differs = [&](std::size_t p, const char* field, const std::string& value,
                           const std::string& other) {
    throw InvalidInput(Refusal{.field = field,
                               .kind = "motion",
                               .problem = static_cast<std::int64_t>(p),
                               .name = problems[p].name,
                               .value = value,
                               .rule = "must be " + other + " as of motion 0"});
  };
  for (std::size_t p = 0; p < problems.size(); ++p) {
    const MotionProblem& problem = problems[p];
    if (problem.mechanism != first.mechanism) {
      differs(p, "mechanism", std::string(to_string(problem.mechanism)),
              std::string(to_string(first.mechanism)));
    }
    if (problem.drive_interval != first.drive_interval) {
      differs(p, "drive_interval", settings::shown(problem.drive_interval),
              settings::shown(first.drive_interval));
    }
    MotionBatch::each_array(
        sizes,
        [&](const char* name, const Extents& extents, auto& to, const auto& from,
            const auto& model) {
          if (from.size() != model.size()) {
            differs(p, name, std::to_string(from.size()) + " numbers long",
                    std::to_string(model.size()));
          }
          if (extents.optional() && from.empty()) {
            to = {};
            return;
          }
          require::size(
              name, from.size(), static_cast<std::size_t>(extents.stride()),
              {.kind = "motion", .problem = static_cast<std::int64_t>(p), .name = problem.name});
          std::copy(from.begin(), from.end(),
                    to.data() + static_cast<std::int64_t>(p) * extents.stride());
        },
        batch, problem, first);
  }
  return batch;
}

void validate(const MotionBatch& batch) {
  require_shape(batch);
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    Refusal wrong = motion::refused(batch, p);
    if (!wrong.field.empty()) throw InvalidInput(std::move(wrong));
  }
}

MotionResult simulate_motions(const MotionBatch& batch, const MotionSettings& settings,
                              Backend backend, Workspace* workspace) {
  settings.validate();
  require_shape(batch);
  require::countable(settings.first_problem, batch.problems);
  const Backend chosen = resolve(backend);
  require::reachable(chosen, arrays::common_space("motion batch", batch));
  const auto simulate = entries<MotionEntries>(chosen).simulate;
  if (simulate == nullptr) {
    throw BackendUnavailable("backend " + std::string(to_string(chosen)) +
                             ": has no motions; use cpu");
  }
  const WorkspaceLease lease(workspace);
  return simulate(batch, settings, lease.state());
}

void MotionSummary::add(const MotionSummary& other) {
  if (other.samples == 0) return;
  merge_fields(*this, other);
  if (other.zeno_sample >= 0 && (zeno_sample < 0 || other.zeno_sample < zeno_sample)) {
    zeno_sample = other.zeno_sample;
    zeno_time = other.zeno_time;
    zeno_s = other.zeno_s;
  }
}

MotionSummary summarise(const MotionResult& result, std::int64_t problem,
                        std::int64_t first_sample) {
  MotionSummary sum;
  const auto nq = static_cast<std::size_t>(result.positions);
  const auto nv = static_cast<std::size_t>(result.velocities);
  sum.position_min.assign(nq, kInfinity);
  sum.position_max.assign(nq, -kInfinity);
  sum.velocity_min.assign(nv, kInfinity);
  sum.velocity_max.assign(nv, -kInfinity);
  sum.samples = result.samples;
  sum.zeno_time = sum.zeno_s = kNan;
  for (std::int64_t i = 0; i < result.samples; ++i) {
    const auto row = static_cast<std::size_t>(problem * result.samples + i);
    switch (result.end.host()[row]) {
      case MotionEnd::duration:
        ++sum.ended_duration;
        break;
      case MotionEnd::rest:
        ++sum.ended_rest;
        break;
      case MotionEnd::event_limit:
        ++sum.ended_event_limit;
        break;
      default:
        ++sum.ended_failed;
        continue;
    }
    sum.impacts += result.impacts.host()[row];
    sum.pushes += result.pushes.host()[row];
    sum.events += result.events.host()[row];
    sum.ambiguous += result.ambiguous.host()[row];
    sum.zeno += result.zeno.host()[row];
    if (result.zeno.host()[row] > 0 && sum.zeno_sample < 0) {
      sum.zeno_sample = first_sample + i;
      sum.zeno_time = result.zeno_time.host()[row];
      sum.zeno_s = result.zeno_s.host()[row];
    }
    sum.max_residual = std::max(sum.max_residual, result.residual.host()[row]);
    sum.max_gap_drift = std::max(sum.max_gap_drift, result.gap_drift.host()[row]);
    sum.max_energy_gain = std::max(sum.max_energy_gain, result.energy_gain.host()[row]);
    sum.max_energy_error = std::max(sum.max_energy_error, result.energy_error.host()[row]);
    for (std::size_t j = 0; j < nq; ++j) {
      const double value = result.position.host()[row * nq + j];
      sum.position_min[j] = std::min(sum.position_min[j], value);
      sum.position_max[j] = std::max(sum.position_max[j], value);
    }
    for (std::size_t j = 0; j < nv; ++j) {
      const double value = result.velocity.host()[row * nv + j];
      sum.velocity_min[j] = std::min(sum.velocity_min[j], value);
      sum.velocity_max[j] = std::max(sum.velocity_max[j], value);
    }
  }
  return sum;
}

}  // namespace carom
