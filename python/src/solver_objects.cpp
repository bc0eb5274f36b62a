#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include <carom/solver_objects.hpp>

#include "call.hpp"
#include "families.hpp"
#include "settings.hpp"
#include "tables.hpp"

namespace carom::python {

namespace {

std::span<const double> values_of(const nb::dict& arrays, const char* name) {
  const auto values = borrowed<double>(arrays[name]);
  return {values.data(), values.size()};
}

QpSolver* make_qp(const nb::dict& arrays, int variables, int rows, const nb::dict& settings) {
  QpBatch matrices;
  matrices.variables = variables;
  matrices.rows = rows;
  matrices.hessian = borrowed<double>(arrays["hessian"]);
  const std::int64_t one = std::max<std::int64_t>(1, std::int64_t{variables} * variables);
  matrices.problems = static_cast<std::int64_t>(matrices.hessian.size()) / one;
  matrices.matrix = borrowed<double>(arrays["matrix"]);
  return new QpSolver(matrices, settings_from<QpSettings>(settings));
}

nb::dict solve_qps(QpSolver& solver, const nb::dict& arrays, std::int64_t problems, int variables,
                   int rows, nb::handle held) {
  const QpVectors vectors{problems, values_of(arrays, "vector"), values_of(arrays, "lower"),
                          values_of(arrays, "upper")};
  auto sets = borrowed<std::uint8_t>(held);
  QpSizes sizes;
  sizes.problems = problems;
  sizes.variables = variables;
  sizes.rows = rows;
  return arrays_of(without_gil([&] {
                     return solver.solve(vectors, {sets.data(), sets.size()});
                   }),
                   sizes);
}

LpSolver* make_lp(const nb::dict& arrays, int rows, int columns, const nb::dict& settings,
                  int pool) {
  LpBatch costs;
  static_cast<LpSizes&>(costs) = {1, rows, columns, 1};
  costs.matrix = borrowed<double>(arrays["matrix"]);
  costs.cost = borrowed<double>(arrays["cost"]);
  return new LpSolver(costs, settings_from<LpSettings>(settings), pool);
}

nb::dict solve_lps(LpSolver& solver, const nb::dict& arrays, std::int64_t problems, int rows,
                   int columns, nb::handle start) {
  const LpBounds bounds{problems, values_of(arrays, "row_lower"), values_of(arrays, "row_upper"),
                        values_of(arrays, "column_lower"), values_of(arrays, "column_upper")};
  auto first = borrowed<std::int32_t>(start);
  const LpSizes sizes{problems, rows, columns, 1};
  return arrays_of(without_gil([&] {
                     return solver.solve(bounds, {first.data(), first.size()});
                   }),
                   sizes);
}

}  // namespace

void add_solver_objects(nb::module_& module) {
  using nb::literals::operator""_a;
  nb::class_<QpSolver>(module, "QpSolver")
      .def(nb::new_([](const nb::dict& arrays, int variables, int rows, const nb::dict& settings) {
             return make_qp(arrays, variables, rows, settings);
           }),
           "arrays"_a, "variables"_a, "rows"_a, "settings"_a)
      .def("keeps_factors", &QpSolver::keeps_factors)
      .def("solve", solve_qps, "arrays"_a, "problems"_a, "variables"_a, "rows"_a, "held"_a);
  nb::class_<LpSolver>(module, "LpSolver")
      .def(nb::new_([](const nb::dict& arrays, int rows, int columns, const nb::dict& settings,
                       int pool) { return make_lp(arrays, rows, columns, settings, pool); }),
           "arrays"_a, "rows"_a, "columns"_a, "settings"_a, "pool"_a)
      .def("pooled", &LpSolver::pooled)
      .def("solve", solve_lps, "arrays"_a, "problems"_a, "rows"_a, "columns"_a, "start"_a);
}

}  // namespace carom::python
