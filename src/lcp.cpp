#include <carom/lcp.hpp>

#include <cmath>
#include <string>

#include "backends.hpp"
#include "message.hpp"

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
  if (!(tolerance > 0.0) || !std::isfinite(tolerance)) {
    throw InvalidInput("tolerance is " + message::number(tolerance) +
                       ": must be positive and finite");
  }
  if (max_pivots < 0) {
    throw InvalidInput("max_pivots is " + std::to_string(max_pivots) + ": must be >= 0");
  }
  if (threads < 0) throw InvalidInput("threads is " + std::to_string(threads) + ": must be >= 0");
}

LcpResult solve_lcp(const LcpBatch& batch, const LcpSettings& settings, Backend backend) {
  settings.validate();
  if (batch.order < 1 || batch.order > kMaxLcpOrder) {
    throw InvalidInput("order is " + std::to_string(batch.order) + ": must be in 1.." +
                       std::to_string(kMaxLcpOrder));
  }
  if (batch.problems < 0) {
    throw InvalidInput("problems is " + std::to_string(batch.problems) + ": must be >= 0");
  }
  const auto problems = static_cast<std::size_t>(batch.problems);
  const auto n = static_cast<std::size_t>(batch.order);
  const auto require = [](const char* field, std::size_t size, std::size_t expected) {
    if (size != expected) {
      throw InvalidInput(std::string(field) + " has " + std::to_string(size) +
                         " values: must have " + std::to_string(expected));
    }
  };
  require("matrix", batch.matrix.size(), problems * n * n);
  require("vector", batch.vector.size(), problems * n);
  const Backend chosen = resolve(backend);
  if (batch.matrix.space() != batch.vector.space()) {
    throw InvalidInput("lcp batch: matrix and vector must live in one memory space");
  }
  if (chosen != Backend::cuda && batch.matrix.space() == MemorySpace::device) {
    throw InvalidInput("backend " + std::string(to_string(chosen)) +
                       ": works in host memory; the batch is on the device");
  }
  switch (chosen) {
    case Backend::cuda:
      return cuda::solve_lcp(batch, settings);
    case Backend::reference:
      return reference::solve_lcp(batch, settings);
    default:
      return cpu::solve_lcp(batch, settings);
  }
}

}  // namespace carom
