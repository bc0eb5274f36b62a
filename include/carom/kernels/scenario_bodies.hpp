#pragma once

// All scenarios.

#include <carom/kernels/scenario_impacts.hpp>
#include <carom/kernels/scenario_oscillators.hpp>
#include <carom/kernels/scenario_rigid_bodies.hpp>
