#include <carom/boxed_lcp.hpp>

#include <cmath>
#include <cstdint>
#include <string>

#include "core/arrays.hpp"
#include "core/require.hpp"
#include "core/settings.hpp"
#include "programs/lcp/boxed_backends.hpp"

namespace carom {

namespace {

/// findex and friction of one problem; its order with two more unknowns for each friction row.
void check_friction(const BoxedLcpBatch& batch, std::int64_t p) {
  const int n = batch.order;
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
}

}  // namespace

void BoxedLcpSettings::validate() const { require::settings(*this); }

BoxedLcpResult solve_boxed_lcp(const BoxedLcpBatch& batch, const BoxedLcpSettings& settings,
                               Backend backend) {
  settings.validate();
  require::between("order", batch.order, 1, kMaxBoxedLcpOrder);
  require::at_least("problems", batch.problems, 0);
  arrays::require_sizes(batch, batch);
  if (batch.findex.empty() != batch.friction.empty()) {
    require::refuse({}, batch.findex.empty() ? "findex" : "friction", {}, "left out",
                    "findex and friction go together");
  }
  if (backend == Backend::cuda) {
    throw BackendUnavailable("backend cuda: has no boxed LCPs, must be cpu or reference");
  }
  require::reachable(Backend::cpu, arrays::common_space("boxed lcp batch", batch));
  if (!batch.findex.empty()) {
    for (std::int64_t p = 0; p < batch.problems; ++p) check_friction(batch, p);
  }
  const BoxedLcpEntries& chosen = backend == Backend::reference
                                      ? reference::entries<BoxedLcpEntries>()
                                      : cpu::entries<BoxedLcpEntries>();
  return chosen.solve(batch, settings);
}

}  // namespace carom
