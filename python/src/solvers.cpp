#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <span>

#include <carom/lcp.hpp>
#include <carom/lp.hpp>
#include <carom/qp.hpp>
#include <carom/sdp.hpp>

#include "call.hpp"
#include "families.hpp"
#include "settings.hpp"
#include "tables.hpp"

namespace carom::python {

namespace {

nb::dict lcp(const nb::dict& arrays, std::int64_t problems, int order, const nb::dict& settings,
             nb::handle backend, nb::handle workspace) {
  LcpBatch batch;
  static_cast<LcpSizes&>(batch) = {problems, order};
  borrow(batch, batch, arrays);
  const auto chosen = settings_from<LcpSettings>(settings);
  const auto where = enumerator<Backend>("backend", backend);
  Workspace* const memory = workspace_of(workspace);
  return arrays_of(in_pieces<LcpResult>(batch, batch,
                                        [&](const LcpBatch& piece, std::int64_t) {
                                          return solve_lcp(piece, chosen, where, memory);
                                        }),
                   batch);
}

nb::dict lp(const nb::dict& arrays, std::int64_t problems, int rows, int columns, int objectives,
            const nb::dict& settings, nb::handle backend, nb::handle start, nb::handle workspace) {
  LpBatch batch;
  static_cast<LpSizes&>(batch) = {problems, rows, columns, objectives};
  borrow(batch, batch, arrays);
  const auto chosen = settings_from<LpSettings>(settings);
  const auto where = enumerator<Backend>("backend", backend);
  Workspace* const memory = workspace_of(workspace);
  std::optional<Buffer<BasisStatus>> basis;
  if (!start.is_none()) basis = borrowed<BasisStatus>(start);
  const std::int64_t stride = std::int64_t{rows} + columns;
  LpResult result =
      in_pieces<LpResult>(batch, batch, [&](const LpBatch& piece, std::int64_t first) {
        if (!basis) return solve_lp(piece, chosen, where, nullptr, memory);
        const auto part = Buffer<BasisStatus>::borrow(
            basis->data() + first * stride, static_cast<std::size_t>(piece.problems * stride),
            MemorySpace::host);
        return solve_lp(piece, chosen, where, &part, memory);
      });
  return arrays_of(std::move(result), batch);
}

nb::dict qp(const nb::dict& arrays, std::int64_t problems, int variables, int rows,
            const std::vector<std::pair<std::string, int>>& cones, const nb::dict& start,
            const nb::dict& settings, nb::handle backend, nb::handle workspace) {
  QpBatch batch;
  batch.problems = problems;
  batch.variables = variables;
  batch.rows = rows;
  for (const auto& [kind, size] : cones) {
    batch.cones.push_back({enumerator<ConeKind>("cones", nb::cast(kind)), size});
  }
  borrow(batch, batch, arrays);
  const auto chosen = settings_from<QpSettings>(settings);
  const auto where = enumerator<Backend>("backend", backend);
  Workspace* const memory = workspace_of(workspace);
  QpWarmStart warm;
  borrow(warm, batch, start);
  QpResult result =
      in_pieces<QpResult>(batch, batch, [&](const QpBatch& piece, std::int64_t first) {
        QpWarmStart part;
        QpWarmStart::each_array(
            piece,
            [&](const char*, const Extents& extents, auto& to, const auto& from) {
              if (from.empty()) return;
              to = Buffer<double>::borrow(
                  const_cast<double*>(from.data()) + first * extents.stride(),
                  static_cast<std::size_t>(extents.count()), MemorySpace::host);
            },
            part, warm);
        return solve_qp(piece, chosen, where, part, memory);
      });
  return arrays_of(std::move(result), batch);
}

/// All problems have the same blocks and number of variables.
nb::dict sdp(const std::vector<int>& blocks, nb::handle objective, nb::handle constant,
             nb::handle coefficients, std::int64_t problems, std::int64_t variables,
             const nb::dict& settings) {
  const auto chosen = settings_from<SdpSettings>(settings);
  std::size_t size = 0;
  for (const int n : blocks) size += static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  const auto count = static_cast<std::size_t>(problems);
  const auto y = static_cast<std::size_t>(variables);
  const auto b = borrowed<double>(objective), c = borrowed<double>(constant),
             a = borrowed<double>(coefficients);
  std::vector<SdpProblem> batch(count);
  for (std::size_t p = 0; p < count; ++p) {
    const auto part = [p](const Buffer<double>& from, std::size_t width) {
      return std::vector<double>(from.data() + p * width, from.data() + (p + 1) * width);
    };
    batch[p] = {blocks, part(b, y), part(c, size), part(a, y * size)};
  }
  std::vector<SdpResult> results;
  in_turns(problems, [&](std::int64_t begin, std::int64_t pieces) {
    const std::span<const SdpProblem> part(batch.data() + begin, static_cast<std::size_t>(pieces));
    const std::vector<SdpResult> solved = solve_sdps(part, chosen);
    results.insert(results.end(), solved.begin(), solved.end());
  });

  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::vector<Status> status(count);
  std::vector<double> solution(count * y, kNone), ray(count * y, kNone), x(count * size, kNone),
      value(count), dual(count), residual(count);
  std::vector<std::int32_t> iterations(count);
  for (std::size_t p = 0; p < count; ++p) {
    const SdpResult& result = results[p];
    status[p] = result.status;
    std::copy(result.y.begin(), result.y.end(), solution.begin() + static_cast<long>(p * y));
    std::copy(result.ray.begin(), result.ray.end(), ray.begin() + static_cast<long>(p * y));
    std::copy(result.x.begin(), result.x.end(), x.begin() + static_cast<long>(p * size));
    value[p] = result.objective;
    dual[p] = result.dual;
    residual[p] = result.residual;
    iterations[p] = result.iterations;
  }
  nb::dict arrays;
  arrays["y"] = array_of(std::move(solution), {count, y});
  arrays["ray"] = array_of(std::move(ray), {count, y});
  arrays["x"] = array_of(std::move(x), {count, size});
  arrays["objective"] = array_of(std::move(value));
  arrays["dual"] = array_of(std::move(dual));
  arrays["residual"] = array_of(std::move(residual));
  arrays["iterations"] = array_of(std::move(iterations));
  arrays["status"] = array_of(std::move(status));
  return arrays;
}

}  // namespace

void add_solvers(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def("solve_lcp", lcp, "arrays"_a, "problems"_a, "order"_a, "settings"_a, "backend"_a,
             "workspace"_a.none());
  module.def("solve_lp", lp, "arrays"_a, "problems"_a, "rows"_a, "columns"_a, "objectives"_a,
             "settings"_a, "backend"_a, "start"_a.none(), "workspace"_a.none());
  module.def("solve_qp", qp, "arrays"_a, "problems"_a, "variables"_a, "rows"_a, "cones"_a,
             "start"_a, "settings"_a, "backend"_a, "workspace"_a.none());
  module.def("solve_sdp", sdp);
  module.def("lcp_settings", described<LcpSettings>);
  module.def("lp_settings", described<LpSettings>);
  module.def("qp_settings", described<QpSettings>);
  module.def("sdp_settings", described<SdpSettings>);
}

}  // namespace carom::python
