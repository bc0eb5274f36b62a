#include <carom/solver_objects.hpp>

#include <algorithm>
#include <string>

#include "core/arrays.hpp"
#include "core/constants.hpp"
#include "core/require.hpp"
#include "core/workspace.hpp"
#include "programs/lp/pool.hpp"
#include "programs/qp/shared.hpp"

namespace carom {

namespace {

/// Of all problems, from those of all or of one.
Buffer<double> spread(const char* name, std::span<const double> values, std::int64_t problems,
                      int stride) {
  const auto one = static_cast<std::size_t>(stride);
  const std::size_t all = static_cast<std::size_t>(problems) * one;
  if (values.size() == all) {
    return Buffer<double>::borrow(const_cast<double*>(values.data()), all, MemorySpace::host);
  }
  if (values.size() != one) require::size(name, values.size(), all);
  Buffer<double> spread(all);
  for (std::int64_t p = 0; p < problems; ++p) {
    std::copy(values.begin(), values.end(), spread.data() + p * stride);
  }
  return spread;
}
Buffer<double> repeated(const Buffer<double>& one, std::int64_t problems) {
  return spread("", {one.data(), one.size()}, problems, static_cast<int>(one.size()));
}

/// The problems whose answer is still open.
std::vector<std::int64_t> open_ones(const std::vector<std::uint8_t>& taken) {
  std::vector<std::int64_t> open;
  for (std::size_t p = 0; p < taken.size(); ++p) {
    if (taken[p] == 0) open.push_back(static_cast<std::int64_t>(p));
  }
  return open;
}
/// to: the rows of `from` that `open` names.
template <class T>
void gather(const Buffer<T>& from, const std::vector<std::int64_t>& open, std::int64_t stride,
            Buffer<T>& to) {
  to = Buffer<T>(open.size() * static_cast<std::size_t>(stride));
  for (std::size_t k = 0; k < open.size(); ++k) {
    std::copy_n(from.data() + open[k] * stride, stride,
                to.data() + static_cast<std::int64_t>(k) * stride);
  }
}
/// Answers to the problems that `open` names, to their places.
template <class Result>
void scatter(Result& whole, const typename Result::Sizes& sizes,
             const std::vector<std::int64_t>& open, const Result& part) {
  Result::each_array(
      sizes,
      [&](const char*, const Extents& extents, auto& to, const auto& from) {
        if (from.empty()) return;
        for (std::size_t k = 0; k < open.size(); ++k) {
          std::copy_n(from.data() + static_cast<std::int64_t>(k) * extents.stride(),
                      extents.stride(), to.data() + open[k] * extents.stride());
        }
      },
      whole, part);
}
/// Whether a result has room for these problems in host memory.
template <class Result>
bool fits(const Result& result, const typename Result::Sizes& sizes) {
  bool same = true;
  Result::each_array(
      sizes,
      [&](const char*, const Extents& extents, const auto& values) {
        same = same && values.size() == static_cast<std::size_t>(extents.count()) &&
               values.space() == MemorySpace::host;
      },
      result);
  return same;
}
template <class Result>
void clear(Result& result, const typename Result::Sizes& sizes) {
  Result::each_array(
      sizes,
      [](const char*, const Extents&, auto& values) {
        using Value = std::remove_cvref_t<decltype(*values.data())>;
        if constexpr (std::is_same_v<Value, double>) {
          std::fill_n(values.data(), values.size(), std::numeric_limits<double>::quiet_NaN());
        } else {
          std::fill_n(values.data(), values.size(), Value{});
        }
      },
      result);
}

}  // namespace

struct QpSolver::Kept {
  Kept(const QpBatch& given, const QpSettings& chosen)
      : settings(chosen), matrices(), shared((take(given), cpu::share_qp(matrices, settings))) {}

  void take(const QpBatch& given) {
    static_cast<QpSizes&>(matrices) = given;
    const auto count = static_cast<std::size_t>(given.problems);
    const auto m = count * static_cast<std::size_t>(given.rows);
    const auto n = count * static_cast<std::size_t>(given.variables);
    matrices.hessian = given.hessian.to(MemorySpace::host);
    matrices.matrix = given.matrix.to(MemorySpace::host);
    matrices.vector = Buffer<double>::from(std::vector<double>(n, 0.0));
    matrices.lower = Buffer<double>::from(std::vector<double>(m, -kInfinity));
    matrices.upper = Buffer<double>::from(std::vector<double>(m, kInfinity));
  }
  [[nodiscard]] bool own() const { return matrices.problems > 1; }

