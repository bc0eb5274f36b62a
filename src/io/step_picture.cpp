#include "io/step_picture.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <numbers>
#include <string_view>

#include "io/sheet.hpp"
#include "io/spring_motion.hpp"
#include "io/step_outcomes.hpp"
#include "io/step_palette.hpp"

namespace carom::io {

namespace {

constexpr int kExactPoints = 2000;
constexpr std::string_view kExactStyle = "with lines lw 1.2 dt (6,4) lc rgb '#000000'";
constexpr double kDecadesShown = 6.0;  // of a logarithmic axis

using WorldList = std::vector<std::int64_t>;

// One state of one world.
struct Instant {
  std::int64_t world = 0;
  double time = 0.0;
  std::span<const double> q;
  double energy = 0.0;
};

struct Curve {
  std::string title;
  std::string quantity;
  std::string unit;
  std::function<double(const Instant&)> value;
  bool logarithmic = false;
};

WorldList drawn_worlds(std::int64_t worlds) {
  WorldList drawn;
  const std::int64_t count = std::min(worlds, static_cast<std::int64_t>(kColours.size()));
  for (std::int64_t i = 0; i < count; ++i) {
    drawn.push_back(count == 1 ? 0 : i * (worlds - 1) / (count - 1));
  }
  return drawn;
}

class StepFigure {
 public:
  explicit StepFigure(const run::StepRun& run) : run_(run), drawn_(drawn_worlds(run.worlds)) {
    const run::StepGroup& first = run.groups.front();
    sheet_.title = run.worlds == 1
                       ? fmt::format("{}: dt = {:g} s", run.scenario->name, first.step_size)
                       : fmt::format("{}: {} worlds", run.scenario->name, run.worlds);
    if (static_cast<std::int64_t>(drawn_.size()) < run.worlds) {
      sheet_.title += fmt::format(", {} of them as lines", drawn_.size());
    }
    sheet_.columns = 2;
    sheet_.panel_width = 480;
    sheet_.panel_height = 360;
  }

  Sheet make() {
    switch (run_.scenario->kind) {
      case models::ScenarioKind::spring_mass_damper:
        springs();
        break;
      case models::ScenarioKind::compliant_block_impact:
        add_outcomes(run_, sheet_);
        break;
      default:
        over_time();
    }
    sheet_.columns = std::min(sheet_.columns, static_cast<int>(sheet_.panels.size()));
    return std::move(sheet_);
  }

 private:
  [[nodiscard]] std::string label(std::int64_t world) const {
    std::vector<std::string> words;
    for (const std::string& name : run_.varied) {
      words.push_back(fmt::format("{} = {:.4g}", spoken(name), run_.value_of(name, world)));
    }
    if (words.empty()) return run_.worlds == 1 ? "motion" : fmt::format("world {}", world);
    return fmt::format("{}", fmt::join(words, ", "));
  }

  static std::string line_style(std::size_t index) {
    return fmt::format("with lines lw 1.6 lc rgb '{}'", kColours[index]);
  }

  // Calls visit(instant) for the kept states of a world up to where it breaks.
  template <class Visit>
  void for_each_instant(std::int64_t world, Visit&& visit) const {
    const auto& [group, row] = run_.place[static_cast<std::size_t>(world)];
    const WorldsResult& result = run_.groups[group].result;
    const std::size_t worlds = run_.groups[group].worlds.size();
    const auto nq = static_cast<std::size_t>(result.positions);
    const std::size_t width = nq + static_cast<std::size_t>(result.velocities);
    for (std::size_t frame = 0; frame < result.frame_time.size(); ++frame) {
      const std::size_t at = frame * worlds + row;
      Instant instant;
      instant.world = world;
      instant.time = result.frame_time[frame];
      instant.q = std::span(result.frame_state).subspan(at * width, nq);
      instant.energy = result.frame_energy[at];
      if (!std::isfinite(instant.q[0])) return;
      visit(instant);
    }
  }

