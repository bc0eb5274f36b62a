#pragma once

#include <string>
#include <utility>
#include <vector>

#include "io/gnuplot.hpp"
#include "run/impact_run.hpp"

namespace carom::io {

/// One set of data with its style and its legend text. Each line of the data is a contact
/// velocity (normals first, then tangents); an empty line interrupts the curve.
struct PictureLayer {
  PlotData data;
  std::string style;
  std::string legend;
  bool line = false;  ///< drawn with lines
};

struct PictureLayers {
  std::vector<PictureLayer> layers;                ///< in the order of drawing
  std::vector<std::pair<double, double>> extents;  ///< smallest and largest of each column
};

PictureLayers layers_of(const run::ImpactRun& run);

}  // namespace carom::io
