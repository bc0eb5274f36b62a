#include "cli/json_output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <carom/backend.hpp>

namespace carom::cli {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t kLine = 100;  // characters that a list of lists may take on one line

std::string& origin() {
  static std::string command_line;
  return command_line;
}

std::string plain(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

bool flat(const ordered_json& value) {
  return std::none_of(value.begin(), value.end(),
                      [](const ordered_json& element) { return element.is_structured(); });
}

std::string spaced(const ordered_json& list) {
  std::string text = "[";
  for (const ordered_json& element : list) {
    if (text.size() > 1) text += ", ";
    text += element.is_array() ? spaced(element) : plain(element);
  }
  return text + "]";
}

void write(const ordered_json& value, std::size_t indent, std::string& text) {
  const auto line = [&text](std::size_t depth) { text += "\n" + std::string(depth, ' '); };
  if (value.is_object() && !value.empty()) {
    text += '{';
    bool first = true;
    for (const auto& item : value.items()) {
      if (!first) text += ',';
      first = false;
      line(indent + 2);
      text += plain(ordered_json(item.key())) + ": ";
      write(item.value(), indent + 2, text);
    }
    line(indent);
    text += '}';
    return;
  }
  if (!value.is_array() || value.empty()) {
    text += plain(value);
    return;
  }
  const bool lists = std::all_of(value.begin(), value.end(), [](const ordered_json& element) {
    return element.is_array() && flat(element);
  });
  if (flat(value)) {
    text += spaced(value);
    return;
  }
  if (lists) {
    std::string joined = spaced(value);
    if (joined.size() <= kLine) {
      text += joined;
      return;
    }
  }
  text += '[';
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (i > 0) text += ',';
    line(indent + 2);
    write(value[i], indent + 2, text);
  }
  line(indent);
  text += ']';
}

}  // namespace

void set_origin(const std::string& command_line) { origin() = command_line; }

void print_document(ordered_json document) {
  ordered_json own;
  own["version"] = build_info().version;
  own["commit"] = build_info().commit;
  own["command"] = origin();
  if (document.is_object()) document["carom"] = own;
  if (document.is_array()) {
    for (ordered_json& element : document) {
      if (element.is_object()) element["carom"] = own;
    }
  }
  std::string text;
  write(document, 0, text);
  fmt::print("{}\n", text);
}

}  // namespace carom::cli
