#include "programs/qp/far_answers.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "programs/kernels/doubled.hpp"

namespace carom {

namespace {

using kernels::Doubled;
using kernels::product_of;

/// Share of an objective above which it is computed once more.
constexpr double kLost = 1e-10;
/// Of the largest term of a sum that is zero; of the costs, what a gradient may leave out.
constexpr double kRounding = 1e-8, kVisible = 1e-3;

class FarAnswer {
 public:
  FarAnswer(const QpBatch& batch, const QpResult& result, std::int64_t p)
      : n_(batch.variables),
        m_(batch.rows),
        k_(batch.cone_rows()),
        hessian_(batch.hessian.data() + p * n_ * n_),
        vector_(batch.vector.data() + p * n_),
        matrix_(batch.matrix.data() + p * m_ * n_),
        lower_(batch.lower.data() + p * m_),
        upper_(batch.upper.data() + p * m_),
        cone_matrix_(batch.cone_matrix.data() + p * k_ * n_),
        cone_vector_(batch.cone_vector.data() + p * k_),
        x_(result.solution.data() + p * n_),
        dual_(result.dual.data() + p * m_),
        cone_dual_(result.cone_dual.data() + p * k_) {
    for (std::int64_t j = 0; j < n_; ++j) {
      bent_ += x_[j] * x_[j] * hessian(j, j);
      cost_ += std::fabs(vector_[j] * x_[j]);
    }
  }

  /// P is semidefinite: its diagonal bounds all terms of x'P x.
  [[nodiscard]] bool may_lose(double objective) const {
    const double rounding = static_cast<double>(n_ * (n_ + 4)) * 0x1p-53 * bent_;
    return rounding > kLost * std::fabs(objective);
  }
  [[nodiscard]] double objective() const {
    Doubled sum(0.0);
    for (std::int64_t j = 0; j < n_; ++j) {
      Doubled bent = product_of(0.5 * hessian(j, j), x_[j]) + vector_[j];
      for (std::int64_t k = 0; k < j; ++k) bent += product_of(hessian(j, k), x_[k]);
      sum += bent * x_[j];
    }
    return sum.hi;
  }

  [[nodiscard]] bool may_be_no_solution() const { return kRounding * bent_ > kVisible * cost_; }
  /// Whether x and the multipliers differ in the objective, or the gradient leaves out a visible
  /// part of a cost that the rounding of x'P x hides.
  [[nodiscard]] bool is_no_solution() const {
    double bends = 0.0, most = 0.0, left = 0.0;
    Doubled gap(0.0);
    for (std::int64_t j = 0; j < n_; ++j) {
      Doubled slope(vector_[j]);
      for (std::int64_t k = 0; k < n_; ++k) {
        const double entry = hessian(std::max(j, k), std::min(j, k));
        bends = std::max(bends, std::fabs(x_[j] * entry * x_[k]));
        slope += product_of(entry, x_[k]);
      }
      gap += slope * x_[j];
      for (std::int64_t i = 0; i < m_; ++i) slope += product_of(matrix_[i * n_ + j], dual_[i]);
      for (std::int64_t i = 0; i < k_; ++i) {
        slope += product_of(cone_matrix_[i * n_ + j], cone_dual_[i]);
      }
      left = std::max(left, std::fabs(slope.hi * x_[j]));
      most = std::max(most, std::fabs(vector_[j] * x_[j]));
    }
    const auto pay = [&](double bound, double multiplier) {
      if (multiplier == 0.0 || !std::isfinite(bound)) return;
      gap += product_of(bound, multiplier);
      most = std::max(most, std::fabs(bound * multiplier));
    };
    for (std::int64_t i = 0; i < m_; ++i) pay(dual_[i] > 0.0 ? upper_[i] : lower_[i], dual_[i]);
    for (std::int64_t i = 0; i < k_; ++i) pay(cone_vector_[i], cone_dual_[i]);
    if (std::fabs(gap.hi) > kRounding * std::max(bends, most)) return true;
    return cost_ > 0.0 && kRounding * bends > kVisible * most && left > kVisible * most;
  }

 private:
  [[nodiscard]] double hessian(std::int64_t j, std::int64_t k) const {
    return hessian_[j * n_ + k];
  }

  std::int64_t n_, m_, k_;
  const double *hessian_, *vector_, *matrix_, *lower_, *upper_, *cone_matrix_, *cone_vector_;
  const double *x_, *dual_, *cone_dual_;
  double bent_ = 0.0, cost_ = 0.0;
};

}  // namespace

void judge_far_answers(const QpBatch& batch, QpResult& result, int threads) {
  constexpr std::int64_t kGrain = 256;
  if (result.objective.space() != MemorySpace::host || batch.hessian.space() != MemorySpace::host) {
    return;
  }
  parallel_for(batch.problems, kGrain, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) {
      Status& status = result.status.data()[p];
      if (status != Status::solved && status != Status::inaccurate) continue;
      const FarAnswer answer(batch, result, p);
      double& objective = result.objective.data()[p];
      if (answer.may_lose(objective)) {
        const double restated = answer.objective();
        if (std::isfinite(restated)) objective = restated;
      }
      if (status == Status::solved && answer.may_be_no_solution() && answer.is_no_solution()) {
        status = Status::inaccurate;
      }
    }
  });
}

}  // namespace carom
