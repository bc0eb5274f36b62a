#include <gtest/gtest.h>

#include <set>

#include "cli/command.hpp"

namespace carom::test {
namespace {

class EveryCommand : public testing::TestWithParam<std::string> {};

TEST_P(EveryCommand, HelpShowsOptionsAndAnExample) {
  const Outcome outcome = carom({GetParam(), "--help"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(outcome.err.empty()) << outcome.err;
  EXPECT_NE(outcome.out.find("Usage: carom " + GetParam()), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("--json"), std::string::npos);
  EXPECT_NE(outcome.out.find("Example: carom " + GetParam()), std::string::npos) << outcome.out;
}

TEST_P(EveryCommand, UnknownOptionIsOneLineAndStatusTwo) {
  const Outcome outcome = carom({GetParam(), "--no-such-option"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(outcome.out.empty()) << outcome.out;
  EXPECT_EQ(outcome.complaints(), 1U) << outcome.err;
}

INSTANTIATE_TEST_SUITE_P(Help, EveryCommand,
                         testing::Values("info", "models", "impact", "impact-models", "equilibrium",
                                         "step", "stability", "solve", "validate", "verify"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Help, ProgramHelpListsTheCommands) {
  const Outcome outcome = carom({"--help"});
  EXPECT_EQ(outcome.status, 0);
  for (const char* name :
       {"info", "models", "impact", "impact-models", "equilibrium", "step", "solve", "validate"}) {
    EXPECT_NE(outcome.out.find(std::string("\n  ") + name + " "), std::string::npos) << name;
  }
  EXPECT_NE(outcome.out.find("Example: carom "), std::string::npos);
}

TEST(Help, NoCommandAndUnknownCommandAreRefused) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{}, std::vector<std::string>{"juggle"}}) {
    const Outcome outcome = carom(words);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_TRUE(outcome.out.empty());
    EXPECT_EQ(outcome.complaints(), 1U) << outcome.err;
  }
  const std::string unknown = carom({"juggle"}).err;
  EXPECT_NE(unknown.find("unknown command juggle: known are info, models"), std::string::npos)
      << unknown;
  EXPECT_EQ(carom({"impact", "rocking_block", "--stride", "0.1"}).err,
            "carom: --stride is not an argument of carom impact; see carom impact --help\n");
  EXPECT_EQ(carom({"impact"}).err, "carom: target is required; see carom impact --help\n");
  // An example of a number is given only if it would be accepted.
  const std::string contact = carom({"stability", "figure2", "--impact", "3:0,0,0"}).err;
  EXPECT_NE(contact.find("from 1 to 2\n"), std::string::npos) << contact;
}

TEST(Help, VersionIsThatOfInfo) {
  const Outcome version = carom({"--version"});
  EXPECT_EQ(version.status, 0);
  const json info = carom({"info", "--json"}).document();
  EXPECT_EQ(version.out, "carom " + info["version"].get<std::string>() + " (commit " +
                             info["commit"].get<std::string>() + ")\n");
}

TEST(Info, JsonNamesBackendsAndThreads) {
  const Outcome outcome = carom({"info", "--json"});
  EXPECT_EQ(outcome.status, 0);
  const json info = outcome.document();
  EXPECT_TRUE(info["backends"].is_array());
  EXPECT_NE(std::find(info["backends"].begin(), info["backends"].end(), "reference"),
            info["backends"].end());
  EXPECT_GE(info["threads"].get<int>(), 1);
  EXPECT_TRUE(info["devices"].is_array());
  const bool cuda =
      std::find(info["backends"].begin(), info["backends"].end(), "cuda") != info["backends"].end();
  EXPECT_EQ(cuda, !info["devices"].empty());
}

TEST(Info, TextNamesTheVersion) {
  const Outcome outcome = carom({"info"});
  EXPECT_EQ(outcome.status, 0);
  const std::string version = carom({"info", "--json"}).document()["version"];
  EXPECT_EQ(outcome.out.rfind("carom " + version, 0), 0U) << outcome.out;
}

TEST(Models, JsonListsEveryModelWithItsParameters) {
  const Outcome outcome = carom({"models", "--json"});
  EXPECT_EQ(outcome.status, 0);
  const json models = outcome.document();
  std::vector<std::string> names;
  std::set<std::string> commands;
  for (const json& model : models) {
    commands.insert(model["command"]);
    if (model["command"] == "impact") names.push_back(model["name"]);
    EXPECT_TRUE(model["command"] == "step" || !model.at("contacts").empty());
    for (const json& parameter : model["parameters"]) {
      EXPECT_EQ(keys(parameter),
                (std::vector<std::string>{"default", "maximum", "meaning", "minimum",
                                          "minimum_open", "name", "unit"}));
      EXPECT_LE(parameter["minimum"].get<double>(), parameter["default"].get<double>());
      EXPECT_LE(parameter["default"].get<double>(), parameter["maximum"].get<double>());
    }
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"rocking_block", "compass_gait", "box_wall", "ramone",
                                      "disk_stack", "cube_drop", "tripod", "bar_on_steps",
                                      "ball_in_corner", "newtons_cradle", "cube_two_corners"}));
  EXPECT_EQ(commands,
            (std::set<std::string>{"equilibrium", "impact", "motion", "stability", "step"}));
}

TEST(Models, OneModelByName) {
  const Outcome outcome = carom({"models", "box_wall", "--json"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.document()["name"], "box_wall");
  const Outcome text = carom({"models", "box_wall"});
  EXPECT_NE(text.out.find("friction"), std::string::npos);
  EXPECT_EQ(text.out.find("rocking_block"), std::string::npos);
}

TEST(Models, UnknownNameIsRefusedWithTheKnownOnes) {
  const Outcome outcome = carom({"models", "unicycle"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.complaints(), 1U);
  EXPECT_NE(outcome.err.find("unicycle"), std::string::npos);
  EXPECT_NE(outcome.err.find("ball_in_corner"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace carom::test
