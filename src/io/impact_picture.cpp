#include "io/impact_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include <carom/error.hpp>

#include "io/gnuplot.hpp"
#include "io/picture_layers.hpp"
#include "io/picture_panels.hpp"

namespace carom::io {

namespace {

// Places on the sheet, in pixels.
constexpr int kTitleHeight = 40;
constexpr int kLegendRow = 22;
constexpr int kLegendColumn = 250;
constexpr int kLeft = 80;
constexpr int kRight = 26;
constexpr int kTop = 30;
constexpr int kBottom = 58;

constexpr double kXTics = 4.2;
constexpr double kYTics = 5.0;

// As gnuplot's enhanced text in single quotes: no markup, no end of the string or of the command.
std::string as_text(std::string_view text) {
  std::string result = "'";
  for (char c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
    if (c == '\'') result += '\'';
    if (std::string_view("_^{}@&~\\").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result + "'";
}

struct Axis {
  double low = -1.0;
  double high = 1.0;
  double step = 0.5;
};

// A little room around the values and about `tics` round tics. `scale` is the range to show where
// all values are equal.
Axis axis_for(std::pair<double, double> extent, double scale, double tics) {
  auto [low, high] = extent;
  if (!(high - low > 1e-6 * scale)) {
    low -= 0.3 * scale;
    high += 0.3 * scale;
  }
  const double room = 0.06 * (high - low);
  const double raw = (high - low) / tics;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  const double mantissa = raw / power;
  const double round = mantissa < 1.4 ? 1.0 : mantissa < 3.0 ? 2.0 : mantissa < 7.0 ? 5.0 : 10.0;
  return {low - room, high + room, round * power};
}

// The script of one sheet, written piece by piece.
class Sheet {
 public:
  Sheet(const ImpactRun& run, const PanelLayout& layout, const PictureLayers& content)
      : run_(run), layout_(layout), content_(content) {
    const int count = static_cast<int>(layout.panels.size());
    const int layers = static_cast<int>(content.layers.size());
    const int rows = (count + layout.columns - 1) / layout.columns;
    width_ = layout.columns * layout.panel_width;
    legend_columns_ = std::clamp(width_ / kLegendColumn, 1, layers);
    const int legend_rows = (layers + legend_columns_ - 1) / legend_columns_;
    legend_top_ = kTitleHeight + rows * layout.panel_height;
    height_ = legend_top_ + legend_rows * kLegendRow + 14;
    for (const auto& [low, high] : content.extents) {
      scale_ = std::max({scale_, std::fabs(low), std::fabs(high)});
    }
    if (!(scale_ > 0.0) || !std::isfinite(scale_)) scale_ = 1.0;
  }

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] int height() const { return height_; }
  /// Files of the legend, complete once the script is.
  [[nodiscard]] const std::vector<PlotData>& legend_data() const { return legend_data_; }

  std::string script() {
    add("set multiplot title {} font ',13'\n",
        as_text(fmt::format("{}: {} samples, h = {:g} N s", run_.model, run_.summary.samples,
                            run_.settings.step_size)));
    script_ +=
        "set border 3 lw 0.8 lc rgb '#333333'\nset tics nomirror out scale 0.6 font ',10'\n"
        "set zeroaxis lt 1 lw 0.8 dt 2 lc rgb '#999999'\nunset key\n";
    for (std::size_t i = 0; i < layout_.panels.size(); ++i) panel(i);
    legend();
    script_ += "unset multiplot\n";
    return std::move(script_);
  }

 private:
  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(script_), format, std::forward<Values>(values)...);
  }

  // Edges of the plotted area, in pixels from the upper left corner.
  void place(int left, int right, int top, int bottom) {
    const auto across = [this](int x) { return static_cast<double>(x) / width_; };
    const auto up = [this](int y) { return 1.0 - static_cast<double>(y) / height_; };
    add("set lmargin at screen {:.5f}\nset rmargin at screen {:.5f}\n", across(left),
        across(right));
    add("set tmargin at screen {:.5f}\nset bmargin at screen {:.5f}\n", up(top), up(bottom));
  }

