#include <carom/derivative_lcp.hpp>

#include "api/derivative_checks.hpp"
#include "core/arrays.hpp"
#include "core/require.hpp"
#include "core/settings.hpp"
#include "programs/derivatives/backends.hpp"

namespace carom {

void DerivativeSettings::validate() const { require::settings(*this); }

namespace {

template <class Given>
void require_lcp(const LcpBatch& batch, const LcpResult& answer, const Given& given,
                 const char* prefix, const DerivativeSettings& settings, Backend backend) {
  settings.validate();
  require::between("order", batch.order, 1, kMaxLcpOrder);
  require::at_least("problems", batch.problems, 0);
  arrays::require_sizes(batch, batch);
  const auto count = static_cast<std::size_t>(batch.problems);
  require::size("answer.solution", answer.solution.size(),
                count * static_cast<std::size_t>(batch.order));
  require::size("answer.status", answer.status.size(), count);
  arrays::require_sizes(given, batch, prefix);
  derivative_checks::require_cpu(backend);
  require::reachable(Backend::cpu, arrays::common_space("lcp batch", batch, given));
  derivative_checks::require_finite(given, batch, prefix);
}

}  // namespace

LcpGradient differentiate_lcp(const LcpBatch& batch, const LcpResult& answer,
                              const LcpCotangent& cotangent, const DerivativeSettings& settings,
                              const LcpWanted& wanted, Backend backend) {
  require_lcp(batch, answer, cotangent, "cotangent.", settings, backend);
  return cpu::differentiate_lcp(batch, answer, cotangent, settings, wanted);
}

LcpTangent propagate_lcp(const LcpBatch& batch, const LcpResult& answer,
                         const LcpDirection& direction, const DerivativeSettings& settings,
                         Backend backend) {
  require_lcp(batch, answer, direction, "direction.", settings, backend);
  return cpu::propagate_lcp(batch, answer, direction, settings);
}

}  // namespace carom
