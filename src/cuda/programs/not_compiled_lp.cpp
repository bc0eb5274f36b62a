// Stands in for the CUDA backend of linear programs where no CUDA compiler was present.
#include "programs/lp/backends.hpp"

namespace carom::cuda {

LpResult solve_lp(const LpBatch&, const LpSettings&, const Buffer<BasisStatus>*) {
  throw BackendUnavailable("backend cuda: carom was built without CUDA; use cpu or reference");
}

}  // namespace carom::cuda
