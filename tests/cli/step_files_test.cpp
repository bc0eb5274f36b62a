#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "cli/command.hpp"
#include "io/hdf5_file.hpp"

namespace carom::test {
namespace {

using io::Hdf5Reader;
using io::Hdf5Writer;
using io::Shape;

/// A mass pushed along a stiff floor; right in every field, tests spoil one at a time.
json pushed() {
  return json::parse(R"({"name": "pushed",
    "mass_matrix": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "force": [6, 0, -9.81], "velocity": [0, 0, 0], "dt": 0.01,
    "constraints": [{"type": "contact", "jacobian": [[0, 0, 1], [1, 0, 0], [0, 1, 0]],
      "phi": [-9.81e-9, 0, 0], "stiffness": [1e9, 0, 0], "damping": [1e3, 1e8, 1e8],
      "friction": 0.5}]})");
}

/// A mass that runs into a spring and a damper.
json stopped() {
  return json::parse(R"({"name": "stopped", "mass_matrix": [[2]], "force": [0], "velocity": [-1],
    "dt": 0.01, "constraints": [{"type": "unilateral", "jacobian": [1], "phi": [-0.001],
      "stiffness": 1e4, "damping": 10}]})");
}

// ---------------------------------------------------------------- steps of arrays

TEST(StepFile, SolvesOneObjectAndAList) {
  const Scratch scratch;
  const Outcome one = carom({"step", scratch.file("one.json", pushed().dump()), "--json"});
  EXPECT_EQ(one.status, 0) << one.err;
  const json result = one.document();
  EXPECT_EQ(keys(result),
            (std::vector<std::string>{"force", "increment", "iterations", "kinetic_energy", "name",
                                      "residual", "status", "velocity"}));
  EXPECT_EQ(result["name"], "pushed");
  EXPECT_EQ(result["status"], "solved");
  EXPECT_LE(result["residual"].get<double>(), 1e-9);
  // pressed with its weight, the floor holds back half of it
  EXPECT_NEAR(result["force"][0].get<double>(), 9.81, 1e-6);
  EXPECT_NEAR(result["force"][1].get<double>(), -0.5 * 9.81, 1e-6);
  EXPECT_NEAR(result["velocity"][0].get<double>(), 0.01 * (6.0 - 0.5 * 9.81), 1e-9);
  EXPECT_NEAR(result["increment"][0].get<double>(), 0.01 * result["velocity"][0].get<double>(),
              1e-15);

  json unnamed = stopped();
  unnamed.erase("name");
  const std::string file =
      scratch.file("list.json", json::array({stopped(), pushed(), unnamed}).dump());
  const json results = carom({"step", file, "--json"}).document();
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results[0]["name"], "stopped");
  EXPECT_EQ(results[1], result);
  EXPECT_EQ(results[2]["name"], "problem 2");
  EXPECT_EQ(results[2]["velocity"], results[0]["velocity"]);
}

// (53) by hand: (m/h + b + h k) v' = m/h v - k phi
TEST(StepFile, SpringAndDamperByHand) {
  const Scratch scratch;
  const json result =
      carom({"step", scratch.file("s.json", stopped().dump()), "--json"}).document();
  const double h = 0.01;
  const double v = (2.0 / h * -1.0 - 1e4 * -0.001) / (2.0 / h + 10.0 + h * 1e4);
  EXPECT_NEAR(result["velocity"][0].get<double>(), v, 1e-12);
  EXPECT_NEAR(result["force"][0].get<double>(), 2.0 / h * (v + 1.0), 1e-9);
  EXPECT_NEAR(result["kinetic_energy"].get<double>(), v * v, 1e-12);
}

TEST(StepFile, ReferenceAndProgrammeAreChosenByOption) {
  const Scratch scratch;
  const std::string file = scratch.file("s.json", stopped().dump());
  const json fast = carom({"step", file, "--json"}).document();
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--backend", "reference"},
        std::vector<std::string>{"--law", "programme", "--method", "active_set"}}) {
    std::vector<std::string> words = {"step", file, "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = carom(words);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NEAR(outcome.document()["velocity"][0].get<double>(), fast["velocity"][0].get<double>(),
                1e-9);
  }
}

