#include "impact/step_solutions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <carom/certificate.hpp>

namespace carom::dense {
namespace {

using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor,
                            3 * kMaxEnumeratedContacts, 3 * kMaxEnumeratedContacts>;
using SmallVector =
    Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, 3 * kMaxEnumeratedContacts, 1>;

// One mode of one contact: its impulse is basis x + offset, where `equations` of its velocity
// vanish; as many unknowns as equations.
struct Mode {
  Matrix basis;      // [d, p]
  Vector offset;     // [d]
  Matrix equations;  // [p, d]
};

// Mode of a contact whose normal impulse is free (w_n = 0) or, with `at_limit`, is lambda_max.
// `tangent` [d-1, p] spans the friction impulse per unknown; `normal` [p] is the normal impulse
// per unknown; `equations` [p', d-1] of the tangent velocity vanish.
Mode free_mode(int dimension, const Vector& normal, const Matrix& tangent,
               const Matrix& equations) {
  Mode mode;
  const int p = static_cast<int>(normal.size());
  mode.basis.resize(dimension, p);
  mode.basis.row(0) = normal.transpose();
  mode.basis.bottomRows(dimension - 1) = tangent;
  mode.offset = Vector::Zero(dimension);
  mode.equations = Matrix::Zero(p, dimension);
  mode.equations(0, 0) = 1.0;
  mode.equations.bottomRightCorner(p - 1, dimension - 1) = equations;
  return mode;
}

Mode limit_mode(int dimension, double limit, const Vector& tangent_offset, const Matrix& tangent,
                const Matrix& equations) {
  Mode mode;
  const int p = static_cast<int>(tangent.cols());
  mode.basis = Matrix::Zero(dimension, p);
  mode.basis.bottomRows(dimension - 1) = tangent;
  mode.offset.resize(dimension);
  mode.offset[0] = limit;
  mode.offset.tail(dimension - 1) = tangent_offset;
  mode.equations = Matrix::Zero(p, dimension);
  mode.equations.rightCols(dimension - 1) = equations;
  return mode;
}

std::vector<Mode> contact_modes(const StepModel& model, int contact, double limit) {
  const int d = model.dimension();
  const int t = d - 1;
  const int k = model.directions();
  const double mu = model.friction()[contact];
  const bool limited = !std::isinf(limit);
  const Matrix none(0, t);
  std::vector<Mode> modes;
  modes.push_back({Matrix(d, 0), Vector::Zero(d), Matrix(0, d)});  // open
  const auto add_both = [&](const Vector& normal, const Matrix& tangent, const Matrix& equations,
                            const Vector& limit_offset, const Matrix& limit_tangent) {
    modes.push_back(free_mode(d, normal, tangent, equations));
    if (limited) modes.push_back(limit_mode(d, limit, limit_offset, limit_tangent, equations));
  };
  if (mu == 0.0) {
    add_both(Vector::Ones(1), Matrix::Zero(t, 1), none, Vector::Zero(t), Matrix(t, 0));
    return modes;
  }
  Matrix stick = Matrix::Zero(t, d);
  stick.rightCols(t).setIdentity();
  add_both(Vector::Unit(d, 0), stick, Matrix::Identity(t, t), Vector::Zero(t),
           Matrix::Identity(t, t));
  for (int j = 0; j < k; ++j) {
    const Vector direction = model.polygon().col(j);
    const double scale = std::max(1.0, mu);
    add_both(Vector::Constant(1, 1.0 / scale), direction * (mu / scale), none,
             direction * (mu * limit), Matrix(t, 0));
    if (d == 2) continue;
    // lambda_t = a d_j + b d_(j+1) with a + b = mu lambda_n
    const Vector next = model.polygon().col((j + 1) % k);
    const double shrink = std::min(1.0, mu);
    Matrix pair(t, 2);
    pair.col(0) = direction * shrink;
    pair.col(1) = next * shrink;
    const Matrix edge = (direction - next).transpose();
    add_both(Vector::Constant(2, shrink / mu), pair, edge, next * (mu * limit), direction - next);
  }
  return modes;
}

// Cheap necessary test before the full certificate.
bool plausible(const StepModel& model, const Vector& max_impulse, const Vector& impulse,
               const Vector& after, double allowance) {
  const int t = model.tangents();
  const int m = model.contacts();
  for (int i = 0; i < m; ++i) {
    const double normal = impulse[i];
    if (!(normal >= -allowance && normal <= max_impulse[i] + allowance)) return false;
    if (normal < max_impulse[i] - allowance && !(after[i] >= -allowance)) return false;
    if (normal > allowance && !(after[i] <= allowance)) return false;
    const double bound = model.friction()[i] * (std::max(normal, 0.0) + allowance) + allowance;
    if (!(impulse.segment(m + i * t, t).norm() <= bound)) return false;
  }
  return true;
}

class Enumeration {
 public:
  Enumeration(const StepModel& model, const Vector& contact_velocity, const Vector& max_impulse);

