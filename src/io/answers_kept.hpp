#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "run/cases.hpp"

namespace carom::io {

/// An answer of `carom solve` as it is stored in a file, by the keys of docs/reference/files.md.
struct KeptCaseAnswer {
  std::string name;
  std::string kind;
  std::string status;
  std::optional<double> objective;
  std::map<std::string, std::vector<double>> numbers;  ///< x, dual, farkas, ...; null: not there
};

struct KeptCaseAnswers {
  std::vector<KeptCaseAnswer> answers;
  std::optional<run::Cases> problems;     ///< of --output, one for each answer
  std::vector<std::string> other_fields;  ///< names of what is not here
};

/// Whether `file` is what `carom solve` wrote, HDF5 by --output or JSON.
bool holds_case_answers(const std::filesystem::path& file);

/// Errors: InvalidInput naming the file and what is missing, FileError.
KeptCaseAnswers read_case_answers(const std::filesystem::path& file);

}  // namespace carom::io
