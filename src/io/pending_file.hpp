#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace carom::io {

/// A file under construction. It is written under a hidden name next to its target and moved there
/// by `commit`; without it nothing remains and an existing target is untouched.
class PendingFile {
 public:
  /// Creates the empty hidden file. Errors: FileError.
  explicit PendingFile(std::filesystem::path target);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return temporary_; }

  /// Flushes the content to the disk and gives it its name. Errors: FileError.
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path temporary_;
  bool committed_ = false;
};

/// Refuses a target that cannot become a file, before hours are spent on its content.
/// `option` is the word that the message blames. Errors: InvalidInput.
void require_writable(const std::filesystem::path& target, std::string_view option,
                      const std::vector<std::string_view>& extensions);

}  // namespace carom::io
