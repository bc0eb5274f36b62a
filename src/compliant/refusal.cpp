#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Cholesky>

#include "compliant/backends.hpp"
#include "compliant/mass_matrix.hpp"
#include "core/message.hpp"
#include "core/require.hpp"
#include "core/words.hpp"

namespace carom {

namespace {

using Eigen::Index;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr const char* kFinite = "must be finite";
constexpr const char* kSign = "must be finite and >= 0";
constexpr const char* kTangents = "a normal row must be followed by its dimension - 1 tangent rows";

/// Writes down the first number that is refused.
class Search {
 public:
  Search(const CompliantBatch& batch, std::int64_t problem) : batch_(batch), problem_(problem) {}

  /// The problem's `count` numbers, in rows of `columns`; 0: a list.
  void numbers(const char* field, const Buffer<double>& values, std::int64_t count,
               std::int64_t columns) {
    const double* own = values.data() + problem_ * count;
    for (std::int64_t i = 0; i < count; ++i) {
      if (!std::isfinite(own[i])) {
        return found(field, require::place(i, columns), message::number(own[i]), kFinite);
      }
    }
  }
  void row(int i) {
    const std::int64_t at = problem_ * batch_.rows + i, nv = batch_.velocities;
    for (std::int64_t j = 0; j < nv; ++j) {
      const double value = batch_.jacobian.data()[at * nv + j];
      if (!std::isfinite(value)) found("jacobian", {i, j}, message::number(value), kFinite);
    }
    const auto check = [&](const char* field, const Buffer<double>& values, bool sign) {
      const double value = values.data()[at];
      if (std::isfinite(value) && (value >= 0.0 || !sign)) return;
      found(field, {i}, message::number(value), sign ? kSign : kFinite);
    };
    check("jacobian_dot_v", batch_.jacobian_dot_v, false);
    check("phi", batch_.phi, false);
    check("stiffness", batch_.stiffness, true);
    check("damping", batch_.damping, true);
    if (batch_.type.data()[at] == RowType::normal) check("friction", batch_.friction, true);
  }
  void found(const char* field, std::vector<std::int64_t> index, std::string value,
             std::string rule) {
    if (refusal_) return;
    refusal_ = Refusal{.field = field,
                       .index = std::move(index),
                       .problem = problem_,
                       .value = std::move(value),
                       .rule = std::move(rule)};
  }
  [[nodiscard]] const std::optional<Refusal>& result() const { return refusal_; }

 private:
  const CompliantBatch& batch_;
  std::int64_t problem_;
  std::optional<Refusal> refusal_;
};

}  // namespace

std::optional<Refusal> problem_refusal(const CompliantBatch& batch, std::int64_t problem) {
  const Index nv = batch.velocities;
  Search search(batch, problem);
  const double h = batch.step_size.data()[problem];
  if (!(h > 0.0) || !std::isfinite(h)) {
    search.found("step_size", {}, message::number(h), "must be positive and finite");
  }
  search.numbers("mass_matrix", batch.mass_matrix, nv * nv, nv);
  search.numbers("force", batch.force, nv, 0);
  search.numbers("velocity", batch.velocity, nv, 0);
  search.numbers("position_map", batch.position_map, batch.positions * nv, nv);
  if (search.result()) return search.result();
  const Eigen::Map<const Rows> mass(batch.mass_matrix.data() + problem * nv * nv, nv, nv);
  if (const auto place = unmirrored(mass.data(), nv)) {
    const auto [i, j] = *place;
    search.found("mass_matrix", {i, j}, message::number(mass(i, j)),
                 "must be equal to its mirror image, " + message::number(mass(j, i)));
    return search.result();
  }
  if (Eigen::LLT<Eigen::MatrixXd>(mass).info() != Eigen::Success) {
    search.found("mass_matrix", {}, "singular or indefinite", "must be positive definite");
  }
  int owed = 0;  // tangent rows
  for (int i = 0; i < batch.rows && !search.result(); ++i) {
    const RowType type = batch.type.data()[problem * batch.rows + i];
    if (type != RowType::none) search.row(i);
    if ((type == RowType::tangent) != (owed > 0)) {
      search.found("type", {i}, std::string(word_of(type)), kTangents);
    }
    if (owed > 0) --owed;
    if (type == RowType::normal) owed = batch.dimension - 1;
  }
  if (owed > 0) {
    search.found("type", {batch.rows - 1}, "the last one", kTangents);
  }
  return search.result();
}

bool acceptable(const CompliantBatch& batch, std::int64_t problem) {
  return !problem_refusal(batch, problem);
}

void refuse(const CompliantBatch& batch, std::int64_t problem, Status status,
            CompliantResult& result) {
  const std::int64_t nv = batch.velocities;
  const auto fill = [&](Buffer<double>& values, std::int64_t width) {
    std::fill_n(values.data() + problem * width, width, std::numeric_limits<double>::quiet_NaN());
  };
  fill(result.velocity, nv);
  fill(result.increment, batch.positions > 0 ? batch.positions : nv);
  fill(result.force, batch.rows);
  fill(result.kinetic_energy, 1);
  fill(result.residual, 1);
  result.iterations.data()[problem] = 0;
  result.status.data()[problem] = status;
}

}  // namespace carom
