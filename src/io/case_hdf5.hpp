#pragma once

#include <filesystem>
#include <string>

#include "run/cases.hpp"

namespace carom::io {

/// Problems, answers and proofs of `carom solve`: a group for every kind and shape, in which the
/// data sets of problem/ have the names that read_cases takes. Errors: FileError.
void write_cases_hdf5(const std::filesystem::path& file, const run::Cases& cases,
                      const run::CaseAnswers& answers, const run::CaseSettings& settings,
                      const std::string& command_line);

}  // namespace carom::io
