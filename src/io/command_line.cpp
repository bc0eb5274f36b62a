#include "io/command_line.hpp"

#include <algorithm>
#include <cctype>
#include <system_error>

namespace carom::io {

std::string joined_words(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
      return c >= 0x80 || std::isalnum(c) != 0 ||
             std::string_view("_-+=./:,^%@").find(static_cast<char>(c)) != std::string_view::npos;
    });
    if (!line.empty()) line += ' ';
    if (plain) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) {
      if (c == '\'') {
        line += R"('\'')";
      } else {
        line += c;
      }
    }
    line += '\'';
  }
  return line;
}

std::vector<std::string> split_words(std::string_view line) {
  std::vector<std::string> words;
  bool inside = false;  // a word
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\'') {
      quoted = !quoted;
    } else if (!quoted && c == ' ') {
      inside = false;
      continue;
    } else {
      if (!inside) words.emplace_back();
      inside = true;
      words.back() += !quoted && c == '\\' && i + 1 < line.size() ? line[++i] : c;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
  }
  return words;
}

std::vector<std::size_t> input_words(const std::vector<std::string>& words) {
  std::vector<std::size_t> places;
  for (std::size_t i = 2; i < words.size(); ++i) {  // after the program and its command
    if (words[i].empty() || words[i].front() == '-') continue;
    if (words[i - 1] == "--output" || words[i - 1] == "--plot") continue;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(words[i], ignored)) places.push_back(i);
  }
  return places;
}

}  // namespace carom::io
