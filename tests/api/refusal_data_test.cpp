#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <carom/compliant.hpp>
#include <carom/error.hpp>
#include <carom/impact.hpp>
#include <carom/models/models.hpp>
#include <carom/models/postures.hpp>
#include <carom/models/scenarios.hpp>

// A refusal's pieces, beside its message.
namespace carom {
namespace {

Refusal refusal_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InvalidInput& error) {
    EXPECT_EQ(error.what(), error.refusal().text());
    return error.refusal();  // a copy that outlives the exception
  }
  ADD_FAILURE() << "accepted";
  return {};
}

TEST(RefusalData, MessageIsPutTogetherFromAllPieces) {
  const Refusal refusal{.source = "a.json",
                        .field = "mass_matrix",
                        .index = {1, 0},
                        .problem = 3,
                        .name = "block",
                        .whole = "scenario \"stack\"",
                        .value = "-1",
                        .rule = "must be finite"};
  EXPECT_STREQ(InvalidInput(refusal).what(),
               "a.json: mass_matrix[1][0] of problem 3 (\"block\") of scenario \"stack\" is -1: "
               "must be finite");
  EXPECT_STREQ(InvalidInput("in free words").what(), "in free words");
  EXPECT_STREQ(InvalidInput(Refusal{.field = "mass", .kind = "model", .name = "cube"}).what(),
               "mass of model \"cube\"");
  EXPECT_STREQ(InvalidInput(Refusal{.field = "law", .relation = "", .value = "programme"}).what(),
               "law programme");
}

TEST(RefusalData, ProblemArrayIndexAndValue) {
  std::vector<ImpactProblem> problems(3, models::build("rocking_block"));
  problems[1].name = "steep";
  problems[1].friction[1] = -0.5;
  const Refusal refusal = refusal_of([&] { validate(make_batch(problems)); });
  EXPECT_EQ(refusal.field, "friction");
  EXPECT_EQ(refusal.index, std::vector<std::int64_t>{1});
  EXPECT_EQ(refusal.problem, 1);
  EXPECT_EQ(refusal.value, "-0.5");
  EXPECT_EQ(refusal.rule, "must be >= 0");

  problems[1] = models::build("rocking_block");
  problems[2].mass_matrix[5] = std::numeric_limits<double>::quiet_NaN();
  const Refusal matrix = refusal_of([&] { validate(make_batch(problems)); });
  EXPECT_EQ(matrix.index, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(matrix.problem, 2);
}

TEST(RefusalData, SettingAndPosture) {
  ImpactSettings settings;
  settings.max_steps = -2;
  const Refusal setting = refusal_of([&] { settings.validate(); });
  EXPECT_EQ(setting.field, "max_steps");
  EXPECT_EQ(setting.value, "-2");
  EXPECT_FALSE(setting.problem);

  Posture posture = models::build_posture("two_contacts");
  posture.normal[2] = 3.0;
  const Refusal normal = refusal_of([&] { validate(posture, 7); });
  EXPECT_EQ(normal.field, "normal");
  EXPECT_EQ(normal.index, std::vector<std::int64_t>{1});
  EXPECT_EQ(normal.kind, "posture");
  EXPECT_EQ(normal.problem, 7);
}

TEST(RefusalData, WorldOfAScenario) {
  const models::Scenario& scenario = models::find_scenario("inclined_block");
  std::vector<double> two = models::scenario_parameters(scenario);
  const std::size_t mass = models::parameter_index(scenario, "friction");
  two.insert(two.end(), two.begin(), two.end());
  two[two.size() / 2 + mass] = -1.0;
  const Refusal refusal = refusal_of([&] { models::validate_worlds(scenario, 2, two); });
  EXPECT_EQ(refusal.field, "friction");
  EXPECT_EQ(refusal.kind, "world");
  EXPECT_EQ(refusal.problem, 1);
  EXPECT_NE(refusal.text().find("friction of world 1 of scenario \"inclined_block\" is -1: must"),
            std::string::npos);
}

TEST(RefusalData, ToldOfAFileAndOfAnotherIndex) {
  const InvalidInput error(Refusal{.field = "friction",
                                   .index = {2},
                                   .problem = 0,
                                   .name = "block",
                                   .value = "nan",
                                   .rule = "must be finite"});
  const InvalidInput told = error.with_problem(4).with_source("b.json").with_source("all");
  EXPECT_STREQ(told.what(),
               "all: b.json: friction[2] of problem 4 (\"block\") is nan: must be finite");
  EXPECT_EQ(told.refusal().field, "friction");
  EXPECT_STREQ(InvalidInput("bad").with_source("f").what(), "f: bad");
  EXPECT_FALSE(InvalidInput("bad").with_problem(2).refusal().problem);
}

TEST(RefusalData, CopiesShareWhatTheySay) {
  const auto first = std::make_unique<InvalidInput>(Refusal{.field = std::string(64, 'f')});
  const InvalidInput copy = *first;
  EXPECT_EQ(&copy.refusal(), &first->refusal());
  static_assert(std::is_nothrow_copy_constructible_v<InvalidInput>);
}

}  // namespace
}  // namespace carom
