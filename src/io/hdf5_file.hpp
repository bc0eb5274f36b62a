#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Thin owners over HDF5's C API. Data sets are addressed by absolute path; no filter beyond gzip
/// and shuffle is used, so that every reader opens the files. Errors are FileError.
namespace carom::io {

/// False where carom was configured without HDF5 (CAROM_HDF5=OFF).
bool hdf5_available();

using Shape = std::vector<std::uint64_t>;

/// A new file. Intermediate groups are made as they are needed.
class Hdf5Writer {
 public:
  /// Overwrites `file`.
  explicit Hdf5Writer(const std::filesystem::path& file);
  ~Hdf5Writer();
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;

  void group(std::string_view path);

  // shape: product of the extents equals values.size()
  void dataset(std::string_view path, std::span<const double> values, const Shape& shape);
  void dataset(std::string_view path, std::span<const std::int64_t> values, const Shape& shape);
  void dataset(std::string_view path, std::span<const std::uint64_t> values, const Shape& shape);
  void dataset(std::string_view path, std::span<const std::int32_t> values, const Shape& shape);
  void dataset(std::string_view path, std::span<const std::uint8_t> values, const Shape& shape);
  void dataset(std::string_view path, const std::vector<std::string>& values);

  // attributes of the group or data set `object`
  void attribute(std::string_view object, std::string_view name, double value);
  void attribute(std::string_view object, std::string_view name, std::int64_t value);
  void attribute(std::string_view object, std::string_view name, std::uint64_t value);
  void attribute(std::string_view object, std::string_view name, std::string_view value);
  void attribute(std::string_view object, std::string_view name, std::span<const double> values);

  /// Flushes and closes; what HDF5 could not write is reported here at the latest.
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What a data set of an input may declare: this many values, and no more than deflate, the only
/// filter that files meet in practice, can have made of the whole file; small ones always.
inline constexpr std::uint64_t kMaxHdf5Values = std::uint64_t{1} << 28;

/// An existing file, read only, whatever its bytes are: HDF5's library reads it in a child process,
/// sizes that a damaged file declares are refused before memory is asked for them, and a file that
/// carom wrote is refused where its checksum does not fit (file_checksum.hpp).
class Hdf5Reader {
 public:
  explicit Hdf5Reader(const std::filesystem::path& file);
  ~Hdf5Reader();
  Hdf5Reader(const Hdf5Reader&) = delete;
  Hdf5Reader& operator=(const Hdf5Reader&) = delete;

  /// Names of the links in a group, sorted.
  [[nodiscard]] std::vector<std::string> names(std::string_view group = "/") const;
  [[nodiscard]] bool has(std::string_view path) const;
  [[nodiscard]] bool is_group(std::string_view path) const;
  [[nodiscard]] Shape shape(std::string_view path) const;

  /// Any integer or floating-point data set, as doubles.
  [[nodiscard]] std::vector<double> doubles(std::string_view path) const;
  /// Any integer data set.
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view path) const;
  /// Strings of fixed or variable length.
  [[nodiscard]] std::vector<std::string> strings(std::string_view path) const;

  /// The values as the file stores them, texts of variable length excepted.
  [[nodiscard]] std::vector<std::uint8_t> bytes(std::string_view path) const;
  [[nodiscard]] bool holds_text(std::string_view path) const;

  /// Names of the attributes of a group or data set, sorted.
  [[nodiscard]] std::vector<std::string> attributes(std::string_view object) const;
  /// The attribute as a reader would print it; numbers with all their digits.
  [[nodiscard]] std::string shown_attribute(std::string_view object, std::string_view name) const;
  [[nodiscard]] bool has_attribute(std::string_view object, std::string_view name) const;
  [[nodiscard]] double number_attribute(std::string_view object, std::string_view name) const;
  [[nodiscard]] std::vector<double> numbers_attribute(std::string_view object,
                                                      std::string_view name) const;
  [[nodiscard]] std::string text_attribute(std::string_view object, std::string_view name) const;

  [[nodiscard]] static bool is_hdf5(const std::filesystem::path& file);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace carom::io
