#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <carom/backend.hpp>
#include <carom/error.hpp>

#include "cli/commands.hpp"
#include "cli/json_output.hpp"
#include "cli/opened_outputs.hpp"
#include "cli/target.hpp"
#include "io/command_line.hpp"
#include "io/file_comparison.hpp"
#include "io/file_error.hpp"
#include "io/hdf5_file.hpp"
#include "io/json_file.hpp"
#include "io/printable.hpp"

namespace carom::cli {

namespace {

constexpr std::size_t kListed = 20;  // differences

struct RerunOptions {
  std::string file;
  bool json = false;
  bool quiet = false;
};

/// Where a file is from, by its own record.
struct Record {
  bool hdf5 = false;
  std::string version;
  std::string commit;
  std::string command;
  std::string backend;  ///< that computed it; empty where the file does not say
  nlohmann::json document;
};

std::string attribute_or(const io::Hdf5Reader& reader, const std::string& object, const char* name,
                         const std::string& other) {
  return reader.has_attribute(object, name) ? reader.text_attribute(object, name) : other;
}

[[noreturn]] void refuse_unrecorded(const std::string& file) {
  throw InvalidInput(file +
                     ": cannot be run again: it does not say which command wrote it; must be a "
                     "file that carom wrote with --output or --json");
}

Record record_of(const std::string& file) {
  Record record;
  if (io::Hdf5Reader::is_hdf5(file)) {
    const io::Hdf5Reader reader(file);
    record.hdf5 = true;
    record.version = attribute_or(reader, "/", "carom_version", "");
    record.commit = attribute_or(reader, "/", "commit", "");
    record.command = attribute_or(reader, "/", "command", "");
    record.backend = attribute_or(reader, "/", "backend", "");
    for (const std::string& name : reader.names()) {
      if (record.backend.empty()) record.backend = attribute_or(reader, "/" + name, "backend", "");
    }
    if (record.command.empty()) refuse_unrecorded(file);
    return record;
  }
  record.document = io::JsonDocument(file).root();
  const nlohmann::json& first =
      record.document.is_array() && !record.document.empty() ? record.document[0] : record.document;
  if (!first.is_object() || !first.contains("carom")) refuse_unrecorded(file);
  const std::string where = file + ": carom";
  record.version = io::read_text(first["carom"], "version", where);
  record.commit = io::read_text(first["carom"], "commit", where);
  record.command = io::read_text(first["carom"], "command", where);
  for (const char* place : {"", "/settings", "/sampled"}) {
    const nlohmann::json::json_pointer backend(std::string(place) + "/backend");
    if (record.backend.empty() && first.contains(backend) && first[backend].is_string()) {
      record.backend = first[backend];
    }
  }
  return record;
}

/// The recorded line as it is run again: inputs from the file itself, one output, nothing drawn.
struct Line {
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> renamed;  ///< new word, recorded word
};

Line line_of(const Record& record, const std::string& file, TemporaryFolder& folder,
             const std::string& output) {
  const std::vector<std::string> recorded = io::split_words(record.command);
  if (recorded.size() < 2 || recorded[1] == "rerun") refuse_unrecorded(file);
  Line line;
  const auto named = [&recorded](std::size_t i, const char* option) {
    return recorded[i] == option || recorded[i].rfind(std::string(option) + "=", 0) == 0;
  };
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const bool apart = recorded[i].find('=') == std::string::npos;
    if (named(i, "--output") || named(i, "--plot")) {
      i += apart ? 1 : 0;
      continue;
    }
    if (recorded[i] == "--quiet" || recorded[i] == "--json") continue;
    if (named(i, "--backend") && !record.backend.empty()) {  // what auto meant then
      i += apart ? 1 : 0;
      continue;
    }
    std::string word = recorded[i];
    if (record.hdf5 && i > 1) {
      const std::filesystem::path input = extract_input(file, i, folder.path());
      if (!input.empty()) word = input.string();
    }
    if (word != recorded[i]) line.renamed.emplace_back(word, recorded[i]);
    line.words.push_back(std::move(word));
  }
  if (!record.backend.empty() && recorded[1] != "validate") {
    line.words.insert(line.words.end(), {"--backend", record.backend});
  }
  if (record.hdf5) {
    line.words.insert(line.words.end(), {"--quiet", "--output", output});
  } else {
    line.words.emplace_back("--json");
  }
  return line;
}

/// Standard output goes into a file as long as this lives.
class Diverted {
 public:
  explicit Diverted(const std::string& file) {
    std::fflush(stdout);
    kept_ = ::dup(STDOUT_FILENO);
    const int to = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (kept_ < 0 || to < 0 || ::dup2(to, STDOUT_FILENO) < 0) {
      throw io::FileError(file + ": cannot be written");
    }
    ::close(to);
  }
  ~Diverted() {
    std::fflush(stdout);
    ::dup2(kept_, STDOUT_FILENO);
    ::close(kept_);
  }
  Diverted(const Diverted&) = delete;
  Diverted& operator=(const Diverted&) = delete;

