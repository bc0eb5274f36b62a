#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "cpu/programs/boxed_task.hpp"
#include "programs/lcp/boxed.hpp"
#include "programs/lcp/kernels/lcp_finish.hpp"
#include "programs/lp/backends.hpp"

namespace carom::cpu {

namespace {

using boxed::Box;
using certificate::BoxedLcpData;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr int kOtherPaths = 4;
constexpr int kOtherLongPaths = 12;  // where the first one did not end

/// Rows' multipliers that no z of the box answers, by the simplex method; empty where none was
/// found.
std::vector<double> farkas_of(const Box& box) {
  LpBatch lp;
  lp.problems = 1;
  lp.rows = lp.columns = box.order;
  const boxed::LinearRows rows = boxed::linear_rows(box);
  const std::vector<double> cost(static_cast<std::size_t>(box.order), 0.0);
  const auto borrowed = [](const std::vector<double>& values) {
    return Buffer<double>::borrow(const_cast<double*>(values.data()), values.size(),
                                  MemorySpace::host);
  };
  lp.cost = borrowed(cost);
  lp.matrix = borrowed(box.matrix);
  lp.row_lower = borrowed(rows.lower);
  lp.row_upper = borrowed(rows.upper);
  lp.column_lower = borrowed(box.lower);
  lp.column_upper = borrowed(box.upper);
  LpSettings settings;
  settings.threads = 1;
  const LpResult result = solve_lp(lp, settings, nullptr);
  if (result.status.host()[0] != Status::infeasible) return {};
  std::vector<double> y(result.farkas.data(), result.farkas.data() + box.order);
  return boxed::margin_is_no_noise(box, y) ? y : std::vector<double>();
}

/// One problem of a batch and its places in the result.
class Task {
 public:
  Task(const BoxedLcpBatch& batch, const BoxedLcpSettings& settings, BoxedLcpResult& result,
       std::int64_t p, FollowBox follow, const boxed::Ended* ended)
      : follow_(follow),
        ended_(ended),
        batch_(batch),
        settings_(settings),
        result_(result),
        p_(p),
        n_(batch.order),
        at_(p * n_),
        memory_(static_cast<std::size_t>(certificate::boxed_lcp_judge_workspace(n_))) {}

  void run() {
    if (!is_finite()) return set(Status::invalid_input);
    BoxedLcpData given = data();
    if (!batch_.findex.empty() && settings_.friction_law == FrictionLaw::ode) return freeze(given);
    solve(given);
  }

 private:
  [[nodiscard]] BoxedLcpData data() const {
    return {n_,
            batch_.matrix.data() + at_ * n_,
            batch_.vector.data() + at_,
            batch_.lower.data() + at_,
            batch_.upper.data() + at_,
            batch_.findex.empty() ? nullptr : batch_.findex.data() + at_,
            batch_.findex.empty() ? nullptr : batch_.friction.data() + at_};
  }
  [[nodiscard]] bool is_finite() const {
    const BoxedLcpData given = data();
    const auto all = [](const double* values, std::int64_t count, auto&& good) {
      return std::all_of(values, values + count, good);
    };
    const auto finite = [](double x) { return std::isfinite(x); };
    return all(given.matrix, std::int64_t{n_} * n_, finite) && all(given.vector, n_, finite) &&
           all(given.lower, n_, [](double x) { return x < kernels::kInfinity; }) &&
           all(given.upper, n_, [](double x) { return x > -kernels::kInfinity; });
  }
  [[nodiscard]] int path_limit(int order) const {
    return settings_.max_pivots > 0 ? settings_.max_pivots : 50 * (order + 1);
  }
  void set(Status status, double residual = kNaN) {
    result_.status.data()[p_] = status;
    result_.residual.data()[p_] = residual;
  }

  /// As ODE's solver has it: limits from the rows without index, friction being zero.
  void freeze(const BoxedLcpData& given) {
    std::vector<double> low(given.lower, given.lower + n_), high(given.upper, given.upper + n_);
    double* limit = result_.limit.data() + at_;
    const auto box_of = [&](int i, double most) {
      low[static_cast<std::size_t>(i)] = -most;
      high[static_cast<std::size_t>(i)] = most;
      limit[i] = most;
    };
    for (int i = 0; i < n_; ++i) {
      if (given.index(i) >= 0) box_of(i, 0.0);
    }
    BoxedLcpData frozen = given;
    frozen.findex = nullptr;
    frozen.lower = low.data();
    frozen.upper = high.data();
    solve(frozen);
    if (result_.status.data()[p_] != Status::solved) return;
    const std::int32_t pivots = result_.pivots.data()[p_];
    const double* z = result_.solution.data() + at_;
    for (int i = 0; i < n_; ++i) {
      if (given.index(i) >= 0) box_of(i, given.friction[i] * std::fabs(z[given.index(i)]));
    }
    solve(frozen);
    result_.pivots.data()[p_] += pivots;
    compare_limits(batch_, settings_.friction_law, result_, p_);
  }

