#include "programs/sdp/solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "programs/sdp/proofs.hpp"

namespace carom::sdp {

namespace {

constexpr double kBack = 0.98;  // of the way to the boundary
constexpr double kLeastStep = 1e-9;
constexpr int kSchurRefinements = 2;
constexpr double kLargestPoint = 1e3;

template <class Real>
Real sum_of_sizes(const NumbersOf<Real>& values) {
  Real sum = 0.0;
  for (const Real v : values) sum += std::fabs(v);
  return sum;
}

template <class Real>
decltype(auto) in_doubles(const NumbersOf<Real>& values) {
  if constexpr (std::is_same_v<Real, double>) {
    return (values);
  } else {
    return NumbersOf<double>(values.begin(), values.end());
  }
}

/// HKM direction with Mehrotra's predictor and corrector.
template <class Real>
class InteriorPoint {
  using Numbers = NumbersOf<Real>;
  using Scratch = ScratchOf<Real>;

 public:
  InteriorPoint(const SdpProblem& problem, const SdpSettings& settings, const SdpStops& stops,
                double raised)
      : p_(problem),
        form_(problem),
        blocks_(form_.blocks()),
        settings_(settings),
        stops_(stops),
        raised_(raised),
        m_(form_.variables()),
        size_(form_.size()),
        order_(form_.order()),
        scale_c_(1.0 + largest(p_.constant)),
        scale_b_(1.0 + largest(p_.objective)) {}

  SdpResult run() {
    start();
    SdpResult best;
    best.residual = std::numeric_limits<double>::infinity();
    for (int iteration = 0;; ++iteration) {
      measure();
      SdpResult now = judged();
      now.iterations = iteration;
      if (now.residual < best.residual) best = now;
      best.iterations = iteration;
      if (best.residual <= settings_.tolerance) break;
      if (now.objective >= stops_.enough && now_slack_ >= 0.0) return now;
      if (bound(now.dual) <= stops_.hopeless) return now;
      if (proof(best)) return best;
      if (iteration >= settings_.max_iterations) {
        best.status = Status::iteration_limit;
        break;
      }
      if (!step()) break;
    }
    if (best.residual <= settings_.tolerance) {
      best.status = Status::solved;
    } else if (best.status != Status::iteration_limit) {
      best.status = best.residual <= 1e-3 ? Status::inaccurate : Status::numerical_error;
    }
    return best;
  }

 private:
  [[nodiscard]] const double* coefficient(std::size_t i) const { return form_.coefficient(i); }

  void start() {
    Real least_x = 10.0, least_s = 10.0;
    for (std::size_t i = 0; i < m_; ++i) {
      const Real norm = std::sqrt(product(coefficient(i), coefficient(i), size_));
      least_x = std::max(least_x, (1.0 + std::fabs(p_.objective[i])) / (1.0 + norm));
      least_s = std::max(least_s, norm);
    }
    least_s =
        std::max<Real>(least_s, std::sqrt(product(p_.constant.data(), p_.constant.data(), size_)));
    y_.assign(m_, 0.0);
    x_.assign(size_, 0.0);
    s_.assign(size_, 0.0);
    for (const Block& block : blocks_) {
      for (int i = 0; i < block.n; ++i) {
        x_[block.at + static_cast<std::size_t>(i * block.n + i)] = least_x;
        s_[block.at + static_cast<std::size_t>(i * block.n + i)] = least_s;
      }
    }
  }

  void measure() {
    const Numbers traces_x = form_.traces(x_);
    rp_.resize(m_);
    for (std::size_t i = 0; i < m_; ++i) rp_[i] = p_.objective[i] - traces_x[i];
    rd_ = form_.slack(y_, true);
    for (std::size_t k = 0; k < size_; ++k) rd_[k] -= s_[k];
    mu_ = product(x_.data(), s_.data(), size_) / order_;
  }

