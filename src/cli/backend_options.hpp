#pragma once

#include <string>

#include <CLI/CLI.hpp>

/// Options that choose where a command solves its problems: backend, devices, threads.
namespace carom::cli {

/// --backend, whose word goes to `backend`, and --devices, which holds for the rest of the process.
void add_backend_options(CLI::App& command, std::string& backend);

/// --precision of earlier versions: not in the help, without effect.
void add_precision(CLI::App& command, std::string& precision);
/// Errors: InvalidInput unless it is empty, double or float; a notice where it is float.
void warn_of_precision(const std::string& precision);

}  // namespace carom::cli
