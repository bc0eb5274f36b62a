#include <memory>
#include <string>
#include <vector>

#include <carom/error.hpp>

#include "cli/commands.hpp"
#include "cli/target.hpp"
#include "cli/verify_files.hpp"
#include "io/answers_kept.hpp"
#include "io/enclosure_kept.hpp"
#include "io/impact_kept.hpp"
#include "io/paths_kept.hpp"

namespace carom::cli {

namespace {

constexpr const char* kFooter =
    R"(Recomputes what a file of carom impact, carom stability or carom solve says, in exact arithmetic
and without the code that made it. Each statement is proven or refuted, or not judged because it
claims nothing; fields that are not recomputed are listed by name. Exit status 1 where anything is
refuted. Answers of carom solve --json come without their problems:
--problem names the files that were solved, in the same order.

Example: carom verify chart.h5
         carom verify answers.json --problem problems.json)";

struct VerifyOptions {
  std::string file;
  std::vector<std::string> problems;
  TextOptions text;
};

VerifyReport report_of(const VerifyOptions& options) {
  if (!file_exists(options.file)) throw InvalidInput(options.file + ": no such file");
  if (io::holds_case_answers(options.file)) return verify_answers(options.file, options.problems);
  if (!options.problems.empty()) {
    throw InvalidInput("--problem: " + options.file + " has no answers of carom solve");
  }
  const bool impacts = io::holds_impacts(options.file);
  const auto with_samples = [&](VerifyReport report) {
    if (impacts) report.join(verify_impacts(options.file, options.text));
    return report;
  };
  if (io::holds_enclosures(options.file)) return with_samples(verify_enclosures(options.file));
  if (io::holds_paths(options.file)) return with_samples(verify_paths(options.file, options.text));
  return impacts ? verify_impacts(options.file, options.text) : verify_stability(options.file);
}

}  // namespace

void add_verify(Program& program) {
  CLI::App* command = program.app.add_subcommand(
      "verify", "Check the statements of a stored answer exactly, using only its file");
  command->footer(kFooter);
  const auto options = std::make_shared<VerifyOptions>();
  command
      ->add_option("file", options->file,
                   "What carom impact --output, carom impact --enclose --json, carom stability or "
                   "carom solve "
                   "wrote")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--problem", options->problems, "What carom solve --json solved, in its order")
      ->type_name("FILE");
  add_text_options(*command, options->text);
  command->callback([&program, options] {
    program.chosen = [options] {
      return print_report(options->file, report_of(*options), options->text);
    };
  });
}

}  // namespace carom::cli
