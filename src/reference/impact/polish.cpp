#include "reference/impact/polish.hpp"

#include <algorithm>
#include <cmath>

#include <carom/types/impact.hpp>

namespace carom::reference {
namespace {

constexpr double kShown = 1e-8;  // relative size at which an impulse shows

using Small = Eigen::MatrixXd;
using SmallVector = Eigen::VectorXd;

// What a contact does: its impulse is basis x + offset, where `equations` of its velocity vanish.
struct Mode {
  Matrix basis;      // [d, p]
  Vector offset;     // [d]
  Matrix equations;  // [p, d]
};

// A bearing contact that slides along direction `first`, or between it and the next one where
// `edge`; it sticks where first < 0. A full one's normal impulse is `limit`.
Mode bearing_mode(const StepModel& model, double mu, int first, bool edge, bool full,
                  double limit) {
  const int d = model.dimension();
  const int t = d - 1;
  // Unknowns: share of the normal impulse, friction impulse, and friction impulse at the limit.
  Vector normal = Vector::Ones(1);
  Matrix tangent = Matrix::Zero(t, 1);
  Matrix equations(0, t);
  Vector limit_offset = Vector::Zero(t);
  Matrix limit_tangent(t, 0);
  if (mu > 0.0 && first < 0) {
    normal = Vector::Unit(d, 0);
    tangent = Matrix::Zero(t, d);
    tangent.rightCols(t).setIdentity();
    equations = limit_tangent = Matrix::Identity(t, t);
  } else if (mu > 0.0 && !edge) {
    const double scale = std::max(1.0, mu);
    normal[0] = 1.0 / scale;
    tangent = model.polygon().col(first) * (mu / scale);
    limit_offset = model.polygon().col(first) * (mu * limit);
  } else if (mu > 0.0) {
    // lambda_t = a d_j + b d_(j+1) with a + b = mu lambda_n
    const Vector direction = model.polygon().col(first);
    const Vector next = model.polygon().col((first + 1) % model.directions());
    const double shrink = std::min(1.0, mu);
    normal = Vector::Constant(2, shrink / mu);
    tangent.resize(t, 2);
    tangent.col(0) = direction * shrink;
    tangent.col(1) = next * shrink;
    limit_tangent = direction - next;
    equations = limit_tangent.transpose();
    limit_offset = next * (mu * limit);
  }
  Mode mode;
  if (full) {
    const auto p = static_cast<int>(limit_tangent.cols());
    mode.basis = Matrix::Zero(d, p);
    mode.basis.bottomRows(t) = limit_tangent;
    mode.offset.resize(d);
    mode.offset << limit, limit_offset;
    mode.equations = Matrix::Zero(p, d);
    mode.equations.rightCols(t) = equations;
  } else {
    const auto p = static_cast<int>(normal.size());
    mode.basis.resize(d, p);
    mode.basis.row(0) = normal.transpose();
    mode.basis.bottomRows(t) = tangent;
    mode.offset = Vector::Zero(d);
    mode.equations = Matrix::Zero(p, d);
    mode.equations(0, 0) = 1.0;
    mode.equations.bottomRightCorner(p - 1, t) = equations;
  }
  return mode;
}

// weights: lambda_D of the contact.
Mode shown_mode(const StepModel& model, double mu, const Vector& weights, double normal,
                double limit) {
  int first = -1;
  bool edge = false;
  const double bound = mu * normal;
  if (bound > 0.0 && weights.sum() > bound * (1.0 - kShown)) {
    weights.maxCoeff(&first);
    if (model.dimension() == 3) {
      const int k = model.directions();
      const int previous = (first + k - 1) % k;
      edge = weights[(first + 1) % k] > kShown * bound;
      if (weights[previous] > kShown * bound) {
        first = previous;
        edge = true;
      }
    }
  }
  const bool full = !std::isinf(limit) && normal > limit * (1.0 - kShown);
  return bearing_mode(model, mu, first, edge, full, limit);
}

}  // namespace

Vector polished_impulse(const StepModel& model, const Vector& contact_velocity,
                        const Vector& max_impulse, const Vector& impulse) {
  const int m = model.contacts();
  const int d = model.dimension();
  const int k = model.directions();
  const Vector z = model.lift(contact_velocity, max_impulse, impulse);
  const double scale = impulse.head(m).cwiseAbs().maxCoeff();
  const auto rows_of = [&](int contact) {
    std::vector<int> rows = {contact};
    for (int t = 0; t < d - 1; ++t) rows.push_back(m + contact * (d - 1) + t);
    return rows;
  };
  std::vector<Mode> modes;
  int unknowns = 0;
  for (int i = 0; i < m; ++i) {
    modes.push_back({Matrix(d, 0), Vector::Zero(d), Matrix(0, d)});
    if (impulse[i] > kShown * scale) {
      const Vector weights = z.segment(z.size() - (k + 1) * m + i * k, k);
      modes.back() = shown_mode(model, model.friction()[i], weights, impulse[i], max_impulse[i]);
    }
    unknowns += static_cast<int>(modes.back().basis.cols());
  }
  Small system(unknowns, unknowns);
  SmallVector right(unknowns);
  for (int i = 0, row = 0; i < m; ++i) {
    const auto p = static_cast<int>(modes[i].basis.cols());
    if (p == 0) continue;
    right.segment(row, p) = -(modes[i].equations * Vector(contact_velocity(rows_of(i))));
    for (int j = 0, column = 0; j < m; ++j) {
      const Matrix equations =
          modes[i].equations * Matrix(model.delassus()(rows_of(i), rows_of(j)));
      const auto q = static_cast<int>(modes[j].basis.cols());
      if (q > 0) system.block(row, column, p, q) = equations * modes[j].basis;
      right.segment(row, p) -= equations * modes[j].offset;
      column += q;
    }
    row += p;
  }
  SmallVector x(unknowns);
  if (unknowns > 0) {
    // A singular system gets one of its basic solutions.
    Eigen::FullPivLU<Small> factors(system);
    factors.setThreshold(1e-11);
    x = factors.solve(right);
  }
  Vector candidate(model.rows());
  for (int i = 0, row = 0; i < m; ++i) {
    const auto p = static_cast<int>(modes[i].basis.cols());
    Vector part = modes[i].offset;
    if (p > 0) part += modes[i].basis * x.segment(row, p);
    candidate(rows_of(i)) = part;
    row += p;
  }
  if (!candidate.allFinite()) return impulse;
  return model.residual(contact_velocity, max_impulse, candidate) <
                 model.residual(contact_velocity, max_impulse, impulse)
             ? candidate
             : impulse;
}

}  // namespace carom::reference
