#pragma once

#include <stdexcept>
#include <string>

namespace carom::io {

/// The operating system, HDF5 or gnuplot refused to do something; the message names the file.
class FileError : public std::runtime_error {
 public:
  explicit FileError(const std::string& message) : std::runtime_error(message) {}
};

/// What a file holds cannot be read, or cannot be trusted: bad input.
class DamagedFile : public FileError {
 public:
  using FileError::FileError;
};

}  // namespace carom::io
