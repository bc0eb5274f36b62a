#include "io/file_checksum.hpp"

#include <sys/stat.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "io/file_error.hpp"

namespace carom::io {

namespace {

constexpr std::string_view kMark = "carom crc32 ";
constexpr std::size_t kLine = 21;  // with eight digits and the end of the line
constexpr std::size_t kBlock = std::size_t{1} << 20;
constexpr std::size_t kSlices = 8;  // bytes a step

using Table = std::array<std::array<std::uint32_t, 256>, kSlices>;

constexpr Table table() {
  Table t{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ (value & 1U ? 0xEDB88320U : 0U);
    t[0][i] = value;
  }
  for (std::size_t k = 1; k < kSlices; ++k) {
    for (std::size_t i = 0; i < 256; ++i) {
      t[k][i] = (t[k - 1][i] >> 8) ^ t[0][t[k - 1][i] & 0xFFU];
    }
  }
  return t;
}

constexpr Table kTable = table();

/// The digits of the line at the end of `stream`, and how many bytes stand before it.
struct Line {
  std::uint32_t crc = 0;
  bool readable = false;  ///< its digits are
  std::uint64_t before = 0;
};

std::optional<Line> line_of(std::ifstream& stream) {
  if (!stream.seekg(0, std::ios::end)) return std::nullopt;
  const auto size = static_cast<std::int64_t>(stream.tellg());
  if (size < static_cast<std::int64_t>(kLine)) return std::nullopt;
  std::string text(kLine, '\0');
  stream.seekg(size - static_cast<std::int64_t>(kLine));
  if (!stream.read(text.data(), kLine)) return std::nullopt;
  if (text.compare(0, kMark.size(), kMark) != 0) return std::nullopt;
  Line line;
  line.before = static_cast<std::uint64_t>(size) - kLine;
  const char* end = text.data() + kLine - 1;
  const auto [last, error] = std::from_chars(text.data() + kMark.size(), end, line.crc, 16);
  line.readable = error == std::errc() && last == end && *end == '\n';
  return line;
}

bool is_regular(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(file, ignored);
}

std::uint32_t crc_of(std::ifstream& stream, std::uint64_t bytes) {
  std::vector<char> block(kBlock);
  std::uint32_t crc = 0;
  stream.clear();
  stream.seekg(0);
  while (bytes > 0) {
    const std::size_t part = bytes < kBlock ? static_cast<std::size_t>(bytes) : kBlock;
    if (!stream.read(block.data(), static_cast<std::streamsize>(part))) break;
    crc = crc32({block.data(), part}, crc);
    bytes -= part;
  }
  return crc;
}

}  // namespace

std::uint32_t crc32(std::string_view bytes, std::uint32_t crc) {
  crc = ~crc;
  std::size_t at = 0;
  for (; at + kSlices <= bytes.size(); at += kSlices) {
    std::array<unsigned char, kSlices> b{};
    std::memcpy(b.data(), bytes.data() + at, kSlices);
    for (std::size_t k = 0; k < 4; ++k) {
      b[k] = static_cast<unsigned char>(b[k] ^ (crc >> (8 * k) & 0xFFU));
    }
    crc = 0;
    for (std::size_t k = 0; k < kSlices; ++k) crc ^= kTable[kSlices - 1 - k][b[k]];
  }
  for (; at < bytes.size(); ++at) {
    crc = (crc >> 8) ^ kTable[0][(crc ^ static_cast<unsigned char>(bytes[at])) & 0xFFU];
  }
  return ~crc;
}

void append_checksum(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(file, failed);
  if (failed || !stream) throw FileError(file.string() + ": cannot be read");
  const std::string line = fmt::format("{}{:08x}\n", kMark, crc_of(stream, size));
  std::ofstream end(file, std::ios::binary | std::ios::app);
  end << line;
  if (!end.flush()) throw FileError(file.string() + ": cannot be written");
}

Checksum checksum_of(const std::filesystem::path& file) {
  if (!is_regular(file)) return Checksum::absent;
  std::ifstream stream(file, std::ios::binary);
  const std::optional<Line> line = line_of(stream);
  if (!line) return Checksum::absent;
  return line->readable && crc_of(stream, line->before) == line->crc ? Checksum::fits
                                                                     : Checksum::differs;
}

bool has_checksum(const std::filesystem::path& file) {
  if (!is_regular(file)) return false;
  std::ifstream stream(file, std::ios::binary);
  return line_of(stream).has_value();
}

}  // namespace carom::io
