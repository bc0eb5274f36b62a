#pragma once

#include <string>
#include <vector>

namespace carom::cli {

/// Text in aligned columns: the first left, the others right.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> head) { rows_.push_back(std::move(head)); }

  /// Control characters of the cells become escapes.
  void add(const std::vector<std::string>& row);
  /// The lines, each indented by two spaces.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// "1.2 us", "3.4 ms", "5.6 s".
std::string time_words(double seconds);
/// Four significant digits.
std::string short_number(double value);

}  // namespace carom::cli
