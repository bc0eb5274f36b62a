#pragma once

#include <cstdint>
#include <type_traits>

#include <carom/certificate.hpp>
#include <carom/certificate_release.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>
#include <carom/types/impact.hpp>

#include "core/random.hpp"
#include "impact/kernels/contact_path.hpp"
#include "impact/kernels/derived_step.hpp"
#include "impact/kernels/enumerate.hpp"
#include "impact/kernels/mode_table.hpp"
#include "impact/kernels/step_lcp.hpp"
#include "programs/lcp/kernels/lemke.hpp"

/// One trajectory of Algorithm 1: draw, solve, certify, step, stop, closing step, classify.
namespace carom::kernels {

/// Prepared data of one problem; all arrays are read-only and shared by its samples.
struct ImpactProblemView {
  const double* mass;              ///< M, [nv, nv]
  const double* jacobian;          ///< J = [Jn; Jt], [rows, nv]
  const double* response;          ///< M^-1 J', [nv, rows]
  const double* delassus;          ///< S J M^-1 J' S, [rows, rows]
  const double* scale;             ///< S, [m]: powers of two that bring the diagonal near one
  const double* friction;          ///< mu, [m]
  const double* velocity;          ///< v_0, [nv]
  const double* contact_velocity;  ///< J v_0, [rows]
  double energy;                   ///< K(v_0) [J]
  double step_size;                ///< h [N s]
  double closing_impulse;          ///< epsilon / (3 psi) of Algorithm 2 [N s]; 0: no closing step
  ModeTableView table;             ///< empty where the problem has none
};

/// What all trajectories of a run share.
struct ImpactRun {
  int velocities;
  int contacts;
  FrictionPolygon polygon;
  int max_steps;
  double velocity_tolerance;
  double residual_tolerance;
  double mode_tolerance;
  std::uint64_t seed;
  std::uint32_t first_problem;  ///< index of the batch's first problem among the run's
  Sampler sampler;
  Selection selection;
  const std::uint64_t* sobol_directions;

  /// What random numbers know problem p of the batch by.
  CAROM_HOST_DEVICE std::uint32_t index_of(std::int64_t p) const {
    return first_problem + static_cast<std::uint32_t>(p);
  }
};

/// Scratch memory of one trajectory, carved from the caller's.
template <int Dim>
struct ImpactScratch {
  double *v, *next_v;                 // [nv]
  double *u, *limit;                  // [rows], [m]: together the z of the mode table
  double* next_u;                     // [rows]
  double *impulse, *total;            // [rows]
  double *scaled_u, *scaled_impulse;  // [rows]
  double* scaled_limit;               // [m]
  double* reals;                      // solvers
  int* ints;
  double* fallback_reals;  // Lemke on (75), null where a later pass takes over
  int* fallback_ints;
  double* outcomes;                 // Selection::random: distinct v' found, null otherwise
  const double* release = nullptr;  // AllSteps::kRelease: speeds r, [m]

  CAROM_HOST_DEVICE static constexpr long real_count(int nv, int m, int padding = 1) {
    const long rows = static_cast<long>(Dim) * m;
    return 2L * nv + 6L * rows + 2L * m + path_real_workspace(Dim, m, padding);
  }
  CAROM_HOST_DEVICE static constexpr long int_count(int m, int padding = 1) {
    return path_int_workspace(Dim, m, padding);
  }

