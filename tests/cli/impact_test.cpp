#include <gtest/gtest.h>

#include <numeric>

#include <carom/impact.hpp>
#include <carom/models/models.hpp>

#include "cli/command.hpp"

namespace carom::test {
namespace {

// Every key of the document, sorted.
const std::vector<std::string> kImpactKeys = {"approaching",
                                              "backend",
                                              "contact_speed",
                                              "contacts",
                                              "epsilon",
                                              "epsilon_net",
                                              "failed",
                                              "fallback_solves",
                                              "guarded",
                                              "lcp_per_sample",
                                              "lcp_solves",
                                              "lost_compression_max",
                                              "lost_compression_mean",
                                              "lost_compression_min",
                                              "lost_friction_max",
                                              "lost_friction_mean",
                                              "lost_friction_min",
                                              "max_energy_ratio",
                                              "max_residual",
                                              "max_steps",
                                              "max_steps_reached",
                                              "min_energy_ratio",
                                              "mode_counts",
                                              "model",
                                              "nonunique_examined",
                                              "nonunique_solves",
                                              "normal_velocity_max",
                                              "normal_velocity_min",
                                              "pivots",
                                              "sampler",
                                              "samples",
                                              "samples_per_second",
                                              "seconds",
                                              "seed",
                                              "selection",
                                              "status",
                                              "step_size",
                                              "step_size_reason",
                                              "tangent_velocity_max",
                                              "tangent_velocity_min",
                                              "terminated",
                                              "trimmed",
                                              "velocity_max",
                                              "velocity_min"};

json without_time(json document) {
  document.erase("seconds");
  document.erase("samples_per_second");
  return document;
}

TEST(Impact, JsonHasExactlyTheKeysAndAddsUp) {
  const Outcome outcome = carom({"impact", "rocking_block", "--samples", "1000", "--json"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(outcome.err.empty()) << outcome.err;
  const json result = outcome.document();
  EXPECT_EQ(keys(result), kImpactKeys);
  EXPECT_EQ(result["model"], "rocking_block");
  EXPECT_EQ(result["samples"], 1000);
  EXPECT_EQ(result["contacts"], 2);
  EXPECT_EQ(result["sampler"], "uniform");
  EXPECT_EQ(result["selection"], "any");
  EXPECT_EQ(result["terminated"].get<int>() + result["max_steps_reached"].get<int>() +
                result["failed"].get<int>(),
            1000);
  EXPECT_DOUBLE_EQ(result["lcp_per_sample"].get<double>(),
                   result["lcp_solves"].get<double>() / 1000.0);
  EXPECT_LE(result["max_residual"].get<double>(), 1e-9);
  EXPECT_LE(result["max_energy_ratio"].get<double>(), 1.0 + 1e-9);
  int counted = 0;
  for (const auto& [words, count] : result["mode_counts"].items()) {
    EXPECT_EQ(std::count(words.begin(), words.end(), '/'), 1) << words;
    counted += count.get<int>();
  }
  EXPECT_EQ(counted, result["terminated"]);
  const json& net = result["epsilon_net"];
  EXPECT_EQ(keys(net), (std::vector<std::string>{"coverage", "epsilon", "points", "reason"}));
  EXPECT_EQ(net["reason"], "0.05 of the set's extent in a first sample");
  // cells after 2^0 .. 2^9 samples, and after all where that is no power of two
  EXPECT_GE(net["coverage"].size(), 10U);
  EXPECT_EQ(net["coverage"][0], 1);
  for (std::size_t i = 1; i < net["coverage"].size(); ++i) {
    EXPECT_GE(net["coverage"][i], net["coverage"][i - 1]);
  }
}

// The same problem by the library, as a model, as a file and as an output read again.
TEST(Impact, EveryDoorDerivesTheSame) {
  const Scratch scratch;
  for (const char* name : {"rocking_block", "compass_gait", "cube_drop"}) {
    SCOPED_TRACE(name);
    const ImpactProblem problem = models::build(name);
    const ImpactBatch batch = make_batch({&problem, 1});
    ImpactSettings settings;
    settings.samples = 1500;
    const ImpactResult expected = sample_impacts(batch, settings, Backend::cpu);
    const ImpactSummary& summary = expected.summary[0];
    const EpsilonNet& net = expected.net[0];
    EXPECT_EQ(summary.step_size, stopping_impulse(problem).impulse);
    EXPECT_EQ(summary.max_steps, 40);
    EXPECT_EQ(summary.epsilon, net.requested_epsilon);
    json file;
    ImpactBatch::each_array(
        batch,
        [&](const char* field, const Extents& extents, const Buffer<double>& values) {
          const auto columns = static_cast<std::size_t>(extents.rank() > 2 ? batch.velocities : 0);
          for (std::size_t i = 0; i < values.size(); ++i) {
            json& list = columns == 0 ? file[field] : file[field][i / columns];
            list.push_back(values.data()[i]);
          }
        },
        batch);
    const std::string output = (scratch / (std::string(name) + ".h5")).string();
    const auto sampled = [&](const std::string& target, std::vector<std::string> more = {}) {
      std::vector<std::string> words = {"impact",    target, "--samples", "1500",
                                        "--backend", "cpu",  "--json",    "--no-check"};
      words.insert(words.end(), more.begin(), more.end());
      return carom(words).document();
    };
    const json model = sampled(name, {"--output", output});
    for (const json& result :
         {model, sampled(scratch.file("p.json", file.dump())), sampled(output)}) {
      EXPECT_EQ(result["step_size"].get<double>(), summary.step_size);
      EXPECT_EQ(result["max_steps"], summary.max_steps);
      EXPECT_EQ(result["epsilon_net"]["epsilon"].get<double>(), net.epsilon);
      EXPECT_EQ(result["epsilon_net"]["points"], net.points());
      EXPECT_EQ(result["epsilon_net"]["coverage"].get<std::vector<std::int64_t>>(), net.coverage);
    }
  }
  const json chosen = carom({"impact", "box_wall", "--samples", "16", "--json", "--step", "0.125",
                             "--max-steps", "3"})
                          .document();
  EXPECT_EQ(chosen["step_size"], 0.125);
  EXPECT_EQ(chosen["max_steps"], 3);
}

// Old command lines go on working.
TEST(Impact, PrecisionHasNoEffect) {
  const std::vector<std::string> words = {"impact", "box_wall", "--samples", "64", "--json"};
  const Outcome plain = carom(words);
  const Outcome same = carom(with(words, {"--precision", "double"}));
  EXPECT_TRUE(same.err.empty());
  const Outcome told = carom(with(words, {"--precision", "float"}));
  EXPECT_NE(told.err.find("no effect"), std::string::npos);
  EXPECT_EQ(without_time(same.document()), without_time(plain.document()));
  EXPECT_EQ(without_time(told.document()), without_time(plain.document()));
}

TEST(Impact, SamplesMayBeAPower) {
  const json power = carom({"impact", "rocking_block", "--samples", "2^9", "--json"}).document();
  const json plain = carom({"impact", "rocking_block", "--samples", "512", "--json"}).document();
  EXPECT_EQ(without_time(power), without_time(plain));
}

TEST(Impact, SeedAndThreadsDecideAsPromised) {
  const std::vector<std::string> base = {"impact", "disk_stack", "--samples", "300", "--json"};
  const auto with = [&base](std::vector<std::string> more) {
    std::vector<std::string> words = base;
    words.insert(words.end(), more.begin(), more.end());
    return without_time(carom(words).document());
  };
  EXPECT_EQ(with({"--threads", "1"}), with({"--threads", "2"}));
  const json other = with({"--seed", "18446744073709551615"});
  EXPECT_EQ(other["seed"].get<std::uint64_t>(), 18446744073709551615ULL);
  EXPECT_NE(other["normal_velocity_max"], with({})["normal_velocity_max"]);
}

TEST(Impact, ParametersAreSet) {
  const auto friction = [](const std::string& value) {
    return carom({"impact", "box_wall", "--samples", "200", "--json", "--set", "friction=" + value,
                  "--set", "mass=2"})
        .document();
  };
  EXPECT_NE(friction("0.1")["tangent_velocity_max"], friction("0.9")["tangent_velocity_max"]);
}

TEST(Impact, EpsilonZeroMeansNoNet) {
  const json result =
      carom({"impact", "rocking_block", "--samples", "64", "--epsilon", "0", "--json"}).document();
  EXPECT_TRUE(result["epsilon_net"].is_null());
  EXPECT_EQ(keys(result), kImpactKeys);
}

TEST(Impact, NonUniqueStepsAreFoundAndCounted) {
  const std::vector<std::string> gait = {"impact", "compass_gait", "--samples", "128", "--json"};
  const json examined = carom(gait).document();
  EXPECT_GT(examined["nonunique_solves"].get<int>(), 0);
  EXPECT_GE(examined["nonunique_examined"], examined["nonunique_solves"]);
  std::vector<std::string> words = gait;
  words.push_back("--no-check");
  EXPECT_EQ(carom(words).document()["nonunique_examined"], 0);
  words = gait;
  words.insert(words.end(), {"--selection", "random"});
  const json random = carom(words).document();
  EXPECT_EQ(random["nonunique_examined"], random["lcp_solves"]);
  const json unique = carom({"impact", "rocking_block", "--samples", "128", "--json"}).document();
  EXPECT_EQ(unique["nonunique_solves"], 0);
  EXPECT_GT(unique["nonunique_examined"].get<int>(), 0);
}

TEST(Impact, TextIsATableAndQuietIsSilent) {
  const Outcome text = carom({"impact", "rocking_block", "--samples", "256"});
  EXPECT_EQ(text.status, 0);
  EXPECT_TRUE(text.err.empty()) << text.err;  // no bar: not a terminal
  for (const char* word : {"rocking_block", "LCPs/sample", "time/sample", "time/LCP",
                           "sticking/separating", "epsilon-net", "largest residual"}) {
    EXPECT_NE(text.out.find(word), std::string::npos) << word;
  }
  const Outcome quiet = carom({"impact", "rocking_block", "--samples", "256", "--quiet"});
  EXPECT_EQ(quiet.status, 0);
  EXPECT_TRUE(quiet.out.empty());
  EXPECT_TRUE(quiet.err.empty());
}

TEST(Impact, SeveralShapesOfAFileAreReportedInItsOrder) {
  json ball = block();
  ball["name"] = "ball";
  ball["tangent_jacobian"] = json::parse("[[1, 0, 0], [0, 0, 1]]");
  ball["normal_jacobian"] = json::parse("[[0, 1, 0]]");
  ball["friction"] = {0.5};
  json light = block();
  light["name"] = "light";
  light["velocity"][1] = -1.0;
  const Scratch scratch;
  const std::string file = scratch.file("three.json", json::array({block(), ball, light}).dump());
  const Outcome outcome = carom({"impact", file, "--samples", "100", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const json results = outcome.document();
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results[0]["model"], "block");
  EXPECT_EQ(results[1]["model"], "ball");
  EXPECT_EQ(results[1]["contacts"], 1);
  EXPECT_EQ(results[1]["tangent_velocity_min"].size(), 2U);
  EXPECT_EQ(results[2]["model"], "light");
  for (const json& result : results) EXPECT_EQ(keys(result), kImpactKeys);
  EXPECT_LT(results[0]["normal_velocity_max"][0], results[2]["normal_velocity_max"][0]);

  const json chosen =
      carom({"impact", file, "--samples", "100", "--json", "--problem", "1"}).document();
  EXPECT_EQ(chosen["model"], "ball");
  const Outcome table = carom({"impact", file, "--samples", "100"});
  EXPECT_NE(table.out.find("light"), std::string::npos);
}

TEST(Impact, NoContactAndNothingCollidingAreSolved) {
  json free = block();
  free["normal_jacobian"] = json::array();
  free["tangent_jacobian"] = json::array();
  free["friction"] = json::array();
  json rising = block();
  rising["velocity"][1] = 0.25;
  const Scratch scratch;
  for (const json& problem : {free, rising}) {
    const Outcome outcome =
        carom({"impact", scratch.file("p.json", problem.dump()), "--samples", "10", "--json"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    const json result = outcome.document();
    EXPECT_EQ(result["terminated"], 10);
    EXPECT_EQ(result["lcp_solves"], 0);
    EXPECT_EQ(result["contacts"], problem["friction"].size());
  }
  const json result =
      carom({"impact", scratch.file("p.json", rising.dump()), "--samples", "10", "--json"})
          .document();
  EXPECT_NEAR(result["normal_velocity_min"][1].get<double>(), 0.25, 1e-15);
}

TEST(Impact, AFilesStepAndEpsilonFollowFromTheProblem) {
  const Scratch scratch;
  const auto sampled = [&scratch](const json& problem, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"impact", scratch.file("p.json", problem.dump()), "--samples",
                                      "2000", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return carom(words).document();
  };
  // 1 / (Jn M^-1 Jn') = 1 / (1 + 0.25 / (5/12)) = 0.625
  const json result = sampled(block());
  EXPECT_NEAR(result["step_size"].get<double>(), 0.4429 * 0.625, 1e-15);
  EXPECT_EQ(result["step_size_reason"], "the impulse that stops contact A");
  EXPECT_EQ(result["max_steps_reached"], 0);
  EXPECT_GT(result["epsilon_net"]["points"], 10);
  EXPECT_EQ(result["approaching"], json({0, 1}));
  // a body a thousand times as heavy ends the same way, in steps a thousand times as large
  json heavy = block();
  for (json& row : heavy["mass_matrix"]) {
    for (json& value : row) value = 1024.0 * value.get<double>();
  }
  const json scaled = sampled(heavy);
  EXPECT_EQ(scaled["step_size"].get<double>(), 1024.0 * result["step_size"].get<double>());
  EXPECT_EQ(scaled["mode_counts"], result["mode_counts"]);
  EXPECT_EQ(scaled["epsilon_net"], result["epsilon_net"]);
  // in one file each keeps its own
  const json both = sampled(json::array({heavy, block()}));
  EXPECT_EQ(both[0]["step_size"], scaled["step_size"]);
  EXPECT_EQ(both[1]["step_size"], result["step_size"]);
  EXPECT_EQ(both[1]["mode_counts"], sampled(block(), {"--first-problem", "1"})["mode_counts"]);
  const json chosen = sampled(block(), {"--step", "0.3", "--epsilon", "0.01"});
  EXPECT_TRUE(chosen["step_size_reason"].is_null());
  EXPECT_TRUE(chosen["epsilon_net"]["reason"].is_null());
}

TEST(Impact, AWrongSignIsNamedAndAnEpsilonTooLargeWarns) {
  const Scratch scratch;
  json rising = block();
  rising["name"] = "rising";
  rising["velocity"][1] = 0.25;
  const Outcome text = carom({"impact", scratch.file("p.json", rising.dump())});
  EXPECT_EQ(text.status, 0);
  EXPECT_NE(text.out.find("no contact approaches (normal velocities A 0.25, B 0.25 m/s): nothing "
                          "to solve"),
            std::string::npos)
      << text.out;
  EXPECT_EQ(text.out.find("100"), std::string::npos) << "no shares of nothing: " << text.out;
  const Outcome two =
      carom({"impact", scratch.file("two.json", json::array({rising, block()}).dump())});
  EXPECT_NE(two.out.find("nothing to solve, in 1 of 2: rising"), std::string::npos) << two.out;
  const std::string file = scratch.file("b.json", block().dump());
  const Outcome coarse = carom({"impact", file, "--epsilon", "1"});
  EXPECT_NE(coarse.out.find("epsilon is larger than the whole set"), std::string::npos);
  // comes to rest whatever is drawn; cubes of the net meet at zero, where eight of them have a
  // share
  const json rod = {{"mass_matrix", {{2, 0, 0}, {0, 2, 0}, {0, 0, 1.0 / 6.0}}},
                    {"normal_jacobian", {{0, 1, -0.5}, {0, 1, 0.5}}},
                    {"tangent_jacobian", {{1, 0, 0}, {1, 0, 0}}},
                    {"friction", 0.5},
                    {"velocity", {0.3, -1, 0.4}}};
  const std::string stuck = scratch.file("stuck.json", rod.dump());
  const Outcome point = carom({"impact", stuck});
  EXPECT_NE(point.out.find("the set is one point"), std::string::npos) << point.out;
  EXPECT_LE(carom({"impact", stuck, "--json"}).document()["epsilon_net"]["points"], 8);
  const Outcome small = carom({"impact", file, "--step", "0.001"});
  EXPECT_NE(small.out.find("stopping contact A takes 0.2768 N s"), std::string::npos);
}

TEST(Impact, OneFrictionServesAllContacts) {
  const Scratch scratch;
  json one = block();
  one["friction"] = 0.5;
  json each = block();
  each["friction"] = {0.5, 0.5};
  const auto sampled = [&scratch](const json& problem) {
    return without_time(
        carom({"impact", scratch.file("p.json", problem.dump()), "--samples", "200", "--json"})
            .document());
  };
  EXPECT_EQ(sampled(one), sampled(each));
}

// What holds today: `random` ends in 64 modes of the disk stack, and `any` should one day as well.
TEST(Impact, AnyReachesMostModesOfTheDiskStack) {
  const json stack =
      carom({"impact", "disk_stack", "--samples", "2^13", "--seed", "0", "--json"}).document();
  EXPECT_EQ(stack["terminated"], 8192);
  EXPECT_GE(stack["mode_counts"].size(), 49U);
}

}  // namespace
}  // namespace carom::test
