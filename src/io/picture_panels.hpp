#pragma once

#include <string>
#include <vector>

#include "run/impact_run.hpp"

namespace carom::io {

/// One pair of axes: contact velocity row `y` against row `x` (normals first, then tangents).
struct Panel {
  std::string title;
  int x = 0;
  int y = 0;
  std::string x_label;
  std::string y_label;
};

/// Panels row by row.
struct PanelLayout {
  int columns = 1;
  int panel_width = 360;   ///< [pixels]
  int panel_height = 330;  ///< [pixels]
  std::vector<Panel> panels;
};

/// The layout of the paper's figure for the problem, or a general one.
PanelLayout panels_for(const run::ImpactRun& run);

}  // namespace carom::io