  CAROM_HOST_DEVICE static ImpactScratch carve(int nv, int m, double* r, int* i) {
    const int rows = Dim * m;
    ImpactScratch s{};
    const auto take = [&r](int count) {
      double* begin = r;
      r += count;
      return begin;
    };
    s.v = take(nv);
    s.next_v = take(nv);
    s.u = take(rows);
    s.limit = take(m);
    s.next_u = take(rows);
    s.impulse = take(rows);
    s.total = take(rows);
    s.scaled_u = take(rows);
    s.scaled_impulse = take(rows);
    s.scaled_limit = take(m);
    s.reals = r;
    s.ints = i;
    return s;
  }
};

struct TrajectoryEnd {
  TrajectoryStatus status;
  int steps;
  int fallback;
  int pivots;
  int nonunique;
  int examined;
  double residual;
  double energy_ratio;
  std::uint64_t modes;
  bool unfinished;  ///< needs a fallback that this pass has no memory for
  bool in_net;      ///< v+ no longer collides after the closing step
  std::uint64_t net_modes;
};

/// Contact modes at contact velocity u; 0 where they do not fit.
template <int Dim>
CAROM_INLINE std::uint64_t contact_modes(int m, const double* u, double tolerance) {
  if (m > kMaxModeContacts) return 0;
  std::uint64_t modes = 0;
  for (int i = 0; i < m; ++i) {
    ContactMode mode = ContactMode::sticking;
    if (u[i] > tolerance) {
      mode = ContactMode::separating;
    } else if constexpr (Dim == 2) {
      if (u[m + i] > tolerance) mode = ContactMode::sliding;
      if (u[m + i] < -tolerance) mode = ContactMode::sliding_negative;
    } else {
      const double* t = u + m + 2 * i;
      if (t[0] * t[0] + t[1] * t[1] > tolerance * tolerance) mode = ContactMode::sliding;
    }
    modes |= static_cast<std::uint64_t>(mode) << (2 * i);
  }
  return modes;
}

/// What the steps of a pass are compiled for; a CUDA kernel leaves out what another pass does.
struct AllSteps {
  static constexpr bool kEnumeration = true;  ///< Selection::random
  static constexpr bool kTable = true;        ///< Selection::any: the mode table ...
  static constexpr bool kPath = true;         ///< ... and the path
  static constexpr bool kCalls = false;       ///< the path is called: quicker to compile
  static constexpr bool kFallback = true;     ///< Lemke on (75)
  static constexpr bool kRelease = false;     ///< u_n is that of contacts less their release speeds
};

/// K(v) / K(v_0). V: double or a pack.
template <class V>
CAROM_INLINE V energy_ratio(const ImpactProblemView& problem, int nv, const V* v) {
  if (!(problem.energy > 0.0)) return V(0.0);
  V twice(0.0);
  for (int i = 0; i < nv; ++i) {
    V momentum(0.0);
    for (int j = 0; j < nv; ++j) {
      momentum = fused(V(problem.mass[static_cast<long>(i) * nv + j]), v[j], momentum);
    }
    twice = fused(momentum, v[i], twice);
  }
  return V(0.5) * twice / V(problem.energy);
}

template <int Dim, class Lanes, class Steps = AllSteps>
class ImpactTrajectory {
 public:
  CAROM_HOST_DEVICE ImpactTrajectory(const Lanes& lanes, const ImpactRun& run,
                                     const ImpactProblemView& problem,
                                     const ImpactScratch<Dim>& scratch)
      : lanes_(lanes),
        run_(run),
        problem_(problem),
        s_(scratch),
        least_speed_(kernels::least_speed(run.velocities, Dim * run.contacts, problem.jacobian,
                                          problem.velocity, problem.contact_velocity)) {}

  /// Runs sample `sample` of problem `index`. Afterwards scratch.v, u and total hold v+, J v+ and
  /// the summed impulse; after a closing step next_v and impulse hold the net's. `path`, if any:
  /// [max_steps + 1, nv] receives v_0..v_K.
  CAROM_HOST_DEVICE TrajectoryEnd run(std::uint32_t index, std::uint64_t sample, double* path) {
    TrajectoryEnd end = begin(path);
    while (advance(index, sample, path, end)) {
    }
    finish(index, sample, end);
    return end;
  }

  /// The same in parts, between which a thread may do something else: `advance` until it is false.
  CAROM_HOST_DEVICE TrajectoryEnd begin(double* path) {
    TrajectoryEnd end{};
    end.status = TrajectoryStatus::max_steps;
    lanes_.for_each(run_.velocities, [&](int i) { s_.v[i] = problem_.velocity[i]; });
    lanes_.for_each(Dim * run_.contacts, [&](int i) {
      s_.u[i] = problem_.contact_velocity[i];
      s_.total[i] = 0.0;
    });
    record(path, 0);
    return end;
  }

