#include <carom/qp.hpp>

#include <cmath>
#include <string>

#include "core/backends.hpp"
#include "core/message.hpp"
#include "core/require.hpp"
#include "programs/body/convex_lemke.hpp"
#include "programs/qp/backends.hpp"

namespace carom {

namespace {

void require_size(const char* field, std::size_t size, std::int64_t expected) {
  if (size != static_cast<std::size_t>(expected)) {
    throw InvalidInput(std::string(field) + " has " + std::to_string(size) + " values: must have " +
                       std::to_string(expected));
  }
}

void require_count(const char* field, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value < least || value > most) {
    throw InvalidInput(std::string(field) + " is " + std::to_string(value) + ": must be in " +
                       std::to_string(least) + ".." + std::to_string(most));
  }
}

void require_shapes(const QpBatch& batch) {
  require_count("variables", batch.variables, 1, kMaxQpVariables);
  require_count("rows", batch.rows, 0, kMaxQpRows);
  if (batch.problems < 0) {
    throw InvalidInput("problems is " + std::to_string(batch.problems) + ": must be >= 0");
  }
  std::int64_t cone_rows = 0;
  for (std::size_t c = 0; c < batch.cones.size(); ++c) {
    const Cone& cone = batch.cones[c];
    const std::string name = "cones[" + std::to_string(c) + "]";
    require_count((name + ".size").c_str(), cone.size, 1, kMaxQpRows);
    if (cone.kind != ConeKind::zero && cone.kind != ConeKind::nonnegative &&
        cone.kind != ConeKind::second_order) {
      throw InvalidInput(name + ".kind is " + std::to_string(static_cast<int>(cone.kind)) +
                         ": not a ConeKind");
    }
    cone_rows += cone.size;
  }
  require_count("rows with cone rows", batch.rows + cone_rows, 0, kMaxQpRows);
  const std::int64_t p = batch.problems;
  const std::int64_t n = batch.variables;
  const std::int64_t m = batch.rows;
  require_size("hessian", batch.hessian.size(), p * n * n);
  require_size("vector", batch.vector.size(), p * n);
  require_size("matrix", batch.matrix.size(), p * m * n);
  require_size("lower", batch.lower.size(), p * m);
  require_size("upper", batch.upper.size(), p * m);
  require_size("cone_matrix", batch.cone_matrix.size(), p * cone_rows * n);
  require_size("cone_vector", batch.cone_vector.size(), p * cone_rows);
}

void require_start(const QpBatch& batch, const QpWarmStart& start) {
  const auto require = [&](const char* field, const Buffer<double>& values, std::int64_t each) {
    if (!values.empty()) require_size(field, values.size(), batch.problems * each);
  };
  require("start.solution", start.solution, batch.variables);
  require("start.dual", start.dual, batch.rows);
  require("start.cone_dual", start.cone_dual, batch.cone_rows());
}

// All buffers that hold anything, in one memory space.
MemorySpace space_of(const QpBatch& batch, const QpWarmStart& start) {
  const MemorySpace space = batch.hessian.space();
  for (const Buffer<double>* values :
       {&batch.vector, &batch.matrix, &batch.lower, &batch.upper, &batch.cone_matrix,
        &batch.cone_vector, &start.solution, &start.dual, &start.cone_dual}) {
    if (!values->empty() && values->space() != space) {
      throw InvalidInput("qp batch: all arrays must live in one memory space");
    }
  }
  return space;
}

}  // namespace

void QpSettings::validate() const {
  const auto refuse = [](const char* field, double value, const char* rule) {
    throw InvalidInput(std::string(field) + " is " + message::number(value) + ": must be " + rule);
  };
  require::tolerance("tolerance", tolerance);
  if (max_iterations < 0) refuse("max_iterations", max_iterations, ">= 0");
  if (!(over_relaxation > 0.0 && over_relaxation < 2.0)) {
    refuse("over_relaxation", over_relaxation, "in (0, 2)");
  }
  if (!(penalty > 0.0) || !std::isfinite(penalty)) {
    refuse("penalty", penalty, "positive and finite");
  }
  if (threads < 0) refuse("threads", threads, ">= 0");
}

QpResult solve_qp(const QpBatch& batch, const QpSettings& settings, Backend backend,
                  const QpWarmStart& start) {
  settings.validate();
  require_shapes(batch);
  require_start(batch, start);
  if (settings.method == QpMethod::active_set || settings.method == QpMethod::lemke) {
    for (std::size_t c = 0; c < batch.cones.size(); ++c) {
      if (batch.cones[c].kind == ConeKind::second_order && batch.cones[c].size > 1) {
        throw InvalidInput("method " + std::string(to_string(settings.method)) +
                           " does not take cones[" + std::to_string(c) +
                           "], a second-order cone of size " + std::to_string(batch.cones[c].size));
      }
    }
  }
  if (settings.method == QpMethod::lemke &&
      kernels::convex_lemke_order(batch.variables, 2L * (batch.rows + batch.cone_rows())) >
          kernels::kLargestConvexLemke) {
    throw InvalidInput("method lemke does not take " + std::to_string(batch.variables) +
                       " variables with " + std::to_string(batch.rows + batch.cone_rows()) +
                       " rows: together they must be at most " +
                       std::to_string(kernels::kLargestConvexLemke / 2));
  }
  const Backend chosen = resolve(backend);
  if (space_of(batch, start) == MemorySpace::device && chosen != Backend::cuda) {
    throw InvalidInput("backend " + std::string(to_string(chosen)) +
                       ": works in host memory; the batch is on the device");
  }
  return entries(chosen).solve_qp(batch, settings, start);
}

}  // namespace carom
