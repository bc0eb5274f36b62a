#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <Eigen/Cholesky>

#include <carom/compliant.hpp>

#include "compliant/mass_matrix.hpp"
#include "core/message.hpp"
#include "core/require.hpp"

namespace carom {

namespace {

using Type = CompliantConstraint::Type;

/// Rows that a constraint must have, or 0 where its own arrays say.
std::size_t rows_of(const CompliantProblem& problem, const CompliantConstraint& constraint) {
  if (constraint.type == Type::contact) return static_cast<std::size_t>(problem.dimension);
  return constraint.jacobian.size() / static_cast<std::size_t>(problem.velocities);
}

/// Value `row` of an array that may be empty (zero) or hold one value for all rows.
double value_at(const std::vector<double>& values, std::size_t row) {
  if (values.empty()) return 0.0;
  return values.size() == 1 ? values[0] : values[row];
}

class Checker {
 public:
  Checker(const CompliantProblem& problem, std::int64_t index)
      : problem_(problem), whose_{.problem = index, .name = problem.name} {}

  void run() const {
    if (problem_.dimension != 2 && problem_.dimension != 3) {
      fail("dimension", std::to_string(problem_.dimension), "2 or 3");
    }
    require::between("velocities", problem_.velocities, 1, kMaxStepVelocities, whose_);
    require::between("positions", problem_.positions, 0, 2 * kMaxStepVelocities, whose_);
    const auto nv = static_cast<std::size_t>(problem_.velocities);
    require::positive("step_size", problem_.step_size, whose_);
    shape("mass_matrix", problem_.mass_matrix, nv * nv);
    shape("force", problem_.force, nv);
    shape("velocity", problem_.velocity, nv);
    shape("position_map", problem_.position_map, nv * static_cast<std::size_t>(problem_.positions));
    finite("mass_matrix", problem_.mass_matrix);
    finite("force", problem_.force);
    finite("velocity", problem_.velocity);
    finite("position_map", problem_.position_map);
    check_mass_matrix();
    std::size_t rows = 0;
    for (std::size_t c = 0; c < problem_.constraints.size(); ++c) rows += check_constraint(c);
    if (rows > static_cast<std::size_t>(kMaxStepRows)) {
      fail("rows of the constraints", std::to_string(rows),
           "at most " + std::to_string(kMaxStepRows));
    }
  }

 private:
  [[noreturn]] void fail(const std::string& field, const std::string& value,
                         const std::string& wanted, std::vector<std::int64_t> index = {}) const {
    require::refuse(whose_, field, std::move(index), value, "must be " + wanted);
  }
  void shape(const std::string& field, const std::vector<double>& values, std::size_t size) const {
    require::size(field, values.size(), size, whose_);
  }
  void finite(const std::string& field, const std::vector<double>& values) const {
    require::finite(field, values.data(), values.size(), 0, whose_);
  }
  void at_least_zero(const std::string& field, const std::vector<double>& values) const {
    finite(field, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] < 0.0) {
        fail(field, message::number(values[i]), ">= 0", {static_cast<std::int64_t>(i)});
      }
    }
  }
  void one_or(const std::string& field, const std::vector<double>& values, std::size_t rows,
              bool may_be_empty) const {
    if (values.size() == 1 && !may_be_empty) return;
    if (values.empty() && may_be_empty) return;
    shape(field, values, rows);
  }

  void check_mass_matrix() const {
    const Eigen::Index nv = problem_.velocities;
    const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>
        mass(problem_.mass_matrix.data(), nv, nv);
    if (const auto place = unmirrored(mass.data(), nv)) {
      const auto [i, j] = *place;
      fail("mass_matrix", message::number(mass(i, j)),
           "equal to its mirror image, " + message::number(mass(j, i)), {i, j});
    }
    if (Eigen::LLT<Eigen::MatrixXd>(mass).info() != Eigen::Success) {
      require::refuse(whose_, "mass_matrix", {}, "", "must be positive definite");
    }
  }

