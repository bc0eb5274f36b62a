#pragma once

#include <cstdlib>
#include <filesystem>

namespace carom::test {

/// Stored problems: $CAROM_TEST_DATA, for binaries that were carried to another machine, else the
/// folder beside the sources.
inline std::filesystem::path data_folder() {
  const char* carried = std::getenv("CAROM_TEST_DATA");
  return carried != nullptr ? carried : CAROM_TEST_DATA;
}

}  // namespace carom::test