  /// One step; false where there is none any more.
  CAROM_HOST_DEVICE bool advance(std::uint32_t index, std::uint64_t sample, double* path,
                                 TrajectoryEnd& end) {
    const int nv = run_.velocities;
    const int rows = Dim * run_.contacts;
    if (!collides(s_.u)) {
      end.status = TrajectoryStatus::terminated;
      return false;
    }
    if (end.steps == run_.max_steps) return false;
    draw(index, sample, end.steps);
    if (!step(index, sample, end)) return false;
    ++end.steps;
    lanes_.for_each(rows, [&](int i) {
      s_.u[i] = s_.next_u[i];
      s_.total[i] += s_.impulse[i];
      if (i < nv) s_.v[i] = s_.next_v[i];
    });
    if (nv > rows) {
      lanes_.for_each(nv - rows, [&](int i) { s_.v[rows + i] = s_.next_v[rows + i]; });
    }
    record(path, end.steps);
    return true;
  }

  CAROM_HOST_DEVICE void finish(std::uint32_t index, std::uint64_t sample, TrajectoryEnd& end) {
    if (end.unfinished || end.status == TrajectoryStatus::failed) return;
    end.modes = contact_modes<Dim>(run_.contacts, s_.u, run_.mode_tolerance);
    end.energy_ratio = kernels::energy_ratio<double>(problem_, run_.velocities, s_.v);
    close(index, sample, end);
  }

  /// One certified step from scratch.v and u under scratch.limit; see step.
  CAROM_HOST_DEVICE bool solve(std::uint32_t index, std::uint64_t sample, TrajectoryEnd& end) {
    return step(index, sample, end);
  }

  /// For packs, which try the table themselves: one step without it from scratch.v and u under
  /// scratch.limit. Afterwards next_v, next_u and impulse hold what was certified; false where
  /// nothing was. `end` counts the work; end.steps is the number of steps before this one.
  CAROM_HOST_DEVICE bool step_without_table(std::uint32_t index, std::uint64_t sample,
                                            TrajectoryEnd& end) {
    return step(index, sample, end, false);
  }

 private:
  static constexpr int kCorrections = 3;
  static constexpr double kPolished = 1e-12;

  CAROM_INLINE bool collides(const double* u) const {
    for (int i = 0; i < run_.contacts; ++i) {
      if (u[i] < -run_.velocity_tolerance) return true;
    }
    return false;
  }

  CAROM_INLINE void record(double* path, int step) const {
    if (path == nullptr) return;
    const int nv = run_.velocities;
    lanes_.for_each(nv, [&](int i) { path[static_cast<long>(step) * nv + i] = s_.v[i]; });
  }

  CAROM_HOST_DEVICE void draw(std::uint32_t index, std::uint64_t sample, int step) {
    const int m = run_.contacts;
    const std::uint32_t first = static_cast<std::uint32_t>(step) * static_cast<std::uint32_t>(m);
    if (run_.sampler == Sampler::sobol) {
      lanes_.for_each(m, [&](int i) {
        s_.limit[i] = problem_.step_size * sobol(run_.sobol_directions, run_.seed, index, sample,
                                                 first + static_cast<std::uint32_t>(i));
      });
      return;
    }
    // Two draws share a Philox block.
    const std::uint32_t block = first >> 1;
    const int blocks =
        static_cast<int>(((first + static_cast<std::uint32_t>(m) - 1) >> 1) - block) + 1;
    lanes_.for_each(blocks, [&](int b) {
      const UniformPair pair =
          uniform_pair(run_.seed, index, sample, block + static_cast<std::uint32_t>(b));
      const int even = 2 * b - static_cast<int>(first & 1U);
      if (even >= 0 && even < m) s_.limit[even] = problem_.step_size * pair.first;
      if (even + 1 < m) s_.limit[even + 1] = problem_.step_size * pair.second;
    });
  }

