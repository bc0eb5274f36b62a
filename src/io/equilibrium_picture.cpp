#include "io/equilibrium_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "io/sheet.hpp"

namespace carom::io {

namespace {

constexpr const char* kGround = "#7a5c3a";
constexpr const char* kCone = "#c08a2e";
constexpr const char* kBlue = "#2f6fd0";
constexpr const char* kGreen = "#2a8a4a";
constexpr const char* kRed = "#c8281e";

// One picture with one pair of axes, layer by layer.
class Drawing {
 public:
  explicit Drawing(std::string title) {
    sheet_.title = std::move(title);
    sheet_.panel_width = 720;
    sheet_.panel_height = 560;
    panel_.equal = true;
    panel_.x = panel_.y = empty_extent();
  }

  /// Points joined by lines; NaN lifts the pen.
  void add(const std::string& text, const std::string& style, const std::string& legend, bool line,
           const char* columns = "1:2") {
    if (text.empty()) return;
    const std::string name = fmt::format("layer{}", sheet_.data.size());
    panel_.items.push_back({name, columns, style});
    if (!legend.empty()) sheet_.legend.push_back({legend, style, line});
    sheet_.data.push_back({name, text});
  }
  void fill(std::span<const run::Point2> corners, const char* colour, double opacity) {
    if (corners.size() < 3) return;
    add(closed(corners),
        fmt::format("with filledcurves closed fc rgb '{}' fs transparent solid {:g} noborder",
                    colour, opacity),
        "", false);
  }
  void outline(std::span<const run::Point2> corners, const std::string& look,
               const std::string& legend) {
    add(corners.size() == 1 ? point(corners[0]) : closed(corners),
        fmt::format("with {} {}", corners.size() == 1 ? "points pt 7 ps 0.7" : "lines", look),
        legend, corners.size() > 1);
  }
  /// Keeps `p` within the picture.
  void show(const run::Point2& p) {
    include(panel_.x, p[0]);
    include(panel_.y, p[1]);
  }
  void show(std::span<const run::Point2> points) {
    for (const run::Point2& p : points) show(p);
  }
  static std::string point(const run::Point2& p) {
    return fmt::format("{:.9g} {:.9g}\n", p[0], p[1]);
  }

  void draw(const std::filesystem::path& file, const std::string& x_label,
            const std::string& y_label) {
    panel_.x_label = x_label;
    panel_.y_label = y_label;
    panel_.scale =
        std::max({1e-9, panel_.x.second - panel_.x.first, panel_.y.second - panel_.y.first});
    sheet_.panels.push_back(std::move(panel_));
    draw_sheet(sheet_, file);
  }

 private:
  static std::string closed(std::span<const run::Point2> corners) {
    std::string text;
    for (const run::Point2& corner : corners) text += point(corner);
    if (!corners.empty()) text += point(corners[0]);
    return text;
  }

  Sheet sheet_;
  SheetPanel panel_;
};

run::Point2 along(const run::Point2& from, double distance, const run::Point2& direction) {
  return {from[0] + distance * direction[0], from[1] + distance * direction[1]};
}

std::vector<run::Point2> points_of(const std::vector<double>& values) {
  std::vector<run::Point2> points;
  for (std::size_t i = 0; i + 2 <= values.size(); i += 2)
    points.push_back({values[i], values[i + 1]});
  return points;
}

// Largest distance of two points, 1 where there is none.
double extent_of(std::span<const run::Point2> points) {
  auto x = empty_extent();
  auto y = empty_extent();
  for (const run::Point2& p : points) {
    include(x, p[0]);
    include(y, p[1]);
  }
  const double size = std::hypot(x.second - x.first, y.second - y.first);
  return size > 0.0 && std::isfinite(size) ? size : 1.0;
}

class PlanarDrawing {
 public:
  explicit PlanarDrawing(const run::EquilibriumRun& run)
      : run_(run), drawing_(fmt::format("{}: where the centre of mass can be", run.name)) {
    const Posture& posture = run.posture;
    for (std::size_t i = 0; i < static_cast<std::size_t>(posture.contacts); ++i) {
      position_.push_back({posture.position[2 * i], posture.position[2 * i + 1]});
      normal_.push_back({posture.normal[2 * i], posture.normal[2 * i + 1]});
    }
    std::vector<run::Point2> ends = position_;
    for (std::size_t i = 0; i < position_.size(); ++i) ends.push_back(end_of(i));
    size_ = extent_of(ends);
    drawing_.show(ends);
  }

  void draw(const std::filesystem::path& file) {
    const run::PlanarRegion& region = run_.planar;
    strip(region.normal, region.lower, region.upper);
    if (region.robust_status) robust();
    cones();
    ground();
    contacts();
    if (run_.probe) {
      const auto& x = run_.probe->centre_of_mass;
      drawing_.show(run::Point2{x[0], x[1]});
      drawing_.add(Drawing::point({x[0], x[1]}), "with points pt 2 ps 1.4 lw 2 lc rgb '#000000'",
                   "centre of mass asked for", false);
    }
    drawing_.draw(file, "x  [m]", "y  [m]");
  }

