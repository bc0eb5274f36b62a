#include <carom/derivative_qp.hpp>

#include "api/derivative_checks.hpp"
#include "core/arrays.hpp"
#include "core/require.hpp"
#include "programs/derivatives/backends.hpp"

namespace carom {

namespace {

template <class Given>
void require_qp(const QpBatch& batch, const QpResult& answer, const Given& given,
                const char* prefix, const DerivativeSettings& settings, Backend backend) {
  settings.validate();
  require::between("variables", batch.variables, 1, kMaxQpVariables);
  require::between("rows", batch.rows, 0, kMaxQpRows);
  require::between("variables with rows and cone rows",
                   std::int64_t{batch.variables} + batch.rows + batch.cone_rows(), 1,
                   kMaxQpDerivative);
  require::at_least("problems", batch.problems, 0);
  arrays::require_sizes(batch, batch);
  const auto count = static_cast<std::size_t>(batch.problems);
  const auto rows_of = [count](int width) { return count * static_cast<std::size_t>(width); };
  require::size("answer.solution", answer.solution.size(), rows_of(batch.variables));
  require::size("answer.dual", answer.dual.size(), rows_of(batch.rows));
  require::size("answer.cone_dual", answer.cone_dual.size(), rows_of(batch.cone_rows()));
  require::size("answer.status", answer.status.size(), count);
  arrays::require_sizes(given, batch, prefix);
  derivative_checks::require_cpu(backend);
  require::reachable(Backend::cpu, arrays::common_space("qp batch", batch, given));
  derivative_checks::require_finite(given, batch, prefix);
}

}  // namespace

QpGradient differentiate_qp(const QpBatch& batch, const QpResult& answer,
                            const QpCotangent& cotangent, const DerivativeSettings& settings,
                            const QpWanted& wanted, Backend backend) {
  require_qp(batch, answer, cotangent, "cotangent.", settings, backend);
  return cpu::differentiate_qp(batch, answer, cotangent, settings, wanted);
}

QpTangent propagate_qp(const QpBatch& batch, const QpResult& answer, const QpDirection& direction,
                       const DerivativeSettings& settings, Backend backend) {
  require_qp(batch, answer, direction, "direction.", settings, backend);
  return cpu::propagate_qp(batch, answer, direction, settings);
}

}  // namespace carom
