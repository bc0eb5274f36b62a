#include <csignal>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <carom/backend.hpp>
#include <carom/error.hpp>

#include "cli/commands.hpp"
#include "cli/json_output.hpp"
#include "cli/manual.hpp"
#include "cli/opened_outputs.hpp"
#include "io/command_line.hpp"
#include "io/file_error.hpp"
#include "io/memory_reserve.hpp"
#include "io/printable.hpp"

namespace {

// For what destroying the results may ask of a memory that is full.
constexpr std::size_t kReserveBytes = std::size_t{1} << 20;

// Errors are one line, whatever text an error came with.
int complain(std::string message, int status) {
  while (!message.empty() && message.back() == '\n') message.pop_back();
  for (char& c : message) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  fmt::print(stderr, "carom: {}\n", carom::io::printable(message));
  return status;
}

// An unset shell variable must not pass for an option that was left out.
[[noreturn]] void refuse_empty(const std::string& name) {
  throw carom::InvalidInput(name + " is empty: give it a value or leave it out");
}

void refuse_empty_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) continue;  // a flag
    option->check([name = option->get_name()](const std::string& value) {
      if (value.empty()) refuse_empty(name);
      return std::string();
    });
  }
  for (CLI::App* command : app.get_subcommands({})) refuse_empty_values(*command);
}

// After `--output=` the parser would take the next word for the value.
void refuse_bare_equals(const std::vector<std::string>& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--") return;
    const bool bare = word.size() > 2 && word.front() == '-' && word.find('=') == word.size() - 1;
    if (bare) refuse_empty(std::string(word.substr(0, word.size() - 1)));
  }
}

std::string version_line() {
  const carom::BuildInfo& build = carom::build_info();
  return fmt::format("carom {} (commit {})", build.version, build.commit);
}

// `--set a=1 b=2` is `--set a=1 --set b=2`, and so are --sweep and --random.
std::vector<std::string> spread(std::vector<std::string> words) {
  const auto assigns = [](const std::string& word) {
    const std::size_t equals = word.find('=');
    return equals != std::string::npos && equals > 0 && word.front() != '-' &&
           word.find_first_of("/.") > equals;
  };
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    const std::string option = words[i];
    if (option != "--set" && option != "--sweep" && option != "--random") continue;
    for (std::size_t k = i + 2; k < words.size() && assigns(words[k]); k += 2) {
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(k), option);
    }
  }
  return words;
}

// What the parser says, with the command that was meant.
std::string complaint(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const std::string command = chosen.empty() ? "carom" : "carom " + chosen.front()->get_name();
  const std::vector<std::string> extra = app.remaining(true);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !extra.empty()) {
    return fmt::format("{} is not an argument of {}; see {} --help", extra.front(), command,
                       command);
  }
  return fmt::format("{}; see {} --help", error.what(), command);
}

// words: those of the line, the program's name first.
int run(std::vector<std::string> words) {
  using namespace carom::cli;
  words.front() = "carom";
  Program program;
  program.command_line = carom::io::joined_words(words);
  set_origin(program.command_line);
  program.run_again = run;
  const OpenedOutputs opened(spread(std::move(words)));
  const std::vector<std::string>& read = opened.words();
  program.app.name("carom");
  program.app.description(
      "Batched small contact-mechanics problems on CPU and GPU.\n"
      "Numbers are SI units; --help after a command shows its options and an example.");
  program.app.set_version_flag("--version", version_line());
  program.app.require_subcommand(1);
  program.app.footer("Example: carom impact rocking_block --samples 2^16 --plot block.svg");
  program.app.get_formatter()->column_width(34);
  add_info(program);
  add_models(program);
  add_impact(program);
  add_impact_models(program);
  add_equilibrium(program);
  add_step(program);
  add_stability(program);
  add_motion(program);
  add_solve(program);
  add_validate(program);
  add_verify(program);
  add_rerun(program);
  add_bench(program);
  add_man(program);
  add_completion(program);
  refuse_bare_equals(read);
  refuse_empty_values(program.app);
  try {
    // the parser takes the words from the back
    std::vector<std::string> arguments(read.rbegin(), read.rend() - 1);
    program.app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.app.exit(error);  // --help, --version
    const bool no_command = program.app.get_subcommands().empty();
    if (no_command && read.size() > 1 && !read[1].empty() && read[1].front() != '-') {
      std::vector<std::string> known;
      for (const CLI::App* command : program.app.get_subcommands({})) {
        known.push_back(command->get_name());
      }
      return complain(
          fmt::format("unknown command {}: known are {}", read[1], fmt::join(known, ", ")),
          kBadInput);
    }
    return complain(complaint(program.app, error), kBadInput);
  }
  return program.chosen();
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a full quota is an error of the write, not the end of all
  try {
    const carom::io::MemoryReserve reserve(kReserveBytes);
    const int status = run(std::vector<std::string>(argv, argv + argc));
    std::cout.flush();
    if (!std::cout || std::fflush(stdout) != 0) {
      return complain("standard output: cannot be written", carom::cli::kUnsuccessful);
    }
    return status;
  } catch (const carom::InvalidInput& error) {
    return complain(error.what(), carom::cli::kBadInput);
  } catch (const carom::io::DamagedFile& error) {
    return complain(error.what(), carom::cli::kBadInput);
  } catch (const carom::BackendUnavailable& error) {
    return complain(error.what(), carom::cli::kBadInput);
  } catch (const std::bad_alloc&) {
    return complain("not enough memory: ask for fewer samples or keep fewer rows",
                    carom::cli::kUnsuccessful);
  } catch (const std::exception& error) {
    return complain(error.what(), carom::cli::kUnsuccessful);
  }
}