 private:
  // Tangent t_i with n_i = J t_i.
  [[nodiscard]] run::Point2 tangent(std::size_t i) const { return {normal_[i][1], -normal_[i][0]}; }
  [[nodiscard]] run::Point2 end_of(std::size_t i) const {
    const double length = run_.posture.length.empty() ? 0.0 : run_.posture.length[i];
    return along(position_[i], length, tangent(i));
  }

  // An infinite end is drawn far outside the picture.
  void strip(const run::Point2& normal, double lower, double upper) {
    if (std::isnan(lower) || std::isnan(upper)) return;
    const double far = 20.0 * size_;
    const run::Point2 up = {-normal[1], normal[0]};
    const auto corner = [&](double end, double height) {
      return along(run::Point2{end * normal[0], end * normal[1]}, height, up);
    };
    const double left = std::max(lower, -far);
    const double right = std::min(upper, far);
    const run::Point2 corners[] = {corner(left, -far), corner(right, -far), corner(right, far),
                                   corner(left, far)};
    drawing_.fill(corners, kBlue, 0.15);
    double centre = 0.0;  // of the contacts, along the strip
    for (const run::Point2& p : position_)
      centre += (p[0] * up[0] + p[1] * up[1]) / static_cast<double>(position_.size());
    std::string edges;
    for (const double end : {lower, upper}) {
      if (!std::isfinite(end)) continue;
      edges += Drawing::point(corner(end, -far)) + Drawing::point(corner(end, far)) + "\n";
      drawing_.show(corner(end, centre));
    }
    drawing_.add(edges, fmt::format("with lines lw 1.8 lc rgb '{}'", kBlue),
                 "strip of the nominal wrench", true);
  }

  void robust() {
    const run::PlanarRegion& region = run_.planar;
    const double far = 20.0 * size_;
    std::string edges;
    for (const auto& [x, y, lower, upper] : region.strips) {
      for (const double end : {lower, upper}) {
        if (!std::isfinite(end)) continue;
        const run::Point2 foot = {end * x, end * y};
        edges += Drawing::point(along(foot, -far, {-y, x})) +
                 Drawing::point(along(foot, far, {-y, x})) + "\n";
      }
    }
    drawing_.add(edges, "with lines lw 0.8 dt 2 lc rgb '#8a8a8a'", "strips of the other wrenches",
                 true);
    drawing_.show(region.robust_polygon);
    drawing_.fill(region.robust_polygon, kGreen, 0.35);
    drawing_.outline(region.robust_polygon, fmt::format("lw 2 lc rgb '{}'", kGreen),
                     "robust region");
  }

  void cones() {
    std::string edges;
    const double reach = 0.45 * size_;
    for (std::size_t i = 0; i < position_.size(); ++i) {
      const double mu = run_.posture.friction[i];
      const run::Point2 t = tangent(i);
      std::vector<run::Point2> feet = {position_[i]};
      const run::Point2 end = end_of(i);
      if (end != position_[i]) feet.push_back(end);
      for (const run::Point2& foot : feet) {
        run::Point2 tips[2];
        for (int side = 0; side < 2; ++side) {
          const double slope = side == 0 ? mu : -mu;
          const double scale = reach / std::hypot(1.0, slope);
          tips[side] = along(along(foot, scale, normal_[i]), scale * slope, t);
        }
        const run::Point2 wedge[] = {foot, tips[0], tips[1]};
        drawing_.fill(wedge, kCone, 0.12);
        drawing_.show(wedge);
        edges += Drawing::point(tips[0]) + Drawing::point(foot) + Drawing::point(tips[1]) + "\n";
      }
    }
    drawing_.add(edges, fmt::format("with lines lw 1.2 lc rgb '{}'", kCone), "friction cones",
                 true);
  }

  void ground() {
    std::string lines;
    const double margin = 0.05 * size_;
    for (std::size_t i = 0; i < position_.size(); ++i) {
      lines += Drawing::point(along(position_[i], -margin, tangent(i))) +
               Drawing::point(along(end_of(i), margin, tangent(i))) + "\n";
    }
    drawing_.add(lines, fmt::format("with lines lw 4 lc rgb '{}'", kGround), "", true);
  }

  void contacts() {
    std::string all;
    std::string essential;
    for (std::size_t i = 0; i < position_.size(); ++i) {
      const auto& list = run_.planar.essential;
      const bool chosen = std::find(list.begin(), list.end(), static_cast<int>(i)) != list.end();
      (chosen ? essential : all) += Drawing::point(position_[i]);
    }
    drawing_.add(all, "with points pt 7 ps 1 lc rgb '#000000'", "contacts", false);
    drawing_.add(essential, fmt::format("with points pt 7 ps 1.2 lc rgb '{}'", kRed),
                 "essential contacts", false);
  }

