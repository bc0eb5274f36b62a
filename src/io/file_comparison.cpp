#include "io/file_comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "io/hdf5_file.hpp"
#include "io/json_file.hpp"

namespace carom::io {

namespace {

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// What two runs of the same command may say differently.
bool of_the_run(std::string_view name) {
  static constexpr std::string_view kNames[] = {"carom",  "carom_version", "command",
                                                "commit", "created",       "ratio"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
         ends_with(name, "seconds") || ends_with(name, "_per_second");
}

class Comparer {
 public:
  Comparer(const std::filesystem::path& first, const std::filesystem::path& second,
           const Renamed& renamed)
      : first_(first), second_(second), renamed_(renamed) {}

  FileComparison compare() {
    group("/");
    return std::move(result_);
  }

 private:
  template <class... Values>
  void differs(fmt::format_string<Values...> format, Values&&... values) {
    result_.differences.push_back(fmt::format(format, std::forward<Values>(values)...));
  }

  static std::string below(const std::string& group, const std::string& name) {
    return group == "/" ? "/" + name : group + "/" + name;
  }

  void attributes(const std::string& object) {
    const std::vector<std::string> own = first_.attributes(object);
    const std::vector<std::string> other = second_.attributes(object);
    for (const std::string& name : own) {
      if (of_the_run(name)) continue;
      ++result_.compared;
      if (!second_.has_attribute(object, name)) {
        differs("attribute {} of {}: only in the file", name, object);
        continue;
      }
      const std::string a = first_.shown_attribute(object, name);
      const std::string b = renamed_(second_.shown_attribute(object, name));
      if (a != b) differs("attribute {} of {}: {} in the file, {} now", name, object, a, b);
    }
    for (const std::string& name : other) {
      if (!of_the_run(name) && !first_.has_attribute(object, name)) {
        differs("attribute {} of {}: only now", name, object);
      }
    }
  }

  void group(const std::string& path) {
    attributes(path);
    for (const std::string& name : first_.names(path)) {
      const std::string child = below(path, name);
      if (child == "/input" || of_the_run(name)) continue;
      if (!second_.has(child)) {
        differs("{}: only in the file", child);
      } else if (first_.is_group(child) != second_.is_group(child)) {
        differs("{}: a group in one, a data set in the other", child);
      } else if (first_.is_group(child)) {
        group(child);
      } else {
        data_set(child);
      }
    }
    for (const std::string& name : second_.names(path)) {
      const std::string child = below(path, name);
      if (child != "/input" && !of_the_run(name) && !first_.has(child)) {
        differs("{}: only now", child);
      }
    }
  }

  void data_set(const std::string& path) {
    attributes(path);
    ++result_.compared;
    const Shape shape = first_.shape(path);
    if (shape != second_.shape(path)) {
      differs("{}: shape [{}] in the file, [{}] now", path, fmt::join(shape, ", "),
              fmt::join(second_.shape(path), ", "));
      return;
    }
    if (first_.holds_text(path) != second_.holds_text(path)) {
      differs("{}: texts in one, numbers in the other", path);
    } else if (first_.holds_text(path)) {
      const std::vector<std::string> a = first_.strings(path);
      const std::vector<std::string> b = second_.strings(path);
      for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] == renamed_(b[i])) continue;
        differs("{}[{}]: {} in the file, {} now", path, i, a[i], b[i]);
        return;
      }
    } else if (first_.bytes(path) != second_.bytes(path)) {
      numbers(path);
    }
  }

  void numbers(const std::string& path) {
    const std::vector<double> a = first_.doubles(path);
    const std::vector<double> b = second_.doubles(path);
    std::size_t count = 0;
    std::size_t first = a.size();
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (std::bit_cast<std::uint64_t>(a[i]) == std::bit_cast<std::uint64_t>(b[i])) continue;
      first = std::min(first, i);
      ++count;
    }
    if (count == 0) {  // integers beyond 2^53
      differs("{}: stored otherwise", path);
    } else {
      differs("{}: {} of {} values differ, the first at [{}]: {} in the file, {} now", path, count,
              a.size(), first, a[first], b[first]);
    }
  }

  Hdf5Reader first_;
  Hdf5Reader second_;
  const Renamed& renamed_;
  FileComparison result_;
};

std::string within(const std::string& path, const std::string& key) {
  return path.empty() ? key : fmt::format("{}.{}", path, key);
}

void compare_values(const nlohmann::json& a, const nlohmann::json& b, const std::string& path,
                    const Renamed& renamed, FileComparison& result) {
  if (a.is_object() && b.is_object()) {
    for (const auto& [key, value] : a.items()) {
      if (of_the_run(key)) continue;
      const std::string at = within(path, key);
      if (b.contains(key)) {
        compare_values(value, b[key], at, renamed, result);
      } else {
        result.differences.push_back(at + ": only in the file");
      }
    }
    for (const auto& [key, value] : b.items()) {
      if (!of_the_run(key) && !a.contains(key)) {
        result.differences.push_back((within(path, key)) + ": only now");
      }
    }
    return;
  }
  if (a.is_array() && b.is_array() && a.size() == b.size()) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      compare_values(a[i], b[i], fmt::format("{}[{}]", path, i), renamed, result);
    }
    return;
  }
  ++result.compared;
  const bool same = a.is_string() && b.is_string()
                        ? a.get<std::string>() == renamed(b.get<std::string>())
                        : a.dump() == b.dump();
  if (same) return;
  result.differences.push_back(fmt::format("{}: {} in the file, {} now", path, shown(a), shown(b)));
}

}  // namespace

FileComparison compare_hdf5(const std::filesystem::path& first, const std::filesystem::path& second,
                            const Renamed& renamed) {
  return Comparer(first, second, renamed).compare();
}

FileComparison compare_json(const nlohmann::json& first, const nlohmann::json& second,
                            const Renamed& renamed) {
  FileComparison result;
  compare_values(first, second, "", renamed, result);
  return result;
}

}  // namespace carom::io
