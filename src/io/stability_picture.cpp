#include "io/stability_picture.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>
#include <iterator>

#include <carom/error.hpp>

#include "core/words.hpp"
#include "io/sheet.hpp"

namespace carom::io {

namespace {

struct Region {
  const char* text;
  const char* colour;
};
// In the order of the chart's legend.
constexpr std::array<Region, 7> kRegions{{{"stable: paper's class", "#2a7f62"},
                                          {"stable: labelled functions", "#7fc8a9"},
                                          {"undecided", "#f2e8c9"},
                                          {"unstable: a motion grows", "#e07a3f"},
                                          {"ambiguous", "#8c2d19"},
                                          {"no equilibrium", "#c9c9c9"},
                                          {"no consistent mode", "#6a4c93"}}};

std::size_t region_of(const run::StabilityRun& run, std::size_t i) {
  switch (run.verdict(i)) {
    case StabilityVerdict::stable: {
      const auto row = static_cast<std::size_t>(run.row[i]);
      return run.result.certificate.host()[row] == CertificateKind::labelled ? 1 : 0;
    }
    case StabilityVerdict::unstable:
      return 3;
    case StabilityVerdict::ambiguous:
      return 4;
    case StabilityVerdict::no_equilibrium:
      return 5;
    case StabilityVerdict::no_consistent_mode:
      return 6;
    default:
      return 2;
  }
}

void add_regions(const run::StabilityRun& run, Sheet& sheet) {
  std::array<bool, kRegions.size()> seen{};
  for (std::size_t i = 0; i < run.row.size(); ++i) seen[region_of(run, i)] = true;
  for (std::size_t k = 0; k < kRegions.size(); ++k) {
    if (!seen[k]) continue;
    sheet.legend.push_back(
        {kRegions[k].text, fmt::format("with points pt 5 ps 1.4 lc rgb '{}'", kRegions[k].colour)});
  }
}

// Where a number of the result passes through `level` along the first sweep, for each value of the
// second.
std::string crossing(const run::StabilityRun& run, const Buffer<double>& values, double level) {
  const auto& axes = run.points.axes;
  const std::size_t rows = axes[0].size(), columns = axes[1].size();
  std::string text;
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t i = 0; i + 1 < rows; ++i) {
      const std::size_t at = i * columns + j;
      if (run.row[at] < 0 || run.row[at + columns] < 0) continue;
      const double a = values.host()[static_cast<std::size_t>(run.row[at])] - level;
      const double b = values.host()[static_cast<std::size_t>(run.row[at + columns])] - level;
      if (!(a * b < 0.0) || !std::isfinite(a) || !std::isfinite(b)) continue;
      const double x = axes[0][i] + (axes[0][i + 1] - axes[0][i]) * a / (a - b);
      fmt::format_to(std::back_inserter(text), "{:.9g} {:.9g}\n", x, axes[1][j]);
    }
  }
  return text;
}

// A biped on level contacts at one height, e = 0: (39), (40) and where slip 1+ comes to rest.
std::string analytic(const run::StabilityRun& run, bool ambiguity) {
  std::string text;
  const auto& axes = run.points.axes;
  for (std::size_t j = 0; j < axes[1].size(); ++j) {
    const Stance& stance = run.points.stances[j];
    const StanceContact& rear = stance.contacts[0];
    const double t = std::tan(stance.angle), h = rear.h;
    const double mu =
        ambiguity ? t - (h * t - rear.l) / h
                  : (t * (1.0 + rear.l * rear.l) + rear.l * h) / (1.0 + h * h + rear.l * h * t);
    if (mu < axes[0].front() || mu > axes[0].back()) continue;
    fmt::format_to(std::back_inserter(text), "{:.9g} {:.9g}\n", mu, axes[1][j]);
  }
  return text;
}

void add_line(Sheet& sheet, SheetPanel& panel, std::string content, const char* text,
              const char* style) {
  if (content.empty()) return;
  const std::string name = fmt::format("line{}", sheet.data.size());
  sheet.data.push_back({name, std::move(content)});
  panel.items.push_back({name, "1:2", style});
  sheet.legend.push_back({text, style, true});
}

