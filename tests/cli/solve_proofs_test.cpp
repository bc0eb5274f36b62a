#include <gtest/gtest.h>

#include <map>
#include <set>

#include "cli/command.hpp"
#include "cli/refusal.hpp"
#include "support/from_environment.hpp"

namespace carom::test {
namespace {

/// The checks of docs/howto/check_a_proof.md by their first lines, "# lp solved" and so on.
std::map<std::string, std::string> checks_of_page() {
  std::map<std::string, std::string> checks;
  std::istringstream page(read_text(repository() / "docs/howto/check_a_proof.md"));
  std::string* current = nullptr;
  bool opened = false;
  for (std::string line; std::getline(page, line);) {
    if (line == "```python") {
      opened = true;
    } else if (line == "```") {
      current = nullptr;
    } else if (opened) {
      current = &checks[line.substr(2)];
      opened = false;
    } else if (current != nullptr) {
      *current += line + "\n";
    }
  }
  return checks;
}

class Proofs : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    // the interpreter itself: what stands before it on the path may be a script, ten times slower
    const Outcome found = shell("python3 -c 'import fractions, sys; print(sys.executable)'");
    if (found.status == 0) python_ = found.out.substr(0, found.out.find('\n'));
  }
  void SetUp() override {
    if (python_.empty()) GTEST_SKIP() << "python3 is absent";
    checks_ = checks_of_page();
    ASSERT_EQ(checks_.count("opening"), 1U);
  }

  static std::string check_named(const json& answer) {
    const std::string status = answer["status"];
    // one check for both kinds
    if (status == "nonconvex") return "qp nonconvex";
    return answer["kind"].get<std::string>() + " " + status;
  }
  [[nodiscard]] bool has_check(const json& answer) const {
    return checks_.count(check_named(answer)) == 1;
  }
  /// Python's verdict on one answer to the problem of `file`.
  [[nodiscard]] Outcome checked(const std::string& file, const json& answer) const {
    const std::string script =
        scratch_.file("check.py", checks_.at("opening") + checks_.at(check_named(answer)));
    const std::string text = scratch_.file("answer.json", json::array({answer}).dump());
    return Process({python_, script, file, text}).wait();
  }
  /// Runs check_page.py, whose one process judges many answers.
  [[nodiscard]] Outcome check_page(const std::vector<std::string>& words) const {
    const fs::path root = repository();
    std::vector<std::string> command = {python_, (root / "tests/cli/check_page.py").string(),
                                        command_path(),
                                        (root / "docs/howto/check_a_proof.md").string()};
    command.insert(command.end(), words.begin(), words.end());
    return Process(command).wait();
  }
  /// `answers`: a list of {"problem": file, "answer": ..}.
  void expect_accepted(const json& answers) const {
    const Outcome verdict =
        check_page({"--answers", scratch_.file("answers.json", answers.dump())});
    EXPECT_EQ(verdict.status, 0) << verdict.out << verdict.err;
  }
  static json solved(const std::string& file, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"solve", file, "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return carom(words).document()[0];
  }

  static std::string python_;
  Scratch scratch_;
  std::map<std::string, std::string> checks_;
};

std::string Proofs::python_;

