#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

/// Bytes under the name of a file, in memory where the system has a folder for that.
namespace carom::fuzz {

class ScratchFile {
 public:
  ScratchFile(const std::uint8_t* data, std::size_t size) {
    const char* folder = std::filesystem::exists("/dev/shm") ? "/dev/shm" : "/tmp";
    std::string pattern = std::string(folder) + "/carom-fuzz-XXXXXX";
    const int descriptor = ::mkstemp(pattern.data());
    if (descriptor < 0) std::abort();
    path_ = pattern;
    while (size > 0) {
      const ssize_t written = ::write(descriptor, data, size);
      if (written <= 0) std::abort();
      data += written;
      size -= static_cast<std::size_t>(written);
    }
    ::close(descriptor);
  }
  ~ScratchFile() { ::unlink(path_.c_str()); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace carom::fuzz
