#pragma once

#include <memory>

#include "compliant/backends.hpp"

namespace carom {

/// Steps worlds by the convex programme: the rows of every world are evaluated on the host, the
/// programmes of one step of all worlds are solved by `solve_qp` together.
std::unique_ptr<WorldStepper> make_programme_stepper(const CompliantSettings& settings,
                                                     SolveQp solve_qp);

}  // namespace carom
