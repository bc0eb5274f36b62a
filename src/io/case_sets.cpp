#include "io/case_sets.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include <carom/error.hpp>

namespace carom::io {

namespace {

// An infinite bound is what null is in JSON; any other infinity is refused by its place later.
nlohmann::json number(const std::string& name, double value) {
  const bool lower = name == "l" || name == "lo" || name == "row_lower" || name == "col_lower";
  const bool upper = name == "u" || name == "hi" || name == "row_upper" || name == "col_upper";
  if ((lower && value == -INFINITY) || (upper && value == INFINITY)) return nullptr;
  return value;
}

}  // namespace

CaseSets::CaseSets(const Hdf5Reader& reader, const std::string& file, const std::string& group)
    : reader_(reader), file_(file), group_(group) {
  for (const std::string& name : reader_.names(group_.empty() ? "/" : group_)) {
    if (reader_.is_group(at(name))) continue;
    if (name == "cone_kinds" || name == "cone_sizes") continue;
    const Shape shape = reader_.shape(at(name));
    const bool texts =
        name == "name" || name == "kind" || name == "sense" || name == "friction_law";
    if (shape.empty() || shape.size() > (texts ? 1U : 3U)) {
      throw InvalidInput(
          fmt::format("{}: {} has {} axes: the first must be problems, then at "
                      "most a matrix's rows and columns",
                      file_, name, shape.size()));
    }
    if (count_ == kNone) {
      count_ = shape[0];
      counted_ = name;
    }
    if (shape[0] != count_) {
      throw InvalidInput(fmt::format("{}: {} has {} problems, {} has {}: must be equal", file_,
                                     counted_, count_, name, shape[0]));
    }
    if (texts) {
      texts_.emplace_back(name, reader_.strings(at(name)));
    } else {
      sets_.push_back({name, shape, reader_.doubles(at(name))});
    }
  }
  if (count_ == kNone || count_ == 0) throw InvalidInput(file_ + ": holds no problem");
  read_cones();
}

nlohmann::json CaseSets::problem(std::size_t index) const {
  nlohmann::json object;
  for (const char* name : {"kind", "sense"}) {
    if (reader_.has_attribute("/", name)) object[name] = reader_.text_attribute("/", name);
  }
  for (const auto& [name, texts] : texts_) object[name] = texts[index];
  if (!cones_.is_null()) object["cones"] = cones_;
  for (const Set& set : sets_) object[set.name] = value(set, index);
  return object;
}

void CaseSets::read_cones() {
  if (!reader_.has(at("cone_kinds"))) return;
  const std::vector<std::string> kinds = reader_.strings(at("cone_kinds"));
  if (!reader_.has(at("cone_sizes")))
    throw InvalidInput(file_ + ": data set cone_sizes is missing");
  const std::vector<std::int64_t> sizes = reader_.integers(at("cone_sizes"));
  if (kinds.size() != sizes.size()) {
    throw InvalidInput(fmt::format("{}: cone_sizes has {} numbers for {} cone_kinds", file_,
                                   sizes.size(), kinds.size()));
  }
  cones_ = nlohmann::json::array();
  for (std::size_t i = 0; i < kinds.size(); ++i) cones_.push_back({kinds[i], sizes[i]});
}

nlohmann::json CaseSets::value(const Set& set, std::size_t index) {
  if (set.shape.size() == 1) {
    const double single = set.values[index];
    // sizes, e.g. dim
    if (single == std::floor(single) && std::fabs(single) < 1e9) {
      return static_cast<std::int64_t>(single);
    }
    return single;
  }
  const auto inner = static_cast<std::size_t>(set.shape.back());
  const std::size_t rows = set.shape.size() == 2 ? 1 : static_cast<std::size_t>(set.shape[1]);
  nlohmann::json matrix = nlohmann::json::array();
  for (std::size_t i = 0; i < rows; ++i) {
    nlohmann::json row = nlohmann::json::array();
    for (std::size_t j = 0; j < inner; ++j) {
      row.push_back(number(set.name, set.values[(index * rows + i) * inner + j]));
    }
    matrix.push_back(std::move(row));
  }
  return set.shape.size() == 2 ? matrix[0] : matrix;
}

}  // namespace carom::io
