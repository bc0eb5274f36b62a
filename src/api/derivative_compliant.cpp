#include <carom/derivative_compliant.hpp>

#include <string>
#include <vector>

#include "api/derivative_checks.hpp"
#include "compliant/derivative_backends.hpp"
#include "core/arrays.hpp"
#include "core/require.hpp"

namespace carom {

namespace {

template <class Given>
void require_step(const CompliantBatch& batch, const CompliantResult& answer, const Given& given,
                  const char* prefix, const CompliantSettings& solver,
                  const DerivativeSettings& settings, Backend backend) {
  solver.validate();
  settings.validate();
  if (solver.law != StepLaw::complementarity) {
    throw InvalidInput(Refusal{.field = "law",
                               .value = std::string(to_string(solver.law)),
                               .rule = "derivatives are those of the law complementarity"});
  }
  require::between("velocities", batch.velocities, 1, kMaxStepVelocities);
  require::between("rows", batch.rows, 0, kMaxStepRows);
  require::at_least("problems", batch.problems, 0);
  arrays::require_sizes(batch, batch);
  const auto count = static_cast<std::size_t>(batch.problems);
  require::size("answer.force", answer.force.size(), count * static_cast<std::size_t>(batch.rows));
  require::size("answer.status", answer.status.size(), count);
  arrays::require_sizes(given, batch, prefix);
  derivative_checks::require_cpu(backend);
  require::reachable(Backend::cpu, arrays::common_space("compliant batch", batch, given));
  derivative_checks::require_finite(given, batch, prefix);
}

}  // namespace

CompliantGradient differentiate_compliant(const CompliantBatch& batch,
                                          const CompliantResult& answer,
                                          const CompliantCotangent& cotangent,
                                          const CompliantSettings& solver,
                                          const DerivativeSettings& settings,
                                          const std::vector<std::string>& wanted, Backend backend) {
  require_step(batch, answer, cotangent, "cotangent.", solver, settings, backend);
  for (const std::string& name : wanted) {
    bool known = false;
    CompliantDirection::each_array(
        batch,
        [&](const char* input, const Extents&, const auto&) { known = known || name == input; },
        CompliantDirection{});
    if (!known) {
      throw InvalidInput(
          Refusal{.field = "wanted", .value = name, .rule = "is no input of a step"});
    }
  }
  return cpu::differentiate_compliant(batch, answer, cotangent, solver, settings, wanted);
}

CompliantTangent propagate_compliant(const CompliantBatch& batch, const CompliantResult& answer,
                                     const CompliantDirection& direction,
                                     const CompliantSettings& solver,
                                     const DerivativeSettings& settings, Backend backend) {
  require_step(batch, answer, direction, "direction.", solver, settings, backend);
  return cpu::propagate_compliant(batch, answer, direction, solver, settings);
}

}  // namespace carom