TEST(StepFile, TextNamesEveryProblem) {
  const Scratch scratch;
  const Outcome outcome =
      carom({"step", scratch.file("l.json", json::array({stopped(), pushed()}).dump())});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* word : {"stopped", "pushed", "solved", "residual", "2 of 2"}) {
    EXPECT_NE(outcome.out.find(word), std::string::npos) << word;
  }
}

// The same problem by rows in HDF5, with another of fewer rows beside it.
TEST(StepFile, Hdf5HoldsBatchesByRows) {
  const Scratch scratch;
  const fs::path file = scratch / "steps.h5";
  {
    Hdf5Writer writer(file);
    const std::vector<double> mass = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const auto twice = [](std::vector<double> values) {
      values.insert(values.end(), values.begin(), values.end());
      return values;
    };
    writer.dataset("/mass_matrix", twice(mass), {2, 3, 3});
    writer.dataset("/force", twice({6, 0, -9.81}), {2, 3});
    writer.dataset("/velocity", twice({0, 0, 0}), {2, 3});
    writer.dataset("/dt", std::vector<double>{0.01, 0.01}, {2});
    writer.dataset("/type", std::vector<std::int32_t>{3, 4, 4, 2, 0, 0}, {2, 3});
    writer.dataset("/jacobian", twice({0, 0, 1, 1, 0, 0, 0, 1, 0}), {2, 3, 3});
    writer.dataset("/phi", twice({-9.81e-9, 0, 0}), {2, 3});
    writer.dataset("/stiffness", twice({1e9, 0, 0}), {2, 3});
    writer.dataset("/damping", twice({1e3, 1e8, 1e8}), {2, 3});
    writer.dataset("/friction", twice({0.5, 0, 0}), {2, 3});
    writer.dataset("/name", std::vector<std::string>{"pushed", "frictionless"});
    writer.close();
  }
  const Outcome outcome = carom({"step", file.string(), "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json results = outcome.document();
  const json alone =
      carom({"step", scratch.file("one.json", pushed().dump()), "--json"}).document();
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0], alone);
  EXPECT_EQ(results[1]["name"], "frictionless");
  EXPECT_EQ(results[1]["force"].size(), 1U);
  EXPECT_NEAR(results[1]["velocity"][0].get<double>(), 0.06, 1e-12);
}

struct Spoiled {
  const char* change;  // JSON merge patch of `pushed`
  std::vector<std::string> named;
};

