#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <carom/derivative_compliant.hpp>
#include <carom/derivative_lcp.hpp>
#include <carom/derivative_margin.hpp>
#include <carom/derivative_qp.hpp>

#include "call.hpp"
#include "families.hpp"
#include "postures.hpp"
#include "settings.hpp"
#include "tables.hpp"

/// Derivatives of answers (carom/_derivatives.py). Problem, answer and cotangent or direction are
/// arrays by name; what is left out of the last is zero.
namespace carom::python {

namespace {

struct LcpCall {
  LcpBatch batch;
  LcpResult answer;

  LcpCall(const nb::dict& problem, const nb::dict& result, std::int64_t problems, int order) {
    static_cast<LcpSizes&>(batch) = {problems, order};
    borrow(batch, batch, problem);
    borrow(answer, batch, result);
  }
};

struct QpCall {
  QpBatch batch;
  QpResult answer;

  QpCall(const nb::dict& problem, const nb::dict& result, std::int64_t problems, int variables,
         int rows, const std::vector<std::pair<std::string, int>>& cones) {
    batch.problems = problems;
    batch.variables = variables;
    batch.rows = rows;
    for (const auto& [kind, size] : cones) {
      batch.cones.push_back({enumerator<ConeKind>("cones", nb::cast(kind)), size});
    }
    borrow(batch, batch, problem);
    borrow(answer, batch, result);
  }
};

struct StepCall {
  CompliantBatch batch;
  CompliantResult answer;

