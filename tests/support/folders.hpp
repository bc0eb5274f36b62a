#pragma once

#include <filesystem>
#include <string>

// Paths of a machine are compiled into folders.cpp only: a compiler cache then serves other clones
// with all other units.
namespace carom::test {

/// Stored problems: $CAROM_TEST_DATA, for binaries that were carried to another machine, else
/// tests/data of the sources.
std::filesystem::path data_folder();
/// data_folder() / name.
std::string data_file(const std::string& name);
/// The repository, two levels above data_folder().
std::filesystem::path repository();
/// The command `carom` of this build.
const std::string& command_path();

}  // namespace carom::test