  void add_data(std::string name, std::string content) {
    sheet_.data.push_back({std::move(name), std::move(content)});
  }

  // One line per drawn world in every panel; worlds that were drawn get a legend.
  void draw_curves(const std::vector<Curve>& curves) {
    const std::size_t first = sheet_.panels.size();
    for (const Curve& curve : curves) {
      SheetPanel panel;
      panel.title = curve.title;
      panel.x_label = "time [s]";
      panel.x = panel.y = empty_extent();
      panel.log_y = curve.logarithmic;
      sheet_.panels.push_back(std::move(panel));
    }
    for (std::size_t i = 0; i < drawn_.size(); ++i) {
      std::string text;
      for_each_instant(drawn_[i], [&](const Instant& instant) {
        fmt::format_to(std::back_inserter(text), "{:.9g}", instant.time);
        for (std::size_t c = 0; c < curves.size(); ++c) {
          const double value = curves[c].value(instant);
          SheetPanel& panel = sheet_.panels[first + c];
          include(panel.x, instant.time);
          if (!panel.log_y || value > 0.0) include(panel.y, value);
          fmt::format_to(std::back_inserter(text), " {:.9g}", value);
        }
        text += '\n';
      });
      if (text.empty()) continue;
      const std::string name = fmt::format("world{}", drawn_[i]);
      add_data(name, std::move(text));
      for (std::size_t c = 0; c < curves.size(); ++c) {
        sheet_.panels[first + c].items.push_back({name, "", line_style(i)});
      }
      sheet_.legend.push_back({label(drawn_[i]), line_style(i), true});
    }
    for (std::size_t c = 0; c < curves.size(); ++c) {
      finish_axis(curves[c], c + 2, sheet_.panels[first + c]);
    }
  }

  // Gives the y axis a unit that keeps its numbers short: longer ones would push its label out of
  // the picture.
  static void finish_axis(const Curve& curve, std::size_t column, SheetPanel& panel) {
    constexpr std::array<std::pair<double, std::string_view>, 4> kPrefixes = {
        {{1.0, ""}, {1e3, "m"}, {1e6, "u"}, {1e9, "n"}}};
    double largest = std::max(std::fabs(panel.y.first), std::fabs(panel.y.second));
    if (!std::isfinite(largest)) largest = 1.0;  // nothing was drawn
    std::size_t prefix = 0;
    if (panel.log_y) {
      panel.y.first = std::max(panel.y.first, panel.y.second * std::pow(10.0, -kDecadesShown));
    } else if (largest > 0.0) {
      while (prefix + 1 < kPrefixes.size() && largest * kPrefixes[prefix].first < 0.05) ++prefix;
    }
    const auto& [factor, letter] = kPrefixes[prefix];
    panel.y = {panel.y.first * factor, panel.y.second * factor};
    panel.scale = largest > 0.0 ? largest * factor : 1.0;
    panel.y_label = fmt::format("{} [{}{}]", curve.quantity, letter, curve.unit);
    for (SheetItem& item : panel.items) item.columns = fmt::format("1:(${}*{:g})", column, factor);
  }

  // ------------------------------------------------------------- springs, Figures 1 to 3

  [[nodiscard]] SpringMotion spring_of(std::int64_t world) const {
    const auto value = [&](const char* name) { return run_.value_of(name, world); };
    return {value("mass"),     value("stiffness"), value("damping"),
            value("position"), value("velocity"),  value("force")};
  }

