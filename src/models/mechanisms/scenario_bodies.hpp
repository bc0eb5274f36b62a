#pragma once

#include "models/mechanisms/scenario_impacts.hpp"
#include "models/mechanisms/scenario_oscillators.hpp"
#include "models/mechanisms/scenario_rigid_bodies.hpp"

// All scenarios.
