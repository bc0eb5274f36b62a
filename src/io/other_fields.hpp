#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "io/hdf5_file.hpp"

/// The fields of a file that a reader does not use, by their names in docs/reference/files.md, so
/// that `carom verify` can list what it does not verify.
namespace carom::io {

/// Adds the keys of `object` that are not in `judged` to `fields`, each once: "settings",
/// "enclosure.seconds". A key all of whose inner ones are left out stands for them.
void add_other_json_fields(const nlohmann::json& object, std::span<const std::string_view> judged,
                           std::vector<std::string>& fields);

/// Data sets "/impact_*/samples/velocity" and attributes "/impact_*@seconds" that are not in
/// `judged`. A group all of whose sets are left out stands for them; axes, unit and meaning of data
/// sets are one field.
std::vector<std::string> other_hdf5_fields(const Hdf5Reader& reader,
                                           std::span<const std::string_view> judged);

}  // namespace carom::io
