// Stands in for the CUDA backend of spatial postures where no CUDA compiler was present.
#include <carom/error.hpp>

#include "equilibrium/spatial_backends.hpp"

namespace carom::cuda {

SupportResult support(const PostureBatch&, std::span<const double>, const SpatialSettings&) {
  throw BackendUnavailable("backend cuda: carom was built without CUDA; use cpu or reference");
}

}  // namespace carom::cuda
