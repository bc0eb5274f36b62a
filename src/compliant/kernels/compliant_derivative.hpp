#pragma once

#include "compliant/kernels/step_derivative.hpp"
#include "compliant/kernels/step_derivative_doubt.hpp"
#include "compliant/kernels/step_derivative_equations.hpp"
#include "compliant/kernels/step_derivative_products.hpp"
#include "compliant/kernels/step_derivative_rows.hpp"

/// Derivatives of a compliant step under the law complementarity: docs/explanation/derivatives.md.
