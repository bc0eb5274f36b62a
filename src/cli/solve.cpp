#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <carom/error.hpp>

#include "cli/backend_options.hpp"
#include "cli/choices.hpp"
#include "cli/commands.hpp"
#include "cli/json_output.hpp"
#include "cli/output_files.hpp"
#include "cli/progress.hpp"
#include "cli/setting_options.hpp"
#include "cli/table.hpp"
#include "cli/target.hpp"
#include "cli/text_options.hpp"
#include "cli/wrong_command.hpp"
#include "io/case_file.hpp"
#include "io/case_hdf5.hpp"
#include "io/fields.hpp"
#include "io/printable.hpp"
#include "io/setting_json.hpp"
#include "run/cases.hpp"

namespace carom::cli {

namespace {

constexpr const char* kFooter =
    R"(Files contain one problem or thousands. Kinds:
  lcp                linear complementarity problems
  boxed_lcp          the same with bounds, optionally with friction indices
  mixed_lcp          LCPs with equations
  affine_vi          affine variational inequalities; solved as boxed_lcp
  coulomb_friction   friction problems with true cones, always on the host
  lp                 linear programs
  qp                 convex quadratic programs
  socp               quadratic programs with second-order cones
A JSON file contains an object or an array of objects (examples/data/lcp.json, lp.json, qp.json,
socp.json, friction.json). An HDF5 file has the same names as data sets, with a leading axis of
problems. docs/reference/files.md has every field.

With --json and --output every status comes with its proof; keys that it does not need are null:
  lcp        solved: w = M x + q. infeasible: farkas y >= 0 with M'y <= 0, q'y < 0; or a tree:
             nodes [parent, pair k, side] add z_k = 0 (side 0) or w_k = 0 (side 1), leaf_farkas
             has y of each leaf, and bound, if not null, limits the proof to all z <= bound
  boxed_lcp  solved: w. infeasible: farkas y, >= 0 if hi is absent, <= 0 if lo is absent, else 0,
             with y'(M x + q) < 0 for every x in the box; or a tree as of an lcp, with the sides
             x_k at its lower bound (0), w_k = 0 (1), x_k at its upper bound (2). limit: largest
             |x_i| of friction rows; with friction_law ode limit_error says how far it is from mu x
  lp         solved: dual y and reduced_costs c - A'y. y_i is the gain of the objective per unit of
             the active bound of row i: y_i > 0 belongs to row_lower if the objective is minimised
             and to row_upper if it is maximised. infeasible: farkas y, such that the rows require
             more of y'(A x) than the bounds of x allow; y_i > 0 uses row_lower, y_i < 0 row_upper.
             unbounded: a feasible point and a ray along which the objective has no bound
  qp         solved: dual y with P x + q + A'y = 0, y_i > 0 at u, y_i < 0 at l. infeasible: farkas y
             with A'y = 0, u'y+ - l'y- < 0. unbounded: point and ray d with P d = 0, q'd < 0.
             nonconvex: direction d with d'P d < 0
  socp       solved: cone_dual z with P x + q + A'z = 0, z in the dual cones. infeasible: farkas z
             with A'z = 0, b'z < 0. point, ray and direction as of qp
docs/howto/check_a_proof.md has a short check for each.

Example: carom solve examples/data/lcp.json --json)";

// Where the options differ from the list of QpSettings.
constexpr OptionForm kForms[] = {
    {.setting = "max_iterations", .option = kNoOption},
    {.setting = "polish", .option = kNoOption},
    {.setting = "over_relaxation", .option = kNoOption},
    {.setting = "penalty", .option = kNoOption},
    {.setting = "threads", .most = kMostThreads},
    {.setting = "method",
     .text = "For qp and socp: auto, interior_point, active_set, admm, projected (P positive "
             "definite) or lemke (small problems); active_set and lemke take no second-order "
             "cones"},
};

struct SolveOptions : TextOptions {
  std::vector<std::string> files;
  std::string backend = "auto";
  SettingOptions settings{kForms};
  std::string output;
};

void print_json(const run::Cases& cases, const run::CaseAnswers& answers,
                const run::CaseSettings& settings) {
  nlohmann::ordered_json used = io::settings_json(settings);
  used["backend"] = to_string(settings.backend);
  nlohmann::ordered_json result = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    nlohmann::ordered_json entry;
    entry["name"] = cases[i].name;
    entry["kind"] = cases[i].kind;
    entry["status"] = to_string(answers[i].status);
    entry["x"] = run::has_answer(answers[i].status) ? nlohmann::ordered_json(answers[i].x)
                                                    : nlohmann::ordered_json(nullptr);
    io::add_fields(entry, answers[i].all_numbers());
    for (const auto& [key, values] : answers[i].proofs) {
      const std::string name(key);
      entry[name] = values ? nlohmann::ordered_json(*values) : nlohmann::ordered_json(nullptr);
    }
    if (const run::ProofTree& tree = answers[i].tree; !tree.nodes.empty()) {
      const auto lists = [](const std::vector<double>& values, std::size_t width, auto&& shown) {
        nlohmann::ordered_json rows = nlohmann::ordered_json::array();
        for (std::size_t k = 0; k + width <= values.size(); k += width) {
          nlohmann::ordered_json row = nlohmann::ordered_json::array();
          for (std::size_t j = 0; j < width; ++j) row.push_back(shown(values[k + j]));
          rows.push_back(std::move(row));
        }
        return rows;
      };
      entry["tree"] = lists(tree.nodes, 3, [](double value) { return static_cast<int>(value); });
      entry["leaf_farkas"] = lists(tree.leaves, static_cast<std::size_t>(tree.rows),
                                   [](double value) { return value; });
      entry["bound"] = io::json_number(tree.bound);
    }
    entry["settings"] = used;
    result.push_back(entry);
  }
  print_document(result);
}

