#include <carom/derivative_margin.hpp>

#include <carom/error.hpp>

#include "core/arrays.hpp"
#include "core/require.hpp"
#include "equilibrium/centres.hpp"
#include "equilibrium/planar_margin_derivative.hpp"
#include "equilibrium/spatial_backends.hpp"

namespace carom {

MarginGradient differentiate_margins(const PostureBatch& batch,
                                     std::span<const double> centre_of_mass,
                                     const SpatialSettings& settings,
                                     const DerivativeSettings& derivative,
                                     const MarginWanted& wanted) {
  settings.validate();
  derivative.validate();
  check_spatial(batch, Backend::cpu);
  const SpatialSettings decided = settings.decided();
  if (decided.cones != ConeModel::exact) {
    throw InvalidInput(Refusal{.field = "cones",
                               .value = std::string(to_string(decided.cones)),
                               .rule = "must be exact: margins by polygons have no derivatives"});
  }
  check_centres(batch, centre_of_mass);
  return cpu::differentiate_margins(batch, centre_of_mass, decided, derivative, wanted);
}

MarginGradient differentiate_planar_margins(const PostureBatch& batch,
                                            std::span<const double> centre_of_mass,
                                            const PlanarSettings& settings,
                                            const DerivativeSettings& derivative,
                                            const MarginWanted& wanted) {
  derivative.validate();
  require::reachable(Backend::cpu, arrays::common_space("posture batch", batch));
  check_centres(batch, centre_of_mass);
  const PlanarResult strips = planar_equilibrium(batch, settings, Backend::cpu);
  return planar_margin_gradients(batch, strips, centre_of_mass, derivative, wanted);
}

}  // namespace carom
