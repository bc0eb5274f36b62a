#include "io/boxed_case.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include <carom/affine_vi.hpp>
#include <carom/error.hpp>

#include "core/words.hpp"
#include "io/json_file.hpp"
#include "io/problem_file.hpp"

namespace carom::io {

namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// A block of so many rows and columns.
std::vector<double> block(const nlohmann::json& object, const char* key, std::size_t rows,
                          std::size_t columns, const std::string& where) {
  Matrix matrix = read_matrix(object, key, where);
  if (static_cast<std::size_t>(matrix.rows) != rows ||
      static_cast<std::size_t>(matrix.columns) != columns) {
    throw InvalidInput(fmt::format("{}: {} is {} x {}: must be {} x {}", where, key, matrix.rows,
                                   std::max(matrix.columns, 0), rows, columns));
  }
  return std::move(matrix.values);
}

std::vector<double> filled(const nlohmann::json& object, const char* key,
                           const std::string& where) {
  std::vector<double> values = read_numbers(object, key, where);
  if (values.empty()) throw InvalidInput(fmt::format("{}: {} is empty", where, key));
  return values;
}

void require_order(std::size_t order, const std::string& where) {
  if (order <= static_cast<std::size_t>(kMaxBoxedLcpOrder)) return;
  throw InvalidInput(
      fmt::format("{}: the order, with two more for each friction row, is {}: must "
                  "be at most {}",
                  where, order, kMaxBoxedLcpOrder));
}

/// Friction rows and their coefficients; without mu, hi is it, as ODE has it.
void read_friction(const nlohmann::json& object, const std::string& where,
                   run::BoxedLcpProblem& problem) {
  const std::size_t n = problem.vector.size();
  const std::vector<double> index = read_numbers(object, "findex", where);
  if (index.size() != n) {
    throw InvalidInput(
        fmt::format("{}: findex has {} numbers: must have {}, as q", where, index.size(), n));
  }
  std::size_t order = n;
  for (std::size_t i = 0; i < n; ++i) {
    const double j = index[i];
    if (j != std::floor(j) || j < -1.0 || j >= static_cast<double>(n)) {
      throw InvalidInput(
          fmt::format("{}: findex[{}] is {}: must be -1 or a row of the problem", where, i, j));
    }
    if (j >= 0.0) order += 2;
    problem.findex.push_back(static_cast<std::int32_t>(j));
  }
  require_order(order, where);
  const bool own = object.contains("mu");
  const std::vector<double> mu =
      own ? read_bounds(object, "mu", 0.0, n, where) : std::vector<double>(n, 0.0);
  problem.friction.assign(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    if (problem.findex[i] < 0) continue;
    const auto j = static_cast<std::size_t>(problem.findex[i]);
    if (index[j] >= 0.0) {
      throw InvalidInput(
          fmt::format("{}: findex[{}] is {}: must be a row without friction index "
                      "itself",
                      where, i, j));
    }
    double& low = problem.lower[i];
    double& high = problem.upper[i];
    problem.friction[i] = own ? mu[i] : high;
    if (!own && ((low != -high && low != -kUnbounded) || std::isinf(high))) {
      throw InvalidInput(fmt::format(
          "{}: mu is missing: findex needs mu, or as in ODE hi = mu and lo = -mu in friction rows; "
          "lo[{}] is {} and hi[{}] is {}",
          where, i, low, i, high));
    }
    if (!own) {
      low = -kUnbounded;
      high = kUnbounded;
    }
    if (low != -kUnbounded || high != kUnbounded) {
      throw InvalidInput(
          fmt::format("{}: lo[{}] and hi[{}] are given although mu is: must be null in a "
                      "friction row",
                      where, i, i));
    }
    if (!(problem.friction[i] >= 0.0) || !std::isfinite(problem.friction[i])) {
      throw InvalidInput(fmt::format("{}: {}[{}] is {}: must be >= 0 and finite", where,
                                     own ? "mu" : "hi", i, problem.friction[i]));
    }
    if (!(problem.lower[j] >= 0.0)) {
      throw InvalidInput(
          fmt::format("{}: lo[{}] is {}: must be >= 0, since row {} has its limits "
                      "from it",
                      where, j, problem.lower[j], i));
    }
  }
}

}  // namespace

