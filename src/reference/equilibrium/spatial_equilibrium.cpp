#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include <Eigen/Dense>

#include <carom/equilibrium_certificate.hpp>

#include "equilibrium/spatial_backends.hpp"

// The support function as the dense linear program that section 4.3 of the paper describes: six
// equality rows, one column for each ray of each polyhedral cone and two free columns for the
// centre of mass, solved by a two-phase tableau simplex method with Bland's rule. Exact cones: the
// program's rays are collected until the dual field lies in every exact dual cone.
namespace carom::reference {

namespace {

using Vector3 = Eigen::Vector3d;

struct Frame {
  Vector3 u, v, e;
  Vector3 centre;
  double length;
  double force;
};

struct Contact {
  Vector3 position, normal, t1, t2;
  double friction;
};

/// Rotation of z to the axis by Rodrigues' formula, from -z where the axis points down.
void tangents(const Vector3& axis, Vector3& t1, Vector3& t2) {
  const bool up = !(axis.z() < 0.0);
  const Eigen::Quaterniond turn =
      Eigen::Quaterniond::FromTwoVectors(up ? Vector3(0, 0, 1) : Vector3(0, 0, -1), axis);
  t1 = turn * Vector3(1, 0, 0);
  t2 = turn * Vector3(0, up ? 1 : -1, 0);
}

struct Program {
  Eigen::MatrixXd columns;  ///< [6, n + 4]: rays, then x+ and x-
  Eigen::VectorXd right;
};

struct Solution {
  Status status = Status::numerical_error;
  Eigen::VectorXd primal;
  Eigen::VectorXd dual;
  int pivots = 0;
};

/// max c'z, A z = b, z >= 0 on a tableau with Bland's rule in both phases.
Solution bland(const Eigen::MatrixXd& matrix, Eigen::VectorXd right, const Eigen::VectorXd& cost) {
  constexpr double kNothing = 1e-10;
  const int rows = static_cast<int>(matrix.rows());
  const int n = static_cast<int>(matrix.cols());
  Eigen::VectorXd sign = Eigen::VectorXd::Ones(rows);
  for (int i = 0; i < rows; ++i) {
    if (right[i] < 0.0) sign[i] = -1.0;
  }
  Eigen::MatrixXd tableau(rows, n + rows + 1);
  tableau << sign.asDiagonal() * matrix, Eigen::MatrixXd::Identity(rows, rows),
      sign.cwiseProduct(right);
  std::vector<int> basis(static_cast<std::size_t>(rows));
  for (int i = 0; i < rows; ++i) basis[static_cast<std::size_t>(i)] = n + i;
  Solution solution;
  const auto pivot = [&](int r, int c) {
    tableau.row(r) /= tableau(r, c);
    for (int i = 0; i < rows; ++i) {
      if (i != r) tableau.row(i) -= tableau(i, c) * tableau.row(r);
    }
    basis[static_cast<std::size_t>(r)] = c;
    ++solution.pivots;
  };
  const auto optimise = [&](const Eigen::VectorXd& c) {
    for (int turn = 0; turn < 20000; ++turn) {
      Eigen::VectorXd basic(rows);
      for (int i = 0; i < rows; ++i) basic[i] = c[basis[static_cast<std::size_t>(i)]];
      int entering = -1;
      for (int j = 0; j < n && entering < 0; ++j) {
        if (c[j] - basic.dot(tableau.col(j)) > kNothing) entering = j;
      }
      if (entering < 0) return Status::solved;
      int leaving = -1;
      double least = std::numeric_limits<double>::infinity();
      for (int i = 0; i < rows; ++i) {
        if (tableau(i, entering) <= kNothing) continue;
        const double ratio = std::max(0.0, tableau(i, n + rows)) / tableau(i, entering);
        const bool tie = std::abs(ratio - least) <= 1e-13;
        if (ratio < least - 1e-13 || (tie && basis[static_cast<std::size_t>(i)] <
                                                 basis[static_cast<std::size_t>(leaving)])) {
          least = ratio;
          leaving = i;
        }
      }
      if (leaving < 0) return Status::unbounded;
      pivot(leaving, entering);
    }
    return Status::iteration_limit;
  };
  Eigen::VectorXd first = Eigen::VectorXd::Zero(n + rows);
  first.tail(rows).setConstant(-1.0);
  if (optimise(first) != Status::solved) {
    solution.status = Status::iteration_limit;
    return solution;
  }
  double artificial = 0.0;
  for (int i = 0; i < rows; ++i) {
    if (basis[static_cast<std::size_t>(i)] >= n) artificial += tableau(i, n + rows);
  }
  const auto multipliers = [&](const Eigen::VectorXd& c) {
    Eigen::VectorXd y = Eigen::VectorXd::Zero(rows);
    for (int i = 0; i < rows; ++i) {
      y += c[basis[static_cast<std::size_t>(i)]] * tableau.row(i).segment(n, rows).transpose();
    }
    return Eigen::VectorXd(sign.cwiseProduct(y));
  };
  if (artificial > 1e-9) {
    solution.status = Status::infeasible;
    solution.dual = multipliers(first);
    return solution;
  }
  for (int i = 0; i < rows; ++i) {
    if (basis[static_cast<std::size_t>(i)] < n) continue;
    int strongest = -1;
    for (int j = 0; j < n; ++j) {
      if (std::abs(tableau(i, j)) > 1e-9 &&
          (strongest < 0 || std::abs(tableau(i, j)) > std::abs(tableau(i, strongest)))) {
        strongest = j;
      }
    }
    if (strongest >= 0) pivot(i, strongest);
  }
  Eigen::VectorXd second = Eigen::VectorXd::Zero(n + rows);
  second.head(n) = cost;
  solution.status = optimise(second);
  solution.primal = Eigen::VectorXd::Zero(n);
  for (int i = 0; i < rows; ++i) {
    const int j = basis[static_cast<std::size_t>(i)];
    if (j < n) solution.primal[j] = std::max(0.0, tableau(i, n + rows));
  }
  solution.dual = multipliers(second);
  return solution;
}

struct Ray {
  int contact;
  Vector3 force;  ///< per |f_ext|
};

class PostureProgram {
 public:
  PostureProgram(const PostureBatch& batch, std::int64_t p) {
    const auto k = static_cast<std::int64_t>(batch.contacts);
    const double* w = batch.wrench.data() + 6 * p;
    wrench_ = Eigen::Map<const Eigen::VectorXd>(w, 6);
    frame_.force = wrench_.head<3>().norm();
    valid_ = wrench_.allFinite() && frame_.force > 0.0;
    frame_.e = -wrench_.head<3>() / frame_.force;
    frame_.centre.setZero();
    for (std::int64_t i = p * k; i < (p + 1) * k; ++i) {
      Contact contact;
      contact.position = Eigen::Map<const Vector3>(batch.position.data() + 3 * i);
      contact.normal = Eigen::Map<const Vector3>(batch.normal.data() + 3 * i);
      contact.friction = batch.friction.data()[i];
      valid_ = valid_ && contact.position.allFinite() && contact.normal.allFinite() &&
               std::abs(contact.normal.norm() - 1.0) <= 1e-5 && contact.friction >= 0.0 &&
               std::isfinite(contact.friction);
      if (!valid_) return;
      tangents(contact.normal, contact.t1, contact.t2);
      frame_.centre += contact.position / static_cast<double>(k);
      contacts_.push_back(contact);
    }
    tangents(frame_.e, frame_.u, frame_.v);
    frame_.length = 0.0;
    for (const Contact& contact : contacts_) {
      frame_.length = std::max(frame_.length, (contact.position - frame_.centre).norm());
    }
    if (!(frame_.length > 0.0)) frame_.length = 1.0;
  }

