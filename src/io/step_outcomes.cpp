#include "io/step_outcomes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "io/step_palette.hpp"

namespace carom::io {

namespace {

constexpr std::size_t kMostPoints = 20'000;  // more make an SVG slow and no clearer

using WorldList = std::vector<std::int64_t>;

class OutcomePanel {
 public:
  OutcomePanel(const run::StepRun& run, Sheet& sheet) : run_(run), sheet_(sheet) {
    panel_.title = "Figure 12: after the impact";
    panel_.x_label = "normal velocity, B  [m/s]";
    panel_.y_label = "normal velocity, A  [m/s]";
    panel_.x = panel_.y = empty_extent();
  }

  void draw() {
    if (run_.routh) draw_set(run_.routh->normal_velocity);
    const WorldList ranked = ranked_worlds();
    const std::size_t bins = std::min(ranked.size(), kColours.size());
    for (std::size_t bin = 0; bin < bins; ++bin) {
      const auto first = ranked.begin() + static_cast<std::ptrdiff_t>(bin * ranked.size() / bins);
      const auto last =
          ranked.begin() + static_cast<std::ptrdiff_t>((bin + 1) * ranked.size() / bins);
      draw_bin({first, last}, bin);
    }
    panel_.scale = std::max({std::fabs(panel_.x.first), std::fabs(panel_.x.second), 1e-12});
    if (!std::isfinite(panel_.scale)) panel_.scale = 1.0;
    panel_.equal = true;
    sheet_.columns = 1;
    sheet_.panel_width = 640;
    sheet_.panel_height = 600;
    sheet_.panels.push_back(std::move(panel_));
  }

 private:
  // normal: of A and B; drawn are B across and A up, as in the paper
  void add_point(std::string& text, const double* normal) {
    if (!std::isfinite(normal[0]) || !std::isfinite(normal[1])) return;
    include(panel_.x, normal[1]);
    include(panel_.y, normal[0]);
    fmt::format_to(std::back_inserter(text), "{:.7g} {:.7g}\n", normal[1], normal[0]);
  }

  void add_layer(std::string name, std::string text, const std::string& style, std::string legend) {
    if (text.empty()) return;
    panel_.items.push_back({name, "1:2", style});
    sheet_.data.push_back({std::move(name), std::move(text)});
    sheet_.legend.push_back({std::move(legend), style, false});
  }

  void draw_set(const std::vector<double>& set) {
    const std::size_t points = set.size() / 2;
    const std::size_t stride = points > kMostPoints ? (points - 1) / kMostPoints + 1 : 1;
    std::string text;
    for (std::size_t i = 0; i < points; i += stride) add_point(text, &set[2 * i]);
    add_layer("set", std::move(text), "with points pt 7 ps 0.3 lc rgb '#c8c8c8'",
              "post-impact set of the rigid block");
  }

  // In the order of the first varied parameter.
  [[nodiscard]] WorldList ranked_worlds() const {
    WorldList ranked(static_cast<std::size_t>(run_.worlds));
    std::iota(ranked.begin(), ranked.end(), 0);
    if (run_.varied.empty()) return ranked;
    std::vector<double> values;
    for (const std::int64_t world : ranked) values.push_back(run_.value_of(run_.varied[0], world));
    std::stable_sort(ranked.begin(), ranked.end(), [&values](std::int64_t a, std::int64_t b) {
      return values[static_cast<std::size_t>(a)] < values[static_cast<std::size_t>(b)];
    });
    return ranked;
  }

  void draw_bin(const WorldList& worlds, std::size_t bin) {
    std::string text;
    for (const std::int64_t world : worlds) {
      const std::array<double, 2> normal = models::corner_velocity(
          run_.parameters_of(world), run_.position_of(world), run_.velocity_of(world));
      add_point(text, normal.data());
    }
    std::string legend = fmt::format("compliant outcomes {}", bin + 1);
    if (!run_.varied.empty()) {
      const std::string& parameter = run_.varied[0];
      legend = fmt::format("{} {:.3g} .. {:.3g}", spoken(parameter),
                           run_.value_of(parameter, worlds.front()),
                           run_.value_of(parameter, worlds.back()));
    }
    add_layer(fmt::format("outcomes{}", bin), std::move(text),
              fmt::format("with points pt 6 ps 1.1 lw 1.6 lc rgb '{}'", kColours[bin]),
              std::move(legend));
  }

  const run::StepRun& run_;
  Sheet& sheet_;
  SheetPanel panel_;
};

}  // namespace

void add_outcomes(const run::StepRun& run, Sheet& sheet) { OutcomePanel(run, sheet).draw(); }

}  // namespace carom::io
