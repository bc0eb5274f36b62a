#pragma once

#include <array>
#include <random>
#include <string>
#include <vector>

#include <carom/compliant.hpp>
#include <carom/equilibrium_planar.hpp>
#include <carom/equilibrium_spatial.hpp>
#include <carom/lcp.hpp>
#include <carom/lp.hpp>
#include <carom/models/motions.hpp>
#include <carom/models/scenarios.hpp>
#include <carom/motion.hpp>
#include <carom/qp.hpp>
#include <carom/stability.hpp>
#include <carom/workspace.hpp>

#include "motion/prepare.hpp"
#include "support/compliant_problems.hpp"
#include "support/lp_problems.hpp"
#include "support/model_runs.hpp"
#include "support/random_problems.hpp"
#include "support/random_qps.hpp"
#include "support/spatial_postures.hpp"
#include "support/stances.hpp"
#include "support/step_problem.hpp"

/// A call of every family with arrays of one size, `size` 0 small and 1 larger.
namespace carom::test {

inline LcpBatch calls_lcps(int size) {
  const int n = 5 + 9 * size;
  auto batch = allocate<LcpBatch>({7, n});
  Generator random(3);
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    const Matrix b = random.normal_matrix(n, n);
    const Matrix m = b * b.transpose() + 0.1 * Matrix::Identity(n, n);
    for (int i = 0; i < n; ++i) {
      batch.vector.data()[p * n + i] = random.normal();
      for (int j = 0; j < n; ++j) batch.matrix.data()[(p * n + i) * n + j] = m(i, j);
    }
  }
  return batch;
}

inline StepBatch calls_steps(int size) {
  Generator random(4);
  std::vector<StepProblem> steps;
  const int m = 2 + 2 * size;
  for (int p = 0; p < 5; ++p) {
    steps.push_back(step_problem(random_problem(random, Flavour::generic, 2 + size, m),
                                 random_limits(random, Flavour::generic, m), 4));
  }
  return step_batch(steps);
}

inline QpBatch calls_qps(int size) {
  QpFlavour flavour;
  flavour.rows = 8 + 12 * size;
  flavour.equations = size;
  return random_qps(flavour, 9, 5);
}

inline CompliantBatch calls_compliant(int size) {
  std::vector<CompliantProblem> problems;
  for (std::uint32_t p = 0; p < 9; ++p) {
    problems.push_back(random_compliant({.velocities = 6, .contacts = 2 + size}, p));
  }
  return make_batch(problems);
}

inline PostureBatch calls_planar(int size) {
  std::vector<Posture> postures;
  for (int p = 0; p < 9; ++p) {
    Posture posture;
    posture.dimension = 2;
    posture.contacts = 2 + size;
    for (int i = 0; i < posture.contacts; ++i) {
      posture.position.insert(posture.position.end(), {0.5 * i + 0.01 * p, 0.02 * i * p});
      posture.normal.insert(posture.normal.end(), {0.0, 1.0});
      posture.friction.push_back(0.4 + 0.05 * p);
    }
    postures.push_back(posture);
  }
  return make_batch(postures);
}

inline PostureBatch calls_spatial(int size) {
  return make_batch(random_spatials(9, 9, {.contacts = 4 + 2 * size}));
}

inline StanceBatch calls_stances(int size) {
  std::vector<Stance> stances;
  for (int p = 0; p < 5 + 4 * size; ++p) {
    stances.push_back(of_figure2(0.1 + 0.1 * p, 0.5));
  }
  return stance_batch(stances);
}

inline MotionBatch calls_motions(int size) {
  std::vector<MotionProblem> problems;
  for (int p = 0; p < 2 + 3 * size; ++p) {
    problems.push_back(models::build_motion("rocking_block_drop", {{"width", 0.8 + 0.1 * p}}));
  }
  return make_batch(problems);
}

/// Without tables of modes, which each call prepares anew.
inline MotionSettings calls_motion_settings() {
  MotionSettings settings;
  settings.duration = 0.1;
  settings.samples = 3;
  settings.mode_table = false;
  settings.threads = 1;
  return settings;
}

/// visit(name, call, results): call(workspace) makes the call and returns its result, results()
/// allocates what the call has to allocate for it. One thread.
template <class Visit>
void each_family_call(int size, Backend backend, Visit&& visit) {
  const LcpBatch lcps = calls_lcps(size);
  visit(
      "lcp",
      [&](Workspace* workspace) { return solve_lcp(lcps, {.threads = 1}, backend, workspace); },
      [&] { return allocate<LcpResult>(lcps); });
  Generator random(8);
  const LpBatch lps =
      batch_of(random_lps(random, LpFlavour::feasible, 4 + 4 * size, 7 + 5 * size, 6));
  visit(
      "lp",
      [&](Workspace* workspace) {
        return solve_lp(lps, {.threads = 1}, backend, nullptr, workspace);
      },
      [&] { return allocate<LpResult>(lps, MemorySpace::host, LpSettings().certificates); });
  const StepBatch steps = calls_steps(size);
  visit(
      "steps",
      [&](Workspace* workspace) {
        return solve_steps(steps, {.friction_directions = 4, .threads = 1}, backend, workspace);
      },
      [&] { return allocate<StepResult>(steps); });
  const CompliantBatch compliant = calls_compliant(size);
  visit(
      "compliant",
      [&](Workspace* workspace) {
        return solve_compliant(compliant, {.threads = 1}, backend, workspace);
      },
      [&] { return allocate<CompliantResult>(compliant); });
  const PostureBatch planar = calls_planar(size);
  visit(
      "planar",
      [&](Workspace* workspace) {
        return planar_equilibrium(planar, {.threads = 1}, backend, workspace);
      },
      [&] { return allocate<PlanarResult>(planar); });
  const std::vector<double> at(2 * static_cast<std::size_t>(planar.problems), 0.3);
  const Buffer<double> centre = Buffer<double>::from(at);
  visit(
      "margins",
      [&](Workspace* workspace) {
        return planar_margins(planar, centre, {.threads = 1}, backend, workspace);
      },
      [&] { return allocate<PlanarMargin>(planar); });
  const PostureBatch spatial = calls_spatial(size);
  const std::vector<double> directions = equal_directions(3 + size);
  visit(
      "support",
      [&](Workspace* workspace) {
        return support(spatial, directions, {.threads = 1}, backend, workspace);
      },
      [&] {
        // The directions are copied, too: brought to unit length.
        const std::vector<double> unit(directions.begin(), directions.end());
        return allocate<SupportResult>({spatial.problems, 3 + size, spatial.contacts});
      });
  const StanceBatch stances = calls_stances(size);
  visit(
      "stances",
      [&](Workspace* workspace) {
        return analyse_stability(stances, {.method = StabilityMethod::simulate, .threads = 1},
                                 backend, workspace);
      },
      [&] { return allocate<StabilityResult>(stances); });
  const MotionBatch motions = calls_motions(size);
  const MotionSettings settings = calls_motion_settings();
  visit(
      "motions",
      [&](Workspace* workspace) { return simulate_motions(motions, settings, backend, workspace); },
      [&] { return motion::empty_result(motions, settings); });
}

}  // namespace carom::test
