#include "programs/sdp/proofs.hpp"

namespace carom::sdp {

namespace {

constexpr double kNear = 1e-3;    ///< off a proof, that trying to make one is worth the time
constexpr double kExact = 1e-11;  ///< what may be left of it
constexpr int kRefinements = 3;
/// Entries of a proof on the boundary of the cone, at most. Where there is no proof, only ever
/// larger matrices come near to one: their size is the inverse of a power of what is left.
constexpr double kLargest = 1e3;
constexpr double kDependent = 1e-13;  ///< of |A_i|^2, what is no combination of the others
constexpr double kFree = 1e-6;        ///< part of b that no matrix explains
constexpr double kInterior = 1e-8;  ///< least eigenvalue of a proof inside, over its largest entry
constexpr double kCorrected = 1e-13;  ///< what is left of its equations, likewise

/// Solves sum_k <A_i, W A_k W> z_k = r_i: what r asks of a matrix, at least cost in the metric of
/// W^-1.
class Weighted {
 public:
  Weighted(const BlockForm& form, const Numbers& weight)
      : m_(form.variables()), matrix_(form.schur(weight, weight)), size_(m_), lower_(m_ * m_) {
    for (std::size_t i = 0; i < m_; ++i) {
      const double d = matrix_[i * m_ + i];
      size_[i] = d > 0.0 ? 1.0 / std::sqrt(d) : 0.0;
    }
    for (std::size_t i = 0; i < m_; ++i) {
      for (std::size_t j = i; j < m_; ++j) {
        const double v = matrix_[i * m_ + j] * size_[i] * size_[j];
        matrix_[i * m_ + j] = matrix_[j * m_ + i] = v;
      }
    }
    const int m = static_cast<int>(m_);
    for (double shift = 1e-15; shift < 1e-6; shift *= 10.0) {  // of redundant variables
      Numbers shifted = matrix_;
      for (std::size_t i = 0; i < m_; ++i) {
        shifted[i * m_ + i] = size_[i] > 0.0 ? shifted[i * m_ + i] + shift : 1.0;
      }
      usable_ = small::cholesky(m, shifted.data(), lower_.data());
      if (usable_) break;
    }
  }

  [[nodiscard]] bool usable() const { return usable_; }
  [[nodiscard]] Numbers solve(const Numbers& r) const {
    Numbers scaled(m_), z(m_, 0.0);
    for (std::size_t i = 0; i < m_; ++i) scaled[i] = r[i] * size_[i];
    for (int k = 0; k < kRefinements; ++k) {
      Numbers left = scaled;
      for (std::size_t i = 0; i < m_; ++i) left[i] -= product(&matrix_[i * m_], z.data(), m_);
      small::solve_cholesky(static_cast<int>(m_), lower_.data(), left.data());
      for (std::size_t i = 0; i < m_; ++i) z[i] += left[i];
    }
    for (std::size_t i = 0; i < m_; ++i) z[i] *= size_[i];
    return z;
  }

