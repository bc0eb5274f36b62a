#include <carom/coulomb.hpp>
#include <carom/lcp.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include <carom/error.hpp>

#include "cli/commands.hpp"
#include "cli/numbers.hpp"
#include "cli/sampling_options.hpp"
#include "cli/table.hpp"
#include "io/case_file.hpp"

namespace carom::cli {

namespace {

struct SolveOptions {
  std::vector<std::string> files;
  std::string backend = "auto";
  std::string tolerance = "1e-9";
  std::string threads = "0";
  bool json = false;
  bool quiet = false;
};

// The answer to one case.
struct CaseAnswer {
  Status status = Status::cancelled;
  std::vector<double> x;  ///< empty unless solved or inaccurate
  double residual = 0.0;
  int iterations = 0;
};

bool has_answer(Status status) { return status == Status::solved || status == Status::inaccurate; }

// LCPs of one order are one batch.
void solve_lcps(const std::vector<io::CaseProblem>& cases, const LcpSettings& settings,
                Backend backend, std::vector<CaseAnswer>& answers) {
  std::map<int, std::vector<std::size_t>> by_order;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (const auto* lcp = std::get_if<io::LcpProblem>(&cases[i].problem)) {
      by_order[lcp->order].push_back(i);
    }
  }
  for (const auto& [order, members] : by_order) {
    std::vector<double> matrices;
    std::vector<double> vectors;
    for (const std::size_t i : members) {
      const auto& lcp = std::get<io::LcpProblem>(cases[i].problem);
      matrices.insert(matrices.end(), lcp.matrix.begin(), lcp.matrix.end());
      vectors.insert(vectors.end(), lcp.vector.begin(), lcp.vector.end());
    }
    LcpBatch batch;
    batch.problems = static_cast<std::int64_t>(members.size());
    batch.order = order;
    batch.matrix = Buffer<double>::from(matrices);
    batch.vector = Buffer<double>::from(vectors);
    const LcpResult result = solve_lcp(batch, settings, backend);
    const auto n = static_cast<std::size_t>(order);
    for (std::size_t p = 0; p < members.size(); ++p) {
      CaseAnswer& answer = answers[members[p]];
      answer.status = result.status.host()[p];
      answer.residual = result.residual.host()[p];
      answer.iterations = result.pivots.host()[p];
      const auto z = result.solution.host().subspan(p * n, n);
      if (has_answer(answer.status)) answer.x.assign(z.begin(), z.end());
    }
  }
}

CaseAnswer solve_friction(const CoulombProblem& problem, double tolerance) {
  CoulombSettings settings;
  settings.tolerance = tolerance;
  CoulombResult result = solve_coulomb(problem, settings);
  CaseAnswer answer;
  answer.status = result.status;
  answer.residual = result.residual;
  answer.iterations = result.iterations;
  if (has_answer(result.status)) answer.x = std::move(result.reaction);
  return answer;
}

void print_json(const std::vector<io::CaseProblem>& cases, const std::vector<CaseAnswer>& answers) {
  nlohmann::ordered_json result = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    nlohmann::ordered_json entry;
    entry["name"] = cases[i].name;
    entry["kind"] = cases[i].kind;
    entry["status"] = to_string(answers[i].status);
    entry["x"] = has_answer(answers[i].status) ? nlohmann::ordered_json(answers[i].x)
                                               : nlohmann::ordered_json(nullptr);
    entry["residual"] = answers[i].residual;
    entry["iterations"] = answers[i].iterations;
    result.push_back(entry);
  }
  fmt::print("{}\n", result.dump(2));
}

void print_table(const std::vector<io::CaseProblem>& cases,
                 const std::vector<CaseAnswer>& answers) {
  TextTable table({"name", "kind", "status", "residual", "iterations"});
  for (std::size_t i = 0; i < cases.size(); ++i) {
    table.add({cases[i].name, cases[i].kind, std::string(to_string(answers[i].status)),
               fmt::format("{:.2e}", answers[i].residual),
               fmt::format("{}", answers[i].iterations)});
  }
  fmt::print("{}", table.text());
}

int run_solve(const SolveOptions& options) {
  LcpSettings settings;
  settings.tolerance = parse_real("--tolerance", options.tolerance);
  settings.threads = static_cast<int>(parse_count("--threads", options.threads, 0, 4096));
  settings.validate();
  const Backend backend = backend_named("--backend", options.backend);
  std::vector<io::CaseProblem> cases;
  for (const std::string& file : options.files) cases.push_back(io::read_case(file));

  std::vector<CaseAnswer> answers(cases.size());
  solve_lcps(cases, settings, backend, answers);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (const auto* problem = std::get_if<CoulombProblem>(&cases[i].problem)) {
      answers[i] = solve_friction(*problem, settings.tolerance);
    }
  }
  if (options.json) {
    print_json(cases, answers);
  } else if (!options.quiet) {
    print_table(cases, answers);
  }
  const bool good = std::all_of(answers.begin(), answers.end(), [](const CaseAnswer& answer) {
    return answer.status == Status::solved;
  });
  return good ? kSuccess : kUnsuccessful;
}

}  // namespace

void add_solve(Program& program) {
  CLI::App* command = program.app.add_subcommand("solve", "Solve single problems from files");
  command->description(
      "Solves single problems from JSON files: linear complementarity problems (kind lcp) and\n"
      "Coulomb friction problems (kind coulomb_friction, always on the host).");
  command->footer("Example: carom solve examples/data/lcp.json --json");
  const auto options = std::make_shared<SolveOptions>();
  command->add_option("files", options->files, "Problem files")->required()->type_name("FILE");
  command->add_option("--tolerance", options->tolerance, "Largest relative residual of a solution")
      ->capture_default_str();
  command->add_option("--backend", options->backend, "auto, cpu, cuda or reference, for lcp")
      ->capture_default_str();
  command->add_option("--threads", options->threads, "CPU threads, 0: all")->capture_default_str();
  command->add_flag("--json", options->json, "One JSON document instead of text");
  command->add_flag("--quiet", options->quiet, "No text");
  command->callback(
      [&program, options] { program.chosen = [options] { return run_solve(*options); }; });
}

}  // namespace carom::cli
