#include <cmath>

#include <carom/equilibrium_three_contacts.hpp>
#include <carom/error.hpp>

#include "core/require.hpp"
#include "core/settings.hpp"
#include "equilibrium/three_contact_region.hpp"

namespace carom {

void ThreeContactSettings::validate() const { require::settings(*this); }

ThreeContactRegion three_contact_region(const Posture& posture,
                                        const ThreeContactSettings& settings) {
  settings.validate();
  return three_contacts::region(posture, settings);
}

}  // namespace carom