 private:
  std::size_t m_;
  Numbers matrix_, size_, lower_;
  bool usable_ = false;
};

/// W M W, symmetric.
Numbers between(const BlockForm& form, const Numbers& w, const Numbers& m) {
  Numbers result(m.size());
  ScratchOf<double> half, whole;
  for (const Block& block : form.blocks()) {
    small::multiply(block.n, w.data() + block.at, m.data() + block.at, half.data());
    small::multiply(block.n, half.data(), w.data() + block.at, whole.data());
    for (int i = 0; i < block.n; ++i) {
      for (int j = 0; j < block.n; ++j) {
        const std::size_t a = small::place(block.n, i, j), b = small::place(block.n, j, i);
        result[block.at + a] = 0.5 * (whole[a] + whole[b]);
      }
    }
  }
  return result;
}

}  // namespace

std::optional<Proof> infeasibility(const BlockForm& form, const Numbers& x) {
  const Numbers& c = form.problem().constant;
  double falls = -product(c.data(), x.data(), form.size());
  if (!(falls > 0.0) || !(largest(form.traces(x)) <= kNear * falls)) return {};
  const Weighted weighted(form, x);
  if (!weighted.usable()) return {};
  // X - X (sum z A) X, with <A_i, .> = 0
  Numbers proof = x;
  for (int k = 0; k < 2; ++k) {
    const Numbers change = between(form, x, form.slack(weighted.solve(form.traces(proof)), false));
    for (std::size_t i = 0; i < proof.size(); ++i) proof[i] += change[i];
  }
  falls = -product(c.data(), proof.data(), form.size());
  if (!(falls > 0.0)) return {};
  for (double& v : proof) v /= falls;
  const double residual = std::max(largest(form.traces(proof)), -form.least_eigenvalue(proof));
  if (!(residual <= kExact)) return {};
  // Inside of the cone a change of this size makes the equations exact.
  const double size = largest(proof);
  const bool inside = form.least_eigenvalue(proof) >= kInterior * size &&
                      largest(form.traces(proof)) <= kCorrected * size;
  if (!(size <= (inside ? kOverflowing : kLargest))) return {};
  return Proof{std::move(proof), std::max(residual, 0.0)};
}

std::optional<Proof> ascent(const BlockForm& form, const Numbers& y, const Numbers& s_inverse) {
  const Numbers& b = form.problem().objective;
  const double rises = product(b.data(), y.data(), y.size());
  if (!(rises > 0.0)) return {};
  if (!(form.least_eigenvalue(form.slack(y, false)) >= -kNear * rises)) return {};
  const Weighted weighted(form, s_inverse);
  if (!weighted.usable()) return {};
  // -sum d A next to the slack that y has
  Numbers wanted = form.traces(s_inverse);
  for (double& v : wanted) v = -v;
  Numbers d = weighted.solve(wanted);
  const double gain = product(b.data(), d.data(), d.size());
  if (!(gain > 0.0)) return {};
  for (double& v : d) v /= gain;
  const double residual = -form.least_eigenvalue(form.slack(d, false));
  if (!(residual <= kExact)) return {};
  double terms = 0.0;
  for (const double v : d) terms += std::fabs(v);
  const bool inside = -residual > kRounding * terms;
  if (!(largest(d) <= (inside ? kOverflowing : kLargest))) return {};
  return Proof{std::move(d), std::max(residual, 0.0)};
}

std::optional<FreeAscent> free_ascent(const BlockForm& form) {
  const std::size_t m = form.variables();
  Numbers units(form.size(), 0.0);
  for (const Block& block : form.blocks()) {
    for (int i = 0; i < block.n; ++i) units[block.at + small::place(block.n, i, i)] = 1.0;
  }
  // Elimination with diagonal pivots of [<A_i, A_k>, b_i]: what is left of b where nothing is left
  // of the matrix belongs to an A_i that is a combination of those before.
  Numbers matrix = form.schur(units, units), right = form.problem().objective, d(m, 0.0);
  std::vector<std::size_t> pivots, rest(m);
  for (std::size_t i = 0; i < m; ++i) {
    rest[i] = i;
    for (std::size_t k = 0; k < i; ++k) matrix[i * m + k] = matrix[k * m + i];
  }
  const auto diagonal = [&](std::size_t i) { return matrix[i * m + i]; };
  Numbers sizes(m);
  for (std::size_t i = 0; i < m; ++i) sizes[i] = diagonal(i);
  while (!rest.empty()) {
    const auto next = std::max_element(rest.begin(), rest.end(), [&](std::size_t i, std::size_t k) {
      return diagonal(i) < diagonal(k);
    });
    const std::size_t p = *next;
    if (!(diagonal(p) > kDependent * std::max(sizes[p], largest(sizes)))) break;
    rest.erase(next);
    for (const std::size_t i : rest) {
      const double factor = matrix[i * m + p] / diagonal(p);
      for (const std::size_t k : rest) matrix[i * m + k] -= factor * matrix[p * m + k];
      right[i] -= factor * right[p];
    }
    pivots.push_back(p);
  }
  const auto risen = std::max_element(rest.begin(), rest.end(), [&](std::size_t i, std::size_t k) {
    return std::fabs(right[i]) < std::fabs(right[k]);
  });
  if (risen == rest.end() || !(std::fabs(right[*risen]) > kFree)) return {};
  d[*risen] = 1.0;
  for (std::size_t i = pivots.size(); i-- > 0;) {
    const double* row = &matrix[pivots[i] * m];
    double sum = row[*risen];
    for (std::size_t k = i + 1; k < pivots.size(); ++k) sum += row[pivots[k]] * d[pivots[k]];
    d[pivots[i]] = -sum / row[pivots[i]];
  }
  const double gain = product(form.problem().objective.data(), d.data(), m);
  for (double& v : d) v /= gain;
  const double residual = largest(form.slack(d, false));
  if (!(residual <= kExact && largest(d) <= kLargest)) return {};
  return FreeAscent{{std::move(d), residual}, std::move(pivots)};
}

}  // namespace carom::sdp
