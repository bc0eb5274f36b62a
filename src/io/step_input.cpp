#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>

#include <carom/error.hpp>

#include "core/words.hpp"
#include "io/hdf5_file.hpp"
#include "io/json_file.hpp"
#include "io/problem_file.hpp"
#include "io/step_input.hpp"

namespace carom::io {

namespace {

using nlohmann::json;
using Type = CompliantConstraint::Type;

constexpr std::array<std::string_view, 7> kStepKeys = {
    "name", "mass_matrix", "force", "velocity", "dt", "position_map", "constraints"};
constexpr std::array<std::string_view, 7> kConstraintKeys = {
    "type", "jacobian", "jacobian_dot_v", "phi", "stiffness", "damping", "friction"};
constexpr std::array<std::string_view, 13> kStepSets = {
    "name",     "mass_matrix",    "force", "velocity",  "dt",      "position_map", "type",
    "jacobian", "jacobian_dot_v", "phi",   "stiffness", "damping", "friction"};

Type type_from(const json& object, const std::string& where) {
  const std::string word = read_text(object, "type", where);
  if (const auto type = value_of<Type>(word)) return *type;
  throw InvalidInput(
      fmt::format("{}: type is \"{}\": must be {}", where, word, listed<Type>(" or ")));
}

// A number for all rows, or one for each.
std::vector<double> by_row(const json& object, const char* key, int rows,
                           const std::string& where) {
  if (!object.at(key).is_array()) return {read_number(object, key, where)};
  std::vector<double> values = read_numbers(object, key, where);
  if (values.size() != static_cast<std::size_t>(rows)) {
    throw InvalidInput(fmt::format("{}: {} has {} numbers: must have {}, one per row of jacobian",
                                   where, key, values.size(), rows));
  }
  return values;
}

// One row may be written without the outer brackets.
Matrix read_jacobian(const json& object, const std::string& where) {
  const json& value = required(object, "jacobian", where);
  if (value.is_array() && !value.empty() && value[0].is_number()) {
    std::vector<double> row = read_numbers(object, "jacobian", where);
    const int columns = static_cast<int>(row.size());
    return {1, columns, std::move(row)};
  }
  return read_matrix(object, "jacobian", where);
}

// Contacts of 2 rows are planar, of 3 spatial, all of a problem alike.
void settle_dimension(int rows, CompliantProblem& problem, int& decided_by, int constraint,
                      const std::string& where) {
  if (rows != 2 && rows != 3) {
    throw InvalidInput(fmt::format(
        "{}: jacobian has {} rows: a contact must have 2 (planar: normal, tangent) or 3 (spatial: "
        "normal, two tangents)",
        where, rows));
  }
  if (decided_by >= 0 && rows != problem.dimension) {
    throw InvalidInput(
        fmt::format("{}: jacobian has {} rows, constraints[{}] has {}: contacts "
                    "must be all planar or all spatial",
                    where, rows, decided_by, problem.dimension));
  }
  problem.dimension = rows;
  decided_by = constraint;
}

CompliantConstraint constraint_from(const json& object, int velocities, const std::string& where) {
  if (!object.is_object()) {
    throw InvalidInput(fmt::format("{}: must be an object with the keys {}", where,
                                   fmt::join(kConstraintKeys, ", ")));
  }
  require_known_keys(object, kConstraintKeys, where);
  CompliantConstraint constraint;
  constraint.type = type_from(object, where);
  Matrix jacobian = read_jacobian(object, where);
  if (jacobian.rows == 0) throw InvalidInput(where + ": jacobian has no row");
  if (jacobian.columns != velocities) {
    throw InvalidInput(fmt::format("{}: jacobian has {} columns: must have {}, as velocity has",
                                   where, jacobian.columns, velocities));
  }
  constraint.jacobian = std::move(jacobian.values);
  for (const auto& [key, to] :
       {std::pair{"stiffness", &constraint.stiffness}, std::pair{"damping", &constraint.damping}}) {
    required(object, key, where);
    *to = by_row(object, key, jacobian.rows, where);
  }
  for (const auto& [key, to] : {std::pair{"jacobian_dot_v", &constraint.jacobian_dot_v},
                                std::pair{"phi", &constraint.phi}}) {
    if (!object.contains(key)) continue;
    *to = by_row(object, key, jacobian.rows, where);
    if (to->size() != static_cast<std::size_t>(jacobian.rows)) {
      throw InvalidInput(fmt::format("{}: {} is one number: must have {}, one per row of jacobian",
                                     where, key, jacobian.rows));
    }
  }
  if (constraint.type == Type::contact) {
    constraint.friction = read_number(object, "friction", where);
  } else if (object.contains("friction")) {
    throw InvalidInput(fmt::format("{}: friction belongs to a contact, the type is {}", where,
                                   object["type"].get<std::string>()));
  }
  return constraint;
}

CompliantProblem problem_from(const json& object, const std::string& file, std::size_t index) {
  CompliantProblem problem;
  const std::string where = begin_entry(object, kStepKeys, file, "problem", index, problem.name);
  problem.velocity = read_numbers(object, "velocity", where);
  problem.velocities = static_cast<int>(problem.velocity.size());
  if (problem.velocities == 0) throw InvalidInput(where + ": velocity is empty");
  const int nv = problem.velocities;
  problem.force = read_numbers(object, "force", where);
  if (problem.force.size() != problem.velocity.size()) {
    throw InvalidInput(fmt::format("{}: force has {} numbers: must have {}, as velocity has", where,
                                   problem.force.size(), nv));
  }
  problem.step_size = read_number(object, "dt", where);
  problem.mass_matrix = read_mass_matrix(object, nv, where);
  if (object.contains("position_map")) {
    Matrix map = read_matrix(object, "position_map", where);
    if (map.rows == 0 || map.columns != nv) {
      throw InvalidInput(
          fmt::format("{}: position_map is {} x {}: must have rows of {}, as velocity has {} "
                      "numbers",
                      where, map.rows, std::max(map.columns, 0), nv, nv));
    }
    problem.positions = map.rows;
    problem.position_map = std::move(map.values);
  }
  const json& list = required(object, "constraints", where);
  if (!list.is_array()) throw InvalidInput(where + ": constraints must be a list of objects");
  int decided_by = -1;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string place = fmt::format("{}: constraints[{}]", where, i);
    problem.constraints.push_back(constraint_from(list[i], nv, place));
    const CompliantConstraint& constraint = problem.constraints.back();
    if (constraint.type != Type::contact) continue;
    const int rows = static_cast<int>(constraint.jacobian.size()) / nv;
    settle_dimension(rows, problem, decided_by, static_cast<int>(i), place);
  }
  return problem;
}

// An array of any type as the numbers of a data set.
template <class>
using Numbers = std::vector<double>;

// Data sets of steps by rows, [problems, ...].
class BatchedSteps {
 public:
  explicit BatchedSteps(const std::filesystem::path& path) : file_(path.string()), reader_(path) {
    require_known_sets(reader_, kStepSets, file_);
    const Shape velocity = shape_of("velocity", 2, "problems, numbers");
    const Shape jacobian = shape_of("jacobian", 3, "problems, rows, columns");
    count_ = velocity[0];
    nv_ = velocity[1];
    rows_ = jacobian[1];
    if (nv_ == 0) throw InvalidInput(fmt::format("{}: velocity has no columns", file_));
    if (reader_.has("position_map")) {
      positions_ = shape_of("position_map", 3, "problems, rows, columns")[1];
    }
    const CompliantSizes sizes{static_cast<std::int64_t>(count_), 3, static_cast<int>(nv_),
                               static_cast<int>(rows_), static_cast<int>(positions_)};
    CompliantBatch::each_array(
        sizes,
        [this](std::string_view name, const Extents& extents, std::vector<double>& values) {
          if (name == "step_size") name = "dt";
          if (may_be_absent(name) && !reader_.has(name)) {
            values.assign(static_cast<std::size_t>(extents.count()), 0.0);
            return;
          }
          const Shape wanted = io::shape_of(extents);
          require_shape(shape_of(name, wanted.size(), "problems first"), name, wanted, file_);
          values = reader_.doubles(name);
        },
        sets_);
    names_ = read_names(reader_, count_, "problems", file_);
  }