  QpSettings settings;
  QpBatch matrices;
  SharedQp shared;
  std::vector<std::uint8_t> taken;
  Workspace workspace;
};

QpSolver::QpSolver(const QpBatch& matrices, const QpSettings& settings) {
  settings.validate();
  require::between("variables", matrices.variables, 1, kMaxQpVariables);
  require::between("rows", matrices.rows, 0, kMaxQpRows);
  require::at_least("problems", matrices.problems, 1);
  const auto n = static_cast<std::size_t>(matrices.variables);
  const std::size_t all = static_cast<std::size_t>(matrices.problems) * n;
  require::size("cones", matrices.cones.size(), 0);
  require::size("hessian", matrices.hessian.size(), all * n);
  require::size("matrix", matrices.matrix.size(), all * static_cast<std::size_t>(matrices.rows));
  require::finite("hessian", matrices.hessian.data(), matrices.hessian.size(), matrices.variables);
  require::finite("matrix", matrices.matrix.data(), matrices.matrix.size(), matrices.variables);
  kept_ = std::make_unique<Kept>(matrices, settings);
}
QpSolver::~QpSolver() = default;
QpSolver::QpSolver(QpSolver&&) noexcept = default;
QpSolver& QpSolver::operator=(QpSolver&&) noexcept = default;

bool QpSolver::keeps_factors() const { return kept_->shared.any_usable(); }

QpResult QpSolver::solve(const QpVectors& vectors, std::span<std::uint8_t> held) {
  QpResult result;
  solve(vectors, held, result);
  return result;
}

void QpSolver::solve(const QpVectors& vectors, std::span<std::uint8_t> held, QpResult& result) {
  Kept& k = *kept_;
  const int n = k.matrices.variables;
  const int m = k.matrices.rows;
  require::at_least("problems", vectors.problems, 0);
  if (k.own() && vectors.problems != k.matrices.problems) {
    require::refuse({}, "problems", {}, std::to_string(vectors.problems),
                    "must be as many as have matrices, " + std::to_string(k.matrices.problems));
  }
  require::size("held", held.size(), static_cast<std::size_t>(vectors.problems * m));
  QpBatch batch;
  static_cast<QpSizes&>(batch) = k.matrices;
  batch.problems = vectors.problems;
  batch.hessian = Buffer<double>::borrow(k.matrices.hessian.data(), k.matrices.hessian.size(),
                                         MemorySpace::host);
  batch.matrix =
      Buffer<double>::borrow(k.matrices.matrix.data(), k.matrices.matrix.size(), MemorySpace::host);
  batch.vector = spread("vector", vectors.vector, vectors.problems, n);
  batch.lower = spread("lower", vectors.lower, vectors.problems, m);
  batch.upper = spread("upper", vectors.upper, vectors.problems, m);
  if (!fits(result, batch)) result = allocate<QpResult>(batch);
  std::vector<std::uint8_t>& taken = k.taken;
  taken.assign(static_cast<std::size_t>(vectors.problems), 0);
  if (k.shared.any_usable()) {
    const WorkspaceLease lease(&k.workspace);
    cpu::solve_shared_qp(k.shared, batch, k.settings, held.data(), taken.data(), result,
                         lease.state());
  } else {
    clear(result, batch);
  }
  const std::vector<std::int64_t> open = open_ones(taken);
  if (open.empty()) return;
  QpBatch rest;
  static_cast<QpSizes&>(rest) = k.matrices;
  rest.problems = static_cast<std::int64_t>(open.size());
  if (k.own()) {
    gather(batch.hessian, open, std::int64_t{n} * n, rest.hessian);
    gather(batch.matrix, open, std::int64_t{m} * n, rest.matrix);
  } else {
    rest.hessian = repeated(k.matrices.hessian, rest.problems);
    rest.matrix = repeated(k.matrices.matrix, rest.problems);
  }
  gather(batch.vector, open, n, rest.vector);
  gather(batch.lower, open, m, rest.lower);
  gather(batch.upper, open, m, rest.upper);
  const QpResult solved = solve_qp(rest, k.settings, Backend::cpu, {}, &k.workspace);
  scatter(result, batch, open, solved);
  for (const std::int64_t p : open) {
    for (int i = 0; i < m; ++i) {
      const double y = result.dual.data()[p * m + i];
      held[static_cast<std::size_t>(p * m + i)] =
          static_cast<std::uint8_t>(y > 0.0 ? 2 : (y < 0.0 ? 1 : 0));
    }
  }
}

struct LpSolver::Kept {
  Kept(const LpBatch& costs, const LpSettings& chosen, int most)
      : settings(chosen), pool(costs, most) {
    one.problems = 1;
    one.rows = costs.rows;
    one.columns = costs.columns;
    one.matrix = costs.matrix.to(MemorySpace::host);
    one.cost = costs.cost.to(MemorySpace::host);
  }

  /// Whether the pool is asked: where it answers fewer than a tenth of the latest thousand, only a
  /// tenth of the problems try it, to see whether that has changed.
  [[nodiscard]] bool pays() const { return tried < kLatest || 10 * answered >= tried; }
  void count(std::int64_t problems, std::int64_t hits) {
    if (tried >= kLatest) {
      tried /= 2;
      answered /= 2;
    }
    tried += problems;
    answered += hits;
  }

