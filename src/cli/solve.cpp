#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <carom/error.hpp>

#include "cli/choices.hpp"
#include "cli/commands.hpp"
#include "cli/json_output.hpp"
#include "cli/setting_options.hpp"
#include "cli/solve_kinds.hpp"
#include "cli/table.hpp"
#include "io/case_file.hpp"

namespace carom::cli {

namespace {

constexpr const char* kDescription =
    R"(Solves single problems from JSON files: linear complementarity problems (kind lcp),
Coulomb friction problems (kind coulomb_friction, always on the host), linear programs
(kind lp), convex quadratic programs (kind qp) and quadratic programs with second-order
cones (kind socp).

With --json every verdict comes with its proof; null where a status has none:
  lcp   w = M x + q
  lp    dual y and reduced_costs c - A'y, whether minimised or maximised: y_i is what the
        objective gains per unit of the bound at which row i stands, so y_i > 0 belongs to
        row_lower where minimised and to row_upper where maximised.
        infeasible: farkas y, where the rows ask more of y'(A x) than the columns' bounds
        allow; y_i > 0 with row_lower, y_i < 0 with row_upper, whatever the sense.
        unbounded: a point that meets all bounds and a ray from it that meets none, along
        which the objective falls (minimised) or rises (maximised)
  qp    dual y with P x + q + A'y = 0, y_i > 0 at u, y_i < 0 at l; farkas y with A'y = 0,
        u'y+ - l'y- < 0; point and ray d with P d = 0, q'd < 0; nonconvex: direction d
        with d'P d < 0
  socp  cone_dual z with P x + q + A'z = 0, z in the dual cones; farkas z with A'z = 0,
        b'z < 0; point, ray and direction as of qp
docs/check_a_proof.md has a short check for each.)";

// Where the options differ from the list of QpSettings.
constexpr OptionForm kForms[] = {
    {.setting = "max_iterations", .option = kNoOption},
    {.setting = "polish", .option = kNoOption},
    {.setting = "over_relaxation", .option = kNoOption},
    {.setting = "penalty", .option = kNoOption},
    {.setting = "threads", .type = "TEXT", .most = kMostThreads},
    {.setting = "method",
     .text = "Of qp and socp: auto, interior_point, active_set, admm, projected (P positive "
             "definite) or lemke (small problems); active_set and lemke take no second-order "
             "cones"},
};

struct SolveOptions {
  std::vector<std::string> files;
  std::string backend = "auto";
  SettingOptions settings{kForms};
  bool json = false;
  bool quiet = false;
};

void print_json(const Cases& cases, const CaseAnswers& answers) {
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
    if (answers[i].has_objective) {
      entry["objective"] = answers[i].objective ? nlohmann::ordered_json(*answers[i].objective)
                                                : nlohmann::ordered_json(nullptr);
    }
    if (!answers[i].method.empty()) entry["method"] = answers[i].method;
    for (const auto& [key, values] : answers[i].proofs) {
      const std::string name(key);
      entry[name] = values ? nlohmann::ordered_json(*values) : nlohmann::ordered_json(nullptr);
    }
    result.push_back(entry);
  }
  print_document(result);
}

void print_table(const Cases& cases, const CaseAnswers& answers) {
  TextTable table({"name", "kind", "status", "residual", "iterations"});
  for (std::size_t i = 0; i < cases.size(); ++i) {
    table.add({cases[i].name, cases[i].kind, std::string(to_string(answers[i].status)),
               fmt::format("{:.2e}", answers[i].residual),
               fmt::format("{}", answers[i].iterations)});
  }
  fmt::print("{}", table.text());
}

int run_solve(const SolveOptions& options) {
  CaseSettings settings;
  options.settings.read(settings);
  settings.backend = backend_named("--backend", options.backend);
  if (settings.method != QpMethod::automatic && settings.backend == Backend::reference) {
    throw InvalidInput(
        fmt::format("--method is {}: the backend reference has one of its own, must be auto",
                    to_string(settings.method)));
  }
  Cases cases;
  for (const std::string& file : options.files) cases.push_back(io::read_case(file));

  CaseAnswers answers(cases.size());
  solve_lcp_cases(cases, settings, answers);
  solve_friction_cases(cases, settings, answers);
  solve_lp_cases(cases, settings, answers);
  solve_qp_cases(cases, settings, answers);
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
  command->description(kDescription);
  command->footer("Example: carom solve examples/data/lcp.json --json");
  const auto options = std::make_shared<SolveOptions>();
  command->add_option("files", options->files, "Problem files")->required()->type_name("FILE");
  options->settings.add(*command, CaseSettings{}, [&](std::string_view setting) {
    if (setting == "threads") {
      command->add_option("--backend", options->backend, listed<Backend>(" or "))
          ->capture_default_str();
    }
    return true;
  });
  command->add_flag("--json", options->json, "One JSON document instead of text");
  command->add_flag("--quiet", options->quiet, "No text");
  command->callback(
      [&program, options] { program.chosen = [options] { return run_solve(*options); }; });
}

}  // namespace carom::cli
