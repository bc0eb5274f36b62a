#include "io/impact_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <carom/error.hpp>

#include "io/picture_layers.hpp"
#include "io/picture_panels.hpp"
#include "io/sheet.hpp"

namespace carom::io {

void draw_impact(const std::filesystem::path& file, const run::ImpactRun& run) {
  if (run.problem.contacts == 0) {
    throw InvalidInput(
        fmt::format("--plot: {} has no contact, there is nothing to draw", run.model));
  }
  const PanelLayout layout = panels_for(run);
  const PictureLayers content = layers_of(run);
  double scale = 0.0;  // largest magnitude drawn
  for (const auto& [low, high] : content.extents) {
    scale = std::max({scale, std::fabs(low), std::fabs(high)});
  }
  if (!(scale > 0.0) || !std::isfinite(scale)) scale = 1.0;

  Sheet sheet;
  sheet.title = fmt::format("{}: {} samples, h = {:g} N s", run.model, run.summary.samples,
                            run.settings.step_size);
  sheet.columns = layout.columns;
  sheet.panel_width = layout.panel_width;
  sheet.panel_height = layout.panel_height;
  for (const Panel& panel : layout.panels) {
    SheetPanel drawn;
    drawn.title = panel.title;
    drawn.x_label = panel.x_label;
    drawn.y_label = panel.y_label;
    drawn.x = content.extents[static_cast<std::size_t>(panel.x)];
    drawn.y = content.extents[static_cast<std::size_t>(panel.y)];
    drawn.scale = scale;
    for (const PictureLayer& layer : content.layers) {
      drawn.items.push_back(
          {layer.data.name, fmt::format("{}:{}", panel.x + 1, panel.y + 1), layer.style});
    }
    sheet.panels.push_back(std::move(drawn));
  }
  for (const PictureLayer& layer : content.layers) {
    sheet.legend.push_back({layer.legend, layer.style, layer.line});
    sheet.data.push_back(layer.data);
  }
  draw_sheet(sheet, file);
}

}  // namespace carom::io
