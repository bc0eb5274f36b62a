#include <gtest/gtest.h>

#include <cmath>

#include "cli/command.hpp"
#include "cli/refusal.hpp"

namespace carom::test {
namespace {

json without_seconds(json document) {
  document.erase("seconds");
  document.erase("samples_per_second");
  document.erase("parameters");
  document.erase("model");
  return document;
}

// A body on one level contact each side of the middle, pushed sideways by 0.3 of its weight: held
// where the friction is 0.3 or more.
json pushed_block() {
  return json::parse(R"({"name": "pushed", "contacts": [
    {"position": [0, 0], "normal": [0, 1], "friction": 0.5},
    {"position": [1, 0], "normal": [0, 1], "friction": 0.5}],
    "wrench": {"force": [0.3, -1], "torque": 0}})");
}

TEST(Sweeps, OfPosturesSayWhatIsHeld) {
  const Scratch scratch;
  const std::string file = scratch.file("pushed.json", pushed_block().dump());
  const std::vector<std::string> base = {"equilibrium", file, "--centre-of-mass", "0.5,0.2"};
  std::vector<std::string> words = base;
  words.insert(words.end(), {"--sweep", "friction=0.1:0.5:5", "--json"});
  const json points = carom(words).document();
  ASSERT_EQ(points.size(), 5U);
  for (const json& point : points) {
    const double mu = point["parameters"]["friction"];
    EXPECT_EQ(point["probe"]["held"], mu > 0.3) << mu;
  }
  words.back() = "--quiet";
  words.pop_back();
  const Outcome text = carom(words);
  EXPECT_NE(text.out.find("not held"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("margin [m]"), std::string::npos) << text.out;
}

TEST(Sweeps, CriticalValuesAreBisectedToTheClosedForm) {
  const Scratch scratch;
  const std::string file = scratch.file("pushed.json", pushed_block().dump());
  const json planar = carom({"equilibrium", file, "--centre-of-mass", "0.5,0.2", "--critical",
                             "friction=0:2", "--json"})
                          .document()["critical"];
  EXPECT_NEAR(planar["held"].get<double>(), 0.3, 1e-9);
  EXPECT_LT(planar["not_held"], planar["held"]);
  EXPECT_NEAR(planar["not_held"].get<double>(), 0.3, 1e-9);
  // the same in space
  const json spatial = json::parse(R"({"contacts": [
    {"position": [0, 0, 0], "normal": [0, 0, 1], "friction": 0.5},
    {"position": [1, 0, 0], "normal": [0, 0, 1], "friction": 0.5},
    {"position": [0, 1, 0], "normal": [0, 0, 1], "friction": 0.5}],
    "wrench": {"force": [0.18, 0.24, -1]}})");
  const std::string space = scratch.file("space.json", spatial.dump());
  const Outcome text = carom(
      {"equilibrium", space, "--centre-of-mass", "0.3,0.3,0.05", "--critical", "friction=0:2"});
  EXPECT_NE(text.out.find("the smallest that holds"), std::string::npos) << text.out << text.err;
  const json found = carom({"equilibrium", space, "--centre-of-mass", "0.3,0.3,0.05", "--critical",
                            "friction=0:2", "--json"})
                         .document()["critical"];
  EXPECT_NEAR(found["held"].get<double>(), 0.3, 1e-6);
  const Outcome none =
      carom({"equilibrium", file, "--centre-of-mass", "0.5,0.2", "--critical", "friction=1:2"});
  EXPECT_NE(none.out.find("none: held at 1, held at 2"), std::string::npos) << none.out;
  expect_refusal(carom({"equilibrium", file, "--critical", "friction"}), {"--centre-of-mass"});
}

TEST(Sweeps, OfImpactsAreTheRunsOneByOne) {
  const json swept =
      carom({"impact", "box_wall", "--samples", "64", "--sweep", "friction=0.2:0.6:3", "--json"})
          .document();
  ASSERT_EQ(swept.size(), 3U);
  EXPECT_EQ(swept[1]["parameters"]["friction"], 0.4);
  const json first =
      carom({"impact", "box_wall", "--samples", "64", "--set", "friction=0.2", "--json"})
          .document();
  // a problem's place in its batch is part of its draws: the first is the same
  json one = without_seconds(swept[0]);
  json other = without_seconds(first);
  for (json* document : {&one, &other}) {
    document->erase("epsilon_net");  // one for the batch
    document->erase("nonunique_solves");
    document->erase("nonunique_examined");
  }
  EXPECT_EQ(one, other);
  const Outcome text =
      carom({"impact", "box_wall", "--samples", "64", "--sweep", "friction=0.2:0.6:3"});
  EXPECT_NE(text.out.find("outcomes"), std::string::npos) << text.out;
  const json drawn = carom({"impact", example("block.json"), "--samples", "16", "--random",
                            "friction=0:1", "--draws", "3", "--json"})
                         .document();
  ASSERT_EQ(drawn.size(), 3U);
  EXPECT_NE(drawn[0]["parameters"], drawn[1]["parameters"]);
}

