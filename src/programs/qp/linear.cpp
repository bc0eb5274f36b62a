#include "programs/qp/linear.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <type_traits>
#include <utility>

#include "core/arrays.hpp"
#include "core/constants.hpp"
#include "programs/qp/kernels/qp_proofs.hpp"
#include "programs/qp/kernels/qp_second_look.hpp"
#include "programs/qp/kernels/qp_task_arrays.hpp"
#include "programs/qp/layout.hpp"

namespace carom::qp_linear {

namespace {

using Indices = std::vector<std::int64_t>;
using Memory = kernels::PlainMemory<double>;
using Data = kernels::PlainMemory<const double>;

constexpr int kKept = -1;

/// Which rows of a problem become bounds of a column: those with one entry, the first of a column.
struct Folding {
  std::vector<int> column;  ///< [rows], or kKept
  int kept = 0;
};
/// Problems of one folding. It is each problem's own, so that no answer depends on its neighbours.
struct Group {
  Folding folding;
  Indices listed;
};

bool has_curvature(const double* hessian, std::int64_t entries) {
  return std::any_of(hessian, hessian + entries, [](double value) { return value != 0.0; });
}

Folding folding_of(const QpBatch& batch, const kernels::QpShape& shape, std::int64_t p) {
  const int n = shape.variables;
  Folding folding;
  std::vector<bool> taken(static_cast<std::size_t>(n), false);
  for (int i = 0; i < shape.rows; ++i) {
    const double* row =
        i < batch.rows ? batch.matrix.data() + (p * batch.rows + i) * n
                       : batch.cone_matrix.data() + (p * batch.cone_rows() + i - batch.rows) * n;
    int only = kKept;
    int entries = 0;
    for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
      if (row[shape.column[t]] == 0.0) continue;
      only = shape.column[t];
      ++entries;
    }
    if (entries != 1 || taken[static_cast<std::size_t>(only)]) only = kKept;
    // a division by a power of two leaves the bound as it is, and its multiplier
    int exponent = 0;
    if (only >= 0 && std::abs(std::frexp(row[only], &exponent)) != 0.5) only = kKept;
    folding.column.push_back(only);
    if (only >= 0) {
      taken[static_cast<std::size_t>(only)] = true;
    } else {
      ++folding.kept;
    }
  }
  return folding;
}

std::vector<Group> groups_of(const QpBatch& batch, const kernels::QpShape& shape,
                             const Indices& listed) {
  std::vector<Group> groups;
  std::map<std::vector<int>, std::size_t> known;
  for (const std::int64_t p : listed) {
    Folding folding = folding_of(batch, shape, p);
    const auto [place, is_new] = known.emplace(folding.column, groups.size());
    if (is_new) groups.push_back({std::move(folding), {}});
    groups[place->second].listed.push_back(p);
  }
  return groups;
}

void scatter(const QpResult& part, const QpSizes& sizes, const Indices& listed, QpResult& whole) {
  QpResult::each_array(
      sizes,
      [&](const char*, const Extents& extents, auto& to, const auto& from) {
        const std::int64_t stride = extents.stride();
        for (std::size_t at = 0; at < listed.size(); ++at) {
          std::copy_n(from.data() + static_cast<std::int64_t>(at) * stride, stride,
                      to.data() + listed[at] * stride);
        }
      },
      whole, part);
}

/// One problem's rows as the certificates take them, those of cones below those of A.
struct Rows {
  Rows(const QpBatch& batch, const QpLayout& layout, std::int64_t p)
      : hessian(batch.hessian.data() + p * batch.variables * batch.variables),
        gradient(batch.vector.data() + p * batch.variables) {
    const std::int64_t n = batch.variables;
    const std::int64_t m = batch.rows;
    const std::int64_t k = batch.cone_rows();
    matrix.assign(batch.matrix.data() + p * m * n, batch.matrix.data() + (p + 1) * m * n);
    matrix.insert(matrix.end(), batch.cone_matrix.data() + p * k * n,
                  batch.cone_matrix.data() + (p + 1) * k * n);
    lower.assign(batch.lower.data() + p * m, batch.lower.data() + (p + 1) * m);
    upper.assign(batch.upper.data() + p * m, batch.upper.data() + (p + 1) * m);
    for (std::int64_t i = 0; i < k; ++i) {
      const double b = batch.cone_vector.data()[p * k + i];
      lower.push_back(layout.cone_equations()[static_cast<std::size_t>(m + i)] != 0 ? b
                                                                                    : -kInfinity);
      upper.push_back(b);
    }
  }
  [[nodiscard]] kernels::QpView<Data> view() const {
    return {{hessian}, {gradient}, {matrix.data()}, {lower.data()}, {upper.data()}};
  }
  /// No number is refused.
  [[nodiscard]] bool is_valid() const {
    const auto finite = [](double value) { return std::isfinite(value); };
    const auto n =
        static_cast<std::ptrdiff_t>(matrix.size() / std::max<std::size_t>(1, lower.size()));
    return std::all_of(matrix.begin(), matrix.end(), finite) &&
           std::all_of(gradient, gradient + n, finite) &&
           std::all_of(lower.begin(), lower.end(), [](double l) { return l < kInfinity; }) &&
           std::all_of(upper.begin(), upper.end(), [](double u) { return u > -kInfinity; });
  }