  std::size_t check_constraint(std::size_t c) const {
    const CompliantConstraint& constraint = problem_.constraints[c];
    const std::string of = "constraints[" + std::to_string(c) + "].";
    const auto nv = static_cast<std::size_t>(problem_.velocities);
    const std::size_t rows = rows_of(problem_, constraint);
    if (rows == 0 || constraint.jacobian.size() != rows * nv) {
      Refusal refused = whose_;
      refused.relation = "has";
      require::refuse(
          std::move(refused), of + "jacobian", {},
          std::to_string(constraint.jacobian.size()) + " values",
          "must have " + (constraint.type == Type::contact
                              ? std::to_string(rows * nv)
                              : "a multiple of " + std::to_string(nv) + ", at least one row"));
    }
    finite(of + "jacobian", constraint.jacobian);
    one_or(of + "jacobian_dot_v", constraint.jacobian_dot_v, rows, true);
    finite(of + "jacobian_dot_v", constraint.jacobian_dot_v);
    one_or(of + "phi", constraint.phi, rows, true);
    finite(of + "phi", constraint.phi);
    one_or(of + "stiffness", constraint.stiffness, rows, false);
    at_least_zero(of + "stiffness", constraint.stiffness);
    one_or(of + "damping", constraint.damping, rows, false);
    at_least_zero(of + "damping", constraint.damping);
    if (!std::isfinite(constraint.friction) || constraint.friction < 0.0) {
      fail(of + "friction", message::number(constraint.friction), "finite and >= 0");
    }
    return rows;
  }

  const CompliantProblem& problem_;
  Refusal whose_;
};

template <class T>
void place(Buffer<T>& to, std::size_t problem, const std::vector<T>& values) {
  std::copy(values.begin(), values.end(), to.data() + problem * values.size());
}

}  // namespace

void validate(const CompliantProblem& problem, std::int64_t index) {
  Checker(problem, index).run();
}

CompliantBatch make_batch(std::span<const CompliantProblem> problems) {
  CompliantBatch batch;
  batch.problems = static_cast<std::int64_t>(problems.size());
  if (problems.empty()) {
    batch.velocities = 1;
    return batch;
  }
  const CompliantProblem& head = problems.front();
  std::size_t rows = 0;
  for (std::size_t p = 0; p < problems.size(); ++p) {
    validate(problems[p], static_cast<std::int64_t>(p));
    const auto same = [&](const char* field, int value, int wanted) {
      if (value == wanted) return;
      require::refuse({.problem = static_cast<std::int64_t>(p), .name = problems[p].name}, field,
                      {}, std::to_string(value),
                      "must be that of problem 0, " + std::to_string(wanted));
    };
    same("dimension", problems[p].dimension, head.dimension);
    same("velocities", problems[p].velocities, head.velocities);
    same("positions", problems[p].positions, head.positions);
    std::size_t count = 0;
    for (const auto& constraint : problems[p].constraints)
      count += rows_of(problems[p], constraint);
    rows = std::max(rows, count);
  }
  const std::size_t count = problems.size();
  const auto nv = static_cast<std::size_t>(head.velocities);
  batch = allocate<CompliantBatch>(
      {batch.problems, head.dimension, head.velocities, static_cast<int>(rows), head.positions});
  for (Buffer<double>* column :
       {&batch.jacobian_dot_v, &batch.phi, &batch.stiffness, &batch.damping, &batch.friction}) {
    std::fill_n(column->data(), column->size(), 0.0);
  }
  std::fill_n(batch.type.data(), batch.type.size(), RowType::none);
  std::fill_n(batch.jacobian.data(), batch.jacobian.size(), 0.0);
  for (std::size_t p = 0; p < count; ++p) {
    const CompliantProblem& problem = problems[p];
    batch.step_size.data()[p] = problem.step_size;
    place(batch.mass_matrix, p, problem.mass_matrix);
    place(batch.force, p, problem.force);
    place(batch.velocity, p, problem.velocity);
    place(batch.position_map, p, problem.position_map);
    std::size_t row = p * rows;
    for (const CompliantConstraint& constraint : problem.constraints) {
      const std::size_t own = rows_of(problem, constraint);
      for (std::size_t k = 0; k < own; ++k, ++row) {
        const bool contact = constraint.type == Type::contact;
        batch.type.data()[row] = contact ? (k == 0 ? RowType::normal : RowType::tangent)
                                 : constraint.type == Type::bilateral ? RowType::bilateral
                                                                      : RowType::unilateral;
        std::copy_n(constraint.jacobian.data() + k * nv, nv, batch.jacobian.data() + row * nv);
        batch.jacobian_dot_v.data()[row] = value_at(constraint.jacobian_dot_v, k);
        batch.phi.data()[row] = value_at(constraint.phi, k);
        batch.stiffness.data()[row] = value_at(constraint.stiffness, k);
        batch.damping.data()[row] = value_at(constraint.damping, k);
        batch.friction.data()[row] = contact ? constraint.friction : 0.0;
      }
    }
  }
  return batch;
}

}  // namespace carom