std::vector<std::string> stored(const std::vector<std::string>& folders) {
  std::vector<std::string> files;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::directory_iterator(data_folder() / folder)) {
      if (entry.path().extension() == ".json") files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST_F(Proofs, EveryStoredAnswerPassesThePagesChecks) {
  std::set<std::string> used = {"opening"};
  json answers = json::array();
  for (const std::string& file :
       stored({"lcp", "boxed_lcp", "mixed_lcp", "lp", "qp", "socp", "fc3d", "trust", "proofs"})) {
    SCOPED_TRACE(file);
    const json answer = solved(file);
    if (!has_check(answer)) {  // claims nothing
      EXPECT_TRUE(answer["status"] == "ray" || answer["status"] == "inaccurate");
      continue;
    }
    answers.push_back({{"problem", file}, {"answer", answer}});
    used.insert(check_named(answer));
  }
  expect_accepted(answers);
  for (const auto& [name, text] : checks_) EXPECT_EQ(used.count(name), 1U) << name;
}

// CAROM_PAGE_PROBLEMS of each kind: integers, mixed units, problems moved by a rounding.
TEST_F(Proofs, SoDoRandomAnswers) {
  const int problems = from_environment("CAROM_PAGE_PROBLEMS", 600);
  const auto run = [&](const char* kinds, int count, int seed = 1) {
    const Outcome outcome = check_page(
        {"--problems", std::to_string(count), "--kinds", kinds, "--seed", std::to_string(seed)});
    EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  };
  run("lp,qp,socp,lcp", problems);
  run("coulomb_friction", std::max(1, problems / 6));  // take longer
  // Right answers that were once refused: x large only in its units, margins of 1e-10.
  run("socp", 1000, 211);
  run("lp,socp", 3000, 302);
}

TEST_F(Proofs, SoDoTheAnswersOfEveryMethod) {
  json answers = json::array();
  for (const std::string& file : stored({"qp", "socp", "trust", "proofs"})) {
    const std::string stem = fs::path(file).stem().string();
    if (stem.find("DUALC") != std::string::npos) continue;  // minutes under a sanitizer
    if (json::parse(read_text(file))["P"].is_null()) continue;
    for (const char* method : {"interior_point", "active_set", "admm", "projected", "lemke"}) {
      const Outcome outcome = carom({"solve", file, "--json", "--method", method});
      if (outcome.status == 2) continue;
      const json answer = outcome.document()[0];
      if (has_check(answer)) answers.push_back({{"problem", file}, {"answer", answer}});
    }
  }
  EXPECT_GT(answers.size(), 100U);
  expect_accepted(answers);
}

TEST_F(Proofs, ChecksRejectSpoiledProofs) {
  const auto negated = [](json values) {
    for (json& value : values) value = -value.get<double>();
    return values;
  };
  const std::map<std::string, std::vector<std::string>> spoils = {
      {"lp_max_solved", {"dual", "reduced_costs", "x"}},
      {"lp_max_infeasible", {"farkas"}},
      {"lp_max_unbounded", {"ray", "point"}},
      {"lp_min_unbounded", {"ray"}},
      {"qp_solved", {"dual", "x"}},
      {"qp_infeasible", {"farkas"}},
      {"qp_unbounded", {"ray", "point"}},
      {"socp_solved_equation", {"cone_dual", "x"}},
      {"socp_infeasible", {"farkas"}},
      {"socp_unbounded", {"ray"}},
      {"lcp_solved", {"x", "w"}},
      {"lcp_infeasible", {"farkas"}},
      {"boxed_lcp_solved", {"x", "w", "limit"}},
      {"boxed_lcp_infeasible", {"farkas"}},
      {"coulomb_friction_solved", {"x"}}};
  const std::map<std::string, std::string> elsewhere = {
      {"qp_solved", "qp/mm_HS76.json"},
      {"qp_infeasible", "qp/clarabel_qp_primal_infeasible.json"},
      {"qp_unbounded", "trust/qp_min_false_solved_unbounded.json"},
      {"lcp_solved", "lcp/drake_Handbook10_2_3.json"},
      {"lcp_infeasible", "trust/lcp_false_solved_unsolvable.json"},
      {"boxed_lcp_solved", "boxed_lcp/nimble_lcp_failure_2.json"},
      {"boxed_lcp_infeasible", "boxed_lcp/closing_walls.json"},
      {"coulomb_friction_solved", "trust/coulomb_false_solved_scales.json"}};
  for (const auto& [name, keys_of_proof] : spoils) {
    const auto place = elsewhere.find(name);
    const std::string file =
        data_file(place == elsewhere.end() ? "proofs/" + name + ".json" : place->second);
    const json answer = solved(file);
    ASSERT_TRUE(has_check(answer)) << name << " " << answer["status"];
    for (const std::string& key : keys_of_proof) {
      SCOPED_TRACE(name + " " + key);
      json spoiled = answer;
      spoiled[key] = negated(answer[key]);
      if (spoiled[key] == answer[key]) {  // all zero
        for (json& value : spoiled[key]) value = value.get<double>() - 1.0;
      }
      const Outcome verdict = checked(file, spoiled);
      EXPECT_NE(verdict.status, 0);
      EXPECT_NE(verdict.err.find("AssertionError"), std::string::npos) << verdict.err;
    }
  }
  const std::string nonconvex = data_file("proofs/qp_nonconvex.json");
  json answer = solved(nonconvex);
  answer["direction"] = {0.0, 0.0, 1.0};
  EXPECT_NE(checked(nonconvex, answer).status, 0);
}

// An unbounded problem, said to be solved: its multiplier presses against an absent bound.
TEST_F(Proofs, ChecksRejectMultipliersOfAbsentBounds) {
  const std::string lp = scratch_.file(
      "lp.json", R"({"kind": "lp", "c": [-1], "A": [[1]], "row_lower": [0], "row_upper": [null],
                     "col_lower": [null], "col_upper": [null]})");
  const json answer = {{"kind", "lp"},
                       {"status", "solved"},
                       {"x", {0.0}},
                       {"dual", {-1.0}},
                       {"reduced_costs", {0.0}}};
  EXPECT_NE(checked(lp, answer).err.find("AssertionError"), std::string::npos);
  const std::string qp = scratch_.file(
      "qp.json", R"({"kind": "qp", "P": [[0]], "q": [-1], "A": [[1]], "l": [0], "u": [null]})");
  const json other = {{"kind", "qp"}, {"status", "solved"}, {"x", {0.0}}, {"dual", {1.0}}};
  EXPECT_NE(checked(qp, other).err.find("AssertionError"), std::string::npos);
}