  // One panel per integrator, over the exact motion; what explodes leaves the panel.
  void springs() {
    constexpr std::array<const char*, 3> kTitles = {"explicit Euler", "semi-implicit Euler",
                                                    "implicit Euler"};
    for (std::size_t integrator = 0; integrator < kTitles.size(); ++integrator) {
      SheetPanel panel;
      panel.title = kTitles[integrator];
      panel.x_label = "time [s]";
      panel.y_label = "x [m]";
      panel.x = panel.y = empty_extent();
      std::vector<SheetItem> lines;
      std::map<std::array<double, 6>, double> motions;  // and how long they are followed
      for (std::size_t i = 0; i < drawn_.size(); ++i) {
        const std::int64_t world = drawn_[i];
        if (run_.value_of("integrator", world) != static_cast<double>(integrator)) continue;
        const run::StepGroup& group = run_.group_of(world);
        double& end = motions[spring_of(world).numbers()];
        end = std::max(end, static_cast<double>(group.steps) * group.step_size);
        std::string text;
        for_each_instant(world, [&](const Instant& instant) {
          if (!std::isfinite(instant.q[0])) return;
          fmt::format_to(std::back_inserter(text), "{:.9g} {:.9g}\n", instant.time, instant.q[0]);
        });
        if (text.empty()) continue;
        const std::string name = fmt::format("world{}", world);
        add_data(name, std::move(text));
        lines.push_back({name, "1:2", line_style(i)});
        sheet_.legend.push_back({label(world), line_style(i), true});
      }
      if (lines.empty()) continue;
      for (const auto& [numbers, end] : motions) draw_exact(SpringMotion(numbers), end, panel);
      panel.items.insert(panel.items.begin(), lines.begin(), lines.end());
      const double room = 0.5 * (panel.y.second - panel.y.first);
      panel.y = {panel.y.first - room, panel.y.second + room};
      panel.scale = std::max({std::fabs(panel.y.first), std::fabs(panel.y.second), 1e-12});
      sheet_.panels.push_back(std::move(panel));
    }
    sheet_.columns = static_cast<int>(sheet_.panels.size());
    sheet_.legend.push_back({"exact", std::string(kExactStyle), true});
  }

  void draw_exact(const SpringMotion& motion, double end, SheetPanel& panel) {
    std::string text;
    for (int i = 0; i <= kExactPoints; ++i) {
      const double time = end * i / kExactPoints;
      const double x = motion.position(time);
      include(panel.x, time);
      include(panel.y, x);
      fmt::format_to(std::back_inserter(text), "{:.9g} {:.9g}\n", time, x);
    }
    const std::string name = fmt::format("exact{}", sheet_.data.size());
    add_data(name, std::move(text));
    panel.items.push_back({name, "1:2", std::string(kExactStyle)});
  }

  // ------------------------------------------------------------- motions over time

  void over_time() {
    const models::Scenario& scenario = *run_.scenario;
    const auto start = run_.gather(&WorldsResult::energy_start);
    const Curve energy = {"Energy", "energy - energy at the start", "J",
                          [&start](const Instant& instant) {
                            return instant.energy - start[static_cast<std::size_t>(instant.world)];
                          }};
    const auto displacement = [this](const Instant& instant) {
      return models::scenario_displacement(*run_.scenario, run_.parameters_of(instant.world),
                                           instant.q);
    };
    switch (scenario.kind) {
      case models::ScenarioKind::pendulum_joint:
        draw_curves(
            {{"Figure 4: joint", "deviation of the joint", "m", displacement, true}, energy});
        break;
      case models::ScenarioKind::pendulum_limit:
        draw_curves({{"Figure 6: angle", "theta", "rad",
                      [](const Instant& instant) { return instant.q[0]; }},
                     energy});
        break;
      case models::ScenarioKind::inclined_block:
        draw_curves({{"Figure 9: sliding", "distance slid", "m", displacement}, energy});
        if (varies("friction")) distance_over_friction();
        break;
      case models::ScenarioKind::sphere_stack:
        draw_curves(
            {{"Top sphere", "height above the undeformed stack", "m", displacement}, energy});
        if (varies("spheres")) time_over_spheres();
        break;
      default:
        draw_curves({{"Cube", "height above the unloaded foundation", "m", displacement}, energy});
    }
  }

