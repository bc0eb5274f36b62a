#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "cli/refusal.hpp"
#include "io/hdf5_file.hpp"

// carom verify judges all that is said, or names what it does not judge.
namespace carom::test {
namespace {

/// Paths of the values of `document` by field: "points.verdict", the first and the last of each.
std::map<std::string, std::vector<std::string>> fields_of(const json& document) {
  std::map<std::string, std::vector<std::string>> fields;
  const auto visit = [&](const auto& self, const json& value, const std::string& path,
                         const std::string& field) -> void {
    if (value.is_object()) {
      for (const auto& [key, inner] : value.items()) {
        std::string word;  // escaped as pointers are
        for (const char c : key) word += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
        self(self, inner, path + "/" + word, field.empty() ? key : field + "." + key);
      }
      return;
    }
    if (value.is_array() && !value.empty()) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        self(self, value[i], path + "/" + std::to_string(i), field);
      }
      return;
    }
    std::vector<std::string>& paths = fields[field];
    if (paths.size() == 2) paths.pop_back();
    paths.push_back(path);
  };
  visit(visit, document, "", "");
  return fields;
}

json changed(const json& value) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>() + 1;
  if (value.is_number()) return value.get<double>() == 0.0 ? 1.0 : -1.5 * value.get<double>() - 1.0;
  if (value.is_string()) return value.get<std::string>() + "x";
  return json::array({1.0});  // null or nothing
}

bool is_named(const std::string& field, const json& names) {
  for (const std::string name : names) {
    if (field == name || field.rfind(name + ".", 0) == 0) return true;
  }
  return false;
}

class Verify : public testing::Test {
 protected:
  [[nodiscard]] Outcome verified(const json& document, const std::vector<std::string>& more) const {
    const std::string file = scratch_.file("said.json", document.dump());
    return carom(with({"verify", file, "--json"}, more));
  }

  void expect_noticed(const json& document, const std::vector<std::string>& more,
                      const std::string& field, const std::string& what) const {
    const Outcome outcome = verified(document, more);
    if (outcome.status == 0 && is_named(field, outcome.document()["not_judged"])) return;
    EXPECT_NE(outcome.status, 0) << what;
  }

  /// Every field of the document changed and left out: refuted, refused, or named as not judged.
  /// whole: fields of which any that proves will do: they are turned round as a whole.
  void tamper(const json& document, const std::vector<std::string>& more,
              const std::set<std::string>& whole = {}) const {
    const Outcome right = verified(document, more);
    ASSERT_EQ(right.status, 0) << right.out << right.err;
    const json names = right.document()["not_judged"];
    std::size_t judged = 0;
    for (const auto& [field, paths] : fields_of(document)) {
      if (is_named(field, names)) continue;
      ++judged;
      for (const std::string& path : paths) {
        json::json_pointer at(path);
        json other = document;
        if (whole.count(field) == 1) {
          while (at.parent_pointer() != json::json_pointer() && document[at].is_number()) {
            at.pop_back();
          }
          for (json& value : other[at]) {
            if (value.is_number()) value = -1.0 - value.get<double>();
          }
        } else {
          other[at] = changed(document[at]);
        }
        if (other != document) expect_noticed(other, more, field, path + " is " + other[at].dump());
        other = document;
        json& owner = other[at.parent_pointer()];
        // absent is null, and of a stance what it is by default
        const bool same = document[at].is_null() || field.rfind("points.stance.", 0) == 0;
        if (owner.is_object() && same) continue;
        owner.is_object() ? (void)owner.erase(at.back())
                          : owner.erase(static_cast<std::size_t>(std::stoul(at.back())));
        expect_noticed(other, more, field, path + " is left out");
      }
    }
    EXPECT_GE(judged, 3U);
  }

  Scratch scratch_;
};

