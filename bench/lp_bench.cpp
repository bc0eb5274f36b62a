#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <carom/lp.hpp>

#include "lp_peers.hpp"
#include "measure.hpp"

// Support LPs of spatial postures: 4 contacts with cones of 8 sides and the 2 free coordinates of
// the centre of mass make 34 columns, force and torque balance 6 equations. Cold: every direction
// from all rows basic; warm: a sweep of 64 directions, each from its neighbour's basis.
namespace carom::bench {

namespace {

constexpr int kPostures = 64;
constexpr int kDirections = 64;
constexpr int kRows = 6;
constexpr int kColumns = 34;

struct SupportSet {
  std::vector<double> cost, matrix, bound, lower, upper;

  [[nodiscard]] certificate::LpData lp(int posture, int direction) const {
    return {kRows,
            kColumns,
            cost.data() + (posture * kDirections + direction) * kColumns,
            matrix.data() + posture * kRows * kColumns,
            bound.data() + posture * kRows,
            bound.data() + posture * kRows,
            lower.data() + posture * kColumns,
            upper.data() + posture * kColumns};
  }
};

SupportSet random_postures() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  using Vector3 = Eigen::Vector3d;
  test::Generator random(2026);
  SupportSet set;
  for (int p = 0; p < kPostures; ++p) {
    test::Matrix matrix = test::Matrix::Zero(kRows, kColumns);
    for (int c = 0; c < 4; ++c) {
      const double angle = 0.5 * std::numbers::pi * c + random.between(-0.3, 0.3);
      const Vector3 position(std::cos(angle) * random.between(0.5, 1.5),
                             std::sin(angle) * random.between(0.5, 1.5), random.between(-0.2, 0.2));
      const Vector3 normal =
          Vector3(random.between(-0.3, 0.3), random.between(-0.3, 0.3), 1.0).normalized();
      const Vector3 first = normal.cross(Vector3::UnitY()).normalized();
      const Vector3 second = normal.cross(first);
      const double friction = random.between(0.2, 0.8);
      for (int s = 0; s < 8; ++s) {
        const double side = 0.25 * std::numbers::pi * s;
        const Vector3 force =
            normal + friction * (std::cos(side) * first + std::sin(side) * second);
        matrix.col(8 * c + s).head<3>() = force;
        matrix.col(8 * c + s).tail<3>() = position.cross(force);
      }
    }
    // The weight, one unit downwards, at (x, y): its torque is (-y, x, 0).
    matrix(4, 32) = 1.0;
    matrix(3, 33) = -1.0;
    set.matrix.insert(set.matrix.end(), matrix.data(), matrix.data() + matrix.size());
    set.bound.insert(set.bound.end(), {0, 0, 1, 0, 0, 0});
    for (int j = 0; j < kColumns; ++j) {
      set.lower.push_back(j < 32 ? 0.0 : -kInfinity);
      set.upper.push_back(kInfinity);
    }
    for (int k = 0; k < kDirections; ++k) {
      const double angle = 2.0 * std::numbers::pi * k / kDirections;
      set.cost.resize(set.cost.size() + 32, 0.0);
      set.cost.insert(set.cost.end(), {-std::cos(angle), -std::sin(angle)});
    }
  }
  return set;
}

/// One problem a posture with all directions, or one problem a direction.
LpBatch lp_batch(const SupportSet& set, bool cold) {
  const int copies = cold ? kDirections : 1;
  const auto repeated = [&](const std::vector<double>& values, int stride) {
    std::vector<double> all;
    for (int p = 0; p < kPostures; ++p) {
      for (int k = 0; k < copies; ++k) {
        all.insert(all.end(), values.begin() + p * stride, values.begin() + (p + 1) * stride);
      }
    }
    return Buffer<double>::from(all);
  };
  LpBatch batch;
  batch.problems = kPostures * copies;
  batch.objectives = kDirections / copies;
  batch.rows = kRows;
  batch.columns = kColumns;
  batch.cost = Buffer<double>::from(set.cost);
  batch.matrix = repeated(set.matrix, kRows * kColumns);
  batch.row_lower = repeated(set.bound, kRows);
  batch.row_upper = repeated(set.bound, kRows);
  batch.column_lower = repeated(set.lower, kColumns);
  batch.column_upper = repeated(set.upper, kColumns);
  return batch;
}

/// answer(posture, direction, x, y) fills both and returns the solver's claim.
template <class Answer>
Verdict judge_support(const SupportSet& set, Answer&& answer) {
  const kernels::SingleLane lane;
  std::vector<double> memory(
      static_cast<std::size_t>(certificate::lp_certificate_workspace(kRows, kColumns)));
  certificate::LpCertificate<kernels::SingleLane> judge(lane, kRows, kColumns, memory.data());
  Verdict verdict;
  constexpr double kShare = 1.0 / (kPostures * kDirections);
  for (int p = 0; p < kPostures; ++p) {
    for (int k = 0; k < kDirections; ++k) {
      double x[kColumns], y[kRows];
      const bool claimed = answer(p, k, x, y);
      const certificate::LpData lp = set.lp(p, k);
      const bool usable = judge.load(lp) && judge.load_cost(lp.cost);
      const double residual = usable && claimed ? judge.residual(x, y) : INFINITY;
      const bool right = certificate::within(residual, 1e-9);
      verdict.solved += right ? kShare : 0.0;
      if (!claimed) continue;
      verdict.claimed += kShare;
      verdict.false_success += right ? 0.0 : kShare;
      verdict.worst_residual =
          std::isnan(residual) ? INFINITY : std::max(verdict.worst_residual, residual);
    }
  }
  return verdict;
}

void add_support(bool cold, const Shared<SupportSet>& set) {
  const std::string prefix = cold ? "lps/support_cold/" : "lps/support_warm/";
  const auto batch = share([set, cold] { return lp_batch(set->get(), cold); });
  for (const Backend backend : {Backend::cpu, Backend::reference}) {
    if (backend == Backend::reference && !cold) continue;  // it starts cold in any case
    const auto solve = [batch, backend] {
      LpSettings settings;
      settings.threads = 1;
      return solve_lp(batch->get(), settings, backend);
    };
    add(prefix + (backend == Backend::cpu ? "carom" : "reference"), [=](benchmark::State& state) {
      const LpResult judged = solve();
      const Verdict verdict = judge_support(set->get(), [&](int p, int k, double* x, double* y) {
        const int answer = p * kDirections + k;
        std::copy_n(judged.solution.data() + answer * kColumns, kColumns, x);
        std::copy_n(judged.dual.data() + answer * kRows, kRows, y);
        return judged.status.data()[answer] == Status::solved;
      });
      for (auto _ : state) {
        LpResult result = solve();
        benchmark::DoNotOptimize(result.solution.data());
      }
      report(state, kPostures * kDirections, kColumns, verdict);
      double pivots = 0.0;
      for (const std::int32_t count : judged.pivots.host()) pivots += count;
      state.counters["pivots"] = pivots / (kPostures * kDirections);
    });
  }
  for (const LpPeerKind& kind : lp_peers()) {
    add(prefix + kind.name, [=](benchmark::State& state) {
      const SupportSet& support = set->get();
      std::vector<std::unique_ptr<LpPeer>> solvers;
      for (int p = 0; p < kPostures; ++p) {
        solvers.push_back(kind.load(support.lp(p, 0)));
        solvers.back()->solve(support.lp(p, 0).cost, true);
      }
      const auto solve = [&](int p, int k) {
        return solvers[static_cast<std::size_t>(p)]->solve(support.lp(p, k).cost, cold);
      };
      const Verdict verdict = judge_support(support, [&](int p, int k, double* x, double* y) {
        const bool claimed = solve(p, k);
        solvers[static_cast<std::size_t>(p)]->answer(x, y);
        return claimed;
      });
      for (auto _ : state) {
        for (int p = 0; p < kPostures; ++p) {
          for (int k = 0; k < kDirections; ++k) benchmark::DoNotOptimize(solve(p, k));
        }
      }
      report(state, kPostures * kDirections, kColumns, verdict);
    });
  }
}

}  // namespace

void add_lp_benchmarks() {
  const auto set = share(random_postures);
  add_support(true, set);
  add_support(false, set);
}

}  // namespace carom::bench
