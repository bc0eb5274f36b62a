#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <carom/certificate_boxed_lcp.hpp>

#include "core/constants.hpp"
#include "core/parallel.hpp"
#include "programs/lcp/boxed_backends.hpp"
#include "reference/programs/bland_simplex.hpp"
#include "reference/programs/lemke.hpp"

namespace carom::reference {

namespace {

/// A boxed LCP as an LCP of twice its order, as textbooks have it: an upper bound in addition to a
/// lower one and a free unknown take a second unknown each, a friction row three.
class AsLcp {
 public:
  explicit AsLcp(const certificate::BoxedLcpData& problem)
      : problem_(problem),
        n_(problem.order),
        given_(Eigen::Map<const Matrix>(problem.matrix, n_, n_)),
        base_(Vector::Zero(n_)) {
    for (int i = 0; i < n_; ++i) add(i);
    const auto m = static_cast<Eigen::Index>(columns_.size());
    Matrix from(n_, m);  // z = base + from x
    from.setZero();
    for (Eigen::Index k = 0; k < m; ++k) {
      const Column& column = columns_[static_cast<std::size_t>(k)];
      from(column.index, k) = column.of_z;
    }
    const Vector q = Eigen::Map<const Vector>(problem.vector, n_);
    const Matrix slopes = given_ * from;
    const Vector rest = given_ * base_ + q;
    matrix.setZero(m, m);
    vector.setZero(m);
    for (Eigen::Index k = 0; k < m; ++k) {
      const Column& column = columns_[static_cast<std::size_t>(k)];
      matrix.row(k) = column.of_w * slopes.row(column.index);
      vector[k] = column.of_w * rest[column.index] + column.constant;
      for (const auto& [other, slope] : column.more) matrix(k, other) += slope;
    }
    // what a limit mu z_j has of the start of z_j
    for (Eigen::Index k = 0; k < m; ++k) {
      const Column& column = columns_[static_cast<std::size_t>(k)];
      if (!column.slides) continue;
      const int j = problem_.findex[column.index];
      matrix.row(k) += problem_.friction[column.index] * from.row(j);
      vector[k] += problem_.friction[column.index] * base_[j];
    }
  }

  [[nodiscard]] Vector z(const Vector& x) const {
    Vector found = base_;
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      found[columns_[k].index] += columns_[k].of_z * x[static_cast<Eigen::Index>(k)];
    }
    for (int i = 0; i < n_; ++i) {
      if (problem_.index(i) >= 0) continue;
      const double low = problem_.lower[i], high = problem_.upper[i];
      const double room = 1e-14 * (high < kInfinity && low > -kInfinity ? high - low : 0.0);
      if (std::fabs(found[i] - high) <= room) found[i] = high;
      found[i] = std::min(std::max(found[i], low), high);
    }
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      if (!columns_[k].slides) continue;
      const int i = columns_[k].index;
      const double limit = problem_.friction[i] * found[problem_.findex[i]];
      const bool slides = x[static_cast<Eigen::Index>(k)] > 0.0;
      const bool near = std::fabs(std::fabs(found[i]) - limit) <= 1e-12 * limit;
      if ((slides && near) || std::fabs(found[i]) > limit)
        found[i] = std::copysign(limit, found[i]);
    }
    return found;
  }

