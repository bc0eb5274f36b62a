#include "contact_qps.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/random.hpp"

namespace carom::bench {

namespace {

constexpr int kContacts = 4;
constexpr int kUnknowns = 3 * kContacts;
constexpr double kStep = 0.01;     // [s]
constexpr double kGravity = 9.81;  // [m/s^2]

/// Numbers of one problem in turn.
class Draws {
 public:
  explicit Draws(int problem) : problem_(static_cast<std::uint32_t>(problem)) {}
  double between(double low, double high) {
    if (!odd_) pair_ = uniform_pair(7, problem_, 0, block_++);
    odd_ = !odd_;
    return low + (high - low) * (odd_ ? pair_.first : pair_.second);
  }
  /// Evenly spread in the exponent.
  double decades(double low, double high) { return std::pow(10.0, between(low, high)); }

 private:
  std::uint32_t problem_;
  std::uint32_t block_ = 0;
  UniformPair pair_{};
  bool odd_ = false;
};

/// The numbers of one step: rows of all normals, then of the first and of the second tangents.
struct RawStep {
  double mass;
  double inertia[3];
  double velocity[6];
  double force[6];
  double jacobian[kUnknowns][6];
  double depth[kContacts];
  double stiffness[kContacts];
  double damping[kContacts];
  double tangent_damping[kContacts];
  double friction[kContacts];
};

RawStep raw_step(int problem) {
  Draws draws(problem);
  RawStep step{};
  step.mass = draws.decades(-1.0, 1.0);
  const double half[3] = {draws.between(0.05, 0.5), draws.between(0.05, 0.5),
                          draws.between(0.05, 0.5)};
  for (int a = 0; a < 3; ++a) {
    const double p = half[(a + 1) % 3];
    const double q = half[(a + 2) % 3];
    step.inertia[a] = step.mass * (p * p + q * q) / 3.0;
  }
  for (double& v : step.velocity) v = draws.between(-0.5, 0.5);
  step.velocity[2] -= 0.3;
  step.force[2] = -step.mass * kGravity;
  for (int c = 0; c < kContacts; ++c) {
    const double arm[3] = {(c % 2 == 0 ? half[0] : -half[0]) * draws.between(0.8, 1.0),
                           (c / 2 == 0 ? half[1] : -half[1]) * draws.between(0.8, 1.0), -half[2]};
    for (int row = 0; row < 3; ++row) {
      double axis[3] = {0.0, 0.0, 0.0};
      axis[row == 0 ? 2 : row - 1] = 1.0;
      double* j = step.jacobian[row * kContacts + c];
      for (int a = 0; a < 3; ++a) {
        j[a] = axis[a];
        j[3 + a] = arm[(a + 1) % 3] * axis[(a + 2) % 3] - arm[(a + 2) % 3] * axis[(a + 1) % 3];
      }
    }
    step.stiffness[c] = draws.decades(3.0, 8.0);
    step.damping[c] = draws.decades(0.0, 4.0);
    step.tangent_damping[c] = draws.decades(2.0, 6.0);
    step.depth[c] = draws.between(-2e-3, 1e-3);
    step.friction[c] = draws.between(0.1, 1.0);
  }
  return step;
}

struct Step {
  std::array<double, kUnknowns * kUnknowns> hessian{};
  std::array<double, kUnknowns> gradient{};
  std::array<double, kContacts * kUnknowns> matrix{};
  std::array<double, kContacts> bound{};
  std::array<double, kContacts> friction{};
};

Step random_step(int problem) {
  const RawStep raw = raw_step(problem);
  const auto& jacobian = raw.jacobian;
  double inverse_mass[6];
  for (int a = 0; a < 3; ++a) {
    inverse_mass[a] = 1.0 / raw.mass;
    inverse_mass[3 + a] = 1.0 / raw.inertia[a];
  }
  Step step;
  double normal_gain[kContacts];
  double tangent_gain[kContacts];
  for (int c = 0; c < kContacts; ++c) {
    step.friction[static_cast<std::size_t>(c)] = raw.friction[c];
    normal_gain[c] = kStep * kStep * raw.stiffness[c] + kStep * raw.damping[c];
    tangent_gain[c] = kStep * raw.tangent_damping[c];
  }
  const auto through_mass = [&](int a, int b) {
    double sum = 0.0;
    for (int k = 0; k < 6; ++k) sum += jacobian[a][k] * inverse_mass[k] * jacobian[b][k];
    return sum;
  };
  const auto rate = [&](int a, double share) {
    double sum = 0.0;
    for (int k = 0; k < 6; ++k) {
      sum += jacobian[a][k] * (raw.velocity[k] + share * kStep * inverse_mass[k] * raw.force[k]);
    }
    return sum;
  };
  // (S + E) of (172)-(173) for both tangents: rows of a least-squares problem with offset d.
  for (int t = kContacts; t < kUnknowns; ++t) {
    const int c = t % kContacts;
    double row[kUnknowns];
    for (int j = 0; j < kUnknowns; ++j) {
      row[j] = (j == t ? 1.0 : 0.0) + tangent_gain[c] * through_mass(t, j);
    }
    const double offset = raw.tangent_damping[c] * rate(t, 1.0);
    for (int i = 0; i < kUnknowns; ++i) {
      for (int j = 0; j < kUnknowns; ++j) {
        step.hessian[static_cast<std::size_t>(i * kUnknowns + j)] += row[i] * row[j];
      }
      step.gradient[static_cast<std::size_t>(i)] += row[i] * offset;
    }
  }
  for (int i = 0; i < kUnknowns; ++i) {
    step.hessian[static_cast<std::size_t>(i * kUnknowns + i)] += i < kContacts ? 1.0 / kStep : 1.0;
  }
  for (int c = 0; c < kContacts; ++c) {
    for (int j = 0; j < kUnknowns; ++j) {
      step.matrix[static_cast<std::size_t>(c * kUnknowns + j)] =
          (j == c ? 1.0 : 0.0) + normal_gain[c] * through_mass(c, j);
    }
    step.bound[static_cast<std::size_t>(c)] =
        -raw.stiffness[c] * raw.depth[c] -
        (kStep * raw.stiffness[c] + raw.damping[c]) * rate(c, 1.0);
  }
  return step;
}

}  // namespace

QpBatch contact_qps(int problems, bool cones) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr int kSides = 4;
  std::vector<double> hessian;
  std::vector<double> vector;
  std::vector<double> matrix;
  std::vector<double> lower;
  std::vector<double> cone_matrix;
  const auto add_row = [](std::vector<double>& rows,
                          std::initializer_list<std::pair<int, double>> entries) {
    const std::size_t first = rows.size();
    rows.resize(first + kUnknowns, 0.0);
    for (const auto& [column, value] : entries)
      rows[first + static_cast<std::size_t>(column)] = value;
  };
  for (int p = 0; p < problems; ++p) {
    const Step step = random_step(p);
    hessian.insert(hessian.end(), step.hessian.begin(), step.hessian.end());
    vector.insert(vector.end(), step.gradient.begin(), step.gradient.end());
    matrix.insert(matrix.end(), step.matrix.begin(), step.matrix.end());
    lower.insert(lower.end(), step.bound.begin(), step.bound.end());
    for (int c = 0; c < kContacts; ++c) {
      add_row(matrix, {{c, 1.0}});
      lower.push_back(0.0);
    }
    for (int c = 0; c < kContacts; ++c) {
      const double mu = step.friction[static_cast<std::size_t>(c)];
      const int r = kContacts + c;
      const int s = 2 * kContacts + c;
      if (cones) {
        add_row(cone_matrix, {{c, -mu}});
        add_row(cone_matrix, {{r, -1.0}});
        add_row(cone_matrix, {{s, -1.0}});
      } else {
        for (int side = 0; side < kSides; ++side) {
          add_row(matrix,
                  {{c, mu}, {r, side % 2 == 0 ? -1.0 : 1.0}, {s, side / 2 == 0 ? -1.0 : 1.0}});
          lower.push_back(0.0);
        }
      }
    }
  }
  QpBatch batch;
  batch.problems = problems;
  batch.variables = kUnknowns;
  batch.rows = cones ? 2 * kContacts : (2 + kSides) * kContacts;
  if (cones) batch.cones.assign(kContacts, Cone{ConeKind::second_order, 3});
  batch.hessian = Buffer<double>::from(hessian);
  batch.vector = Buffer<double>::from(vector);
  batch.matrix = Buffer<double>::from(matrix);
  batch.lower = Buffer<double>::from(lower);
  batch.upper = Buffer<double>::from(std::vector<double>(lower.size(), kInfinity));
  batch.cone_matrix = Buffer<double>::from(cone_matrix);
  batch.cone_vector =
      Buffer<double>::from(std::vector<double>(cone_matrix.size() / kUnknowns, 0.0));
  return batch;
}

