#include "io/equilibrium_hdf5.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "io/fields.hpp"
#include "io/hdf5_output.hpp"
#include "io/setting_attributes.hpp"

namespace carom::io {

namespace {

// Postures of one dimension, number of contacts and number of wrenches are written together.
using Kind = std::tuple<int, int, std::size_t>;

class PostureGroup {
 public:
  PostureGroup(Hdf5Writer& writer, std::string group, std::vector<const run::EquilibriumRun*> runs)
      : writer_(writer), group_(std::move(group)), runs_(std::move(runs)) {}

  void write(std::span<const std::int64_t> index) const {
    const run::EquilibriumRun& first = *runs_.front();
    const auto k = static_cast<std::uint64_t>(first.posture.contacts);
    const auto d = static_cast<std::uint64_t>(first.posture.dimension);
    const auto w = static_cast<std::uint64_t>(wrench_size(first.posture.dimension));
    writer_.group(group_);
    writer_.attribute(group_, "dimension", std::int64_t{first.posture.dimension});
    writer_.attribute(group_, "contacts", std::int64_t{first.posture.contacts});
    writer_.attribute(group_, "backend", to_string(first.backend));
    writer_.dataset(at("index"), index, {index.size()});
    std::vector<std::string> names;
    std::vector<std::string> statuses;
    for (const run::EquilibriumRun* run : runs_) {
      names.push_back(run->name);
      statuses.emplace_back(to_string(run->status()));
    }
    writer_.dataset(at("name"), names);
    writer_.dataset(at("status"), statuses);
    rows("posture/position", {k, d}, [](const auto& run) { return run.posture.position; });
    rows("posture/normal", {k, d}, [](const auto& run) { return run.posture.normal; });
    rows("posture/friction", {k}, [](const auto& run) { return run.posture.friction; });
    rows("posture/length", {k}, [](const auto& run) {
      auto length = run.posture.length;
      length.resize(run.posture.friction.size(), 0.0);
      return length;
    });
    rows("posture/wrench", {w}, [](const auto& run) { return run.wrench(); });
    const std::uint64_t vertices = first.posture.wrench_vertices.size() / w;
    if (vertices > 0) {
      rows("posture/wrench_vertices", {vertices, w},
           [](const auto& run) { return run.posture.wrench_vertices; });
    }
    std::vector<run::Numbers> numbers;
    for (const run::EquilibriumRun* run : runs_) numbers.push_back(run->numbers);
    write_columns(writer_, group_, numbers);
    if (d == 2) {
      planar(k, vertices);
    } else {
      spatial(k);
    }
    if (first.probe) probes();
    for (std::size_t i = 0; i < first.parameters.size(); ++i) {
      column("varied/" + first.parameters[i].first,
             [i](const auto& run) { return run.parameters[i].second; });
    }
  }

 private:
  using Numbers = std::vector<double>;

  [[nodiscard]] std::string at(std::string_view path) const {
    return fmt::format("{}/{}", group_, path);
  }

  // Data set [postures, shape...] of what `values` yields for each run.
  template <class Values>
  void rows(std::string_view name, Shape shape, Values&& values) const {
    Numbers all;
    for (const run::EquilibriumRun* run : runs_) {
      const Numbers own = values(*run);
      all.insert(all.end(), own.begin(), own.end());
    }
    shape.insert(shape.begin(), runs_.size());
    writer_.dataset(at(name), all, shape);
  }
  template <class Value>
  void column(std::string_view name, Value&& value) const {
    rows(name, {}, [&](const run::EquilibriumRun& run) { return Numbers{value(run)}; });
  }
  // Rows of different numbers: those of posture p are [offset[p], offset[p + 1]).
  template <class Values>
  void ragged(const std::string& name, Shape shape, Values&& values) const {
    std::uint64_t width = 1;
    for (const std::uint64_t extent : shape) width *= extent;
    Numbers all;
    std::vector<std::int64_t> offset = {0};
    for (const run::EquilibriumRun* run : runs_) {
      const Numbers own = values(*run);
      all.insert(all.end(), own.begin(), own.end());
      offset.push_back(static_cast<std::int64_t>(all.size() / width));
    }
    shape.insert(shape.begin(), all.size() / width);
    writer_.dataset(at(name), all, shape);
    writer_.dataset(at(name + "_offset"), offset, {offset.size()});
  }

