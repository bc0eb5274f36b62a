#include <algorithm>
#include <string>
#include <vector>

#include "compliant/derivative_backends.hpp"
#include "compliant/kernels/compliant_derivative.hpp"
#include "core/arrays.hpp"
#include "cpu/programs/derivatives/driver.hpp"
#include "cpu/simd/compliant/step_derivatives.hpp"
#include "cpu/simd/dispatch.hpp"

namespace carom::cpu {

namespace {

using derivatives::kNone;
using derivatives::Report;
using StepDerivative = derivatives::StepDerivative<double>;

/// Packs take what they can of a range that `bind` gives them; else call(problem, derivative,
/// report) where the answer has modes with regular equations, refuse(problem, derivative) where
/// not, then the report.
template <class Table, class Bind, class Call, class Refuse>
void each_step(const CompliantBatch& batch, const CompliantResult& answer,
               const CompliantSettings& solver, const DerivativeSettings& settings, Table& table,
               Bind&& bind, Call&& call, Refuse&& refuse) {
  const int n = batch.velocities, r = batch.rows;
  const derivatives::DerivativeRules rules = rules_of(settings);
  const derivatives::StepShape shape{n, r, batch.positions};
  const bool packed = simd::steps_differentiated_in_packs(batch);
  const simd::DerivativeCode& code = simd::derivative_code(simd::instruction_set());
  const auto alone = [&](std::int64_t p, DerivativeMemory& memory) {
    derivatives::StepView<double> problem;
    arrays::bind(problem, batch, batch, p);
    Report report;
    StepDerivative one(shape, problem, solver.centripetal, rules, memory.reals.data(),
                       memory.ints.data());
    const bool solved = answer.status.data()[p] == Status::solved;
    if (solved && one.modes(answer.force.data() + p * r, report)) {
      call(p, one, report);
    } else {
      refuse(p, one);
    }
    put_report(table, p, report);
  };
  const auto in_packs = [&](std::int64_t begin, std::int64_t end, DerivativeMemory& memory) {
    simd::StepDerivativeRange packs{};
    packs.begin = begin;
    packs.end = end;
    packs.sizes = batch;
    packs.centripetal = solver.centripetal;
    packs.rules = rules;
    arrays::bind(packs.batch, batch, batch);
    packs.force = answer.force.data();
    packs.status = answer.status.data();
    packs.reals = memory.packs.data();
    packs.ints = memory.ints.data();
    packs.open = memory.open.data();
    bind(packs);
    code.steps(packs);
  };
  differentiate_in_packs(batch.problems, settings.threads, derivatives::step_derivative_reals(n, r),
                         derivatives::step_derivative_ints(r),
                         packed ? simd::step_derivative_pack_reals(batch) : 0, in_packs, alone);
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
    derivatives::StepGradientView<double> view;
    arrays::bind(view, static_cast<CompliantDirectionArrays<Buffer>&>(gradient), batch, p);
    return view;
  };
  each_step(
      batch, answer, solver, settings, gradient,
      [&](simd::StepDerivativeRange& packs) {
        arrays::bind(packs.cotangent, cotangent, batch);
        arrays::bind(packs.gradient, gradient, batch);
      },
      [&](std::int64_t p, StepDerivative& one, Report& report) {
        derivatives::StepCotangentView<double> asked;
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
      [&](simd::StepDerivativeRange& packs) {
        arrays::bind(packs.direction, direction, batch);
        arrays::bind(packs.tangent, tangent, batch);
      },
      [&](std::int64_t p, StepDerivative& one, Report& report) {
        derivatives::StepDirectionView<double> along;
        arrays::bind(along, direction, batch, p);
        const derivatives::StepTangentView<double> out{
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
