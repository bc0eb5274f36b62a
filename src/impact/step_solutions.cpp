#include "impact/step_solutions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <carom/certificate.hpp>

namespace carom::dense {
namespace {

// Choices of some contacts' modes that one step's uniqueness is worth.
constexpr std::int64_t kMostChoices = 1000;
// Share below which a sum is zero.
constexpr double kStill = 1e-9;

using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor,
                            3 * kMaxEnumeratedContacts, 3 * kMaxEnumeratedContacts>;
using SmallVector =
    Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, 3 * kMaxEnumeratedContacts, 1>;

// Of the tangential velocity, not above zero where direction j of the friction polygon, or the edge
// from it to its next, opposes the slip.
Matrix opposing(const StepModel& model, int j, bool edge) {
  const Matrix& polygon = model.polygon();
  const int k = model.directions();
  if (model.dimension() == 2) return polygon.col(j).transpose();
  const int last = edge ? (j + 1) % k : j;
  Matrix rows(2, 2);
  rows.row(0) = (polygon.col(j) - polygon.col((j + k - 1) % k)).transpose();
  rows.row(1) = (polygon.col(last) - polygon.col((last + 1) % k)).transpose();
  return rows;
}

using Mode = StepEnumeration::Mode;
using impact_modes::Normal;
using impact_modes::Tangent;

// Mode of a contact whose normal impulse is free (w_n = 0) or, with `full`, is lambda_max.
// `tangent` [d-1, p] spans the friction impulse per unknown; `normal` [p] is the normal impulse
// per unknown; `equations` [p', d-1] of the tangent velocity vanish, `conditions` are not above
// zero.
Mode free_mode(const Vector& normal, const Matrix& tangent, const Matrix& equations,
               const Matrix& conditions) {
  Mode mode;
  const int p = static_cast<int>(normal.size());
  const int t = static_cast<int>(tangent.rows());
  mode.basis.resize(t + 1, p);
  mode.basis.row(0) = normal.transpose();
  mode.basis.bottomRows(t) = tangent;
  mode.offset = Vector::Zero(t + 1);
  mode.equations = Matrix::Zero(p, t + 1);
  mode.equations(0, 0) = 1.0;
  mode.equations.bottomRightCorner(p - 1, t) = equations;
  mode.conditions = Matrix::Zero(conditions.rows(), t + 1);
  mode.conditions.rightCols(t) = conditions;
  return mode;
}

Mode full_mode(const Vector& tangent_offset, const Matrix& tangent, const Matrix& equations,
               const Matrix& conditions) {
  Mode mode;
  const int p = static_cast<int>(tangent.cols());
  const int t = static_cast<int>(tangent.rows());
  mode.basis = Matrix::Zero(t + 1, p);
  mode.basis.bottomRows(t) = tangent;
  mode.offset.resize(t + 1);
  mode.offset[0] = 1.0;
  mode.offset.tail(t) = tangent_offset;
  mode.equations = Matrix::Zero(p, t + 1);
  mode.equations.rightCols(t) = equations;
  mode.conditions = Matrix::Zero(1 + conditions.rows(), t + 1);
  mode.conditions(0, 0) = 1.0;
  mode.conditions.bottomRightCorner(conditions.rows(), t) = conditions;
  mode.full = true;
  return mode;
}

std::vector<Mode> contact_modes(const StepModel& model, int contact) {
  const int d = model.dimension();
  const int t = d - 1;
  const int k = model.directions();
  const double mu = model.friction()[contact];
  const Matrix none(0, t);
  std::vector<Mode> modes;
  Mode open{Matrix(d, 0), Vector::Zero(d), Matrix(0, d), Matrix::Zero(1, d), {}, {}, false, {}};
  open.conditions(0, 0) = -1.0;
  modes.push_back(open);
  const auto add_both = [&](const Vector& normal, const Matrix& tangent, const Matrix& equations,
                            const Vector& full_offset, const Matrix& full_tangent,
                            const Matrix& conditions, Tangent slip, int direction) {
    modes.push_back(free_mode(normal, tangent, equations, conditions));
    modes.back().state = {Normal::closed, slip, direction};
    modes.push_back(full_mode(full_offset, full_tangent, equations, conditions));
    modes.back().state = {Normal::full, slip, direction};
  };
  const auto bound = [&](int mode, double least, double most) {
    const auto p = modes.end()[mode].basis.cols();
    modes.end()[mode].least = Vector::Constant(p, least);
    modes.end()[mode].most = Vector::Constant(p, most);
  };
  if (mu == 0.0) {
    add_both(Vector::Ones(1), Matrix::Zero(t, 1), none, Vector::Zero(t), Matrix(t, 0), none,
             Tangent::none, 0);
    bound(-2, 0.0, 1.0);
    return modes;
  }
  Matrix stick = Matrix::Zero(t, d);
  stick.rightCols(t).setIdentity();
  add_both(Vector::Unit(d, 0), stick, Matrix::Identity(t, t), Vector::Zero(t),
           Matrix::Identity(t, t), none, Tangent::stick, 0);
  bound(-2, -mu, mu);
  bound(-1, -mu, mu);
  modes.end()[-2].least[0] = 0.0;
  modes.end()[-2].most[0] = 1.0;
  for (int j = 0; j < k; ++j) {
    const Vector direction = model.polygon().col(j);
    const double scale = std::max(1.0, mu);
    add_both(Vector::Constant(1, 1.0 / scale), direction * (mu / scale), none, direction * mu,
             Matrix(t, 0), opposing(model, j, false), Tangent::corner, j);
    bound(-2, 0.0, scale);
    if (d == 2) continue;
    // lambda_t = a d_j + b d_(j+1) with a + b = mu lambda_n
    const Vector next = model.polygon().col((j + 1) % k);
    const double shrink = std::min(1.0, mu);
    Matrix pair(t, 2);
    pair.col(0) = direction * shrink;
    pair.col(1) = next * shrink;
    const Matrix edge = (direction - next).transpose();
    add_both(Vector::Constant(2, shrink / mu), pair, edge, next * mu, direction - next,
             opposing(model, j, true), Tangent::edge, j);
    bound(-2, 0.0, mu / shrink);
    bound(-1, 0.0, mu);
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

// Row of component c (n, t_1, t_2) of a contact.
int contact_row(const StepModel& model, int contact, int c) {
  return c == 0 ? contact : model.contacts() + contact * model.tangents() + c - 1;
}
std::vector<int> contact_rows(const StepModel& model, int contact) {
  std::vector<int> rows(static_cast<std::size_t>(model.dimension()));
  for (int c = 0; c < model.dimension(); ++c) rows[c] = contact_row(model, contact, c);
  return rows;
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

StepEnumeration::StepEnumeration(const StepModel& model) : model_(model) {
  const int m = model.contacts();
  for (int i = 0; i < m; ++i) {
    modes_.push_back(contact_modes(model, i));
    first_.push_back(slots_);
    slots_ += static_cast<int>(modes_.back().size());
  }
  for (int i = 0; i < m; ++i) {
    const Matrix columns = model.delassus()(Eigen::all, contact_rows(model, i));
    for (const Mode& mode : modes_[i]) {
      basis_response_.push_back(columns * mode.basis);
      offset_response_.push_back(columns * mode.offset);
    }
  }
}

void StepEnumeration::set(const Vector& contact_velocity, const Vector& max_impulse,
                          double tolerance) {
  const int m = model_.contacts();
  before_ = contact_velocity;
  limit_ = max_impulse;
  tolerance_ = tolerance;
  double scale = m > 0 ? contact_velocity.cwiseAbs().maxCoeff() : 0.0;
  for (int i = 0; i < m; ++i) {
    if (!std::isinf(max_impulse[i])) scale = std::max(scale, max_impulse[i]);
  }
  const double friction = m > 0 ? model_.friction().maxCoeff() : 0.0;
  allowance_ = 4.0 * (1.0 + friction) * tolerance * scale;
  // Impulses of a solution leave their bounds by no more than twice (1 + mu) allowances.
  slack_ = allowance_ *
           (1.0 + 2.0 * (1.0 + friction) * model_.delassus().cwiseAbs().rowwise().sum().array());
  low_.resize(slots_);
  high_.resize(slots_);
  allowed_.assign(m, {});
  for (int i = 0; i < m; ++i) {
    const double most = max_impulse[i];
    const bool limited = !std::isinf(most);
    for (int a = 0; a < modes(i); ++a) {
      const Mode& one = mode(i, a);
      if (one.full && !limited) continue;
      const int at = slot(i, a);
      allowed_[i].push_back(a);
      low_[at] = high_[at] =
          one.full ? Vector(offset_response_[at] * most) : Vector::Zero(model_.rows());
      for (int c = 0; c < one.basis.cols(); ++c) {
        const double least = one.least[c] == 0.0 ? 0.0 : one.least[c] * most;
        for (int r = 0; r < model_.rows(); ++r) {
          const double rate = basis_response_[at](r, c);
          if (rate == 0.0) continue;
          const double a_end = rate * least, b_end = rate * (one.most[c] * most);
          low_[at][r] += std::min(a_end, b_end);
          high_[at][r] += std::max(a_end, b_end);
        }
      }
    }
  }
  narrow();
}

bool StepEnumeration::possible(int contact, const Mode& mode, const Vector& low,
                               const Vector& high) const {
  const auto least = [&](const Matrix& rows, int r, double sign) {
    double sum = 0.0;
    for (int c = 0; c < model_.dimension(); ++c) {
      const double factor = sign * rows(r, c);
      const int row = contact_row(model_, contact, c);
      if (factor > 0.0) sum += factor * (low[row] - slack_[row]);
      if (factor < 0.0) sum += factor * (high[row] + slack_[row]);
    }
    return sum;
  };
  for (int r = 0; r < mode.equations.rows(); ++r) {
    if (least(mode.equations, r, 1.0) > 0.0 || least(mode.equations, r, -1.0) > 0.0) return false;
  }
  for (int r = 0; r < mode.conditions.rows(); ++r) {
    if (least(mode.conditions, r, 1.0) > 0.0) return false;
  }
  return true;
}

void StepEnumeration::narrow() {
  const int m = model_.contacts();
  Matrix low(m, model_.rows()), high(m, model_.rows());
  for (bool again = true; again;) {
    again = false;
    for (int i = 0; i < m; ++i) {
      low.row(i).setConstant(std::numeric_limits<double>::infinity());
      high.row(i).setConstant(-std::numeric_limits<double>::infinity());
      for (const int a : allowed_[i]) {
        low.row(i) = low.row(i).cwiseMin(low_[slot(i, a)].transpose());
        high.row(i) = high.row(i).cwiseMax(high_[slot(i, a)].transpose());
      }
    }
    for (int i = 0; i < m; ++i) {
      Vector least = before_, most = before_;
      for (int j = 0; j < m; ++j) {
        if (j == i) continue;
        least += low.row(j).transpose();
        most += high.row(j).transpose();
      }
      again |=
          std::erase_if(allowed_[i], [&](int a) {
            return !possible(i, mode(i, a), least + low_[slot(i, a)], most + high_[slot(i, a)]);
          }) > 0;
    }
  }
  least_.assign(m + 1, Vector::Zero(model_.rows()));
  most_ = least_;
  for (int i = m; i-- > 0;) {
    least_[i] = least_[i + 1] + low.row(i).transpose();
    most_[i] = most_[i + 1] + high.row(i).transpose();
  }
}

bool StepEnumeration::each(const std::function<bool(const std::vector<int>&)>& visit,
                           std::int64_t most) const {
  std::vector<int> choice;
  return descend(choice, before_, before_, visit, most);
}

bool StepEnumeration::descend(std::vector<int>& choice, const Vector& low, const Vector& high,
                              const std::function<bool(const std::vector<int>&)>& visit,
                              std::int64_t& left) const {
  const int i = static_cast<int>(choice.size());
  if (i == model_.contacts()) return visit(choice);
  for (const int a : allowed_[i]) {
    if (left-- <= 0) return false;
    const Vector below = low + low_[slot(i, a)], above = high + high_[slot(i, a)];
    const Vector least = below + least_[i + 1], most = above + most_[i + 1];
    choice.push_back(a);
    bool open = true;
    for (int j = 0; j <= i && open; ++j) open = possible(j, mode(j, choice[j]), least, most);
    if (open && !descend(choice, below, above, visit, left)) return false;
    choice.pop_back();
  }
  return true;
}

Vector StepEnumeration::impulse(const std::vector<int>& choice, Matrix* free) const {
  const int m = model_.contacts();
  int unknowns = 0;
  for (int i = 0; i < m; ++i) unknowns += static_cast<int>(mode(i, choice[i]).basis.cols());
  Vector held = before_;  // u' but for what the unknowns add
  for (int i = 0; i < m; ++i) {
    if (mode(i, choice[i]).full) held += offset_response_[slot(i, choice[i])] * limit_[i];
  }
  Small system(unknowns, unknowns);
  SmallVector right(unknowns);
  for (int i = 0, row = 0; i < m; ++i) {
    const Matrix& equations = mode(i, choice[i]).equations;
    for (int r = 0; r < equations.rows(); ++r, ++row) {
      system.row(row).setZero();
      right[row] = 0.0;
      for (int c = 0; c < model_.dimension(); ++c) {
        const double factor = equations(r, c);
        if (factor == 0.0) continue;
        const int of = contact_row(model_, i, c);
        right[row] -= factor * held[of];
        for (int j = 0, column = 0; j < m; ++j) {
          const Matrix& response = basis_response_[slot(j, choice[j])];
          for (int q = 0; q < response.cols(); ++q) {
            system(row, column++) += factor * response(of, q);
          }
        }
      }
    }
  }
  const auto spread = [&](const auto& x, bool offset) {
    Vector impulse = Vector::Zero(model_.rows());
    for (int i = 0, row = 0; i < m; ++i) {
      const Mode& chosen = mode(i, choice[i]);
      const int p = static_cast<int>(chosen.basis.cols());
      Vector part = Vector::Zero(model_.dimension());
      if (offset && chosen.full) part = chosen.offset * limit_[i];
      if (p > 0) part += chosen.basis * x.segment(row, p);
      impulse[i] = part[0];
      impulse.segment(m + i * model_.tangents(), model_.tangents()) = part.tail(model_.tangents());
      row += p;
    }
    return impulse;
  };
  if (free != nullptr) free->resize(model_.rows(), 0);
  if (unknowns == 0) return spread(right, true);
  // A singular system gets one of its basic solutions; an inconsistent one fails its certificate.
  Eigen::FullPivLU<Small> factors(system);
  factors.setThreshold(1e-11);
  if (free != nullptr && !factors.isInvertible()) {
    const Eigen::MatrixXd kernel = factors.kernel();
    free->resize(model_.rows(), kernel.cols());
    for (int c = 0; c < kernel.cols(); ++c) free->col(c) = spread(kernel.col(c), false);
  }
  return spread(SmallVector(factors.solve(right)), true);
}

bool StepEnumeration::unique(
    const Vector& after, double distinct,
    const std::function<void(const std::vector<int>&, const Vector&)>& taken) const {
  Matrix free;
  return each(
      [&](const std::vector<int>& choice) {
        const Vector own = impulse(choice, &free);
        const Vector velocity = before_ + model_.delassus() * own;
        Found what = Found::none;
        if (free.cols() > 0) {
          what = found(choice, own, free, after, distinct);
        } else if (plausible(model_, limit_, own, velocity, allowance_) &&
                   certificate::within(model_.residual(before_, limit_, own), tolerance_)) {
          const bool same = (velocity - after).cwiseAbs().maxCoeff() <= distinct;
          what = same ? Found::same : Found::other;
        }
        if (what == Found::same) {
          taken(choice, own);
          for (int c = 0; c < free.cols(); ++c) taken(choice, own + free.col(c));
        }
        return what != Found::other;
      },
      kMostChoices);
}

// Of a combination with singular equations: its impulses are impulse + free t.
StepEnumeration::Found StepEnumeration::found(const std::vector<int>& choice, const Vector& impulse,
                                              const Matrix& free, const Vector& after,
                                              double distinct) const {
  const int k = model_.directions();
  const Matrix& polygon = model_.polygon();
  const Vector velocity = before_ + model_.delassus() * impulse;
  const Matrix change = model_.delassus() * free;
  const auto same = [&](const Vector& u) { return (u - after).cwiseAbs().maxCoeff() <= distinct; };
  const double still = kStill * free.cwiseAbs().maxCoeff();
  const bool moves = change.cwiseAbs().maxCoeff() > still * model_.delassus().cwiseAbs().maxCoeff();
  // Conditions value + rate t <= slack; with several t only those count that none of them changes.
  double begin = -std::numeric_limits<double>::infinity(), end = -begin;
  const auto holds = [&](double value, const Eigen::RowVectorXd& rate, double size, double slack) {
    if (rate.cwiseAbs().maxCoeff() <= still * size) return value <= slack;
    if (rate.size() > 1) return true;
    const double at = (slack - value) / rate[0];
    if (rate[0] > 0.0) {
      end = std::min(end, at);
    } else {
      begin = std::max(begin, at);
    }
    return begin <= end;
  };
  for (int i = 0; i < model_.contacts(); ++i) {
    const Mode& one = mode(i, choice[i]);
    const std::vector<int> rows = contact_rows(model_, i);
    const Vector u = velocity(rows), lambda = impulse(rows);
    const Matrix of_u = change(rows, Eigen::all), of_lambda = free(rows, Eigen::all);
    const double size = model_.delassus()(rows, Eigen::all).cwiseAbs().maxCoeff();
    const double slack = slack_(rows).maxCoeff();
    for (int r = 0; r < one.equations.rows(); ++r) {
      if (std::fabs(one.equations.row(r) * u) > slack) return Found::none;
    }
    for (int r = 0; r < one.conditions.rows(); ++r) {
      const Eigen::RowVectorXd row = one.conditions.row(r);
      if (!holds(row * u, row * of_u, size, slack)) return Found::none;
    }
    const Eigen::RowVectorXd normal = of_lambda.row(0);
    if (!holds(-lambda[0], -normal, 1.0, allowance_)) return Found::none;
    if (!holds(lambda[0] - limit_[i], normal, 1.0, allowance_)) return Found::none;
    const double mu = model_.friction()[i];
    for (int j = 0; j < k && mu > 0.0; ++j) {
      const Vector out = model_.dimension() == 2
                             ? Vector(polygon.col(j))
                             : Vector(polygon.col(j) + polygon.col((j + 1) % k)).normalized();
      const double share = mu * out.dot(polygon.col(j));
      if (!holds(out.dot(lambda.tail(out.size())) - share * lambda[0],
                 out.transpose() * of_lambda.bottomRows(out.size()) - share * normal, 1.0,
                 (1.0 + mu) * allowance_)) {
        return Found::none;
      }
    }
  }
  if (!moves) return same(velocity) ? Found::same : Found::other;
  const bool between = free.cols() == 1 && std::isfinite(begin) && std::isfinite(end) &&
                       same(velocity + change * begin) && same(velocity + change * end);
  return between ? Found::same : Found::other;
}

std::vector<StepSolution> enumerate_step(const StepModel& model, const Vector& contact_velocity,
                                         const Vector& max_impulse, double tolerance,
                                         const std::function<Vector(const Vector&)>& velocity_of,
                                         double distinct) {
  StepEnumeration enumeration(model);
  enumeration.set(contact_velocity, max_impulse, tolerance);
  std::vector<StepSolution> found;
  std::vector<Vector> velocities;
  enumeration.each([&](const std::vector<int>& choice) {
    const Vector impulse = enumeration.impulse(choice);
    if (!impulse.allFinite()) return true;
    const Vector after = contact_velocity + model.delassus() * impulse;
    if (!plausible(model, max_impulse, impulse, after, enumeration.allowance())) return true;
    const double residual = model.residual(contact_velocity, max_impulse, impulse);
    if (!certificate::within(residual, tolerance)) return true;
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
    return true;
  });
  return found;
}

}  // namespace carom::dense
