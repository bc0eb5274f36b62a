#include "cli/equilibrium_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>

#include "cli/table.hpp"
#include "io/printable.hpp"

namespace carom::cli {

namespace {

std::string point_words(double x, double y) { return fmt::format("({:.6g}, {:.6g})", x, y); }

std::string end_words(double value) {
  return std::isfinite(value) ? fmt::format("{:.9g}", value) : (value < 0.0 ? "-inf" : "inf");
}

// "x1, x3"
std::string contact_names(const run::EquilibriumRun& run, const std::vector<int>& contacts) {
  std::vector<std::string> names;
  names.reserve(contacts.size());
  for (const int i : contacts) names.push_back(run.contact_names[static_cast<std::size_t>(i)]);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

class Report {
 public:
  Report(const run::EquilibriumRun& run, bool verbose) : run_(run), verbose_(verbose) {}

  std::string text() {
    add("{}: {} posture, {} contacts, {} backend\n", io::printable(run_.name),
        run_.posture.dimension == 2 ? "planar" : "spatial", run_.posture.contacts,
        to_string(run_.backend));
    if (run_.posture.dimension == 2) {
      planar();
    } else {
      spatial();
    }
    if (run_.probe) probe(*run_.probe);
    if (run_.critical) critical(*run_.critical);
    return std::move(text_);
  }

 private:
  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }
  template <class... Values>
  void line(const char* label, fmt::format_string<Values...> format, Values&&... values) {
    add("  {:<22} {}\n", label, fmt::format(format, std::forward<Values>(values)...));
  }

  void planar() {
    const run::PlanarRegion& region = run_.planar;
    line("status", "{}{}", to_string(region.status), meaning(region.status));
    if (region.status == Status::infeasible) {
      line("proof", "no contact can push along {}, but the wrench must be resisted there",
           point_words(region.separation[0], region.separation[1]));
      return;
    }
    if (region.status == Status::solved || region.status == Status::unbounded) {
      // under gravity the strip bounds x itself
      const bool upright = region.normal[0] == 1.0 && region.normal[1] == 0.0;
      line("centre of mass", "{} from {} to {} m",
           upright ? std::string("x")
                   : fmt::format("x . {}", point_words(region.normal[0], region.normal[1])),
           end_words(region.lower), end_words(region.upper));
      line("torque", "{} to {} N m about the origin", end_words(region.torque_min),
           end_words(region.torque_max));
      line("essential contacts", "{}", contact_names(run_, region.essential));
      line("residual", "{:.2e}", run_.residual());
    }
    if (!region.robust_status) return;
    line("robust region", "{}{}, residual {:.2e}", to_string(*region.robust_status),
         meaning(*region.robust_status), region.robust_residual);
    for (const run::Point2& corner : region.robust_polygon) {
      line("", "{} m", point_words(corner[0], corner[1]));
    }
  }

  void spatial() {
    const SpatialRegion& region = run_.spatial;
    static constexpr const char* kShapes[] = {"empty", "a point", "a segment", "an area"};
    line("status", "{}{}", to_string(region.status), meaning(region.status));
    if (region.dimension >= -1 && region.dimension <= 2) {
      line("cross-section", "{}", kShapes[region.dimension + 1]);
    }
    if (region.dimension < 0) return;
    line("area", "from {:.9g} to {:.9g} m^2, a gap of {:.1e}", region.area_inner, region.area_outer,
         region.area_outer - region.area_inner);
    line("residual", "{:.2e}", run_.residual());
    if (run_.three) {
      line("three contacts", "{:.9g} m^2 of it by Proposition 3.3, sampled and conservative",
           run_.three->area_conservative);
    }
    if (verbose_) {
      line("polygons", "{} points inside, {} corners outside", region.inner.size() / 2,
           region.outer.size() / 2);
      line("directions", "{} probed, {} pivots", region.support.size(), region.pivots);
      if (run_.three) {
        line("boundary searched", "encloses {:.9g} m^2", run_.three->area_searched);
      }
    }
    if (run_.robust) {
      const run::SpatialRobust& robust = *run_.robust;
      line("robust region", "{}{}, {} half-spaces", to_string(robust.region.status),
           meaning(robust.region.status), robust.region.outer.size() / 4);
      line("", "at z = {:.6g} m: area from {:.9g} to {:.9g} m^2", robust.height,
           robust.section.area_inner, robust.section.area_outer);
    }
    const std::size_t points = region.inner.size() / 2;
    for (std::size_t i = 0; i < points && points <= kListedPoints; ++i) {
      line(i == 0 ? "inner polygon" : "", "{} m",
           point_words(region.inner[2 * i], region.inner[2 * i + 1]));
    }
  }

  void probe(const run::MassProbe& probe) {
    line("centre of mass at", "({:.6g}) m", fmt::join(probe.centre_of_mass, ", "));
    const std::optional<bool> held = probe.held();
    line("", "{}, {:.6g} m from the boundary",
         !held   ? "undecided"
         : *held ? "held"
                 : "not held",
         std::fabs(probe.distance));
    if (probe.robust_distance) {
      line("", "{}, {:.6g} m from the robust region's boundary",
           *probe.robust_distance >= 0.0 ? "robust" : "not robust",
           std::fabs(*probe.robust_distance));
    }
    if (probe.robust_contains) {
      line("", "{} the robust region",
           *probe.robust_contains > 0   ? "inside"
           : *probe.robust_contains < 0 ? "outside"
                                        : "within rounding of the boundary of");
    }
    if (probe.scale && !std::isnan(*probe.scale)) {
      line("", "held up to {:.6g} times the given disturbances", *probe.scale);
    }
    const auto k = static_cast<std::size_t>(run_.posture.contacts);
    for (std::size_t i = 0; i < k && 3 * k <= probe.forces.size(); ++i) {
      line(i == 0 ? "contact forces" : "", "{}: ({:.6g}, {:.6g}, {:.6g}) N", run_.contact_names[i],
           probe.forces[3 * i], probe.forces[3 * i + 1], probe.forces[3 * i + 2]);
    }
  }

  void critical(const run::Critical& found) {
    const auto words = [](const std::optional<bool>& held) {
      return !held ? "undecided" : *held ? "held" : "not held";
    };
    const std::string label = "critical " + found.parameter;
    if (!found.found()) {
      line(label.c_str(),
           "none: {} at {:.6g}, {} at {:.6g}; --critical {}=LO:HI searches elsewhere",
           words(found.held_low), found.low, words(found.held_high), found.high, found.parameter);
      return;
    }
    line(label.c_str(), "{:.9g}, the {} that holds", found.held,
         *found.held_high ? "smallest" : "largest");
    line("", "held at {:.17g}, not held at {:.17g}, both proven", found.held, found.not_held);
  }

  static const char* meaning(Status status) {
    if (status == Status::infeasible) return " (no centre of mass can be held)";
    if (status == Status::unbounded) return " (the region has no end on some side)";
    return "";
  }

  static constexpr std::size_t kListedPoints = 12;
  const run::EquilibriumRun& run_;
  bool verbose_;
  std::string text_;
};

}  // namespace

std::string posture_report(const run::EquilibriumRun& run, bool verbose) {
  return Report(run, verbose).text();
}

std::string postures_table(const std::vector<run::EquilibriumRun>& runs) {
  std::vector<std::string> head;
  for (const auto& [name, value] : runs.front().parameters) head.push_back(name);
  if (head.empty()) head = {"posture", "contacts"};
  const bool varied = !runs.front().parameters.empty();
  const bool probed = runs.front().probe.has_value();
  if (probed) head.insert(head.end(), {"held", "margin [m]"});
  head.insert(head.end(), {"status", "region", "robust region", "residual"});
  TextTable table(head);
  for (const run::EquilibriumRun& run : runs) {
    std::string region = "-";
    std::string robust = "-";
    const double residual = run.residual();
    if (run.posture.dimension == 2) {
      if (run.planar.status == Status::solved || run.planar.status == Status::unbounded) {
        region = fmt::format("[{:.6g}, {:.6g}] m", run.planar.lower, run.planar.upper);
      }
      if (run.planar.robust_status) {
        robust = fmt::format("{}, {} corners", to_string(*run.planar.robust_status),
                             run.planar.robust_polygon.size());
      }
    } else if (run.spatial.dimension >= 0) {
      region = fmt::format("{:.6g} m^2", run.spatial.area_inner);
    }
    std::vector<std::string> row;
    for (const auto& [name, value] : run.parameters) row.push_back(fmt::format("{:.6g}", value));
    if (!varied) row = {run.name, fmt::format("{}", run.posture.contacts)};
    if (probed) {
      const std::optional<bool> held = run.probe ? run.probe->held() : std::nullopt;
      row.emplace_back(!held ? "undecided" : *held ? "held" : "not held");
      row.push_back(run.probe && std::isfinite(run.probe->distance)
                        ? fmt::format("{:.6g}", run.probe->distance)
                        : "-");
    }
    row.insert(row.end(), {std::string(to_string(run.status())), region, robust,
                           fmt::format("{:.1e}", residual)});
    table.add(row);
  }
  return table.text();
}

}  // namespace carom::cli
