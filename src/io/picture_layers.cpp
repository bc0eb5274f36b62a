#include "io/picture_layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <string_view>

#include "core/constants.hpp"
#include "io/sequential_path.hpp"

namespace carom::io {

namespace {

constexpr std::int64_t kMaxDrawnPoints = 20'000;  // more make an SVG slow and no clearer
constexpr std::int64_t kMaxDrawnSamples = 4'000;  // beside a net

constexpr std::string_view kLightGrey = "#d4d4d4";
constexpr std::string_view kDarkGrey = "#4a4a4a";
constexpr std::string_view kBlue = "#2f6fd0";
constexpr std::string_view kRed = "#c8281e";
constexpr std::string_view kOrange = "#f0a000";

class LayerMaker {
 public:
  explicit LayerMaker(const run::ImpactRun& run)
      : run_(run), nv_(static_cast<std::size_t>(run.problem.velocities)) {
    const int rows = run.problem.dimension * run.problem.contacts;
    result_.extents.assign(static_cast<std::size_t>(rows), {kInfinity, -kInfinity});
  }

  PictureLayers make() {
    add("paths", paths(), true, fmt::format("with lines lw 0.8 lc rgb '{}'", kLightGrey),
        "intermediate velocities");
    if (run_.models) add_models(*run_.models);
    add("set", post_impact_set(), false,
        fmt::format("with points pt 7 ps 0.36 lc rgb '{}'", kDarkGrey), "post-impact set");
    add("start", velocity_line(run_.problem.velocity.data()), false,
        "with points pt 6 ps 1.1 lw 1.6 lc rgb '#000000'", "before the impact");
    return std::move(result_);
  }

 private:
  void add(std::string name, std::string text, bool line, std::string style, std::string legend) {
    if (text.empty()) return;
    result_.layers.push_back(
        {{std::move(name), std::move(text)}, std::move(style), std::move(legend), line});
  }

  std::string velocity_line(const double* velocity) {
    if (!std::isfinite(velocity[0])) return "";
    std::string line;
    const std::vector<double> contact = run::contact_velocity(run_.problem, velocity);
    for (std::size_t i = 0; i < contact.size(); ++i) {
      auto& [low, high] = result_.extents[i];
      low = std::min(low, contact[i]);
      high = std::max(high, contact[i]);
      fmt::format_to(std::back_inserter(line), "{:.7g} ", contact[i]);
    }
    return line + "\n";
  }

  std::string paths() {
    std::string text;
    const std::vector<std::int64_t>& offset = run_.paths.offset;
    for (std::size_t path = 0; path + 1 < offset.size(); ++path) {
      for (std::int64_t i = offset[path]; i < offset[path + 1]; ++i) {
        text += velocity_line(run_.paths.velocity.data() + static_cast<std::size_t>(i) * nv_);
      }
      text += '\n';
    }
    return text;
  }

  // Kept samples that ended, and the net's points, which an epsilon too large makes few.
  std::string post_impact_set() {
    std::string text;
    const bool net = run_.net && run_.net->points() > 0;
    const std::int64_t most = net ? kMaxDrawnSamples : kMaxDrawnPoints;
    const std::int64_t count = run_.rows.count;
    std::int64_t stride = std::max<std::int64_t>(1, (count - 1) / most + 1);
    for (std::int64_t i = 0; i < count; i += stride) {
      const auto row = static_cast<std::size_t>(i);
      if (run_.rows.status[row] != TrajectoryStatus::terminated) continue;
      text += velocity_line(run_.rows.velocity.data() + row * nv_);
    }
    if (!net) return text;
    stride = std::max<std::int64_t>(1, (run_.net->points() - 1) / kMaxDrawnPoints + 1);
    for (std::int64_t i = 0; i < run_.net->points(); i += stride) {
      text += velocity_line(run_.net->velocity.data() + static_cast<std::size_t>(i) * nv_);
    }
    return text;
  }

  void add_models(const run::ComparedModels& models) {
    std::string text;
    for (const ImpactOutcome& outcome : models.simultaneous) {
      if (outcome.status != Status::solved) continue;
      text += velocity_line(run_.problem.velocity.data());
      text += velocity_line(outcome.velocity.data());
      text += '\n';
    }
    add("simultaneous", text, true,
        fmt::format("with linespoints lw 2.6 pt 13 ps 1.15 lc rgb '{}'", kBlue),
        models.simultaneous_complete ? "simultaneous" : "simultaneous, one of several");
    if (run_.problem.contacts < 2) return;
    std::vector<int> order(static_cast<std::size_t>(run_.problem.contacts));
    std::iota(order.begin(), order.end(), 0);
    add("forward", sequence(order), true,
        fmt::format("with linespoints lw 1.6 pt 7 ps 0.7 lc rgb '{}'", kRed), order_words(order));
    std::reverse(order.begin(), order.end());
    // dashed: where both sequences agree, the red one shows through
    add("backward", sequence(order), true,
        fmt::format("with linespoints lw 1.6 dt (8,5) pt 5 ps 0.5 lc rgb '{}'", kOrange),
        order_words(order));
  }

  std::string sequence(const std::vector<int>& order) {
    std::string text;
    for (const std::vector<double>& velocity :
         sequential_path(run_.problem, order, run_.settings.friction_directions)) {
      text += velocity_line(velocity.data());
    }
    return text;
  }

  [[nodiscard]] std::string order_words(const std::vector<int>& order) const {
    if (order.size() != 2) {
      return order[0] == 0 ? "sequential, contact order" : "sequential, reverse order";
    }
    const std::string& first = run_.contact_names[static_cast<std::size_t>(order[0])];
    const std::string& second = run_.contact_names[static_cast<std::size_t>(order[1])];
    return fmt::format("sequential ({}, {}, {}, ...)", first, second, first);
  }

  const run::ImpactRun& run_;
  std::size_t nv_;
  PictureLayers result_;
};

}  // namespace

PictureLayers layers_of(const run::ImpactRun& run) { return LayerMaker(run).make(); }

}  // namespace carom::io