  void panel(std::size_t index) {
    const Panel& panel = layout_.panels[index];
    const int column = static_cast<int>(index) % layout_.columns;
    const int row = static_cast<int>(index) / layout_.columns;
    const int left = column * layout_.panel_width;
    const int top = kTitleHeight + row * layout_.panel_height;
    place(left + kLeft, left + layout_.panel_width - kRight, top + kTop,
          top + layout_.panel_height - kBottom);
    const Axis x = axis_for(content_.extents[static_cast<std::size_t>(panel.x)], scale_, kXTics);
    const Axis y = axis_for(content_.extents[static_cast<std::size_t>(panel.y)], scale_, kYTics);
    add("set xrange [{:.9g}:{:.9g}]\nset xtics {:.9g}\n", x.low, x.high, x.step);
    add("set yrange [{:.9g}:{:.9g}]\nset ytics {:.9g}\n", y.low, y.high, y.step);
    add("set title {} font ',12' offset 0,-0.6\n", as_text(panel.title));
    add("set xlabel {} font ',11' offset 0,0.2\n", as_text(panel.x_label));
    add("set ylabel {} font ',11' offset 0.6,0\n", as_text(panel.y_label));
    script_ += "plot ";
    for (std::size_t i = 0; i < content_.layers.size(); ++i) {
      const PictureLayer& layer = content_.layers[i];
      add("{}'{}' using {}:{} {} notitle", i == 0 ? "" : ", ", layer.data.name, panel.x + 1,
          panel.y + 1, layer.style);
    }
    script_ += '\n';
  }

  // Samples of the looks in columns below the panels, measured in pixels.
  void legend() {
    place(0, width_, legend_top_, height_);
    script_ +=
        "unset border\nunset tics\nunset title\nunset xlabel\nunset ylabel\nunset zeroaxis\n";
    const int legend_height = height_ - legend_top_;
    add("set xrange [0:{}]\nset yrange [{}:0]\n", width_, legend_height);
    const int column_width = width_ / legend_columns_;
    std::string samples;
    for (std::size_t i = 0; i < content_.layers.size(); ++i) {
      const PictureLayer& layer = content_.layers[i];
      const int x = static_cast<int>(i) % legend_columns_ * column_width + 24;
      const int y = static_cast<int>(i) / legend_columns_ * kLegendRow + kLegendRow / 2;
      add("set label {} at {},{} left font ',11'\n", as_text(layer.legend), x + 42, y);
      const std::string name = fmt::format("legend{}", i);
      legend_data_.push_back({name, layer.line ? fmt::format("{0} {1}\n{2} {1}\n", x, y, x + 32)
                                               : fmt::format("{} {}\n", x + 16, y)});
      samples += fmt::format("{}'{}' {} notitle", i == 0 ? "" : ", ", name, layer.style);
    }
    add("plot {}\n", samples);
  }

  const ImpactRun& run_;
  const PanelLayout& layout_;
  const PictureLayers& content_;
  int width_ = 0;
  int height_ = 0;
  int legend_top_ = 0;
  int legend_columns_ = 1;
  double scale_ = 0.0;  // largest magnitude drawn
  std::string script_;
  std::vector<PlotData> legend_data_;
};

}  // namespace

void draw_impact(const std::filesystem::path& file, const ImpactRun& run) {
  if (run.problem.contacts == 0) {
    throw InvalidInput(
        fmt::format("--plot: {} has no contact, there is nothing to draw", run.model));
  }
  const PanelLayout layout = panels_for(run);
  const PictureLayers content = layers_of(run);
  Sheet sheet(run, layout, content);
  const std::string script = sheet.script();
  std::vector<PlotData> data = sheet.legend_data();
  for (const PictureLayer& layer : content.layers) data.push_back(layer.data);
  run_gnuplot(script, data, sheet.width(), sheet.height(), file);
}

}  // namespace carom::io
