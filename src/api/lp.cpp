#include <carom/lp.hpp>

#include <cmath>
#include <string>
#include <utility>

#include "core/backends.hpp"
#include "core/require.hpp"
#include "programs/lp/backends.hpp"

namespace carom {

namespace {

std::size_t size_of(std::int64_t a, std::int64_t b, std::int64_t c = 1) {
  return static_cast<std::size_t>(a * b * c);
}

void require_shapes(const LpBatch& batch) {
  require::between("rows", batch.rows, 1, kMaxLpRows);
  require::between("columns", batch.columns, 1, kMaxLpColumns);
  require::at_least("objectives", batch.objectives, 1);
  require::at_least("problems", batch.problems, 0);
  const auto agree = [&](const char* field, const Buffer<double>& values, std::size_t expected) {
    require::size(field, values.size(), expected);
    if (values.space() != batch.matrix.space()) {
      throw InvalidInput(std::string("lp batch: ") + field +
                         " and matrix must live in one memory space");
    }
  };
  const std::size_t rows = size_of(batch.problems, batch.rows);
  const std::size_t columns = size_of(batch.problems, batch.columns);
  agree("matrix", batch.matrix, size_of(batch.problems, batch.rows, batch.columns));
  agree("cost", batch.cost, size_of(batch.problems, batch.objectives, batch.columns));
  agree("row_lower", batch.row_lower, rows);
  agree("row_upper", batch.row_upper, rows);
  agree("column_lower", batch.column_lower, columns);
  agree("column_upper", batch.column_upper, columns);
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
  require::tolerance("tolerance", tolerance);
  require::at_least("max_pivots", max_pivots, 0);
  require::at_least("threads", threads, 0);
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
    result.point = Buffer<double>(answers * columns, space);
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
  require::reachable(chosen, batch.matrix.space());
  return entries(chosen).solve_lp(batch, settings, start);
}

}  // namespace carom
