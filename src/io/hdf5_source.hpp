#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/hdf5_file.hpp"

namespace carom::io {

/// What Hdf5Reader says of a file, read by HDF5's library in this process. The library itself may
/// end the process on a damaged file: Hdf5Reader keeps this in a process of its own.
class Hdf5Source {
 public:
  explicit Hdf5Source(const std::filesystem::path& file);
  ~Hdf5Source();
  Hdf5Source(const Hdf5Source&) = delete;
  Hdf5Source& operator=(const Hdf5Source&) = delete;

  [[nodiscard]] std::vector<std::string> names(std::string_view group) const;
  [[nodiscard]] bool has(std::string_view path) const;
  [[nodiscard]] bool is_group(std::string_view path) const;
  [[nodiscard]] Shape shape(std::string_view path) const;
  [[nodiscard]] std::vector<double> doubles(std::string_view path) const;
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view path) const;
  [[nodiscard]] std::vector<std::string> strings(std::string_view path) const;
  [[nodiscard]] std::vector<std::uint8_t> bytes(std::string_view path) const;
  [[nodiscard]] bool holds_text(std::string_view path) const;
  [[nodiscard]] std::vector<std::string> attributes(std::string_view object) const;
  [[nodiscard]] std::string shown_attribute(std::string_view object, std::string_view name) const;
  [[nodiscard]] bool has_attribute(std::string_view object, std::string_view name) const;
  [[nodiscard]] double number_attribute(std::string_view object, std::string_view name) const;
  [[nodiscard]] std::vector<double> numbers_attribute(std::string_view object,
                                                      std::string_view name) const;
  [[nodiscard]] std::string text_attribute(std::string_view object, std::string_view name) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace carom::io