TEST(StepFile, BadInputIsRefusedByProblemConstraintAndField) {
  const std::vector<Spoiled> cases = {
      {R"({"dt": 0})", {"step_size", "is 0"}},
      {R"({"dt": null})", {"dt"}},
      {R"({"force": [1, 2]})", {"force", "2 numbers", "3"}},
      {R"({"mass_matrix": [[1, 0], [0, 1]]})", {"mass_matrix", "2 x 2", "3 x 3"}},
      {R"({"mass_matrix": [[1, 2, 0], [0, 1, 0], [0, 0, 1]]})", {"mass_matrix"}},
      {R"({"velocity": []})", {"velocity is empty"}},
      {R"({"gravity": 9.81})", {"gravity", "known are", "constraints"}},
      {R"({"constraints": {}})", {"constraints must be a list"}},
      {R"({"constraints": [{"type": "glue"}]})", {"constraints[0]", "glue", "bilateral"}},
      {R"({"constraints": [{"type": "bilateral", "jacobian": [1, 0], "stiffness": 1,
           "damping": 1}]})",
       {"constraints[0]", "jacobian", "2 columns", "3"}},
      {R"({"constraints": [{"type": "bilateral", "jacobian": [1, 0, 0], "damping": 1}]})",
       {"constraints[0]", "stiffness is missing"}},
      {R"({"constraints": [{"type": "bilateral", "jacobian": [1, 0, 0], "stiffness": -2,
           "damping": 1}]})",
       {"constraints[0]", "stiffness", "-2"}},
      {R"({"constraints": [{"type": "unilateral", "jacobian": [1, 0, 0], "stiffness": 1,
           "damping": -3}]})",
       {"constraints[0]", "damping", "-3"}},
      {R"({"constraints": [{"type": "unilateral", "jacobian": [1, 0, 0], "stiffness": 1,
           "damping": 1, "friction": 1}]})",
       {"constraints[0]", "friction belongs to a contact"}},
      {R"({"constraints": [{"type": "contact", "jacobian": [1, 0, 0], "stiffness": 1,
           "damping": 1, "friction": 1}]})",
       {"constraints[0]", "1 rows", "2 (planar", "3 (spatial"}},
      {R"({"constraints": [{"type": "contact", "jacobian": [[1, 0, 0], [0, 1, 0]],
           "stiffness": 1, "damping": 1, "friction": -0.5}]})",
       {"constraints[0]", "friction", "-0.5"}},
      {R"({"constraints": [{"type": "bilateral", "jacobian": [1, 0, 0], "phi": [1, 2],
           "stiffness": 1, "damping": 1}]})",
       {"constraints[0]", "phi", "2 numbers"}},
  };
  for (const Spoiled& spoiled : cases) {
    const Scratch scratch;
    json problem = pushed();
    problem.merge_patch(json::parse(spoiled.change));
    const std::string file = scratch.file("bad.json", json::array({stopped(), problem}).dump());
    const Outcome outcome = carom({"step", file});
    EXPECT_EQ(outcome.status, 2) << spoiled.change;
    EXPECT_EQ(outcome.complaints(), 1U) << outcome.err;
    EXPECT_NE(outcome.err.find("bad.json"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("problem 1"), std::string::npos) << outcome.err;
    for (const std::string& name : spoiled.named) {
      EXPECT_NE(outcome.err.find(name), std::string::npos) << name << " in: " << outcome.err;
    }
  }
}

TEST(StepFile, ContactsOfOneProblemShareTheirDimension) {
  json problem = pushed();
  json planar = problem["constraints"][0];
  planar["jacobian"] = json::parse("[[0, 0, 1], [1, 0, 0]]");
  for (const char* key : {"phi", "stiffness", "damping"}) planar[key] = json({0.0, 0.0});
  problem["constraints"].push_back(planar);
  const Scratch scratch;
  const Outcome outcome = carom({"step", scratch.file("p.json", problem.dump())});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("constraints[1]"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("all planar or all spatial"), std::string::npos) << outcome.err;
}

TEST(StepFile, WorldOptionsDoNotBelongToAFile) {
  const Scratch scratch;
  const std::string file = scratch.file("s.json", stopped().dump());
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{"--worlds", "2"},
                                             {"--steps", "2"},
                                             {"--dt", "1"},
                                             {"--set", "a=1"},
                                             {"--sweep", "a=0:1:2"},
                                             {"--random", "a=0:1"},
                                             {"--plot", "p.svg"}}) {
    std::vector<std::string> words = {"step", file};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = carom(words);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.err.find(more[0] + " belongs to a scenario"), std::string::npos)
        << outcome.err;
  }
}

TEST(StepFile, OutputHoldsWhatWasReported) {
  const Scratch scratch;
  const std::string file = scratch.file("l.json", json::array({stopped(), pushed()}).dump());
  const fs::path output = scratch / "result.h5";
  const Outcome outcome = carom({"step", file, "--json", "--output", output.string()});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json results = outcome.document();
  const Hdf5Reader reader(output);
  EXPECT_EQ(reader.strings("/name"), (std::vector<std::string>{"stopped", "pushed"}));
  EXPECT_EQ(reader.number_attribute("/", "problems"), 2);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {  // of two shapes
    const std::string group = "/steps_" + std::to_string(i);
    EXPECT_EQ(reader.integers(group + "/problem"),
              (std::vector<std::int64_t>{static_cast<std::int64_t>(i)}));
    EXPECT_EQ(json(reader.doubles(group + "/velocity")), results[i]["velocity"]);
    EXPECT_EQ(json(reader.doubles(group + "/force")), results[i]["force"]);
    EXPECT_EQ(reader.integers(group + "/status"), (std::vector<std::int64_t>{0}));
  }
}

