#include <carom/lcp.hpp>

#include <cmath>
#include <string>

#include "core/backends.hpp"
#include "core/require.hpp"
#include "programs/lcp/backends.hpp"

namespace carom {

LcpBatch LcpBatch::to(MemorySpace space) const {
  LcpBatch copy;
  copy.problems = problems;
  copy.order = order;
  copy.matrix = matrix.to(space);
  copy.vector = vector.to(space);
  return copy;
}

void LcpSettings::validate() const {
  require::tolerance("tolerance", tolerance);
  require::at_least("max_pivots", max_pivots, 0);
  require::at_least("threads", threads, 0);
}

LcpResult solve_lcp(const LcpBatch& batch, const LcpSettings& settings, Backend backend) {
  settings.validate();
  require::between("order", batch.order, 1, kMaxLcpOrder);
  require::at_least("problems", batch.problems, 0);
  const auto problems = static_cast<std::size_t>(batch.problems);
  const auto n = static_cast<std::size_t>(batch.order);
  require::size("matrix", batch.matrix.size(), problems * n * n);
  require::size("vector", batch.vector.size(), problems * n);
  const Backend chosen = resolve(backend);
  if (batch.matrix.space() != batch.vector.space()) {
    throw InvalidInput("lcp batch: matrix and vector must live in one memory space");
  }
  require::reachable(chosen, batch.matrix.space());
  return entries(chosen).solve_lcp(batch, settings);
}

}  // namespace carom
