#include "io/file_kind.hpp"

#include <exception>
#include <system_error>

#include "io/hdf5_file.hpp"
#include "io/json_file.hpp"

namespace carom::io {

namespace {

struct Mark {
  const char* key;
  const char* data_set;
  FileKind kind;
};
constexpr Mark kMarks[] = {{"normal_jacobian", "normal_jacobian", FileKind::impact},
                           {"angle", "/stance/angle", FileKind::stance},
                           {"angle", "angle", FileKind::stance},
                           {"contacts", "position", FileKind::posture},
                           {"constraints", "jacobian", FileKind::step},
                           {"M", "M", FileKind::program},
                           {"W", "W", FileKind::program},
                           {"P", "P", FileKind::program},
                           {"row_lower", "row_lower", FileKind::program},
                           {"mechanism", "/motion/0/problem/parameters", FileKind::motion},
                           {"model", "/motion/0/problem/parameters", FileKind::motion}};

template <class Has>
FileKind first_mark(Has&& has) {
  for (const Mark& mark : kMarks) {
    if (has(mark)) return mark.kind;
  }
  return FileKind::unknown;
}

/// Its contacts have other keys than those of a posture.
bool is_stance_without_angle(const nlohmann::json& object) {
  if (!object.is_object() || !object.contains("contacts")) return false;
  const nlohmann::json& contacts = object["contacts"];
  return contacts.is_array() && !contacts.empty() && contacts[0].is_object() &&
         contacts[0].contains("l") && contacts[0].contains("h");
}

}  // namespace

FileKind kind_of_file(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return FileKind::unknown;
  try {
    if (Hdf5Reader::is_hdf5(file)) {
      const Hdf5Reader reader(file);
      return first_mark([&](const Mark& mark) { return reader.has(mark.data_set); });
    }
    const JsonDocument parsed(file);
    const nlohmann::json& document = parsed.root();
    const nlohmann::json& first = document.is_array() && !document.empty() ? document[0] : document;
    if (first.is_object() && first.contains("carom")) return FileKind::answer;
    if (is_stance_without_angle(first)) return FileKind::stance;
    return first_mark(
        [&](const Mark& mark) { return first.is_object() && first.contains(mark.key); });
  } catch (const std::exception&) {
    return FileKind::unknown;
  }
}

}  // namespace carom::io
