#include "impact/exact/judge_path.hpp"

#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <carom/impact.hpp>
#include <carom/models/models.hpp>

#include "support/random_problems.hpp"
#include "support/restitution.hpp"

// Kept paths with restitution, judged exactly: those of the samplers pass, changed ones do not.
namespace carom {
namespace {

/// Paths of a model's samples that ended.
std::vector<exact::KeptPath> sampled(const ImpactProblem& problem, ImpactMethod method, bool vary) {
  ImpactSettings settings;
  settings.method = method;
  settings.vary = vary;
  settings.samples = settings.keep_paths = settings.keep_samples = 48;
  settings.max_steps = 4096;
  const ImpactResult run = sample_impacts(make_batch({&problem, 1}), settings, Backend::cpu);
  const ImpactPaths& all = run.paths[0];
  std::vector<exact::KeptPath> paths;
  for (std::size_t s = 0; s + 1 < all.offset.size(); ++s) {
    if (run.samples.status.data()[s] != TrajectoryStatus::terminated) continue;
    const auto rows = [&](const std::vector<double>& of) {
      const auto width = static_cast<std::ptrdiff_t>(of.size()) / all.offset.back();
      return std::vector<double>(of.begin() + all.offset[s] * width,
                                 of.begin() + all.offset[s + 1] * width);
    };
    paths.push_back({&problem, method, vary, settings.friction_directions,
                     settings.velocity_tolerance, settings.residual_tolerance, rows(all.velocity),
                     rows(all.impulse), rows(all.restitution), rows(all.friction)});
  }
  EXPECT_GE(paths.size(), 46U);
  return paths;
}

struct Change {
  const char* what;
  std::function<bool(exact::KeptPath&)> make;  ///< false where there is nothing to change
};

std::size_t rows_of(const exact::KeptPath& path) {
  return path.velocity.size() / static_cast<std::size_t>(path.problem->velocities);
}
std::size_t width(const exact::KeptPath& path) { return path.impulse.size() / rows_of(path); }

/// Adds `by` to the impulse of a piece, and what it does to all velocities from there on.
void push(exact::KeptPath& path, std::size_t piece, std::size_t row, double by) {
  const ImpactProblem& p = *path.problem;
  const auto nv = static_cast<std::size_t>(p.velocities), m = static_cast<std::size_t>(p.contacts);
  test::Matrix mass(p.velocities, p.velocities);
  test::Vector column(p.velocities);
  for (std::size_t i = 0; i < nv; ++i) {
    for (std::size_t j = 0; j < nv; ++j) {
      mass(static_cast<int>(i), static_cast<int>(j)) = p.mass_matrix[i * nv + j];
    }
    column[static_cast<int>(i)] =
        row < m ? p.normal_jacobian[row * nv + i] : p.tangent_jacobian[(row - m) * nv + i];
  }
  const test::Vector change = by * mass.ldlt().solve(column);
  path.impulse[piece * width(path) + row] += by;
  for (std::size_t k = piece; k < rows_of(path); ++k) {
    for (std::size_t j = 0; j < nv; ++j) path.velocity[k * nv + j] += change[static_cast<int>(j)];
  }
}

TEST(JudgedPath, PassesTheSamplersAndRefusesEveryKindOfChange) {
  struct Case {
    const char* model;
    ImpactMethod method;
    bool vary;
  };
  const Case cases[] = {{"rocking_block", ImpactMethod::events, false},
                        {"box_wall", ImpactMethod::events, true},
                        {"ball_in_corner", ImpactMethod::events, false},
                        {"rocking_block", ImpactMethod::lcp, true},
                        {"box_wall", ImpactMethod::lcp, false},
                        {"ball_in_corner", ImpactMethod::lcp, false}};
  const std::vector<Change> changes = {
      {"another start", [](exact::KeptPath& p) { return p.velocity[0] += 1e-12, true; }},
      {"a velocity of its own",
       [](exact::KeptPath& p) {
         const std::size_t at = p.velocity.size() / 2;
         return p.velocity[at] += 1e-8 * (1.0 + std::abs(p.velocity[at])), true;
       }},
      {"an impulse of its own",
       [](exact::KeptPath& p) {
         p.impulse.back() += 1e-8;
         return rows_of(p) > 1;
       }},
      {"a piece is missing",
       [](exact::KeptPath& p) {
         const std::size_t rows = rows_of(p), w = width(p);
         std::size_t largest = 0;  // some rows of events are draws without a piece
         for (std::size_t k = 0; k < rows; ++k) {
           if (p.impulse[k * w] > p.impulse[largest * w]) largest = k;
         }
         if (rows < 3 || largest == 0) return false;
         for (auto* of : {&p.velocity, &p.impulse, &p.restitution, &p.friction}) {
           const std::size_t each = of->size() / rows;
           const auto at = of->begin() + static_cast<std::ptrdiff_t>(each * largest);
           of->erase(at, at + static_cast<std::ptrdiff_t>(each));
         }
         return true;
       }},
      {"the end is missing",
       [](exact::KeptPath& p) {
         if (rows_of(p) < 4) return false;
         const std::size_t rows = rows_of(p);
         for (auto* of : {&p.velocity, &p.impulse, &p.restitution, &p.friction}) {
           of->resize(of->size() / rows * 2);
         }
         return true;
       }},
      {"restitution beyond its interval",
       [](exact::KeptPath& p) { return p.restitution.back() = 0.95, true; }},
      {"friction beyond its interval",
       [](exact::KeptPath& p) { return p.friction.back() += 0.5, true; }},
      {"more is given back than was stored",
       [](exact::KeptPath& p) {
         if (p.method == ImpactMethod::lcp) return false;  // a step may trim
         return push(p, rows_of(p) - 1, 0, 1e-3), true;
       }},
      {"less is given back than was stored",
       [](exact::KeptPath& p) {
         // the last push of the contact that ends the path, made shorter
         const std::size_t piece = rows_of(p) - 1, w = width(p);
         for (std::size_t i = 0; i < static_cast<std::size_t>(p.problem->contacts); ++i) {
           if (!(p.impulse[piece * w + i] > 1e-6)) continue;
           for (std::size_t row = 0; row < w; ++row) {
             push(p, piece, row, -1e-3 * p.impulse[piece * w + row]);
           }
           return true;
         }
         return false;
       }},
      {"friction along its slip",
       [](exact::KeptPath& p) {
         const std::size_t w = width(p), m = static_cast<std::size_t>(p.problem->contacts);
         for (std::size_t k = 1; k < rows_of(p); ++k) {
           for (std::size_t t = m; t < w; ++t) {
             const double was = p.impulse[k * w + t];
             if (std::abs(was) < 1e-3) continue;
             push(p, k, t, -2.0 * was);
             return true;
           }
         }
         return false;
       }},
      {"a pull", [](exact::KeptPath& p) { return push(p, rows_of(p) - 1, 0, -10.0), true; }},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(std::string(each.model) + (each.method == ImpactMethod::lcp ? " lcp" : ""));
    ImpactProblem problem = models::build(each.model);
    test::set_restitution(problem, 0.2, 0.9);
    problem.friction_high = problem.friction;
    for (double& mu : problem.friction_high) mu += 0.2;
    std::vector<int> made(changes.size(), 0), refused(changes.size(), 0);
    for (const exact::KeptPath& path : sampled(problem, each.method, each.vary)) {
      EXPECT_EQ(exact::refutation(path), "");
      for (std::size_t c = 0; c < changes.size(); ++c) {
        exact::KeptPath changed = path;
        if (!changes[c].make(changed)) continue;
        ++made[c];
        refused[c] += exact::refutation(changed).empty() ? 0 : 1;
      }
    }
    for (std::size_t c = 0; c < changes.size(); ++c) {
      EXPECT_EQ(refused[c], made[c]) << changes[c].what;
      if (each.model == std::string("box_wall") && !(each.method == ImpactMethod::lcp && c == 7)) {
        EXPECT_GT(made[c], 0) << changes[c].what;
      }
    }
  }
}

}  // namespace
}  // namespace carom
