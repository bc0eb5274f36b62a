#include "cli/bench_families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include <carom/backend.hpp>
#include <carom/models/motions.hpp>
#include <carom/models/postures.hpp>
#include <carom/models/scenarios.hpp>
#include <carom/models/stances.hpp>

#include "cli/choices.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_output.hpp"
#include "cli/motion_options.hpp"
#include "cli/posture_options.hpp"
#include "cli/stability_options.hpp"
#include "cli/step_options.hpp"
#include "cli/table.hpp"
#include "cli/target.hpp"
#include "io/case_file.hpp"
#include "io/file_kind.hpp"
#include "io/printable.hpp"
#include "io/step_input.hpp"
#include "run/cases.hpp"
#include "run/step_array_runner.hpp"

namespace carom::cli {

namespace {

constexpr std::int64_t kMostSteps = 1000;  // of a world; a scenario may recommend 200,000

/// What one pass did.
struct FamilyPass {
  std::int64_t units = 0;   ///< of the rate
  std::int64_t failed = 0;  ///< worlds, postures, ... without a certified answer
  double residual = 0.0;    ///< the largest; 0 where the family has none
};

/// A family's problems and how they are computed once.
struct FamilyWork {
  std::string kind;        ///< "scenario", ...
  std::string unit;        ///< what a rate counts
  std::int64_t count = 0;  ///< of problems
  std::int64_t fewer = 0;  ///< for the reference backend; 0: it does not take them
  std::function<FamilyPass(Backend, int threads, std::int64_t count)> run;
};

struct FamilyContestant {
  Backend backend = Backend::cpu;
  int threads = 1;
  std::int64_t count = 0;
  std::vector<double> seconds;
  FamilyPass pass;

