#include <gtest/gtest.h>

#include "cli/command.hpp"

namespace carom::test {
namespace {

const std::vector<std::string> kBenchKeys = {
    "backend", "certified", "fallback",           "lcps_per_second", "max_residual",
    "ratio",   "samples",   "samples_per_second", "seconds",         "threads"};

std::vector<std::string> bench(std::vector<std::string> more) {
  std::vector<std::string> words = {"bench", "rocking_block", "--samples", "2000", "--repetitions",
                                    "2",     "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Bench, MeasuresReferenceAndBothThreadCounts) {
  const Outcome outcome = carom(bench({"--threads", "2"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(outcome.err.empty()) << outcome.err;
  const json document = outcome.document();
  EXPECT_EQ(document["target"], "rocking_block");
  EXPECT_EQ(document["problems"], 1);
  const json& results = document["results"];
  ASSERT_GE(results.size(), 3U);
  EXPECT_EQ(results[0]["backend"], "reference");
  EXPECT_EQ(results[0]["samples"], 1024);
  EXPECT_EQ(results[0]["ratio"], 1.0);
  EXPECT_EQ(results[1]["backend"], "cpu");
  EXPECT_EQ(results[1]["threads"], 1);
  EXPECT_EQ(results[2]["backend"], "cpu");
  EXPECT_EQ(results[2]["threads"], 2);
  for (const json& result : results) {
    EXPECT_EQ(keys(result), kBenchKeys);
    EXPECT_EQ(result["seconds"].size(), 2U);
    EXPECT_EQ(result["certified"], 1.0);
    EXPECT_LE(result["max_residual"].get<double>(), 1e-9);
    EXPECT_GT(result["samples_per_second"].get<double>(), 0.0);
    // every trajectory of the block takes a step at least
    EXPECT_GE(result["lcps_per_second"], result["samples_per_second"]);
  }
  EXPECT_EQ(results[1]["samples"], 2000);
  const double first = results[0]["samples_per_second"].get<double>();
  EXPECT_DOUBLE_EQ(results[1]["ratio"].get<double>(),
                   results[1]["samples_per_second"].get<double>() / first);
}

TEST(Bench, OneBackendIsMeasuredAlone) {
  const json results = carom(bench({"--backend", "reference"})).document()["results"];
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0]["backend"], "reference");
  EXPECT_EQ(results[0]["samples"], 2000);
}

TEST(Bench, SetChangesTheProblem) {
  const auto solves = [](const std::string& approach) {
    const json result =
        carom(bench({"--backend", "cpu", "--threads", "1", "--set", approach})).document();
    const json& only = result["results"][0];
    return only["lcps_per_second"].get<double>() / only["samples_per_second"].get<double>();
  };
  EXPECT_GT(std::abs(solves("friction=1") - solves("friction=0.1")), 1e-3);
}

TEST(Bench, FilesWithSeveralProblemsAreOneContest) {
  json light = block();
  light["velocity"][1] = -1.0;
  const Scratch scratch;
  const std::string file = scratch.file("two.json", json::array({block(), light}).dump());
  const Outcome outcome =
      carom({"bench", file, "--samples", "100", "--repetitions", "1", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.document()["problems"], 2);
}

TEST(Bench, TextIsATableAndQuietIsSilent) {
  const std::vector<std::string> words = {"bench", "rocking_block", "--samples",
                                          "64",    "--repetitions", "1"};
  const Outcome text = carom(words);
  EXPECT_EQ(text.status, 0) << text.err;
  for (const char* word : {"backend", "reference", "cpu", "samples/s", "LCPs/s", "certified"}) {
    EXPECT_NE(text.out.find(word), std::string::npos) << word;
  }
  std::vector<std::string> silent = words;
  silent.emplace_back("--quiet");
  EXPECT_TRUE(carom(silent).out.empty());
}

TEST(Bench, BadNumbersAreRefused) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--repetitions", "0"}, {"--repetitions", "two"}}) {
    const Outcome outcome = carom(bench(more));
    EXPECT_EQ(outcome.status, 2);
    EXPECT_TRUE(outcome.out.empty());
    EXPECT_EQ(outcome.complaints(), 1U) << outcome.err;
    EXPECT_NE(outcome.err.find("--repetitions"), std::string::npos) << outcome.err;
  }
}

TEST(Bench, OtherFamiliesAreMeasuredToo) {
  const Scratch scratch;
  const std::string lcp =
      scratch.file("lcp.json", R"({"kind": "lcp", "M": [[2, 1], [1, 2]], "q": [-1, -1]})");
  const std::string tripod = scratch.file("tripod.json", R"({"dimension": 3, "contacts": [
    {"position": [0, 0, 0], "normal": [0, 0, 1], "friction": 0.4},
    {"position": [1, 0, 0], "normal": [0, 0, 1], "friction": 0.4},
    {"position": [0, 1, 0], "normal": [0, 0, 1], "friction": 0.4}]})");
  const std::string walker = scratch.file("walker.json", R"({"angle": 0.2, "contacts": [
    {"l": -0.3, "h": 1, "friction": 0.9}, {"l": 0.8, "h": 0.9, "friction": 0.9}]})");
  const std::string pendulum = scratch.file("pendulum.json", R"({"mechanism": {"floating": false,
    "links": [{"name": "rod", "mass": 1.0, "inertia": 0.1, "mass_centre": [0.0, -1.0]}],
    "half_spaces": [{"normal": [1.0, 0.0], "offset": -0.5}],
    "contacts": [{"name": "end", "link": "rod", "point": [0.0, -1.0], "friction": 0.2}]},
    "position": [0.4], "duration": 1.0})");
  const std::string spring = scratch.file("spring.json", R"({"mass_matrix": [[2]], "force": [0],
    "velocity": [-1], "dt": 0.01, "constraints": [{"type": "unilateral", "jacobian": [1],
    "phi": [-0.001], "stiffness": 1e4, "damping": 10}]})");
  const struct {
    std::string target;
    const char* unit;
    std::int64_t units;
  } cases[] = {{"pendulum_limit", "world steps", 3000},
               {"two_contacts", "postures", 3},
               {"figure2", "stances", 3},
               {"rocking_block_zeno", "motions", 3},
               {lcp, "problems", 3},
               {tripod, "postures", 3},
               {walker, "stances", 3},
               {pendulum, "motions", 3},
               {spring, "steps", 3}};
  for (const auto& one : cases) {
    const Outcome outcome = carom({"bench", one.target, "--samples", "3", "--repetitions", "2",
                                   "--backend", "cpu", "--threads", "1", "--json"});
    ASSERT_EQ(outcome.status, 0) << one.target << outcome.err;
    const json document = outcome.document();
    EXPECT_EQ(document["unit"], one.unit);
    ASSERT_EQ(document["results"].size(), 1U);
    const json& result = document["results"][0];
    EXPECT_EQ(result["units"], one.units) << one.target;
    EXPECT_EQ(result["failed"], 0) << one.target;
    EXPECT_EQ(result["seconds"].size(), 2U);
    EXPECT_GT(result["per_second"].get<double>(), 0.0);
  }
  const Outcome both = carom({"bench", "inclined_block", "--samples", "2", "--repetitions", "1"});
  EXPECT_EQ(both.status, 0) << both.err;
  for (const char* word : {"reference", "cpu", "world steps/s", "failed"}) {
    EXPECT_NE(both.out.find(word), std::string::npos) << word;
  }
  for (const std::string& spatial : {std::string("tripod_flat"), tripod}) {
    const Outcome slow = carom({"bench", spatial, "--backend", "reference", "--samples", "1",
                                "--repetitions", "1", "--json"});
    ASSERT_EQ(slow.status, 0) << slow.err;
    EXPECT_EQ(slow.document()["results"][0]["failed"], 0) << spatial;
  }
  const Outcome wrong = carom({"bench", "inclined_block", "--set", "frictoin=1"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.err.find("friction"), std::string::npos) << wrong.err;
}

TEST(Bench, HelpHasAnExample) {
  const Outcome outcome = carom({"bench", "--help"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.out.find("Example: carom bench"), std::string::npos);
}

}  // namespace
}  // namespace carom::test
