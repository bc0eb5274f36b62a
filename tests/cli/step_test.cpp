#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "cli/command.hpp"

namespace carom::test {
namespace {

// The keys of the command's description and what goes with them, sorted; of an incline.
const std::vector<std::string> kStepKeys = {"backend",
                                            "displacement",
                                            "dt",
                                            "energy",
                                            "energy_start",
                                            "failed",
                                            "final_state",
                                            "height",
                                            "height_largest",
                                            "iterations_max",
                                            "iterations_mean",
                                            "max_kkt_residual",
                                            "method",
                                            "parameters",
                                            "scenario",
                                            "seconds",
                                            "seed",
                                            "status_counts",
                                            "steps",
                                            "steps_taken",
                                            "swept",
                                            "world_steps_per_second",
                                            "worlds"};

json step(std::vector<std::string> words) {
  words.insert(words.begin(), "step");
  words.emplace_back("--json");
  const Outcome outcome = carom(words);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(outcome.err.empty()) << outcome.err;
  return outcome.document();
}

json without_time(json document) {
  document.erase("seconds");
  document.erase("world_steps_per_second");
  return document;
}

TEST(Step, JsonHasExactlyTheKeysAndTheStateOfEveryWorld) {
  const json result = step({"inclined_block", "--sweep", "friction=0:0.375:4", "--set", "mass=2"});
  EXPECT_EQ(keys(result), kStepKeys);
  EXPECT_EQ(result["scenario"], "inclined_block");
  EXPECT_EQ(result["worlds"], 4);
  EXPECT_EQ(result["steps"], 100);
  EXPECT_EQ(result["dt"], 0.01);
  EXPECT_EQ(result["method"], "complementarity");
  EXPECT_EQ(result["swept"], json({"friction"}));
  EXPECT_EQ(result["parameters"]["friction"], json({0.0, 0.125, 0.25, 0.375}));
  EXPECT_EQ(result["parameters"]["mass"], 2.0);
  ASSERT_EQ(result["final_state"].size(), 4U);
  for (std::size_t world = 0; world < 4; ++world) {
    EXPECT_EQ(result["final_state"][world]["q"].size(), 7U);
    EXPECT_EQ(result["final_state"][world]["v"].size(), 6U);
    EXPECT_EQ(result["final_state"][world]["q"][0], result["displacement"][world]);
    EXPECT_EQ(result["steps_taken"][world], 100);
  }
  EXPECT_LE(result["max_kkt_residual"].get<double>(), 1e-9);
  EXPECT_EQ(result["failed"], 0);
  EXPECT_EQ(result["status_counts"], json({{"solved", 4}}));
  EXPECT_GE(result["iterations_max"].get<double>(), result["iterations_mean"].get<double>());
}

// Figure 9: a rigid block slides g/2 (sin 15 - mu cos 15) m in a second, and holds above tan 15.
TEST(Step, InclinedBlocksSlideAsCoulombSays) {
  const json result = step({"inclined_block", "--sweep", "friction=0:0.375:4"});
  const double angle = 15.0 * std::numbers::pi / 180.0;
  for (std::size_t world = 0; world < 3; ++world) {
    const double friction = result["parameters"]["friction"][world];
    const double rigid = 0.5 * 9.81 * (std::sin(angle) - friction * std::cos(angle));
    const double way = result["displacement"][world];
    EXPECT_NEAR(way, rigid, 0.02 * rigid);
  }
  EXPECT_LT(std::fabs(result["displacement"][3].get<double>()), 1e-6);
}

TEST(Step, ManyWorldsAreReportedByTheirRanges) {
  const json result = step({"inclined_block", "--worlds", "80", "--random", "friction=0:0.4",
                            "--steps", "10", "--seed", "3"});
  EXPECT_EQ(keys(result), kStepKeys);
  EXPECT_EQ(keys(result["final_state"]), (std::vector<std::string>{"q", "v"}));
  const json& q = result["final_state"]["q"];
  EXPECT_EQ(keys(q), (std::vector<std::string>{"max", "mean", "min"}));
  ASSERT_EQ(q["mean"].size(), 7U);
  ASSERT_EQ(result["displacement"].size(), 80U);
  const std::vector<double> way = result["displacement"];
  EXPECT_EQ(q["min"][0].get<double>(), *std::min_element(way.begin(), way.end()));
  EXPECT_EQ(q["max"][0].get<double>(), *std::max_element(way.begin(), way.end()));
  EXPECT_NEAR(q["mean"][0].get<double>(), std::accumulate(way.begin(), way.end(), 0.0) / 80.0,
              1e-15);
  for (const json& friction : result["parameters"]["friction"]) {
    EXPECT_GE(friction.get<double>(), 0.0);
    EXPECT_LT(friction.get<double>(), 0.4);
  }
}

TEST(Step, DrawsAreAFunctionOfSeedAndWorld) {
  const auto frictions = [](const char* worlds, const char* seed) {
    return step({"inclined_block", "--worlds", worlds, "--random", "friction=0.1:0.4", "--steps",
                 "1", "--seed", seed})["parameters"]["friction"]
        .get<std::vector<double>>();
  };
  const std::vector<double> few = frictions("3", "5");
  const std::vector<double> many = frictions("9", "5");
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
  EXPECT_NE(few, frictions("3", "6"));
  const json drawn = step(
      {"inclined_block", "--worlds", "50", "--random", "stiffness=1e6:1e12:log", "--steps", "1"});
  int below = 0;
  for (const json& stiffness : drawn["parameters"]["stiffness"]) {
    below += stiffness.get<double>() < 1e9 ? 1 : 0;
  }
  EXPECT_GT(below, 10);  // the middle of the exponents, not of the numbers
  EXPECT_LT(below, 40);
}

TEST(Step, SweepsMakeAGridWithTheFirstTheSlowest) {
  const json result = step({"pendulum_joint", "--sweep", "length=1:2:2", "--sweep",
                            "stiffness=1e8:1e12:3:log", "--steps", "5"});
  EXPECT_EQ(result["worlds"], 6);
  EXPECT_EQ(result["swept"], json({"length", "stiffness"}));
  EXPECT_EQ(result["parameters"]["length"], json({1.0, 1.0, 1.0, 2.0, 2.0, 2.0}));
  const std::vector<double> stiffness = result["parameters"]["stiffness"];
  const std::vector<double> expected = {1e8, 1e10, 1e12, 1e8, 1e10, 1e12};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(stiffness[i] / expected[i], 1.0, 1e-12);
}

TEST(Step, SeveralWorldsMayShareAGridPointWhereSomethingIsDrawn) {
  const json result = step({"inclined_block", "--sweep", "friction=0:0.2:2", "--random", "mass=1:2",
                            "--worlds", "4", "--steps", "2"});
  EXPECT_EQ(result["parameters"]["friction"], json({0.0, 0.2, 0.0, 0.2}));
  EXPECT_NE(result["parameters"]["mass"][0], result["parameters"]["mass"][2]);
}

// O(h^2): a tenth of the step size gives a hundredth of the deviation.
TEST(Step, StepSizesAreSweptOverTheSameTime) {
  const json result = step({"pendulum_joint", "--sweep", "dt=1e-3:1e-2:2", "--time", "0.5"});
  EXPECT_EQ(result["dt"], json({1e-3, 1e-2}));
  EXPECT_EQ(result["steps"], json({500, 50}));
  const double ratio =
      result["displacement"][1].get<double>() / result["displacement"][0].get<double>();
  EXPECT_NEAR(ratio, 100.0, 20.0);
}

TEST(Step, OwnStepSizeStillCoversTheRecommendedTime) {
  EXPECT_EQ(step({"inclined_block", "--dt", "0.05"})["steps"], 20);
  EXPECT_EQ(step({"inclined_block", "--dt", "0.05", "--steps", "3"})["steps"], 3);
}

// Worlds of different shapes: each is what it is alone.
TEST(Step, SizesMayBeSwept) {
  const json all = step({"sphere_stack", "--sweep", "spheres=1:5:3", "--steps", "20"});
  EXPECT_EQ(all["parameters"]["spheres"], json({1.0, 3.0, 5.0}));
  const json alone = step({"sphere_stack", "--set", "spheres=3", "--steps", "20"});
  EXPECT_EQ(all["final_state"][1], alone["final_state"][0]);
  EXPECT_EQ(all["final_state"][2]["q"].size(), 30U);
}

TEST(Step, ThreadsDoNotChangeAnything) {
  const auto with = [](const char* threads) {
    const Outcome outcome = carom({"step", "inclined_block", "--sweep", "friction=0:0.4:13",
                                   "--steps", "30", "--json", "--threads", threads});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return without_time(outcome.document());
  };
  EXPECT_EQ(with("1"), with("2"));
}

TEST(Step, CompliantImpactsReportTheCornersVelocities) {
  const json result = step({"compliant_block_impact", "--sweep", "stiffness_ratio=1e-3:1e3:3:log"});
  ASSERT_EQ(result["normal_velocity"].size(), 3U);
  // the softer corner is still pressed when the stiffer one is done: opposite ends mirror
  const json& n = result["normal_velocity"];
  EXPECT_NEAR(n[0][0].get<double>(), n[2][1].get<double>(), 1e-9);
  EXPECT_NEAR(n[0][1].get<double>(), n[2][0].get<double>(), 1e-9);
  EXPECT_GT(std::fabs(n[0][0].get<double>() - n[0][1].get<double>()), 0.01);
  EXPECT_NEAR(n[1][0].get<double>(), n[1][1].get<double>(), 1e-9);
  EXPECT_LT(result["steps_taken"][1].get<int>(), 40000);
}

TEST(Step, TextIsATableAndQuietIsSilent) {
  const Outcome text = carom({"step", "inclined_block", "--sweep", "friction=0:0.3:3"});
  EXPECT_EQ(text.status, 0);
  EXPECT_TRUE(text.err.empty()) << text.err;
  for (const char* word : {"inclined_block", "friction", "displacement", "distance slid", "solved",
                           "largest residual", "world steps"}) {
    EXPECT_NE(text.out.find(word), std::string::npos) << word;
  }
  const Outcome many = carom(
      {"step", "inclined_block", "--worlds", "40", "--random", "friction=0:1", "--steps", "2"});
  EXPECT_NE(many.out.find("least"), std::string::npos) << many.out;
  EXPECT_NE(many.out.find("solved: 40 worlds"), std::string::npos) << many.out;
  const Outcome quiet = carom({"step", "inclined_block", "--steps", "2", "--quiet"});
  EXPECT_EQ(quiet.status, 0);
  EXPECT_TRUE(quiet.out.empty() && quiet.err.empty());
}

// Figure 1: explicit Euler explodes at 2.1e5 N s/m, which is not the next world's affair.
TEST(Step, AWorldThatBreaksFailsAlone) {
  const std::vector<std::string> words = {
      "step", "spring_mass_damper", "--set", "integrator=0", "--steps", "20000", "--json"};
  std::vector<std::string> both = words;
  both.insert(both.end(), {"--sweep", "damping=2e5:2.1e5:2"});
  const Outcome outcome = carom(both);
  EXPECT_EQ(outcome.status, 1);
  const json result = outcome.document();
  EXPECT_EQ(result["failed"], 1);
  EXPECT_TRUE(result["displacement"][1].is_null());
  EXPECT_TRUE(result["max_kkt_residual"].is_null());
  std::vector<std::string> stable = words;
  stable.insert(stable.end(), {"--set", "damping=2e5"});
  const Outcome alone = carom(stable);
  EXPECT_EQ(alone.status, 0) << alone.err;
  EXPECT_EQ(result["final_state"][0], alone.document()["final_state"][0]);
}

TEST(Step, ReferenceAgrees) {
  const std::vector<std::string> words = {"pendulum_joint", "--steps", "20", "--backend"};
  const auto on = [&words](const char* backend) {
    std::vector<std::string> all = words;
    all.emplace_back(backend);
    return step(all);
  };
  const json fast = on("cpu");
  const json plain = on("reference");
  EXPECT_EQ(plain["backend"], "reference");
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(fast["final_state"][0]["q"][i].get<double>(),
                plain["final_state"][0]["q"][i].get<double>(), 1e-12);
  }
}

struct Refusal {
  std::vector<std::string> words;
  std::vector<std::string> named;
};

TEST(Step, BadInputIsRefusedByName) {
  const std::string block = "inclined_block";
  const std::vector<Refusal> refusals = {
      {{"inclined_blok"}, {"inclined_blok", "inclined_block", "sphere_stack"}},
      {{"/"}, {"folder", "inclined_block"}},
      {{block, "--set", "frictoin=1"}, {"frictoin", "friction", "tangent_damping"}},
      {{block, "--sweep", "frictoin=0:1:3"}, {"frictoin", "friction"}},
      {{block, "--set", "friction=-0.5"}, {"friction", "-0.5"}},
      {{block, "--sweep", "friction=-1:1:5"}, {"friction", "world 0", "-1"}},
      {{block, "--sweep", "friction=0:1:5", "--worlds", "7"}, {"--worlds", "7", "friction 5"}},
      {{block, "--sweep", "friction=0:1:5", "--random", "mass=1:2", "--worlds", "7"},
       {"--worlds", "7", "multiple"}},
      {{block, "--sweep", "friction=0:1:5", "--set", "friction=1"}, {"--sweep", "--set"}},
      {{block, "--sweep", "dt=0.1:1:5", "--dt", "0.1"}, {"--sweep", "--dt"}},
      {{block, "--sweep", "friction=0:1"}, {"--sweep friction=0:1", "LO:HI:N"}},
      {{block, "--sweep", "friction=0:1:3:lin"}, {"LO:HI:N"}},
      {{block, "--sweep", "friction=0:1:3:log"}, {"> 0"}},
      {{block, "--sweep", "friction=0:one:3"}, {"one", "finite number"}},
      {{block, "--sweep", "friction=0:1:1"}, {"2 or more"}},
      {{block, "--random", "dt=0.1:1"}, {"--random", "step size"}},
      {{block, "--dt", "0"}, {"--dt", "0"}},
      {{block, "--dt", "-1"}, {"--dt", "-1"}},
      {{block, "--steps", "0"}, {"--steps", "0"}},
      {{block, "--steps", "5", "--time", "1"}, {"--steps", "--time"}},
      {{block, "--stride", "0"}, {"--stride", "0"}},
      {{block, "--tolerance", "-1"}, {"tolerance", "-1"}},
      {{block, "--normal-weight", "2"}, {"--normal-weight", "2", "programme"}},
      {{block, "--law", "programme", "--normal-weight", "-1"}, {"--normal-weight", "-1"}},
      {{block, "--law", "hooke"}, {"--law", "hooke"}},
      {{block, "--method", "admm"}, {"--method", "admm", "programme"}},
      {{block, "--backend", "gpu"}, {"--backend", "gpu"}},
      {{block, "--output", "states.csv"}, {"--output", ".h5"}},
      {{block, "--plot", "states.pdf"}, {"--plot", ".svg"}},
      {{"sphere_stack", "--set", "spheres=2.5"}, {"spheres", "2.5", "whole"}},
  };
  for (const Refusal& refusal : refusals) {
    std::vector<std::string> words = {"step"};
    words.insert(words.end(), refusal.words.begin(), refusal.words.end());
    const Outcome outcome = carom(words);
    EXPECT_EQ(outcome.status, 2) << outcome.err;
    EXPECT_TRUE(outcome.out.empty()) << outcome.out;
    EXPECT_EQ(outcome.complaints(), 1U) << outcome.err;
    for (const std::string& name : refusal.named) {
      EXPECT_NE(outcome.err.find(name), std::string::npos) << name << " in: " << outcome.err;
    }
  }
}

/// The paper's own programme over time: it hops where the laws slide.
TEST(Step, ScenariosStepByTheProgrammeToo) {
  const std::vector<std::string> words = {
      "step", "inclined_block", "--sweep", "friction=0:0.375:4", "--json", "--law"};
  const auto by = [&](const char* law) {
    std::vector<std::string> all = words;
    all.emplace_back(law);
    const Outcome outcome = carom(all);
    EXPECT_LE(outcome.status, 1) << outcome.err;  // one step of 400 misses 1e-9
    return outcome.document();
  };
  const json laws = by("complementarity");
  const json programme = by("programme");
  EXPECT_EQ(programme["method"], "programme");
  for (const auto& [key, value] : laws.items()) EXPECT_TRUE(programme.contains(key)) << key;
  EXPECT_NEAR(programme["displacement"][0].get<double>(), laws["displacement"][0].get<double>(),
              1e-6);
  for (const json& height : laws["height_largest"]) EXPECT_LE(height.get<double>(), 1e-6);
  EXPECT_NEAR(programme["height_largest"][1].get<double>(), 1.27824, 1e-3);
  EXPECT_NEAR(programme["height_largest"][2].get<double>(), 0.23113, 1e-3);
  EXPECT_LE(programme["max_kkt_residual"].get<double>(), 1e-7);
}

TEST(Step, ValidateTakesTheStepsOnTwoBackends) {
  const Outcome outcome = carom({"validate", "pendulum_joint", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const json result = outcome.document()[0];
  EXPECT_EQ(result["model"], "pendulum_joint");
  EXPECT_EQ(result["backends"], json({"cpu", "reference"}));
  EXPECT_EQ(result["worlds"], 4);
  EXPECT_EQ(result["disagreements"], 0);
  EXPECT_LE(result["max_difference"].get<double>(), 1e-9);
  EXPECT_EQ(result["worst"]["velocity"][1].size(), 3U);
}

TEST(Step, ModelsListsTheScenarios) {
  const json model = carom({"models", "inclined_block", "--json"}).document();
  EXPECT_EQ(model["command"], "step");
  EXPECT_EQ(model["dt"], 0.01);
  EXPECT_EQ(model["positions"].size(), 7U);
  const Outcome text = carom({"models"});
  for (const char* name : {"carom step", "elastic_foundation", "compliant_block_impact"}) {
    EXPECT_NE(text.out.find(name), std::string::npos) << name;
  }
}

/// Worlds of a run, stepped by themselves: what is drawn is the same.
TEST(Step, ShardsOfWorldsMakeTheWhole) {
  const std::vector<std::string> words = {"inclined_block", "--random", "friction=0:0.5"};
  const auto run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = words;
    all.insert(all.end(), more.begin(), more.end());
    return step(all);
  };
  const json whole = run({"--worlds", "6"});
  const json part = run({"--worlds", "2", "--first-world", "3"});
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(part["parameters"]["friction"][i], whole["parameters"]["friction"][3 + i]);
    EXPECT_EQ(part["final_state"][i], whole["final_state"][3 + i]);
  }
  const json grid = step({"inclined_block", "--sweep", "friction=0:0.5:6"});
  const json cell = step(
      {"inclined_block", "--sweep", "friction=0:0.5:6", "--worlds", "1", "--first-world", "4"});
  EXPECT_EQ(cell["parameters"]["friction"][0], grid["parameters"]["friction"][4]);
  const Outcome refused = carom({"step", "inclined_block", "--first-world", "3"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("--worlds"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace carom::test
