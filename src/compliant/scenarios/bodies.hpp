#pragma once

#include "compliant/scenarios/impacts.hpp"
#include "compliant/scenarios/oscillators.hpp"
#include "compliant/scenarios/rigid_bodies.hpp"

// All scenarios.
