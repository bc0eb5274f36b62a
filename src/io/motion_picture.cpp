#include "io/motion_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "core/words.hpp"
#include "io/sheet.hpp"

namespace carom::io {

namespace {

// Colours of event kinds, in their order.
constexpr std::array<const char*, 7> kEventColours = {"#c0392b", "#6a4c93", "#2a7f62", "#102a83",
                                                      "#e07a3f", "#000000", "#888888"};

/// Kept motions as columns t, s, q, v; motions are separated by empty lines.
class MotionSheet {
 public:
  explicit MotionSheet(const run::MotionRunResult& run)
      : task_(run.plan.tasks.front()),
        kept_(run.outcomes.front().kept),
        settings_(run.plan.settings),
        nq_(static_cast<std::size_t>(kept_.positions)),
        nv_(static_cast<std::size_t>(kept_.velocities)),
        extent_(2 + nq_ + nv_, empty_extent()) {}

  Sheet make() {
    sheet_.title = fmt::format("{}: {} {} of {:g} s", task_.problem.name, kept_.kept,
                               kept_.kept == 1 ? "motion" : "motions", settings_.duration);
    sheet_.columns = 3;
    sheet_.panel_width = 420;
    sheet_.panel_height = 300;
    put_states();
    for (std::size_t j = 0; j < nq_ && j < kMostRows; ++j) {
      const std::string position = name(task_.model.positions, j);
      panel(position + " over t", "t [s]", position, 0, 2 + j);
      panel(position + " over s", "s", position, 1, 2 + j);
      if (nq_ != nv_) continue;
      const std::string velocity = name(task_.model.velocities, j);
      panel("phase portrait", position, velocity, 2 + j, 2 + nq_ + j);
    }
    for (std::size_t j = 0; j < nv_ && j < kMostRows; ++j) {
      const std::string velocity = name(task_.model.velocities, j);
      panel(velocity + " over t", "t [s]", velocity, 0, 2 + nq_ + j);
      panel(velocity + " over s", "s", velocity, 1, 2 + nq_ + j);
      if (j == 0) clocks();
      if (j == 1) events();
      if (j == 2) rates();
    }
    return std::move(sheet_);
  }

 private:
  static constexpr std::size_t kMostRows = 4;

  static std::string name(const std::vector<std::string>& names, std::size_t j) {
    return j < names.size() ? names[j] : std::to_string(j);
  }

  /// Grid states and events of each motion in the order of s, so that impacts, whose time stands,
  /// are straight lines in s.
  void put_states() {
    std::string text;
    std::string rates;
    const std::size_t width = nq_ + nv_;
    for (std::int64_t i = 0; i < kept_.kept; ++i) {
      struct Point {
        double s, t;
        const double* state;
      };
      std::vector<Point> points;
      for (std::int64_t k = 0; k < kept_.grid_points; ++k) {
        const double* row =
            kept_.state.data() + static_cast<std::size_t>(i * kept_.grid_points + k) * (width + 1);
        if (!std::isfinite(row[width])) continue;
        points.push_back({row[width],
                          std::min(static_cast<double>(k) * settings_.grid, settings_.duration),
                          row});
      }
      const auto count = kept_.event_count.host()[static_cast<std::size_t>(i)];
      for (std::int64_t k = 0; k < count; ++k) {
        const auto row = static_cast<std::size_t>(i * kept_.event_rows + k);
        points.push_back({kept_.event_s.host()[row], kept_.event_time.host()[row],
                          kept_.event_state.data() + row * width});
      }
      std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
        return a.s != b.s ? a.s < b.s : a.t < b.t;
      });
      for (std::size_t k = 1; k < points.size() && i == 0; ++k) {
        const double in_s = points[k].s - points[k - 1].s;
        if (!(in_s > 0.0)) continue;
        const double rate = std::clamp((points[k].t - points[k - 1].t) / in_s, 0.0, 1.0);
        fmt::format_to(std::back_inserter(rates),
                       "{0:.9g} {2:.6g} {3:.6g}\n{1:.9g} {2:.6g} {3:.6g}\n", points[k - 1].s,
                       points[k].s, rate, 1.0 - rate);
      }
      for (const Point& point : points) {
        put(text, 0, point.t);
        put(text, 1, point.s);
        for (std::size_t j = 0; j < width; ++j) put(text, 2 + j, point.state[j]);
        text += '\n';
      }
      text += '\n';
    }
    sheet_.data.push_back({"motion", std::move(text)});
    sheet_.data.push_back({"rates", std::move(rates)});
  }
  void put(std::string& text, std::size_t column, double value) {
    include(extent_[column], value);
    fmt::format_to(std::back_inserter(text), "{:.9g} ", value);
  }

  [[nodiscard]] std::string style() const {
    // Many motions are light where few pass and dark where many do.
    const auto strength = static_cast<unsigned>(std::clamp(
        255.0 - 900.0 / static_cast<double>(std::max<std::int64_t>(kept_.kept, 1)), 0.0, 225.0));
    return kept_.kept < 4 ? "with lines lw 1.4 lc rgb '#102a83'"
                          : fmt::format("with lines lw 1.2 lc rgb '#{:02x}102a83'", strength);
  }