 private:
  int kept_ = -1;
};

void print_result(const Record& record, const io::FileComparison& comparison,
                  const RerunOptions& options) {
  const BuildInfo& build = build_info();
  const bool same_build = record.commit == build.commit;
  if (options.json) {
    nlohmann::ordered_json document;
    document["file"] = options.file;
    document["command"] = record.command;
    document["backend"] = record.backend;
    document["written_by"] = {{"version", record.version}, {"commit", record.commit}};
    document["same_commit"] = same_build;
    document["compared"] = comparison.compared;
    document["reproduced"] = comparison.differences.empty();
    document["differences"] = comparison.differences;
    return print_document(document);
  }
  if (options.quiet) return;
  fmt::print("{}: {}\n", io::printable(options.file), io::printable(record.command));
  if (!same_build) {
    fmt::print("  written by carom {}, commit {}; this is commit {}\n", record.version,
               record.commit, build.commit);
  }
  const std::string backend = record.backend.empty() ? "" : fmt::format(" on {}", record.backend);
  if (comparison.differences.empty()) {
    fmt::print("  reproduced bit for bit{}: {} values, data sets and attributes\n", backend,
               comparison.compared);
    return;
  }
  fmt::print("  NOT reproduced{}: {} of {} values, data sets and attributes differ\n", backend,
             comparison.differences.size(), comparison.compared);
  for (std::size_t i = 0; i < comparison.differences.size() && i < kListed; ++i) {
    fmt::print("  {}\n", io::printable(comparison.differences[i]));
  }
  if (comparison.differences.size() > kListed) {
    fmt::print("  and {} more: --json lists all\n", comparison.differences.size() - kListed);
  }
}

int run_rerun(const RerunOptions& options, const Program& program) {
  if (!file_exists(options.file)) {
    throw InvalidInput(options.file +
                       ": no such file; carom rerun takes what --output or --json "
                       "wrote");
  }
  const Record record = record_of(options.file);
  TemporaryFolder folder;
  const std::string again = (folder.path() / (record.hdf5 ? "again.h5" : "again.json")).string();
  const Line line = line_of(record, options.file, folder, again);
  const auto renamed = [&line](std::string text) {
    for (const auto& [now, then] : line.renamed) {
      for (std::size_t at = text.find(now); at != std::string::npos;
           at = text.find(now, at + then.size())) {
        text.replace(at, now.size(), then);
      }
    }
    return text;
  };
  int status = kSuccess;
  if (record.hdf5) {
    status = program.run_again(line.words);
  } else {
    const Diverted diverted(again);
    status = program.run_again(line.words);
  }
  set_origin(program.command_line);
  if (status == kBadInput || status == kInterrupted) return status;
  const io::FileComparison comparison =
      record.hdf5 ? io::compare_hdf5(options.file, again, renamed)
                  : io::compare_json(record.document, io::JsonDocument(again).root(), renamed);
  print_result(record, comparison, options);
  return comparison.differences.empty() ? kSuccess : kUnsuccessful;
}

}  // namespace

void add_rerun(Program& program) {
  CLI::App* command = program.app.add_subcommand(
      "rerun", "Run the command that wrote a file again and compare bit for bit");
  command->footer(
      "Files of --output and --json say which command wrote them; this runs it again on the same\n"
      "backend and compares everything but times. Files of --output keep their inputs, those of\n"
      "--json need them where they were. On the same commit and instruction set nothing differs;\n"
      "what does is listed. Exit status 1 where anything differs.\n\n"
      "Example: carom rerun block.h5");
  const auto options = std::make_shared<RerunOptions>();
  command->add_option("file", options->file, "HDF5 or JSON file that carom wrote")
      ->required()
      ->type_name("FILE");
  command->add_flag("--json", options->json, "One JSON document instead of text");
  command->add_flag("--quiet", options->quiet, "No text: the exit status tells");
  command->callback([&program, options] {
    program.chosen = [&program, options] { return run_rerun(*options, program); };
  });
}

}  // namespace carom::cli
