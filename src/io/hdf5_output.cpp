#include "io/hdf5_output.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <string_view>

#include <carom/backend.hpp>

#include "io/file_error.hpp"
#include "io/pending_file.hpp"

namespace carom::io {

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
    writer.close();
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