CompliantBatch contact_steps(int problems, int contacts) {
  std::vector<CompliantProblem> steps;
  steps.reserve(static_cast<std::size_t>(problems));
  for (int p = 0; p < problems; ++p) {
    const RawStep raw = raw_step(p);
    CompliantProblem step;
    step.velocities = 6;
    step.step_size = kStep;
    step.mass_matrix.assign(36, 0.0);
    for (std::size_t a = 0; a < 3; ++a) {
      step.mass_matrix[7 * a] = raw.mass;
      step.mass_matrix[7 * (3 + a)] = raw.inertia[a];
    }
    step.force.assign(raw.force, raw.force + 6);
    step.velocity.assign(raw.velocity, raw.velocity + 6);
    for (int c = 0; c < contacts; ++c) {
      CompliantConstraint contact;
      contact.type = CompliantConstraint::Type::contact;
      for (int row = 0; row < 3; ++row) {
        const double* g = raw.jacobian[row * kContacts + c];
        contact.jacobian.insert(contact.jacobian.end(), g, g + 6);
      }
      contact.phi = {raw.depth[c], 0.0, 0.0};
      contact.stiffness = {raw.stiffness[c], 0.0, 0.0};
      contact.damping = {raw.damping[c], raw.tangent_damping[c], raw.tangent_damping[c]};
      contact.friction = raw.friction[c];
      step.constraints.push_back(std::move(contact));
    }
    steps.push_back(std::move(step));
  }
  return make_batch(steps);
}

}  // namespace carom::bench
