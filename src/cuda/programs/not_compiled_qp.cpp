// Stands in for the CUDA backend of the quadratic programs where no CUDA compiler was present.
#include "programs/qp/backends.hpp"

namespace carom::cuda {

QpResult solve_qp(const QpBatch&, const QpSettings&, const QpWarmStart&) {
  throw BackendUnavailable("backend cuda: carom was built without CUDA; use cpu or reference");
}

}  // namespace carom::cuda