TEST_F(Verify, EnclosuresAndAnswersOfNever) {
  for (const char* model : {"box_wall", "rocking_block"}) {
    SCOPED_TRACE(model);
    const Outcome outcome = carom({"impact", model, "--samples", "64", "--never", "A normal > 9",
                                   "--never", "A separating", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    tamper(json::parse(outcome.out), {}, {"enclosure.problem.contact_names"});
  }
}

TEST_F(Verify, AFalseNeverIsRefuted) {
  const Outcome outcome =
      carom({"impact", "rocking_block", "--samples", "64", "--never", "A separating", "--json"});
  json document = json::parse(outcome.out);
  ASSERT_NE(document["enclosure"]["never"][0]["answer"], "proven");
  document["enclosure"]["never"][0]["answer"] = "proven";
  const Outcome judged = verified(document, {});
  EXPECT_EQ(judged.status, 1);
  const json report = judged.document();
  EXPECT_EQ(report["never"]["refuted"], 1);
  EXPECT_EQ(report["refuted"], json::array({0}));
  EXPECT_NE(report["reasons"][0]["reason"].get<std::string>().find("does not exclude"),
            std::string::npos);
}

// Of a file that has no contact_names yet.
TEST_F(Verify, AFalseNeverOfAnOldFileIsRefuted) {
  const Outcome judged = carom({"verify", data_file("files/false_never.json"), "--json"});
  EXPECT_EQ(judged.status, 1);
  EXPECT_EQ(judged.document()["enclosure"]["proven"], 1);
  EXPECT_EQ(judged.document()["never"]["refuted"], 1);
}

TEST_F(Verify, Stances) {
  const Outcome outcome = carom(
      {"stability", "figure2", "--sweep", "d=0.1:1.1:4", "--sweep", "mu1=0.1:1.5:3", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  json document = json::parse(outcome.out);
  std::set<std::string> seen;
  for (const json& point : document["points"]) seen.insert(point["verdict"].get<std::string>());
  EXPECT_GE(seen.size(), 3U);
  tamper(document, {}, {"points.certificate.coefficients"});
  // words of their own kind
  for (std::size_t i = 0; i < document["points"].size(); ++i) {
    for (const char* word : {"stable", "unstable", "ambiguous", "no_equilibrium"}) {
      json other = document;
      json& verdict = other["points"][i]["verdict"];
      if (verdict == word) continue;
      const std::string before = verdict;
      verdict = word;
      other["verdicts"][before] = other["verdicts"][before].get<int>() - 1;
      other["verdicts"][word] = other["verdicts"].value(word, 0) + 1;
      EXPECT_EQ(verified(other, {}).status, 1) << "point " << i << " said to be " << word;
    }
  }
}

// A body on a slope that is steeper than its friction holds.
TEST_F(Verify, BodiesThatNothingHolds) {
  const Outcome outcome = carom({"stability", "figure2", "--set", "mu1=0.05", "--set", "mu2=0.05",
                                 "--set", "alpha=25", "--set", "d=0.7", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  json document = json::parse(outcome.out);
  ASSERT_EQ(document["points"][0]["verdict"], "no_equilibrium");
  const json report = verified(document, {}).document();
  EXPECT_EQ(report["no_equilibrium"]["proven"], 1);
  EXPECT_EQ(report["equilibrium"]["proven"], 1);
  tamper(document, {});
}

TEST_F(Verify, AnswersOfSolve) {
  std::vector<std::string> problems;
  for (const char* name :
       {"lp.json", "lcp.json", "boxed_lcp.json", "qp.json", "socp.json", "friction.json"}) {
    problems.push_back(example(name));
  }
  for (const char* name :
       {"lp_max_infeasible", "lp_max_unbounded", "qp_nonconvex", "socp_unbounded",
        "qp_crossed_bounds", "socp_solved_equation", "coulomb_infeasible"}) {
    problems.push_back(data_file("proofs/" + std::string(name) + ".json"));
  }
  // each by itself, so that every answer is the first and the last
  for (const std::string& problem : problems) {
    SCOPED_TRACE(problem);
    const Outcome outcome = carom({"solve", problem, "--json"});
    ASSERT_LE(outcome.status, 1) << outcome.err;
    const std::set<std::string> any = {"farkas", "ray", "point", "direction"};
    tamper(json::parse(outcome.out), {"--problem", problem}, any);
  }
}

// Unbounded problems, said to be solved: the multiplier presses against a bound that is absent.
TEST_F(Verify, MultipliersOfAbsentBoundsAreRefuted) {
  const json lp = {{"kind", "lp"},        {"c", {-1.0}},          {"A", {{1.0}}},
                   {"row_lower", {0.0}},  {"row_upper", nullptr}, {"col_lower", nullptr},
                   {"col_upper", nullptr}};
  const json qp = {{"kind", "qp"}, {"P", {{0.0}}}, {"q", {-1.0}},
                   {"A", {{1.0}}}, {"l", {0.0}},   {"u", nullptr}};
  for (const json& problem : {lp, qp}) {
    const bool linear = problem["kind"] == "lp";
    const std::string file = scratch_.file("unbounded.json", problem.dump());
    json document = json::parse(carom({"solve", file, "--json"}).out);
    ASSERT_EQ(document[0]["status"], "unbounded");
    for (const char* key : {"point", "ray"}) document[0][key] = nullptr;
    document[0]["status"] = "solved";
    document[0]["x"] = {0.0};
    document[0]["objective"] = 0.0;
    document[0]["dual"] = {linear ? -1.0 : 1.0};
    if (linear) document[0]["reduced_costs"] = {0.0};
    const Outcome outcome = verified(document, {"--problem", file});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_NE(outcome.out.find("misses the objective"), std::string::npos) << outcome.out;
  }
}

// x of 1e8 whose terms cancel: an objective that misses by 1e-8 of them was proven.
TEST_F(Verify, ObjectivesAreExactButForRounding) {
  const json box = {{"A", {{1.0, 0.0}, {0.0, 1.0}}}};
  json qp = {{"kind", "qp"}, {"P", {{1.0, -1.0}, {-1.0, 1.0}}}, {"q", {0.0, 0.0}}, {"r", 0.25}};
  json lp = {{"kind", "lp"}, {"c", {1.0, -1.0}}, {"col_lower", nullptr}, {"col_upper", nullptr}};
  for (json* problem : {&qp, &lp}) {
    problem->update(box);
    const bool linear = problem == &lp;
    for (const char* bound : {"lower", "upper"}) {
      const std::string key = linear ? "row_" + std::string(bound) : std::string(1, bound[0]);
      (*problem)[key] = {100000001.0, 100000000.0};
    }
    SCOPED_TRACE(problem->dump());
    const std::string file = scratch_.file("far.json", problem->dump());
    json document = json::parse(carom({"solve", file, "--json"}).out);
    const double objective = linear ? 1.0 : 0.75;
    EXPECT_EQ(document[0]["objective"], objective);
    EXPECT_EQ(verified(document, {"--problem", file}).status, 0);
    for (const double miss : {1e-6, -0.25, 1.0}) {
      document[0]["objective"] = objective + miss;
      const Outcome outcome = verified(document, {"--problem", file});
      EXPECT_EQ(outcome.status, 1) << miss;
      EXPECT_NE(outcome.out.find("objective is"), std::string::npos) << outcome.out;
    }
  }
}

// Walls that close by 1e-6: y of (1, 1 + 5e-9) has a z with y'(M z + q) > 0, at z_1 = 1000.
TEST_F(Verify, ZerosOfABoxesProofAreAsSmallAsItsMargin) {
  const json problem = {{"kind", "boxed_lcp"},
                        {"M", {{1, -1}, {-1, 1}}},
                        {"q", {-1, 1 - 1e-6}},
                        {"lo", {0, 0}},
                        {"hi", {nullptr, nullptr}}};
  const std::string file = scratch_.file("walls.json", problem.dump());
  json document = json::parse(carom({"solve", file, "--json"}).out);
  ASSERT_EQ(document[0]["status"], "infeasible");
  EXPECT_EQ(verified(document, {"--problem", file}).status, 0);
  document[0]["farkas"] = {1.0, 1.0 + 5e-9};
  const Outcome outcome = verified(document, {"--problem", file});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.out.find("has no bound"), std::string::npos) << outcome.out;
}

TEST_F(Verify, SwappedAnswersAreRefuted) {
  const std::string file = example("lp.json");
  json document = json::parse(carom({"solve", file, "--json"}).out);
  ASSERT_GE(document.size(), 2U);
  EXPECT_EQ(verified(document, {"--problem", file}).status, 0);
  std::swap(document[0], document[1]);
  EXPECT_EQ(verified(document, {"--problem", file}).status, 1);
}

TEST_F(Verify, OutputsOfSolveHaveTheirProblems) {
  const std::string kept = (scratch_ / "kept.h5").string();
  ASSERT_LE(carom({"solve", example("lp.json"), example("qp.json"), example("lcp.json"),
                   example("friction.json"), "--quiet", "--output", kept})
                .status,
            1);
  const Outcome judged = carom({"verify", kept, "--json"});
  EXPECT_EQ(judged.status, 0) << judged.out << judged.err;
  const json report = judged.document();
  EXPECT_EQ(report["kind"], "solve");
  EXPECT_EQ(report["solved"]["refuted"], 0);
  EXPECT_GT(report["solved"]["proven"], 3);
  expect_refusal(carom({"verify", kept, "--problem", example("lp.json")}), {"leave it out"});
  const std::string text =
      scratch_.file("answers.json", carom({"solve", example("lp.json"), "--json"}).out);
  expect_refusal(carom({"verify", text}), {"answers.json", "--problem FILE"});
  expect_refusal(carom({"verify", text, "--problem", example("lcp.json")}),
                 {"answers.json has", "must be equal"});
}

// Farkas' vectors of a friction row's three sides.
TEST_F(Verify, TreesOfBoxedProblems) {
  const std::string file = data_file("boxed_lcp/no_side.json");
  const json document = json::parse(carom({"solve", file, "--json"}).out);
  ASSERT_EQ(document[0]["status"], "infeasible");
  ASSERT_EQ(document[0]["tree"].size(), 4U);
  ASSERT_EQ(document[0]["leaf_farkas"][0].size(), 4U);
  EXPECT_EQ(verified(document, {"--problem", file}).document()["infeasible"]["proven"], 1);
  json spoiled = document;
  spoiled[0]["tree"][1][2] = spoiled[0]["tree"][2][2];
  EXPECT_EQ(verified(spoiled, {"--problem", file}).status, 1);
  spoiled = document;
  spoiled[0]["tree"].erase(3);
  spoiled[0]["leaf_farkas"].erase(2);
  EXPECT_EQ(verified(spoiled, {"--problem", file}).status, 1);
  for (std::size_t leaf = 0; leaf < 3; ++leaf) {
    spoiled = document;
    for (json& y : spoiled[0]["leaf_farkas"][leaf]) y = -y.get<double>();
    EXPECT_EQ(verified(spoiled, {"--problem", file}).status, 1) << leaf;
  }
  // The same answer to another problem.
  json other = json::parse(std::ifstream(file));
  other["q"][0] = -2;
  const std::string solvable = scratch_.file("other.json", other.dump());
  EXPECT_EQ(verified(document, {"--problem", solvable}).status, 1);
}

// What claims nothing is counted as not judged, and cannot become a claim.
TEST_F(Verify, StatusesWithoutAClaim) {
  const std::string file =
      scratch_.file("ray.json", R"({"kind": "lcp", "M": [[0, 2], [1, -3]], "q": [1, -3]})");
  json document = json::parse(carom({"solve", file, "--json"}).out);
  // feasible without a solution: a tree proves it
  ASSERT_EQ(document[0]["status"], "infeasible");
  ASSERT_GE(document[0]["tree"].size(), 3U);
  EXPECT_EQ(verified(document, {"--problem", file}).document()["infeasible"]["proven"], 1);
  json spoiled = document;
  spoiled[0]["tree"][1][2] = 1 - spoiled[0]["tree"][1][2].get<int>();
  EXPECT_EQ(verified(spoiled, {"--problem", file}).status, 1);
  spoiled = document;
  spoiled[0]["leaf_farkas"].erase(0);
  EXPECT_EQ(verified(spoiled, {"--problem", file}).status, 1);
  for (const char* key : {"tree", "leaf_farkas", "bound"}) document[0].erase(key);
  document[0]["status"] = "ray";
  const Outcome outcome = verified(document, {"--problem", file});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.document()["ray"]["not_judged"], 1);
  document[0]["status"] = "solved";
  EXPECT_EQ(verified(document, {"--problem", file}).status, 1);
}

}  // namespace
}  // namespace carom::test
