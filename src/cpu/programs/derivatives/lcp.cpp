#include <algorithm>

#include "core/arrays.hpp"
#include "cpu/programs/derivatives/driver.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/simd/programs/lcp_derivatives.hpp"
#include "programs/derivatives/backends.hpp"
#include "programs/derivatives/kernels/lcp.hpp"

namespace carom::cpu {

namespace {

using derivatives::kNone;
using derivatives::LcpDerivative;
using derivatives::Report;

/// Packs take what they can of a range that `bind` gives them; else call(problem, derivative,
/// report) where the answer has modes with regular equations, refuse(problem) where not, then the
/// report.
template <class Table, class Bind, class Call, class Refuse>
void each_lcp(const LcpBatch& batch, const LcpResult& answer, const DerivativeSettings& settings,
              Table& table, Bind&& bind, Call&& call, Refuse&& refuse) {
  const int n = batch.order;
  const derivatives::DerivativeRules rules = rules_of(settings);
  const bool packed = n <= simd::kMostDifferentiatedInPacks && !settings.radius;
  const simd::DerivativeCode& code = simd::derivative_code(simd::instruction_set());
  const auto alone = [&](std::int64_t p, DerivativeMemory& memory) {
    Report report;
    LcpDerivative one(n, batch.matrix.data() + p * n * n, batch.vector.data() + p * n, rules,
                      memory.reals.data(), memory.ints.data());
    const bool solved = answer.status.data()[p] == Status::solved;
    double* const radius = row_of(table.radius, p, 1);
    if (radius != nullptr) *radius = kNone;
    if (solved && one.modes(answer.solution.data() + p * n, report)) {
      call(p, one, report);
      if (radius != nullptr) *radius = one.radius();
    } else {
      refuse(p);
    }
    put_report(table, p, report);
  };
  const auto in_packs = [&](std::int64_t begin, std::int64_t end, DerivativeMemory& memory) {
    simd::LcpDerivativeRange packs{};
    arrays::bind(packs, batch);
    packs.begin = begin;
    packs.end = end;
    packs.order = n;
    packs.solution = answer.solution.data();
    packs.status = answer.status.data();
    packs.rules = rules;
    packs.reals = memory.packs.data();
    packs.open = memory.open.data();
    bind(packs);
    code.lcps(packs);
  };
  differentiate_in_packs(batch.problems, settings.threads, derivatives::lcp_derivative_reals(n),
                         derivatives::lcp_derivative_ints(n),
                         packed ? simd::lcp_derivative_pack_reals(n) : 0, in_packs, alone);
}

}  // namespace

LcpGradient differentiate_lcp(const LcpBatch& batch, const LcpResult& answer,
                              const LcpCotangent& cotangent, const DerivativeSettings& settings,
                              const LcpWanted& wanted) {
  const std::int64_t n = batch.order;
  LcpGradient gradient;
  LcpGradient::each_array(
      batch,
      [&](const char* name, const Extents& extents, auto& array) {
        const std::string_view field = name;
        if ((field == "matrix" && !wanted.matrix) || (field == "vector" && !wanted.vector)) return;
        if (field == "radius" && !settings.radius) return;
        array = std::remove_cvref_t<decltype(array)>(static_cast<std::size_t>(extents.count()));
      },
      gradient);
  const auto spread = [&](std::int64_t p) {
    const double* y = gradient.adjoint.data() + p * n;
    const double* z = gradient.solution.data() + p * n;
    const double* h = row_of(cotangent.w, p, n);
    for (std::int64_t i = 0; i < n; ++i) {
      const double value = (h != nullptr ? h[i] : 0.0) - y[i];
      if (wanted.vector) gradient.vector.data()[p * n + i] = value;
      if (!wanted.matrix) continue;
      double* row = gradient.matrix.data() + (p * n + i) * n;
      for (std::int64_t j = 0; j < n; ++j) row[j] = value * z[j];
    }
  };
  each_lcp(
      batch, answer, settings, gradient,
      [&](simd::LcpDerivativeRange& packs) {
        packs.wanted = wanted;
        arrays::bind(packs.cotangent, cotangent, batch);
        arrays::bind(packs.gradient, gradient, batch);
      },
      [&](std::int64_t p, LcpDerivative& one, Report& report) {
        one.adjoint(row_of(cotangent.solution, p, n), row_of(cotangent.w, p, n), wanted,
                    gradient.adjoint.data() + p * n, report);
        std::copy_n(one.polished(), n, gradient.solution.data() + p * n);
        spread(p);
      },
      [&](std::int64_t p) {
        std::fill_n(gradient.adjoint.data() + p * n, n, kNone);
        std::fill_n(gradient.solution.data() + p * n, n, kNone);
        spread(p);
      });
  return gradient;
}

LcpTangent propagate_lcp(const LcpBatch& batch, const LcpResult& answer,
                         const LcpDirection& direction, const DerivativeSettings& settings) {
  const std::int64_t n = batch.order;
  auto tangent = allocate<LcpTangent>(batch, MemorySpace::host, settings.radius);
  each_lcp(
      batch, answer, settings, tangent,
      [&](simd::LcpDerivativeRange& packs) {
        arrays::bind(packs.direction, direction, batch);
        arrays::bind(packs.tangent, tangent, batch);
      },
      [&](std::int64_t p, LcpDerivative& one, Report& report) {
        one.tangent(row_of(direction.matrix, p, n * n), row_of(direction.vector, p, n),
                    tangent.solution.data() + p * n, tangent.w.data() + p * n, report);
      },
      [&](std::int64_t p) {
        std::fill_n(tangent.solution.data() + p * n, n, kNone);
        std::fill_n(tangent.w.data() + p * n, n, kNone);
      });
  return tangent;
}

}  // namespace carom::cpu