  const double* hessian;
  const double* gradient;
  std::vector<double> matrix, lower, upper;
};

LpBatch linear_batch(const QpBatch& batch, const QpLayout& layout, const Indices& listed,
                     const Folding& folding) {
  const std::int64_t n = batch.variables;
  LpBatch lp;
  lp.problems = static_cast<std::int64_t>(listed.size());
  lp.rows = std::max(folding.kept, 1);
  lp.columns = batch.variables;
  LpBatch::each_array(
      lp,
      [](const char*, const Extents& extents, auto& values) {
        values = std::remove_cvref_t<decltype(values)>(static_cast<std::size_t>(extents.count()));
      },
      lp);
  std::fill_n(lp.matrix.data(), lp.matrix.size(), 0.0);
  std::fill_n(lp.row_lower.data(), lp.row_lower.size(), -kInfinity);
  std::fill_n(lp.row_upper.data(), lp.row_upper.size(), kInfinity);
  std::fill_n(lp.column_lower.data(), lp.column_lower.size(), -kInfinity);
  std::fill_n(lp.column_upper.data(), lp.column_upper.size(), kInfinity);
  for (std::int64_t at = 0; at < lp.problems; ++at) {
    const Rows rows(batch, layout, listed[static_cast<std::size_t>(at)]);
    std::copy_n(rows.gradient, n, lp.cost.data() + at * n);
    std::int64_t to = at * lp.rows;
    for (std::size_t i = 0; i < rows.lower.size(); ++i) {
      const int j = folding.column[i];
      const double* row = rows.matrix.data() + static_cast<std::ptrdiff_t>(i) * n;
      if (j >= 0) {
        const double l = rows.lower[i] / row[j];
        const double u = rows.upper[i] / row[j];
        lp.column_lower.data()[at * n + j] = row[j] > 0.0 ? l : u;
        lp.column_upper.data()[at * n + j] = row[j] > 0.0 ? u : l;
        continue;
      }
      std::copy_n(row, n, lp.matrix.data() + to * n);
      lp.row_lower.data()[to] = rows.lower[i];
      lp.row_upper.data()[to] = rows.upper[i];
      ++to;
    }
  }
  return lp;
}

/// What the simplex method says of one problem, judged as any answer to a quadratic program.
class Answer {
 public:
  Answer(const QpBatch& batch, const QpLayout& layout, const QpSettings& settings,
         const Folding& folding, std::int64_t p)
      : shape_(layout.shape()),
        folding_(folding),
        tolerance_(settings.tolerance),
        rows_(batch, layout, p),
        x(static_cast<std::size_t>(batch.variables)),
        point(x),
        y(rows_.lower.size()),
        work_(static_cast<std::size_t>(
            certificate::qp_judge_workspace(shape_.variables, shape_.rows))),
        spare_(std::max(x.size(), y.size())) {}

  /// False where it is to be solved otherwise.
  bool take(const LpBatch& lp, const LpResult& result, std::int64_t at) {
    const int n = shape_.variables;
    status = result.status.data()[at];
    pivots = result.pivots.data()[at];
    if (!rows_.is_valid()) return false;
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (rows_.lower[i] > rows_.upper[i]) return false;
    }
    const Judge judge(kernels::SingleLane{}, shape_, rows_.view(), Memory{work_.data()});
    const auto columns = static_cast<std::ptrdiff_t>(n);
    if (status == Status::solved) {
      std::copy_n(result.solution.data() + at * columns, n, x.begin());
      multipliers(lp, result.dual.data() + at * lp.rows, rows_.gradient);
      const auto judged =
          judge.residual(Memory{x.data()}, Memory{y.data()}, kernels::qp_leaning(shape_));
      residual = judged.value();
      objective = judged.objective;
    } else if (status == Status::infeasible) {
      multipliers(lp, result.farkas.data() + at * lp.rows, nullptr);
      residual = kernels::infeasibility_residual(kernels::SingleLane{}, shape_, rows_.view(),
                                                 Memory{y.data()}, Memory{work_.data()},
                                                 Memory{spare_.data()}, tolerance_);
    } else if (status == Status::unbounded) {
      std::copy_n(result.ray.data() + at * columns, n, x.begin());
      std::copy_n(result.point.data() + at * columns, n, point.begin());
      residual = kernels::unboundedness_residual(
          kernels::SingleLane{}, shape_, rows_.view(), Memory{point.data()}, Memory{x.data()},
          Memory{work_.data()}, Memory{spare_.data()}, tolerance_);
    } else {
      return false;
    }
    return certificate::within(residual, tolerance_) && !wants_second_look();
  }