  CAROM_HOST_DEVICE bool certify(double& residual) const {
    if constexpr (Steps::kRelease) {
      residual = certificate::release_step<Dim>(
          run_.velocities, run_.contacts, run_.polygon, problem_.jacobian, problem_.response,
          [this](int i) { return certificate::contact_mobility(problem_.scale[i]); },
          problem_.friction, s_.v, s_.limit, s_.release, s_.impulse, s_.next_v, s_.next_u);
      residual /= larger(larger(least_speed_, contact_speed(Dim * run_.contacts, s_.u)),
                         certificate::kTiny);
      return certificate::within(residual, run_.residual_tolerance);
    }
    const auto c = certificate::certify_step<Dim, double>(
        lanes_, run_.velocities, run_.contacts, run_.polygon, problem_.jacobian, problem_.response,
        problem_.scale, problem_.friction, least_speed_, s_.v, s_.u, s_.limit, s_.impulse,
        s_.next_v, s_.next_u);
    residual = c.residual;
    return certificate::within(c.residual, run_.residual_tolerance) && c.advances &&
           certificate::within(c.energy_change, 1e-9 * problem_.energy);
  }

  /// One certified step from s_.v under s_.limit; false leaves end.status or end.unfinished set.
  CAROM_HOST_DEVICE bool step(std::uint32_t index, std::uint64_t sample, TrajectoryEnd& end,
                              bool tabled = true) {
    double residual = 0.0;
    bool certified = false;
    if constexpr (Steps::kEnumeration) {
      if (run_.selection == Selection::random && s_.outcomes != nullptr) {
        certified = step_random(index, sample, end) && certify(residual);
      }
    }
    if (run_.selection == Selection::any) {
      if constexpr (Steps::kTable) certified = tabled && step_table(residual);
      if constexpr (Steps::kPath) certified = certified || step_path(end, residual);
    }
    if (!certified) {
      if (!Steps::kFallback || s_.fallback_reals == nullptr) {
        end.unfinished = true;
        return false;
      }
      if constexpr (Steps::kFallback) {
        if (run_.selection != Selection::lemke) ++end.fallback;
        certified = step_lemke(end) && certify(residual);
        // What rounding kept Lemke from is tried along other paths.
        for (int attempt = 1; !certified && attempt <= kPathAttempts; ++attempt) {
          if (run_.selection == Selection::lemke && attempt == 1) ++end.fallback;
          scale();
          certified = follow(end, residual, attempt);
        }
      }
    }
    if (!certified) {
      end.status = TrajectoryStatus::failed;
      end.residual = kInfinity;
      return false;
    }
    end.residual = larger(end.residual, residual);
    return true;
  }

  /// The answer of the problem's mode table, if it has one.
  CAROM_HOST_DEVICE bool step_table(double& residual) {
    const ModeTableView& table = problem_.table;
    if (table.count == 0) return false;
    bool found;
    if constexpr (std::is_base_of_v<SingleLane, Lanes>) {
      found = find_mode<double>(table, Dim * run_.contacts, run_.contacts, s_.u, s_.impulse);
    } else {
      found = find_mode_by(lanes_, table, Dim * run_.contacts, run_.contacts, s_.u, s_.impulse);
    }
    return found && certify(residual);
  }

  CAROM_HOST_DEVICE bool step_path(TrajectoryEnd& end, double& residual) {
    scale();
    return follow(end, residual);
  }

  CAROM_INLINE bool follow(TrajectoryEnd& end, double& residual, int attempt = 0) {
    if constexpr (Steps::kCalls) {
      return call_path(end, residual, attempt);
    } else {
      return path(end, residual, attempt);
    }
  }
  CAROM_CALL bool call_path(TrajectoryEnd& end, double& residual, int attempt) {
    return path(end, residual, attempt);
  }

  CAROM_HOST_DEVICE bool path(TrajectoryEnd& end, double& residual, int attempt = 0) {
    ContactPath<Dim, double, Lanes> path(lanes_, run_.contacts, run_.polygon, problem_.friction,
                                         s_.reals, s_.ints);
    const PathOutcome outcome = path.run(problem_.delassus, s_.scaled_u, s_.scaled_limit,
                                         12 * Dim * run_.contacts + 20, s_.scaled_impulse, attempt);
    end.pivots += outcome.pivots;
    if (!outcome.found) return false;
    for (int correction = 0;; ++correction) {
      unscale();
      const bool certified = certify(residual);
      // One correction brings what rounding cost at large friction back to a double's accuracy.
      if (certified && (residual <= kPolished || correction > 0)) return true;
      if (correction == kCorrections) return certified;
      if (!path.correct(problem_.delassus, s_.scaled_u, s_.scaled_impulse)) return false;
    }
  }

