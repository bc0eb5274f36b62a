#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include <carom/derivative_impact.hpp>
#include <carom/impact.hpp>

#include "call.hpp"
#include "families.hpp"
#include "impacts.hpp"
#include "settings.hpp"
#include "tables.hpp"

namespace carom::python {

namespace {

std::size_t width_of(std::string_view kind, const ImpactSizes& sizes) {
  if (kind == "contacts") return static_cast<std::size_t>(sizes.contacts);
  if (kind == "nv") return static_cast<std::size_t>(sizes.velocities);
  return static_cast<std::size_t>(sizes.contact_rows() - sizes.contacts);
}

/// A column for each field: a number for each problem, or a row, NaN where a problem has none.
nb::dict summary_of(const std::vector<ImpactSummary>& summaries, const ImpactSizes& sizes) {
  using Column = std::variant<std::vector<double>, std::vector<std::int64_t>, std::vector<int>,
                              std::vector<Status>>;
  std::map<std::string_view, Column> columns;
  for (std::size_t p = 0; p < summaries.size(); ++p) {
    ImpactSummary::each_field(
        [&](const Field& field, const auto& value) {
          using Value = std::remove_cvref_t<decltype(value)>;
          if constexpr (std::is_same_v<Value, std::vector<double>>) {
            auto& rows = std::get<0>(columns[field.name]);
            const std::size_t width = width_of(field.kind, sizes);
            rows.resize((p + 1) * width, std::numeric_limits<double>::quiet_NaN());
            std::copy_n(value.begin(), std::min(value.size(), width), rows.end() - width);
          } else {
            auto& column = columns.try_emplace(field.name, std::vector<Value>()).first->second;
            std::get<std::vector<Value>>(column).push_back(value);
          }
        },
        summaries[p]);
  }
  nb::dict result;
  const ImpactSummary none;
  ImpactSummary::each_field(
      [&](const Field& field, const auto& value) {
        using Value = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, std::vector<double>>) {
          result[field.name] = array_of(std::move(std::get<0>(columns[field.name])),
                                        {summaries.size(), width_of(field.kind, sizes)});
        } else {
          auto& column = columns.try_emplace(field.name, std::vector<Value>()).first->second;
          result[field.name] = array_of(std::move(std::get<std::vector<Value>>(column)));
        }
      },
      none);
  return result;
}

nb::list mode_counts_of(const std::vector<ImpactSummary>& summaries) {
  nb::list result;
  for (const ImpactSummary& summary : summaries) {
    std::vector<std::uint64_t> modes;
    std::vector<std::int64_t> counts;
    for (const auto& [mode, count] : summary.mode_counts) {
      modes.push_back(mode);
      counts.push_back(count);
    }
    result.append(nb::make_tuple(array_of(std::move(modes)), array_of(std::move(counts))));
  }
  return result;
}

}  // namespace

nb::dict net_of(EpsilonNet& net) {
  const auto points = static_cast<std::size_t>(net.points());
  nb::dict result;
  result["requested_epsilon"] = net.requested_epsilon;
  result["epsilon"] = net.epsilon;
  result["dropped"] = net.dropped;
  result["velocity"] =
      array_of(std::move(net.velocity), {points, static_cast<std::size_t>(net.velocities)});
  result["impulse"] =
      array_of(std::move(net.impulse), {points, static_cast<std::size_t>(net.contact_rows)});
  result["modes"] = array_of(std::move(net.modes));
  result["multiplicity"] = array_of(std::move(net.multiplicity));
  result["first_sample"] = array_of(std::move(net.first_sample));
  result["coverage"] = array_of(std::move(net.coverage));
  return result;
}

