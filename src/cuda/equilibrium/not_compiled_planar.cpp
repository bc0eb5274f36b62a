// Stands in for the CUDA backend where no CUDA compiler was present.
#include "equilibrium/planar_backends.hpp"

namespace carom::cuda {

PlanarResult planar_equilibrium(const PostureBatch&, const PlanarSettings&) {
  throw BackendUnavailable("backend cuda: carom was built without CUDA; use cpu or reference");
}
PlanarMargin planar_margins(const PostureBatch&, const Buffer<double>&, const PlanarSettings&) {
  throw BackendUnavailable("backend cuda: carom was built without CUDA; use cpu or reference");
}

}  // namespace carom::cuda
