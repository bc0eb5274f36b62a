#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace carom::io {

/// CRC-32 as of zlib; crc: of what comes before.
std::uint32_t crc32(std::string_view bytes, std::uint32_t crc = 0);

/// Appends "carom crc32 %08x\n", the checksum of all that the file holds: 21 bytes that HDF5
/// readers do not see. Errors: FileError.
void append_checksum(const std::filesystem::path& file);

enum class Checksum {
  absent,  ///< no line at the end
  fits,
  differs,
};
/// Of the line at the end. Absent, too, for what cannot be read.
Checksum checksum_of(const std::filesystem::path& file);
/// Whether there is such a line, the file's bytes unread.
bool has_checksum(const std::filesystem::path& file);

}  // namespace carom::io
