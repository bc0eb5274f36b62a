#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <carom/derivative_compliant.hpp>
#include <carom/derivative_lcp.hpp>
#include <carom/derivative_qp.hpp>
#include <carom/derivative_worlds.hpp>
#include <carom/lcp.hpp>
#include <carom/qp.hpp>

#include "contact_qps.hpp"
#include "measure.hpp"
#include "support/random_problems.hpp"
#include "support/random_qps.hpp"

// What a derivative costs compared with the forward call that it belongs to: whole calls in one
// thread, with polish and certificate. A problem of runs is one step of one world.
namespace carom::bench {

namespace {

constexpr std::int64_t kProblems = 2048;
using Statuses = std::vector<Smoothness>;

DerivativeSettings one_thread(bool reach = true) {
  DerivativeSettings settings;
  settings.reach = reach;
  settings.threads = 1;
  return settings;
}

Statuses statuses_of(const Buffer<Smoothness>& status) {
  const auto host = status.host();
  return {host.begin(), host.end()};
}

Buffer<double> drawn(std::size_t count, std::uint64_t seed) {
  test::Generator random(seed);
  Buffer<double> values(count);
  for (double& value : values.host()) value = random.normal();
  return values;
}

/// derivatives/<set>/<way> of a call that returns statuses, or none of a forward call.
void add_way(const std::string& name, std::function<std::int64_t()> problems,
             std::function<Statuses()> call) {
  add("derivatives/" + name, [=](benchmark::State& state) {
    Statuses statuses = call();  // makes what is made once
    for (auto _ : state) statuses = call();
    state.SetItemsProcessed(state.iterations() * problems());
    state.counters["problems"] = static_cast<double>(problems());
    state.counters["threads"] = 1;
    if (statuses.empty()) return;
    const auto share = [&](Smoothness status) {
      return static_cast<double>(std::count(statuses.begin(), statuses.end(), status)) /
             static_cast<double>(statuses.size());
    };
    for (const auto& [status, word] : words<Smoothness>) {
      state.counters[std::string(word)] = share(status);
    }
  });
}

/// A set of problems with its answer and what it is asked for: the same for every way.
template <class Batch, class Result, class Cotangent>
struct Asked {
  Batch batch;
  Result answer;
  Cotangent cotangent;
};

using AskedLcps = Asked<LcpBatch, LcpResult, LcpCotangent>;
LcpResult solved(const LcpBatch& batch) {
  LcpSettings settings;
  settings.threads = 1;
  return solve_lcp(batch, settings, Backend::cpu);
}
void add_lcps(int order) {
  const auto set = share([order] {
    AskedLcps asked;
    asked.batch = lcp_batch(random_lcps(order));
    asked.answer = solved(asked.batch);
    asked.cotangent.solution = drawn(asked.answer.solution.size(), 1);
    return asked;
  });
  const auto count = [set] { return set->get().batch.problems; };
  char name[32];
  std::snprintf(name, sizeof name, "lcps_n%03d/", order);
  add_way(name + std::string("forward"), count, [set] {
    const LcpResult result = solved(set->get().batch);
    benchmark::DoNotOptimize(result.solution.data());
    return Statuses();
  });
  const auto add_vjp = [&](const char* way, bool reach, LcpWanted wanted) {
    add_way(name + std::string(way), count, [set, reach, wanted] {
      const AskedLcps& at = set->get();
      return statuses_of(
          differentiate_lcp(at.batch, at.answer, at.cotangent, one_thread(reach), wanted).status);
    });
  };
  add_vjp("vjp", true, {});
  add_vjp("vjp_vectors", true, {.matrix = false});
  add_vjp("vjp_unreached", false, {});
  const auto along = share([set] {
    LcpDirection direction;
    direction.matrix = drawn(set->get().batch.matrix.size(), 2);
    direction.vector = drawn(set->get().batch.vector.size(), 3);
    return direction;
  });
  add_way(name + std::string("jvp"), count, [set, along] {
    const AskedLcps& at = set->get();
    return statuses_of(propagate_lcp(at.batch, at.answer, along->get(), one_thread()).status);
  });
}

using AskedQps = Asked<QpBatch, QpResult, QpCotangent>;
QpResult solved(const QpBatch& batch) {
  QpSettings settings;
  settings.threads = 1;
  return solve_qp(batch, settings, Backend::cpu);
}
/// vjp_vectors: in P and q, which rows that depend on each other leave smooth.
void add_qps(const std::string& name, const std::function<QpBatch()>& make) {
  const auto set = share([make] {
    AskedQps asked;
    asked.batch = make();
    asked.answer = solved(asked.batch);
    asked.cotangent.solution = drawn(asked.answer.solution.size(), 1);
    return asked;
  });
  const auto count = [set] { return set->get().batch.problems; };
  add_way(name + "/forward", count, [set] {
    const QpResult result = solved(set->get().batch);
    benchmark::DoNotOptimize(result.solution.data());
    return Statuses();
  });
  const auto add_vjp = [&](const char* way, bool reach, QpWanted wanted) {
    add_way(name + way, count, [set, reach, wanted] {
      const AskedQps& at = set->get();
      return statuses_of(
          differentiate_qp(at.batch, at.answer, at.cotangent, one_thread(reach), wanted).status);
    });
  };
  add_vjp("/vjp", true, {});
  add_vjp("/vjp_vectors", true, {true, true, false, false, false, false, false});
  add_vjp("/vjp_unreached", false, {});
  const auto along = share([set] {
    const QpBatch& batch = set->get().batch;
    QpDirection direction;
    direction.hessian = drawn(batch.hessian.size(), 2);
    direction.vector = drawn(batch.vector.size(), 3);
    return direction;
  });
  add_way(name + "/jvp", count, [set, along] {
    const AskedQps& at = set->get();
    return statuses_of(propagate_qp(at.batch, at.answer, along->get(), one_thread()).status);
  });
}

/// A rigid box lands on corners: min v'M v/2 - (M v0)'v over N v >= 0, its height and two angles.
QpBatch landings(int corners) {
  test::Generator random(static_cast<std::uint64_t>(corners));
  std::vector<double> hessian, vector, matrix;
  for (std::int64_t p = 0; p < kProblems; ++p) {
    const test::Matrix part = 0.05 * random.normal_matrix(3, 3);
    test::Matrix mass = test::Vector{{2.0, 0.1, 0.15}}.asDiagonal() *
                        (test::Matrix::Identity(3, 3) + part + part.transpose());
    mass = (0.5 * (mass + mass.transpose())).eval();
    test::Vector before = random.normal_vector(3);
    constexpr double kSpeeds[] = {0.05, 1.0, 4.0};
    before.tail(2) *= kSpeeds[random.integer(0, 2)];
    before[0] = -random.between(0.1, 1.0);
    const test::Vector q = -mass * before;
    hessian.insert(hessian.end(), mass.data(), mass.data() + 9);
    vector.insert(vector.end(), q.data(), q.data() + 3);
    for (int c = 0; c < corners; ++c) {
      const double size = c < 4 ? 1.0 : 0.6;
      const double x = size * (c % 4 < 2 ? -0.5 : 0.5), y = size * (c % 2 == 0 ? -0.4 : 0.4);
      matrix.insert(matrix.end(), {1.0, y, -x});
    }
  }
  QpBatch batch;
  batch.problems = kProblems;
  batch.variables = 3;
  batch.rows = corners;
  const std::size_t rows = matrix.size() / 3;
  batch.hessian = Buffer<double>::from(hessian);
  batch.vector = Buffer<double>::from(vector);
  batch.matrix = Buffer<double>::from(matrix);
  batch.lower = Buffer<double>::from(std::vector<double>(rows, 0.0));
  batch.upper =
      Buffer<double>::from(std::vector<double>(rows, std::numeric_limits<double>::infinity()));
  return batch;
}

QpBatch random_dense_qps(int variables, int rows, const std::vector<Cone>& cones = {}) {
  test::QpFlavour flavour;
  flavour.variables = flavour.rank = variables;
  flavour.rows = rows;
  flavour.cones = cones;
  return test::random_qps(flavour, static_cast<int>(kProblems) / 4, 7);
}

using AskedSteps = Asked<CompliantBatch, CompliantResult, CompliantCotangent>;
CompliantSettings step_settings() {
  CompliantSettings settings;
  settings.threads = 1;
  return settings;
}
void add_steps(const std::string& name, int contacts) {
  const auto set = share([contacts] {
    AskedSteps asked;
    asked.batch = contact_steps(static_cast<int>(kProblems), contacts);
    asked.answer = solve_compliant(asked.batch, step_settings(), Backend::cpu);
    asked.cotangent.velocity = drawn(asked.answer.velocity.size(), 1);
    return asked;
  });
  const auto count = [set] { return set->get().batch.problems; };
  add_way(name + "/forward", count, [set] {
    const CompliantResult result = solve_compliant(set->get().batch, step_settings(), Backend::cpu);
    benchmark::DoNotOptimize(result.velocity.data());
    return Statuses();
  });
  const auto add_vjp = [&](const char* way, bool reach, const std::vector<std::string>& wanted) {
    add_way(name + way, count, [set, reach, wanted] {
      const AskedSteps& at = set->get();
      return statuses_of(differentiate_compliant(at.batch, at.answer, at.cotangent, step_settings(),
                                                 one_thread(reach), wanted)
                             .status);
    });
  };
  add_vjp("/vjp", true, {});
  add_vjp("/vjp_vectors", true, {"velocity", "force"});
  add_vjp("/vjp_unreached", false, {});
  const auto along = share([set] {
    CompliantDirection direction;
    direction.velocity = drawn(set->get().batch.velocity.size(), 2);
    direction.force = drawn(set->get().batch.force.size(), 3);
    return direction;
  });
  add_way(name + "/jvp", count, [set, along] {
    const AskedSteps& at = set->get();
    return statuses_of(
        propagate_compliant(at.batch, at.answer, along->get(), step_settings(), one_thread())
            .status);
  });
}

struct RunSet {
  const char* scenario;
  std::int64_t worlds;
  const char* swept;
  double from, to;
  std::map<std::string, double> others = {};
};
WorldRun run_of(const RunSet& set) {
  const models::Scenario& scenario = models::find_scenario(set.scenario);
  const std::vector<double> one = models::scenario_parameters(scenario, set.others);
  const std::size_t swept = models::parameter_index(scenario, set.swept);
  WorldRun run;
  run.worlds = set.worlds;
  run.steps = 200;
  for (std::int64_t w = 0; w < set.worlds; ++w) {
    run.parameters.insert(run.parameters.end(), one.begin(), one.end());
    run.parameters[static_cast<std::size_t>(w) * one.size() + swept] =
        set.from + (set.to - set.from) * static_cast<double>(w) / static_cast<double>(set.worlds);
  }
  return run;
}
/// vjp_kept: with a state kept every root of the steps, which takes the run a second time.
void add_runs(const RunSet& set) {
  const auto run = share([set] { return run_of(set); });
  const auto count = [run] { return run->get().worlds * run->get().steps; };
  const std::string name = set.scenario;
  const models::Scenario& scenario = models::find_scenario(name);
  add_way(name + "/forward", count, [run, &scenario] {
    const WorldsResult result = step_worlds(scenario, run->get(), step_settings(), Backend::cpu);
    benchmark::DoNotOptimize(result.displacement.data());
    return Statuses();
  });
  for (const auto& [way, checkpoint] :
       {std::pair{"/vjp", std::int64_t{0}}, std::pair{"/vjp_kept", std::int64_t{15}}}) {
    add_way(name + way, count, [run, &scenario, checkpoint = checkpoint] {
      WorldsCotangent cotangent;
      cotangent.displacement.assign(static_cast<std::size_t>(run->get().worlds), 1.0);
      return differentiate_worlds(scenario, run->get(), cotangent, step_settings(), one_thread(),
                                  {}, checkpoint, Backend::cpu)
          .status;
    });
  }
  add_way(name + "/jvp", count, [run, &scenario, swept = std::string(set.swept)] {
    WorldsDirection direction;
    direction.parameters.assign(run->get().parameters.size(), 0.0);
    const std::size_t parameters =
        run->get().parameters.size() / static_cast<std::size_t>(run->get().worlds);
    for (std::size_t p = models::parameter_index(scenario, swept); p < direction.parameters.size();
         p += parameters) {
      direction.parameters[p] = 1.0;
    }
    return propagate_worlds(scenario, run->get(), direction, step_settings(), one_thread(),
                            Backend::cpu)
        .status;
  });
}

}  // namespace

void add_derivative_benchmarks() {
  for (const int order : {4, 10, 28}) add_lcps(order);
  add_qps("contact_pyramids_n012", [] { return contact_qps(static_cast<int>(kProblems), false); });
  add_qps("contact_cones_n012", [] { return contact_qps(static_cast<int>(kProblems) / 4, true); });
  add_qps("qps_n012_m020", [] { return random_dense_qps(12, 20); });
  add_qps("qps_n024_m048", [] { return random_dense_qps(24, 48); });
  add_qps("qps_n012_4_cones", [] {
    return random_dense_qps(12, 8, std::vector<Cone>(4, {ConeKind::second_order, 3}));
  });
  add_qps("landings_m04", [] { return landings(4); });
  add_qps("landings_m08", [] { return landings(8); });
  add_steps("steps_m12", 4);
  add_steps("steps_m03", 1);
  add_runs({"inclined_block", 512, "friction", 0.1, 0.3});
  add_runs({"compliant_block_impact",
            512,
            "downward_velocity",
            2.0,
            4.0,
            {{"angle", 3.0}, {"stiffness_ratio", 1.5}, {"tangent_damping", 10.0}}});
  add_runs({"pendulum_limit", 512, "angular_velocity", -2.0, -1.5});
  add_runs({"sphere_stack", 64, "gap", 1e-3, 2e-3});
  add_runs({"elastic_foundation", 16, "depth", 0.9, 1.1});
}

}  // namespace carom::bench