  const run::EquilibriumRun& run_;
  Drawing drawing_;
  std::vector<run::Point2> position_;
  std::vector<run::Point2> normal_;
  double size_ = 1.0;
};

constexpr std::size_t kShownCritical = 72;

// Section 3 of the spatial paper: P, the conservative region, and the kinds of the boundary's
// points: so few of them that they do not hide the polygons.
void draw_three_contacts(Drawing& drawing, const ThreeContactRegion& three) {
  std::string edges;
  for (const auto* pieces : {&three.plus, &three.minus}) {
    for (const std::vector<double>& piece : *pieces) {
      const std::vector<run::Point2> corners = points_of(piece);
      drawing.fill(corners, "#999999", 0.12);
      for (const run::Point2& corner : corners) edges += Drawing::point(corner);
      if (!corners.empty()) edges += Drawing::point(corners[0]) + "\n";
    }
  }
  drawing.add(edges, "with lines lw 0.8 lc rgb '#999999'", "P, where the forces can meet", true);
  drawing.outline(points_of(three.conservative), fmt::format("lw 1.4 lc rgb '{}'", kGreen),
                  "conservative, sampled (Prop. 3.3)");
  std::string on_edge;
  std::string inside;
  const std::size_t stride = (three.boundary.size() + kShownCritical - 1) / kShownCritical;
  for (std::size_t i = 0; i < three.boundary.size(); i += stride) {
    const BoundaryPoint& point = three.boundary[i];
    (point.type == CriticalType::interior ? inside : on_edge) +=
        Drawing::point({point.point[0], point.point[1]});
  }
  drawing.add(on_edge, "with points pt 7 ps 0.45 lc rgb '#000000'", "critical: r on an edge of P",
              false);
  drawing.add(inside, fmt::format("with points pt 7 ps 0.45 lc rgb '{}'", kRed),
              "critical: r inside P", false);
}

// The cross-section perpendicular to the external force, in its frame (u, v).
void draw_spatial(const std::filesystem::path& file, const run::EquilibriumRun& run) {
  const SpatialRegion& region = run.spatial;
  const Posture& posture = run.posture;
  Drawing drawing(
      fmt::format("{}: where the centre of mass can be, seen along the force", run.name));
  const auto project = [&](const double* vector) {
    run::Point2 p{};
    for (std::size_t row = 0; row < 2; ++row) {
      for (std::size_t j = 0; j < 3; ++j) p[row] += region.frame[row][j] * vector[j];
    }
    return p;
  };
  std::vector<run::Point2> contacts;
  std::string feet;
  for (std::size_t i = 0; i < static_cast<std::size_t>(posture.contacts); ++i) {
    contacts.push_back(project(posture.position.data() + 3 * i));
    feet += Drawing::point(contacts.back());
  }
  const double size = extent_of(contacts);
  std::string normals;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const run::Point2 tip = along(contacts[i], 0.25 * size, project(posture.normal.data() + 3 * i));
    drawing.show(tip);
    normals += fmt::format("{:.9g} {:.9g} {:.9g} {:.9g}\n", contacts[i][0], contacts[i][1],
                           tip[0] - contacts[i][0], tip[1] - contacts[i][1]);
  }
  const std::vector<run::Point2> inner = points_of(region.inner);
  const std::vector<run::Point2> outer = points_of(region.outer);
  drawing.show(contacts);
  drawing.show(inner);
  drawing.show(outer);
  drawing.fill(inner, kBlue, 0.25);
  if (run.three) draw_three_contacts(drawing, *run.three);
  drawing.outline(inner, fmt::format("lw 1.8 lc rgb '{}'", kBlue), "inner polygon");
  drawing.outline(outer, fmt::format("lw 1.4 dt 2 lc rgb '{}'", kRed), "outer polygon");
  // Under gravity u and v are x and y, the axes of the section.
  if (run.robust && region.frame[2][2] == 1.0) {
    const std::vector<run::Point2> section = points_of(run.robust->section.inner);
    drawing.fill(section, kGreen, 0.35);
    drawing.outline(section, fmt::format("lw 2 lc rgb '{}'", kGreen),
                    fmt::format("robust region at z = {:g} m", run.robust->height));
  }
  drawing.add(normals, fmt::format("with vectors lw 1.4 lc rgb '{}'", kCone), "", true, "1:2:3:4");
  drawing.add(feet, "with points pt 7 ps 1.2 lc rgb '#000000'", "contacts, with their normals",
              false);
  if (run.probe) {
    const run::Point2 centre = project(run.probe->centre_of_mass.data());
    drawing.show(centre);
    drawing.add(Drawing::point(centre), "with points pt 2 ps 1.4 lw 2 lc rgb '#000000'",
                "centre of mass asked for", false);
  }
  const auto axis = [&](const char* name, std::size_t row) {
    return fmt::format("{} = ({:.3g}, {:.3g}, {:.3g}) . x  [m]", name, region.frame[row][0] + 0.0,
                       region.frame[row][1] + 0.0, region.frame[row][2] + 0.0);
  };
  drawing.draw(file, axis("u", 0), axis("v", 1));
}

}  // namespace

void draw_equilibrium(const std::filesystem::path& file, const run::EquilibriumRun& run) {
  if (run.posture.dimension == 2) {
    PlanarDrawing(run).draw(file);
  } else {
    draw_spatial(file, run);
  }
}

}  // namespace carom::io