  [[nodiscard]] SdpResult judged() {
    SdpResult result;
    result.y = in_doubles(y_);
    result.x = in_doubles(x_);
    result.objective = product(p_.objective.data(), y_.data(), m_);
    result.dual = product(p_.constant.data(), x_.data(), size_);
    const Real values = 1.0 + std::fabs(result.objective) + std::fabs(result.dual);
    now_slack_ = form_.least_eigenvalue(form_.slack(y_, true));
    result.residual = std::max<Real>(
        {-now_slack_ / scale_c_, -form_.least_eigenvalue(x_) / scale_b_, largest(rp_) / scale_b_,
         std::fabs(result.dual - result.objective) / values, 0.0});
    if (!std::isfinite(result.residual)) {
      result.residual = std::numeric_limits<double>::infinity();
    }
    return result;
  }

  /// Of b'y by X, whose equalities do not hold yet, for y up to ten times the iterate.
  [[nodiscard]] Real bound(Real dual) const {
    for (std::size_t i = 0; i < m_; ++i) {
      dual += std::fabs(rp_[i]) * (1.0 + 10.0 * std::fabs(y_[i]));
    }
    return dual;
  }

  /// Whether the iterate has become a proof that there is no y, or that b'y has no bound.
  bool proof(SdpResult& result) const {
    const Real nan = std::numeric_limits<double>::quiet_NaN();
    if (auto found = infeasibility(form_, in_doubles(x_))) {
      result.status = Status::infeasible;
      result.x = std::move(found->numbers);
      result.y.assign(m_, nan);
      result.objective = nan;
      result.dual = -1.0;
      result.residual = found->residual;
      return true;
    }
    const Real off = std::max<Real>(-now_slack_ / scale_c_, 0.0);
    if (s_inverse_.empty() || !(off <= settings_.tolerance)) return false;
    // On the boundary only a y of the programme's own size shows that there is one.
    const bool inside = now_slack_ > kRounding * (1.0 + sum_of_sizes(y_));
    if (!(largest(y_) <= (inside ? kOverflowing : kLargestPoint))) return false;
    if (auto found = ascent(form_, in_doubles(y_), in_doubles(s_inverse_))) {
      result.status = Status::unbounded;
      result.y = in_doubles(y_);
      result.ray = std::move(found->numbers);
      result.x.assign(size_, nan);
      result.dual = nan;
      result.objective = std::numeric_limits<double>::infinity();
      result.residual = std::max<Real>(found->residual, off);
      return true;
    }
    return false;
  }

  bool factor() {
    x_inverse_lower_.resize(size_);
    s_inverse_lower_.resize(size_);
    s_inverse_.resize(size_);
    Scratch& lower = scratch_[0];
    for (const Block& block : blocks_) {
      const int n = block.n;
      if (n == 1) {  // as below; most blocks are
        const std::size_t at = block.at;
        if (!(x_[at] > 0.0) || !(s_[at] > 0.0)) return false;
        x_inverse_lower_[at] = 1.0 / std::sqrt(x_[at]);
        const Real l = s_inverse_lower_[at] = 1.0 / std::sqrt(s_[at]);
        s_inverse_[at] = l * l;
        continue;
      }
      if (!small::cholesky(n, x_.data() + block.at, lower.data())) return false;
      small::invert_lower(n, lower.data(), x_inverse_lower_.data() + block.at);
      if (!small::cholesky(n, s_.data() + block.at, lower.data())) return false;
      Real* l = s_inverse_lower_.data() + block.at;
      small::invert_lower(n, lower.data(), l);
      Real* inverse = s_inverse_.data() + block.at;
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          Real sum = 0.0;
          for (int k = std::max(i, j); k < n; ++k) sum += l[k * n + i] * l[k * n + j];
          inverse[i * n + j] = sum;
        }
      }
    }
    schur_ = form_.schur(x_, s_inverse_);
    for (std::size_t i = 0; i < m_; ++i) {
      for (std::size_t j = 0; j < i; ++j) schur_[i * m_ + j] = schur_[j * m_ + i];
      if (schur_[i * m_ + i] == 0.0) schur_[i * m_ + i] = 1.0;  // a y_i of no block
    }
    schur_lower_.resize(m_ * m_);
    const int m = static_cast<int>(m_);
    Numbers raised = schur_;
    for (std::size_t i = 0; i < m_; ++i) raised[i * m_ + i] *= 1.0 + raised_;
    if (small::cholesky(m, raised.data(), schur_lower_.data())) return true;
    for (Real share = 1e-14; share <= 1e-6; share *= 100.0) {
      for (std::size_t i = 0; i < m_; ++i) raised[i * m_ + i] *= 1.0 + share;
      if (small::cholesky(m, raised.data(), schur_lower_.data())) return true;
    }
    return false;
  }

