#include "cli/info_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <carom/error.hpp>

#include "cli/json_output.hpp"
#include "cli/target.hpp"
#include "io/file_checksum.hpp"
#include "io/file_kind.hpp"
#include "io/hdf5_file.hpp"
#include "io/json_file.hpp"
#include "io/printable.hpp"

namespace carom::cli {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t kListedSets = 200;

ordered_json attributes_of(const io::Hdf5Reader& reader, const std::string& object) {
  ordered_json result = ordered_json::object();
  for (const std::string& name : reader.attributes(object)) {
    result[name] = reader.shown_attribute(object, name);
  }
  return result;
}

void collect(const io::Hdf5Reader& reader, const std::string& group, ordered_json& groups,
             ordered_json& sets) {
  for (const std::string& name : reader.names(group)) {
    const std::string path = fmt::format("{}/{}", group == "/" ? "" : group, name);
    ordered_json entry;
    entry["path"] = path;
    if (reader.is_group(path)) {
      entry["attributes"] = attributes_of(reader, path);
      if (!entry["attributes"].empty()) groups.push_back(entry);
      collect(reader, path, groups, sets);
      continue;
    }
    entry["shape"] = reader.shape(path);
    entry["attributes"] = attributes_of(reader, path);
    sets.push_back(entry);
  }
}

ordered_json hdf5_info(const std::string& file) {
  const io::Hdf5Reader reader(file);
  ordered_json result;
  result["file"] = file;
  result["format"] = "HDF5";
  // the reader refuses one that does not fit
  result["checksum"] = io::has_checksum(file) ? ordered_json(true) : ordered_json(nullptr);
  result["attributes"] = attributes_of(reader, "/");
  result["groups"] = ordered_json::array();
  result["data_sets"] = ordered_json::array();
  collect(reader, "/", result["groups"], result["data_sets"]);
  return result;
}

ordered_json json_info(const std::string& file) {
  const io::JsonDocument parsed(file);
  const nlohmann::json& root = parsed.root();
  const nlohmann::json& first = root.is_array() && !root.empty() ? root[0] : root;
  ordered_json result;
  result["file"] = file;
  result["format"] = "JSON";
  result["entries"] = root.is_array() ? root.size() : 1;
  result["attributes"] = ordered_json::object();
  if (first.is_object() && first.contains("carom") && first["carom"].is_object()) {
    for (const auto& [key, value] : first["carom"].items()) {
      result["attributes"][key == "version" ? "carom_version" : key] =
          value.is_string() ? value.get<std::string>() : value.dump();
    }
    for (const char* key : {"backend", "seed", "model"}) {
      if (first.contains(key)) {
        result["attributes"][key] =
            first[key].is_string() ? first[key].get<std::string>() : first[key].dump();
      }
    }
  }
  result["keys"] = ordered_json::array();
  if (first.is_object()) {
    for (const auto& [key, value] : first.items()) {
      if (key != "carom") result["keys"].push_back(key);
    }
  }
  return result;
}

void print_attributes(const ordered_json& attributes, std::size_t indent) {
  for (const auto& [name, value] : attributes.items()) {
    fmt::print("{:{}}{:<20} {}\n", "", indent, io::printable(name),
               io::printable(value.get<std::string>()));
  }
}

void print_text(const ordered_json& info) {
  const std::string format = info["format"];
  const bool written = info["attributes"].contains("carom_version");
  fmt::print("{}: {}, {}\n", io::printable(info["file"].get<std::string>()), format,
             written ? "written by carom" : "no output of carom");
  print_attributes(info["attributes"], 2);
  if (format == "JSON") {
    std::vector<std::string> keys = info["keys"];
    for (std::string& key : keys) key = io::printable(key);
    fmt::print("  {} {}, keys {}\n", info["entries"].get<std::size_t>(),
               info["entries"] == 1 ? "object" : "objects", fmt::join(keys, ", "));
    return;
  }
  if (written) {
    fmt::print("  {:<20} {}\n", "checksum",
               info["checksum"].is_null() ? "none: a changed number would not be noticed" : "fits");
  }
  for (const ordered_json& group : info["groups"]) {
    fmt::print("\n  {}\n", io::printable(group["path"].get<std::string>()));
    print_attributes(group["attributes"], 4);
  }
  std::vector<std::array<std::string, 3>> lines;
  std::size_t path_width = 0;
  std::size_t shape_width = 0;
  for (const ordered_json& set : info["data_sets"]) {
    if (lines.size() == kListedSets) break;
    const ordered_json& attributes = set["attributes"];
    const auto text = [&attributes](const char* name) {
      return attributes.contains(name) ? attributes[name].get<std::string>() : std::string();
    };
    const std::string unit = text("unit");
    lines.push_back(
        {io::printable(set["path"].get<std::string>()),
         fmt::format("{}", fmt::join(set["shape"].get<std::vector<std::uint64_t>>(), " x ")),
         io::printable((unit.empty() ? "" : "[" + unit + "] ") + text("meaning"))});
    path_width = std::max(path_width, lines.back()[0].size());
    shape_width = std::max(shape_width, lines.back()[1].size());
  }
  fmt::print("\n");
  for (const auto& [path, shape, meaning] : lines) {
    fmt::print("  {:<{}}  {:>{}}  {}\n", path, path_width, shape, shape_width, meaning);
  }
  if (info["data_sets"].size() > kListedSets) {
    fmt::print("  and {} more: --json lists all\n", info["data_sets"].size() - kListedSets);
  }
  if (written) {
    fmt::print("\n  carom rerun {} computes it again and compares\n",
               io::printable(info["file"].get<std::string>()));
  }
}

}  // namespace

void print_file_info(const std::string& file, bool json) {
  if (!file_exists(file)) throw InvalidInput(file + ": no such file");
  const ordered_json info = io::Hdf5Reader::is_hdf5(file) ? hdf5_info(file) : json_info(file);
  if (json) {
    print_document(info);
  } else {
    print_text(info);
  }
}

}  // namespace carom::cli
