#include <string>

#include "cli/commands.hpp"
#include "core/left_out.hpp"

/// The commands of a build for scripts/demo.sh that it leaves out.
namespace carom::cli {

namespace {

void leave_out(Program& program, const std::string& name) {
  CLI::App* command = program.app.add_subcommand(name, "Not in this build");
  command->prefix_command();
  command->callback([&program, name] {
    program.chosen = [name]() -> int { left_out(("carom " + name).c_str()); };
  });
}

}  // namespace

void add_models(Program& program) { leave_out(program, "models"); }
void add_motion(Program& program) { leave_out(program, "motion"); }
void add_stability(Program& program) { leave_out(program, "stability"); }
void add_solve(Program& program) { leave_out(program, "solve"); }
void add_validate(Program& program) { leave_out(program, "validate"); }
void add_verify(Program& program) { leave_out(program, "verify"); }
void add_rerun(Program& program) { leave_out(program, "rerun"); }
void add_bench(Program& program) { leave_out(program, "bench"); }
void add_man(Program& program) { leave_out(program, "man"); }
void add_completion(Program& program) { leave_out(program, "completion"); }

}  // namespace carom::cli
