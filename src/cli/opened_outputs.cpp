#include "cli/opened_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <carom/error.hpp>

#include "io/command_line.hpp"
#include "io/file_error.hpp"
#include "io/hdf5_file.hpp"

namespace carom::cli {

namespace {

// Commands whose problems may come from another one's output.
bool same_problems(std::string_view a, std::string_view b) {
  const auto impacts = [](std::string_view command) {
    return command == "impact" || command == "impact-models";
  };
  return a == b || (impacts(a) && impacts(b)) || a == "validate" || a == "bench";
}

bool reads_problems(std::string_view command) {
  static constexpr std::string_view kCommands[] = {
      "impact", "impact-models", "equilibrium", "step", "stability", "motion", "validate", "bench"};
  return std::find(std::begin(kCommands), std::end(kCommands), command) != std::end(kCommands);
}

// The value of an option that is given once; none where it is not.
std::optional<std::string> value_of(const std::vector<std::string>& words,
                                    const std::string& option) {
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (words[i] == option && i + 1 < words.size()) return words[i + 1];
    if (words[i].rfind(option + "=", 0) == 0) return words[i].substr(option.size() + 1);
  }
  return std::nullopt;
}

// What of a command line belongs to the problems rather than to how they are solved.
std::vector<std::string> problem_words(const std::vector<std::string>& words) {
  std::vector<std::string> own;
  for (std::size_t i = 2; i < words.size(); ++i) {
    for (const char* option : {"--set", "--sweep", "--random"}) {
      if (words[i] == option) {
        // --set takes several
        for (std::size_t k = i + 1;
             k < words.size() && words[k].find('=') != std::string::npos && words[k][0] != '-';
             ++k) {
          own.insert(own.end(), {option, words[k]});
        }
      } else if (words[i].rfind(std::string(option) + "=", 0) == 0) {
        own.push_back(words[i]);
      }
    }
  }
  return own;
}

// The options that say which problems these are and are given once, with their values. A drawn
// problem is a function of the seed too.
std::vector<std::pair<std::string, std::string>> problem_choices(
    const std::vector<std::string>& words, bool drawn) {
  std::vector<std::pair<std::string, std::string>> choices;
  for (const char* option :
       {"--draws", "--problem", "--first-problem", "--worlds", "--first-world"}) {
    if (auto value = value_of(words, option)) choices.emplace_back(option, std::move(*value));
  }
  if (drawn) choices.emplace_back("--seed", value_of(words, "--seed").value_or("0"));
  return choices;
}

// The model, posture, ... of a line without an input file.
std::string target_of(const std::vector<std::string>& words) {
  return words.size() > 2 && !words[2].empty() && words[2].front() != '-' ? words[2] : "";
}

}  // namespace

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

const std::filesystem::path& TemporaryFolder::path() {
  if (path_.empty()) {
    std::string pattern = (std::filesystem::temp_directory_path() / "carom-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw io::FileError(pattern + ": the folder cannot be made");
    }
    path_ = pattern;
  }
  return path_;
}

std::filesystem::path extract_input(const std::filesystem::path& output, std::size_t place,
                                    const std::filesystem::path& folder) {
  const io::Hdf5Reader reader(output);
  const std::string set = fmt::format("/input/{}", place);
  if (!reader.has(set)) return {};
  const std::string name =
      std::filesystem::path(reader.text_attribute(set, "name")).filename().string();
  std::filesystem::path file = folder / std::to_string(place) / name;
  std::filesystem::create_directories(file.parent_path());
  const std::vector<std::uint8_t> bytes = reader.bytes(set);
  std::ofstream stream(file, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  if (!stream.flush()) throw io::FileError(file.string() + ": cannot be written");
  return file;
}

OpenedOutputs::OpenedOutputs(std::vector<std::string> words) : words_(std::move(words)) {
  if (words_.size() < 3 || !reads_problems(words_[1])) return;
  const std::vector<std::size_t> inputs = io::input_words(words_);
  for (auto place = inputs.rbegin(); place != inputs.rend(); ++place) open(*place);
}

void OpenedOutputs::open(std::size_t place) {
  const std::string file = words_[place];
  try {
    if (!io::Hdf5Reader::is_hdf5(file)) return;
    const io::Hdf5Reader reader(file);
    if (!reader.has_attribute("/", "command") || !reader.has_attribute("/", "carom_version"))
      return;
    const std::vector<std::string> recorded =
        io::split_words(reader.text_attribute("/", "command"));
    if (recorded.size() < 3) return;
    if (!same_problems(words_[1], recorded[1])) {
      throw InvalidInput(
          fmt::format("{} was written by carom {}: its problems are none of carom {}", file,
                      recorded[1], words_[1]));
    }
    std::string target = target_of(recorded);
    if (reader.has("/input")) {
      const std::vector<std::string> kept = reader.names("/input");
      if (kept.empty()) throw InvalidInput(file + ": /input is empty");
      const auto first = static_cast<std::size_t>(std::atoll(kept.front().c_str()));
      target = extract_input(file, first, folder_.path()).string();
    }
    if (target.empty()) return;
    std::vector<std::string> own = problem_words(recorded);
    const bool drawn = std::any_of(own.begin(), own.end(), [](const std::string& word) {
      return word.rfind("--random", 0) == 0;
    });
    for (const auto& [option, value] : problem_choices(recorded, drawn)) {
      if (words_[1] == "validate" && option.find("world") != std::string::npos) {
        throw InvalidInput(fmt::format(
            "the problems of {} were made with {} {}, which carom validate does not take", file,
            option, value));
      }
      const std::optional<std::string> given = value_of(words_, option);
      if (given && *given != value) {
        throw InvalidInput(
            fmt::format("{} is {}: the problems of {} were made with {} {}: leave it out", option,
                        *given, file, option, value));
      }
      if (!given) own.insert(own.end(), {option, value});
    }
    words_[place] = target;
    words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(place) + 1, own.begin(), own.end());
  } catch (const io::FileError&) {
    // who reads it next says what is wrong with it
  }
}

}  // namespace carom::cli
