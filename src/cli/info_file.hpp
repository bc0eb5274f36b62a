#pragma once

#include <string>

namespace carom::cli {

/// `carom info FILE`: origin and contents of a file. Errors: InvalidInput, FileError.
void print_file_info(const std::string& file, bool json);

}  // namespace carom::cli