  void panel(const std::string& title, const std::string& x, const std::string& y, std::size_t i,
             std::size_t j) {
    SheetPanel panel;
    panel.title = title;
    panel.x_label = x;
    panel.y_label = y;
    panel.x = extent_[i];
    panel.y = extent_[j];
    panel.items.push_back({"motion", fmt::format("{}:{}", i + 1, j + 1), style()});
    sheet_.panels.push_back(std::move(panel));
  }

  void clocks() { panel("clocks: t stands in impacts", "s", "t [s]", 1, 0); }

  /// dt/ds of the first motion, 0 in impacts, and d|Lambda_n|_1/ds, which is the rest of 1.
  void rates() {
    SheetPanel panel;
    panel.title = "rates of the first motion";
    panel.x_label = "s";
    panel.y_label = "of t and of the normal impulses";
    panel.x = extent_[1];
    panel.y = {0.0, 1.0};
    panel.items.push_back({"rates", "1:2", "with lines lw 1.4 lc rgb '#102a83'"});
    panel.items.push_back({"rates", "1:3", "with lines lw 1.4 lc rgb '#c0392b'"});
    sheet_.panels.push_back(std::move(panel));
  }

  /// Laws of the first motion's contacts as bands, from event to event: open where there is none.
  void bands(SheetPanel& panel) {
    std::array<std::string, 2> texts;  // stick, slip
    const auto count = kept_.event_count.host()[0];
    for (int contact = 0; contact < kept_.contacts; ++contact) {
      int law = -1;
      double since = 0.0;
      const auto end_at = [&](double time) {
        if (law < 0 || !(time > since)) return;
        fmt::format_to(std::back_inserter(texts[static_cast<std::size_t>(law)]),
                       "{:.9g} {} {:.9g} 0\n", since, contact + 1, time - since);
      };
      for (std::int32_t k = 0; k < count; ++k) {
        const auto row = static_cast<std::size_t>(k);
        if ((kept_.event_contacts.host()[row] >> contact & 1U) == 0U) continue;
        const MotionEventKind kind = kept_.event_kind.host()[row];
        const bool lifts = kind == MotionEventKind::lift_off;
        if (!lifts && kind != MotionEventKind::stick && kind != MotionEventKind::slip) continue;
        end_at(kept_.event_time.host()[row]);
        law = lifts ? -1 : kind == MotionEventKind::stick ? 0 : 1;
        since = kept_.event_time.host()[row];
      }
      end_at(settings_.duration);
    }
    constexpr std::array<MotionEventKind, 2> kKinds = {MotionEventKind::stick,
                                                       MotionEventKind::slip};
    for (std::size_t law = 0; law < texts.size(); ++law) {
      if (texts[law].empty()) continue;
      const auto kind = static_cast<std::size_t>(kKinds[law]);
      const std::string style =
          fmt::format("with vectors nohead lw 9 lc rgb '#99{}'", kEventColours[kind] + 1);
      const std::string data = fmt::format("band{}", law);
      sheet_.data.push_back({data, std::move(texts[law])});
      panel.items.push_back({data, "1:2:3:4", style});
    }
  }

  /// Events of the first motion: one line for each contact.
  void events() {
    SheetPanel panel;
    panel.title = "events of the first motion; bands: it sticks or slips";
    panel.x_label = "t [s]";
    panel.y_label = "contact";
    panel.x = {0.0, settings_.duration};
    panel.y = {0.0, static_cast<double>(kept_.contacts) + 1.0};
    bands(panel);
    std::array<std::string, kEventColours.size()> texts;
    const auto count = kept_.event_count.host()[0];
    for (std::int32_t k = 0; k < count; ++k) {
      const auto row = static_cast<std::size_t>(k);
      const auto kind = static_cast<std::size_t>(kept_.event_kind.host()[row]);
      for (int contact = 0; contact < kept_.contacts; ++contact) {
        if ((kept_.event_contacts.host()[row] >> contact & 1U) == 0U) continue;
        fmt::format_to(std::back_inserter(texts[kind]), "{:.9g} {}\n", kept_.event_time.host()[row],
                       contact + 1);
      }
    }
    for (std::size_t kind = 0; kind < texts.size(); ++kind) {
      if (texts[kind].empty()) continue;
      const std::string data = fmt::format("events{}", kind);
      const std::string points =
          fmt::format("with points pt 7 ps 0.7 lc rgb '{}'", kEventColours[kind]);
      sheet_.data.push_back({data, std::move(texts[kind])});
      panel.items.push_back({data, "1:2", points});
      sheet_.legend.push_back({std::string(words<MotionEventKind>[kind].word), points});
    }
    sheet_.panels.push_back(std::move(panel));
  }

  const run::MotionTask& task_;
  const MotionResult& kept_;
  const MotionSettings& settings_;
  std::size_t nq_, nv_;
  std::vector<std::pair<double, double>> extent_;
  Sheet sheet_;
};

}  // namespace

void draw_motion(const std::filesystem::path& file, const run::MotionRunResult& run) {
  draw_sheet(MotionSheet(run).make(), file);
}

}  // namespace carom::io