  void planar(std::uint64_t k, std::uint64_t vertices) const {
    write_settings(writer_, group_, runs_.front()->planar_settings);
    column("torque_min", [](const auto& run) { return run.planar.torque_min; });
    column("torque_max", [](const auto& run) { return run.planar.torque_max; });
    rows("strip/normal", {2}, [](const auto& run) {
      return Numbers(run.planar.normal.begin(), run.planar.normal.end());
    });
    column("strip/lower", [](const auto& run) { return run.planar.lower; });
    column("strip/upper", [](const auto& run) { return run.planar.upper; });
    rows("force", {2, k, 2}, [](const auto& run) { return run.planar.force; });
    rows("torque", {2, k}, [](const auto& run) { return run.planar.torque; });
    rows("height", {2}, [](const auto& run) {
      return Numbers(run.planar.height.begin(), run.planar.height.end());
    });
    ragged("essential_contacts", {}, [](const auto& run) {
      return Numbers(run.planar.essential.begin(), run.planar.essential.end());
    });
    if (vertices == 0) return;
    std::vector<std::string> statuses;
    for (const run::EquilibriumRun* run : runs_) {
      statuses.emplace_back(to_string(run->planar.robust_status.value_or(Status::cancelled)));
    }
    writer_.dataset(at("robust/status"), statuses);
    column("robust/residual", [](const auto& run) { return run.planar.robust_residual; });
    ragged("robust/polygon", {2}, [](const auto& run) {
      Numbers polygon;
      for (const run::Point2& corner : run.planar.robust_polygon) {
        polygon.insert(polygon.end(), corner.begin(), corner.end());
      }
      return polygon;
    });
  }

  void spatial(std::uint64_t k) const {
    write_settings(writer_, group_, runs_.front()->spatial_settings);
    column("region_dimension",
           [](const auto& run) { return static_cast<double>(run.spatial.dimension); });
    rows("frame", {3, 3}, [](const auto& run) {
      return Numbers(&run.spatial.frame[0][0], &run.spatial.frame[0][0] + 9);
    });
    ragged("inner", {2}, [](const auto& run) { return run.spatial.inner; });
    ragged("force", {k, 3}, [](const auto& run) { return run.spatial.forces; });
    ragged("outer", {2}, [](const auto& run) { return run.spatial.outer; });
    ragged("half_plane", {3}, [](const auto& run) { return run.spatial.half_plane; });
    ragged("dual", {6}, [](const auto& run) { return run.spatial.dual; });
    if (runs_.front()->robust) {
      ragged("robust/half_space", {4}, [](const auto& run) { return run.robust->region.outer; });
      column("robust/height", [](const auto& run) { return run.robust->height; });
      ragged("robust/inner", {2}, [](const auto& run) { return run.robust->section.inner; });
      ragged("robust/outer", {2}, [](const auto& run) { return run.robust->section.outer; });
    }
    ragged("support", {6}, [](const auto& run) {
      Numbers table;  // direction, lower, upper, point
      for (const RegionSupport& probe : run.spatial.support) {
        for (const double value : {probe.direction[0], probe.direction[1], probe.lower, probe.upper,
                                   probe.point[0], probe.point[1]}) {
          table.push_back(value);
        }
      }
      return table;
    });
  }

  void probes() const {
    const std::uint64_t d = runs_.front()->probe->centre_of_mass.size();
    rows("probe/centre_of_mass", {d}, [](const auto& run) { return run.probe->centre_of_mass; });
    column("probe/distance", [](const auto& run) { return run.probe->distance; });
    column("probe/held", [](const auto& run) {
      const std::optional<bool> held = run.probe->held();
      return !held ? 2.0 : *held ? 1.0 : 0.0;
    });
    if (runs_.front()->probe->robust_distance) {
      column("probe/robust_distance", [](const auto& run) { return *run.probe->robust_distance; });
    }
    if (runs_.front()->probe->scale) {
      column("probe/disturbance_scale", [](const auto& run) { return *run.probe->scale; });
    }
  }

  Hdf5Writer& writer_;
  std::string group_;
  std::vector<const run::EquilibriumRun*> runs_;
};

}  // namespace

void write_equilibrium_hdf5(const std::filesystem::path& file,
                            const std::vector<run::EquilibriumRun>& runs,
                            const std::string& command_line) {
  std::map<Kind, std::vector<std::int64_t>> kinds;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Posture& posture = runs[i].posture;
    kinds[{posture.dimension, posture.contacts, posture.wrench_vertices.size()}].push_back(
        static_cast<std::int64_t>(i));
  }
  write_hdf5(file, command_line, [&](Hdf5Writer& writer) {
    writer.attribute("/", "postures", static_cast<std::int64_t>(runs.size()));
    std::size_t group = 0;
    for (const auto& [kind, index] : kinds) {
      std::vector<const run::EquilibriumRun*> members;
      for (const std::int64_t i : index) members.push_back(&runs[static_cast<std::size_t>(i)]);
      PostureGroup(writer, fmt::format("/postures_{}", group++), std::move(members)).write(index);
    }
  });
}

}  // namespace carom::io
