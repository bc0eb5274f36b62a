#include "support/folders.hpp"

#include <cstdlib>

namespace carom::test {

std::filesystem::path data_folder() {
  const char* carried = std::getenv("CAROM_TEST_DATA");
  return carried != nullptr ? carried : CAROM_TEST_DATA;
}

std::string data_file(const std::string& name) { return (data_folder() / name).string(); }

std::filesystem::path repository() { return data_folder().parent_path().parent_path(); }

const std::string& command_path() {
  static const std::string path = CAROM_COMMAND;
  return path;
}

}  // namespace carom::test
