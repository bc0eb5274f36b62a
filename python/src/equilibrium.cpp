#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <carom/equilibrium_planar.hpp>
#include <carom/equilibrium_spatial.hpp>
#include <carom/models/postures.hpp>

#include "call.hpp"
#include "families.hpp"
#include "parameters.hpp"
#include "postures.hpp"
#include "settings.hpp"
#include "tables.hpp"

namespace carom::python {

PostureShape posture_shape(const nb::tuple& sizes) {
  return {nb::cast<std::int64_t>(sizes[0]), nb::cast<int>(sizes[1]), nb::cast<int>(sizes[2]),
          nb::cast<int>(sizes[3])};
}

std::vector<Posture> postures_of(const nb::dict& arrays, const PostureShape& shape) {
  PostureBatch batch;
  static_cast<PostureSizes&>(batch) = {shape.problems, shape.dimension, shape.contacts,
                                       shape.vertices};
  borrow(batch, batch, arrays);
  std::vector<Posture> postures(static_cast<std::size_t>(shape.problems));
  for (std::int64_t p = 0; p < shape.problems; ++p) {
    Posture& posture = postures[static_cast<std::size_t>(p)];
    posture.dimension = shape.dimension;
    posture.contacts = shape.contacts;
    PostureBatch::each_array(
        batch,
        [p](const char*, const Extents& extents, auto& to, const auto& from) {
          if (from.empty()) return;
          const double* first = from.data() + p * extents.stride();
          to.assign(first, first + extents.stride());
        },
        posture, batch);
  }
  return postures;
}

PostureBatch posture_batch(const nb::dict& arrays, const PostureShape& shape, bool isolate) {
  PostureBatch batch;
  static_cast<PostureSizes&>(batch) = {shape.problems, shape.dimension, shape.contacts,
                                       shape.vertices};
  if (isolate || shape.problems == 0) {
    borrow(batch, batch, arrays);
    return batch;
  }
  const std::vector<Posture> postures = postures_of(arrays, shape);
  return without_gil([&] { return make_batch(postures); });
}

namespace {

nb::dict planar(const nb::dict& arrays, const nb::tuple& sizes, bool isolate,
                const nb::dict& settings, nb::handle backend, nb::handle workspace) {
  const PostureBatch batch = posture_batch(arrays, posture_shape(sizes), isolate);
  const auto chosen = settings_from<PlanarSettings>(settings);
  const auto where = enumerator<Backend>("backend", backend);
  Workspace* const memory = workspace_of(workspace);
  return arrays_of(in_pieces<PlanarResult>(batch, batch,
                                           [&](const PostureBatch& piece, std::int64_t) {
                                             return planar_equilibrium(piece, chosen, where,
                                                                       memory);
                                           }),
                   batch);
}

nb::dict margins(const nb::dict& arrays, const nb::tuple& sizes, nb::handle centres, bool isolate,
                 const nb::dict& settings, nb::handle backend, nb::handle workspace) {
  const PostureBatch batch = posture_batch(arrays, posture_shape(sizes), isolate);
  const auto points = borrowed<double>(centres);
  const auto chosen = settings_from<PlanarSettings>(settings);
  const auto where = enumerator<Backend>("backend", backend);
  Workspace* const memory = workspace_of(workspace);
  PlanarMargin result =
      in_pieces<PlanarMargin>(batch, batch, [&](const PostureBatch& piece, std::int64_t first) {
        const auto part =
            Buffer<double>::borrow(const_cast<double*>(points.data()) + 2 * first,
                                   static_cast<std::size_t>(2 * piece.problems), MemorySpace::host);
        return planar_margins(piece, part, chosen, where, memory);
      });
  return arrays_of(std::move(result), batch);
}

nb::dict supports(const nb::dict& arrays, const nb::tuple& sizes, nb::handle directions,
                  bool isolate, const nb::dict& settings, nb::handle backend,
                  nb::handle workspace) {
  const PostureBatch batch = posture_batch(arrays, posture_shape(sizes), isolate);
  const std::vector<double> wanted = copied<double>(directions);
  const auto chosen = settings_from<SpatialSettings>(settings);
  const auto where = enumerator<Backend>("backend", backend);
  Workspace* const memory = workspace_of(workspace);
  const SupportSizes made{batch.problems, static_cast<int>(wanted.size() / 2), batch.contacts};
  return arrays_of(in_pieces<SupportResult>(batch, made,
                                            [&](const PostureBatch& piece, std::int64_t) {
                                              return support(piece, wanted, chosen, where, memory);
                                            }),
                   made);
}

nb::dict region_of(SpatialRegion& region, std::size_t contacts) {
  const auto rows = [](std::vector<double>& values, std::size_t width) {
    const std::size_t count = values.size() / width;
    return array_of(std::move(values), {count, width});
  };
  nb::dict result;
  result["status"] = static_cast<int>(region.status);
  result["dimension"] = region.dimension;
  std::vector<double> frame(&region.frame[0][0], &region.frame[0][0] + 9);
  result["frame"] = array_of(std::move(frame), {3, 3});
  result["inner"] = rows(region.inner, 2);
  const std::size_t points = region.forces.size() / (3 * contacts);
  result["forces"] = array_of(std::move(region.forces), {points, contacts, 3});
  result["outer"] = rows(region.outer, 2);
  result["half_plane"] = rows(region.half_plane, 3);
  result["dual"] = rows(region.dual, 6);
  SpatialRegion::each_field(
      [&](const Field& field, const auto& value) { result[field.name] = value; }, region);
  std::vector<double> direction, lower, upper, point;
  std::vector<Status> status;
  for (const RegionSupport& probe : region.support) {
    direction.insert(direction.end(), {probe.direction[0], probe.direction[1]});
    point.insert(point.end(), {probe.point[0], probe.point[1]});
    lower.push_back(probe.lower);
    upper.push_back(probe.upper);
    status.push_back(probe.status);
  }
  nb::dict probes;
  probes["direction"] = rows(direction, 2);
  probes["lower"] = array_of(std::move(lower));
  probes["upper"] = array_of(std::move(upper));
  probes["point"] = rows(point, 2);
  probes["status"] = array_of(std::move(status));
  result["support"] = probes;
  return result;
}

nb::list spatial(const nb::dict& arrays, const nb::tuple& sizes, bool isolate,
                 const nb::dict& settings, nb::handle backend, nb::handle workspace) {
  const PostureBatch batch = posture_batch(arrays, posture_shape(sizes), isolate);
  const auto chosen = settings_from<SpatialSettings>(settings);
  const auto where = enumerator<Backend>("backend", backend);
  Workspace* const memory = workspace_of(workspace);
  std::vector<SpatialRegion> regions =
      list_in_pieces(batch, [&](const PostureBatch& piece, std::int64_t) {
        return spatial_equilibrium(piece, chosen, where, memory);
      });
  nb::list result;
  for (SpatialRegion& region : regions) {
    result.append(region_of(region, static_cast<std::size_t>(batch.contacts)));
  }
  return result;
}

nb::list posture_models() {
  nb::list result;
  for (const models::PostureModel& model : models::postures()) {
    nb::dict entry = entry_of(model);
    entry["dimension"] = model.dimension;
    entry["contact_names"] = words_of(model.contact_names);
    result.append(entry);
  }
  return result;
}

nb::tuple build_postures(const std::string& name, const Columns& columns, std::int64_t problems) {
  std::vector<Posture> built;
  PostureBatch batch = without_gil([&] {
    for (std::size_t p = 0; p < static_cast<std::size_t>(problems); ++p) {
      try {
        built.push_back(models::build_posture(name, row_of(columns, p)));
      } catch (const InvalidInput& error) {
        of_problem(error, p, static_cast<std::size_t>(problems));
      }
    }
    return make_batch(built);
  });
  const PostureSizes sizes = batch;
  return nb::make_tuple(
      sizes.dimension,
      arrays_of(static_cast<PostureBatchArrays<Buffer>&&>(std::move(batch)), sizes));
}

}  // namespace

void add_equilibrium(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def("planar_equilibrium", planar, "arrays"_a, "sizes"_a, "isolate"_a, "settings"_a,
             "backend"_a, "workspace"_a.none());
  module.def("planar_margins", margins, "arrays"_a, "sizes"_a, "centre_of_mass"_a, "isolate"_a,
             "settings"_a, "backend"_a, "workspace"_a.none());
  module.def("support", supports, "arrays"_a, "sizes"_a, "directions"_a, "isolate"_a, "settings"_a,
             "backend"_a, "workspace"_a.none());
  module.def("spatial_equilibrium", spatial, "arrays"_a, "sizes"_a, "isolate"_a, "settings"_a,
             "backend"_a, "workspace"_a.none());
  module.def("planar_settings", described<PlanarSettings>);
  module.def("spatial_settings", described<SpatialSettings>);
  module.def("posture_models", posture_models);
  module.def("build_postures", build_postures);
  module.def("wrench_rectangle", [](double p1, double p2, double q1, double q2, double f_y) {
    std::vector<double> values = wrench_rectangle(p1, p2, q1, q2, f_y);
    const std::size_t rows = values.size() / 3;
    return array_of(std::move(values), {rows, 3});
  });
  module.def("wrench_polygon", [](nb::handle pq, double f_y) {
    std::vector<double> values = wrench_polygon(copied<double>(pq), f_y);
    const std::size_t rows = values.size() / 3;
    return array_of(std::move(values), {rows, 3});
  });
}

}  // namespace carom::python
