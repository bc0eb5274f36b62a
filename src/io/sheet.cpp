#include "io/sheet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "core/constants.hpp"

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

double round_step(double raw) {
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  const double mantissa = raw / power;
  return power * (mantissa < 1.4 ? 1.0 : mantissa < 3.0 ? 2.0 : mantissa < 7.0 ? 5.0 : 10.0);
}

// A little room around the values and about `tics` round tics.
Axis axis_for(std::pair<double, double> extent, double scale, double tics) {
  auto [low, high] = extent;
  if (!(low <= high)) low = high = 0.0;  // nothing was drawn
  if (!(high - low > 1e-6 * scale)) {
    low -= 0.3 * scale;
    high += 0.3 * scale;
  }
  const double room = 0.06 * (high - low);
  return {low - room, high + room, round_step((high - low) / tics)};
}

Axis log_axis_for(std::pair<double, double> extent) {
  auto [low, high] = extent;
  if (!(low > 0.0) || !(high >= low)) low = high = 1.0;
  if (high < 1.2 * low) return {low / 2.0, high * 2.0, 10.0};
  const double room = std::pow(high / low, 0.06);
  const double decades = std::log10(high / low);
  return {low / room, high * room, std::pow(10.0, std::max(1.0, std::round(decades / 4.0)))};
}

// Widens one of the axes until a pixel is the same length on both.
void make_equal(Axis& x, Axis& y, int width, int height) {
  const double per_pixel = std::max((x.high - x.low) / width, (y.high - y.low) / height);
  for (const auto& [axis, pixels] : {std::pair{&x, width}, std::pair{&y, height}}) {
    const double missing = per_pixel * pixels - (axis->high - axis->low);
    axis->low -= missing / 2.0;
    axis->high += missing / 2.0;
    axis->step = round_step((axis->high - axis->low) * 0.88 / (axis == &x ? kXTics : kYTics));
  }
}

// The script of one sheet, written piece by piece.
class Writer {
 public:
  explicit Writer(const Sheet& sheet) : sheet_(sheet) {
    const int count = static_cast<int>(sheet.panels.size());
    const int entries = static_cast<int>(sheet.legend.size());
    const int rows = (count + sheet.columns - 1) / sheet.columns;
    width_ = sheet.columns * sheet.panel_width;
    legend_columns_ = std::clamp(width_ / kLegendColumn, 1, std::max(entries, 1));
    const int legend_rows = (entries + legend_columns_ - 1) / legend_columns_;
    legend_top_ = kTitleHeight + rows * sheet.panel_height;
    height_ = legend_top_ + legend_rows * kLegendRow + 14;
  }

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] int height() const { return height_; }
  /// Files of the legend, complete once the script is.
  [[nodiscard]] const std::vector<PlotData>& legend_data() const { return legend_data_; }

  std::string script() {
    add("set multiplot title {} font ',13'\n", as_text(sheet_.title));
    script_ +=
        "set border 3 lw 0.8 lc rgb '#333333'\nset tics nomirror out scale 0.6 font ',10'\n"
        "set zeroaxis lt 1 lw 0.8 dt 2 lc rgb '#999999'\nunset key\nset clip two\n";
    for (std::size_t i = 0; i < sheet_.panels.size(); ++i) panel(i);
    if (!sheet_.legend.empty()) legend();
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

  void axis(char name, const Axis& axis, bool logarithmic) {
    add("{} logscale {}\n", logarithmic ? "set" : "unset", name);
    add("set format {} '{}'\n", name, logarithmic ? "10^{%L}" : "%h");
    add("set {0}range [{1:.9g}:{2:.9g}]\nset {0}tics {3:.9g}\n", name, axis.low, axis.high,
        axis.step);
  }

  void panel(std::size_t index) {
    const SheetPanel& panel = sheet_.panels[index];
    const int column = static_cast<int>(index) % sheet_.columns;
    const int row = static_cast<int>(index) / sheet_.columns;
    const int left = column * sheet_.panel_width;
    const int top = kTitleHeight + row * sheet_.panel_height;
    place(left + kLeft, left + sheet_.panel_width - kRight, top + kTop,
          top + sheet_.panel_height - kBottom);
    Axis x = panel.log_x ? log_axis_for(panel.x) : axis_for(panel.x, panel.scale, kXTics);
    Axis y = panel.log_y ? log_axis_for(panel.y) : axis_for(panel.y, panel.scale, kYTics);
    if (panel.equal) {
      make_equal(x, y, sheet_.panel_width - kLeft - kRight, sheet_.panel_height - kTop - kBottom);
    }
    axis('x', x, panel.log_x);
    axis('y', y, panel.log_y);
    add("set title {} font ',12' offset 0,-0.6\n", as_text(panel.title));
    add("set xlabel {} font ',11' offset 0,0.2\n", as_text(panel.x_label));
    add("set ylabel {} font ',11' offset 0.6,0\n", as_text(panel.y_label));
    script_ += "plot ";
    for (std::size_t i = 0; i < panel.items.size(); ++i) {
      const SheetItem& item = panel.items[i];
      add("{}'{}' using {} {} notitle", i == 0 ? "" : ", ", item.data, item.columns, item.style);
    }
    script_ += '\n';
  }

  // Samples of the looks in columns below the panels, measured in pixels.
  void legend() {
    place(0, width_, legend_top_, height_);
    script_ +=
        "unset border\nunset tics\nunset title\nunset xlabel\nunset ylabel\nunset zeroaxis\n"
        "unset logscale\n";
    const int legend_height = height_ - legend_top_;
    add("set xrange [0:{}]\nset yrange [{}:0]\n", width_, legend_height);
    const int column_width = width_ / legend_columns_;
    std::string samples;
    for (std::size_t i = 0; i < sheet_.legend.size(); ++i) {
      const SheetLegend& entry = sheet_.legend[i];
      const int x = static_cast<int>(i) % legend_columns_ * column_width + 24;
      const int y = static_cast<int>(i) / legend_columns_ * kLegendRow + kLegendRow / 2;
      add("set label {} at {},{} left font ',11'\n", as_text(entry.text), x + 42, y);
      const std::string name = fmt::format("legend{}", i);
      legend_data_.push_back({name, entry.line ? fmt::format("{0} {1}\n{2} {1}\n", x, y, x + 32)
                                               : fmt::format("{} {}\n", x + 16, y)});
      samples += fmt::format("{}'{}' {} notitle", i == 0 ? "" : ", ", name, entry.style);
    }
    add("plot {}\n", samples);
  }

  const Sheet& sheet_;
  int width_ = 0;
  int height_ = 0;
  int legend_top_ = 0;
  int legend_columns_ = 1;
  std::string script_;
  std::vector<PlotData> legend_data_;
};

}  // namespace

std::pair<double, double> empty_extent() { return {kInfinity, -kInfinity}; }

void include(std::pair<double, double>& extent, double value) {
  if (!std::isfinite(value)) return;
  extent.first = std::min(extent.first, value);
  extent.second = std::max(extent.second, value);
}

void draw_sheet(const Sheet& sheet, const std::filesystem::path& target) {
  Writer writer(sheet);
  const std::string script = writer.script();
  std::vector<PlotData> data = sheet.data;
  data.insert(data.end(), writer.legend_data().begin(), writer.legend_data().end());
  run_gnuplot(script, data, writer.width(), writer.height(), target);
}

}  // namespace carom::io