run::BoxedLcpProblem read_boxed_lcp(const nlohmann::json& object, const std::string& where) {
  run::BoxedLcpProblem problem;
  problem.vector = filled(object, "q", where);
  const std::size_t n = problem.vector.size();
  require_order(n, where);
  problem.order = static_cast<int>(n);
  problem.matrix = block(object, "M", n, n, where);
  problem.lower = read_bounds(object, "lo", -kUnbounded, n, where);
  problem.upper = read_bounds(object, "hi", kUnbounded, n, where);
  for (std::size_t i = 0; i < n; ++i) {
    for (const auto& [key, value] : {std::pair{"lo", problem.lower[i]}, {"hi", problem.upper[i]}}) {
      if (value == (key[0] == 'l' ? kUnbounded : -kUnbounded)) {
        throw InvalidInput(fmt::format("{}: {}[{}] is {}", where, key, i, value));
      }
    }
  }
  const bool friction = object.contains("findex");
  for (const char* key : {"mu", "friction_law"}) {
    if (object.contains(key) && !friction) {
      throw InvalidInput(fmt::format("{}: {} is given without findex", where, key));
    }
  }
  if (friction) read_friction(object, where, problem);
  if (object.contains("friction_law")) {
    const std::string word = read_text(object, "friction_law", where);
    const auto law = value_of<FrictionLaw>(word);
    if (!law) {
      throw InvalidInput(fmt::format("{}: friction_law is \"{}\": must be {}", where, word,
                                     listed<FrictionLaw>(" or ")));
    }
    problem.law = *law;
  }
  return problem;
}

run::BoxedLcpProblem read_mixed_lcp(const nlohmann::json& object, const std::string& where) {
  const std::vector<double> a = filled(object, "a", where), b = filled(object, "b", where);
  const std::size_t e = a.size(), k = b.size(), n = e + k;
  require_order(n, where);
  const std::vector<double> A = block(object, "A", e, e, where),
                            B = block(object, "B", k, k, where),
                            C = block(object, "C", e, k, where),
                            D = block(object, "D", k, e, where);
  run::BoxedLcpProblem problem;
  problem.order = static_cast<int>(n);
  problem.equations = static_cast<int>(e);
  for (std::size_t i = 0; i < n; ++i) {
    const bool equation = i < e;
    const std::size_t row = equation ? i : i - e;
    for (std::size_t j = 0; j < e; ++j) problem.matrix.push_back((equation ? A : D)[row * e + j]);
    for (std::size_t j = 0; j < k; ++j) problem.matrix.push_back((equation ? C : B)[row * k + j]);
    problem.vector.push_back(equation ? a[row] : b[row]);
    problem.lower.push_back(equation ? -kUnbounded : 0.0);
    problem.upper.push_back(kUnbounded);
  }
  return problem;
}

run::BoxedLcpProblem read_affine_vi(const nlohmann::json& object, const std::string& where) {
  AffineViBatch batch;
  const std::vector<double> q = filled(object, "q", where);
  const std::size_t v = q.size();
  std::size_t m = 0;
  std::vector<double> a;
  if (object.contains("A")) {
    Matrix rows = read_matrix(object, "A", where);
    m = static_cast<std::size_t>(rows.rows);
    if (m > 0) a = block(object, "A", m, v, where);  // none: only a box
  }
  static_cast<AffineViSizes&>(batch) = {1, static_cast<int>(v), static_cast<int>(m)};
  batch.matrix = Buffer<double>::from(block(object, "M", v, v, where));
  batch.vector = Buffer<double>::from(q);
  batch.constraints = Buffer<double>::from(a);
  const auto bounds = [&](const char* key, double missing, std::size_t count) {
    return Buffer<double>::from(object.contains(key)
                                    ? read_bounds(object, key, missing, count, where)
                                    : std::vector<double>(count, missing));
  };
  batch.row_lower = bounds("l", -kUnbounded, m);
  batch.row_upper = bounds("u", kUnbounded, m);
  batch.column_lower = bounds("col_lower", -kUnbounded, v);
  batch.column_upper = bounds("col_upper", kUnbounded, v);
  BoxedLcpBatch boxed;
  try {
    boxed = boxed_lcp_of(batch);
  } catch (const InvalidInput& error) {
    throw InvalidInput(where + ": " + error.what());
  }
  run::BoxedLcpProblem problem;
  static_cast<BoxedLcpSizes&>(problem) = boxed;
  BoxedLcpBatch::each_array(
      boxed,
      [](const char*, const Extents&, auto& to, const auto& from) {
        to.assign(from.data(), from.data() + from.size());
      },
      problem, boxed);
  return problem;
}

MixedBlocks mixed_blocks(const run::BoxedLcpProblem& problem) {
  MixedBlocks blocks;
  const auto n = static_cast<std::size_t>(problem.order);
  const auto e = static_cast<std::size_t>(problem.equations);
  for (std::size_t i = 0; i < n; ++i) {
    const bool equation = i < e;
    for (std::size_t j = 0; j < n; ++j) {
      auto& to = equation ? (j < e ? blocks.A : blocks.C) : (j < e ? blocks.D : blocks.B);
      to.push_back(problem.matrix[i * n + j]);
    }
    (equation ? blocks.a : blocks.b).push_back(problem.vector[i]);
  }
  return blocks;
}

}  // namespace carom::io