TEST(SolveProofs, KeysThatAStatusHasNoUseForAreNull) {
  const std::map<std::string, std::set<std::string>> present = {
      {"solved", {"dual", "cone_dual", "reduced_costs", "x", "objective"}},
      {"infeasible", {"farkas"}},
      {"unbounded", {"point", "ray"}},
      {"nonconvex", {"direction"}}};
  for (const std::string& file : stored({"lp", "qp", "socp", "proofs"})) {
    SCOPED_TRACE(file);
    const json answer = carom({"solve", file, "--json"}).document()[0];
    if (answer["kind"] == "lcp" || answer["kind"] == "coulomb_friction") continue;
    const std::set<std::string>& there = present.at(answer["status"]);
    const bool crossed = file.find("crossed") != std::string::npos;
    for (const char* key : {"x", "objective", "dual", "cone_dual", "reduced_costs", "farkas",
                            "point", "ray", "direction"}) {
      if (!answer.contains(key)) continue;
      EXPECT_EQ(answer[key].is_null(), there.count(key) == 0 || crossed) << key;
    }
    EXPECT_EQ(answer.contains("method"), answer["kind"] != "lp");
  }
}

// The gain of a maximised objective per unit of an active bound.
TEST(SolveProofs, MultipliersFitTheFilesOwnSense) {
  const Scratch scratch;
  const auto problem = [&scratch](const char* sense, double upper) {
    const json file = {{"kind", "lp"},
                       {"sense", sense},
                       {"c", sense == std::string("max") ? json({2, 1}) : json({-2, -1})},
                       {"A", {{1, 1}}},
                       {"row_lower", {nullptr}},
                       {"row_upper", {upper}},
                       {"col_lower", {0, 0}},
                       {"col_upper", {nullptr, nullptr}}};
    return carom({"solve", scratch.file("p.json", file.dump()), "--json"}).document()[0];
  };
  for (const char* sense : {"min", "max"}) {
    const json before = problem(sense, 3.0);
    const double gain =
        problem(sense, 4.0)["objective"].get<double>() - before["objective"].get<double>();
    EXPECT_DOUBLE_EQ(before["dual"][0].get<double>(), gain) << sense;
    EXPECT_DOUBLE_EQ(before["reduced_costs"][0].get<double>(), 0.0);
    EXPECT_DOUBLE_EQ(before["reduced_costs"][1].get<double>(), sense[1] == 'a' ? -1.0 : 1.0);
  }
}

TEST(SolveMethod, IsTheOneThatAnswered) {
  const std::string file = data_file("qp/mm_HS76.json");
  for (const char* method : {"interior_point", "active_set", "admm", "projected", "lemke"}) {
    const json answer = carom({"solve", file, "--json", "--method", method}).document()[0];
    EXPECT_EQ(answer["status"], "solved") << method;
    EXPECT_EQ(answer["method"], method);
  }
}

TEST(SolveMethod, ThatDoesNotFitIsRefusedByName) {
  const std::string qp = data_file("qp/mm_HS76.json");
  const std::string socp = data_file("socp/clarabel_socp_feasible.json");
  for (const char* method : {"active_set", "lemke"}) {
    expect_refusal(carom({"solve", qp, socp, "--method", method, "--json"}),
                   {"clarabel_socp_feasible.json: method " + std::string(method), "cones[2]"});
  }
  expect_refusal(carom({"solve", data_file("qp/mm_DUALC8.json"), "--method", "lemke"}),
                 {"mm_DUALC8.json: method lemke does not take 8 variables with 511 rows"});
  expect_refusal(carom({"solve", qp, "--method", "newton"}),
                 {"--method is newton", "auto", "interior_point", "lemke"});
  expect_refusal(carom({"solve", qp, "--method", ""}), {"--method is empty"});
  expect_refusal(carom({"solve", qp, "--method", "admm", "--backend", "reference"}),
                 {"--method is admm", "reference"});
}

}  // namespace
}  // namespace carom::test
