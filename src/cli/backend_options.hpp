#pragma once

#include <string>

#include <CLI/CLI.hpp>

/// Where a command's problems are solved.
namespace carom::cli {

/// --backend, whose word goes to `backend`, and --devices, which holds for the rest of the process.
void add_backend_options(CLI::App& command, std::string& backend);

}  // namespace carom::cli
