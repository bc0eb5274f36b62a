#pragma once

#include <carom/equilibrium_three_contacts.hpp>

namespace carom::three_contacts {

/// Settings were validated. Errors: as of Parametrisation.
ThreeContactRegion region(const Posture& posture, const ThreeContactSettings& settings);

}  // namespace carom::three_contacts