  void put(const QpBatch& batch, std::int64_t p, QpResult& result) const {
    const auto n = static_cast<std::int64_t>(x.size());
    const std::int64_t m = batch.rows;
    const std::int64_t k = batch.cone_rows();
    const bool solved = status == Status::solved;
    if (solved) {
      std::copy(x.begin(), x.end(), result.solution.data() + p * n);
      std::copy_n(y.begin(), m, result.dual.data() + p * m);
      std::copy_n(y.begin() + m, k, result.cone_dual.data() + p * k);
      result.objective.data()[p] = objective;
    } else {
      double* certificate = result.certificate.data() + p * std::max(n, m + k);
      const std::vector<double>& proof = status == Status::infeasible ? y : x;
      std::copy(proof.begin(), proof.end(), certificate);
    }
    if (status == Status::unbounded) {
      std::copy(point.begin(), point.end(), result.point.data() + p * n);
    }
    result.status.data()[p] = status;
    result.method.data()[p] = QpMethod::active_set;
    result.iterations.data()[p] = pivots;
    result.residual.data()[p] = residual;
  }

 private:
  using Judge = certificate::QpJudge<double, kernels::SingleLane, Data, Memory>;

  /// Rows that are nearly parallel, or bounds that x misses: the exact method is asked.
  [[nodiscard]] bool wants_second_look() const {
    if (status == Status::infeasible || !(residual > kernels::kSeenByRounding * tolerance_) ||
        !kernels::qp_takes_refinement(shape_)) {
      return false;
    }
    const kernels::QpView<Data> view = rows_.view();
    const Data own_x{x.data()}, own_y{y.data()};
    const kernels::QpSecondLook look(shape_, view, own_x, own_y);
    return look.has_near_parallels() ||
           (status == Status::solved && look.misses_own_bounds(tolerance_));
  }
  /// y of P x + q + A'y = 0 from the rows' multipliers; those that became bounds of a column take
  /// what the others leave of `cost`, or of zero.
  void multipliers(const LpBatch& lp, const double* dual, const double* cost) {
    const int n = lp.columns;
    std::size_t next = 0;
    std::vector<double> left(static_cast<std::size_t>(n), 0.0);
    if (cost != nullptr) std::copy_n(cost, n, left.begin());
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (folding_.column[i] >= 0) continue;
      y[i] = -dual[next++];
      for (std::size_t j = 0; j < left.size(); ++j)
        left[j] += rows_.matrix[i * left.size() + j] * y[i];
    }
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (folding_.column[i] < 0) continue;
      const auto j = static_cast<std::size_t>(folding_.column[i]);
      y[i] = -left[j] / rows_.matrix[i * left.size() + j];
    }
  }

  const kernels::QpShape& shape_;
  const Folding& folding_;
  double tolerance_;
  Rows rows_;

 public:
  std::vector<double> x, point, y;
  Status status = Status::numerical_error;
  int pivots = 0;
  double residual = 0.0;
  double objective = 0.0;

 private:
  std::vector<double> work_, spare_;
};

}  // namespace

Indices problems(const QpBatch& batch) {
  Indices listed;
  const auto in_cone = [](const Cone& cone) {
    return cone.kind == ConeKind::second_order && cone.size > 1;
  };
  if (batch.hessian.space() != MemorySpace::host || batch.rows + batch.cone_rows() == 0 ||
      batch.variables > kMaxLpColumns ||
      std::any_of(batch.cones.begin(), batch.cones.end(), in_cone)) {
    return listed;
  }
  const std::int64_t entries = std::int64_t{batch.variables} * batch.variables;
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    if (!has_curvature(batch.hessian.data() + p * entries, entries)) listed.push_back(p);
  }
  return listed;
}

QpResult solve(const QpBatch& batch, const QpSettings& settings, const QpWarmStart& start,
               const Indices& listed, const SolveLp& solve_lp, const SolveQp& solve_qp) {
  const QpLayout layout(batch);
  auto result = allocate<QpResult>(batch);
  fill_nan(result);
  LpSettings simplex;
  simplex.tolerance = settings.tolerance;
  simplex.threads = settings.threads;
  std::vector<bool> done(static_cast<std::size_t>(batch.problems), false);
  for (const Group& group : groups_of(batch, layout.shape(), listed)) {
    if (group.folding.kept > kMaxLpRows) continue;
    const LpBatch lp = linear_batch(batch, layout, group.listed, group.folding);
    const LpResult linear = solve_lp(lp, simplex);
    for (std::size_t at = 0; at < group.listed.size(); ++at) {
      const std::int64_t p = group.listed[at];
      Answer answer(batch, layout, settings, group.folding, p);
      if (!answer.take(lp, linear, static_cast<std::int64_t>(at))) continue;
      answer.put(batch, p, result);
      done[static_cast<std::size_t>(p)] = true;
    }
  }
  Indices others;
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    if (!done[static_cast<std::size_t>(p)]) others.push_back(p);
  }
  if (!others.empty()) {
    scatter(
        solve_qp(arrays::gathered(batch, batch, others), arrays::gathered(start, batch, others)),
        batch, others, result);
  }
  return result;
}

}  // namespace carom::qp_linear