Sheet chart(const run::StabilityRun& run) {
  const auto& axes = run.points.axes;
  Sheet sheet;
  sheet.title = fmt::format("{}: {} x {} stances", run.points.name, axes[0].size(), axes[1].size());
  sheet.panel_width = 720;
  sheet.panel_height = 600;
  SheetPanel panel;
  panel.x_label = run.points.varied[0];
  panel.y_label = run.points.varied[1];
  panel.x = {axes[0].front(), axes[0].back()};
  panel.y = {axes[1].front(), axes[1].back()};
  std::string cells;
  for (std::size_t i = 0; i < run.points.stances.size(); ++i) {
    unsigned r = 0, g = 0, b = 0;
    std::sscanf(kRegions[region_of(run, i)].colour, "#%2x%2x%2x", &r, &g, &b);
    fmt::format_to(std::back_inserter(cells), "{:.9g} {:.9g} {} {} {}\n", run.points.at[i][0],
                   run.points.at[i][1], r, g, b);
  }
  sheet.data.push_back({"cells", std::move(cells)});
  panel.items.push_back({"cells", "1:2:3:4:5", "with rgbimage"});
  add_regions(run, sheet);
  const bool second =
      run.points.name == "figure2" && run.points.varied[0] == "mu1" && run.points.varied[1] == "d";
  if (second) {
    add_line(sheet, panel, analytic(run, true), "(39), (40)", "with lines lw 2 lc rgb '#000000'");
    add_line(sheet, panel, analytic(run, false), "slip 1+ comes to rest",
             "with lines lw 2 dt 2 lc rgb '#f5c211'");
  }
  add_line(sheet, panel, crossing(run, run.result.growth, 1.0), "closed-form chatter growth 1",
           "with lines lw 2 dt 4 lc rgb '#102a83'");
  add_line(sheet, panel, crossing(run, run.result.force_margin, 0.0), "equilibrium",
           "with lines lw 2 lc rgb '#444444'");
  sheet.panels.push_back(std::move(panel));
  return sheet;
}

Sheet line_of_verdicts(const run::StabilityRun& run) {
  Sheet sheet;
  sheet.title = fmt::format("{}: {} stances", run.points.name, run.points.stances.size());
  sheet.panel_width = 720;
  SheetPanel panel;
  panel.x_label = run.points.varied[0];
  panel.y_label = "force margin [N]";
  panel.x = {run.points.axes[0].front(), run.points.axes[0].back()};
  panel.y = empty_extent();
  std::array<std::string, kRegions.size()> texts;
  for (std::size_t i = 0; i < run.points.stances.size(); ++i) {
    if (run.row[i] < 0) continue;
    const double margin = run.result.force_margin.host()[static_cast<std::size_t>(run.row[i])];
    include(panel.y, margin);
    fmt::format_to(std::back_inserter(texts[region_of(run, i)]), "{:.9g} {:.9g}\n",
                   run.points.at[i][0], margin);
  }
  for (std::size_t k = 0; k < texts.size(); ++k) {
    if (texts[k].empty()) continue;
    const std::string name = fmt::format("region{}", k);
    sheet.data.push_back({name, std::move(texts[k])});
    panel.items.push_back(
        {name, "1:2", fmt::format("with points pt 7 ps 0.8 lc rgb '{}'", kRegions[k].colour)});
  }
  add_regions(run, sheet);
  sheet.panels.push_back(std::move(panel));
  return sheet;
}

// The motion between events, by their closed form.
class MotionPicture {
 public:
  MotionPicture(const run::StabilityRun& run, std::vector<StanceEvent> events)
      : run_(run), stance_(run.points.stances.front()), events_(std::move(events)) {}

  Sheet make() {
    sheet_.title = fmt::format("{}: motion of {} events", run_.points.name, events_.size() - 1);
    sheet_.columns = 2;
    sheet_.panel_width = 480;
    sheet_.panel_height = 360;
    std::string text;
    const auto modes = contact_modes(stance_);
    for (std::size_t k = 0; k < events_.size(); ++k) {
      const StanceEvent& e = events_[k];
      const double end = k + 1 < events_.size() ? events_[k + 1].time - e.time : 0.0;
      std::array<double, 3> a{};
      for (const StanceMode& mode : modes) {
        if (mode.word == e.mode && mode.solvable) a = mode.acceleration;
      }
      const int steps = end > 0.0 ? 24 : 1;
      for (int step = 0; step < steps; ++step) {
        const double t = end * step / steps;
        std::array<double, 3> q = e.position, v = e.velocity;
        for (std::size_t i = 0; i < 3; ++i) {
          q[i] += (v[i] + 0.5 * a[i] * t) * t;
          v[i] += a[i] * t;
        }
        row(text, e.time + t, q, v);
      }
    }
    sheet_.data.push_back({"motion", std::move(text)});
    panel("phase portrait: gaps", "gap 1 [m]", "gap 2 [m]", 1, 2);
    panel("phase portrait: rotation", "theta [rad]", "omega [rad/s]", 3, 4);
    panel("displacement", "time [s]", "y [m]", 0, 5);
    panel("V1", "time [s]", "V1", 0, 6);
    if (has_certificate_) panel("V2", "time [s]", "V2", 0, 7);
    return std::move(sheet_);
  }