// ---------------------------------------------------------------- states of worlds

TEST(StepOutput, HoldsStatesParametersAndProvenance) {
  const Scratch scratch;
  const fs::path file = scratch / "run.h5";
  const Outcome outcome =
      carom({"step", "inclined_block", "--sweep", "friction=0:0.3:3", "--stride", "25", "--json",
             "--seed", "9", "--output", file.string()});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(scratch.files(), 1U);
  const json result = outcome.document();
  const Hdf5Reader reader(file);
  EXPECT_EQ(reader.text_attribute("/", "scenario"), "inclined_block");
  EXPECT_EQ(reader.number_attribute("/", "worlds"), 3);
  EXPECT_EQ(reader.number_attribute("/", "seed"), 9);
  EXPECT_EQ(reader.number_attribute("/", "complete"), 1);
  EXPECT_EQ(reader.text_attribute("/", "law"), "complementarity");
  EXPECT_TRUE(reader.has_attribute("/", "commit"));
  EXPECT_NE(reader.text_attribute("/", "command").find("--stride 25"), std::string::npos);
  EXPECT_EQ(json(reader.doubles("/parameters/friction")), result["parameters"]["friction"]);
  EXPECT_EQ(reader.text_attribute("/parameters/mass", "unit"), "kg");

  EXPECT_EQ(reader.shape("/worlds_0/states/position"), (Shape{5, 3, 7}));
  EXPECT_EQ(reader.shape("/worlds_0/states/velocity"), (Shape{5, 3, 6}));
  EXPECT_EQ(reader.shape("/worlds_0/states/energy"), (Shape{5, 3}));
  const std::vector<double> time = reader.doubles("/worlds_0/states/time");
  for (std::size_t frame = 0; frame < 5; ++frame) {
    EXPECT_NEAR(time[frame], 0.25 * static_cast<double>(frame), 1e-12);
  }
  const std::vector<double> position = reader.doubles("/worlds_0/states/position");
  const std::vector<double> last = reader.doubles("/worlds_0/final/position");
  EXPECT_TRUE(std::equal(last.begin(), last.end(), position.end() - 21));
  for (std::size_t world = 0; world < 3; ++world) {
    EXPECT_EQ(last[7 * world], result["displacement"][world].get<double>());
  }
  EXPECT_EQ(json(reader.doubles("/worlds_0/final/energy")), result["energy"]);
  for (const double residual : reader.doubles("/worlds_0/final/max_residual")) {
    EXPECT_LE(residual, 1e-9);
  }
  EXPECT_EQ(reader.integers("/worlds_0/final/status"), (std::vector<std::int64_t>{0, 0, 0}));
}