  /// Multipliers of the rows as BoxedLcpResult::farkas has them.
  [[nodiscard]] std::vector<double> farkas(const Vector& y) const {
    std::vector<double> found(static_cast<std::size_t>(n_), 0.0);
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      const Column& column = columns_[k];
      if (problem_.index(column.index) >= 0) continue;
      found[static_cast<std::size_t>(column.index)] +=
          column.of_w * y[static_cast<Eigen::Index>(k)];
    }
    return found;
  }

  Matrix matrix;
  Vector vector;

 private:
  struct Column {
    int index;
    double of_z;  ///< of x_k in z_index
    double of_w;  ///< of w_index in row k
    double constant = 0.0;
    bool slides = false;
    std::vector<std::pair<int, double>> more{};  ///< other slopes of row k
  };

  void add(int i) {
    const int here = static_cast<int>(columns_.size());
    if (problem_.index(i) >= 0) {
      columns_.push_back({i, 1.0, 1.0, 0.0, false, {{here + 2, 1.0}}});
      columns_.push_back({i, -1.0, -1.0, 0.0, false, {{here + 2, 1.0}}});
      columns_.push_back({i, 0.0, 0.0, 0.0, true, {{here, -1.0}, {here + 1, -1.0}}});
      return;
    }
    const double low = problem_.lower[i], high = problem_.upper[i];
    if (low == -kInfinity && high == kInfinity) {
      columns_.push_back({i, 1.0, 1.0});
      columns_.push_back({i, -1.0, -1.0});
    } else if (low == -kInfinity) {
      base_[i] = high;
      columns_.push_back({i, -1.0, -1.0});
    } else {
      base_[i] = low;
      if (low == high) return;
      columns_.push_back({i, 1.0, 1.0});
      if (high == kInfinity) return;
      columns_.back().more = {{here + 1, 1.0}};
      columns_.push_back({i, 0.0, 0.0, high - low, false, {{here, -1.0}}});
    }
  }

  certificate::BoxedLcpData problem_;
  int n_;
  Eigen::Map<const Matrix> given_;
  Vector base_;
  std::vector<Column> columns_;
};

struct Answer {
  Status status = Status::numerical_error;
  Vector z{};
  std::vector<double> farkas{};
  double residual = std::numeric_limits<double>::quiet_NaN();
  int pivots = 0;
};

Answer answer_of(const certificate::BoxedLcpData& given, const BoxedLcpSettings& settings) {
  const int n = given.order;
  Answer answer;
  for (int i = 0; i < n; ++i) {
    if (given.index(i) >= 0 || given.lower[i] <= given.upper[i]) continue;
    answer.status = Status::infeasible;
    answer.farkas.assign(static_cast<std::size_t>(n), 0.0);
    answer.residual = 0.0;
    return answer;
  }
  const AsLcp lcp(given);
  std::vector<double> memory(static_cast<std::size_t>(certificate::boxed_lcp_judge_workspace(n)));
  certificate::BoxedLcpJudge judge(given, memory.data());
  const auto m = static_cast<int>(lcp.vector.size());
  // LcpJudge's memory in one lane ends at order 128.
  const LemkeOutcome outcome =
      lemke(lcp.matrix, lcp.vector, settings.tolerance, settings.max_pivots,
            m <= 128 ? Units::of_rows : Units::common);
  answer.pivots = outcome.pivots;
  answer.status = outcome.status;
  if (outcome.status == Status::solved || outcome.status == Status::inaccurate) {
    answer.z = lcp.z(outcome.solution);
    answer.residual = judge.residual(answer.z.data());
    answer.status = certificate::within(answer.residual, settings.tolerance) ? Status::solved
                                                                             : Status::inaccurate;
    if (answer.status == Status::solved) return answer;
    if (!std::isfinite(answer.residual)) answer = {.pivots = outcome.pivots};
  }
  const Vector zero = Vector::Zero(m), least = -lcp.vector, none = Vector::Constant(m, kInfinity);
  const certificate::LpData lp{
      m, m, zero.data(), lcp.matrix.data(), least.data(), none.data(), zero.data(), none.data()};
  const BlandOutcome claim = solve_by_bland(lp, 200 * (m + 1));
  if (claim.status != Status::infeasible) return answer;
  Vector y = claim.dual.cwiseMax(0.0);
  const double dust = 1e-14 * y.maxCoeff();
  for (double& value : y) value = value <= dust ? 0.0 : value;
  std::vector<double> farkas = lcp.farkas(y);
  memory.resize(static_cast<std::size_t>(certificate::boxed_lcp_farkas_workspace(n)));
  const double residual =
      certificate::boxed_lcp_farkas_residual(given, farkas.data(), memory.data());
  if (!(residual <= std::min(settings.tolerance, 1e-12))) return answer;
  return {Status::infeasible, {}, std::move(farkas), residual, outcome.pivots};
}

}  // namespace

