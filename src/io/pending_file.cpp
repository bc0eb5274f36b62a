#include "io/pending_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <carom/error.hpp>

#include "io/file_error.hpp"

namespace carom::io {

namespace fs = std::filesystem;

namespace {

fs::path folder_of(const fs::path& target) {
  return target.has_parent_path() ? target.parent_path() : fs::path(".");
}

[[noreturn]] void fail(const fs::path& file, std::string_view what) {
  throw FileError(fmt::format("{}: {}: {}", file.string(), what, std::strerror(errno)));
}

void flush_to_disk(const fs::path& path, const fs::path& blamed) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail(blamed, "cannot be opened");
  const int result = ::fsync(descriptor);
  ::close(descriptor);
  // Some file systems cannot flush a folder; that is not the file's fault.
  if (result != 0 && errno != EINVAL) fail(blamed, "cannot be flushed to the disk");
}

}  // namespace

PendingFile::PendingFile(fs::path target) : target_(std::move(target)) {
  const std::string name = target_.filename().string();
  std::string pattern = (folder_of(target_) / fmt::format(".{}.XXXXXX", name)).string();
  const int descriptor = ::mkstemp(pattern.data());
  if (descriptor < 0) fail(target_, "cannot be created");
  // mkstemp makes a private file; the result gets what a plain open would have given.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor, 0666 & ~mask);
  ::close(descriptor);
  try {
    temporary_ = pattern;
  } catch (...) {
    ::unlink(pattern.c_str());
    throw;
  }
}

PendingFile::~PendingFile() {
  std::error_code ignored;
  if (!committed_) fs::remove(temporary_, ignored);
}

void PendingFile::commit() {
  const fs::path folder = folder_of(target_);  // nothing may fail for memory after the renaming
  flush_to_disk(temporary_, target_);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(target_, "cannot be renamed");
  committed_ = true;
  flush_to_disk(folder, target_);
}

void require_writable(const fs::path& target, std::string_view option,
                      const std::vector<std::string_view>& extensions) {
  const std::string name = target.string();
  const std::string extension = target.extension().string();
  if (std::find(extensions.begin(), extensions.end(), extension) == extensions.end()) {
    throw InvalidInput(
        fmt::format("{} {}: the name must end in {}", option, name, fmt::join(extensions, " or ")));
  }
  std::error_code ignored;
  if (fs::is_directory(target, ignored)) {
    throw InvalidInput(fmt::format("{} {}: is a folder, a file name is needed", option, name));
  }
  const fs::path folder = folder_of(target);
  if (!fs::is_directory(folder, ignored)) {
    throw InvalidInput(
        fmt::format("{} {}: the folder {} does not exist", option, name, folder.string()));
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw InvalidInput(
        fmt::format("{} {}: the folder {} is not writable", option, name, folder.string()));
  }
}

}  // namespace carom::io
