#include <algorithm>
#include <array>
#include <vector>

#include <carom/qp.hpp>
#include <carom/solver_objects.hpp>

#include "measure.hpp"
#include "support/random_problems.hpp"

// QPs of a receding horizon, step after step: cold, and from the rows that were active before with
// matrices that all problems share and with matrices of their own (solver_objects.py has peers).
namespace carom::bench {

namespace {

constexpr std::int64_t kWorlds = 1000;
constexpr int kSteps = 8;

/// A double integrator with bounds on force, speed and place, condensed: n forces, 3 n rows.
struct Horizon {
  int n;
  test::Matrix hessian, rows;
  struct Step {
    std::vector<double> vector, lower, upper;
  };
  /// The first two are not measured.
  std::vector<Step> steps;

  explicit Horizon(int forces)
      : n(forces), hessian(forces, forces), rows(3 * forces, forces), steps(kSteps + 2) {
    using test::Matrix;
    Matrix move(2, 2), push(2, 1);
    move << 1.0, 0.1, 0.0, 1.0;
    push << 0.005, 0.1;
    Matrix free(2 * n, 2), forced = Matrix::Zero(2 * n, n);
    Matrix power = Matrix::Identity(2, 2);
    for (int i = 0; i < n; ++i) {
      const Matrix effect = power * push;
      for (int j = 0; i + j < n; ++j) forced.block(2 * (i + j), j, 2, 1) = effect;
      power = move * power;
      free.middleRows(2 * i, 2) = power;
    }
    test::Vector weight(2 * n), limit(3 * n);
    for (int k = 0; k < 2 * n; ++k) weight[k] = k % 2 == 0 ? 10.0 : 1.0;
    limit << test::Vector::Constant(n, 1.0), test::Vector::Constant(n, 1.5),
        test::Vector::Constant(n, 60.0);
    const Matrix weighted = weight.asDiagonal() * forced;
    hessian = forced.transpose() * weighted + 0.1 * Matrix::Identity(n, n);
    rows.topRows(n).setIdentity();
    for (int i = 0; i < n; ++i) {
      rows.row(n + i) = forced.row(2 * i + 1);
      rows.row(2 * n + i) = forced.row(2 * i);
    }
    test::Generator random(static_cast<std::uint64_t>(n));
    std::vector<std::array<double, 2>> state(kWorlds);
    for (auto& x : state) x = {2.0 * random.normal(), 0.45 * random.normal()};
    QpSolver solver(matrices(1), {.threads = 1});
    std::vector<std::uint8_t> held = none();
    for (Step& step : steps) {
      for (const auto& x : state) {
        const test::Vector away = free * Eigen::Map<const test::Vector>(x.data(), 2);
        const test::Vector q = weighted.transpose() * away;
        step.vector.insert(step.vector.end(), q.begin(), q.end());
        for (int i = 0; i < 3 * n; ++i) {
          const double offset = i < n ? 0.0 : away[i < 2 * n ? 2 * (i - n) + 1 : 2 * (i - 2 * n)];
          step.lower.push_back(-limit[i] - offset);
          step.upper.push_back(limit[i] - offset);
        }
      }
      const QpResult result = solver.solve(vectors(step), held);
      for (std::size_t w = 0; w < state.size(); ++w) {
        const double force = result.solution.data()[w * static_cast<std::size_t>(n)];
        const double own = result.status.data()[w] == Status::solved ? force : 0.0;
        auto& [place, speed] = state[w];
        place += 0.1 * speed + 0.005 * own + 0.02 * random.normal();
        speed += 0.1 * own + 0.02 * random.normal();
      }
    }
  }

  [[nodiscard]] std::vector<std::uint8_t> none() const {
    return std::vector<std::uint8_t>(static_cast<std::size_t>(kWorlds * 3 * n), 0);
  }
  static QpVectors vectors(const Step& step) {
    return {kWorlds, step.vector, step.lower, step.upper};
  }
  [[nodiscard]] QpBatch matrices(std::int64_t problems) const {
    QpBatch batch;
    batch.problems = problems;
    batch.variables = n;
    batch.rows = 3 * n;
    std::vector<double> p, a;
    for (std::int64_t w = 0; w < problems; ++w) {
      p.insert(p.end(), hessian.data(), hessian.data() + hessian.size());
      a.insert(a.end(), rows.data(), rows.data() + rows.size());
    }
    batch.hessian = Buffer<double>::from(p);
    batch.matrix = Buffer<double>::from(a);
    return batch;
  }
};

Verdict judge(const QpResult& result) {
  Verdict verdict;
  const auto status = result.status.host();
  verdict.claimed = static_cast<double>(std::count(status.begin(), status.end(), Status::solved)) /
                    static_cast<double>(status.size());
  verdict.solved = verdict.claimed;
  for (const double r : result.residual.host()) {
    verdict.worst_residual = std::max(verdict.worst_residual, r);
  }
  return verdict;
}

void add_warm(const std::string& name, const Shared<Horizon>& horizon, bool own) {
  add(name, [horizon, own](benchmark::State& state) {
    const Horizon& at = horizon->get();
    QpSolver solver(at.matrices(own ? kWorlds : 1), {.threads = 1});
    std::vector<std::uint8_t> first = at.none();
    QpResult result;
    for (int step = 0; step < 2; ++step) {
      solver.solve(Horizon::vectors(at.steps[static_cast<std::size_t>(step)]), first, result);
    }
    std::vector<std::uint8_t> held;
    for (auto _ : state) {
      held = first;
      for (std::size_t step = 2; step < at.steps.size(); ++step) {
        solver.solve(Horizon::vectors(at.steps[step]), held, result);
      }
      benchmark::DoNotOptimize(result.solution.data());
    }
    report(state, kSteps * kWorlds, at.n, judge(result));
  });
}

void add_cold(const std::string& name, const Shared<Horizon>& horizon) {
  add(name, [horizon](benchmark::State& state) {
    const Horizon& at = horizon->get();
    QpBatch batch = at.matrices(kWorlds);
    Workspace workspace;
    QpResult result;
    const auto borrowed = [](const std::vector<double>& values) {
      return Buffer<double>::borrow(const_cast<double*>(values.data()), values.size(),
                                    MemorySpace::host);
    };
    for (auto _ : state) {
      for (std::size_t step = 2; step < at.steps.size(); ++step) {
        batch.vector = borrowed(at.steps[step].vector);
        batch.lower = borrowed(at.steps[step].lower);
        batch.upper = borrowed(at.steps[step].upper);
        result = solve_qp(batch, {.threads = 1}, Backend::cpu, {}, &workspace);
      }
      benchmark::DoNotOptimize(result.solution.data());
    }
    report(state, kSteps * kWorlds, at.n, judge(result));
  });
}

}  // namespace

void add_warm_qp_benchmarks() {
  for (const int n : {20, 30, 40}) {
    const auto horizon = share([n] { return Horizon(n); });
    const std::string prefix = "warm_qps/horizon_n0" + std::to_string(n);
    add_cold(prefix + "/cold", horizon);
    add_warm(prefix + "/shared", horizon, false);
    add_warm(prefix + "/own", horizon, true);
  }
}

}  // namespace carom::bench
