#include "io/motion_animation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>

#include <carom/models/motion_outlines.hpp>
#include "io/file_error.hpp"
#include "io/pending_file.hpp"

namespace carom::io {

namespace {

constexpr double kFramesPerSecond = 25.0;
constexpr std::int64_t kMostFrames = 1000;
constexpr std::int64_t kMostMotions = 12;
constexpr double kWidth = 900.0;  // [pixels]
constexpr double kMostHeight = 700.0;
constexpr double kMargin = 30.0;
constexpr double kFar = std::numeric_limits<double>::infinity();

using Flat = std::array<double, 2>;

/// To the right and upward of a picture: z is upward in space.
Flat seen(const std::array<double, 3>& point, bool spatial) {
  if (!spatial) return {point[0], point[1]};
  // The eye is turned by 30 degrees about z and 20 degrees above the floor.
  constexpr double kAlong = 0.86602540378443865;
  constexpr double kAcross = 0.5;
  constexpr double kSine = 0.34202014332566873;
  constexpr double kCosine = 0.93969262078590838;
  const double away = kAlong * point[1] - kAcross * point[0];
  return {kAlong * point[0] + kAcross * point[1], kCosine * point[2] + kSine * away};
}

class Animation {
 public:
  explicit Animation(const run::MotionRunResult& run)
      : task_(run.plan.tasks.front()),
        kept_(run.outcomes.front().kept),
        settings_(run.plan.settings),
        spatial_(task_.model.dimension == 3),
        motions_(std::min(kept_.kept, kMostMotions)) {
    const auto wanted = static_cast<std::int64_t>(settings_.duration * kFramesPerSecond) + 1;
    frames_ = std::clamp<std::int64_t>(wanted, 2, std::min(kMostFrames, kept_.grid_points));
    for (std::int64_t motion = 0; motion < motions_; ++motion) follow(motion);
    if (spatial_) find_ground();
  }

  [[nodiscard]] std::string text() {
    fit();
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n<rect width=\"100%\" height=\"100%\" "
        "fill=\"#ffffff\"/>\n"
        "<title>{2}</title>\n<g fill=\"none\" stroke-linejoin=\"round\" "
        "stroke-linecap=\"round\">\n",
        kWidth, height_, escaped(task_.problem.name));
    add_planes(svg);
    for (const std::vector<Line>& motion : lines_) {
      for (const Line& line : motion) add(line, svg);
    }
    svg += "</g>\n</svg>\n";
    return svg;
  }

 private:
  /// One outline of one motion, frame after frame.
  struct Line {
    bool closed = false;
    std::vector<std::vector<Flat>> frames;
  };