  [[nodiscard]] double rate() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t half = sorted.size() / 2;
    const double median =
        sorted.size() % 2 == 1 ? sorted[half] : 0.5 * (sorted[half - 1] + sorted[half]);
    return static_cast<double>(pass.units) / median;
  }
};

run::Control until_interrupt() {
  run::Control control;
  control.stopped = [] { return interrupted(); };
  return control;
}

void note(double residual, double& largest) {
  if (std::isfinite(residual)) largest = std::max(largest, residual);
}

/// The tasks again and again, `count` in all.
template <class Task>
std::vector<Task> repeated(const std::vector<Task>& tasks, std::int64_t count) {
  std::vector<Task> all;
  for (std::int64_t i = 0; i < count; ++i) {
    all.push_back(tasks[static_cast<std::size_t>(i) % tasks.size()]);
  }
  return all;
}

FamilyWork scenario_work(const FamilyBench& bench) {
  StepOptions options;
  options.target = bench.target;
  options.set = bench.set;
  const run::StepWorlds one = step_worlds_of(options);
  const auto run = [one](Backend backend, int threads, std::int64_t count) {
    run::StepWorlds worlds = one;
    worlds.worlds = count;
    worlds.parameters.clear();
    for (std::int64_t w = 0; w < count; ++w) {
      worlds.parameters.insert(worlds.parameters.end(), one.parameters.begin(),
                               one.parameters.end());
    }
    worlds.step_size.assign(static_cast<std::size_t>(count), one.step_size[0]);
    worlds.steps.assign(static_cast<std::size_t>(count), std::min(one.steps[0], kMostSteps));
    run::StepRequest request;
    request.settings.threads = threads;
    request.backend = backend;
    const run::StepRun result = run::run_worlds(worlds, request, until_interrupt());
    FamilyPass pass{result.steps_taken(), result.failed_worlds(), 0.0};
    note(result.max_residual(), pass.residual);
    return pass;
  };
  return {"scenario", "world steps", 256, 4, run};
}

FamilyWork posture_work(const FamilyBench& bench) {
  EquilibriumOptions options;
  options.target = bench.target;
  options.set = bench.set;
  const std::vector<run::PostureTask> tasks = load_postures(options);
  const auto run = [tasks](Backend backend, int threads, std::int64_t count) {
    run::PostureRequest request;
    request.planar.threads = request.spatial.threads = threads;
    request.backend = backend;
    FamilyPass pass{count, 0, 0.0};
    for (const run::EquilibriumRun& result :
         run::run_postures(repeated(tasks, count), request, until_interrupt())) {
      const Status status = result.status();
      const bool answered =
          status == Status::solved || status == Status::infeasible || status == Status::unbounded;
      if (!answered) ++pass.failed;
      note(result.residual(), pass.residual);
    }
    return pass;
  };
  const auto number = static_cast<std::int64_t>(tasks.size());
  return {"posture", "postures", std::max<std::int64_t>(256, number),
          std::max<std::int64_t>(4, number), run};
}

FamilyWork stance_work(const FamilyBench& bench) {
  StabilityOptions options;
  options.target = bench.target;
  options.set = bench.set;
  options.settings.set("seed", "0");
  const run::StancePoints all = stance_points(options);
  const auto number = static_cast<std::int64_t>(all.stances.size());
  const auto run = [all, number](Backend backend, int threads, std::int64_t count) {
    run::StancePoints points = all;  // spread evenly over a chart
    points.stances.clear();
    points.at.clear();
    for (std::int64_t i = 0; i < count; ++i) {
      const auto k = static_cast<std::size_t>(count < number ? i * number / count : i % number);
      points.stances.push_back(all.stances[k]);
      points.at.push_back(all.at[k]);
    }
    StabilitySettings settings;
    settings.threads = threads;
    const run::StabilityRun result =
        run::run_stability(std::move(points), settings, backend, {}, until_interrupt());
    return FamilyPass{static_cast<std::int64_t>(result.points.stances.size()), 0, 0.0};
  };
  return {"stance", "stances", std::max<std::int64_t>(256, std::min<std::int64_t>(number, 4096)),
          16, run};
}

FamilyWork motion_work(const FamilyBench& bench) {
  MotionOptions options;
  options.target.target = bench.target;
  options.target.set = bench.set;
  options.settings.set("seed", "0");
  options.settings.set("first_problem", "0");
  motion_plan(options);  // refuses what is wrong before anything is measured
  const auto run = [options](Backend backend, int threads, std::int64_t count) {
    MotionOptions own = options;
    own.backend = to_string(backend);
    own.settings.set("samples", std::to_string(count));
    own.settings.set("threads", std::to_string(threads));
    const run::MotionRunResult result = run::run_motions(motion_plan(own), until_interrupt());
    FamilyPass pass;
    for (const run::MotionOutcome& outcome : result.outcomes) {
      pass.units += outcome.summary.samples;
      pass.failed += outcome.summary.ended_failed;
      note(outcome.summary.max_residual, pass.residual);
    }
    return pass;
  };
  return {"motion", "motions", 256, 0, run};
}

FamilyWork step_file_work(const FamilyBench& bench) {
  const std::vector<CompliantProblem> problems = io::read_steps(bench.target);
  const auto run = [problems](Backend backend, int threads, std::int64_t count) {
    CompliantSettings settings;
    settings.threads = threads;
    const run::ArrayStepRun result =
        run::run_array_steps(repeated(problems, count), settings, backend, until_interrupt());
    FamilyPass pass{count, 0, 0.0};
    for (std::size_t i = 0; i < result.problems.size(); ++i) {
      if (result.status_of(i) != Status::solved) ++pass.failed;
      note(run::step_of(result, i).number("residual"), pass.residual);
    }
    return pass;
  };
  const auto number = static_cast<std::int64_t>(problems.size());
  return {"steps of a file", "steps", std::max<std::int64_t>(1024, number),
          std::max<std::int64_t>(64, number), run};
}

FamilyWork program_work(const FamilyBench& bench) {
  const run::Cases cases = io::read_cases(bench.target);
  const auto run = [cases](Backend backend, int threads, std::int64_t count) {
    run::CaseSettings settings;
    settings.backend = backend;
    settings.threads = threads;
    FamilyPass pass{count, 0, 0.0};
    for (const run::CaseAnswer& answer : run::solve_cases(repeated(cases, count), settings)) {
      const bool decided = answer.status == Status::solved || answer.status == Status::infeasible ||
                           answer.status == Status::unbounded;
      if (!decided) ++pass.failed;
      note(answer.residual, pass.residual);
    }
    return pass;
  };
  const auto number = static_cast<std::int64_t>(cases.size());
  return {"programs of a file", "problems", std::max<std::int64_t>(1024, number),
          std::max<std::int64_t>(64, number), run};
}

FamilyWork work_of(const FamilyBench& bench) {
  const std::string& target = bench.target;
  if (is_named(models::scenarios(), target)) return scenario_work(bench);
  if (is_named(models::postures(), target)) return posture_work(bench);
  if (is_named(models::stances(), target)) return stance_work(bench);
  if (is_named(models::motions(), target)) return motion_work(bench);
  const io::FileKind kind = io::kind_of_file(target);
  if (kind == io::FileKind::posture) return posture_work(bench);
  if (kind == io::FileKind::stance) return stance_work(bench);
  if (kind == io::FileKind::motion) return motion_work(bench);
  if (!bench.set.empty()) {
    throw InvalidInput(fmt::format("--set {}: {} is a file, whose problems have no parameters",
                                   bench.set[0], target));
  }
  return kind == io::FileKind::step ? step_file_work(bench) : program_work(bench);
}

std::vector<FamilyContestant> family_contestants(const FamilyBench& bench, const FamilyWork& work) {
  const int all = bench.threads > 0 ? bench.threads : hardware_threads();
  const bool every = value_of<Backend>(bench.backend) == Backend::automatic;
  const Backend wanted = backend_named("--backend", bench.backend);
  const std::int64_t count = bench.count > 0 ? bench.count : work.count;
  const std::vector<Backend> available = available_backends();
  std::vector<FamilyContestant> list;
  const auto add = [&](Backend backend, int threads, std::int64_t number) {
    const bool there =
        every ? std::find(available.begin(), available.end(), backend) != available.end()
              : backend == wanted;
    if (there && number > 0) list.push_back({backend, threads, number, {}, {}});
  };
  add(Backend::reference, 1, std::min(count, work.fewer));
  add(Backend::cpu, 1, count);
  if (all > 1) add(Backend::cpu, all, count);
  add(Backend::cuda, 1, count);
  if (list.empty()) {
    throw InvalidInput(fmt::format("--backend is {}: it does not compute {}, a {}", bench.backend,
                                   bench.target, work.kind));
  }
  return list;
}

void take(FamilyContestant& contestant, const FamilyWork& work) {
  const auto start = std::chrono::steady_clock::now();
  const FamilyPass pass = work.run(contestant.backend, contestant.threads, contestant.count);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  if (interrupted()) return;
  contestant.pass = pass;
  contestant.seconds.push_back(passed.count());
}

void print_family(const FamilyBench& bench, const FamilyWork& work,
                  const std::vector<FamilyContestant>& list) {
  if (bench.json) {
    nlohmann::ordered_json document;
    document["target"] = bench.target;
    document["kind"] = work.kind;
    document["unit"] = work.unit;
    document["instruction_set"] = cpu_instruction_set();
    document["results"] = nlohmann::ordered_json::array();
    for (const FamilyContestant& contestant : list) {
      nlohmann::ordered_json entry;
      entry["backend"] = to_string(contestant.backend);
      entry["threads"] = contestant.threads;
      entry["problems"] = contestant.count;
      entry["units"] = contestant.pass.units;
      entry["seconds"] = contestant.seconds;
      entry["per_second"] = contestant.rate();
      entry["ratio"] = contestant.rate() / list.front().rate();
      entry["failed"] = contestant.pass.failed;
      entry["max_residual"] = contestant.pass.residual;
      document["results"].push_back(entry);
    }
    print_document(document);
    return;
  }
  fmt::print("{}: {}; medians of {} passes taken in turn\n\n", io::printable(bench.target),
             work.kind, list.front().seconds.size());
  const auto row = [&](std::vector<std::string> cells) {
    if (work.unit == "problems") cells.erase(cells.begin() + 3);  // the rate counts problems
    return cells;
  };
  TextTable table(row({"backend", "threads", "problems", work.unit, work.unit + "/s", "ratio",
                       "failed", "largest residual"}));
  for (const FamilyContestant& contestant : list) {
    table.add(row({std::string(to_string(contestant.backend)),
                   contestant.backend == Backend::cuda ? "-" : std::to_string(contestant.threads),
                   std::to_string(contestant.count), std::to_string(contestant.pass.units),
                   fmt::format("{:.3g}", contestant.rate()),
                   fmt::format("{:.1f}", contestant.rate() / list.front().rate()),
                   std::to_string(contestant.pass.failed),
                   fmt::format("{:.1e}", contestant.pass.residual)}));
  }
  fmt::print("{}", table.text());
}

}  // namespace

