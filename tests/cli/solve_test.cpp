#include <gtest/gtest.h>

#include <cmath>

#include "cli/command.hpp"

namespace carom::test {
namespace {

const std::vector<std::string> kSolveKeys = {"farkas",   "iterations", "kind", "name",
                                             "residual", "status",     "w",    "x"};

std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(data_folder() / folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// max|min(z, M z + q)| / max|q|, from the file's own numbers.
double lcp_residual(const json& problem, const json& z) {
  double worst = 0.0;
  double scale = 0.0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    double w = problem["q"][i];
    for (std::size_t j = 0; j < z.size(); ++j) {
      w += problem["M"][i][j].get<double>() * z[j].get<double>();
    }
    worst = std::max(worst, std::fabs(std::min(w, z[i].get<double>())));
    scale = std::max(scale, std::fabs(problem["q"][i].get<double>()));
  }
  return worst / scale;
}

Outcome solve(const std::vector<std::string>& files) {
  std::vector<std::string> words = {"solve", "--json"};
  words.insert(words.end(), files.begin(), files.end());
  return carom(words);
}

TEST(Solve, LinearComplementarityProblems) {
  const std::vector<std::string> files = files_of("lcp");
  ASSERT_FALSE(files.empty());
  const Outcome outcome = solve(files);
  const json answers = outcome.document();
  ASSERT_EQ(answers.size(), files.size());
  bool all_solved = true;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const json problem = json::parse(read_text(files[i]));
    EXPECT_EQ(keys(answers[i]), kSolveKeys);
    EXPECT_EQ(answers[i]["name"], problem["name"]);
    EXPECT_EQ(answers[i]["kind"], "lcp");
    EXPECT_EQ(answers[i]["w"].is_null(), answers[i]["x"].is_null());
    all_solved = all_solved && answers[i]["status"] == "solved";
    if (answers[i]["status"] == "solved") {
      EXPECT_LE(lcp_residual(problem, answers[i]["x"]), 1e-9) << files[i];
      EXPECT_EQ(problem["solvable"], true);
    } else {
      EXPECT_TRUE(answers[i]["x"].is_null()) << files[i];
      EXPECT_EQ(problem["exact_lemke"]["outcome"], "ray") << files[i];
    }
  }
  EXPECT_EQ(outcome.status, all_solved ? 0 : 1);
}

TEST(Solve, FrictionProblems) {
  const std::vector<std::string> files = files_of("fc3d");
  ASSERT_FALSE(files.empty());
  const Outcome outcome = solve(files);
  const json answers = outcome.document();
  ASSERT_EQ(answers.size(), files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    const json problem = json::parse(read_text(files[i]));
    EXPECT_EQ(answers[i]["kind"], "coulomb_friction");
    if (answers[i]["status"] != "solved") continue;
    EXPECT_LE(answers[i]["residual"].get<double>(), 1e-9);
    // reactions lie in their cones
    const std::size_t dimension = problem["dim"];
    double largest = 0.0;
    for (const json& value : answers[i]["x"]) {
      largest = std::max(largest, std::fabs(value.get<double>()));
    }
    const double rounding = 1e-12 * largest;
    for (std::size_t c = 0; c < problem["mu"].size(); ++c) {
      const json& r = answers[i]["x"];
      double tangential = 0.0;
      for (std::size_t k = 1; k < dimension; ++k) {
        tangential = std::hypot(tangential, r[c * dimension + k].get<double>());
      }
      const double normal = r[c * dimension];
      EXPECT_GE(normal, -rounding) << files[i] << ", contact " << c;
      EXPECT_LE(tangential, problem["mu"][c].get<double>() * normal + rounding)
          << files[i] << ", contact " << c;
    }
  }
}

TEST(Solve, OneUnsolvedProblemIsStatusOne) {
  const Scratch scratch;
  const std::string good = scratch.file("good.json", R"({"kind": "lcp", "M": [[2]], "q": [-1]})");
  const std::string bad = scratch.file("bad.json", R"({"kind": "lcp", "M": [[-1]], "q": [-1]})");
  EXPECT_EQ(carom({"solve", good}).status, 0);
  const Outcome outcome = carom({"solve", bad, good, "--json"});
  EXPECT_EQ(outcome.status, 1);
  const json answers = outcome.document();
  EXPECT_EQ(answers[0]["name"], "bad");  // the file's name where it has none of its own
  EXPECT_EQ(answers[0]["status"], "infeasible");
  EXPECT_GT(answers[0]["farkas"][0].get<double>(), 0.0);
  EXPECT_TRUE(answers[0]["x"].is_null());
  EXPECT_EQ(answers[1]["status"], "solved");
  EXPECT_DOUBLE_EQ(answers[1]["x"][0], 0.5);
  const Outcome text = carom({"solve", bad, good});
  EXPECT_NE(text.out.find("infeasible"), std::string::npos);
}

TEST(Solve, BackendsAgree) {
  const Scratch scratch;
  const std::string file =
      scratch.file("p.json", R"({"kind": "lcp", "M": [[2, -1], [-1, 1]], "q": [-1, -0.5]})");
  for (const char* backend : {"cpu", "reference"}) {
    const json answer = carom({"solve", file, "--backend", backend, "--json"}).document()[0];
    EXPECT_NEAR(answer["x"][0].get<double>(), 1.5, 1e-12) << backend;
    EXPECT_NEAR(answer["x"][1].get<double>(), 2.0, 1e-12) << backend;
  }
}

TEST(Solve, BadFilesAreRefused) {
  const Scratch scratch;
  const auto refused = [&scratch](const std::string& text, const std::vector<std::string>& words) {
    const Outcome outcome = carom({"solve", scratch.file("p.json", text), "--json"});
    EXPECT_EQ(outcome.status, 2) << outcome.err;
    EXPECT_TRUE(outcome.out.empty());
    EXPECT_EQ(outcome.complaints(), 1U) << outcome.err;
    for (const std::string& word : words) {
      EXPECT_NE(outcome.err.find(word), std::string::npos) << word << " not in " << outcome.err;
    }
  };
  refused(R"({"kind": "sdp"})", {"\"sdp\"", "lcp", "coulomb_friction"});
  refused(R"({"B": [[1]], "q": [1]})", {"kind is missing"});
  refused(R"([1])", {"object"});
  refused(R"({"kind": "lcp", "M": [[1, 2], [3]], "q": [1, 1]})", {"M[1] has 1"});
  refused(R"({"kind": "lcp", "M": [[1]], "q": [1, 1]})", {"M is 1 x 1", "2 x 2"});
  refused(R"({"kind": "lcp", "M": [], "q": []})", {"q is empty"});
  refused(R"({"kind": "lcp", "M": [["x"]], "q": [1]})", {"M[0][0] is \"x\""});
  refused(R"({"kind": "lcp", "n": 2, "M": [[1]], "q": [1]})", {"n is 2"});
  refused(R"({"kind": "coulomb_friction", "dim": 4, "W": [], "q": [], "mu": []})", {"dim is 4"});
  refused(R"({"kind": "coulomb_friction", "dim": 2, "W": [[1, 0], [0, 1]], "q": [1, 0],
             "mu": [-0.1]})",
          {"mu[0] is -0.1", ">= 0"});
  refused(R"({"kind": "coulomb_friction", "dim": 3, "W": [[1, 0], [0, 1]], "q": [1, 0],
             "mu": [0.1]})",
          {"q has 2 numbers", "must have 3"});
}

}  // namespace
}  // namespace carom::test
