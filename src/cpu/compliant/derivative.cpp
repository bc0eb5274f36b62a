#include <algorithm>
#include <string>
#include <vector>

#include "compliant/derivative_backends.hpp"
#include "compliant/kernels/compliant_derivative.hpp"
#include "core/arrays.hpp"
#include "cpu/programs/derivatives/driver.hpp"

namespace carom::cpu {

namespace {

using derivatives::kNone;
using derivatives::Report;
using derivatives::StepDerivative;

/// call(problem, derivative, report) where the answer has modes with regular equations, else
/// refuse(problem, derivative); then the report.
template <class Table, class Call, class Refuse>
void each_step(const CompliantBatch& batch, const CompliantResult& answer,
               const CompliantSettings& solver, const DerivativeSettings& settings, Table& table,
               Call&& call, Refuse&& refuse) {
  const int n = batch.velocities, r = batch.rows;
  const derivatives::DerivativeRules rules = rules_of(settings);
  const derivatives::StepShape shape{n, r, batch.positions};
  differentiate_each(batch.problems, settings.threads, derivatives::step_derivative_reals(n, r),
                     derivatives::step_derivative_ints(r),
                     [&](std::int64_t p, double* reals, int* ints) {
                       derivatives::StepView problem;
                       arrays::bind(problem, batch, batch, p);
                       Report report;
                       StepDerivative one(shape, problem, solver.centripetal, rules, reals, ints);
                       const bool solved = answer.status.data()[p] == Status::solved;
                       if (solved && one.modes(answer.force.data() + p * r, report)) {
                         call(p, one, report);
                       } else {
                         refuse(p, one);
                       }
                       put_report(table, p, report);
                     });
}

}  // namespace

CompliantGradient differentiate_compliant(const CompliantBatch& batch,
                                          const CompliantResult& answer,
                                          const CompliantCotangent& cotangent,
                                          const CompliantSettings& solver,
                                          const DerivativeSettings& settings,
                                          const std::vector<std::string>& wanted) {
  CompliantGradient gradient;
  const auto make = [](const Extents& extents, auto& array) {
    array = std::remove_cvref_t<decltype(array)>(static_cast<std::size_t>(extents.count()));
  };
  CompliantDirection::each_array(
      batch,
      [&](const char* name, const Extents& extents, auto& array) {
        const bool asked =
            wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
        if (asked) make(extents, array);
      },
      gradient);
  CompliantGradient::each_report(
      batch.problems,
      [&](const char*, const Extents& extents, auto& array) { make(extents, array); }, gradient);
  const auto view_of = [&](std::int64_t p) {
    derivatives::StepGradientView view;
    arrays::bind(view, static_cast<CompliantDirectionArrays<Buffer>&>(gradient), batch, p);
    return view;
  };
  each_step(
      batch, answer, solver, settings, gradient,
      [&](std::int64_t p, StepDerivative& one, Report& report) {
        derivatives::StepCotangentView asked;
        arrays::bind(asked, cotangent, batch, p);
        one.adjoint(asked, view_of(p), report);
      },
      [&](std::int64_t p, const StepDerivative& one) { one.none(view_of(p)); });
  return gradient;
}

CompliantTangent propagate_compliant(const CompliantBatch& batch, const CompliantResult& answer,
                                     const CompliantDirection& direction,
                                     const CompliantSettings& solver,
                                     const DerivativeSettings& settings) {
  auto tangent = allocate<CompliantTangent>(batch);
  const std::int64_t n = batch.velocities, r = batch.rows;
  const std::int64_t q = batch.positions > 0 ? batch.positions : n;
  each_step(
      batch, answer, solver, settings, tangent,
      [&](std::int64_t p, StepDerivative& one, Report& report) {
        derivatives::StepDirectionView along;
        arrays::bind(along, direction, batch, p);
        const derivatives::StepTangentView out{
            tangent.velocity.data() + p * n, tangent.increment.data() + p * q,
            tangent.force.data() + p * r, tangent.kinetic_energy.data() + p};
        one.tangent(along, out, report);
      },
      [&](std::int64_t p, const StepDerivative&) {
        StepDerivative::fill(tangent.velocity.data() + p * n, n);
        StepDerivative::fill(tangent.increment.data() + p * q, q);
        StepDerivative::fill(tangent.force.data() + p * r, r);
        StepDerivative::fill(tangent.kinetic_energy.data() + p, 1);
      });
  return tangent;
}

}  // namespace carom::cpu
