#include <carom/boxed_lcp.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/arrays.hpp"
#include "core/backends.hpp"
#include "core/require.hpp"
#include "core/settings.hpp"
#include "core/workspace.hpp"
#include "programs/lcp/boxed_backends.hpp"
#include "programs/lcp/kernels/box_rule.hpp"

namespace carom {

namespace {

/// Copies on the host of what a batch on a device has for its friction rows.
struct FrictionRows {
  explicit FrictionRows(const BoxedLcpBatch& batch)
      : findex(batch.findex.to_vector()),
        friction(batch.friction.to_vector()),
        lower(batch.lower.to_vector()),
        upper(batch.upper.to_vector()) {}

  std::vector<std::int32_t> findex;
  std::vector<double> friction, lower, upper;
};

/// findex and friction of one problem of order n: friction rows, for each of which its order has
/// two more unknowns.
int check_friction(const FrictionRows& batch, int n, std::int64_t p) {
  const Refusal whose{.problem = p};
  const auto row = [&](const auto& array) { return array.data() + p * n; };
  const std::int32_t* findex = row(batch.findex);
  int order = n;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t j = findex[i];
    const auto refuse = [&](const char* field, const std::string& value, const char* rule) {
      require::refuse(whose, field, {i}, value, rule);
    };
    if (j < -1 || j >= n) refuse("findex", std::to_string(j), "must be -1 or a row of the problem");
    if (j < 0) continue;
    if (findex[j] >= 0) {
      refuse("findex", std::to_string(j), "must be a row without friction index itself");
    }
    if (!(row(batch.lower)[j] >= 0.0)) {
      require::refuse(whose, "lower", {j}, settings::shown(row(batch.lower)[j]),
                      "must be >= 0, since friction rows have their limits from this row");
    }
    const double mu = row(batch.friction)[i];
    if (!(mu >= 0.0) || !std::isfinite(mu)) {
      refuse("friction", settings::shown(mu), "must be >= 0 and finite");
    }
    if (row(batch.lower)[i] != -HUGE_VAL) {
      refuse("lower", settings::shown(row(batch.lower)[i]),
             "must be -infinity: a friction row has its limits from findex and friction");
    }
    if (row(batch.upper)[i] != HUGE_VAL) {
      refuse("upper", settings::shown(row(batch.upper)[i]),
             "must be infinity: a friction row has its limits from findex and friction");
    }
    order += 2;
  }
  require::between("order with two for each friction row", order, 1, kMaxBoxedLcpOrder, whose);
  return (order - n) / 2;
}

/// What a device's kernel left, by the host: rays, proofs, what wants twice the precision.
void finish_on_host(const BoxedLcpBatch& batch, const BoxedLcpSettings& settings, int frictions,
                    WorkspaceState* workspace, BoxedLcpResult& result) {
  const MemorySpace space = result.pivots.space();
  std::vector<std::int64_t> left;
  const std::vector<std::int32_t> pivots = result.pivots.to_vector();
  for (std::size_t p = 0; p < pivots.size(); ++p) {
    if (pivots[p] == kernels::kBoxLeft) left.push_back(static_cast<std::int64_t>(p));
  }
  if (left.empty()) return;
  const auto count = static_cast<std::int64_t>(left.size());
  auto part =
      allocate<BoxedLcpBatch>({count, batch.order}, MemorySpace::host, !batch.findex.empty());
  // Problem k of the part is problem left[k] of the batch.
  const auto each_left = [&](const BoxedLcpSizes& sizes, auto& whole, auto& own, auto&& copy) {
    std::remove_cvref_t<decltype(own)>::each_array(
        sizes,
        [&](const char*, const Extents& extents, auto& all, auto& few) {
          if (few.empty()) return;
          const std::int64_t stride = extents.stride();
          for (std::size_t k = 0; k < left.size(); ++k) {
            copy(all.data() + left[k] * stride, few.data() + static_cast<std::int64_t>(k) * stride,
                 stride);
          }
        },
        whole, own);
  };
  const bool away = space == MemorySpace::device;
  const BoxedLcpBatch copied = away ? batch.to(MemorySpace::host) : BoxedLcpBatch{};
  each_left(batch, away ? copied : batch, part,
            [](const auto* all, auto* few, std::int64_t stride) { std::copy_n(all, stride, few); });
  const BoxedLcpResult found =
      cpu::entries<BoxedLcpEntries>().solve(part, settings, frictions, workspace);
  if (away) result = copy_to(result, MemorySpace::host);
  each_left(batch, result, found,
            [](auto* all, const auto* few, std::int64_t stride) { std::copy_n(few, stride, all); });
  if (away) result = copy_to(result, MemorySpace::device);
}

}  // namespace

void BoxedLcpSettings::validate() const { require::settings(*this); }

BoxedLcpResult solve_boxed_lcp(const BoxedLcpBatch& batch, const BoxedLcpSettings& settings,
                               Backend backend, Workspace* workspace) {
  settings.validate();
  require::between("order", batch.order, 1, kMaxBoxedLcpOrder);
  require::at_least("problems", batch.problems, 0);
  arrays::require_sizes(batch, batch);
  if (batch.findex.empty() != batch.friction.empty()) {
    require::refuse({}, batch.findex.empty() ? "findex" : "friction", {}, "left out",
                    "findex and friction go together");
  }
  const Backend chosen = resolve(backend);
  require::reachable(chosen, arrays::common_space("boxed lcp batch", batch));
  int frictions = 0;
  if (!batch.findex.empty()) {
    const FrictionRows rows(batch);
    for (std::int64_t p = 0; p < batch.problems; ++p) {
      frictions = std::max(frictions, check_friction(rows, batch.order, p));
    }
  }
  const WorkspaceLease lease(workspace);
  auto result = entries<BoxedLcpEntries>(chosen).solve(batch, settings, frictions, lease.state());
  if (chosen == Backend::cuda) finish_on_host(batch, settings, frictions, lease.state(), result);
  return result;
}

}  // namespace carom
