#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "cli/command.hpp"
#include "cli/refusal.hpp"
#include "io/hdf5_file.hpp"
#include "run/stability_run.hpp"
#include "support/stances.hpp"

namespace carom::test {
namespace {

const std::vector<std::string> kChart = {
    "stability", "figure2", "--sweep", "mu1=0.02:1.12:12", "--sweep", "d=0.08:1.18:12", "--json"};

TEST(StabilityCommand, ChartOfFigure2) {
  const Outcome outcome = carom(kChart);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json result = outcome.document();
  EXPECT_EQ(result["verdicts"]["stable"], 116);
  EXPECT_EQ(result["verdicts"]["unstable"], 11);
  EXPECT_EQ(result["verdicts"]["ambiguous"], 15);
  EXPECT_EQ(result["verdicts"]["undecided"], 2);
  ASSERT_EQ(result["points"].size(), 144U);
  // the last sweep is the fastest
  EXPECT_EQ(result["points"][1]["parameters"]["mu1"], 0.02);
  EXPECT_NEAR(result["points"][1]["parameters"]["d"].get<double>(), 0.18, 1e-12);
  int paper = 0;
  for (const json& point : result["points"]) {
    EXPECT_EQ(keys(point),
              (std::vector<std::string>{"ambiguous_modes", "certificate", "counterexample",
                                        "equilibrium", "force_margin", "growth", "modes", "paradox",
                                        "parameters", "stance", "verdict"}));
    EXPECT_EQ(point["modes"].size(), 16U);
    EXPECT_EQ(point["certificate"].is_null(), point["verdict"] != "stable");
    EXPECT_EQ(point["counterexample"].is_null(), point["verdict"] != "unstable");
    if (point["certificate"].is_null()) continue;
    EXPECT_EQ(point["certificate"]["exact"], true);
    paper += point["certificate"]["kind"] == "paper" ? 1 : 0;
  }
  EXPECT_EQ(paper, 102);
}

TEST(StabilityCommand, OnePointWithImpactAndMotion) {
  const Outcome outcome =
      carom({"stability", "figure2", "--set", "mu1=0.3", "--set", "d=0.4", "--impact",
             "1:0.3,-1,0.1", "--start", "0,0,0,0.3,1,-0.4", "--events", "6", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json result = outcome.document();
  ASSERT_EQ(result["points"].size(), 1U);
  EXPECT_EQ(result["points"][0]["verdict"], "unstable");
  EXPECT_GT(result["points"][0]["growth"].get<double>(), 1.0);
  EXPECT_EQ(result["impact"]["type"], "stick");
  ASSERT_EQ(result["events"].size(), 7U);
  EXPECT_EQ(result["events"][0]["kind"], "start");
  EXPECT_EQ(keys(result["events"][1]),
            (std::vector<std::string>{"contact", "kind", "mode", "position", "time", "velocity"}));
}

TEST(StabilityCommand, VerifyJudgesFilesAnew) {
  const Scratch scratch;
  const std::string h5 = (scratch / "chart.h5").string();
  const Outcome chart = carom(with(kChart, {"--output", h5}));
  ASSERT_EQ(chart.status, 0) << chart.err;
  const std::string text = scratch.file("chart.json", chart.out);
  for (const std::string& file : {text, h5}) {
    const Outcome outcome = carom({"verify", file, "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const json result = outcome.document();
    EXPECT_EQ(result["stable"]["proven"], 116);
    EXPECT_EQ(result["unstable"]["proven"], 11);
    EXPECT_EQ(result["ambiguous"]["proven"], 15);
    EXPECT_TRUE(result["refuted"].empty());
  }
  // what was changed is refuted
  json spoiled = chart.document();
  for (json& point : spoiled["points"]) {
    if (point["verdict"] == "stable" && point["certificate"]["kind"] == "paper") {
      point["certificate"]["s"] = -3.0;
    }
    if (point["verdict"] == "stable" && point["certificate"]["kind"] == "labelled") {
      for (json& value : point["certificate"]["coefficients"]) value = -value.get<double>();
    }
    if (point["verdict"] == "ambiguous") point["ambiguous_modes"] = {"NF"};
    if (point["verdict"] == "unstable") point["stance"]["contacts"][0]["friction"] = 1.5;
  }
  const Outcome outcome = carom({"verify", scratch.file("spoiled.json", spoiled.dump()), "--json"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.document()["refuted"].size(), 116U + 15U + 11U);
  expect_refusal(carom({"verify", scratch.file("other.json", "{\"name\": 1}")}), {"other.json"});
}

// The paper's own programme tells how it ended; what it proves is kept and judged as anything else.
TEST(StabilityCommand, ThePapersProgramme) {
  const Scratch scratch;
  const std::string h5 = (scratch / "sos.h5").string();
  const Outcome outcome = carom({"stability", "figure2", "--set", "mu1=1", "--sweep",
                                 "d=0.25:0.9:2", "--method", "sos", "--json", "--output", h5});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json points = outcome.document()["points"];
  const json& point = points[1];
  EXPECT_EQ(point["verdict"], "stable");
  EXPECT_EQ(point["certificate"]["kind"], "sos");
  EXPECT_EQ(point["certificate"]["exact"], true);
  EXPECT_EQ(point["sos"]["rows"], 686);
  EXPECT_EQ(point["sos"]["unknowns"], 2220);
  EXPECT_EQ(point["sos"]["blocks"], 81);
  EXPECT_EQ(point["sos"]["largest_block"], 21);
  EXPECT_GT(point["sos"]["iterations"], 10);
  EXPECT_EQ(point["sos"]["status"], "solved");
  EXPECT_LE(point["sos"]["residual"], 1e-9);
  EXPECT_EQ(point["sos"]["face_largest_block"], 3);
  for (const std::string& file : {scratch.file("sos.json", outcome.out), h5}) {
    const Outcome judged = carom({"verify", file, "--json"});
    ASSERT_EQ(judged.status, 0) << judged.err;
    EXPECT_EQ(judged.document()["stable"]["proven"], points[0]["verdict"] == "stable" ? 2 : 1);
  }
  const Outcome text =
      carom({"stability", "figure2", "--set", "mu1=0.3", "--set", "d=0.5", "--method", "sos"});
  EXPECT_NE(text.out.find("no such function exists"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("undecided"), std::string::npos) << text.out;
}

// Both charts as the programme has them: the paper's class, and no single function anywhere.
TEST(StabilityCommand, TheProgrammesOfBothCharts) {
  const auto statuses = [](const std::vector<std::string>& chart, const std::string& method) {
    std::vector<std::string> words{"stability"};
    words.insert(words.end(), chart.begin(), chart.end());
    words.insert(words.end(), {"--method", method, "--json"});
    std::map<std::string, int> count;
    const json document = carom(words).document();
    for (const json& point : document["points"]) {
      ++count[point["sos"].is_null() ? "none" : point["sos"]["status"].get<std::string>()];
    }
    return count;
  };
  const std::vector<std::string> figure2{"figure2", "--sweep", "mu1=.02:1.12:12", "--sweep",
                                         "d=.08:1.18:12"};
  const std::vector<std::string> figure3{"figure3", "--sweep", "mu=.38:1.48:12", "--sweep",
                                         "d=.08:1.18:12"};
  using Counts = std::map<std::string, int>;
  EXPECT_EQ(statuses(figure2, "sos"), (Counts{{"solved", 102}, {"infeasible", 27}, {"none", 15}}));
  EXPECT_EQ(statuses(figure3, "sos"), (Counts{{"solved", 83}, {"infeasible", 61}}));
  EXPECT_EQ(statuses(figure2, "single"), (Counts{{"infeasible", 129}, {"none", 15}}));
  EXPECT_EQ(statuses(figure3, "single"), (Counts{{"infeasible", 144}}));
}

TEST(StabilityCommand, FilesAndTheirSweeps) {
  const Scratch scratch;
  const std::string file = scratch.file("walker.json", R"({"name": "walker", "angle": 0.2,
    "contacts": [{"l": -0.3, "h": 1, "friction": 0.9}, {"l": 0.8, "h": 0.9, "friction": 0.9}]})");
  const Outcome one = carom({"stability", file, "--json"});
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(one.document()["points"][0]["verdict"], "stable");
  const Outcome swept = carom({"stability", file, "--sweep", "friction=0.05:0.9:3", "--json"});
  ASSERT_EQ(swept.status, 0) << swept.err;
  EXPECT_EQ(swept.document()["points"][0]["verdict"], "no_equilibrium");
  EXPECT_EQ(swept.document()["points"][2]["stance"]["contacts"][1]["friction"], 0.9);
  const Outcome text = carom({"stability", file});
  EXPECT_EQ(text.status, 0);
  EXPECT_NE(text.out.find("consistent"), std::string::npos);
}

TEST(StabilityCommand, ValidateFindsNoDisagreement) {
  const Outcome outcome = carom({"validate", "figure2", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err << outcome.out;
  const json result = outcome.document()[0];
  EXPECT_EQ(result["points"], 144);
  EXPECT_EQ(result["disagreements"], 0);
  EXPECT_LE(result["decided_by_one"].get<int>(), 16);  // the labelled ones, near boundaries
}

TEST(StabilityCommand, ValidateTakesNoMethodOfImpacts) {
  const Outcome outcome = carom({"validate", "figure2", "--method", "lcp"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("--method: lcp or events of impacts"), std::string::npos)
      << outcome.err;
}

TEST(StabilityCommand, RefusesByName) {
  const Scratch scratch;
  const auto file = [&](const std::string& contact) {
    return scratch.file("bad.json", R"({"angle": 0.1, "contacts": [)" + contact +
                                        R"(, {"l": 1, "h": 1, "friction": 1}]})");
  };
  expect_refusal(carom({"stability", file(R"({"l": 0, "h": 1, "friction": -1})")}),
                 {"bad.json", "friction[0]", "-1"});
  expect_refusal(carom({"stability", file(R"({"l": 0, "h": 1, "friction": 1, "restitution": 1})")}),
                 {"restitution[0]", "[0, 1)"});
  expect_refusal(carom({"stability", file(R"({"l": 1, "h": 1, "friction": 1})")}),
                 {"contacts", "different points"});
  expect_refusal(carom({"stability", "figure2", "--sweep", "d=0.1:1:3", "--sweep", "d=0.1:1:3"}),
                 {"--sweep", "d is also given"});
  expect_refusal(carom({"stability", "figure2", "--set", "nothing=1"}), {"nothing", "mu1"});
  expect_refusal(carom({"stability", "figure2", "--method", "lmi"}), {"--method", "labelled, sim"});
  expect_refusal(carom({"stability", "figure2", "--impact", "3:0,0,0"}), {"--impact"});
  expect_refusal(carom({"stability", "figure2", "--sweep", "d=0.1:1:3", "--start", "0,0,0,1,1,1"}),
                 {"--start", "one point"});
  expect_refusal(carom({"stability", "figure4"}), {"figure4", "figure2, figure3"});
}

/// Two stances as data sets; slope and torque are left out.
struct StanceSets {
  std::vector<double> l = {-0.3, 0.8, -0.4, 0.6}, h = {1, 0.9, 1, 1}, friction = {0.9, 0.9, 0.5, 2};
  std::vector<double> restitution = {0, 0, 0.1, 0.1}, angle = {0.2, 0.1};
  io::Shape shape = {2, 2};
  const char* surplus = nullptr;
  bool named = true;

  void write(const std::filesystem::path& file) const {
    io::Hdf5Writer writer(file);
    if (named) writer.dataset("/name", std::vector<std::string>{"walker", "gripper"});
    writer.dataset("/l", l, {2, 2});
    writer.dataset("/h", h, {2, 2});
    writer.dataset("/friction", friction, shape);
    writer.dataset("/restitution", restitution, {2, 2});
    if (!angle.empty()) writer.dataset("/angle", angle, {2});
    if (surplus != nullptr) writer.dataset(surplus, angle, {2});
    writer.close();
  }
};

TEST(StabilityCommand, DataSetsAreReadLikeJson) {
  const Scratch scratch;
  const std::string sets = (scratch / "stances.h5").string();
  StanceSets{}.write(sets);
  const std::string text = scratch.file("stances.json", R"([
    {"name": "walker", "angle": 0.2, "contacts": [{"l": -0.3, "h": 1, "friction": 0.9},
      {"l": 0.8, "h": 0.9, "friction": 0.9}]},
    {"name": "gripper", "angle": 0.1, "force": 1, "torque": 0, "contacts":
      [{"l": -0.4, "h": 1, "friction": 0.5, "restitution": 0.1},
       {"l": 0.6, "h": 1, "friction": 2, "restitution": 0.1}]}])");
  const std::string output = (scratch / "out.h5").string();
  const Outcome from_sets = carom({"stability", sets, "--json", "--output", output});
  ASSERT_EQ(from_sets.status, 0) << from_sets.err;
  const json points = from_sets.document()["points"];
  EXPECT_EQ(points, carom({"stability", text, "--json"}).document()["points"]);
  EXPECT_EQ(points[0]["verdict"], "stable");
  EXPECT_EQ(points[1]["stance"]["name"], "gripper");
  // an output stands for its stances
  const json again = carom({"stability", output, "--json"}).document()["points"];
  ASSERT_EQ(again.size(), 2U);
  EXPECT_EQ(again[1]["certificate"], points[1]["certificate"]);
  EXPECT_EQ(carom({"info", sets}).status, 0);
  EXPECT_EQ(carom({"validate", sets}).status, 0);

  const auto refused = [&](auto&& spoil, const std::vector<std::string>& words) {
    StanceSets bad;
    spoil(bad);
    bad.write(scratch / "bad.h5");
    expect_refusal(carom({"stability", (scratch / "bad.h5").string()}), words);
  };
  refused([](StanceSets& s) { s.friction[2] = -1.0; }, {"bad.h5", "gripper", "friction[0]", "-1"});
  refused([](StanceSets& s) { s.restitution[1] = 1.0; }, {"walker", "restitution[1]", "[0, 1)"});
  refused([](StanceSets& s) { s.angle[1] = NAN; }, {"gripper", "angle", "nan"});
  refused([](StanceSets& s) { s.l[1] = -0.3, s.h[1] = 1.0; }, {"walker", "different points"});
  refused([](StanceSets& s) { s.named = false, s.friction[2] = -1.0; },
          {"bad.h5", "stance 1", "friction[0]", "-1"});
  refused([](StanceSets& s) { s.shape = {4}; }, {"bad.h5", "friction", "axes"});
  refused([](StanceSets& s) { s.shape = {1, 4}; }, {"friction", "[1, 4]", "[2, 2]"});
  refused([](StanceSets& s) { s.surplus = "/mass"; }, {"bad.h5", "mass", "restitution"});
  refused([](StanceSets& s) { s.angle.clear(); }, {"bad.h5", "angle"});
}

/// Random states are functions of a point's place in the chart, not in the piece it came in.
TEST(StabilityRun, PiecesAreTheWhole) {
  run::StancePoints points;
  const std::size_t first = 16384, count = first + 40;
  for (std::size_t i = 0; i < count; ++i) {  // those of the first piece do not rest
    points.stances.push_back(test::of_figure3(i < first ? 0.01 : 0.5, 0.5));
    points.at.emplace_back();
  }
  StabilitySettings settings;
  settings.method = StabilityMethod::simulate;
  settings.states = 2;
  const StabilityResult whole =
      analyse_stability(stance_batch(points.stances), settings, Backend::cpu);
  const run::StabilityRun pieces =
      run::run_stability(std::move(points), settings, Backend::cpu, {}, {});
  std::set<std::int64_t> seen;
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(whole.events.host()[i], pieces.result.events.host()[i]) << i;
    if (i >= first) seen.insert(whole.events.host()[i]);
  }
  EXPECT_GT(seen.size(), 3U);  // other random states at other places
}

/// Drawn points are functions of the seed and of their place, whatever is swept beside them.
TEST(Stability, ParametersAreDrawn) {
  const std::vector<std::string> line = {"stability", "figure2", "--sweep", "mu1=0.2:1:3",
                                         "--random",  "d=0.1:1", "--draws", "4",
                                         "--seed",    "9",       "--json"};
  const json first = carom(line).document();
  ASSERT_EQ(first["points"].size(), 12U);
  std::set<double> drawn;
  for (std::size_t i = 0; i < 12; ++i) {
    const json& at = first["points"][i]["parameters"];
    EXPECT_DOUBLE_EQ(at["mu1"].get<double>(), i < 4 ? 0.2 : i < 8 ? 0.6 : 1.0);
    EXPECT_GE(at["d"].get<double>(), 0.1);
    EXPECT_LE(at["d"].get<double>(), 1.0);
    drawn.insert(at["d"].get<double>());
  }
  EXPECT_EQ(drawn.size(), 12U);
  EXPECT_EQ(first["points"], carom(line).document()["points"]);
  expect_refusal(carom({"stability", "figure2", "--random", "d=0.1:1", "--plot", "chart.svg"}),
                 {"--plot", "drawn points make no chart"});
  expect_refusal(carom({"stability", "figure2", "--sweep", "d=0.1:1:3", "--random", "d=0.1:1"}),
                 {"--random", "d is also given"});
}

}  // namespace
}  // namespace carom::test
