#pragma once

#include <cstdint>
#include <vector>

#include <carom/types/derivative.hpp>

/// The plain structs of carom/derivative_worlds.hpp.
namespace carom {

/// The gradient of a loss in what is left of a run; what is left empty is zero.
struct WorldsCotangent {
  std::vector<double> position;      ///< dL/dq at the end, [worlds, nq]
  std::vector<double> velocity;      ///< dL/dv at the end, [worlds, nv]
  std::vector<double> displacement;  ///< [worlds]
};

/// A direction of a run's numbers; what is left empty is zero.
struct WorldsDirection {
  std::vector<double> parameters;  ///< in the scenario's order, [worlds, count]
  std::vector<double> step_size;   ///< [worlds]
  std::vector<double> position;  ///< of q at the start, besides the parameters' part, [worlds, nq]
  std::vector<double> velocity;  ///< of v at the start, likewise, [worlds, nv]
};

/// What a derivative of a run says of itself.
struct WorldsDerivative {
  std::vector<Smoothness> status;        ///< the worst of a world's steps, [worlds]
  std::vector<std::int64_t> first_step;  ///< that is not smooth; -1: none
  std::vector<double> residual;          ///< largest of a step's equations
  std::vector<double> margin;            ///< least of a step
  std::vector<double> condition;         ///< largest
  std::vector<double> shift;             ///< largest
  /// Least |phi| / (h |dphi/dt|) of a row that only pushes: its damper is switched where phi
  /// changes its sign, and the step jumps there. Infinite where none moves.
  std::vector<double> touch;
  std::vector<std::int32_t> doubtful;  ///< rows, of all steps
};

/// Gradients of a run; NaN where a step has none, and, with a kink, in a parameter at whose value
/// the scenario itself has one (a stiffness ratio of one).
struct WorldsGradient : WorldsDerivative {
  std::vector<double> parameters;  ///< in the scenario's order, [worlds, count]; zero where not
                                   ///< wanted
  std::vector<double> step_size;   ///< [worlds], the same
  std::vector<double> position;    ///< in q at the start, with the parameters held, [worlds, nq]
  std::vector<double> velocity;    ///< in v at the start, likewise, [worlds, nv]
};

/// Rates of a run's end along a direction, one-sided and exact at kinks; NaN where a step has none.
struct WorldsTangent : WorldsDerivative {
  std::vector<double> position;      ///< [worlds, nq]
  std::vector<double> velocity;      ///< [worlds, nv]
  std::vector<double> displacement;  ///< [worlds]
};

}  // namespace carom
