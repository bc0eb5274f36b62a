#pragma once

#include <string>

namespace carom::cli {

/// `carom info FILE`: where the file is from, and what it holds. Errors: InvalidInput, FileError.
void print_file_info(const std::string& file, bool json);

}  // namespace carom::cli
