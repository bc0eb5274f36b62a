#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <carom/backend.hpp>
#include <carom/models/models.hpp>

#include "cli/bench_families.hpp"
#include "cli/choices.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_output.hpp"
#include "cli/numbers.hpp"
#include "cli/sampling_options.hpp"
#include "cli/table.hpp"
#include "io/printable.hpp"

namespace carom::cli {

namespace {

constexpr std::int64_t kReferenceSamples = 1024;  // a problem; the reference takes its time

struct BenchOptions {
  SamplingOptions sampling;
  std::string repetitions = "5";
  bool samples_given = false;
};

/// One way of sampling the same problems, and what its passes took.
struct Contestant {
  Backend backend = Backend::cpu;
  int threads = 1;
  std::int64_t samples = 0;     ///< a problem
  std::vector<double> seconds;  ///< of each complete pass
  std::int64_t lcp_solves = 0;  ///< of one pass
  std::int64_t failed = 0;
  std::int64_t fallbacks = 0;
  double max_residual = 0.0;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

std::vector<Contestant> contestants(const SamplingOptions& options) {
  ImpactSettings asked;
  options.settings.read(asked);
  const std::int64_t samples = asked.samples;
  const int all = asked.threads > 0 ? asked.threads : hardware_threads();
  const bool every = value_of<Backend>(options.backend) == Backend::automatic;
  const Backend wanted = backend_named("--backend", options.backend);
  std::vector<Contestant> list;
  const std::vector<Backend> available = available_backends();
  const auto add = [&](Backend backend, int count, std::int64_t number) {
    if (every ? std::find(available.begin(), available.end(), backend) == available.end()
              : backend != wanted) {
      return;
    }
    Contestant contestant;
    contestant.backend = backend;
    contestant.threads = count;
    contestant.samples = number;
    list.push_back(contestant);
  };
  add(Backend::reference, 1, every ? std::min(samples, kReferenceSamples) : samples);
  add(Backend::cpu, 1, samples);
  if (all > 1) add(Backend::cpu, all, samples);
  add(Backend::cuda, 1, samples);
  return list;
}

/// One pass of one contestant over all problems; nothing is noted of an interrupted one.
void pass(Contestant& contestant, const std::vector<run::ImpactTask>& tasks,
          SamplingOptions options) {
  options.backend = to_string(contestant.backend);
  options.settings.set("threads", std::to_string(contestant.threads));
  options.settings.set("samples", std::to_string(contestant.samples));
  options.settings.set("epsilon", "0");
  if (is_named(models::all(), options.target)) {  // what figures of the models were measured with
    const models::Model& model = models::find(options.target);
    const auto leave = [&](const char* setting, std::string value) {
      if (options.settings[setting].empty()) options.settings.set(setting, std::move(value));
    };
    leave("step_size", fmt::format("{:.17g}", model.step_size));
    leave("max_steps", std::to_string(model.max_steps));
  }
  options.quiet = true;
  const auto start = std::chrono::steady_clock::now();
  const std::vector<run::ImpactRun> runs = run_impacts(tasks, options);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  if (interrupted()) return;
  contestant.seconds.push_back(passed.count());
  contestant.lcp_solves = contestant.failed = contestant.fallbacks = 0;
  for (const run::ImpactRun& run : runs) {
    contestant.lcp_solves += run.summary.lcp_solves;
    contestant.failed += run.summary.failed;
    contestant.fallbacks += run.summary.fallback_solves;
    contestant.max_residual = std::max(contestant.max_residual, run.summary.max_residual);
  }
}

double rate(const Contestant& contestant, std::size_t problems) {
  return static_cast<double>(contestant.samples) * static_cast<double>(problems) /
         median(contestant.seconds);
}

double certified(const Contestant& contestant, std::size_t problems) {
  const double samples = static_cast<double>(contestant.samples) * static_cast<double>(problems);
  return 1.0 - static_cast<double>(contestant.failed) / samples;
}

double lcps_a_second(const Contestant& contestant) {
  return static_cast<double>(contestant.lcp_solves) / median(contestant.seconds);
}

double fallback_share(const Contestant& contestant) {
  return contestant.lcp_solves == 0 ? 0.0
                                    : static_cast<double>(contestant.fallbacks) /
                                          static_cast<double>(contestant.lcp_solves);
}

/// The contestants that finished a pass, and what they are compared with: the first of them.
struct Results {
  std::vector<run::ImpactTask> tasks;
  std::vector<Contestant> list;

