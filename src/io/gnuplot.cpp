#include "io/gnuplot.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include "io/file_error.hpp"
#include "io/pending_file.hpp"

extern char** environ;

namespace carom::io {

namespace fs = std::filesystem;

namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "carom-plot-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw FileError(fmt::format("{}: cannot be created: {}", pattern, std::strerror(errno)));
    }
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] fs::path operator/(const std::string& name) const { return path_ / name; }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void write_text(const fs::path& file, const std::string& content) {
  std::ofstream stream(file, std::ios::binary);
  stream << content;
  stream.close();
  if (!stream) throw FileError(file.string() + ": cannot be written");
}

std::string terminal(const fs::path& target, int width, int height) {
  if (target.extension() == ".png") {
    return fmt::format("set terminal pngcairo enhanced font 'Sans,11' size {},{} linewidth 1.2\n",
                       width, height);
  }
  return fmt::format(
      "set terminal svg enhanced font 'Sans,12' fontscale 1.25 size {},{} background '#ffffff'\n",
      width, height);
}

// gnuplot's complaints begin with the line of the script and a caret; the last line says what.
std::string last_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::string last;
  while (std::getline(stream, line)) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  }
  return last;
}

}  // namespace

void require_gnuplot() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((fs::path(folder.empty() ? "." : folder) / "gnuplot").c_str(), X_OK) == 0) return;
  }
  throw FileError(
      "--plot needs gnuplot, which is not on the PATH: install the package gnuplot-nox (Debian, "
      "Ubuntu) or gnuplot");
}

void run_gnuplot(const std::string& script, std::span<const PlotData> data, int width, int height,
                 const fs::path& target) {
  require_gnuplot();
  const TemporaryFolder folder;
  for (const PlotData& item : data) write_text(folder / item.name, item.content);
  PendingFile picture(target);
  const std::string absolute = fs::absolute(picture.path()).string();
  std::string quoted;
  for (const char c : absolute) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  write_text(folder / "script.gp",
             fmt::format("cd '{}'\n{}set output '{}'\n{}unset output\n", folder.path().string(),
                         terminal(target, width, height), quoted, script));

  const std::string script_file = (folder / "script.gp").string();
  const std::string complaints = (folder / "stderr").string();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, complaints.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  std::string program = "gnuplot";
  std::string argument = script_file;
  char* arguments[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  const int error = posix_spawnp(&child, "gnuplot", &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw FileError(fmt::format("gnuplot: {}", std::strerror(error)));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0 || fs::file_size(picture.path()) == 0) {
    throw FileError(
        fmt::format("{}: gnuplot could not draw it: {}", target.string(), last_line(complaints)));
  }
  picture.commit();
}

}  // namespace carom::io
