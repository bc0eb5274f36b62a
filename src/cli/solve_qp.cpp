#include <carom/qp.hpp>

#include <variant>

#include <carom/error.hpp>

#include "cli/solve_kinds.hpp"
#include "core/arrays.hpp"

namespace carom::cli {

namespace {

// Files of kind qp have rows, those of kind socp cones.
std::vector<std::pair<std::string_view, Proof>> proofs_of(const io::CaseProblem& problem,
                                                          const QpResult& result) {
  const Status status = result.status.host()[0];
  const auto first = [&result](bool there, std::size_t count) -> Proof {
    if (!there) return std::nullopt;
    const std::vector<double> whole = result.certificate.to_vector();
    return proven({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(count)});
  };
  const auto& qp = std::get<io::QpProblem>(problem.problem);
  const auto n = static_cast<std::size_t>(qp.variables);
  const bool cones = problem.kind == "socp";
  const std::size_t rows = cones ? qp.cone_vector.size() : qp.lower.size();
  Proof dual;
  if (has_answer(status)) {
    dual = proven(cones ? result.cone_dual.to_vector() : result.dual.to_vector());
  }
  bool crossed = false;  // bounds that are proof enough: no combination of rows is needed
  for (std::size_t i = 0; i < qp.lower.size(); ++i) crossed |= qp.lower[i] > qp.upper[i];
  Proof point;
  if (status == Status::unbounded) point = proven(result.point.to_vector());
  return {{cones ? "cone_dual" : "dual", std::move(dual)},
          {"farkas", first(status == Status::infeasible && !crossed, rows)},
          {"point", std::move(point)},
          {"ray", first(status == Status::unbounded, n)},
          {"direction", first(status == Status::nonconvex, n)}};
}

// What the library refuses, by the file's name.
QpResult solved_by_name(const QpBatch& batch, const QpSettings& qp_settings, Backend backend,
                        const std::string& file) {
  try {
    return solve_qp(batch, qp_settings, backend);
  } catch (const InvalidInput& error) {
    throw error.with_source(file);
  }
}

}  // namespace

void solve_qp_cases(const Cases& cases, const CaseSettings& settings, CaseAnswers& answers) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto* qp = std::get_if<io::QpProblem>(&cases[i].problem);
    if (qp == nullptr) continue;
    QpSizes sizes = *qp;
    sizes.problems = 1;
    auto batch = allocate<QpBatch>(sizes);
    arrays::place(batch, 0, *qp);
    const QpResult result = solved_by_name(batch, settings, settings.backend, cases[i].file);
    CaseAnswer& answer = answers[i];
    answer.status = result.status.host()[0];
    answer.residual = result.residual.host()[0];
    answer.iterations = result.iterations.host()[0];
    answer.has_objective = true;
    answer.method = to_string(result.method.host()[0]);
    answer.proofs = proofs_of(cases[i], result);
    if (!has_answer(answer.status)) continue;
    answer.x = result.solution.to_vector();
    answer.objective = result.objective.host()[0] + qp->offset;
  }
}

}  // namespace carom::cli
