#include <cmath>

#include <carom/equilibrium_three_contacts.hpp>
#include <carom/error.hpp>

#include "core/message.hpp"
#include "core/require.hpp"
#include "equilibrium/three_contact_region.hpp"

namespace carom {

void ThreeContactSettings::validate() const {
  require::between("directions", directions, 8, 4096);
  require::between("grid", grid, 4, 512);
  if (!(reach > 1.0) || !std::isfinite(reach)) {
    throw InvalidInput("reach is " + message::number(reach) + ": must be above 1 and finite");
  }
}

ThreeContactRegion three_contact_region(const Posture& posture,
                                        const ThreeContactSettings& settings) {
  settings.validate();
  return three_contacts::region(posture, settings);
}

}  // namespace carom
