#pragma once

#include "models/body/scenario_impacts.hpp"
#include "models/body/scenario_oscillators.hpp"
#include "models/body/scenario_rigid_bodies.hpp"

// All scenarios.
