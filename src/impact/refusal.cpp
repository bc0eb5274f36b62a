#include <cmath>
#include <string>

#include <Eigen/Dense>

#include "core/message.hpp"
#include "core/require.hpp"
#include "impact/backends.hpp"
#include "impact/prepare.hpp"

namespace carom {

namespace {

using message::number;

/// Number i of an array of problem p, which is refused.
Refusal at(const char* field, std::int64_t i, int columns, std::int64_t p, const std::string& name,
           const std::string& value, const char* rule) {
  return {.field = field,
          .index = require::place(i, columns),
          .problem = p,
          .name = name,
          .value = value,
          .rule = rule};
}

/// The first number of problem p that is not finite.
std::optional<Refusal> first_not_finite(const ImpactBatch& batch, std::int64_t p,
                                        const std::string& name) {
  std::optional<Refusal> refused;
  ImpactBatch::each_array(
      batch,
      [&](const char* field, const Extents& extents, const Buffer<double>& values) {
        const int columns = extents.rank() > 2 ? batch.velocities : 0;
        if (values.empty()) return;
        const double* begin = values.data() + p * extents.stride();
        for (std::int64_t i = 0; !refused && i < extents.stride(); ++i) {
          if (std::isfinite(begin[i])) continue;
          refused = at(field, i, columns, p, name, number(begin[i]), "must be finite");
        }
      },
      batch);
  return refused;
}

/// The first interval of restitution or friction of problem p that is none.
std::optional<Refusal> interval_refusal(const ImpactBatch& batch, std::int64_t p,
                                        const std::string& name) {
  const std::int64_t m = batch.contacts;
  for (std::int64_t i = 0; i < m; ++i) {
    const auto of = [&](const Buffer<double>& values) { return values.data()[p * m + i]; };
    const double mu = of(batch.friction);
    if (mu < 0.0) return at("friction", i, 0, p, name, number(mu), "must be >= 0");
    if (!batch.friction_high.empty() && of(batch.friction_high) < mu) {
      return at("friction_high", i, 0, p, name, number(of(batch.friction_high)),
                "must be >= friction");
    }
    if (batch.restitution_high.empty()) continue;
    const double low = of(batch.restitution_low), high = of(batch.restitution_high);
    if (low < 0.0 || low > 1.0) {
      return at("restitution_low", i, 0, p, name, number(low), "must be in 0..1");
    }
    if (high < low || high > 1.0) {
      return at("restitution_high", i, 0, p, name, number(high), "must be in restitution_low..1");
    }
  }
  return std::nullopt;
}

std::optional<Refusal> mass_refusal(const double* mass, int nv, std::int64_t problem,
                                    const std::string& name) {
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const Rows> m(mass, nv, nv);
  // by the units of the rows, which may be far apart: an entry is at most this, a pivot at most
  // m_kk
  const auto scale = [&m](int i, int j) { return std::sqrt(std::abs(m(i, i) * m(j, j))); };
  for (int i = 0; i < nv; ++i) {
    for (int j = 0; j < i; ++j) {
      if (std::abs(m(i, j) - m(j, i)) > 1e-9 * scale(i, j)) {
        const std::string mirrored =
            "mass_matrix[" + std::to_string(j) + "][" + std::to_string(i) + "]";
        return at("mass_matrix", static_cast<std::int64_t>(i) * nv + j, nv, problem, name,
                  number(m(i, j)) + ", but " + mirrored + " is " + number(m(j, i)),
                  "must be symmetric");
      }
    }
  }
  Eigen::MatrixXd work = m;
  for (int k = 0; k < nv; ++k) {
    const double pivot = work(k, k);
    if (!(pivot > 1e-14 * m(k, k))) {
      return Refusal{.field = "mass_matrix",
                     .problem = problem,
                     .name = name,
                     .relation = "has",
                     .value = "pivot " + number(pivot) + " in row " + std::to_string(k) +
                              " of its Cholesky factorisation",
                     .rule = "must be positive definite"};
    }
    for (int i = k + 1; i < nv; ++i) {
      const double factor = work(i, k) / pivot;
      work.row(i).tail(nv - k) -= factor * work.row(k).tail(nv - k);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> problem_refusal(const ImpactBatch& batch, std::int64_t p,
                                       const std::string& name) {
  std::optional<Refusal> refused = first_not_finite(batch, p, name);
  if (refused) return refused;
  if ((refused = interval_refusal(batch, p, name))) return refused;
  const std::int64_t nv = batch.velocities;
  return mass_refusal(batch.mass_matrix.data() + p * nv * nv, batch.velocities, p, name);
}

}  // namespace carom
