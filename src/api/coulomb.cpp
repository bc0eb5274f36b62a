#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <carom/coulomb.hpp>
#include <carom/error.hpp>

#include "core/require.hpp"
#include "core/settings.hpp"
#include "programs/coulomb/contacts.hpp"
#include "programs/coulomb/law.hpp"
#include "programs/coulomb/solver.hpp"

namespace carom {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMajorMap =
    Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

/// A residual within this factor of the tolerance, and below this bound, is handed out as
/// `inaccurate`.
constexpr double kInaccurateFactor = 1e3;
constexpr double kInaccurateLimit = 1e-4;

/// With all digits of the value.
template <class Value>
[[noreturn]] void refuse(const std::string& field, Value value, std::string rule,
                         std::vector<std::int64_t> index = {}) {
  std::ostringstream digits;
  digits.precision(17);
  digits << value;
  require::refuse({}, field, std::move(index), digits.str(), std::move(rule));
}

void require_entries(const char* field, const std::vector<double>& values, std::size_t expected) {
  if (values.size() != expected) {
    refuse(std::string(field) + ".size()", values.size(), "must be " + std::to_string(expected));
  }
  for (std::size_t k = 0; k < expected; ++k) {
    if (std::isfinite(values[k])) continue;
    refuse(field, values[k], "must be finite", {static_cast<std::int64_t>(k)});
  }
}

void validate(const CoulombProblem& problem) {
  if (problem.dimension != 2 && problem.dimension != 3) {
    refuse("dimension", problem.dimension, "must be 2 or 3");
  }
  if (problem.contacts < 0) refuse("contacts", problem.contacts, "must be >= 0");
  const std::size_t contacts = static_cast<std::size_t>(problem.contacts);
  const std::size_t rows = contacts * static_cast<std::size_t>(problem.dimension);
  require_entries("matrix", problem.matrix, rows * rows);
  require_entries("vector", problem.vector, rows);
  require_entries("friction", problem.friction, contacts);
  for (std::size_t i = 0; i < contacts; ++i) {
    if (!(problem.friction[i] < 0)) continue;
    refuse("friction", problem.friction[i], "must be >= 0", {static_cast<std::int64_t>(i)});
  }
}

cpu::CoulombSystem unscaled_system(const CoulombProblem& problem) {
  cpu::CoulombSystem system;
  system.dimension = problem.dimension;
  system.contacts = problem.contacts;
  const Eigen::Index n = system.size();
  system.matrix = RowMajorMap(problem.matrix.data(), n, n);
  system.vector = Eigen::Map<const VectorXd>(problem.vector.data(), n);
  system.friction = Eigen::Map<const VectorXd>(problem.friction.data(), problem.contacts);
  system.weight.resize(problem.contacts);
  for (int i = 0; i < problem.contacts; ++i) {
    system.weight[i] = cpu::contact_weight(system.matrix, system.dimension, i);
  }
  return system;
}

double largest(const VectorXd& vector) { return vector.cwiseAbs().maxCoeff(); }

/// True where no reaction in the cone can raise some approaching normal: every contact j adds at
/// most (W_ij,n + mu_j |W_ij,t|) r_j,n to u_i,n, and all these factors are <= 0.
bool provably_infeasible(const cpu::CoulombSystem& system) {
  const int d = system.dimension;
  for (int i = 0; i < system.contacts; ++i) {
    if (!(system.vector[d * i] < 0)) continue;
    bool hopeless = true;
    for (int j = 0; j < system.contacts && hopeless; ++j) {
      const auto row = system.matrix.row(d * i).segment(d * j, d);
      hopeless = row[0] + system.friction[j] * row.tail(d - 1).norm() <= 0;
    }
    if (hopeless) return true;
  }
  return false;
}

}  // namespace

void CoulombSettings::validate() const { require::settings(*this); }

double coulomb_residual(const CoulombProblem& problem, const std::vector<double>& reaction) {
  validate(problem);
  if (reaction.size() != problem.vector.size()) {
    refuse("reaction.size()", reaction.size(), "must be " + std::to_string(problem.vector.size()));
  }
  if (problem.contacts == 0) return 0;
  const cpu::CoulombSystem system = unscaled_system(problem);
  const VectorXd r = Eigen::Map<const VectorXd>(reaction.data(), system.size());
  const double scale = std::max(largest(system.vector), std::numeric_limits<double>::min());
  const double law = cpu::law_residual(system, r) / scale;
  const double own = cpu::contact_residual(system, r);
  return law >= own || std::isnan(law) ? law : own;
}

CoulombResult solve_coulomb(const CoulombProblem& problem, const CoulombSettings& settings) {
  validate(problem);
  settings.validate();
  CoulombResult result;
  if (problem.contacts == 0) {
    result.status = Status::solved;
    return result;
  }
  const cpu::CoulombSystem original = unscaled_system(problem);
  const Eigen::Index n = original.size();
  const double q_scale = largest(original.vector);
  double w_scale = largest(original.matrix.diagonal());
  if (!(w_scale > 0)) w_scale = original.weight.maxCoeff();

  VectorXd reaction = VectorXd::Zero(n);
  if (q_scale > 0) {
    const VectorXd units = cpu::contact_units(original);
    cpu::CoulombSystem scaled = cpu::in_units(original, units);
    const double own_scale = largest(scaled.vector);
    scaled.matrix /= w_scale;
    scaled.vector /= own_scale;
    scaled.weight /= w_scale;
    const cpu::CoulombSolution solution =
        cpu::search_coulomb(scaled, settings.tolerance, settings.max_iterations);
    reaction = solution.reaction * own_scale / w_scale;
    for (int i = 0; i < problem.contacts; ++i) {
      reaction.segment(static_cast<Eigen::Index>(problem.dimension) * i, problem.dimension) *=
          units[i];
    }
    result.iterations = solution.iterations;
  }
  const VectorXd velocity = original.velocity(reaction);
  result.reaction.assign(reaction.begin(), reaction.end());
  result.velocity.assign(velocity.begin(), velocity.end());
  result.residual = coulomb_residual(problem, result.reaction);
  if (result.residual <= settings.tolerance) {
    result.status = Status::solved;
  } else if (!std::isfinite(result.residual)) {
    result.status = Status::numerical_error;
  } else if (provably_infeasible(original)) {
    result.status = Status::infeasible;
  } else if (result.residual <=
             std::min(kInaccurateFactor * settings.tolerance, kInaccurateLimit)) {
    result.status = Status::inaccurate;
  } else {
    result.status = Status::iteration_limit;
  }
  if (result.status != Status::solved && result.status != Status::inaccurate) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    result.reaction.assign(result.reaction.size(), nan);
    result.velocity.assign(result.velocity.size(), nan);
  }
  return result;
}

}  // namespace carom
