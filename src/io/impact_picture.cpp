#include "io/impact_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <carom/error.hpp>

#include "io/enclosure_outline.hpp"
#include "io/picture_layers.hpp"
#include "io/picture_panels.hpp"
#include "io/sheet.hpp"

namespace carom::io {

namespace {

constexpr const char* kOutline = "with lines lw 1.4 lc rgb '#1a8f3c'";

/// The enclosure's outline in every panel, which shows it whole.
void add_outlines(Sheet& sheet, const PanelLayout& layout, const ImpactEnclosure& set) {
  const std::size_t m = set.normal_velocity_min.size();
  const auto widen = [&](std::pair<double, double>& extent, int row) {
    const auto k = static_cast<std::size_t>(row);
    include(extent, k < m ? set.normal_velocity_min[k] : set.tangent_velocity_min[k - m]);
    include(extent, k < m ? set.normal_velocity_max[k] : set.tangent_velocity_max[k - m]);
  };
  for (std::size_t i = 0; i < layout.panels.size(); ++i) {
    const Panel& panel = layout.panels[i];
    SheetPanel& drawn = sheet.panels[i];
    widen(drawn.x, panel.x);
    widen(drawn.y, panel.y);
    const std::string name = fmt::format("outline_{}", i);
    sheet.data.push_back({name, outline_of(set, panel.x, panel.y)});
    drawn.items.push_back({name, "1:2", kOutline});
  }
  sheet.legend.push_back({"certain bound", kOutline, true});
}

}  // namespace

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
  sheet.title = fmt::format("{}: {} samples", run.model, run.summary.samples);
  if (run.settings.method == ImpactMethod::lcp) {
    sheet.title += fmt::format(", h = {:g} N s", run.settings.step_size);
  }
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
  if (run.enclosure && (run.enclosure->set.status == EnclosureStatus::enclosed ||
                        run.enclosure->set.status == EnclosureStatus::outer)) {
    add_outlines(sheet, layout, run.enclosure->set);
  }
  draw_sheet(sheet, file);
}

}  // namespace carom::io
