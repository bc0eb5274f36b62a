#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "cli/command.hpp"
#include "io/hdf5_file.hpp"

namespace carom::test {
namespace {

TEST(ImpactModels, CompassGaitHasThreeSimultaneousOutcomes) {
  const Outcome outcome = carom({"impact-models", "compass_gait", "--samples", "64", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json result = outcome.document();
  EXPECT_EQ(keys(result),
            (std::vector<std::string>{"approaching", "model", "sampled", "sequential",
                                      "simultaneous", "simultaneous_complete", "theory"}));
  EXPECT_EQ(result["simultaneous_complete"], true);
  const json theory = result["theory"];
  EXPECT_EQ(theory["pointed"], true);
  EXPECT_GT(theory["margin"].get<double>(), 0.0);
  EXPECT_LE(theory["probability"].get<double>(), 0.01);
  EXPECT_GT(theory["probability"].get<double>(), 0.001) << "the fewest steps for it";
  EXPECT_GT(theory["steps"].get<double>(), theory["c"].get<double>());
  ASSERT_EQ(result["simultaneous"].size(), 3U);  // the trailing foot sticks, slides, lifts
  for (const json& entry : result["simultaneous"]) {
    EXPECT_EQ(keys(entry),
              (std::vector<std::string>{"kinetic_energy", "normal_velocity", "tangent_velocity"}));
    EXPECT_NEAR(entry["normal_velocity"][0].get<double>(), 0.0, 1e-9);
    EXPECT_NEAR(entry["tangent_velocity"][0].get<double>(), 0.0, 1e-9);
  }
  const auto trailing = [&result](std::size_t i, const char* key) {
    return std::fabs(result["simultaneous"][i][key][1].get<double>());
  };
  int sticks = 0;
  int slides = 0;
  int lifts = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const bool lifted = trailing(i, "normal_velocity") > 1e-6;
    const bool moved = trailing(i, "tangent_velocity") > 1e-6;
    lifts += lifted ? 1 : 0;
    slides += !lifted && moved ? 1 : 0;
    sticks += !lifted && !moved ? 1 : 0;
  }
  EXPECT_EQ(std::vector<int>({sticks, slides, lifts}), std::vector<int>({1, 1, 1}));
  EXPECT_EQ(result["sampled"]["samples"], 64);
}

/// The file has what the document has, in numbers.
TEST(ImpactModels, BouncesAreKeptInFiles) {
  const Scratch scratch;
  const std::string file = (scratch / "bounces.h5").string();
  const Outcome outcome =
      carom({"impact-models", "rocking_block", "--restitution", "0.5", "--sequential", "--rounds",
             "poisson", "--lzb", "1:4", "--samples", "64", "--json", "--output", file});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json told = outcome.document()["bounces"];
  ASSERT_GE(told.size(), 4U);  // two orders, rounds, springs
  const io::Hdf5Reader reader(file);
  const std::string group = "/impact_0/bounces/";
  const std::vector<std::string> model = reader.strings(group + "model");
  ASSERT_EQ(model.size(), told.size());
  for (std::size_t i = 0; i < told.size(); ++i) {
    EXPECT_EQ(told[i]["model"], model[i]);
    EXPECT_EQ(told[i]["status"], reader.strings(group + "status")[i]);
    EXPECT_EQ(told[i]["impacts"], reader.integers(group + "impacts")[i]);
    for (const char* name : {"energy_ratio", "distance", "resolution"}) {
      EXPECT_EQ(told[i][name], reader.doubles(group + name)[i]) << name;
    }
    EXPECT_TRUE(std::isnan(reader.doubles(group + "from_measured")[i]));
    const std::size_t nv = told[i]["velocity"].size();
    for (std::size_t j = 0; j < nv; ++j) {
      EXPECT_EQ(told[i]["velocity"][j], reader.doubles(group + "velocity")[i * nv + j]);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      const json& side = told[i][k < 2 ? "normal_velocity" : "tangent_velocity"];
      EXPECT_EQ(side[k % 2], reader.doubles(group + "contact_velocity")[4 * i + k]);
    }
  }
}

TEST(ImpactModels, SequencesTryAllOrdersOfFewContacts) {
  const json block =
      carom({"impact-models", "rocking_block", "--samples", "16", "--json"}).document();
  ASSERT_EQ(block["sequential"].size(), 2U);
  for (const json& entry : block["sequential"]) {
    EXPECT_EQ(keys(entry), (std::vector<std::string>{"impacts", "kinetic_energy", "normal_velocity",
                                                     "order", "tangent_velocity"}));
    EXPECT_GE(entry["impacts"].get<int>(), 1);
  }
  // the last struck corner stays, the first lifts
  EXPECT_EQ(block["sequential"][0]["order"], json({0, 1}));
  EXPECT_GT(block["sequential"][0]["normal_velocity"][0].get<double>(), 0.01);
  EXPECT_GT(block["sequential"][1]["normal_velocity"][1].get<double>(), 0.01);

  const json ball =
      carom({"impact-models", "ball_in_corner", "--samples", "16", "--json"}).document();
  std::set<json> orders;
  for (const json& entry : ball["sequential"]) orders.insert(entry["order"]);
  EXPECT_EQ(orders.size(), 6U);
}

TEST(ImpactModels, FiveContactsTakeRotationsAndReversals) {
  const json stack = carom({"impact-models", "disk_stack", "--samples", "16", "--json"}).document();
  std::set<json> orders;
  for (const json& entry : stack["sequential"]) orders.insert(entry["order"]);
  EXPECT_EQ(stack["sequential"].size(), 10U);
  EXPECT_EQ(orders.size(), 10U);
  EXPECT_TRUE(orders.count(json({2, 3, 4, 0, 1})));
  EXPECT_TRUE(orders.count(json({4, 3, 2, 1, 0})));
}

TEST(ImpactModels, TextShowsEveryOutcome) {
  const Outcome outcome = carom({"impact-models", "rocking_block", "--samples", "16"});
  EXPECT_EQ(outcome.status, 0);
  for (const char* word : {"simultaneous", "A, B, ...", "B, A, ...", "K+ [J]"}) {
    EXPECT_NE(outcome.out.find(word), std::string::npos) << word;
  }
}

TEST(Validate, TwoBackendsAgreeOnTheBlock) {
  const Outcome outcome = carom({"validate", "rocking_block", "--samples", "256", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  const json verdicts = outcome.document();
  ASSERT_EQ(verdicts.size(), 2U);
  for (const json& verdict : verdicts) {
    EXPECT_EQ(verdict["backends"], json({"cpu", "reference"}));
    EXPECT_EQ(verdict["samples"], 256);
    EXPECT_EQ(verdict["disagreements"], 0);
    EXPECT_EQ(verdict["status_differences"], 0);
    EXPECT_LE(verdict["max_difference"].get<double>(), 1e-9);
    EXPECT_TRUE(verdict["worst"].is_null());
  }
  EXPECT_EQ(verdicts[0]["selection"], "any");
  EXPECT_EQ(verdicts[1]["selection"], "lemke");
}

// No two programs agree to 1e-300: the comparison must say so, show the worst and fail.
TEST(Validate, DisagreementIsStatusOneAndShown) {
  const std::vector<std::string> words = {"validate",    "rocking_block", "--samples",   "256",
                                          "--tolerance", "1e-300",        "--selection", "any"};
  const Outcome text = carom(words);
  EXPECT_EQ(text.status, 1);
  EXPECT_NE(text.out.find("worst is sample"), std::string::npos) << text.out;
  std::vector<std::string> with_json = words;
  with_json.push_back("--json");
  const Outcome outcome = carom(with_json);
  EXPECT_EQ(outcome.status, 1);
  const json verdict = outcome.document()[0];
  EXPECT_GT(verdict["disagreements"].get<int>(), 0);
  EXPECT_EQ(verdict["worst"]["velocity"].size(), 2U);
  EXPECT_EQ(verdict["worst"]["velocity"][0].size(), 3U);
  EXPECT_DOUBLE_EQ(verdict["worst"]["difference"].get<double>(),
                   verdict["max_difference"].get<double>());
}

TEST(Validate, SameBackendTwiceIsRefused) {
  const Outcome outcome = carom({"validate", "rocking_block", "--against", "cpu"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.complaints(), 1U);
  EXPECT_NE(outcome.err.find("--against"), std::string::npos);
}

}  // namespace
}  // namespace carom::test
