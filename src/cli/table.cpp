#include "cli/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "io/printable.hpp"

namespace carom::cli {

void TextTable::add(const std::vector<std::string>& row) {
  std::vector<std::string>& cells = rows_.emplace_back();
  for (const std::string& cell : row) cells.push_back(io::printable(cell));
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += i == 0 ? fmt::format(" {:<{}}", row[i], widths[i])
                     : fmt::format("  {:>{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string time_words(double seconds) {
  if (!std::isfinite(seconds) || seconds <= 0.0) return "-";
  if (seconds < 1e-6) return fmt::format("{:.3g} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  if (seconds < 1.0) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} s", seconds);
}

std::string short_number(double value) {
  if (!std::isfinite(value)) return "-";
  // what is nought to within the velocity tolerance need not show its digits
  return fmt::format("{:.4g}", std::fabs(value) < 1e-9 ? 0.0 : value);
}

}  // namespace carom::cli