  [[nodiscard]] double ratio(const Contestant& contestant) const {
    return rate(contestant, tasks.size()) / rate(list.front(), tasks.size());
  }
};

void print_json(const Results& results, const SamplingOptions& options) {
  nlohmann::ordered_json document;
  document["target"] = options.target;
  document["problems"] = results.tasks.size();
  document["selection"] = options.settings["selection"];
  document["instruction_set"] = cpu_instruction_set();
  document["results"] = nlohmann::ordered_json::array();
  for (const Contestant& contestant : results.list) {
    nlohmann::ordered_json entry;
    entry["backend"] = to_string(contestant.backend);
    entry["threads"] = contestant.threads;
    entry["samples"] = contestant.samples;
    entry["seconds"] = contestant.seconds;
    entry["samples_per_second"] = rate(contestant, results.tasks.size());
    entry["lcps_per_second"] = lcps_a_second(contestant);
    entry["ratio"] = results.ratio(contestant);
    entry["certified"] = certified(contestant, results.tasks.size());
    entry["fallback"] = fallback_share(contestant);
    entry["max_residual"] = contestant.max_residual;
    document["results"].push_back(entry);
  }
  print_document(document);
}

void print_text(const Results& results, const SamplingOptions& options) {
  fmt::print("{}: {} {}, selection {}; medians of {} passes taken in turn\n\n",
             io::printable(options.target), results.tasks.size(),
             results.tasks.size() == 1 ? "problem" : "problems", options.settings["selection"],
             results.list.front().seconds.size());
  TextTable table({"backend", "threads", "samples", "samples/s", "LCPs/s", "ratio", "certified",
                   "fallbacks", "largest residual"});
  for (const Contestant& contestant : results.list) {
    table.add({std::string(to_string(contestant.backend)),
               contestant.backend == Backend::cuda ? "-" : std::to_string(contestant.threads),
               std::to_string(contestant.samples),
               fmt::format("{:.3g}", rate(contestant, results.tasks.size())),
               fmt::format("{:.3g}", lcps_a_second(contestant)),
               fmt::format("{:.1f}", results.ratio(contestant)),
               fmt::format("{:.3f} %", 100.0 * certified(contestant, results.tasks.size())),
               fmt::format("{:.3f} %", 100.0 * fallback_share(contestant)),
               fmt::format("{:.1e}", contestant.max_residual)});
  }
  fmt::print("{}", table.text());
}

int run_bench(const BenchOptions& options) {
  const std::int64_t repetitions = parse_count("--repetitions", options.repetitions, 1, 1000);
  const SamplingOptions& sampling = options.sampling;
  if (!is_named(models::all(), sampling.target) && is_of_other_family(sampling.target)) {
    ImpactSettings asked;
    sampling.settings.read(asked);
    return bench_family({sampling.target, sampling.set, options.samples_given ? asked.samples : 0,
                         asked.threads, sampling.backend, repetitions, sampling.json,
                         sampling.quiet});
  }
  Results results;
  results.tasks = load_tasks(options.sampling);
  results.list = contestants(options.sampling);
  const InterruptGuard guard;
  for (Contestant contestant : results.list) {  // first calls pay for threads and memory
    contestant.samples = std::min<std::int64_t>(contestant.samples, 64);
    pass(contestant, results.tasks, options.sampling);
  }
  // In turn, so that whatever else the machine does meets them all.
  for (std::int64_t i = 0; i < repetitions && !interrupted(); ++i) {
    for (Contestant& contestant : results.list) {
      if (!interrupted()) pass(contestant, results.tasks, options.sampling);
    }
  }
  if (interrupted() && results.list.back().seconds.empty()) return kInterrupted;
  if (options.sampling.json) {
    print_json(results, options.sampling);
  } else if (!options.sampling.quiet) {
    print_text(results, options.sampling);
  }
  if (interrupted()) return kInterrupted;
  const bool failed = std::any_of(results.list.begin(), results.list.end(),
                                  [](const Contestant& c) { return c.failed > 0; });
  return failed ? kUnsuccessful : kSuccess;
}

}  // namespace

void add_bench(Program& program) {
  CLI::App* command = program.app.add_subcommand("bench", "Measure the backends on a problem");
  command->footer(
      "Samples the same problems with the reference, with the CPU on one thread and on all, and\n"
      "with CUDA where there is a device; --backend picks one of them. Wall time, everything\n"
      "included; the ratio is that of samples/s to the first line's. The reference takes at most\n"
      "1024 samples a problem unless it is the one picked.\n\n"
      "Scenarios, postures, stances, motions and files of them, of steps and of what carom solve\n"
      "takes are measured likewise: --samples is then the number of worlds (up to 1000 steps "
      "each),\n"
      "postures, stances, motions or problems. Of the other options only --set, --threads,\n"
      "--backend and --repetitions have an effect.\n\n"
      "Example: carom bench rocking_block --samples 2^18\n"
      "         carom bench inclined_block --samples 1024");
  const auto options = std::make_shared<BenchOptions>();
  options->sampling.settings.set("samples", "2^16");
  add_sampling_options(*command, options->sampling);
  command
      ->add_option("--repetitions", options->repetitions, "Passes of each backend, taken in turn")
      ->type_name("N")
      ->capture_default_str();
  command->callback([&program, command, options] {
    options->samples_given = command->count("--samples") > 0;
    program.chosen = [options] { return run_bench(*options); };
  });
}

}  // namespace carom::cli
