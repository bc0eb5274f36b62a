#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/folders.hpp"

extern char** environ;

/// Runs the built command as users do: its own process, its streams and its exit status.
namespace carom::test {

namespace fs = std::filesystem;
using nlohmann::json;

inline std::string read_text(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

inline void write_text(const fs::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary);
  stream << text;
}

/// A file of examples/data.
inline std::string example(const std::string& name) {
  return (repository() / "examples" / "data" / name).string();
}

/// `words` followed by `more`.
inline std::vector<std::string> with(std::vector<std::string> words,
                                     const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// A folder of its own for every test, removed with its content.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "carom-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] fs::path operator/(const std::string& name) const { return path_ / name; }
  [[nodiscard]] std::size_t files() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(path_)) ++count;
    return count;
  }
  [[nodiscard]] std::string file(const std::string& name, const std::string& content) const {
    write_text(path_ / name, content);
    return (path_ / name).string();
  }

 private:
  fs::path path_;
};

struct Outcome {
  int status = -1;  ///< exit status; 128 + signal where a signal ended the process
  std::string out;
  std::string err;

  /// Standard output without what every document says of its origin and settings.
  [[nodiscard]] json document() const {
    json parsed = json::parse(out);
    const auto reduce = [](json& object) {
      if (!object.is_object()) return;
      object.erase("carom");
      object.erase("settings");
      if (object.contains("sampled")) object["sampled"].erase("settings");
    };
    reduce(parsed);
    if (parsed.is_array()) std::for_each(parsed.begin(), parsed.end(), reduce);
    return parsed;
  }
  /// Lines of standard error.
  [[nodiscard]] std::size_t complaints() const {
    return static_cast<std::size_t>(std::count(err.begin(), err.end(), '\n'));
  }
};

/// A started command; `wait` collects it.
class Process {
 public:
  explicit Process(std::vector<std::string> words) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, (scratch_ / "out").c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, (scratch_ / "err").c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const int error =
        posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("cannot start " + words.front());
  }

  void interrupt() const { ::kill(pid_, SIGINT); }
  [[nodiscard]] bool catches_interrupts() const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.rfind("SigCgt:", 0) != 0) continue;
      return (std::stoull(line.substr(7), nullptr, 16) >> (SIGINT - 1) & 1U) != 0U;
    }
    return false;
  }

  /// What it wrote to standard error so far.
  [[nodiscard]] std::string errors() const { return read_text(scratch_ / "err"); }

  Outcome wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    Outcome outcome;
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    outcome.out = read_text(scratch_ / "out");
    outcome.err = read_text(scratch_ / "err");
    return outcome;
  }

 private:
  Scratch scratch_;
  pid_t pid_ = -1;
};

inline std::vector<std::string> carom_words(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), command_path());
  return arguments;
}

inline Outcome carom(std::vector<std::string> arguments) {
  return Process(carom_words(std::move(arguments))).wait();
}

/// Through a shell, for limits and the environment; `$CAROM` is the command.
inline Outcome shell(const std::string& script) {
  return Process({"/bin/sh", "-c", "CAROM='" + command_path() + "'\n" + script}).wait();
}

inline bool have_gnuplot() { return shell("command -v gnuplot").status == 0; }

inline std::vector<std::string> keys(const json& object) {
  std::vector<std::string> result;
  for (const auto& item : object.items()) result.push_back(item.key());
  return result;
}

/// A planar problem that is right in every field; tests spoil one at a time.
inline json block() {
  return json::parse(R"({"name": "block",
    "mass_matrix": [[1, 0, 0], [0, 1, 0], [0, 0, 0.4166666666666667]],
    "normal_jacobian": [[0, 1, -0.5], [0, 1, 0.5]],
    "tangent_jacobian": [[1, 0, 1], [1, 0, 1]],
    "friction": [1, 1], "velocity": [0, -0.4429, 0]})");
}

}  // namespace carom::test