bool is_of_other_family(const std::string& target) {
  if (is_named(models::scenarios(), target) || is_named(models::postures(), target) ||
      is_named(models::stances(), target) || is_named(models::motions(), target)) {
    return true;
  }
  if (!file_exists(target)) return false;
  const io::FileKind kind = io::kind_of_file(target);
  return kind == io::FileKind::posture || kind == io::FileKind::stance ||
         kind == io::FileKind::motion || kind == io::FileKind::step ||
         kind == io::FileKind::program;
}

int bench_family(const FamilyBench& bench) {
  const FamilyWork work = work_of(bench);
  std::vector<FamilyContestant> list = family_contestants(bench, work);
  const InterruptGuard guard;
  for (const FamilyContestant& contestant : list) {  // first calls pay for threads and memory
    work.run(contestant.backend, contestant.threads, std::min<std::int64_t>(contestant.count, 2));
  }
  for (std::int64_t i = 0; i < bench.repetitions && !interrupted(); ++i) {
    for (FamilyContestant& contestant : list) {
      if (!interrupted()) take(contestant, work);
    }
  }
  if (interrupted() && list.back().seconds.empty()) return kInterrupted;
  if (bench.json || !bench.quiet) print_family(bench, work, list);
  if (interrupted()) return kInterrupted;
  const bool failed = std::any_of(list.begin(), list.end(), [](const FamilyContestant& contestant) {
    return contestant.pass.failed > 0;
  });
  return failed ? kUnsuccessful : kSuccess;
}

}  // namespace carom::cli
