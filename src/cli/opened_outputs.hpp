#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace carom::cli {

/// A folder that goes with its owner.
class TemporaryFolder {
 public:
  TemporaryFolder() = default;
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// Made on the first call. Errors: io::FileError.
  const std::filesystem::path& path();

 private:
  std::filesystem::path path_;
};

/// A command line in which outputs of carom stand for the problems that they were made from: a file
/// with a record (io/hdf5_output.hpp) is replaced by the copy of the input that it keeps, or by its
/// built-in model with the words that made the problems: --set, --sweep, --random, --draws, --seed
/// where they were drawn, and those that choose some of them.
class OpenedOutputs {
 public:
  /// Errors: InvalidInput where the file is another command's, or its problems were made by another
  /// value of an option that is given.
  explicit OpenedOutputs(std::vector<std::string> words);

  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }

 private:
  void open(std::size_t place);

  std::vector<std::string> words_;
  TemporaryFolder folder_;
};

/// Writes the copy of the input that stood at `place` of the recorded command line into `folder`;
/// empty where the file keeps none. Errors: io::FileError.
std::filesystem::path extract_input(const std::filesystem::path& output, std::size_t place,
                                    const std::filesystem::path& folder);

}  // namespace carom::cli