BoxedLcpResult solve_boxed_lcp(const BoxedLcpBatch& batch, const BoxedLcpSettings& settings,
                               int /*frictions*/, WorkspaceState* /*workspace*/) {
  const int n = batch.order;
  const bool friction = !batch.findex.empty();
  const bool ode = friction && settings.friction_law == FrictionLaw::ode;
  auto result = allocate<BoxedLcpResult>(batch, MemorySpace::host, friction);
  fill_nan(result);
  parallel_for_each(batch.problems, settings.threads, [&](std::int64_t p) {
    const std::int64_t at = p * n;
    std::vector<double> low(batch.lower.data() + at, batch.lower.data() + at + n);
    std::vector<double> high(batch.upper.data() + at, batch.upper.data() + at + n);
    certificate::BoxedLcpData given{n,
                                    batch.matrix.data() + at * n,
                                    batch.vector.data() + at,
                                    low.data(),
                                    high.data(),
                                    friction ? batch.findex.data() + at : nullptr,
                                    friction ? batch.friction.data() + at : nullptr};
    const std::int32_t* findex = given.findex;
    result.status.data()[p] = Status::invalid_input;
    result.pivots.data()[p] = 0;
    if (!Eigen::Map<const Matrix>(given.matrix, n, n).allFinite() ||
        !Eigen::Map<const Vector>(given.vector, n).allFinite()) {
      return;
    }
    for (int i = 0; i < n; ++i) {
      if (!(low[static_cast<std::size_t>(i)] < kInfinity) ||
          !(high[static_cast<std::size_t>(i)] > -kInfinity)) {
        return;
      }
    }
    double* limit = friction ? result.limit.data() + at : nullptr;
    const auto limits = [&](auto&& of_row) {
      for (int i = 0; i < n; ++i) {
        if (findex[i] < 0) continue;
        const auto k = static_cast<std::size_t>(i);
        limit[i] = of_row(i);
        if (!ode) continue;
        low[k] = -limit[i];
        high[k] = limit[i];
      }
    };
    if (ode) {
      given.findex = nullptr;
      limits([](int) { return 0.0; });
    }
    Answer answer = answer_of(given, settings);
    if (ode && answer.status == Status::solved) {
      limits([&](int i) { return batch.friction.data()[at + i] * std::fabs(answer.z[findex[i]]); });
      const int pivots = answer.pivots;
      answer = answer_of(given, settings);
      answer.pivots += pivots;
    }
    result.status.data()[p] = answer.status;
    result.pivots.data()[p] = answer.pivots;
    result.residual.data()[p] = answer.residual;
    if (!answer.farkas.empty()) {
      std::copy(answer.farkas.begin(), answer.farkas.end(), result.farkas.data() + at);
    }
    if (answer.z.size() == 0) return;
    std::copy_n(answer.z.data(), n, result.solution.data() + at);
    const Vector w = Eigen::Map<const Matrix>(given.matrix, n, n) * answer.z +
                     Eigen::Map<const Vector>(given.vector, n);
    std::copy_n(w.data(), n, result.slack.data() + at);
    if (!friction) return;
    double most = 0.0, error = 0.0;
    for (int i = 0; i < n; ++i) {
      if (findex[i] < 0) continue;
      const double own = batch.friction.data()[at + i] * std::fabs(answer.z[findex[i]]);
      if (!ode) limit[i] = own;
      most = std::max({most, own, limit[i]});
      error = std::max(error, std::fabs(own - limit[i]));
    }
    result.limit_error.data()[p] = most > 0.0 ? error / most : 0.0;
  });
  return result;
}

template <>
const BoxedLcpEntries& entries() {
  static constexpr BoxedLcpEntries kEntries{solve_boxed_lcp};
  return kEntries;
}

}  // namespace carom::reference
