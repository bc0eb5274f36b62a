#include <carom/lp.hpp>

#include <cmath>
#include <string>
#include <utility>

#include "lp_backends.hpp"
#include "message.hpp"

namespace carom {

namespace {

std::size_t size_of(std::int64_t a, std::int64_t b, std::int64_t c = 1) {
  return static_cast<std::size_t>(a * b * c);
}

void require_in(const char* field, int value, int least, int most) {
  if (value < least || value > most) {
    throw InvalidInput(std::string(field) + " is " + std::to_string(value) + ": must be in " +
                       std::to_string(least) + ".." + std::to_string(most));
  }
}

void require_shapes(const LpBatch& batch) {
  require_in("rows", batch.rows, 1, kMaxLpRows);
  require_in("columns", batch.columns, 1, kMaxLpColumns);
  if (batch.objectives < 1) {
    throw InvalidInput("objectives is " + std::to_string(batch.objectives) + ": must be >= 1");
  }
  if (batch.problems < 0) {
    throw InvalidInput("problems is " + std::to_string(batch.problems) + ": must be >= 0");
  }
  const auto require = [&](const char* field, const Buffer<double>& values, std::size_t expected) {
    if (values.size() != expected) {
      throw InvalidInput(std::string(field) + " has " + std::to_string(values.size()) +
                         " values: must have " + std::to_string(expected));
    }
    if (values.space() != batch.matrix.space()) {
      throw InvalidInput(std::string("lp batch: ") + field +
                         " and matrix must live in one memory space");
    }
  };
  const std::size_t rows = size_of(batch.problems, batch.rows);
  const std::size_t columns = size_of(batch.problems, batch.columns);
  require("matrix", batch.matrix, size_of(batch.problems, batch.rows, batch.columns));
  require("cost", batch.cost, size_of(batch.problems, batch.objectives, batch.columns));
  require("row_lower", batch.row_lower, rows);
  require("row_upper", batch.row_upper, rows);
  require("column_lower", batch.column_lower, columns);
  require("column_upper", batch.column_upper, columns);
}

}  // namespace

LpBatch LpBatch::to(MemorySpace space) const {
  LpBatch copy;
  copy.problems = problems;
  copy.rows = rows;
  copy.columns = columns;
  copy.objectives = objectives;
  copy.cost = cost.to(space);
  copy.matrix = matrix.to(space);
  copy.row_lower = row_lower.to(space);
  copy.row_upper = row_upper.to(space);
  copy.column_lower = column_lower.to(space);
  copy.column_upper = column_upper.to(space);
  return copy;
}

void LpSettings::validate() const {
  if (!(tolerance > 0.0) || !std::isfinite(tolerance)) {
    throw InvalidInput("tolerance is " + message::number(tolerance) +
                       ": must be positive and finite");
  }
  if (max_pivots < 0) {
    throw InvalidInput("max_pivots is " + std::to_string(max_pivots) + ": must be >= 0");
  }
  if (threads < 0) throw InvalidInput("threads is " + std::to_string(threads) + ": must be >= 0");
}

LpResult make_lp_result(const LpBatch& batch, const LpSettings& settings) {
  const MemorySpace space = batch.matrix.space();
  const std::size_t answers = size_of(batch.problems, batch.objectives);
  const auto rows = static_cast<std::size_t>(batch.rows);
  const auto columns = static_cast<std::size_t>(batch.columns);
  LpResult result;
  result.solution = Buffer<double>(answers * columns, space);
  result.dual = Buffer<double>(answers * rows, space);
  result.objective = Buffer<double>(answers, space);
  result.status = Buffer<Status>(answers, space);
  result.pivots = Buffer<std::int32_t>(answers, space);
  result.residual = Buffer<double>(answers, space);
  if (settings.certificates) {
    result.farkas = Buffer<double>(answers * rows, space);
    result.ray = Buffer<double>(answers * columns, space);
  }
  result.basis = Buffer<BasisStatus>(size_of(batch.problems, batch.rows + batch.columns), space);
  return result;
}

int lp_pivot_limit(const LpBatch& batch, const LpSettings& settings) {
  return settings.max_pivots > 0 ? settings.max_pivots : 50 * (batch.rows + batch.columns);
}

LpResult solve_lp(const LpBatch& batch, const LpSettings& settings, Backend backend,
                  const Buffer<BasisStatus>* start) {
  settings.validate();
  require_shapes(batch);
  if (start != nullptr) {
    const std::size_t expected = size_of(batch.problems, batch.rows + batch.columns);
    if (start->size() != expected) {
      throw InvalidInput("start has " + std::to_string(start->size()) + " values: must have " +
                         std::to_string(expected) + ", as LpResult::basis of this shape");
    }
    if (start->space() != batch.matrix.space()) {
      throw InvalidInput("start must live in the memory space of the batch");
    }
  }
  const Backend chosen = resolve(backend);
  if (chosen != Backend::cuda && batch.matrix.space() == MemorySpace::device) {
    throw InvalidInput("backend " + std::string(to_string(chosen)) +
                       ": works in host memory; the batch is on the device");
  }
  switch (chosen) {
    case Backend::cuda:
      return cuda::solve_lp(batch, settings, start);
    case Backend::reference:
      return reference::solve_lp(batch, settings, start);
    default:
      return cpu::solve_lp(batch, settings, start);
  }
}

}  // namespace carom
