#include "io/hdf5_output.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdint>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include <carom/backend.hpp>

#include "io/command_line.hpp"
#include "io/file_checksum.hpp"
#include "io/file_error.hpp"
#include "io/pending_file.hpp"

namespace carom::io {

namespace {

// Larger inputs are left where they are; `carom rerun` then looks for them by name.
constexpr std::uintmax_t kMostInputBytes = std::uintmax_t{64} << 20;

// What the command read, byte for byte, so that it can be run again from only this file.
void write_inputs(Hdf5Writer& writer, const std::string& command_line) {
  const std::vector<std::string> words = split_words(command_line);
  for (const std::size_t place : input_words(words)) {
    const std::filesystem::path input = words[place];
    std::error_code failed;
    const std::uintmax_t size = std::filesystem::file_size(input, failed);
    if (failed || size > kMostInputBytes) continue;
    std::ifstream stream(input, std::ios::binary);
    const std::vector<std::uint8_t> bytes((std::istreambuf_iterator<char>(stream)), {});
    const std::string path = fmt::format("/input/{}", place);
    writer.dataset(path, bytes, {bytes.size()});
    writer.attribute(path, "name", std::string_view(words[place]));
  }
}

}  // namespace

void write_hdf5(const std::filesystem::path& file, const std::string& command_line,
                const std::function<void(Hdf5Writer&)>& content) {
  PendingFile pending(file);
  try {
    Hdf5Writer writer(pending.path());
    const std::string created =
        fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    writer.attribute("/", "carom_version", std::string_view(build_info().version));
    writer.attribute("/", "commit", std::string_view(build_info().commit));
    writer.attribute("/", "command", std::string_view(command_line));
    writer.attribute("/", "created", std::string_view(created));
    content(writer);
    write_inputs(writer, command_line);
    writer.close();
    append_checksum(pending.path());
  } catch (const FileError& error) {
    // Blame the file that the user named, not the hidden one.
    std::string text = error.what();
    const std::string hidden = pending.path().string();
    if (const std::size_t at = text.find(hidden); at != std::string::npos) {
      text.replace(at, hidden.size(), file.string());
    }
    throw FileError(text);
  }
  pending.commit();
}

}  // namespace carom::io
