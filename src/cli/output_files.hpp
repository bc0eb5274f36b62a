#pragma once

#include <string>

/// Refuses files that cannot be written, before anything is computed. An empty name: no file.
/// Errors: InvalidInput naming the option.
namespace carom::cli {

/// --output: also where carom was built without HDF5.
void require_output(const std::string& file);
/// --plot; whether gnuplot is there is asked by io::require_gnuplot once the rest is known to fit.
void require_picture(const std::string& file);
/// --animate
void require_animation(const std::string& file);

}  // namespace carom::cli
