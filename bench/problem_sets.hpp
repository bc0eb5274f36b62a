#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <carom/impact.hpp>
#include <carom/lcp.hpp>
#include <carom/models/models.hpp>
#include <carom/posture.hpp>

#include "support/step_problem.hpp"

/// What is measured: fixed sets of problems, the same in every run.
namespace carom::bench {

/// Dense LCPs of one order, in carom's layout.
struct DenseSet {
  int order = 0;
  long count = 0;
  std::vector<double> matrix;  ///< row-major, [count, order, order]
  std::vector<double> vector;  ///< [count, order]
  bool step = false;           ///< programmes (75): judged as the library judges a step

  [[nodiscard]] const double* matrix_of(long p) const { return matrix.data() + p * order * order; }
  [[nodiscard]] const double* vector_of(long p) const { return vector.data() + p * order; }
};

/// Steps (75) of one shape: in contact coordinates for carom, assembled for everybody else.
struct StepSet {
  std::string name;
  int directions = 4;
  std::vector<test::StepProblem> steps;
  StepBatch batch;
  DenseSet lcp;
};

/// Enough problems to be typical, few enough that their matrices stay in a level-2 cache or little
/// beyond it.
long set_size(int order);

/// Steps met along trajectories of a model, each with bounds drawn anew from [0, h]^m.
StepSet model_steps(const models::Model& model);

/// Steps of random mechanisms with m contacts, all different.
StepSet random_steps(test::Flavour flavour, int dimension, int contacts, int directions);

/// Random LCPs with a positive definite, unsymmetric matrix: each has exactly one solution.
DenseSet random_lcps(int order);

/// Random mechanisms whose contacts all approach, all different: M = I + B B', normal entries
/// throughout.
ImpactBatch random_impacts(std::int64_t problems, int dimension, int contacts);

/// Bodies on four contacts around them, normals roughly upwards, friction 0.2 to 0.8.
std::vector<Posture> four_contact_postures(int count);

/// Copies of a set for carom's general solver.
LcpBatch lcp_batch(const DenseSet& set);

}  // namespace carom::bench
