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

}  // namespace

void add_impact_judge(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def("impact_floor", floors, "arrays"_a, "problems"_a, "dimension"_a, "velocities"_a,
             "contacts"_a, "measured"_a, "threads"_a);
}

}  // namespace carom::python