  /// Refined: the factors lack digits where an equation nearly follows from others.
  void solve_schur(Numbers& y) const {
    const Numbers right = y;
    const int m = static_cast<int>(m_);
    small::solve_cholesky(m, schur_lower_.data(), y.data());
    for (int round = 0; round < kSchurRefinements; ++round) {
      Numbers rest = right;
      for (std::size_t i = 0; i < m_; ++i) {
        rest[i] -= product(schur_.data() + i * m_, y.data(), m_);
      }
      small::solve_cholesky(m, schur_lower_.data(), rest.data());
      for (std::size_t i = 0; i < m_; ++i) y[i] += rest[i];
    }
  }

  /// dy, dS, dX for a centring parameter; corrector: dX dS of the predictor, or null.
  void direction(Real target, const Numbers* corrector, Numbers& dy, Numbers& ds,
                 Numbers& dx) const {
    // K = target S^-1 - X Rd S^-1 - corrector S^-1, not symmetrised
    Numbers known(size_);
    Scratch &half = scratch_[0], &whole = scratch_[1], &inner = scratch_[2], &moved = scratch_[2];
    for (const Block& block : blocks_) {
      const int n = block.n;
      const auto size = small::place(n, n, 0);
      if (n == 1) {
        const std::size_t at = block.at;
        Real product = x_[at] * rd_[at];
        if (corrector != nullptr) product += (*corrector)[at];
        known[at] = target * s_inverse_[at] - product * s_inverse_[at];
        continue;
      }
      small::multiply(n, x_.data() + block.at, rd_.data() + block.at, inner.data());
      if (corrector != nullptr) {
        for (std::size_t k = 0; k < size; ++k) inner[k] += (*corrector)[block.at + k];
      }
      small::multiply(n, inner.data(), s_inverse_.data() + block.at, known.data() + block.at);
      for (std::size_t k = 0; k < size; ++k) {
        known[block.at + k] = target * s_inverse_[block.at + k] - known[block.at + k];
      }
    }
    const Numbers of_known = form_.traces(known);
    dy.resize(m_);
    for (std::size_t i = 0; i < m_; ++i) dy[i] = p_.objective[i] - of_known[i];
    solve_schur(dy);
    ds = form_.slack(dy, false);
    for (std::size_t k = 0; k < size_; ++k) ds[k] += rd_[k];
    dx.resize(size_);
    for (const Block& block : blocks_) {
      const int n = block.n;
      const auto size = small::place(n, n, 0);
      if (n == 1) {
        const std::size_t at = block.at;
        const Real moves = x_[at] * (rd_[at] - ds[at]) * s_inverse_[at];
        dx[at] = 0.5 * (known[at] + moves + known[at] + moves) - x_[at];
        continue;
      }
      // X + dX = K + X (sum dy A) S^-1
      for (std::size_t k = 0; k < size; ++k) moved[k] = rd_[block.at + k] - ds[block.at + k];
      small::multiply(n, x_.data() + block.at, moved.data(), half.data());
      small::multiply(n, half.data(), s_inverse_.data() + block.at, whole.data());
      Real* to = dx.data() + block.at;
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          const std::size_t a = small::place(n, i, j), b = small::place(n, j, i);
          to[a] = 0.5 * (known[block.at + a] + whole[a] + known[block.at + b] + whole[b]) -
                  x_[block.at + a];
        }
      }
    }
  }

  /// How far `change` may go from a matrix whose inverse lower factor is given.
  [[nodiscard]] Real reach(const Numbers& inverse_lower, const Numbers& change) const {
    Real least = 0.0;
    Scratch &half = scratch_[0], &whole = scratch_[1];
    for (const Block& block : blocks_) {
      const int n = block.n;
      const Real* l = inverse_lower.data() + block.at;
      if (n == 1) {
        least = std::min(least, l[0] * change[block.at] * l[0]);
        continue;
      }
      small::multiply(n, l, change.data() + block.at, half.data());
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          Real sum = 0.0;
          for (int k = 0; k <= j; ++k) sum += half[small::place(n, i, k)] * l[j * n + k];
          whole[small::place(n, i, j)] = sum;
        }
      }
      least = std::min(least, small::least_eigenvalue(n, whole.data()));
    }
    return least < 0.0 ? -1.0 / least : 1e30;
  }

  bool step() {
    if (!factor()) return false;
    Numbers dy, ds, dx;
    direction(0.0, nullptr, dy, ds, dx);
    const Real far_x = std::min<Real>(1.0, reach(x_inverse_lower_, dx));
    const Real far_s = std::min<Real>(1.0, reach(s_inverse_lower_, ds));
    Real predicted = 0.0;
    for (std::size_t k = 0; k < size_; ++k) {
      predicted += (x_[k] + far_x * dx[k]) * (s_[k] + far_s * ds[k]);
    }
    const Real ratio = std::max<Real>(predicted / order_ / mu_, 0.0);
    const Real centring = std::min<Real>(1.0, std::max<Real>(ratio * ratio * ratio, 1e-6));
    Numbers corrector(size_);
    for (const Block& block : blocks_) {
      small::multiply(block.n, dx.data() + block.at, ds.data() + block.at,
                      corrector.data() + block.at);
    }
    direction(centring * mu_, &corrector, dy, ds, dx);
    const Real step_x = std::min<Real>(1.0, kBack * reach(x_inverse_lower_, dx));
    const Real step_s = std::min<Real>(1.0, kBack * reach(s_inverse_lower_, ds));
    if (!(step_x > kLeastStep || step_s > kLeastStep)) return false;
    for (std::size_t k = 0; k < size_; ++k) x_[k] += step_x * dx[k];
    for (std::size_t k = 0; k < size_; ++k) s_[k] += step_s * ds[k];
    for (std::size_t i = 0; i < m_; ++i) y_[i] += step_s * dy[i];
    return std::isfinite(largest(y_)) && std::isfinite(largest(x_));
  }

  const SdpProblem& p_;
  const BlockForm form_;
  const std::vector<Block>& blocks_;
  const SdpSettings& settings_;
  SdpStops stops_;
  double raised_;
  std::size_t m_, size_;
  int order_;
  Real scale_c_, scale_b_;
  Real now_slack_ = 0.0, mu_ = 0.0;
  mutable std::array<Scratch, 3> scratch_;  // a block each
  Numbers x_, s_, y_, rp_, rd_;
  Numbers x_inverse_lower_, s_inverse_lower_, s_inverse_, schur_, schur_lower_;
};

}  // namespace

SdpResult solve(const SdpProblem& problem, const SdpSettings& settings, const SdpStops& stops,
                double raised) {
  return InteriorPoint<double>(problem, settings, stops, raised).run();
}

SdpResult solve_with_more_digits(const SdpProblem& problem, const SdpSettings& settings) {
  return InteriorPoint<long double>(problem, settings, SdpStops{}, 0.0).run();
}

double least_slack(const SdpProblem& problem, const std::vector<double>& y, double credit) {
  Numbers slack = problem.constant;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double* a = problem.coefficients.data() + i * slack.size();
    for (std::size_t k = 0; k < slack.size(); ++k) slack[k] -= y[i] * a[k];
  }
  double least = std::numeric_limits<double>::infinity();
  std::size_t at = 0;
  for (const int n : problem.blocks) {
    least = std::min(least, small::least_eigenvalue(n, slack.data() + at));
    at += small::place(n, n, 0);
  }
  return least + credit;
}

}  // namespace carom::sdp
