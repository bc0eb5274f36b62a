#pragma once

#include <span>
#include <string>

namespace carom::test {

/// A key of the JSON files that carom reads or writes; docs/reference/files.md is made from these
/// lists.
struct JsonNote {
  const char* file;  ///< of inputs the kind of problem, of outputs the command
  std::string key;   ///< dots lead into objects and objects of lists
  const char* shape;
  const char* unit;
  const char* meaning;
};

/// Problem files.
std::span<const JsonNote> input_notes();
/// Documents of --json.
std::span<const JsonNote> output_notes();

}  // namespace carom::test