  static std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) {
      result += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
    }
    return result;
  }

  /// Frames of a motion; those after it failed show where it was last.
  void follow(std::int64_t motion) {
    std::vector<Line> lines;
    const auto width =
        static_cast<std::size_t>(kept_.positions) + static_cast<std::size_t>(kept_.velocities) + 1;
    for (std::int64_t frame = 0; frame < frames_; ++frame) {
      const std::int64_t point = frame * (kept_.grid_points - 1) / (frames_ - 1);
      const double* state =
          kept_.state.data() + static_cast<std::size_t>(motion * kept_.grid_points + point) * width;
      if (!std::isfinite(state[0])) {
        for (Line& line : lines) line.frames.push_back(line.frames.back());
        continue;
      }
      const std::vector<models::Outline> outlines = models::motion_outlines(task_.problem, state);
      lines.resize(outlines.size());
      for (std::size_t k = 0; k < outlines.size(); ++k) {
        lines[k].closed = outlines[k].closed;
        std::vector<Flat>& points = lines[k].frames.emplace_back();
        for (const auto& at : outlines[k].points) {
          points.push_back(seen(at, spatial_));
          include(points.back(), low_, high_);
          include({at[0], at[1]}, ground_low_, ground_high_);
        }
      }
    }
    lines_.push_back(std::move(lines));
  }
  static void include(const Flat& point, Flat& low, Flat& high) {
    for (std::size_t d = 0; d < 2; ++d) {
      low[d] = std::min(low[d], point[d]);
      high[d] = std::max(high[d], point[d]);
    }
  }
  /// Level planes below a spatial motion, as rectangles.
  void find_ground() {
    for (const models::Plane& plane : models::motion_planes(task_.problem)) {
      if (plane.normal[2] != 1.0) continue;
      std::vector<Flat>& corners = grounds_.emplace_back();
      for (const auto& [x, y] : {std::pair{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}}) {
        corners.push_back(seen({x == 0 ? ground_low_[0] : ground_high_[0],
                                y == 0 ? ground_low_[1] : ground_high_[1], plane.offset},
                               true));
      }
    }
    for (const std::vector<Flat>& ground : grounds_) {
      for (const Flat& corner : ground) include(corner, low_, high_);
    }
  }

  /// One scale for both axes.
  void fit() {
    const double x = std::max(high_[0] - low_[0], 1e-9);
    const double y = std::max(high_[1] - low_[1], 1e-9);
    scale_ = std::min((kWidth - 2.0 * kMargin) / x, (kMostHeight - 2.0 * kMargin) / y);
    height_ = std::ceil(y * scale_ + 2.0 * kMargin);
    left_ = 0.5 * (kWidth - x * scale_);
  }
  void put(const Flat& point, std::string& text) const {
    fmt::format_to(std::back_inserter(text), "{:.1f},{:.1f}", left_ + (point[0] - low_[0]) * scale_,
                   height_ - kMargin - (point[1] - low_[1]) * scale_);
  }
  void put(const std::vector<Flat>& points, std::string& text) const {
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (i > 0) text += ' ';
      put(points[i], text);
    }
  }

  void add(const Line& line, std::string& svg) const {
    const char* shape = line.closed ? "polygon" : "polyline";
    const double opacity = motions_ == 1 ? 1.0 : std::max(0.25, 1.0 / std::sqrt(motions_));
    fmt::format_to(
        std::back_inserter(svg),
        "<{} stroke=\"#102a83\" stroke-width=\"2.5\" stroke-opacity=\"{:.2f}\" points=\"", shape,
        opacity);
    put(line.frames.front(), svg);
    fmt::format_to(std::back_inserter(svg),
                   "\"><animate attributeName=\"points\" dur=\"{:g}s\" repeatCount=\"indefinite\" "
                   "values=\"",
                   settings_.duration);
    for (std::size_t frame = 0; frame < line.frames.size(); ++frame) {
      if (frame > 0) svg += ';';
      put(line.frames[frame], svg);
    }
    fmt::format_to(std::back_inserter(svg), "\"/></{}>\n", shape);
  }

  /// Planes of a planar mechanism, across the picture.
  void add_planes(std::string& svg) const {
    std::vector<std::vector<Flat>> planes = grounds_;
    const double reach = std::max(high_[0] - low_[0], high_[1] - low_[1]);
    const Flat middle{0.5 * (low_[0] + high_[0]), 0.5 * (low_[1] + high_[1])};
    for (const models::Plane& plane : models::motion_planes(task_.problem)) {
      if (spatial_) break;
      const double off = plane.offset - plane.normal[0] * middle[0] - plane.normal[1] * middle[1];
      std::vector<Flat>& ends = planes.emplace_back();
      for (const double side : {-reach, reach}) {
        ends.push_back({middle[0] + off * plane.normal[0] + side * plane.normal[1],
                        middle[1] + off * plane.normal[1] - side * plane.normal[0]});
      }
    }
    for (const std::vector<Flat>& points : planes) {
      svg += "<polyline stroke=\"#999999\" stroke-width=\"1.5\" points=\"";
      put(points, svg);
      svg += "\"/>\n";
    }
  }

  const run::MotionTask& task_;
  const MotionResult& kept_;
  const MotionSettings& settings_;
  bool spatial_;
  std::int64_t motions_;
  std::int64_t frames_ = 2;
  std::vector<std::vector<Line>> lines_;
  std::vector<std::vector<Flat>> grounds_;
  Flat low_{kFar, kFar}, high_{-kFar, -kFar};                ///< of what is seen
  Flat ground_low_{kFar, kFar}, ground_high_{-kFar, -kFar};  ///< of x and y
  double scale_ = 1.0;
  double height_ = 0.0;
  double left_ = 0.0;
};

}  // namespace

void animate_motion(const std::filesystem::path& file, const run::MotionRunResult& run) {
  const MotionResult& kept = run.outcomes.front().kept;
  const bool known = kept.kept > 0 && kept.grid_points > 1 && std::isfinite(kept.state.host()[0]);
  if (!known) throw FileError(file.string() + ": there are no states of a motion to draw");
  const std::string text = Animation(run).text();
  PendingFile pending(file);
  std::ofstream stream(pending.path(), std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) throw FileError(file.string() + ": cannot be written");
  pending.commit();
}

}  // namespace carom::io
