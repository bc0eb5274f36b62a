#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/arrays.hpp"
#include "cpu/programs/derivatives/driver.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/programs/qp_derivatives.hpp"
#include "programs/derivatives/backends.hpp"
#include "programs/derivatives/kernels/qp.hpp"

namespace carom::cpu {

namespace {

using derivatives::kNone;
using derivatives::QpDerivative;
using derivatives::Report;

/// Packs take what they can of a range that `bind` gives them; else call(problem, derivative,
/// report) where the answer has modes with regular equations, refuse(problem) where not, then the
/// report.
template <class Table, class Bind, class Call, class Refuse>
void each_qp(const QpBatch& batch, const QpResult& answer, const DerivativeSettings& settings,
             Table& table, Bind&& bind, Call&& call, Refuse&& refuse) {
  const int n = batch.variables, m = batch.rows, k = batch.cone_rows();
  const derivatives::DerivativeRules rules = rules_of(settings);
  const derivatives::QpShape shape{n, m, k, static_cast<int>(batch.cones.size()),
                                   batch.cones.data()};
  const bool packed = n + m + k <= simd::kMostOfQpInPacks;
  const simd::DerivativeCode& code = simd::derivative_code(simd::instruction_set());
  const auto alone = [&](std::int64_t p, DerivativeMemory& memory) {
    derivatives::QpView problem;
    arrays::bind(problem, batch, batch, p);
    Report report;
    QpDerivative one(shape, problem, rules, memory.reals.data(), memory.ints.data());
    const bool solved = answer.status.data()[p] == Status::solved;
    if (solved && one.modes(answer.solution.data() + p * n, answer.dual.data() + p * m,
                            answer.cone_dual.data() + p * k, report)) {
      call(p, one, report);
    } else {
      refuse(p);
    }
    put_report(table, p, report);
  };
  const auto in_packs = [&](std::int64_t begin, std::int64_t end, DerivativeMemory& memory) {
    simd::QpDerivativeRange packs{};
    arrays::bind(packs, batch);
    packs.begin = begin;
    packs.end = end;
    packs.variables = n;
    packs.rows = m;
    packs.cone_rows = k;
    packs.cones = static_cast<int>(batch.cones.size());
    packs.cone = batch.cones.data();
    packs.solution = answer.solution.data();
    packs.dual = answer.dual.data();
    packs.cone_dual = answer.cone_dual.data();
    packs.status = answer.status.data();
    packs.rules = rules;
    packs.reals = memory.packs.data();
    packs.open = memory.open.data();
    bind(packs);
    code.qps(packs);
  };
  differentiate_in_packs(batch.problems, settings.threads,
                         derivatives::qp_derivative_reals(n, m + k),
                         derivatives::qp_derivative_ints(n, m + k),
                         packed ? simd::qp_derivative_pack_reals(n, m + k) : 0, in_packs, alone);
}

}  // namespace

QpGradient differentiate_qp(const QpBatch& batch, const QpResult& answer,
                            const QpCotangent& cotangent, const DerivativeSettings& settings,
                            const QpWanted& wanted) {
  QpGradient gradient;
  QpGradient::each_array(
      batch,
      [&](const char* name, const Extents& extents, auto& array) {
        bool left_out = false;
        QpWanted::each(wanted, [&](const char* known, bool asked) {
          left_out = left_out || (!asked && std::strcmp(known, name) == 0);
        });
        if (left_out) return;
        array = std::remove_cvref_t<decltype(array)>(static_cast<std::size_t>(extents.count()));
      },
      gradient);
  const auto view_of = [&](std::int64_t p) {
    derivatives::QpGradientView view;
    arrays::bind(view, static_cast<QpBatchArrays<Buffer>&>(gradient), batch, p);
    return view;
  };
  each_qp(
      batch, answer, settings, gradient,
      [&](simd::QpDerivativeRange& packs) {
        packs.wanted = wanted;
        arrays::bind(packs.cotangent, cotangent, batch);
        arrays::bind(packs.gradient, gradient, batch);
      },
      [&](std::int64_t p, QpDerivative& one, Report& report) {
        derivatives::QpCotangentView asked;
        arrays::bind(asked, cotangent, batch, p);
        one.adjoint(asked, wanted, view_of(p), report);
      },
      [&](std::int64_t p) {
        const auto view = view_of(p);
        QpBatchArrays<Pointer>::each_array(
            batch,
            [](const char*, const Extents& extents, double* array) {
              QpDerivative::fill_array(array, extents.stride());
            },
            view);
      });
  return gradient;
}

QpTangent propagate_qp(const QpBatch& batch, const QpResult& answer, const QpDirection& direction,
                       const DerivativeSettings& settings) {
  auto tangent = allocate<QpTangent>(batch);
  const auto view_of = [&](std::int64_t p) {
    const std::int64_t n = batch.variables, m = batch.rows, k = batch.cone_rows();
    return derivatives::QpTangentView{tangent.solution.data() + p * n, tangent.dual.data() + p * m,
                                      tangent.cone_dual.data() + p * k,
                                      tangent.objective.data() + p};
  };
  each_qp(
      batch, answer, settings, tangent,
      [&](simd::QpDerivativeRange& packs) {
        arrays::bind(packs.direction, direction, batch);
        arrays::bind(packs.tangent, tangent, batch);
      },
      [&](std::int64_t p, QpDerivative& one, Report& report) {
        derivatives::QpDirectionView along;
        arrays::bind(along, static_cast<const QpBatchArrays<Buffer>&>(direction), batch, p);
        one.tangent(along, view_of(p), report);
      },
      [&](std::int64_t p) {
        const auto view = view_of(p);
        std::fill_n(view.solution, batch.variables, kNone);
        std::fill_n(view.dual, batch.rows, kNone);
        std::fill_n(view.cone_dual, batch.cone_rows(), kNone);
        *view.objective = kNone;
      });
  return tangent;
}

}  // namespace carom::cpu