  static constexpr std::int64_t kLatest = 1000;
  LpSettings settings;
  LpBatch one;
  LpPoolState pool;
  Workspace workspace;
  std::int64_t tried = 0;
  std::int64_t answered = 0;
  std::int64_t skipped = 0;
};

LpSolver::LpSolver(const LpBatch& costs, const LpSettings& settings, int pool) {
  settings.validate();
  require::between("rows", costs.rows, 1, kMaxLpRows);
  require::between("columns", costs.columns, 1, kMaxLpColumns);
  require::between("objectives", costs.objectives, 1, 1);
  require::between("pool", pool, 0, kLargestPool);
  const auto n = static_cast<std::size_t>(costs.columns);
  require::size("matrix", costs.matrix.size(), n * static_cast<std::size_t>(costs.rows));
  require::size("cost", costs.cost.size(), n);
  require::finite("matrix", costs.matrix.data(), costs.matrix.size(), costs.columns);
  require::finite("cost", costs.cost.data(), costs.cost.size(), 0);
  kept_ = std::make_unique<Kept>(costs, settings, pool);
}
LpSolver::~LpSolver() = default;
LpSolver::LpSolver(LpSolver&&) noexcept = default;
LpSolver& LpSolver::operator=(LpSolver&&) noexcept = default;

int LpSolver::add(std::span<const BasisStatus> basis) {
  require::size(
      "basis", basis.size(),
      static_cast<std::size_t>(kept_->one.columns) + static_cast<std::size_t>(kept_->one.rows));
  return kept_->pool.add(basis.data());
}
int LpSolver::pooled() const { return static_cast<int>(kept_->pool.bases().size()); }

LpResult LpSolver::solve(const LpBounds& bounds, std::span<std::int32_t> start) {
  Kept& k = *kept_;
  const int m = k.one.rows;
  const int n = k.one.columns;
  const std::int64_t size = std::int64_t{m} + n;
  require::at_least("problems", bounds.problems, 0);
  require::size("start", start.size(), static_cast<std::size_t>(bounds.problems));
  for (std::size_t p = 0; p < start.size(); ++p) {
    if (start[p] >= pooled()) start[p] = -1;
  }
  LpBatch batch;
  static_cast<LpSizes&>(batch) = k.one;
  batch.problems = bounds.problems;
  batch.matrix =
      Buffer<double>::borrow(k.one.matrix.data(), k.one.matrix.size(), MemorySpace::host);
  batch.cost = Buffer<double>::borrow(k.one.cost.data(), k.one.cost.size(), MemorySpace::host);
  batch.row_lower = spread("row_lower", bounds.row_lower, bounds.problems, m);
  batch.row_upper = spread("row_upper", bounds.row_upper, bounds.problems, m);
  batch.column_lower = spread("column_lower", bounds.column_lower, bounds.problems, n);
  batch.column_upper = spread("column_upper", bounds.column_upper, bounds.problems, n);
  LpResult result = allocate<LpResult>(batch, MemorySpace::host, k.settings.certificates);
  std::vector<std::uint8_t> taken(static_cast<std::size_t>(bounds.problems), 0);
  if (pooled() > 0 && k.settings.max_pivots == 0 && (k.pays() || ++k.skipped % 10 == 0)) {
    const WorkspaceLease lease(&k.workspace);
    cpu::solve_pooled_lp(k.pool, batch, k.settings, start.data(), taken.data(), result,
                         lease.state());
    const std::int64_t hits = std::count(taken.begin(), taken.end(), std::uint8_t{1});
    k.count(bounds.problems, hits);
    for (std::size_t p = 0; p < taken.size(); ++p) {
      if (taken[p] != 0) k.pool.hit(start[p]);
    }
  }
  const std::vector<std::int64_t> open = open_ones(taken);
  if (open.empty()) return result;
  LpBatch rest;
  static_cast<LpSizes&>(rest) = k.one;
  rest.problems = static_cast<std::int64_t>(open.size());
  rest.matrix = repeated(k.one.matrix, rest.problems);
  rest.cost = repeated(k.one.cost, rest.problems);
  gather(batch.row_lower, open, m, rest.row_lower);
  gather(batch.row_upper, open, m, rest.row_upper);
  gather(batch.column_lower, open, n, rest.column_lower);
  gather(batch.column_upper, open, n, rest.column_upper);
  const bool warm = std::all_of(open.begin(), open.end(), [&](std::int64_t p) {
    return start[static_cast<std::size_t>(p)] >= 0;
  });
  Buffer<BasisStatus> from;
  if (warm) {
    from = Buffer<BasisStatus>(open.size() * static_cast<std::size_t>(size));
    for (std::size_t q = 0; q < open.size(); ++q) {
      const auto basis = static_cast<std::size_t>(start[static_cast<std::size_t>(open[q])]);
      std::copy_n(k.pool.bases()[basis].status.data(), size,
                  from.data() + static_cast<std::int64_t>(q) * size);
    }
  }
  const LpResult solved =
      solve_lp(rest, k.settings, Backend::cpu, warm ? &from : nullptr, &k.workspace);
  scatter(result, batch, open, solved);
  for (const std::int64_t p : open) {
    if (result.status.data()[p] != Status::solved) continue;
    const int basis = k.pool.add(result.basis.data() + p * size);
    if (basis >= 0) start[static_cast<std::size_t>(p)] = basis;
  }
  return result;
}

}  // namespace carom