constexpr std::size_t kMostLines = 64;  // problems; more are counted
constexpr std::size_t kMostInFull = 8;  // problems whose numbers are printed, too
constexpr std::size_t kMostNumbers = 12;

void print_table(const run::Cases& cases, const run::CaseAnswers& answers) {
  const bool objectives = std::any_of(answers.begin(), answers.end(), [](const auto& answer) {
    return answer.objective.has_value();
  });
  std::vector<std::string> head = {"name", "kind", "status", "residual", "iterations"};
  if (objectives) head.emplace_back("objective");
  TextTable table(head);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::vector<std::string> row = {
        cases[i].name, cases[i].kind, std::string(to_string(answers[i].status)),
        fmt::format("{:.2e}", answers[i].residual), fmt::format("{}", answers[i].iterations)};
    if (objectives) {
      const double value = answers[i].objective.value_or(run::kNone);
      row.push_back(std::isnan(value) ? "-" : fmt::format("{:.9g}", value));
    }
    table.add(row);
  }
  fmt::print("{}", table.text());
}

void print_counts(const run::Cases& cases, const run::CaseAnswers& answers) {
  std::map<std::pair<std::string, std::string>, std::size_t> counts;
  double worst = 0.0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    ++counts[{cases[i].kind, std::string(to_string(answers[i].status))}];
    if (std::isfinite(answers[i].residual)) worst = std::max(worst, answers[i].residual);
  }
  TextTable table({"kind", "status", "problems"});
  for (const auto& [what, count] : counts) {
    table.add({what.first, what.second, fmt::format("{}", count)});
  }
  fmt::print("{}  largest residual {:.2e}; --json or --output FILE.h5 have every answer\n",
             table.text(), worst);
}

// Of an infeasible problem with friction rows: the normal rows whose contacts press against each
// other, a state of self-stress.
std::string pressed_rows(const run::BoxedLcpProblem& problem, const run::CaseAnswer& answer) {
  if (answer.status != Status::infeasible || !answer.tree.nodes.empty()) return {};
  std::vector<std::size_t> rows;
  for (const auto& [key, values] : answer.proofs) {
    if (key != "farkas" || !values) continue;
    for (std::size_t i = 0; i < values->size(); ++i) {
      if ((*values)[i] != 0.0) rows.push_back(i);
    }
  }
  if (rows.empty()) return "    a lower bound exceeds its upper bound\n";
  return fmt::format("    no x gives rows {} of w the signs that they need{}\n",
                     fmt::join(rows, ", "),
                     problem.findex.empty() ? "" : ": their contacts press against each other");
}

