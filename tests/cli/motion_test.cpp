#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cli/command.hpp"
#include "cli/refusal.hpp"

namespace carom::test {
namespace {

const char* const kPendulum = R"({
  "name": "pendulum",
  "mechanism": {
    "floating": false,
    "links": [{"name": "rod", "mass": 1.0, "inertia": 0.0, "mass_centre": [0.0, -1.0]},
              {"name": "bob", "parent": "rod", "place": [0.0, -1.0], "mass": 0.5,
               "inertia": 0.1}],
    "half_spaces": [{"normal": [1.0, 0.0], "offset": -0.5}],
    "contacts": [{"name": "end", "link": "rod", "point": [0.0, -1.0], "friction": 0.2}]
  },
  "position": [0.4, 0.0],
  "duration": 3.0
})";

TEST(MotionCommand, ZenoPointOfTheRockingBlock) {
  const Outcome outcome = carom({"motion", "rocking_block_zeno", "--duration", "4", "--samples",
                                 "5", "--json", "--sample", "3", "--events"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json problem = outcome.document()["problems"][0];
  EXPECT_EQ(problem["samples"], 1);
  EXPECT_EQ(problem["ended"]["rest"], 1);
  EXPECT_NEAR(problem["zeno"]["first_time"].get<double>(), 2.671421, 1e-6);
  EXPECT_NEAR(problem["zeno"]["first_s"].get<double>(), 28.37807, 1e-5);
  EXPECT_LT(problem["max_gap_drift"].get<double>(), 1e-10);
  EXPECT_LT(problem["max_energy_gain"].get<double>(), 1e-9);
  const json& sample = problem["sample"];
  EXPECT_EQ(sample["index"], 3);
  const json& events = sample["events"];
  EXPECT_EQ(events.front()["kind"], "stick");
  EXPECT_EQ(events.back()["kind"], "rest");
  EXPECT_EQ(events[1]["kind"], "impact");
  EXPECT_EQ(events[1]["contacts"], json({"B"}));
  EXPECT_NEAR(events[1]["time"].get<double>(), 0.98733, 5e-6);
}

TEST(MotionCommand, SampleIsThatOfTheRun) {
  const auto last = [](const std::vector<std::string>& words) {
    return carom(words).document()["problems"][0]["final"];
  };
  const json one = last({"motion", "rocking_block_drop", "--json", "--sample", "7"});
  const json other = last({"motion", "rocking_block_drop", "--json", "--sample", "8"});
  EXPECT_NE(one, other);
  EXPECT_EQ(one, last({"motion", "rocking_block_drop", "--json", "--first-sample", "7"}));
}

TEST(MotionCommand, OwnMechanismFromAFile) {
  const Scratch scratch;
  const Outcome outcome =
      carom({"motion", scratch.file("pendulum.json", kPendulum), "--json", "--events"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json problem = outcome.document()["problems"][0];
  EXPECT_EQ(problem["name"], "pendulum");
  EXPECT_EQ(problem["ended"]["failed"], 0);
  EXPECT_LT(problem["max_energy_error"].get<double>(), 1e-8);
  EXPECT_EQ(problem["final"]["position_min"].size(), 2U);
}

TEST(MotionCommand, RefusesByName) {
  const Scratch scratch;
  const auto refused = [&](std::string from, const std::string& to, const std::string& words) {
    std::string text = kPendulum;
    text.replace(text.find(from), from.size(), to);
    const Outcome outcome = carom({"motion", scratch.file("bad.json", text)});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.complaints(), 1U);
    EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
  };
  refused(R"("name": "rod")", R"("name": "rod", "parent": "bob")", "makes a loop");
  refused(R"("mass": 0.5)", R"("mass": -0.5)", "mass of link 1 (\"bob\")");
  refused(R"([0.4, 0.0])", R"([-0.9, 0.0])", "gap[0]");
  refused(R"("parent": "rod")", R"("parent": "rood")", "must be the name of a link");
  refused(R"("duration": 3.0)", R"("duraton": 3.0)", "duraton");
  EXPECT_EQ(carom({"motion", "rocking_block_zeno", "--duration", "NaN"}).status, 2);
  EXPECT_EQ(carom({"motion", "bouncing_ball", "--coefficient", "1.5"}).status, 2);
}

TEST(MotionCommand, PolicyDrives) {
  const Scratch scratch;
  const std::string policy = scratch.file(
      "policy.json", R"({"interval": 0.5, "drive": [[2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]})");
  const Outcome outcome =
      carom({"motion", "rocking_block_drop", "--set", "friction=0", "--set", "downward_velocity=0",
             "--duration", "1", "--policy", policy, "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json last = outcome.document()["problems"][0]["final"];
  EXPECT_NEAR(last["velocity_max"][0].get<double>(), 1.0, 1e-9);
}

TEST(MotionCommand, ValidateReplaysMotions) {
  const Outcome outcome = carom({"validate", "block_toss", "--samples", "2", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json verdict = outcome.document()[0];
  EXPECT_EQ(verdict["motions"], 2);
  EXPECT_GT(verdict["pieces"].get<int>(), 4);
  EXPECT_GT(verdict["impacts"].get<int>(), 2);
  EXPECT_EQ(verdict["disagreements"], 0);
  const Outcome refused =
      carom({"validate", "block_toss", "--backend", "reference", "--against", "cpu"});
  EXPECT_NE(refused.status, 0);
  EXPECT_NE(refused.err.find("judged by reference"), std::string::npos) << refused.err;
  const Scratch scratch;
  const Outcome elsewhere = carom({"impact", scratch.file("pendulum.json", kPendulum)});
  EXPECT_NE(elsewhere.status, 0);
  EXPECT_NE(elsewhere.err.find("carom motion"), std::string::npos) << elsewhere.err;
}

TEST(MotionCommand, NetOfLastStates) {
  const Outcome outcome = carom({"motion", "rocking_block_drop", "--samples", "300", "--duration",
                                 "0.1", "--epsilon", "0.05", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json net = outcome.document()["problems"][0]["net"];
  EXPECT_GT(net["points"].get<int>(), 1);
  ASSERT_EQ(net["coverage"].size(), 9U);  // after 1, 2, .. 256 motions
  EXPECT_LE(net["coverage"].back(), net["points"]);
}

/// Every point of a sweep is the model with that parameter set and the point's index.
TEST(MotionCommand, ParametersVary) {
  const json swept =
      carom({"motion", "bouncing_ball", "--sweep", "height=0.5:2:4", "--samples", "2", "--json"})
          .document();
  ASSERT_EQ(swept["problems"].size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const double height = 0.5 + 0.5 * static_cast<double>(i);
    const json& point = swept["problems"][i];
    EXPECT_DOUBLE_EQ(point["parameters"]["height"].get<double>(), height);
    const Outcome one =
        carom({"motion", "bouncing_ball", "--set", "height=" + std::to_string(height), "--samples",
               "2", "--first-problem", std::to_string(i), "--json"});
    const json alone = one.document()["problems"][0];
    EXPECT_EQ(point["final"], alone["final"]);
    EXPECT_EQ(point["zeno"], alone["zeno"]);
  }
  const Outcome drawn =
      carom({"motion", "bouncing_ball", "--random", "height=0.5:2", "--draws", "3"});
  EXPECT_EQ(drawn.status, 0) << drawn.err;
  EXPECT_NE(drawn.out.find("3 points of 1 motion"), std::string::npos) << drawn.out;
  const Outcome unknown = carom({"motion", "bouncing_ball", "--sweep", "nothing=0:1:3"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.err.find("nothing"), std::string::npos);
  EXPECT_EQ(carom({"motion", "bouncing_ball", "--sweep", "height=1:2:2", "--plot", "x.svg"}).status,
            2);
}

/// Frames of two blocks, 25 a second.
TEST(MotionCommand, AnimatedPictureMoves) {
  const Scratch scratch;
  const std::string file = (scratch / "drop.svg").string();
  const Outcome outcome =
      carom({"motion", "block_toss", "--samples", "2", "--duration", "0.8", "--animate", file});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const std::string svg = read_text(file);
  const auto count = [&](const std::string& word) {
    std::size_t found = 0;
    for (std::size_t at = svg.find(word); at != std::string::npos; at = svg.find(word, at + 1)) {
      ++found;
    }
    return found;
  };
  EXPECT_EQ(count("<polygon"), 2U);
  EXPECT_EQ(count("</polygon>"), 2U);
  EXPECT_EQ(count("dur=\"0.8s\""), 2U);
  const std::size_t begin = svg.find("values=\"") + 8;
  const std::string values = svg.substr(begin, svg.find('"', begin) - begin);
  EXPECT_EQ(std::count(values.begin(), values.end(), ';'), 20);
  EXPECT_EQ(std::count(values.begin(), values.end(), ','), 21 * 4);
  EXPECT_NE(values.substr(0, values.find(';')), values.substr(values.rfind(';') + 1));
  EXPECT_EQ(carom({"motion", "rocking_block_drop", "--animate", "drop.gif"}).status, 2);
  for (const std::string& model :
       std::vector<std::string>{"bouncing_ball", "painleve_rod", "box_along_wall", "compass_walk",
                                "ramone_step", "disk_stack_drop", "cube_toss", "bar_on_steps_drop",
                                (repository() / "examples/data/hopper.json").string(),
                                (repository() / "examples/data/tumbling_hammer.json").string()}) {
    const Outcome other = carom({"motion", model, "--duration", "0.2", "--animate", file});
    EXPECT_EQ(other.status, 0) << other.err;
    EXPECT_EQ(read_text(file).find("nan"), std::string::npos) << model;
    EXPECT_NE(read_text(file).find("<animate"), std::string::npos) << model;
  }
}

/// Points of a run, computed by themselves: what is drawn and every motion are the same.
TEST(MotionCommand, ShardsByProblemsMakeTheWhole) {
  const auto problems = [](const std::vector<std::string>& more) {
    std::vector<std::string> words = {
        "motion", "rocking_block_drop", "--random", "width=0.5:1.5", "--samples",
        "20",     "--duration",         "0.4",      "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = carom(words);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.document()["problems"];
  };
  const json whole = problems({"--draws", "5"});
  const json part = problems({"--draws", "2", "--first-problem", "3"});
  ASSERT_EQ(part.size(), 2U);
  EXPECT_EQ(part[0], whole[3]);
  EXPECT_EQ(part[1], whole[4]);
  EXPECT_NE(whole[0]["final"], whole[1]["final"]);
  EXPECT_EQ(carom({"motion", "rocking_block_drop", "--first-problem", "-1"}).status, 2);
}

TEST(MotionCommand, BallJointFromAFile) {
  const Scratch scratch;
  const std::string file = scratch.file("top.json", R"({
    "name": "top",
    "mechanism": {"dimension": 3, "floating": false, "links": [
      {"name": "top", "joint": "ball", "mass": 0.8, "mass_centre": [0, 0, 0.1],
       "inertia": [0.004, 0.004, 0.002]}]},
    "position": [0.8, 0.36, 0.48, 0.0], "velocity": [0.5, -1.0, 30.0], "duration": 1.0})");
  const Outcome outcome = carom({"motion", file, "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json problem = outcome.document()["problems"][0];
  // A symmetric top keeps its spin.
  EXPECT_NEAR(problem["final"]["velocity_min"][2].get<double>(), 30.0, 1e-9);
  EXPECT_LT(problem["max_energy_gain"].get<double>(), 1e-9);
}

TEST(MotionCommand, SpatialMechanismFromAFile) {
  const std::string file = (repository() / "examples/data/tumbling_hammer.json").string();
  const Outcome outcome = carom({"motion", file, "--samples", "3", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json problem = outcome.document()["problems"][0];
  EXPECT_EQ(problem["ended"]["failed"], 0);
  EXPECT_GT(problem["impacts"].get<int>(), 0);
  EXPECT_LT(problem["max_residual"].get<double>(), 1e-8);
  EXPECT_EQ(problem["final"]["position_min"].size(), 9U);
  const Scratch scratch;
  const auto refused = [&](const std::string& mechanism, const std::string& words) {
    const Outcome bad =
        carom({"motion", scratch.file("bad.json", R"({"name": "bad", "mechanism": )" + mechanism +
                                                      R"(, "position": [0.0]})")});
    EXPECT_EQ(bad.status, 2);
    EXPECT_NE(bad.err.find(words), std::string::npos) << bad.err;
  };
  refused(R"({"dimension": 4, "links": []})", "must be 2 or 3");
  refused(
      R"({"dimension": 3, "floating": false, "links": [{"name": "a", "mass": 1, "axis": 0.5}]})",
      "axis");
  refused(R"({"dimension": 3, "floating": false, "springs": [], "links": []})", "springs");
  refused(R"({"floating": false, "links": [{"name": "a", "mass": 1, "joint": "ball"}]})",
          "must be hinge or slide");
  refused(R"({"dimension": 3, "floating": false, "links": [{"name": "a", "mass": 1,
             "joint": "ball", "axis": [0, 0, 1]}]})",
          "a ball joint has none");
}

}  // namespace
}  // namespace carom::test
