#pragma once

#include <string>
#include <vector>

#include "cli/text_options.hpp"
#include "cli/verify_report.hpp"

/// One verification function for each kind of file that `carom verify` accepts. Errors:
/// InvalidInput naming the file and what is missing.
namespace carom::cli {

/// Of carom impact --enclose.
VerifyReport verify_enclosures(const std::string& file);
/// Of carom impact --output: the samples, what is said of all, the net.
VerifyReport verify_impacts(const std::string& file, const TextOptions& text);
/// Of carom impact --paths with restitution.
VerifyReport verify_paths(const std::string& file, const TextOptions& text);
/// Of carom stability.
VerifyReport verify_stability(const std::string& file);
/// Of carom solve; problems: the files that were solved, none where `file` keeps them itself.
VerifyReport verify_answers(const std::string& file, const std::vector<std::string>& problems);

}  // namespace carom::cli
