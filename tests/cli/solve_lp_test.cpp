#include <gtest/gtest.h>

#include <cmath>

#include "cli/command.hpp"

namespace carom::test {
namespace {

TEST(SolveLpFiles, StoredProblems) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(data_folder() / "lp")) {
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  ASSERT_EQ(files.size(), 12U);
  for (const char* backend : {"cpu", "reference"}) {
    SCOPED_TRACE(backend);
    std::vector<std::string> words = {"solve", "--json", "--backend", backend};
    words.insert(words.end(), files.begin(), files.end());
    const Outcome outcome = carom(words);
    EXPECT_EQ(outcome.status, 1);  // some are infeasible
    const json answers = outcome.document();
    ASSERT_EQ(answers.size(), files.size());
    for (std::size_t i = 0; i < files.size(); ++i) {
      SCOPED_TRACE(files[i]);
      const json problem = json::parse(read_text(files[i]));
      EXPECT_EQ(keys(answers[i]), (std::vector<std::string>{
                                      "dual", "farkas", "iterations", "kind", "name", "objective",
                                      "point", "ray", "reduced_costs", "residual", "status", "x"}));
      EXPECT_EQ(answers[i]["kind"], "lp");
      EXPECT_EQ(answers[i]["name"], problem["name"]);
      if (problem["expected_status"] == "optimal") {
        EXPECT_EQ(answers[i]["status"], "solved");
        EXPECT_LE(answers[i]["residual"].get<double>(), 1e-9);
        const double stated = problem.contains("shipped_objective")
                                  ? problem["shipped_objective"].get<double>()
                                  : problem["reference"]["objective_highs"].get<double>();
        EXPECT_NEAR(answers[i]["objective"].get<double>(), stated,
                    1e-9 * (1.0 + std::fabs(stated)));
        EXPECT_EQ(answers[i]["x"].size(), problem["c"].size());
      } else {
        EXPECT_EQ(answers[i]["status"], "infeasible");
        EXPECT_TRUE(answers[i]["x"].is_null());
        EXPECT_TRUE(answers[i]["objective"].is_null());
      }
    }
  }
}

TEST(SolveLpFiles, SenseOffsetAndAbsentBounds) {
  const Scratch scratch;
  const std::string most = scratch.file(
      "most.json", R"({"kind": "lp", "sense": "max", "c": [1, 1], "offset": 10, "A": [[1, 2]],
                      "row_lower": [null], "row_upper": [4], "col_lower": [0, 0],
                      "col_upper": [3, null]})");
  const std::string endless =
      scratch.file("endless.json", R"({"kind": "lp", "c": [1], "A": [[1]], "row_lower": [null],
                         "row_upper": [4], "col_lower": [null], "col_upper": [null]})");
  const Outcome outcome = carom({"solve", most, endless, "--json"});
  const json answers = outcome.document();
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(answers[0]["status"], "solved");
  EXPECT_DOUBLE_EQ(answers[0]["objective"].get<double>(), 13.5);
  EXPECT_DOUBLE_EQ(answers[0]["x"][0].get<double>(), 3.0);
  EXPECT_DOUBLE_EQ(answers[0]["x"][1].get<double>(), 0.5);
  EXPECT_EQ(answers[1]["status"], "unbounded");
  EXPECT_TRUE(answers[1]["objective"].is_null());
}

// The pair of bounds is the proof, docs/howto/check_a_proof.md.
TEST(SolveLpFiles, CrossedBoundsAreInfeasible) {
  const Scratch scratch;
  const Outcome outcome = carom(
      {"solve", scratch.file("p.json", R"({"kind": "lp", "c": [1], "A": [[1]], "row_lower": [0],
                    "row_upper": [null], "col_lower": [2], "col_upper": [1]})"),
       "--json"});
  EXPECT_EQ(outcome.status, 1);
  const json answer = outcome.document()[0];
  EXPECT_EQ(answer["status"], "infeasible");
  EXPECT_TRUE(answer["x"].is_null());
}

TEST(SolveLpFiles, BadFilesAreRefused) {
  const Scratch scratch;
  const json good = json::parse(R"({"kind": "lp", "c": [1, 2], "A": [[1, 2]], "row_lower": [0],
                                   "row_upper": [null], "col_lower": [0, 0],
                                   "col_upper": [1, 1]})");
  const auto refused = [&](const char* key, const json& value,
                           const std::vector<std::string>& words) {
    json spoiled = good;
    spoiled[key] = value;
    const Outcome outcome = carom({"solve", scratch.file("p.json", spoiled.dump()), "--json"});
    EXPECT_EQ(outcome.status, 2) << outcome.err;
    EXPECT_EQ(outcome.complaints(), 1U) << outcome.err;
    for (const std::string& word : words) {
      EXPECT_NE(outcome.err.find(word), std::string::npos) << word << " not in " << outcome.err;
    }
  };
  EXPECT_EQ(carom({"solve", scratch.file("good.json", good.dump())}).status, 0);
  refused("c", json::array(), {"c is empty"});
  refused("A", json::array(), {"row_lower has 1", "0"});  // an LP may have no rows
  refused("A", {{1, 2, 3}}, {"A has 3 columns", "2"});
  refused("row_lower", {0, 0}, {"row_lower has 2", "1"});
  refused("col_upper", {1, "x"}, {"col_upper[1] is \"x\""});
  refused("sense", "best", {"sense is \"best\"", "min or max"});
  refused("m", 2, {"m is 2"});
  refused("n", 3, {"n is 3"});
  refused("offset", "x", {"offset is \"x\""});
}

}  // namespace
}  // namespace carom::test