  [[nodiscard]] bool valid() const { return valid_; }
  [[nodiscard]] const Frame& frame() const { return frame_; }

  void add(int i, double angle, double stretch) {
    const Contact& c = contacts_[static_cast<std::size_t>(i)];
    rays_.push_back(
        {i, c.normal + c.friction * stretch * (std::cos(angle) * c.t1 + std::sin(angle) * c.t2)});
  }
  void add_polygons(int sides, double stretch) {
    for (int i = 0; i < static_cast<int>(contacts_.size()); ++i) {
      for (int j = 0; j < sides; ++j) add(i, 2.0 * std::numbers::pi * j / sides, stretch);
    }
  }

  /// max d . x with x - centre in units of `length` along u and v.
  [[nodiscard]] Solution solve(double d0, double d1) const {
    const int n = static_cast<int>(rays_.size());
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(6, n + 4);
    for (int j = 0; j < n; ++j) {
      const Ray& ray = rays_[static_cast<std::size_t>(j)];
      const Vector3 arm =
          (contacts_[static_cast<std::size_t>(ray.contact)].position - frame_.centre) /
          frame_.length;
      matrix.col(j) << ray.force, arm.cross(ray.force);
    }
    // sum x_i x f_i + x x f_ext = -tau with f_ext = -e.
    const Vector3 shift_u = -frame_.u.cross(frame_.e);
    const Vector3 shift_v = -frame_.v.cross(frame_.e);
    matrix.col(n).tail<3>() = shift_u;
    matrix.col(n + 1).tail<3>() = -shift_u;
    matrix.col(n + 2).tail<3>() = shift_v;
    matrix.col(n + 3).tail<3>() = -shift_v;
    Eigen::VectorXd right(6);
    right << frame_.e, -wrench_.tail<3>() / (frame_.force * frame_.length);
    Eigen::VectorXd cost = Eigen::VectorXd::Zero(n + 4);
    cost.tail<4>() << d0, -d0, d1, -d1;
    return bland(matrix, right, cost);
  }

