#include <carom/impact.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "core/arrays.hpp"
#include "core/backends.hpp"
#include "core/message.hpp"
#include "core/parallel.hpp"
#include "core/require.hpp"
#include "core/settings.hpp"
#include "core/words.hpp"
#include "core/workspace.hpp"
#include "impact/backends.hpp"
#include "impact/derived_settings.hpp"
#include "impact/kernels/derived_step.hpp"
#include "impact/prepare.hpp"

namespace carom {

namespace {

using message::number;

void require_shape(std::int64_t dimension, std::int64_t velocities, std::int64_t contacts,
                   const Refusal& whose = {}) {
  if (dimension != 2 && dimension != 3) {
    require::refuse(whose, "dimension", {}, std::to_string(dimension), "must be 2 or 3");
  }
  require::between("velocities", velocities, 1, kMaxVelocities, whose);
  require::between("contacts", contacts, 0, kMaxContacts, whose);
}

void require_events(const ImpactBatch& batch, Backend chosen) {
  const auto refuse = [](std::string rule) {
    throw InvalidInput(
        Refusal{.field = "method", .relation = "", .value = "events", .rule = std::move(rule)});
  };
  const bool device = chosen == Backend::cuda;
  const int most = device ? kMaxDeviceFollowedContacts : kMaxFollowedContacts;
  if (batch.contacts > most) {
    refuse("follows at most " + std::to_string(most) + " contacts" +
           (device ? " on a device" : "") + ", not " + std::to_string(batch.contacts));
  }
}

/// Refuses sizes that the device's kernels do not support.
void require_room(Backend chosen, int velocities, int contacts) {
  if (chosen != Backend::cuda) return;
  const auto at_most = [](const char* field, int value, int most) {
    if (value <= most) return;
    require::refuse(
        {}, field, {}, std::to_string(value),
        "must be at most " + std::to_string(most) + " on a device; backend cpu takes more");
  };
  at_most("contacts", contacts, kMaxDeviceContacts);
  at_most("velocities", velocities, kMaxDeviceVelocities);
}

/// What samples a batch with restitution or intervals of friction.
void require_stores(const ImpactBatch& batch, const ImpactSettings& settings, Backend backend) {
  if (!has_stores(batch)) return;
  const std::string why =
      batch.restitution_high.empty() ? "with intervals of friction" : "with restitution";
  if (settings.method != ImpactMethod::lcp) return;
  if (settings.law != RestitutionLaw::stronge) {
    require::refuse({}, "method", {}, "lcp",
                    "must be events " + why + " by the law " +
                        std::string(to_string(settings.law)) + "; lcp has stronge's only");
  }
  if (batch.contacts > kMaxFollowedContacts) {
    require::refuse({}, "contacts", {}, std::to_string(batch.contacts),
                    "must be at most " + std::to_string(kMaxFollowedContacts) + " " + why);
  }
  if (backend == Backend::reference && settings.selection == Selection::random) {
    require::refuse({}, "selection", {}, "random",
                    "must be any or lemke " + why + ", method lcp and backend reference");
  }
}

/// Whether some samples have stores.
bool bounces(const ImpactBatch& batch) {
  const auto some = [](const Buffer<double>& high, const Buffer<double>& low) {
    if (high.empty()) return false;
    const std::vector<double> most = high.to_vector(),
                              least = low.to_vector();  // from a device too
    for (std::size_t k = 0; k < most.size(); ++k) {
      if (most[k] > (least.empty() ? 0.0 : least[k])) return true;
    }
    return false;
  };
  return some(batch.restitution_high, {}) || some(batch.friction_high, batch.friction);
}

void require_batch_sizes(const ImpactBatch& batch) {
  require_shape(batch.dimension, batch.velocities, batch.contacts);
  require::between("problems", batch.problems, 0, std::int64_t{0xffffffff});
  arrays::require_sizes(batch, batch);
  if (batch.restitution_low.empty() != batch.restitution_high.empty()) {
    require::refuse({}, batch.restitution_low.empty() ? "restitution_low" : "restitution_high", {},
                    "left out", "must be given with the other end of the interval");
  }
  arrays::common_space("impact batch", batch);
}

/// Refuses the first bad problem of a batch whose sizes are right.
void validate_on(int threads, const ImpactBatch& batch) {
  if (batch.mass_matrix.space() == MemorySpace::device) {
    constexpr std::int64_t kPiece = 1 << 14;
    for (std::int64_t begin = 0; begin < batch.problems; begin += kPiece) {
      const std::int64_t end = std::min(batch.problems, begin + kPiece);
      try {
        validate_on(threads, arrays::slice(batch, begin, end).to(MemorySpace::host));
      } catch (const InvalidInput& error) {
        throw error.with_problem(begin + *error.refusal().problem);
      }
    }
    return;
  }
  std::atomic<std::int64_t> first{batch.problems};
  const auto look = [&](std::int64_t begin, std::int64_t end) {
    std::int64_t p = begin;
    while (p < end && p < first && !problem_refusal(batch, p)) ++p;
    if (p == end) return;
    std::int64_t least = first;
    while (p < least && !first.compare_exchange_weak(least, p)) continue;
  };
  constexpr std::int64_t kGrain = 256;  // a microsecond or two each
  parallel_for(batch.problems, kGrain, threads, look);
  if (first < batch.problems) throw InvalidInput(*problem_refusal(batch, first));
}

}  // namespace

namespace {

/// Room for intervals that any of the problems has.
void add_intervals(ImpactBatch& batch, std::span<const ImpactProblem> problems) {
  ImpactProblem any;
  for (const ImpactProblem& problem : problems) {
    ImpactBatch::each_array(
        {},
        [](const char*, const Extents& extents, auto& some, const auto& own) {
          if (extents.optional() && some.empty()) some = own;
        },
        any, problem);
  }
  ImpactBatch::each_array(
      batch,
      [](const char*, const Extents& extents, auto& to, const auto& some) {
        if (some.empty() || !extents.optional()) return;
        to = Buffer<double>(static_cast<std::size_t>(extents.count()));
      },
      batch, any);
}

/// Problem `index` of a batch; without intervals it is inelastic, and its friction a number.
void place(ImpactBatch& batch, std::int64_t index, const ImpactProblem& problem,
           const Refusal& whose) {
  const std::vector<double> inelastic(static_cast<std::size_t>(problem.contacts), 0.0);
  const bool elastic = !problem.restitution_low.empty() || !problem.restitution_high.empty();
  ImpactBatch::each_array(
      batch,
      [&](const char* name, const Extents& extents, auto& to, const std::vector<double>& own) {
        if (to.empty() && own.empty()) return;
        const bool left_out = own.empty() && extents.optional();
        const bool of_friction = &own == &problem.friction_high;
        const std::vector<double>& from = !left_out || (elastic && !of_friction) ? own
                                          : of_friction                          ? problem.friction
                                                                                 : inelastic;
        require::size(name, from.size(), static_cast<std::size_t>(extents.stride()), whose);
        std::copy(from.begin(), from.end(), to.data() + index * extents.stride());
      },
      batch, problem);
}

}  // namespace

ImpactBatch make_batch(std::span<const ImpactProblem> problems) {
  ImpactBatch batch;
  batch.problems = static_cast<std::int64_t>(problems.size());
  if (problems.empty()) {
    batch.velocities = 1;
    return batch;
  }
  const ImpactProblem& first = problems.front();
  for (std::size_t p = 0; p < problems.size(); ++p) {
    const ImpactProblem& problem = problems[p];
    const Refusal whose{.problem = static_cast<std::int64_t>(p), .name = problem.name};
    require_shape(problem.dimension, problem.velocities, problem.contacts, whose);
    const auto same = [&](const char* field, int value, int expected) {
      if (value == expected) return;
      require::refuse(
          whose, field, {}, std::to_string(value),
          "must be " + std::to_string(expected) + " as in problem 0 (one batch has one shape)");
    };
    same("dimension", problem.dimension, first.dimension);
    same("velocities", problem.velocities, first.velocities);
    same("contacts", problem.contacts, first.contacts);
    if (p == 0) {
      batch =
          allocate<ImpactBatch>({batch.problems, first.dimension, first.velocities, first.contacts},
                                MemorySpace::host, false);
      add_intervals(batch, problems);
    }
    place(batch, static_cast<std::int64_t>(p), problem, whose);
  }
  return batch;
}

void validate(const ImpactProblem& problem) {
  const ImpactBatch batch = make_batch({&problem, 1});
  if (auto refused = problem_refusal(batch, 0, problem.name)) {
    throw InvalidInput(std::move(*refused));
  }
}

void validate(const ImpactBatch& batch) {
  require_batch_sizes(batch);
  validate_on(0, batch);
}

StoppingImpulse stopping_impulse(const ImpactProblem& problem, double velocity_tolerance) {
  const ImpactBatch batch = make_batch({&problem, 1});
  const PreparedImpacts prepared(batch, {});
  const kernels::ImpactProblemView view = prepared.view(0);
  return kernels::stopping_impulse(problem.contacts, batch.contact_rows(), view.delassus,
                                   view.scale, view.contact_velocity, velocity_tolerance);
}

std::string mode_words(std::uint64_t modes, int contacts, int dimension) {
  std::string text;
  for (int i = 0; i < contacts && contacts <= kMaxModeContacts; ++i) {
    if (i > 0) text += "/";
    const auto mode = static_cast<ContactMode>((modes >> (2 * i)) & 3U);
    text += word_of(mode);
    if (mode == ContactMode::sliding && dimension == 2) text += "+";
  }
  return text;
}

void ImpactSettings::validate() const {
  require::settings(*this);
  if (first_sample > INT64_MAX - samples) {  // the index of the last one would wrap
    require::refuse({}, "first_sample", {}, std::to_string(first_sample),
                    "must be <= " + std::to_string(INT64_MAX - samples) + ", as samples is " +
                        std::to_string(samples));
  }
  if (epsilon < 0.0 && epsilon != -1.0) {
    require::refuse({}, "epsilon", {}, number(epsilon),
                    "must be >= 0, or -1: of each problem's set");
  }
}

void StepSettings::validate() const {
  require::settings(*this);
  if (selection == Selection::random) {
    throw InvalidInput(
        Refusal{.field = "selection", .value = "random", .rule = "single steps take any or lemke"});
  }
}

namespace {

void require_epsilons(const ImpactBatch& batch, const ImpactSettings& settings) {
  const std::span<const double> epsilon = settings.problem_epsilon;
  if (epsilon.empty()) return;
  require::size("problem_epsilon", epsilon.size(), static_cast<std::size_t>(batch.problems));
  for (std::size_t p = 0; p < epsilon.size(); ++p) {
    if (epsilon[p] >= 0.0 && std::isfinite(epsilon[p])) continue;
    require::refuse({}, "problem_epsilon", {static_cast<std::int64_t>(p)}, number(epsilon[p]),
                    "must be >= 0 and finite");
  }
}

using RunImpacts = std::function<ImpactResult(const ImpactSettings&)>;

/// Runs with what the settings leave open decided: each problem's step size by the backend, the
/// steps, `steps`, and each net's radius here.
ImpactResult run_decided(const ImpactSettings& given, int steps, const RunImpacts& run) {
  ImpactSettings settings = given;
  if (settings.max_steps == 0) settings.max_steps = steps;
  if (settings.epsilon >= 0.0 || !settings.problem_epsilon.empty()) return run(settings);
  bool stopped = false;
  std::int64_t piloted = 0;
  ImpactSettings pilot = pilot_settings(settings);
  if (given.progress) {
    pilot.progress = [&](const ImpactProgress& progress) {
      piloted = progress.samples_total;
      const std::int64_t total = piloted / pilot.samples * given.samples;
      stopped = stopped || !given.progress({0, total, progress.samples_done, piloted});
      return !stopped;
    };
    settings.progress = [&](const ImpactProgress& progress) {
      return !stopped &&
             given.progress({progress.samples_done, progress.samples_total, piloted, piloted});
    };
  }
  const ImpactResult first = run(pilot);
  std::vector<double> epsilon;
  for (const ImpactSummary& summary : first.summary) {
    const auto p = static_cast<std::int64_t>(epsilon.size());
    epsilon.push_back(derived_epsilon(summary, settings, p));
  }
  settings.problem_epsilon = epsilon;
  ImpactResult result = run(settings);
  result.seconds += first.seconds;
  return result;
}

}  // namespace

ImpactResult sample_impacts(const ImpactBatch& batch, const ImpactSettings& settings,
                            Backend backend, Workspace* workspace) {
  settings.validate();
  require_batch_sizes(batch);
  require_epsilons(batch, settings);
  require::countable(settings.first_problem, batch.problems);
  // A batch on the device is screened there.
  const MemorySpace space = batch.mass_matrix.space();
  if (settings.bad_problem == BadProblem::refuse && space == MemorySpace::host) {
    validate_on(settings.threads, batch);
  }
  if (settings.selection == Selection::random) {
    const double combinations =
        batch.dimension == 2
            ? kernels::step_combinations<2>(batch.contacts, 2)
            : kernels::step_combinations<3>(batch.contacts, settings.friction_directions);
    if (combinations > kernels::kMaxCombinations ||
        batch.contact_rows() > kernels::kMaxEnumeratedRows) {
      throw InvalidInput(Refusal{.field = "selection",
                                 .relation = "",
                                 .value = "random",
                                 .rule = std::to_string(batch.contacts) + " contacts have " +
                                         number(combinations) + " combinations of modes: at most " +
                                         std::to_string(kernels::kMaxCombinations) +
                                         " are enumerated; use any or lemke"});
    }
  }
  const Backend chosen = resolve(backend);
  require_room(chosen, batch.velocities, batch.contacts);
  require_stores(batch, settings, chosen);
  if (settings.method == ImpactMethod::events) require_events(batch, chosen);
  if (chosen != Backend::cuda &&
      (space == MemorySpace::device || settings.result_space == MemorySpace::device)) {
    throw InvalidInput(
        Refusal{.field = "backend",
                .relation = "",
                .value = std::string(to_string(chosen)),
                .rule = "works in host memory; the batch or result_space is on the device"});
  }
  const WorkspaceLease lease(workspace);
  return run_decided(settings, bounces(batch) ? kDerivedReleaseSteps : kDerivedSteps,
                     [&](const ImpactSettings& decided) {
                       return entries<ImpactEntries>(chosen).sample(batch, decided, lease.state());
                     });
}

StepResult solve_steps(const StepBatch& batch, const StepSettings& settings, Backend backend,
                       Workspace* workspace) {
  require_shape(batch.dimension, 1, batch.contacts);
  require::at_least("contacts", batch.contacts, 1);
  arrays::require_sizes(batch, batch);
  settings.validate();
  const Backend chosen = resolve(backend);
  require_room(chosen, 1, batch.contacts);
  require::reachable(chosen, arrays::common_space("step batch", batch));
  const WorkspaceLease lease(workspace);
  return entries<ImpactEntries>(chosen).solve_steps(batch, settings, lease.state());
}

}  // namespace carom