  [[nodiscard]] int modes(int contact) const { return static_cast<int>(modes_[contact].size()); }
  // Impulse of a combination of modes, one for each contact.
  [[nodiscard]] Vector impulse(const std::vector<int>& choice) const;

 private:
  [[nodiscard]] const Mode& mode(int contact, int index) const { return modes_[contact][index]; }
  [[nodiscard]] int slot(int contact, int index) const { return first_[contact] + index; }

  const StepModel& model_;
  std::vector<std::vector<Mode>> modes_;
  std::vector<int> first_;
  int slots_ = 0;
  std::vector<Matrix> coupling_;  // [slot, slot]: equations_i A_ij basis_j
  std::vector<Vector> offset_;    // [slot, slot]: equations_i A_ij offset_j
  std::vector<Vector> right_;     // [slot]: equations_i (J v)_i
};

std::vector<int> contact_rows(const StepModel& model, int contact) {
  std::vector<int> rows = {contact};
  for (int t = 0; t < model.tangents(); ++t) {
    rows.push_back(model.contacts() + contact * model.tangents() + t);
  }
  return rows;
}

Enumeration::Enumeration(const StepModel& model, const Vector& contact_velocity,
                         const Vector& max_impulse)
    : model_(model) {
  const int m = model.contacts();
  for (int i = 0; i < m; ++i) {
    modes_.push_back(contact_modes(model, i, max_impulse[i]));
    first_.push_back(slots_);
    slots_ += modes(i);
  }
  coupling_.resize(static_cast<std::size_t>(slots_) * slots_);
  offset_.resize(coupling_.size());
  right_.resize(slots_);
  for (int i = 0; i < m; ++i) {
    const std::vector<int> rows = contact_rows(model, i);
    const Vector velocity = contact_velocity(rows);
    for (int a = 0; a < modes(i); ++a) {
      right_[slot(i, a)] = mode(i, a).equations * velocity;
      for (int j = 0; j < m; ++j) {
        const Matrix rows_of_mode =
            mode(i, a).equations * Matrix(model.delassus()(rows, contact_rows(model, j)));
        for (int b = 0; b < modes(j); ++b) {
          const std::size_t at = static_cast<std::size_t>(slot(i, a)) * slots_ + slot(j, b);
          coupling_[at] = rows_of_mode * mode(j, b).basis;
          offset_[at] = rows_of_mode * mode(j, b).offset;
        }
      }
    }
  }
}

Vector Enumeration::impulse(const std::vector<int>& choice) const {
  const int m = model_.contacts();
  int unknowns = 0;
  for (int i = 0; i < m; ++i) unknowns += static_cast<int>(mode(i, choice[i]).basis.cols());
  Small system(unknowns, unknowns);
  SmallVector right(unknowns);
  for (int i = 0, row = 0; i < m; ++i) {
    const int p = static_cast<int>(mode(i, choice[i]).basis.cols());
    if (p == 0) continue;
    right.segment(row, p) = -right_[slot(i, choice[i])];
    for (int j = 0, column = 0; j < m; ++j) {
      const std::size_t at =
          static_cast<std::size_t>(slot(i, choice[i])) * slots_ + slot(j, choice[j]);
      const int q = static_cast<int>(coupling_[at].cols());
      if (q > 0) system.block(row, column, p, q) = coupling_[at];
      right.segment(row, p) -= offset_[at];
      column += q;
    }
    row += p;
  }
  SmallVector x(unknowns);
  if (unknowns > 0) {
    // A singular system gets one of its basic solutions; an inconsistent one fails its certificate.
    Eigen::FullPivLU<Small> factors(system);
    factors.setThreshold(1e-11);
    x = factors.solve(right);
  }
  Vector impulse = Vector::Zero(model_.rows());
  for (int i = 0, row = 0; i < m; ++i) {
    const Mode& chosen = mode(i, choice[i]);
    const int p = static_cast<int>(chosen.basis.cols());
    Vector part = chosen.offset;
    if (p > 0) part += chosen.basis * x.segment(row, p);
    impulse[i] = part[0];
    impulse.segment(m + i * model_.tangents(), model_.tangents()) = part.tail(model_.tangents());
    row += p;
  }
  return impulse;
}

Matrix friction_polygon(int dimension, int directions) {
  if (dimension == 2) return Eigen::RowVector2d(1.0, -1.0);
  Matrix polygon(2, directions);
  for (int j = 0; j < directions; ++j) {
    const double angle = 2.0 * std::numbers::pi * j / directions;
    polygon(0, j) = std::cos(angle);
    polygon(1, j) = std::sin(angle);
  }
  return polygon;
}

// lambda_D of smallest sum for a friction impulse: on two neighbouring directions.
Vector smallest_weights(const Matrix& polygon, const Vector& tangent) {
  const int k = static_cast<int>(polygon.cols());
  if (polygon.rows() == 1) {
    return Eigen::Vector2d(std::max(tangent[0], 0.0), std::max(-tangent[0], 0.0));
  }
  Vector weights = Vector::Zero(k);
  if (!(tangent.norm() > 0.0)) return weights;
  double best = -std::numeric_limits<double>::infinity();
  for (int j = 0; j < k; ++j) {
    const int next = (j + 1) % k;
    Eigen::Matrix2d pair;
    pair << polygon.col(j), polygon.col(next);
    const Eigen::Vector2d weight = pair.inverse() * tangent;
    if (weight.minCoeff() <= best) continue;
    best = weight.minCoeff();
    weights.setZero();
    weights[j] = std::max(weight[0], 0.0);
    weights[next] = std::max(weight[1], 0.0);
  }
  return weights;
}

}  // namespace

StepModel::StepModel(int dimension, const Matrix& delassus, const Vector& friction, int directions)
    : dimension_(dimension),
      delassus_(delassus),
      friction_(friction),
      polygon_(friction_polygon(dimension, directions)) {
  const int m = contacts();
  const int k = this->directions();
  Matrix spread = Matrix::Zero((k + 1) * m, rows());  // J_bar = spread J
  spread.topLeftCorner(m, m).setIdentity();
  for (int i = 0; i < m; ++i) {
    spread.block(m + i * k, m + i * tangents(), k, tangents()) = polygon_.transpose();
  }
  full_delassus_ = spread * delassus_ * spread.transpose();
}

double StepModel::residual(const Vector& contact_velocity, const Vector& max_impulse,
                           const Vector& impulse) const {
  const int m = contacts();
  const int k = directions();
  const int t = tangents();
  std::vector<int> limits;  // contacts with a bound
  for (int i = 0; i < m; ++i) {
    if (!std::isinf(max_impulse[i])) limits.push_back(i);
  }
  const auto n = static_cast<int>(limits.size());
  const int direction_row = n + m;
  const int gamma_row = direction_row + k * m;
  const Vector after = contact_velocity + delassus_ * impulse;
  Matrix matrix = Matrix::Zero(gamma_row + m, gamma_row + m);
  Vector vector = Vector::Zero(gamma_row + m);
  Vector z(gamma_row + m);
  matrix.block(n, n, (k + 1) * m, (k + 1) * m) = full_delassus_;
  vector.segment(n, m) = contact_velocity.head(m);
  z.segment(n, m) = impulse.head(m);
  for (int b = 0; b < n; ++b) {
    matrix(b, n + limits[b]) = -1.0;
    matrix(n + limits[b], b) = 1.0;
    vector[b] = max_impulse[limits[b]];
    z[b] = std::max(-after[limits[b]], 0.0);
  }
  for (int i = 0; i < m; ++i) {
    const int row = direction_row + i * k;
    matrix(gamma_row + i, n + i) = friction_[i];
    matrix.block(gamma_row + i, row, 1, k).setConstant(-1.0);
    matrix.block(row, gamma_row + i, k, 1).setConstant(1.0);
    vector.segment(row, k) = polygon_.transpose() * contact_velocity.segment(m + i * t, t);
    z.segment(row, k) = smallest_weights(polygon_, impulse.segment(m + i * t, t));
    const Vector slip = polygon_.transpose() * after.segment(m + i * t, t);
    z[gamma_row + i] = std::max(-slip.minCoeff(), 0.0);
  }
  Vector of_unknown = Vector::Ones(gamma_row + m);
  Vector of_row = of_unknown;
  const auto mobility = [&](int contact) {
    return certificate::contact_mobility(
        dimension_ == 2 ? kernels::contact_scale<2>(delassus_.data(), m, contact)
                        : kernels::contact_scale<3>(delassus_.data(), m, contact));
  };
  for (int b = 0; b < n; ++b) of_row[b] = mobility(limits[b]);
  for (int i = 0; i < m; ++i) {
    of_row[gamma_row + i] = of_unknown[n + i] = mobility(i);
    of_unknown.segment(direction_row + i * k, k).setConstant(mobility(i));
  }
  const double missed = certificate::lcp_residual_in_units(
      gamma_row + m, matrix.data(), vector.data(), z.data(), [&](int i) { return of_unknown[i]; },
      [&](int i) { return of_row[i]; });
  const double fastest = m > 0 ? contact_velocity.cwiseAbs().maxCoeff() : 0.0;
  return missed / std::max(fastest, certificate::kTiny);
}

std::int64_t combinations(const StepModel& model, const Vector& max_impulse) {
  std::int64_t count = 1;
  for (int i = 0; i < model.contacts(); ++i) {
    const bool limited = !std::isinf(max_impulse[i]);
    const int friction_modes = model.friction()[i] == 0.0 ? 1
                               : model.dimension() == 2   ? 3
                                                          : 1 + 2 * model.directions();
    const int modes = 1 + friction_modes * (limited ? 2 : 1);
    if (count > std::numeric_limits<std::int64_t>::max() / modes) {
      return std::numeric_limits<std::int64_t>::max();
    }
    count *= modes;
  }
  return count;
}

std::vector<StepSolution> enumerate_step(const StepModel& model, const Vector& contact_velocity,
                                         const Vector& max_impulse, double tolerance,
                                         const std::function<Vector(const Vector&)>& velocity_of,
                                         double distinct) {
  const int m = model.contacts();
  const Enumeration enumeration(model, contact_velocity, max_impulse);
  double scale = m > 0 ? contact_velocity.cwiseAbs().maxCoeff() : 0.0;
  for (int i = 0; i < m; ++i) {
    if (!std::isinf(max_impulse[i])) scale = std::max(scale, max_impulse[i]);
  }
  const double friction = m > 0 ? model.friction().maxCoeff() : 0.0;
  const double allowance = 4.0 * (1.0 + friction) * tolerance * scale;
  std::vector<StepSolution> found;
  std::vector<Vector> velocities;
  std::vector<int> choice(m, 0);
  for (bool more = true; more;) {
    const Vector impulse = enumeration.impulse(choice);
    for (int i = m - 1;; --i) {  // next combination
      if (i < 0) {
        more = false;
        break;
      }
      if (++choice[i] < enumeration.modes(i)) break;
      choice[i] = 0;
    }
    if (!impulse.allFinite()) continue;
    const Vector after = contact_velocity + model.delassus() * impulse;
    if (!plausible(model, max_impulse, impulse, after, allowance)) continue;
    const double residual = model.residual(contact_velocity, max_impulse, impulse);
    if (!certificate::within(residual, tolerance)) continue;
    const Vector velocity = velocity_of(impulse);
    std::size_t same = 0;
    while (same < found.size() && (velocities[same] - velocity).cwiseAbs().maxCoeff() > distinct) {
      ++same;
    }
    const StepSolution solution{impulse, after, residual};
    if (same == found.size()) {
      found.push_back(solution);
      velocities.push_back(velocity);
    } else if (residual < found[same].residual) {
      found[same] = solution;
      velocities[same] = velocity;
    }
  }
  return found;
}

}  // namespace carom::dense