  /// Adds the exact cones' rays of negative reduced cost; whether there are any. Without, the
  /// columns are still those of the solution.
  bool price(const Eigen::VectorXd& y) {
    const std::size_t before = rays_.size();
    for (int i = 0; i < static_cast<int>(contacts_.size()); ++i) {
      const Contact& c = contacts_[static_cast<std::size_t>(i)];
      const Vector3 arm = (c.position - frame_.centre) / frame_.length;
      const Vector3 w = y.head<3>() + y.tail<3>().cross(arm);
      const double slack = w.dot(c.normal) - c.friction * std::hypot(w.dot(c.t1), w.dot(c.t2));
      if (slack < -1e-10) add(i, std::atan2(-w.dot(c.t2), -w.dot(c.t1)), 1.0);
    }
    return rays_.size() > before;
  }

  [[nodiscard]] std::vector<Vector3> forces(const Eigen::VectorXd& primal) const {
    std::vector<Vector3> all(contacts_.size(), Vector3::Zero());
    for (std::size_t j = 0; j < rays_.size(); ++j) {
      all[static_cast<std::size_t>(rays_[j].contact)] +=
          frame_.force * primal[static_cast<int>(j)] * rays_[j].force;
    }
    return all;
  }

  /// Balance and cones of forces that hold the centre of mass at (a, b), cones widened by stretch.
  [[nodiscard]] double residual(const std::vector<Vector3>& forces, double a, double b,
                                double stretch) const {
    const Vector3 x = frame_.u * a + frame_.v * b + frame_.e * frame_.e.dot(frame_.centre);
    Vector3 sum = wrench_.head<3>();
    Vector3 torque = (x - frame_.centre).cross(sum) + Vector3(wrench_.tail<3>());
    double worst = 0.0;
    for (std::size_t i = 0; i < forces.size(); ++i) {
      const Contact& c = contacts_[i];
      sum += forces[i];
      torque += (c.position - frame_.centre).cross(forces[i]);
      const double normal = forces[i].dot(c.normal);
      worst =
          std::max(worst, ((forces[i] - normal * c.normal).norm() - c.friction * stretch * normal) /
                              frame_.force);
    }
    worst = std::max(worst, sum.lpNorm<Eigen::Infinity>() / frame_.force);
    return std::max(worst, torque.lpNorm<Eigen::Infinity>() / (frame_.force * frame_.length));
  }

  /// (a, b) in the world of the rows' multipliers.
  [[nodiscard]] Eigen::VectorXd world(const Eigen::VectorXd& y) const {
    Eigen::VectorXd dual(6);
    const Vector3 spin = y.tail<3>() / frame_.force;
    dual << y.head<3>() * (frame_.length / frame_.force) - spin.cross(frame_.centre), spin;
    return dual;
  }
  [[nodiscard]] double offset(const Eigen::VectorXd& dual) const {
    return -dual.head<3>().dot(wrench_.head<3>()) - dual.tail<3>().dot(wrench_.tail<3>());
  }

