#include <fmt/format.h>

#include <memory>

#include <carom/error.hpp>

#include "cli/choices.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_output.hpp"
#include "cli/output_files.hpp"
#include "cli/progress.hpp"
#include "cli/stability_options.hpp"
#include "cli/stability_report.hpp"
#include "io/gnuplot.hpp"
#include "io/stability_hdf5.hpp"
#include "io/stability_json.hpp"
#include "io/stability_picture.hpp"

namespace carom::cli {

namespace {

int run_stability_command(const StabilityOptions& options, const std::string& command_line) {
  StabilitySettings settings;
  options.settings.read(settings);
  settings.validate();
  run::StancePoints points = stance_points(options);
  const run::StanceQuestions questions = stance_questions(options, points);
  const Backend backend = backend_named("--backend", options.backend);
  require_output(options.output);
  require_picture(options.plot);
  if (!options.plot.empty()) {
    if (points.drawn()) {
      throw InvalidInput("--plot: drawn points make no chart: --sweep one or two parameters");
    }
    io::require_gnuplot();
  }
  const InterruptGuard guard;
  ProgressBar bar(options, "stances");
  const run::StabilityRun run =
      run::run_stability(std::move(points), settings, backend, questions, follow(bar));
  if (options.json) {
    print_document(io::stability_json(run));
  } else if (!options.quiet) {
    fmt::print("{}", stability_report(run));
  }
  if (!options.output.empty()) io::write_stability_hdf5(options.output, run, command_line);
  if (!options.plot.empty()) io::draw_stability(options.plot, run);
  return interrupted() ? kInterrupted : kSuccess;
}

}  // namespace

void add_stability(Program& program) {
  CLI::App* command = program.app.add_subcommand(
      "stability", "Whether stances on contacts return to rest, with proofs");
  command->footer("Example: carom stability figure2 --plot figure2.svg");
  const auto options = std::make_shared<StabilityOptions>();
  add_stability_options(*command, *options);
  command->callback([&program, options] {
    program.chosen = [&program, options] {
      return run_stability_command(*options, program.command_line);
    };
  });
}

}  // namespace carom::cli
