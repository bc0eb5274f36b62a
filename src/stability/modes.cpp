#include "stability/modes.hpp"
#include "core/constants.hpp"

#include <Eigen/Dense>

#include <cmath>
#include <string_view>

#include "programs/lp/dense_simplex.hpp"
#include "stability/prepare.hpp"

namespace carom::stability {

namespace {

namespace body = kernels::stability;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr std::string_view kLetters = "FSPN";
constexpr double kRank = 1e-12;  // of pivots, relative to the largest

struct Contact {
  Vector3d normal, tangent;
  double friction = 0.0;
};
struct System {
  std::vector<Contact> contacts;
  Vector3d g;
};

System system_of(const Stance& stance) {
  const PreparedStances prepared = prepare(stance);
  System system;
  system.g = Eigen::Map<const Vector3d>(prepared.wrench.data());
  for (std::size_t i = 0; i < stance.contacts.size(); ++i) {
    system.contacts.push_back({Eigen::Map<const Vector3d>(prepared.normal.data() + 3 * i),
                               Eigen::Map<const Vector3d>(prepared.tangent.data() + 3 * i),
                               stance.contacts[i].friction});
  }
  return system;
}

// Rows of null space, none where the columns are independent.
MatrixXd null_space(const MatrixXd& matrix) {
  if (matrix.rows() == 0) return MatrixXd::Identity(matrix.cols(), matrix.cols());
  Eigen::FullPivLU<MatrixXd> lu(matrix);
  lu.setThreshold(kRank);
  if (lu.dimensionOfKernel() == 0) return MatrixXd(matrix.cols(), 0);
  return lu.kernel();
}

// max over w of the least of value + slope w; w at the maximum. Where it is infinite, a w at which
// all are positive.
double largest_least(const VectorXd& value, const MatrixXd& slope, VectorXd& w) {
  const Eigen::Index rows = value.size(), n = slope.cols();
  w = VectorXd::Zero(n);
  double least = value.minCoeff();
  if (n == 0) return least;
  MatrixXd matrix(rows, 2 * n + 1);  // w = x - y; rise above the least at w = 0
  matrix << -slope, slope, VectorXd::Ones(rows);
  VectorXd cost = VectorXd::Zero(2 * n + 1);
  cost(2 * n) = 1.0;
  const auto outcome = dense::maximize(cost, matrix, (value.array() - least).matrix());
  if (outcome.primal.size() != 2 * n + 1) return least;
  w = outcome.primal.head(n) - outcome.primal.segment(n, n);
  if (outcome.status == Status::unbounded) {
    const double rise = (slope * w).minCoeff();
    if (rise > 0.0) w *= (std::fabs(least) + 1.0) / rise;
    return kInfinity;
  }
  return (value + slope * w).minCoeff();
}

bool admissible(const System& system, const std::vector<int>& letters) {
  MatrixXd fixed(0, 3), moving(0, 3);
  const auto append = [](MatrixXd& to, const Vector3d& row) {
    to.conservativeResize(to.rows() + 1, 3);
    to.row(to.rows() - 1) = row.transpose();
  };
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const Contact& c = system.contacts[i];
    if (letters[i] == body::kFree) continue;
    append(fixed, c.normal);
    if (letters[i] == body::kStick) {
      append(fixed, c.tangent);
    } else {
      append(moving, body::sign_of(letters[i]) * c.tangent);
    }
  }
  if (moving.rows() == 0) return true;
  const MatrixXd z = null_space(fixed);
  if (z.cols() == 0) return false;
  VectorXd w;
  // Slips are a cone of w: some are all positive if and only if they can grow without limit.
  return largest_least(VectorXd::Zero(moving.rows()), moving * z, w) == kInfinity;
}

StanceMode solve(const System& system, const std::vector<int>& letters) {
  StanceMode mode;
  const std::size_t contacts = letters.size();
  mode.word = word_of_letters(letters);
  mode.admissible = admissible(system, letters);
  mode.normal_force.assign(contacts, kNan);
  mode.tangential_force.assign(contacts, kNan);
  mode.acceleration = {kNan, kNan, kNan};
  mode.margin = -kInfinity;

  std::vector<Vector3d> rows, forces;
  std::vector<Eigen::Index> normal_at(contacts, -1), tangential_at(contacts, -1);
  for (std::size_t i = 0; i < contacts; ++i) {
    const Contact& c = system.contacts[i];
    if (letters[i] == body::kFree) continue;
    normal_at[i] = static_cast<Eigen::Index>(forces.size());
    rows.push_back(c.normal);
    forces.push_back(c.normal - body::sign_of(letters[i]) * c.friction * c.tangent);
    if (letters[i] != body::kStick) continue;
    tangential_at[i] = static_cast<Eigen::Index>(forces.size());
    rows.push_back(c.tangent);
    forces.push_back(c.tangent);
  }
  const auto n = static_cast<Eigen::Index>(forces.size());
  MatrixXd r(n, 3), b(3, n);
  for (Eigen::Index k = 0; k < n; ++k) {
    r.row(k) = rows[static_cast<std::size_t>(k)].transpose();
    b.col(k) = forces[static_cast<std::size_t>(k)];
  }
  VectorXd lambda = VectorXd::Zero(n);
  MatrixXd free(n, 0);
  if (n > 0) {
    const MatrixXd k = r * b;
    const VectorXd load = -r * system.g;
    Eigen::FullPivLU<MatrixXd> lu(k);
    lu.setThreshold(kRank);
    lambda = lu.solve(load);
    const double size = load.cwiseAbs().maxCoeff() + k.cwiseAbs().maxCoeff();
    if (!((k * lambda - load).cwiseAbs().maxCoeff() <= 1e-9 * size)) return mode;
    free = null_space(k);
  }
  // All margins, linear in the forces.
  std::vector<VectorXd> slopes;
  std::vector<double> values;
  const auto add = [&](double value, const VectorXd& slope) {
    values.push_back(value);
    slopes.push_back(slope);
  };
  for (std::size_t i = 0; i < contacts; ++i) {
    const Contact& c = system.contacts[i];
    if (letters[i] == body::kFree) {
      add(c.normal.dot(system.g), b.transpose() * c.normal);
      continue;
    }
    const VectorXd normal = VectorXd::Unit(n, normal_at[i]);
    add(0.0, normal);
    if (letters[i] == body::kStick) {
      const VectorXd tangential = VectorXd::Unit(n, tangential_at[i]);
      add(0.0, c.friction * normal - tangential);
      add(0.0, c.friction * normal + tangential);
    } else {
      const double sign = body::sign_of(letters[i]);
      add(sign * c.tangent.dot(system.g), sign * (b.transpose() * c.tangent));
    }
  }
  const auto count = static_cast<Eigen::Index>(values.size());
  VectorXd value(count);
  MatrixXd slope(count, free.cols());
  for (Eigen::Index k = 0; k < count; ++k) {
    const VectorXd& along = slopes[static_cast<std::size_t>(k)];
    value(k) = values[static_cast<std::size_t>(k)] + along.dot(lambda);
    slope.row(k) = (free.transpose() * along).transpose();
  }
  VectorXd w;
  mode.margin = largest_least(value, slope, w);
  if (free.cols() > 0) lambda += free * w;
  mode.solvable = true;
  const Vector3d a = system.g + b * lambda;
  mode.acceleration = {a.x(), a.y(), a.z()};
  for (std::size_t i = 0; i < contacts; ++i) {
    const bool closed = letters[i] != body::kFree;
    mode.normal_force[i] = closed ? lambda(normal_at[i]) : 0.0;
    mode.tangential_force[i] = 0.0;
    if (letters[i] == body::kStick) mode.tangential_force[i] = lambda(tangential_at[i]);
    if (body::sign_of(letters[i]) != 0.0) {
      mode.tangential_force[i] =
          -body::sign_of(letters[i]) * system.contacts[i].friction * mode.normal_force[i];
    }
  }
  mode.consistent = mode.margin > 0.0;
  return mode;
}

}  // namespace

std::string word_of_letters(const std::vector<int>& letters) {
  std::string word;
  for (const int letter : letters) word += kLetters[static_cast<std::size_t>(letter)];
  return word;
}

std::vector<StanceMode> contact_modes(const Stance& stance) {
  const System system = system_of(stance);
  const std::size_t contacts = stance.contacts.size();
  std::vector<StanceMode> modes;
  for (std::size_t code = 0; code < std::size_t{1} << (2 * contacts); ++code) {
    std::vector<int> letters(contacts);
    for (std::size_t i = 0; i < contacts; ++i) {
      letters[i] = static_cast<int>(code >> (2 * (contacts - 1 - i)) & 3U);
    }
    modes.push_back(solve(system, letters));
  }
  return modes;
}

}  // namespace carom::stability