  StepCall(const nb::dict& problem, const nb::dict& result, std::int64_t problems, int dimension,
           int velocities, int rows, int positions) {
    static_cast<CompliantSizes&>(batch) = {problems, dimension, velocities, rows, positions};
    borrow(batch, batch, problem);
    borrow(answer, batch, result);
  }
};

bool names(const std::vector<std::string>& wanted, const char* name) {
  return std::find(wanted.begin(), wanted.end(), name) != wanted.end();
}

LcpWanted lcp_wanted(const std::vector<std::string>& wanted) {
  return {names(wanted, "matrix"), names(wanted, "vector")};
}

QpWanted qp_wanted(const std::vector<std::string>& wanted) {
  return {names(wanted, "hessian"),    names(wanted, "vector"), names(wanted, "matrix"),
          names(wanted, "lower"),      names(wanted, "upper"),  names(wanted, "cone_matrix"),
          names(wanted, "cone_vector")};
}

nb::dict differentiate_lcps(const nb::dict& problem, const nb::dict& result,
                            const nb::dict& cotangent, std::int64_t problems, int order,
                            const nb::dict& settings, const std::vector<std::string>& wanted) {
  const LcpCall call(problem, result, problems, order);
  LcpCotangent given;
  borrow(given, call.batch, cotangent);
  const auto chosen = settings_from<DerivativeSettings>(settings);
  return arrays_of(without_gil([&] {
                     return differentiate_lcp(call.batch, call.answer, given, chosen,
                                              lcp_wanted(wanted));
                   }),
                   call.batch);
}

nb::dict propagate_lcps(const nb::dict& problem, const nb::dict& result, const nb::dict& direction,
                        std::int64_t problems, int order, const nb::dict& settings) {
  const LcpCall call(problem, result, problems, order);
  LcpDirection given;
  borrow(given, call.batch, direction);
  const auto chosen = settings_from<DerivativeSettings>(settings);
  return arrays_of(
      without_gil([&] { return propagate_lcp(call.batch, call.answer, given, chosen); }),
      call.batch);
}

nb::dict differentiate_qps(const nb::dict& problem, const nb::dict& result,
                           const nb::dict& cotangent, std::int64_t problems, int variables,
                           int rows, const std::vector<std::pair<std::string, int>>& cones,
                           const nb::dict& settings, const std::vector<std::string>& wanted) {
  const QpCall call(problem, result, problems, variables, rows, cones);
  QpCotangent given;
  borrow(given, call.batch, cotangent);
  const auto chosen = settings_from<DerivativeSettings>(settings);
  return arrays_of(without_gil([&] {
                     return differentiate_qp(call.batch, call.answer, given, chosen,
                                             qp_wanted(wanted));
                   }),
                   call.batch);
}

nb::dict propagate_qps(const nb::dict& problem, const nb::dict& result, const nb::dict& direction,
                       std::int64_t problems, int variables, int rows,
                       const std::vector<std::pair<std::string, int>>& cones,
                       const nb::dict& settings) {
  const QpCall call(problem, result, problems, variables, rows, cones);
  QpDirection given;
  borrow(given, call.batch, direction);
  const auto chosen = settings_from<DerivativeSettings>(settings);
  return arrays_of(
      without_gil([&] { return propagate_qp(call.batch, call.answer, given, chosen); }),
      call.batch);
}

nb::dict differentiate_steps(const nb::dict& problem, const nb::dict& result,
                             const nb::dict& cotangent, std::int64_t problems, int dimension,
                             int velocities, int rows, int positions, const nb::dict& solver,
                             const nb::dict& settings, const std::vector<std::string>& wanted) {
  const StepCall call(problem, result, problems, dimension, velocities, rows, positions);
  CompliantCotangent given;
  borrow(given, call.batch, cotangent);
  const auto step = settings_from<CompliantSettings>(solver);
  const auto chosen = settings_from<DerivativeSettings>(settings);
  return arrays_of(without_gil([&] {
                     return differentiate_compliant(call.batch, call.answer, given, step, chosen,
                                                    wanted);
                   }),
                   call.batch);
}

nb::dict propagate_steps(const nb::dict& problem, const nb::dict& result, const nb::dict& direction,
                         std::int64_t problems, int dimension, int velocities, int rows,
                         int positions, const nb::dict& solver, const nb::dict& settings) {
  const StepCall call(problem, result, problems, dimension, velocities, rows, positions);
  CompliantDirection given;
  borrow(given, call.batch, direction);
  const auto step = settings_from<CompliantSettings>(solver);
  const auto chosen = settings_from<DerivativeSettings>(settings);
  return arrays_of(without_gil([&] {
                     return propagate_compliant(call.batch, call.answer, given, step, chosen);
                   }),
                   call.batch);
}

nb::dict differentiate_equilibrium_margins(const nb::dict& postures, const nb::tuple& sizes,
                                           nb::handle centres, const nb::dict& solver,
                                           const nb::dict& settings,
                                           const std::vector<std::string>& wanted) {
  const PostureBatch batch = posture_batch(postures, posture_shape(sizes), false);
  const std::vector<double> points = copied<double>(centres);
  const auto chosen = settings_from<DerivativeSettings>(settings);
  const MarginWanted asked{names(wanted, "position"), names(wanted, "normal"),
                           names(wanted, "friction"), names(wanted, "length"),
                           names(wanted, "wrench"),   names(wanted, "centre_of_mass")};
  if (batch.dimension == 2) {
    const auto planar = settings_from<PlanarSettings>(solver);
    return arrays_of(without_gil([&] {
                       return differentiate_planar_margins(batch, points, planar, chosen, asked);
                     }),
                     batch);
  }
  const auto spatial = settings_from<SpatialSettings>(solver);
  return arrays_of(
      without_gil([&] { return differentiate_margins(batch, points, spatial, chosen, asked); }),
      batch);
}

}  // namespace

void add_derivatives(nb::module_& module) {
  module.def("differentiate_lcp", differentiate_lcps);
  module.def("propagate_lcp", propagate_lcps);
  module.def("differentiate_qp", differentiate_qps);
  module.def("propagate_qp", propagate_qps);
  module.def("differentiate_compliant", differentiate_steps);
  module.def("propagate_compliant", propagate_steps);
  module.def("differentiate_margins", differentiate_equilibrium_margins);
  module.def("derivative_settings", described<DerivativeSettings>);
}

}  // namespace carom::python
