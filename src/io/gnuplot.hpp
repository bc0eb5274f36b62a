#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace carom::io {

/// A data file that the gnuplot script reads by its name.
struct PlotData {
  std::string name;
  std::string content;
};

/// Errors: FileError naming the package to install where gnuplot is not on the PATH.
void require_gnuplot();

/// Runs gnuplot on `script` in a private temporary folder that holds `data`, and moves the picture
/// to `target` (.svg or .png; size in pixels) once it is complete.
/// Errors: FileError with gnuplot's own first line.
void run_gnuplot(const std::string& script, std::span<const PlotData> data, int width, int height,
                 const std::filesystem::path& target);

}  // namespace carom::io
