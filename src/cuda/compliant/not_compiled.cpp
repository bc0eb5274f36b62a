// Stands in for the compliant steps of the CUDA backend where no CUDA compiler was present.
#include "compliant/backends.hpp"

namespace carom::cuda {

namespace {
[[noreturn]] void refuse() {
  throw BackendUnavailable("backend cuda: carom was built without CUDA; use cpu or reference");
}
}  // namespace

CompliantResult solve_compliant(const CompliantBatch&, const CompliantSettings&) { refuse(); }
std::unique_ptr<WorldStepper> make_stepper(const CompliantSettings&) { refuse(); }

}  // namespace carom::cuda