  CAROM_INLINE int contact_of(int row) const {
    return row < run_.contacts ? row : (row - run_.contacts) / (Dim - 1);
  }

  CAROM_HOST_DEVICE void scale() {
    lanes_.for_each(Dim * run_.contacts, [&](int i) {
      s_.scaled_u[i] = s_.u[i] * problem_.scale[contact_of(i)];
      if (i < run_.contacts) s_.scaled_limit[i] = s_.limit[i] / problem_.scale[i];
    });
  }

  CAROM_HOST_DEVICE void unscale() {
    lanes_.for_each(Dim * run_.contacts, [&](int i) {
      s_.impulse[i] = s_.scaled_impulse[i] * problem_.scale[contact_of(i)];
    });
  }

  CAROM_CALL bool step_lemke(TrajectoryEnd& end) {
    const StepLcp<Dim> lcp{run_.contacts,
                           &run_.polygon,
                           problem_.delassus,
                           problem_.scale,
                           problem_.friction,
                           s_.limit,
                           s_.u,
                           true};
    const int n = lcp.order();
    double* z = s_.fallback_reals;
    Lemke<Lanes> lemke(lanes_, n, z + n, s_.fallback_ints);
    const LemkeOutcome outcome = lemke.run([&](int i, int j) { return lcp.entry(i, j); },
                                           [&](int i) { return lcp.vector(i); }, 50 * (n + 1), z);
    end.pivots += outcome.pivots;
    if (outcome.status != Status::solved) return false;
    lanes_.for_each(Dim * run_.contacts, [&](int i) { s_.impulse[i] = lcp.impulse(z, i); });
    return true;
  }

  /// Selection::random: one of the distinct v', by the sample's own number.
  CAROM_CALL bool step_random(std::uint32_t index, std::uint64_t sample, TrajectoryEnd& end) {
    scale();
    StepEnumerator<Dim, Lanes> enumerator(run_.contacts, run_.polygon, problem_.delassus,
                                          problem_.friction, s_.scaled_u, s_.scaled_limit,
                                          s_.outcomes);
    const int count = enumerator.run();
    if (count <= 0) return false;
    ++end.examined;
    if (count > 1) ++end.nonunique;
    const double choice =
        uniform(run_.seed, index, sample, kChoiceDraws + static_cast<std::uint32_t>(end.steps));
    int chosen = static_cast<int>(choice * count);
    if (chosen >= count) chosen = count - 1;
    lanes_.for_each(Dim * run_.contacts,
                    [&](int i) { s_.scaled_impulse[i] = enumerator.impulse(chosen)[i]; });
    unscale();
    return true;
  }

  /// Closing step f(v, eps/(3 psi) 1) for a trajectory that still collides; Lemma 8 makes it the
  /// identity for the others.
  CAROM_HOST_DEVICE void close(std::uint32_t index, std::uint64_t sample, TrajectoryEnd& end) {
    if (end.status == TrajectoryStatus::terminated) {
      end.in_net = true;
      end.net_modes = end.modes;
      return;
    }
    if (!(problem_.closing_impulse > 0.0)) return;
    lanes_.for_each(run_.contacts, [&](int i) { s_.limit[i] = problem_.closing_impulse; });
    TrajectoryEnd closing = end;
    if (!step(index, sample, closing)) {
      end.unfinished = closing.unfinished;
      return;
    }
    if (collides(s_.next_u)) return;
    end.in_net = true;
    end.net_modes = contact_modes<Dim>(run_.contacts, s_.next_u, run_.mode_tolerance);
    lanes_.for_each(Dim * run_.contacts, [&](int i) { s_.impulse[i] += s_.total[i]; });
  }

  const Lanes& lanes_;
  const ImpactRun& run_;
  const ImpactProblemView& problem_;
  const ImpactScratch<Dim>& s_;
  double least_speed_;  ///< of certificates [m/s]
};

}  // namespace carom::kernels