  [[nodiscard]] bool varies(const std::string& name) const {
    return std::find(run_.varied.begin(), run_.varied.end(), name) != run_.varied.end();
  }

  SheetPanel panel_of(std::string title, std::string x_label, std::string y_label) {
    SheetPanel panel;
    panel.title = std::move(title);
    panel.x_label = std::move(x_label);
    panel.y_label = std::move(y_label);
    panel.x = panel.y = empty_extent();
    return panel;
  }

  // Figure 9: every world, and a rigid block's way under Coulomb's law with world 0's slope.
  void distance_over_friction() {
    SheetPanel panel = panel_of("Figure 9: distance", "friction coefficient", "distance slid [m]");
    const auto displacement = run_.gather(&WorldsResult::displacement);
    std::string points;
    for (std::int64_t world = 0; world < run_.worlds; ++world) {
      const double way = displacement[static_cast<std::size_t>(world)];
      if (!std::isfinite(way)) continue;
      const double friction = run_.value_of("friction", world);
      include(panel.x, friction);
      include(panel.y, way);
      fmt::format_to(std::back_inserter(points), "{:.9g} {:.9g}\n", friction, way);
    }
    if (points.empty()) return;
    const run::StepGroup& group = run_.group_of(0);
    const double time = static_cast<double>(group.steps) * group.step_size;
    const double slope = run_.value_of("angle", 0) * std::numbers::pi / 180.0;
    std::string rigid;
    for (int i = 0; i <= 200; ++i) {
      const double friction = panel.x.first + (panel.x.second - panel.x.first) * i / 200;
      const double pull = std::max(0.0, std::sin(slope) - friction * std::cos(slope));
      const double way = 0.5 * run_.value_of("gravity", 0) * pull * time * time;
      include(panel.y, way);
      fmt::format_to(std::back_inserter(rigid), "{:.9g} {:.9g}\n", friction, way);
    }
    const std::string style = "with points pt 6 ps 0.9 lw 1.4 lc rgb '#4a4a4a'";
    panel.items = {{"rigid", "1:2", std::string(kExactStyle)}, {"distance", "1:2", style}};
    add_data("rigid", std::move(rigid));
    add_data("distance", std::move(points));
    sheet_.legend.push_back({"all worlds", style, false});
    sheet_.legend.push_back({"rigid block", std::string(kExactStyle), true});
    sheet_.panels.push_back(std::move(panel));
  }

  // Figure 10: computing time of one world's second.
  void time_over_spheres() {
    SheetPanel panel = panel_of("Figure 10: cost", "spheres", "computing time of a second [s]");
    panel.log_x = panel.log_y = true;
    std::map<double, double> points;
    for (const run::StepGroup& group : run_.groups) {
      const double simulated = static_cast<double>(group.steps) * group.step_size *
                               static_cast<double>(group.worlds.size());
      if (group.result.cancelled || !(group.result.seconds > 0.0)) continue;
      points[run_.value_of("spheres", group.worlds.front())] = group.result.seconds / simulated;
    }
    std::string text;
    for (const auto& [spheres, seconds] : points) {
      include(panel.x, spheres);
      include(panel.y, seconds);
      fmt::format_to(std::back_inserter(text), "{:.9g} {:.9g}\n", spheres, seconds);
    }
    if (text.empty()) return;
    panel.items = {{"cost", "1:2", "with linespoints pt 7 ps 0.6 lw 1.4 lc rgb '#4a4a4a'"}};
    add_data("cost", std::move(text));
    sheet_.panels.push_back(std::move(panel));
  }

  const run::StepRun& run_;
  WorldList drawn_;
  Sheet sheet_;
};

}  // namespace

void draw_step(const std::filesystem::path& file, const run::StepRun& run) {
  draw_sheet(StepFigure(run).make(), file);
}

}  // namespace carom::io