namespace {

nb::dict sample(const nb::dict& arrays, std::int64_t problems, int dimension, int velocities,
                int contacts, const nb::dict& given, nb::handle backend, nb::object progress,
                nb::handle workspace) {
  const ImpactBatch batch = impact_batch(arrays, problems, dimension, velocities, contacts);
  auto settings = settings_from<ImpactSettings>(given);
  const auto where = enumerator<Backend>("backend", backend);
  Workspace* const memory = workspace_of(workspace);
  Listener listener(std::move(progress));
  settings.progress = [&](const ImpactProgress& at) {
    return listener.go_on(at.samples_done, at.samples_total);
  };
  ImpactResult result = without_gil([&] { return sample_impacts(batch, settings, where, memory); });
  listener.raise();

  nb::dict all;
  all["backend"] = std::string(to_string(result.backend));
  all["cancelled"] = result.cancelled;
  all["seconds"] = result.seconds;
  all["summary"] = summary_of(result.summary, batch);
  all["mode_counts"] = mode_counts_of(result.summary);
  const ImpactSampleSizes sizes = result.samples;
  all["samples"] =
      arrays_of(static_cast<ImpactSampleArrays<Buffer>&&>(std::move(result.samples)), sizes);
  nb::list nets, paths;
  for (EpsilonNet& net : result.net) nets.append(net_of(net));
  for (ImpactPaths& path : result.paths) {
    const std::size_t count = path.velocity.size() / static_cast<std::size_t>(velocities);
    nb::dict entry;
    entry["offset"] = array_of(std::move(path.offset));
    const auto rows_of = [count](std::vector<double>& values) {
      const std::size_t columns = count > 0 ? values.size() / count : 0;
      return array_of(std::move(values), {columns > 0 ? count : 0, columns});
    };
    entry["velocity"] =
        array_of(std::move(path.velocity), {count, static_cast<std::size_t>(velocities)});
    entry["impulse"] = rows_of(path.impulse);
    entry["restitution"] = rows_of(path.restitution);
    entry["friction"] = rows_of(path.friction);
    paths.append(entry);
  }
  all["net"] = nets;
  all["paths"] = paths;
  return all;
}

/// Of points [k, nv] in the coordinates x and y.
nb::object hull(nb::handle points, std::int64_t count, int velocities, int x, int y) {
  EpsilonNet net;
  net.velocities = velocities;
  net.velocity = copied<double>(points);
  net.multiplicity.assign(static_cast<std::size_t>(count), 1);
  const std::vector<std::array<double, 2>> corners =
      without_gil([&] { return convex_hull(net, x, y); });
  std::vector<double> values;
  for (const auto& [a, b] : corners) values.insert(values.end(), {a, b});
  return array_of(std::move(values), {corners.size(), 2});
}

/// Kept samples of a batch, by name, and the settings that they were taken with.
struct KeptSamples {
  ImpactBatch batch;
  ImpactSamples samples;
  ImpactSettings sampled;

  KeptSamples(const nb::dict& arrays, std::int64_t problems, int dimension, int velocities,
              int contacts, const nb::dict& kept, std::int64_t count, const nb::dict& given)
      : batch(impact_batch(arrays, problems, dimension, velocities, contacts)),
        sampled(settings_from<ImpactSettings>(given)) {
    static_cast<ImpactSampleSizes&>(samples) = {problems, count, velocities, dimension * contacts,
                                                contacts};
    borrow(samples, samples, kept);
  }
  [[nodiscard]] ImpactDerivativeSizes sizes() const { return {batch, samples.count}; }
};

nb::dict differentiate(const nb::dict& arrays, std::int64_t problems, int dimension, int velocities,
                       int contacts, const nb::dict& kept, std::int64_t count,
                       const nb::dict& sampled, const nb::dict& cotangent, const nb::dict& settings,
                       bool mass_matrix, bool jacobians, bool friction) {
  const KeptSamples call(arrays, problems, dimension, velocities, contacts, kept, count, sampled);
  ImpactCotangent given;
  borrow(given, call.samples, cotangent);
  const auto chosen = settings_from<DerivativeSettings>(settings);
  return arrays_of(without_gil([&] {
                     return differentiate_impacts(call.batch, call.sampled, call.samples, given,
                                                  chosen, {mass_matrix, jacobians, friction});
                   }),
                   call.sizes());
}

nb::dict propagate(const nb::dict& arrays, std::int64_t problems, int dimension, int velocities,
                   int contacts, const nb::dict& kept, std::int64_t count, const nb::dict& sampled,
                   const nb::dict& direction, const nb::dict& settings) {
  const KeptSamples call(arrays, problems, dimension, velocities, contacts, kept, count, sampled);
  ImpactDirection given;
  borrow(given, call.batch, direction);
  const auto chosen = settings_from<DerivativeSettings>(settings);
  return arrays_of(
      without_gil(
          [&] { return propagate_impacts(call.batch, call.sampled, call.samples, given, chosen); }),
      call.sizes());
}

}  // namespace

void add_impact(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def("sample_impacts", sample, "arrays"_a, "problems"_a, "dimension"_a, "velocities"_a,
             "contacts"_a, "settings"_a, "backend"_a, "progress"_a.none(), "workspace"_a.none());
  module.def("differentiate_impacts", differentiate);
  module.def("propagate_impacts", propagate);
  module.def("impact_settings", described<ImpactSettings>);
  module.def("validate_impacts", [](const nb::dict& arrays, std::int64_t problems, int dimension,
                                    int velocities, int contacts) {
    const ImpactBatch batch = impact_batch(arrays, problems, dimension, velocities, contacts);
    without_gil([&] { validate(batch); });
  });
  module.def("impact_limits", [] {
    return nb::make_tuple(kMaxContacts, kMaxVelocities, kMaxFollowedContacts,
                          kMaxDeviceFollowedContacts, kMaxModeContacts);
  });
  module.def("convex_hull", hull);
  module.def("mode_words", [](std::uint64_t modes, int contacts, int dimension) {
    return mode_words(modes, contacts, dimension);
  });
}

}  // namespace carom::python