  [[nodiscard]] std::vector<CompliantProblem> problems() const {
    std::vector<CompliantProblem> all;
    for (std::size_t p = 0; p < count_; ++p) all.push_back(problem(p));
    return all;
  }

 private:
  Shape shape_of(std::string_view name, std::size_t rank, const char* axes) const {
    return required_shape(reader_, name, rank, axes, file_);
  }

  static bool may_be_absent(std::string_view name) {
    return name == "jacobian_dot_v" || name == "phi" || name == "friction" ||
           name == "position_map";
  }

  [[nodiscard]] RowType row_type(std::size_t problem, std::size_t row) const {
    const double code = sets_.type[problem * rows_ + row];
    if (!(code >= 0.0 && code <= 4.0) || code != std::floor(code)) {
      throw InvalidInput(fmt::format("{}: type[{}][{}] is {}: must be {}", file_, problem, row,
                                     code, codes_meaning<RowType>(" or ")));
    }
    return static_cast<RowType>(static_cast<int>(code));
  }

  [[nodiscard]] CompliantProblem problem(std::size_t p) const {
    CompliantProblem problem;
    problem.name = names_[p];
    problem.velocities = static_cast<int>(nv_);
    problem.step_size = sets_.step_size[p];
    problem.mass_matrix = part(sets_.mass_matrix, p * nv_ * nv_, nv_ * nv_);
    problem.force = part(sets_.force, p * nv_, nv_);
    problem.velocity = part(sets_.velocity, p * nv_, nv_);
    problem.positions = static_cast<int>(positions_);
    problem.position_map = part(sets_.position_map, p * positions_ * nv_, positions_ * nv_);
    int decided_by = -1;
    for (std::size_t row = 0; row < rows_;) {
      const std::size_t begin = row;
      const RowType type = row_type(p, row++);
      if (type == RowType::none) continue;
      if (type == RowType::tangent) {
        throw InvalidInput(fmt::format("{}: type[{}][{}] is 4 (tangent): must follow a normal row",
                                       file_, p, begin));
      }
      if (type == RowType::normal) {
        while (row < rows_ && row_type(p, row) == RowType::tangent) ++row;
      }
      CompliantConstraint constraint;
      constraint.type = type == RowType::normal       ? Type::contact
                        : type == RowType::unilateral ? Type::unilateral
                                                      : Type::bilateral;
      const std::size_t at = p * rows_ + begin;
      const std::size_t size = row - begin;
      constraint.jacobian = part(sets_.jacobian, at * nv_, size * nv_);
      constraint.jacobian_dot_v = part(sets_.jacobian_dot_v, at, size);
      constraint.phi = part(sets_.phi, at, size);
      constraint.stiffness = part(sets_.stiffness, at, size);
      constraint.damping = part(sets_.damping, at, size);
      if (type == RowType::normal) {
        constraint.friction = sets_.friction[at];
        settle_dimension(
            static_cast<int>(size), problem, decided_by,
            static_cast<int>(problem.constraints.size()),
            fmt::format("{}: problem {}: constraints[{}]", file_, p, problem.constraints.size()));
      }
      problem.constraints.push_back(std::move(constraint));
    }
    return problem;
  }

  std::string file_;
  Hdf5Reader reader_;
  std::size_t count_ = 0;
  std::size_t nv_ = 0;
  std::size_t rows_ = 0;
  std::size_t positions_ = 0;
  CompliantBatchArrays<Numbers> sets_;
  std::vector<std::string> names_;
};

}  // namespace

std::vector<CompliantProblem> read_steps(const std::filesystem::path& file) {
  std::vector<CompliantProblem> problems = read_either(
      file, [](const auto& path) { return BatchedSteps(path).problems(); },
      [](const auto& path) { return read_json_entries(path, problem_from); });
  check_entries(file, problems, "problem", [](const CompliantProblem& problem, std::size_t i) {
    validate(problem, static_cast<std::int64_t>(i));
  });
  return problems;
}

}  // namespace carom::io
