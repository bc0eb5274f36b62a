#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "io/hdf5_file.hpp"

namespace carom::io {

/// A file that says where it is from (attributes carom_version, commit, command, created of the
/// root, and in /input the bytes of the files that the command line names, up to 64 MiB each) and
/// what `content` writes into it; it gets its name once it is complete. Errors: FileError blaming
/// `file`.
void write_hdf5(const std::filesystem::path& file, const std::string& command_line,
                const std::function<void(Hdf5Writer&)>& content);

}  // namespace carom::io
