#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// Command lines as they are stored in the files that carom writes.
namespace carom::io {

/// One line that a shell would split into the same words.
std::string joined_words(const std::vector<std::string>& words);
/// The words of such a line.
std::vector<std::string> split_words(std::string_view line);

/// Places of the words that name files which the command reads: existing ones that are no option's
/// file to write.
std::vector<std::size_t> input_words(const std::vector<std::string>& words);

}  // namespace carom::io