  void solve(const BoxedLcpData& given) {
    for (int i = 0; i < n_; ++i) {
      if (given.index(i) < 0 && given.lower[i] > given.upper[i]) return crossed();
    }
    const boxed::Expansion expansion(given);
    const Box& box = expansion.box();
    double* z = result_.solution.data() + at_;
    std::vector<double> own(static_cast<std::size_t>(n_));
    certificate::BoxedLcpJudge judge(given, memory_.data());
    const boxed::Certify certify = [&](const std::vector<double>& point) {
      expansion.contract(point, own.data());
      return judge.residual(own.data());
    };
    const boxed::Effort effort{settings_.tolerance, path_limit(box.order), settings_.max_pivots > 0,
                               follow_};
    boxed::Found found = boxed::follow_paths(box, effort, certify, ended_);
    int pivots = found.pivots;
    const bool endless = found.status == Status::iteration_limit && !effort.limited;
    if (endless || found.status == Status::ray || found.status == Status::numerical_error ||
        found.status == Status::inaccurate) {
      if (!endless && prove(given, expansion)) {
        result_.pivots.data()[p_] = pivots;
        return;
      }
      boxed::Found other =
          boxed::follow_other_paths(box, effort, certify, endless ? kOtherLongPaths : kOtherPaths);
      pivots += other.pivots;
      const bool better =
          other.status == Status::solved || (other.status == Status::inaccurate &&
                                             (found.z.empty() || other.residual < found.residual));
      if (better) found = std::move(other);
    }
    result_.pivots.data()[p_] = pivots;
    set(found.status, found.residual);
    if (found.z.empty()) return;
    expansion.contract(found.z, z);
    double* w = result_.slack.data() + at_;
    for (int i = 0; i < n_; ++i) {
      double sum = given.vector[i];
      for (int j = 0; j < n_; ++j) sum += given.matrix[static_cast<long>(i) * n_ + j] * z[j];
      w[i] = sum;
    }
    if (given.findex != nullptr) {
      compare_limits(batch_, settings_.friction_law, result_, p_);
    }
  }

  bool prove(const BoxedLcpData& given, const boxed::Expansion& expansion) {
    const std::vector<double> multipliers = farkas_of(expansion.box());
    if (multipliers.empty()) return false;
    std::vector<double> y(static_cast<std::size_t>(n_));
    expansion.contract_farkas(multipliers, y.data());
    std::vector<double> memory(
        static_cast<std::size_t>(certificate::boxed_lcp_farkas_workspace(n_)));
    const double residual = certificate::boxed_lcp_farkas_residual(given, y.data(), memory.data());
    if (!(residual <= std::min(settings_.tolerance, kernels::kLcpProof))) return false;
    std::copy(y.begin(), y.end(), result_.farkas.data() + at_);
    set(Status::infeasible, residual);
    return true;
  }

  void crossed() {
    std::fill_n(result_.farkas.data() + at_, n_, 0.0);
    set(Status::infeasible, 0.0);
  }

  FollowBox follow_;
  const boxed::Ended* ended_;
  const BoxedLcpBatch& batch_;
  const BoxedLcpSettings& settings_;
  BoxedLcpResult& result_;
  std::int64_t p_;
  int n_;
  std::int64_t at_;
  std::vector<double> memory_;
};

}  // namespace

void compare_limits(const BoxedLcpBatch& batch, FrictionLaw law, BoxedLcpResult& result,
                    std::int64_t p) {
  const int n = batch.order;
  const Status status = result.status.data()[p];
  if (status != Status::solved && status != Status::inaccurate) return;
  const double* z = result.solution.data() + p * n;
  double* limit = result.limit.data() + p * n;
  double most = 0.0, error = 0.0;
  for (int i = 0; i < n; ++i) {
    const int j = batch.findex.data()[p * n + i];
    if (j < 0) continue;
    const double own = batch.friction.data()[p * n + i] * std::fabs(z[j]);
    if (law == FrictionLaw::simultaneous) limit[i] = own;
    most = std::max({most, limit[i], own});
    error = std::max(error, std::fabs(own - limit[i]));
  }
  result.limit_error.data()[p] = most > 0.0 ? error / most : 0.0;
}

void solve_box_alone(const BoxedLcpBatch& batch, const BoxedLcpSettings& settings,
                     BoxedLcpResult& result, std::int64_t p, FollowBox follow,
                     const boxed::Ended* ended) {
  result.pivots.data()[p] = 0;
  Task(batch, settings, result, p, follow, ended).run();
}

}  // namespace carom::cpu
