#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/gnuplot.hpp"

/// Panels of two axes each, with one legend below them.
namespace carom::io {

/// What a panel shows of one file of the sheet.
struct SheetItem {
  std::string data;     ///< name of the file
  std::string columns;  ///< e.g. "1:2"
  std::string style;    ///< gnuplot's, e.g. "with lines lc rgb '#000000'"
};

struct SheetPanel {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::pair<double, double> x = {-1.0, 1.0};  ///< extent of the data
  std::pair<double, double> y = {-1.0, 1.0};
  double scale = 1.0;  ///< range to show where an extent is a point
  bool equal = false;  ///< a unit has one length on both axes
  bool log_x = false;  ///< extents must be positive
  bool log_y = false;
  std::vector<SheetItem> items;
};

struct SheetLegend {
  std::string text;
  std::string style;
  bool line = false;  ///< a stroke rather than a point
};

struct Sheet {
  std::string title;
  int columns = 1;
  int panel_width = 360;           ///< [pixels]
  int panel_height = 330;          ///< [pixels]
  std::vector<SheetPanel> panels;  ///< row by row
  std::vector<SheetLegend> legend;
  std::vector<PlotData> data;
};

/// Extends `extent` to hold `value`, if it is finite.
void include(std::pair<double, double>& extent, double value);
/// An extent that holds nothing yet.
std::pair<double, double> empty_extent();

/// Draws to `target`, .svg or .png. Errors: FileError.
void draw_sheet(const Sheet& sheet, const std::filesystem::path& target);

}  // namespace carom::io
