#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

/// Each command registers itself with the program. If it was called, it sets `chosen` to the
/// function that runs it and returns the exit status.
namespace carom::cli {

// exit statuses
inline constexpr int kSuccess = 0;
inline constexpr int kUnsuccessful = 1;  ///< the run ended, but not well
inline constexpr int kBadInput = 2;
inline constexpr int kInterrupted = 130;

struct Program {
  CLI::App app;
  std::function<int()> chosen;
  std::string command_line;  ///< as it was typed, for the files that are written
  /// Another command line of this program, its name first, to its exit status. Errors: as of the
  /// command.
  std::function<int(const std::vector<std::string>&)> run_again;
};

void add_info(Program& program);
void add_models(Program& program);
void add_impact(Program& program);
void add_impact_models(Program& program);
void add_equilibrium(Program& program);
void add_step(Program& program);
void add_stability(Program& program);
void add_motion(Program& program);
void add_solve(Program& program);
void add_validate(Program& program);
void add_verify(Program& program);
void add_rerun(Program& program);
void add_bench(Program& program);

}  // namespace carom::cli
