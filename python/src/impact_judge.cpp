#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <carom/impact_judge.hpp>

#include "call.hpp"
#include "families.hpp"
#include "impacts.hpp"
#include "settings.hpp"
#include "tables.hpp"

namespace carom::python {

namespace {

MeasuredImpacts measured_of(const ImpactSizes& sizes, const nb::dict& arrays) {
  MeasuredImpacts measured;
  borrow(measured, sizes, arrays);
  return measured;
}

nb::dict floors(const nb::dict& arrays, std::int64_t problems, int dimension, int velocities,
                int contacts, const nb::dict& outcomes, int threads) {
  const ImpactBatch batch = impact_batch(arrays, problems, dimension, velocities, contacts);
  const MeasuredImpacts measured = measured_of(batch, outcomes);
  return arrays_of(without_gil([&] { return impact_floor(batch, measured, threads); }), batch);
}

nb::dict judge(const nb::dict& arrays, std::int64_t problems, int dimension, int velocities,
               int contacts, const nb::dict& outcomes, const nb::dict& given,
               const nb::dict& sampling, nb::handle backend, nb::object progress) {
  const ImpactBatch batch = impact_batch(arrays, problems, dimension, velocities, contacts);
  const MeasuredImpacts measured = measured_of(batch, outcomes);
  const auto settings = settings_from<JudgeSettings>(given);
  auto drawing = settings_from<ImpactSettings>(sampling);
  const auto where = enumerator<Backend>("backend", backend);
  Listener listener(std::move(progress));
  drawing.progress = [&](const ImpactProgress& at) {
    return listener.go_on(at.samples_done, at.samples_total);
  };
  ImpactJudgement found =
      without_gil([&] { return judge_impacts(batch, measured, settings, drawing, where); });
  listener.raise();
  nb::dict all = arrays_of(std::move(found.samples), batch);
  for (const auto& [name, array] : arrays_of(std::move(found.floor), batch)) all[name] = array;
  all["cancelled"] = found.cancelled;
  return all;
}

nb::dict identify(const nb::dict& arrays, std::int64_t problems, int dimension, int velocities,
                  int contacts, const nb::dict& outcomes, nb::handle restitution,
                  nb::handle friction, const nb::dict& given, const nb::dict& sampling,
                  nb::handle backend) {
  const ImpactBatch batch = impact_batch(arrays, problems, dimension, velocities, contacts);
  const MeasuredImpacts measured = measured_of(batch, outcomes);
  const auto settings = settings_from<IdentifySettings>(given);
  auto drawing = settings_from<ImpactSettings>(sampling);
  const auto where = enumerator<Backend>("backend", backend);
  const std::vector<double> e = copied<double>(restitution), mu = copied<double>(friction);
  Listener listener{nb::none()};
  drawing.progress = [&](const ImpactProgress& at) {
    return listener.go_on(at.samples_done, at.samples_total);
  };
  ImpactIdentification found = without_gil(
      [&] { return identify_impacts(batch, measured, e, mu, settings, drawing, where); });
  listener.raise();
  nb::dict all;
  all["distance"] = array_of(std::move(found.distance));
  all["smallest_interval"] =
      array_of(std::vector<double>(found.smallest_interval.begin(), found.smallest_interval.end()));
  all["bounds"] = array_of(std::vector<double>(found.bounds.begin(), found.bounds.end()));
  return all;
}

}  // namespace

void add_impact_judge(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def("impact_floor", floors, "arrays"_a, "problems"_a, "dimension"_a, "velocities"_a,
             "contacts"_a, "measured"_a, "threads"_a);
  module.def("judge_impacts", judge, "arrays"_a, "problems"_a, "dimension"_a, "velocities"_a,
             "contacts"_a, "measured"_a, "settings"_a, "sampling"_a, "backend"_a,
             "progress"_a.none());
  module.def("judge_settings", described<JudgeSettings>);
  module.def("identify_impacts", identify);
  module.def("identify_settings", described<IdentifySettings>);
}

}  // namespace carom::python
