#include <gtest/gtest.h>

#include <cmath>

#include <carom/impact_judge.hpp>

#include "cli/command.hpp"
#include "core/words.hpp"
#include "io/hdf5_file.hpp"
#include "io/impact_input.hpp"

namespace carom::test {
namespace {

const std::string kTwoCorners = example("cube_tosses/two_corners.h5");

/// A ball of 2 kg that falls with 1 m/s on a plane without friction; v+ as measured.
json ball(const std::string& name, double measured) {
  return {{"name", name},
          {"mass_matrix", {{2, 0}, {0, 2}}},
          {"normal_jacobian", {{0, 1}}},
          {"tangent_jacobian", {{1, 0}}},
          {"friction", 0.3},
          {"velocity", {0, -1}},
          {"measured", {{"velocity", {0, measured}}}}};
}

TEST(Judge, OfABallTheDistanceIsThatOfItsRestitution) {
  const Scratch scratch;
  json balls = json::array();
  for (const double e : {0.6, 0.55, 0.3}) balls.push_back(ball(std::to_string(e), e));
  const std::string file = scratch.file("balls.json", balls.dump());
  const json found = carom({"impact", file, "--restitution", "0.6", "--measured", "--reached",
                            "0.06", "--samples", "32", "--json"})
                         .document();
  ASSERT_EQ(found.size(), 3U);
  const double distance[] = {0.0, 0.05, 0.3};
  const char* const verdict[] = {"inside", "inside", "not_reached"};
  for (std::size_t i = 0; i < 3; ++i) {
    const json& judged = found[i]["judgement"];
    EXPECT_NEAR(judged["distance"], distance[i], 1e-12);
    EXPECT_NEAR(judged["floor"], 0.0, 1e-7);  // some impulse explains each of them
    EXPECT_EQ(judged["verdict"], verdict[i]);
    EXPECT_EQ(judged["allowed"], 0.06);
    EXPECT_NEAR(judged["nearest_velocity"][1], 0.6, 1e-12);
    EXPECT_NEAR(judged["nearest_impulse"][0], 3.2, 1e-12);
    EXPECT_EQ(judged["nearest_restitution"], json({0.6}));
    EXPECT_EQ(judged["nearest_path"].front(), json({0.0, -1.0}));
    EXPECT_EQ(judged["nearest_path"].back(), judged["nearest_velocity"]);
  }
}

TEST(Judge, IdentifiesTheRestitutionOfBalls) {
  const Scratch scratch;
  json balls = json::array();
  for (const double e : {0.52, 0.48, 0.6, 0.1}) balls.push_back(ball(std::to_string(e), e));
  const std::string file = scratch.file("balls.json", balls.dump());
  const json found = carom({"impact", file, "--identify", "restitution=0.4:0.8:5", "--identify",
                            "friction=0.2:0.4:2", "--share", "0.75", "--samples", "8", "--json"})
                         .document();
  const double grid[] = {0.4, 0.5, 0.6, 0.7, 0.8}, measured[] = {0.52, 0.48, 0.6, 0.1};
  for (std::size_t i = 0; i < 4; ++i) {
    const json& identify = found[i]["identify"];
    for (std::size_t a = 0; a < 5; ++a) {
      for (std::size_t b = 0; b < 2; ++b) {
        EXPECT_NEAR(identify["distance"][a][b], std::abs(grid[a] - measured[i]), 1e-12);
      }
    }
    // three of four are explained within 0.03, by one friction as well as by two
    const double box[2][2] = {{grid[1], grid[2]}, {0.2, 0.2}};
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_NEAR(identify["smallest_interval"][k / 2][k % 2], box[k / 2][k % 2], 1e-12);
    }
  }
  EXPECT_EQ(found[0]["identify"]["explains"], json({{0.5, 0.2}, {0.5, 0.4}}));
  EXPECT_TRUE(found[3]["identify"]["explains"].empty());
}

TEST(Judge, ReportsAndWritesWhatTheLibraryFinds) {
  const Scratch scratch;
  const std::string file = (scratch / "out.h5").string();
  const std::vector<std::string> words = {
      "impact",     kTwoCorners,  "--problem", "3",         "--restitution",
      "0.2:0.4",    "--friction", "0.1:0.2",   "--samples", "256",
      "--measured", "--output",   file,        "--seed",    "5"};
  const json found = carom(with(words, {"--json"})).document()["judgement"];

  const io::NamedImpact given = io::read_impact_problems(kTwoCorners)[3];
  ImpactProblem problem = given;
  problem.restitution_low = {0.2, 0.2};
  problem.restitution_high = {0.4, 0.4};
  problem.friction = {0.1, 0.1};
  problem.friction_high = {0.2, 0.2};
  MeasuredImpacts measured;
  measured.measured_velocity = Buffer<double>::from(given.measured.measured_velocity);
  measured.measured_covariance = Buffer<double>::from(given.measured.measured_covariance);
  ImpactSettings sampling;
  sampling.samples = 256;
  sampling.seed = 5;
  sampling.method = ImpactMethod::events;
  sampling.friction_directions = 16;
  const ImpactJudgement own = judge_impacts(make_batch({&problem, 1}), measured, {}, sampling);
  EXPECT_EQ(found["distance"], own.samples.distance.data()[0]);
  EXPECT_EQ(found["resolution"], own.samples.resolution.data()[0]);
  EXPECT_EQ(found["floor"], own.floor.floor.data()[0]);
  EXPECT_EQ(found["verdict"], word_of(own.samples.verdict.data()[0]));
  EXPECT_EQ(found["nearest_seed"], own.samples.nearest_seed.data()[0]);

  const io::Hdf5Reader reader(file);
  const std::string group = "/impact_0/judgement/";
  EXPECT_EQ(reader.doubles(group + "distance")[0], own.samples.distance.data()[0]);
  const std::vector<double> nearest = reader.doubles(group + "nearest_velocity");
  const std::vector<double> path = reader.doubles(group + "nearest_path");
  ASSERT_EQ(nearest.size(), 6U);
  ASSERT_GE(path.size(), 12U);
  EXPECT_TRUE(std::equal(nearest.begin(), nearest.end(), path.end() - 6));
  EXPECT_TRUE(std::equal(problem.velocity.begin(), problem.velocity.end(), path.begin()));

  const std::string text = carom(words).out;
  EXPECT_NE(text.find("measured outcome: "), std::string::npos) << text;
  EXPECT_NE(text.find("floor, the distance to what impulses"), std::string::npos) << text;
}

TEST(Judge, AProblemWithoutAMeasuredOutcomeIsRefused) {
  const Scratch scratch;
  json balls = {ball("first", 0.5), ball("second", 0.5)};
  balls[1].erase("measured");
  const std::string file = scratch.file("balls.json", balls.dump());
  const Outcome outcome = carom({"impact", file, "--measured"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("problem 1 (\"second\") has no \"measured\" outcome"),
            std::string::npos)
      << outcome.err;
  const Outcome one = carom({"impact", file, "--identify", "friction=0:1:3"});
  EXPECT_EQ(one.status, 2);
  EXPECT_NE(one.err.find("restitution has no grid"), std::string::npos) << one.err;
}

}  // namespace
}  // namespace carom::test