 private:
  using Triple = std::array<double, 3>;
  static double product(const Triple& a, const Triple& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  }
  static Triple cross(const Triple& a, const Triple& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  }

  void row(std::string& text, double time, const Triple& q, const Triple& v) {
    Triple normal[2], tangent[2];
    for (std::size_t i = 0; i < 2; ++i) {
      const StanceContact& c = stance_.contacts[i];
      const double s = std::sin(c.slope), k = std::cos(c.slope);
      normal[i] = {-s, k, c.l * k - c.h * s};
      tangent[i] = {k, s, c.h * k + c.l * s};
    }
    const Triple g{stance_.force * std::sin(stance_.angle),
                   -stance_.force * std::cos(stance_.angle), stance_.torque};
    const double v1 = 0.5 * product(v, v) - product(g, q);
    double v2 = v1;
    if (has_certificate_) {
      Triple n = cross(normal[0], normal[1]);
      Triple c = cross(cross(normal[0], tangent[0]), cross(normal[1], tangent[1]));
      const double downhill = product(n, g) < 0.0 ? -1.0 : 1.0;
      const double size = std::copysign(std::hypot(c[0], c[1]), downhill * product(n, c));
      for (double& x : c) x /= size;
      const double zeta = product(n, g) / product(n, c), along = product(c, v);
      v2 += (zeta + run_.result.kappa.host()[0]) * product(c, q) +
            0.5 * run_.result.s.host()[0] * along * along;
    }
    const std::array<double, 8> values{
        time, product(normal[0], q), product(normal[1], q), q[2], v[2], q[0], v1, v2};
    for (std::size_t i = 0; i < values.size(); ++i) {
      include(extent_[i], values[i]);
      fmt::format_to(std::back_inserter(text), "{:.9g} ", values[i]);
    }
    text += '\n';
  }

  void panel(const char* title, const char* x, const char* y, std::size_t i, std::size_t j) {
    SheetPanel panel;
    panel.title = title;
    panel.x_label = x;
    panel.y_label = y;
    panel.x = extent_[i];
    panel.y = extent_[j];
    panel.items.push_back(
        {"motion", fmt::format("{}:{}", i + 1, j + 1), "with lines lw 1.4 lc rgb '#102a83'"});
    sheet_.panels.push_back(std::move(panel));
  }

  const run::StabilityRun& run_;
  const Stance& stance_;
  std::vector<StanceEvent> events_;
  bool has_certificate_ = run_.result.certificate.host()[0] == CertificateKind::paper ||
                          run_.result.certificate.host()[0] == CertificateKind::sos;
  std::array<std::pair<double, double>, 8> extent_{empty_extent(), empty_extent(), empty_extent(),
                                                   empty_extent(), empty_extent(), empty_extent(),
                                                   empty_extent(), empty_extent()};
  Sheet sheet_;
};

constexpr std::int64_t kDrawnEvents = 120;

}  // namespace

void draw_stability(const std::filesystem::path& file, const run::StabilityRun& run) {
  if (run.points.chart()) return draw_sheet(chart(run), file);
  if (run.points.varied.size() == 1) return draw_sheet(line_of_verdicts(run), file);
  std::vector<StanceEvent> events = run.events;
  const bool counterexample = run.points.stances.size() == 1 && run.row.front() >= 0 &&
                              run.verdict(0) == StabilityVerdict::unstable;
  if (events.empty() && counterexample) {
    const double* s = run.result.start.data();
    events = stance_trajectory(run.points.stances.front(), {s[0], s[1], s[2]}, {s[3], s[4], s[5]},
                               kDrawnEvents, run.settings.seed);
  }
  if (events.empty()) {
    throw InvalidInput(
        "--plot: one point without a counterexample has no motion to draw: give --start "
        "Y,Z,THETA,U,W,OMEGA, or --sweep one or two parameters");
  }
  draw_sheet(MotionPicture(run, std::move(events)).make(), file);
}

}  // namespace carom::io
