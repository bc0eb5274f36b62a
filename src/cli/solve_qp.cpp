#include <carom/qp.hpp>

#include <variant>

#include "cli/solve_kinds.hpp"

namespace carom::cli {

void solve_qp_cases(const Cases& cases, const CaseSettings& settings, CaseAnswers& answers) {
  QpSettings qp_settings;
  qp_settings.tolerance = settings.tolerance;
  qp_settings.threads = settings.threads;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto* qp = std::get_if<io::QpProblem>(&cases[i].problem);
    if (qp == nullptr) continue;
    QpBatch batch;
    batch.problems = 1;
    batch.variables = qp->variables;
    batch.rows = qp->rows;
    batch.cones = qp->cones;
    batch.hessian = Buffer<double>::from(qp->hessian);
    batch.vector = Buffer<double>::from(qp->vector);
    batch.matrix = Buffer<double>::from(qp->matrix);
    batch.lower = Buffer<double>::from(qp->lower);
    batch.upper = Buffer<double>::from(qp->upper);
    batch.cone_matrix = Buffer<double>::from(qp->cone_matrix);
    batch.cone_vector = Buffer<double>::from(qp->cone_vector);
    const QpResult result = solve_qp(batch, qp_settings, settings.backend);
    CaseAnswer& answer = answers[i];
    answer.status = result.status.host()[0];
    answer.residual = result.residual.host()[0];
    answer.iterations = result.iterations.host()[0];
    answer.has_objective = true;
    if (!has_answer(answer.status)) continue;
    answer.x = result.solution.to_vector();
    answer.objective = result.objective.host()[0] + qp->offset;
  }
}

}  // namespace carom::cli