TEST(Sweeps, AreReadAlikeByEveryCommand) {
  const std::vector<std::vector<std::string>> commands = {
      {"impact", "rocking_block"},      {"equilibrium", "two_contacts"},
      {"step", "inclined_block"},       {"stability", "figure2"},
      {"motion", "rocking_block_drop"}, {"impact-models", "rocking_block"},
      {"validate", "rocking_block"},    {"validate", "two_contacts"},
      {"validate", "inclined_block"},   {"validate", "figure2"},
      {"bench", "rocking_block"}};
  for (const std::vector<std::string>& command : commands) {
    const auto with = [&command](const std::string& sweep) {
      std::vector<std::string> words = command;
      words.insert(words.end(), {"--sweep", sweep});
      return carom(words);
    };
    expect_refusal(with("friction=1"), {"--sweep friction=1", "NAME=LO:HI:N[:log]"});
    expect_refusal(with("friction=0:1:2:log"), {"logarithmic", "must be > 0"});
    expect_refusal(with("friction=0:1:1"), {"N must be 2 or more"});
    expect_refusal(with("no_such=0:1:3"), {"no_such"});
  }
}

/// What is compared or measured is every point, not the first one.
TEST(Sweeps, AreComparedAndMeasured) {
  const json compared = carom({"validate", "rocking_block", "--samples", "64", "--selection", "any",
                               "--sweep", "friction=0.2:1:3", "--json"})
                            .document();
  ASSERT_EQ(compared.size(), 3U);
  EXPECT_EQ(compared[1]["model"], "rocking_block friction=0.6");
  const json postures =
      carom({"validate", "two_contacts", "--random", "friction=0.2:1", "--draws", "5", "--json"})
          .document();
  EXPECT_EQ(postures["postures"], 5);
  const json worlds = carom({"validate", "inclined_block", "--sweep", "friction=0.1:0.3:2",
                             "--random", "angle=0.1:0.2", "--draws", "2", "--json"})
                          .document();
  EXPECT_EQ(worlds[0]["worlds"], 4);
  const json stances = carom({"validate", "figure2", "--sweep", "d=0.2:1:3", "--json"}).document();
  EXPECT_EQ(stances[0]["points"], 3);
  const json motions =
      carom({"validate", "bouncing_ball", "--sweep", "height=1:2:2", "--samples", "2", "--json"})
          .document();
  EXPECT_EQ(motions.size(), 2U);
  const json measured = carom({"bench", "rocking_block", "--sweep", "friction=0.2:1:3", "--samples",
                               "64", "--repetitions", "1", "--json"})
                            .document();
  EXPECT_EQ(measured["problems"], 3);
  expect_refusal(carom({"validate", example("step.json"), "--sweep", "a=0:1:2"}),
                 {"--sweep belongs to a scenario"});
}

/// --draws of worlds, as the other commands have it; --worlds counts all of them.
TEST(Sweeps, WorldsAreDrawn) {
  const auto drawn = [](const std::vector<std::string>& number) {
    std::vector<std::string> words = {"step",    "inclined_block",     "--steps",  "3",
                                      "--sweep", "friction=0.1:0.3:2", "--random", "angle=0.1:0.2"};
    words.insert(words.end(), number.begin(), number.end());
    words.emplace_back("--json");
    return carom(words).document()["final_state"];
  };
  EXPECT_EQ(drawn({"--draws", "3"}).size(), 6U);
  EXPECT_EQ(drawn({"--draws", "3"}), drawn({"--worlds", "6"}));
  expect_refusal(carom({"step", "inclined_block", "--draws", "3"}), {"--draws", "--random"});
  expect_refusal(carom({"step", "inclined_block", "--random", "friction=0:1", "--draws", "3",
                        "--worlds", "3"}),
                 {"--draws is 3 and --worlds is 3"});
}

TEST(Sweeps, SetTakesSeveral) {
  const auto sampled = [](const std::vector<std::string>& set) {
    std::vector<std::string> words = {"impact", "box_wall", "--samples", "32"};
    words.insert(words.end(), set.begin(), set.end());
    words.emplace_back("--json");
    return without_seconds(carom(words).document());
  };
  EXPECT_EQ(sampled({"--set", "friction=0.2", "mass=2"}),
            sampled({"--set", "friction=0.2", "--set", "mass=2"}));
}

TEST(WrongCommand, TheRightOneIsNamed) {
  expect_refusal(carom({"step", example("block.json")}), {"holds impacts", "carom impact"});
  expect_refusal(carom({"impact", example("step.json")}), {"holds steps", "carom step"});
  expect_refusal(carom({"impact", example("lp.json")}), {"carom solve"});
  expect_refusal(carom({"solve", example("block.json")}), {"carom impact"});
  expect_refusal(carom({"equilibrium", example("walker.json")}), {"stances", "carom stability"});
  expect_refusal(carom({"stability", example("block.json")}), {"carom impact"});
  expect_refusal(carom({"equilibrium", "inclined_block"}), {"is a scenario: carom step"});
  expect_refusal(carom({"step", "figure2"}), {"is a stance: carom stability"});
  expect_refusal(carom({"stability", "rocking_block"}), {"carom impact rocking_block"});
}

}  // namespace
}  // namespace carom::test
