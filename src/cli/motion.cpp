#include <fmt/format.h>

#include <memory>

#include <carom/error.hpp>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_output.hpp"
#include "cli/motion_options.hpp"
#include "cli/motion_report.hpp"
#include "cli/output_files.hpp"
#include "cli/progress.hpp"
#include "io/gnuplot.hpp"
#include "io/motion_animation.hpp"
#include "io/motion_hdf5.hpp"
#include "io/motion_json.hpp"
#include "io/motion_picture.hpp"

namespace carom::cli {

namespace {

int run_motion_command(const MotionOptions& options, const std::string& command_line) {
  run::MotionPlan plan = motion_plan(options);
  require_output(options.output);
  require_picture(options.plot);
  require_animation(options.animate);
  for (const auto& [option, file] :
       {std::pair{"--plot", &options.plot}, {"--animate", &options.animate}}) {
    if (file->empty() || plan.tasks.size() < 2) continue;
    throw InvalidInput(
        fmt::format("{} draws one problem, there are {}: choose one with --problem or --set",
                    option, plan.tasks.size()));
  }
  if (!options.plot.empty()) io::require_gnuplot();
  const InterruptGuard guard;
  ProgressBar bar(options, "motions");
  const run::MotionRunResult run = run::run_motions(std::move(plan), follow(bar));
  if (options.json) {
    print_document(io::motion_json(run, options.events));
  } else if (!options.quiet) {
    fmt::print("{}", motion_report(run, options.events));
  }
  if (!options.output.empty()) io::write_motion_hdf5(options.output, run, command_line);
  if (!options.plot.empty()) io::draw_motion(options.plot, run);
  if (!options.animate.empty()) io::animate_motion(options.animate, run);
  return interrupted() ? kInterrupted : kSuccess;
}

}  // namespace

void add_motion(Program& program) {
  CLI::App* command = program.app.add_subcommand(
      "motion", "Motions in time through impacts, sliding, Painleve and Zeno, sampled");
  command->footer("Example: carom motion rocking_block_zeno --duration 4 --plot zeno.svg");
  const auto options = std::make_shared<MotionOptions>();
  add_motion_options(*command, *options);
  command->callback([&program, options] {
    program.chosen = [&program, options] {
      return run_motion_command(*options, program.command_line);
    };
  });
}

}  // namespace carom::cli
