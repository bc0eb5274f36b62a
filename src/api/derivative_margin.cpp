#include <carom/derivative_margin.hpp>

#include <carom/error.hpp>

#include "core/require.hpp"
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
  require::size("centre_of_mass", centre_of_mass.size(),
                3 * static_cast<std::size_t>(batch.problems));
  require::finite("centre_of_mass", centre_of_mass.data(), centre_of_mass.size(), 3);
  return cpu::differentiate_margins(batch, centre_of_mass, decided, derivative, wanted);
}

}  // namespace carom