TEST(StepOutput, WorldsOfDifferentShapesHaveTheirOwnGroups) {
  const Scratch scratch;
  const fs::path file = scratch / "run.h5";
  const Outcome outcome = carom({"step", "sphere_stack", "--sweep", "spheres=1:2:2", "--steps",
                                 "10", "--quiet", "--output", file.string()});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Hdf5Reader reader(file);
  EXPECT_EQ(reader.shape("/worlds_0/final/position"), (Shape{1, 6}));
  EXPECT_EQ(reader.shape("/worlds_1/final/position"), (Shape{1, 12}));
  EXPECT_EQ(reader.integers("/worlds_1/world"), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(reader.shape("/worlds_1/states/time"), (Shape{11}));
}

// The set comes with the outcomes, which lie in it.
TEST(StepOutput, CompliantImpactsComeWithTheRigidSet) {
  const Scratch scratch;
  const fs::path file = scratch / "run.h5";
  const Outcome outcome =
      carom({"step", "compliant_block_impact", "--sweep", "stiffness_ratio=1e-2:1e2:5:log",
             "--json", "--output", file.string()});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Hdf5Reader reader(file);
  const std::vector<double> set = reader.doubles("/routh_set/normal_velocity");
  ASSERT_GT(set.size(), 1000U);
  double largest = 0.0;
  for (const double n : set) largest = std::max(largest, n);
  EXPECT_GT(largest, 0.05);
  const json document = outcome.document();
  for (const json& n : document["normal_velocity"]) {
    EXPECT_LE(std::max(n[0].get<double>(), n[1].get<double>()), 1.02 * largest);
    EXPECT_GE(std::min(n[0].get<double>(), n[1].get<double>()), -0.02 * largest);
  }
}

TEST(StepPlot, EveryScenarioHasItsPicture) {
  if (!have_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  const Scratch scratch;
  const std::string svg = (scratch / "p.svg").string();
  const std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> cases = {
      {{"spring_mass_damper", "--sweep", "integrator=0:2:3"},
       {"explicit Euler", "semi-implicit Euler", "implicit Euler", "exact"}},
      {{"pendulum_joint", "--sweep", "dt=1e-3:1e-2:2"}, {"deviation of the joint", "dt = 0.001"}},
      {{"pendulum_limit", "--steps", "2000"}, {"theta [rad]"}},
      {{"elastic_foundation", "--set", "elements_per_side=3", "--steps", "20"},
       {"unloaded foundation", "time [s]"}},
      {{"inclined_block", "--sweep", "friction=0:0.375:4"},
       {"Figure 9", "friction = 0.125", "rigid block"}},
      {{"sphere_stack", "--sweep", "spheres=1:4:2", "--steps", "20"}, {"Figure 10", "spheres = 4"}},
      {{"compliant_block_impact", "--sweep", "stiffness_ratio=1e-2:1e2:9:log"},
       {"Figure 12", "post-impact set", "stiffness ratio"}},
  };
  for (const auto& [arguments, texts] : cases) {
    std::vector<std::string> words = {"step"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    words.insert(words.end(), {"--quiet", "--plot", svg});
    const Outcome outcome = carom(words);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(outcome.err.empty()) << outcome.err;
    const std::string picture = read_text(svg);
    EXPECT_NE(picture.find("</svg>"), std::string::npos) << arguments[0];
    for (const std::string& text : texts) {
      EXPECT_NE(picture.find(text), std::string::npos) << arguments[0] << ": " << text;
    }
  }
  const std::string png = (scratch / "p.png").string();
  EXPECT_EQ(carom({"step", "inclined_block", "--quiet", "--plot", png}).status, 0);
  EXPECT_EQ(read_text(png).substr(1, 3), "PNG");
  EXPECT_EQ(scratch.files(), 2U);
}

TEST(StepInterrupt, ReportsAndWritesWhatItHas) {
  const Scratch scratch;
  const fs::path file = scratch / "run.h5";
  Process process(carom_words({"step", "pendulum_limit", "--sweep", "dt=1e-9:1e-8:2", "--steps",
                               "2^40", "--json", "--output", file.string()}));
  const auto pause = [](int milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  };
  for (int tries = 0; tries < 1000 && !process.catches_interrupts(); ++tries) pause(10);
  pause(800);
  process.interrupt();
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.status, 130) << outcome.err;
  const json result = outcome.document();
  EXPECT_EQ(result["cancelled"], true);
  EXPECT_LT(result["steps_taken"][0].get<std::int64_t>(), std::int64_t{1} << 40);
  // the second group was never reached
  EXPECT_EQ(result["steps_taken"][1], 0);
  EXPECT_TRUE(result["displacement"][1].is_null());
  EXPECT_EQ(scratch.files(), 1U);
  const Hdf5Reader reader(file);
  EXPECT_EQ(reader.number_attribute("/", "complete"), 0);
  EXPECT_EQ(reader.shape("/worlds_1/final/position"), (Shape{1, 1}));
}

}  // namespace
}  // namespace carom::test
