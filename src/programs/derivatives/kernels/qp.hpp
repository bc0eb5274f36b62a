#pragma once

#include "programs/derivatives/kernels/qp_approach.hpp"
#include "programs/derivatives/kernels/qp_derivative.hpp"
#include "programs/derivatives/kernels/qp_equations.hpp"
#include "programs/derivatives/kernels/qp_modes.hpp"
#include "programs/derivatives/kernels/qp_products.hpp"

/// Derivatives of the answer of a QP with rows and cones: docs/explanation/derivatives.md.
