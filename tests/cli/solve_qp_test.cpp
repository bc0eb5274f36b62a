#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/command.hpp"

namespace carom::test {
namespace {

std::vector<std::string> keys_of(const std::string& dual) {
  return {dual,   "direction", "face",  "farkas", "iterations", "kind",   "method",
          "name", "objective", "point", "ray",    "residual",   "status", "x"};
}

std::vector<std::string> qp_files() {
  std::vector<std::string> files;
  for (const char* folder : {"qp", "socp"}) {
    for (const auto& entry : fs::directory_iterator(data_folder() / folder)) {
      if (entry.path().extension() == ".json") files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(SolveQpFiles, StatusObjectiveAndKeys) {
  const std::vector<std::string> files = qp_files();
  ASSERT_EQ(files.size(), 14U);
  for (const char* backend : {"cpu", "reference"}) {
    SCOPED_TRACE(backend);
    std::vector<std::string> words = {"solve", "--json", "--backend", backend};
    words.insert(words.end(), files.begin(), files.end());
    const Outcome outcome = carom(words);
    EXPECT_EQ(outcome.status, 1);  // two have no solution
    const json answers = outcome.document();
    ASSERT_EQ(answers.size(), files.size());
    for (std::size_t i = 0; i < files.size(); ++i) {
      SCOPED_TRACE(files[i]);
      const json problem = json::parse(read_text(files[i]));
      std::vector<std::string> expected_keys =
          keys_of(problem["kind"] == "qp" ? "dual" : "cone_dual");
      std::sort(expected_keys.begin(), expected_keys.end());
      EXPECT_EQ(keys(answers[i]), expected_keys);
      EXPECT_EQ(answers[i]["kind"], problem["kind"]);
      const std::string expected = problem.value("expected_status", "solved");
      if (expected != "solved") {
        EXPECT_EQ(answers[i]["status"], expected == "dual_infeasible" ? "unbounded" : "infeasible");
        EXPECT_TRUE(answers[i]["x"].is_null());
        EXPECT_TRUE(answers[i]["objective"].is_null());
        continue;
      }
      EXPECT_EQ(answers[i]["status"], "solved");
      EXPECT_LE(answers[i]["residual"].get<double>(), 1e-9);
      if (problem.contains("reference")) {
        const double objective = problem["reference"]["objective"];
        EXPECT_NEAR(answers[i]["objective"].get<double>(), objective,
                    1e-6 * (1.0 + std::fabs(objective)));
      }
    }
  }
}

TEST(SolveQpFiles, ConesByPythonsWord) {
  const Scratch scratch;
  const fs::path file = scratch / "cone.json";
  std::vector<std::string> said;
  for (const char* word : {"second_order", "soc"}) {
    write_text(file, fmt::format(R"({{"kind": "socp", "P": [[1, 0], [0, 1]], "q": [-3, 4],
                                     "A": [[0, 0], [-1, 0], [0, -1]], "b": [1, 0, 0],
                                     "cones": [["{}", 3]]}})",
                                 word));
    const Outcome outcome = carom({"solve", file.string()});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    said.push_back(outcome.out);
  }
  EXPECT_NE(said[0].find("x = (0.6, -0.8)"), std::string::npos) << said[0];
  EXPECT_EQ(said[0], said[1]);
}

TEST(SolveQpFiles, BadFilesAreRefusedByName) {
  const Scratch scratch;
  const auto refusal = [&](const char* text) {
    const fs::path file = scratch / "bad.json";
    write_text(file, text);
    const Outcome outcome = carom({"solve", file.string()});
    EXPECT_EQ(outcome.status, 2);
    return outcome.err;
  };
  EXPECT_NE(refusal(R"({"kind": "qp", "P": [[1, 0], [2, 1]], "q": [1, 1], "A": [], "l": [],
                        "u": []})")
                .find("P[1][0]"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"kind": "qp", "P": [[1]], "q": [1], "A": [[1]], "l": [0, 0], "u": [1]})")
                .find("l has 2 numbers"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"kind": "socp", "P": [[1]], "q": [1], "A": [[1]], "b": [0],
                        "cones": [["exponential", 1]]})")
                .find("exponential"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"kind": "socp", "P": [[1]], "q": [1], "A": [[1]], "b": [0],
                        "cones": [["nonneg", 2]]})")
                .find("cones has 2"),
            std::string::npos);
}

}  // namespace
}  // namespace carom::test