 private:
  bool valid_ = false;
  Frame frame_{};
  Eigen::VectorXd wrench_;
  std::vector<Contact> contacts_;
  std::vector<Ray> rays_;
};

Solution solve_exact(PostureProgram& program, double d0, double d1) {
  Solution solution;
  int pivots = 0;
  for (int round = 0; round < 60; ++round) {
    solution = program.solve(d0, d1);
    pivots += solution.pivots;
    solution.pivots = pivots;
    if (solution.status == Status::unbounded || solution.dual.size() == 0) return solution;
    if (!program.price(solution.dual)) return solution;
  }
  solution.status = Status::iteration_limit;
  return solution;
}

}  // namespace

SupportResult support(const PostureBatch& batch, std::span<const double> directions,
                      const SpatialSettings& settings, WorkspaceState* /*workspace*/) {
  const SupportRules rules = support_rules(settings);
  const std::size_t n = directions.size() / 2;
  const auto k = static_cast<std::size_t>(batch.contacts);
  auto result = allocate<SupportResult>({batch.problems, static_cast<int>(n), batch.contacts});
  fill_nan(result);
  const bool exact = settings.cones == ConeModel::exact;
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    for (std::size_t j = 0; j < n; ++j) {
      const std::size_t at = static_cast<std::size_t>(p) * n + j;
      const double d0 = directions[2 * j];
      const double d1 = directions[2 * j + 1];
      Status& status = result.status.data()[at];
      std::int32_t& pivots = result.pivots.data()[at];
      pivots = 0;
      status = Status::invalid_input;
      for (const bool inner : {true, false}) {
        if (!inner && !rules.two) continue;
        PostureProgram program(batch, p);
        if (!program.valid()) break;
        const kernels::ConeRule& rule = inner ? rules.inner : rules.outer;
        program.add_polygons(exact ? 8 : rule.sides, rule.stretch);
        const Solution found = exact ? solve_exact(program, d0, d1) : program.solve(d0, d1);
        pivots += found.pivots;
        if (inner) {
          status = found.status;
        } else if (status == Status::infeasible && found.status == Status::solved) {
          status = Status::inaccurate;
        } else if (found.status != Status::solved) {
          status = status == Status::solved ? Status::inaccurate : found.status;
        }
        const auto write_dual = [&] {
          const Eigen::VectorXd dual = program.world(found.dual);
          for (int c = 0; c < 6; ++c) {
            result.dual.data()[6 * at + static_cast<std::size_t>(c)] = dual[c];
          }
          return program.offset(dual);
        };
        if (found.status == Status::infeasible && (!inner || !rules.two)) write_dual();
        if (found.status != Status::solved) continue;
        const Frame& frame = program.frame();
        if (inner) {
          const auto forces = program.forces(found.primal);
          const Eigen::Index last = found.primal.size() - 4;
          const double a = frame.u.dot(frame.centre) +
                           frame.length * (found.primal[last] - found.primal[last + 1]);
          const double b = frame.v.dot(frame.centre) +
                           frame.length * (found.primal[last + 2] - found.primal[last + 3]);
          result.point.data()[2 * at] = a;
          result.point.data()[2 * at + 1] = b;
          result.lower.data()[at] = d0 * a + d1 * b;
          result.residual.data()[at] = program.residual(forces, a, b, rule.stretch);
          for (std::size_t i = 0; i < k; ++i) {
            for (int c = 0; c < 3; ++c) {
              result.forces.data()[3 * (k * at + i) + static_cast<std::size_t>(c)] = forces[i][c];
            }
          }
          if (!(result.residual.data()[at] <= std::max(settings.tolerance, 1e-8))) {
            status = Status::inaccurate;
          }
        }
        if (!inner || !rules.two) {
          result.upper.data()[at] = write_dual();
          result.slack.data()[at] = 0.0;
        }
      }
    }
  }
  return result;
}

}  // namespace carom::reference
