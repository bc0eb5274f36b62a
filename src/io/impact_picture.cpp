#include "io/impact_picture.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <string_view>

#include <carom/error.hpp>

#include "io/gnuplot.hpp"
#include "io/picture_panels.hpp"
#include "io/sequential_path.hpp"

namespace carom::io {

namespace {

constexpr std::int64_t kMaxDrawnPoints = 20'000;  // more make an SVG slow and no clearer

constexpr std::string_view kLightGrey = "#d4d4d4";
constexpr std::string_view kDarkGrey = "#555555";
constexpr std::string_view kBlue = "#1f5fbf";
constexpr std::string_view kRed = "#c8281e";
constexpr std::string_view kOrange = "#eb9c00";

// Lines of contact velocities; a blank line lifts the pen.
class Table {
 public:
  explicit Table(const ImpactProblem& problem) : problem_(problem) {}

  void add(const double* velocity) {
    if (!std::isfinite(velocity[0])) return;
    const std::vector<double> row = contact_velocity(problem_, velocity);
    for (const double value : row) fmt::format_to(std::back_inserter(text_), "{:.7g} ", value);
    text_ += '\n';
  }
  void lift() { text_ += '\n'; }
  [[nodiscard]] bool empty() const { return text_.empty(); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  const ImpactProblem& problem_;
  std::string text_;
};

// One set of data with its look and its words in the legend.
struct Layer {
  PlotData data;
  std::string style;
  std::string legend;
};

std::string path_table(const ImpactRun& run) {
  Table table(run.problem);
  const auto nv = static_cast<std::int64_t>(run.problem.velocities);
  const std::vector<std::int64_t>& offset = run.paths.offset;
  for (std::size_t path = 0; path + 1 < offset.size(); ++path) {
    for (std::int64_t i = offset[path]; i < offset[path + 1]; ++i) {
      table.add(run.paths.velocity.data() + i * nv);
    }
    table.lift();
  }
  return table.text();
}

// The net's points, or the kept samples where there is no net.
std::string set_table(const ImpactRun& run) {
  Table table(run.problem);
  const auto nv = static_cast<std::int64_t>(run.problem.velocities);
  const bool net = run.net && run.net->points() > 0;
  const std::int64_t count = net ? run.net->points() : run.rows.count;
  const std::vector<double>& velocity = net ? run.net->velocity : run.rows.velocity;
  const std::int64_t stride = (count + kMaxDrawnPoints - 1) / kMaxDrawnPoints;
  for (std::int64_t i = 0; i < count; i += std::max<std::int64_t>(stride, 1)) {
    const bool ended = net || run.rows.status[static_cast<std::size_t>(i)] ==
                                  static_cast<std::uint8_t>(TrajectoryStatus::terminated);
    if (ended) table.add(velocity.data() + i * nv);
  }
  return table.text();
}

std::string simultaneous_table(const ImpactRun& run) {
  Table table(run.problem);
  for (const ImpactOutcome& outcome : run.models->simultaneous) {
    if (outcome.status != Status::solved) continue;
    table.add(run.problem.velocity.data());
    table.add(outcome.velocity.data());
    table.lift();
  }
  return table.text();
}

std::string sequence_table(const ImpactRun& run, const std::vector<int>& order) {
  Table table(run.problem);
  for (const std::vector<double>& velocity :
       sequential_path(run.problem, order, run.settings.friction_directions)) {
    table.add(velocity.data());
  }
  return table.text();
}

std::string order_words(const ImpactRun& run, const std::vector<int>& order) {
  if (order.size() != 2) return order[0] == 0 ? "in contact order" : "in reverse order";
  const std::string& first = run.contact_names[static_cast<std::size_t>(order[0])];
  const std::string& second = run.contact_names[static_cast<std::size_t>(order[1])];
  std::string words = fmt::format("({}, {}, {}, ...)", first, second, first);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::vector<Layer> layers_of(const ImpactRun& run) {
  std::vector<Layer> layers;
  const auto add = [&layers](std::string name, std::string text, std::string style,
                             std::string legend) {
    if (!text.empty()) {
      layers.push_back({{std::move(name), std::move(text)}, std::move(style), std::move(legend)});
    }
  };
  add("paths", path_table(run), fmt::format("with lines lw 0.8 lc rgb '{}'", kLightGrey),
      "intermediate velocities");
  add("set", set_table(run), fmt::format("with points pt 7 ps 0.32 lc rgb '{}'", kDarkGrey),
      "post-impact set");
  if (run.models && run.problem.contacts > 1) {
    std::vector<int> order(static_cast<std::size_t>(run.problem.contacts));
    std::iota(order.begin(), order.end(), 0);
    add("forward", sequence_table(run, order),
        fmt::format("with linespoints lw 1.8 pt 7 ps 0.65 lc rgb '{}'", kRed),
        "sequential " + order_words(run, order));
    std::reverse(order.begin(), order.end());
    add("backward", sequence_table(run, order),
        fmt::format("with linespoints lw 1.8 pt 5 ps 0.6 lc rgb '{}'", kOrange),
        "sequential " + order_words(run, order));
  }
  if (run.models) {
    add("simultaneous", simultaneous_table(run),
        fmt::format("with linespoints lw 1.8 pt 13 ps 0.95 lc rgb '{}'", kBlue),
        run.models->simultaneous_complete ? "simultaneous" : "simultaneous (one of several)");
  }
  Table start(run.problem);
  start.add(run.problem.velocity.data());
  add("start", start.text(), "with points pt 6 ps 1.1 lw 1.6 lc rgb '#000000'",
      "before the impact");
  return layers;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';  // a line break would end the command
    if (c == '\'') result += '\'';
    // enhanced text would take these as markup; a single-quoted string keeps the backslash
    if (c == '_' || c == '^' || c == '{' || c == '}' || c == '@' || c == '&' || c == '~') {
      result += '\\';
    }
    result += c;
  }
  return result;
}

// Places of the panels on the sheet, in pixels.
constexpr int kTitleHeight = 44;
constexpr int kLegendRow = 24;
constexpr int kLeft = 78;
constexpr int kRight = 14;
constexpr int kTop = 30;
constexpr int kBottom = 56;

}  // namespace

void draw_impact(const std::filesystem::path& file, const ImpactRun& run) {
  if (run.problem.contacts == 0) {
    throw InvalidInput(
        fmt::format("--plot: {} has no contact, there is nothing to draw", run.model));
  }
  const PanelLayout layout = panels_for(run);
  const std::vector<Layer> layers = layers_of(run);
  const int count = static_cast<int>(layout.panels.size());
  const int rows = (count + layout.columns - 1) / layout.columns;
  const int width = layout.columns * layout.panel_width;
  const int legend_columns = std::clamp(width / 260, 1, static_cast<int>(layers.size()));
  const int legend_rows = (static_cast<int>(layers.size()) + legend_columns - 1) / legend_columns;
  const int legend_height = legend_rows * kLegendRow + 14;
  const int height = kTitleHeight + rows * layout.panel_height + legend_height;

  std::string script;
  const auto out = std::back_inserter(script);
  fmt::format_to(out, "set multiplot title '{}' font ',15'\n",
                 escaped(fmt::format("{}: {} samples, h = {:g} N s", run.model, run.summary.samples,
                                     run.settings.step_size)));
  script +=
      "set border 3 lw 0.8 lc rgb '#333333'\nset tics nomirror out scale 0.6 font ',10'\n"
      "set zeroaxis lt 1 lw 0.8 dt 2 lc rgb '#999999'\nset offsets graph 0.04, 0.04, 0.04, 0.04\n"
      "unset key\nset xtics autofreq\nset ytics autofreq\n";
  for (int i = 0; i < count; ++i) {
    const Panel& panel = layout.panels[static_cast<std::size_t>(i)];
    const int left = (i % layout.columns) * layout.panel_width;
    const int top = kTitleHeight + (i / layout.columns) * layout.panel_height;
    const auto across = [width](int x) { return static_cast<double>(x) / width; };
    const auto up = [height](int y) { return 1.0 - static_cast<double>(y) / height; };
    fmt::format_to(out, "set lmargin at screen {:.4f}\nset rmargin at screen {:.4f}\n",
                   across(left + kLeft), across(left + layout.panel_width - kRight));
    fmt::format_to(out, "set tmargin at screen {:.4f}\nset bmargin at screen {:.4f}\n",
                   up(top + kTop), up(top + layout.panel_height - kBottom));
    fmt::format_to(out, "set title '{}' font ',12' offset 0,-0.6\n", escaped(panel.title));
    fmt::format_to(out, "set xlabel '{}' font ',11' offset 0,0.3\n", escaped(panel.x_label));
    fmt::format_to(out, "set ylabel '{}' font ',11' offset 0.8,0\n", escaped(panel.y_label));
    script += "plot ";
    for (const Layer& layer : layers) {
      fmt::format_to(out, "'{}' using {}:{} {} notitle, ", layer.data.name, panel.x + 1,
                     panel.y + 1, layer.style);
    }
    script.replace(script.size() - 2, 2, "\n");
  }
  fmt::format_to(out,
                 "unset border\nunset tics\nunset title\nunset xlabel\nunset ylabel\n"
                 "unset zeroaxis\nset lmargin at screen 0.02\nset rmargin at screen 0.98\n"
                 "set bmargin at screen 0.0\nset tmargin at screen {:.4f}\n"
                 "set key center center horizontal maxcols {} samplen 2.5 font ',11' "
                 "spacing 1.1\nset offsets 0,0,0,0\nplot [0:1][0:1] ",
                 static_cast<double>(legend_height) / height, legend_columns);
  for (const Layer& layer : layers) {
    fmt::format_to(out, "NaN {} title '{}', ", layer.style, escaped(layer.legend));
  }
  script.replace(script.size() - 2, 2, "\nunset multiplot\n");

  std::vector<PlotData> data;
  for (const Layer& layer : layers) data.push_back(layer.data);
  run_gnuplot(script, data, width, height, file);
}

}  // namespace carom::io
