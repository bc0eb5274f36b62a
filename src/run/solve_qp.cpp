#include <carom/qp.hpp>

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include <carom/error.hpp>

#include "core/arrays.hpp"
#include "core/buffer_slice.hpp"
#include "run/cases.hpp"

namespace carom::run {

namespace {

// Files of kind qp have rows, those of kind socp cones. place: of the problem in its batch.
std::vector<std::pair<std::string_view, Proof>> proofs_of(const CaseProblem& problem,
                                                          const QpResult& result,
                                                          std::size_t place) {
  const Status status = result.status.host()[place];
  const auto& qp = std::get<QpProblem>(problem.problem);
  const auto n = static_cast<std::size_t>(qp.variables);
  const bool cones = problem.kind == "socp";
  const std::size_t rows = cones ? qp.cone_vector.size() : qp.lower.size();
  const auto first = [&](bool there, std::size_t count) -> Proof {
    if (!there) return std::nullopt;
    std::vector<double> whole = slice(result.certificate, place, std::max(n, rows));
    whole.resize(count);
    return proven(std::move(whole));
  };
  Proof dual;
  if (has_answer(status)) dual = proven(slice(cones ? result.cone_dual : result.dual, place, rows));
  bool crossed = false;  // bounds that are proof enough: no combination of rows is needed
  for (std::size_t i = 0; i < qp.lower.size(); ++i) crossed |= qp.lower[i] > qp.upper[i];
  Proof point =
      proven(slice(result.point, place, n));  // of unbounded, or of no_interior with a ray
  const bool without = status == Status::no_interior;
  const bool with_ray = status == Status::unbounded || (without && point);
  const bool with_face = cones && (status == Status::solved || (without && !point));
  return {{cones ? "cone_dual" : "dual", std::move(dual)},
          {"farkas", first(status == Status::infeasible && !crossed, rows)},
          {"point", std::move(point)},
          {"ray", first(with_ray, n)},
          {"direction", first(status == Status::nonconvex, n)},
          {"face", first(with_face, rows)}};
}

// What the library refuses, by the name of the batch's first problem.
QpResult solved_by_name(const QpBatch& batch, const QpSettings& qp_settings, Backend backend,
                        const std::string& file) {
  try {
    return solve_qp(batch, qp_settings, backend);
  } catch (const InvalidInput& error) {
    throw error.with_source(file);
  }
}

// Problems of one shape are one batch.
using QpShape = std::pair<std::pair<int, int>, std::vector<std::pair<ConeKind, int>>>;

QpShape shape_of(const QpProblem& qp) {
  QpShape shape{{qp.variables, qp.rows}, {}};
  for (const Cone& cone : qp.cones) shape.second.emplace_back(cone.kind, cone.size);
  return shape;
}

}  // namespace

void solve_qp_cases(const Cases& cases, const CaseSettings& settings, CaseAnswers& answers) {
  std::map<QpShape, std::vector<std::size_t>> by_shape;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (const auto* qp = std::get_if<QpProblem>(&cases[i].problem)) {
      by_shape[shape_of(*qp)].push_back(i);
    }
  }
  for (const auto& [shape, members] : by_shape) {
    QpSizes sizes = std::get<QpProblem>(cases[members[0]].problem);
    sizes.problems = static_cast<std::int64_t>(members.size());
    auto batch = allocate<QpBatch>(sizes);
    for (std::size_t p = 0; p < members.size(); ++p) {
      arrays::place(batch, static_cast<std::int64_t>(p),
                    std::get<QpProblem>(cases[members[p]].problem));
    }
    const QpResult result =
        solved_by_name(batch, settings, settings.backend, cases[members[0]].file);
    for (std::size_t p = 0; p < members.size(); ++p) {
      CaseAnswer& answer = answers[members[p]];
      answer.status = result.status.host()[p];
      answer.residual = result.residual.host()[p];
      answer.iterations = result.iterations.host()[p];
      answer.objective = kNone;
      answer.method = to_string(result.method.host()[p]);
      answer.numbers = numbers_of(result, batch, p);
      answer.proofs = proofs_of(cases[members[p]], result, p);
      if (!has_answer(answer.status)) continue;
      answer.x = slice(result.solution, p, static_cast<std::size_t>(sizes.variables));
      answer.objective =
          result.objective.host()[p] + std::get<QpProblem>(cases[members[p]].problem).offset;
    }
  }
}

}  // namespace carom::run