// The numbers of small problems: the answer and what multiplies its constraints, or the proof that
// there is none.
void print_numbers(const run::Cases& cases, const run::CaseAnswers& answers) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const run::CaseAnswer& answer = answers[i];
    std::string text;
    const auto add = [&text](std::string_view name, std::vector<double> values) {
      for (double& value : values) value += 0.0;  // no -0
      if (values.empty() || values.size() > kMostNumbers) return;
      text += fmt::format("    {} = ({:.9g})\n", name, fmt::join(values, ", "));
    };
    if (run::has_answer(answer.status)) add(cases[i].kind.ends_with("lcp") ? "z" : "x", answer.x);
    for (const auto& [key, values] : answer.proofs) {
      if (values) add(key, *values);
    }
    if (!answer.tree.nodes.empty()) {
      text += fmt::format("    no z{} solves it: tree of {} nodes, --json has it\n",
                          std::isfinite(answer.tree.bound)
                              ? fmt::format(" <= {:.3g}", answer.tree.bound)
                              : std::string(),
                          answer.tree.nodes.size() / 3);
    }
    for (const run::Number& number : answer.numbers) {
      const double value = run::number_named(answer.numbers, number.field.name);
      if (std::isfinite(value)) text += fmt::format("    {} = {:.9g}\n", number.field.name, value);
    }
    if (const auto* box = std::get_if<run::BoxedLcpProblem>(&cases[i].problem)) {
      text += pressed_rows(*box, answer);
    }
    if (!text.empty()) fmt::print("\n  {}\n{}", io::printable(cases[i].name), text);
  }
}

void print_text(const run::Cases& cases, const run::CaseAnswers& answers) {
  if (cases.size() > kMostLines) return print_counts(cases, answers);
  print_table(cases, answers);
  if (cases.size() <= kMostInFull) print_numbers(cases, answers);
}

int run_solve(const SolveOptions& options, const std::string& command_line) {
  run::CaseSettings settings;
  options.settings.read(settings);
  settings.backend = backend_named("--backend", options.backend);
  if (settings.method != QpMethod::automatic && settings.backend == Backend::reference) {
    throw InvalidInput(
        fmt::format("--method is {}: backend reference uses its own method, must be auto",
                    to_string(settings.method)));
  }
  require_output(options.output);
  run::Cases cases;
  for (const std::string& file : options.files) {
    if (const std::string hint = file_exists(file) ? "" : right_command(file); !hint.empty()) {
      throw InvalidInput(hint);
    }
    run::Cases own = read_as(file, io::FileKind::program, [&file] { return io::read_cases(file); });
    for (run::CaseProblem& problem : own) cases.push_back(std::move(problem));
  }
  const run::CaseAnswers answers = [&] {
    ProgressBar bar(options, "problems", "Ctrl-C stops it.");
    return run::solve_cases(
        cases, settings,
        {[&bar](std::int64_t done, std::int64_t total) { bar.show(done, total); }, {}});
  }();
  if (options.json) {
    print_json(cases, answers, settings);
  } else if (!options.quiet) {
    print_text(cases, answers);
  }
  if (!options.output.empty()) {
    io::write_cases_hdf5(options.output, cases, answers, settings, command_line);
  }
  const bool good = std::all_of(answers.begin(), answers.end(), [](const run::CaseAnswer& answer) {
    return answer.status == Status::solved;
  });
  return good ? kSuccess : kUnsuccessful;
}

}  // namespace

void add_solve(Program& program) {
  CLI::App* command = program.app.add_subcommand(
      "solve", "Solve LCPs, boxed LCPs, LPs, QPs, cone and friction problems of files");
  command->footer(kFooter);
  const auto options = std::make_shared<SolveOptions>();
  command->add_option("files", options->files, "Problem files")->required()->type_name("FILE");
  options->settings.add(*command, run::CaseSettings{}, [&](std::string_view setting) {
    if (setting == "threads") {
      add_backend_options(*command, options->backend);
    }
    return true;
  });
  command
      ->add_option("--output", options->output, "Write problems, answers and proofs to this file")
      ->type_name("FILE.h5");
  add_text_options(*command, *options);
  command->callback([&program, options] {
    program.chosen = [&program, options] { return run_solve(*options, program.command_line); };
  });
}

}  // namespace carom::cli
