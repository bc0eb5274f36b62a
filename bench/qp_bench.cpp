#include <cstdio>
#include <cstdlib>
#include <memory>

#include <carom/compliant.hpp>
#include <carom/qp.hpp>

#include "contact_qps.hpp"
#include "measure.hpp"

// Compliant contact steps of four contacts as quadratic programs. The peers live in Python
// (qp_peers.py), which asks for the same problems by CAROM_QP_PROBLEMS=FILE.
namespace carom::bench {

namespace {

constexpr int kProblems = 2048;

// 32-bit counts of problems, unknowns and rows, then P, q, A and l of all problems in turn.
void write_problems(const QpBatch& batch, const char* path) {
  std::FILE* file = std::fopen(path, "wb");
  if (file == nullptr) return;
  const std::int32_t counts[] = {static_cast<std::int32_t>(batch.problems), batch.variables,
                                 batch.rows};
  std::fwrite(counts, sizeof counts[0], 3, file);
  for (const Buffer<double>* values :
       {&batch.hessian, &batch.vector, &batch.matrix, &batch.lower}) {
    std::fwrite(values->data(), sizeof(double), values->size(), file);
  }
  std::fclose(file);
}

template <class Result>
Verdict judge_answers(const Result& result) {
  Verdict verdict;
  const auto statuses = result.status.host();
  for (std::size_t p = 0; p < statuses.size(); ++p) {
    const bool good = statuses[p] == Status::solved && result.residual.host()[p] <= 1e-9;
    verdict.solved += good ? 1.0 : 0.0;
    if (good) verdict.worst_residual = std::max(verdict.worst_residual, result.residual.host()[p]);
  }
  verdict.solved /= static_cast<double>(statuses.size());
  verdict.claimed = verdict.solved;
  return verdict;
}

void add_set(const std::string& name, bool cones, std::initializer_list<QpMethod> methods) {
  const auto set = share([cones] { return contact_qps(kProblems, cones); });
  for (const QpMethod method : methods) {
    const auto solve = [set, method] {
      QpSettings settings;
      settings.method = method;
      settings.threads = 1;
      return solve_qp(set->get(), settings, Backend::cpu);
    };
    const auto verdict = share([solve] { return judge_answers(solve()); });
    add("qps/" + name +
            (method == QpMethod::automatic ? "/carom" : "/carom_" + std::string(to_string(method))),
        [=](benchmark::State& state) {
          const Verdict& known = verdict->get();
          for (auto _ : state) {
            QpResult result = solve();
            benchmark::DoNotOptimize(result.solution.data());
          }
          report(state, kProblems, set->get().variables, known);
        });
  }
}

/// The steps themselves, from M, G, K, B, phi and mu, with true cones and the law complementarity.
void add_steps() {
  const auto set = share([] { return contact_steps(kProblems); });
  for (const bool reference : {false, true}) {
    const auto solve = [set, reference] {
      CompliantSettings settings;
      settings.threads = 1;
      return solve_compliant(set->get(), settings, reference ? Backend::reference : Backend::cpu);
    };
    const auto verdict = share([solve] { return judge_answers(solve()); });
    add(std::string("qps/contact_steps_n012/") + (reference ? "reference" : "carom"),
        [=](benchmark::State& state) {
          const Verdict& known = verdict->get();
          for (auto _ : state) {
            CompliantResult result = solve();
            benchmark::DoNotOptimize(result.velocity.data());
          }
          report(state, kProblems, set->get().rows, known);
        });
  }
}

}  // namespace

void add_qp_benchmarks() {
  if (const char* path = std::getenv("CAROM_QP_PROBLEMS")) {
    write_problems(contact_qps(kProblems, false), path);
  }
  add_set("contact_pyramids_n012", false,
          {QpMethod::automatic, QpMethod::interior_point, QpMethod::active_set, QpMethod::admm,
           QpMethod::projected});
  add_steps();
  add_set("contact_cones_n012", true, {QpMethod::automatic, QpMethod::admm, QpMethod::projected});
}

}  // namespace carom::bench
