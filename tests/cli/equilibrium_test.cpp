#include <gtest/gtest.h>

#include <cmath>

#include "cli/command.hpp"
#include "io/hdf5_file.hpp"

namespace carom::test {
namespace {

/// Two contacts on flat ground; tests spoil one field at a time.
json stance() {
  return json::parse(R"({"name": "stance", "dimension": 2, "contacts": [
    {"position": [0, 0], "normal": [0, 1], "friction": 0.5},
    {"position": [1, 0], "normal": [0, 1], "friction": 0.5}]})");
}

json tripod() {
  return json::parse(R"({"name": "tripod", "dimension": 3, "contacts": [
    {"position": [0, 0, 0], "normal": [0, 0, 1], "friction": 0.4},
    {"position": [1, 0, 0], "normal": [0, 0, 1], "friction": 0.4},
    {"position": [0, 1, 0], "normal": [0, 0, 1], "friction": 0.4}]})");
}

Outcome equilibrium(const json& posture, std::vector<std::string> more = {"--json"}) {
  const Scratch scratch;
  std::vector<std::string> words = {"equilibrium", scratch.file("posture.json", posture.dump())};
  words.insert(words.end(), more.begin(), more.end());
  return carom(words);
}

// Exit 2, one line that holds all of `parts`.
void expect_refused(const Outcome& outcome, const std::vector<std::string>& parts) {
  EXPECT_EQ(outcome.status, 2) << outcome.err;
  EXPECT_EQ(outcome.complaints(), 1U);
  EXPECT_EQ(outcome.out, "");
  for (const std::string& part : parts) {
    EXPECT_NE(outcome.err.find(part), std::string::npos) << part << " in " << outcome.err;
  }
}

TEST(Equilibrium, FlatGroundHoldsWhatIsBetweenTheContacts) {
  const Outcome outcome = equilibrium(stance());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json result = outcome.document();
  EXPECT_EQ(result["status"], "solved");
  EXPECT_NEAR(result["strip"]["lower"].get<double>(), 0.0, 1e-9);
  EXPECT_NEAR(result["strip"]["upper"].get<double>(), 1.0, 1e-9);
  EXPECT_NEAR(result["strip"]["normal"][0].get<double>(), 1.0, 1e-12);
  EXPECT_EQ(result["essential_contacts"], json::parse("[0, 1]"));
  EXPECT_TRUE(result["robust_polygon"].is_null());
  EXPECT_LE(result["residual"].get<double>(), 1e-9);
  // tau = x' J' f_ext with f_ext = (0, -1): the torque of weight at x is -x
  EXPECT_NEAR(result["tau_min"].get<double>(), -1.0, 1e-9);
  EXPECT_NEAR(result["tau_max"].get<double>(), 0.0, 1e-9);
}

TEST(Equilibrium, RobustRegionIsTheIntersectionOfFourStrips) {
  json posture = stance();
  posture["neighbourhood"] = {{"p", {-0.2, 0.2}}, {"q", {-0.1, 0.1}}};
  const json result = equilibrium(posture).document();
  ASSERT_EQ(result["robust_status"], "solved");
  ASSERT_EQ(result["robust_polygon"].size(), 4U);
  ASSERT_EQ(result["robust_strips"].size(), 4U);
  for (const json& corner : result["robust_polygon"]) {
    int tight = 0;
    for (const json& strip : result["robust_strips"]) {
      const double s = corner[0].get<double>() * strip["normal"][0].get<double>() +
                       corner[1].get<double>() * strip["normal"][1].get<double>();
      EXPECT_GE(s, strip["lower"].get<double>() - 1e-9);
      EXPECT_LE(s, strip["upper"].get<double>() + 1e-9);
      tight += std::fabs(s - strip["lower"].get<double>()) < 1e-9 ? 1 : 0;
      tight += std::fabs(s - strip["upper"].get<double>()) < 1e-9 ? 1 : 0;
    }
    EXPECT_GE(tight, 2);
  }
}

TEST(Equilibrium, AllPlanarMethodsAgree) {
  for (const char* name : {"two_contacts", "six_contacts", "biped_patches", "v_terrain"}) {
    const json lp = carom({"equilibrium", name, "--json"}).document();
    for (const char* method : {"pairs", "graphic", "line_sweep"}) {
      const json other = carom({"equilibrium", name, "--method", method, "--json"}).document();
      EXPECT_EQ(other["method"], method);
      EXPECT_NEAR(other["strip"]["lower"].get<double>(), lp["strip"]["lower"].get<double>(), 1e-9);
      EXPECT_NEAR(other["strip"]["upper"].get<double>(), lp["strip"]["upper"].get<double>(), 1e-9);
    }
  }
}

TEST(Equilibrium, SupportTriangleOfATripod) {
  const Outcome outcome = equilibrium(tripod());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json result = outcome.document();
  EXPECT_EQ(result["status"], "solved");
  EXPECT_NEAR(result["area_inner"].get<double>(), 0.5, 1e-6);
  EXPECT_NEAR(result["area_outer"].get<double>(), 0.5, 1e-6);
  EXPECT_EQ(result["forces"].size(), result["inner"].size());
  for (const json& entry : result["support"]) {
    // the support function of the triangle (0, 0), (1, 0), (0, 1)
    const double x = entry["direction"][0];
    const double y = entry["direction"][1];
    const double exact = std::max({0.0, x, y});
    EXPECT_LE(entry["lower"].get<double>(), exact + 1e-9);
    EXPECT_GE(entry["upper"].get<double>(), exact - 1e-9);
    EXPECT_NEAR(entry["lower"].get<double>(), exact, 1e-8);
  }
}

TEST(Equilibrium, ConeSidesGiveACertifiedPair) {
  const json exact = carom({"equilibrium", "tripod_steep", "--json"}).document();
  const json pair =
      carom({"equilibrium", "tripod_steep", "--cone-sides", "8", "--json"}).document();
  EXPECT_EQ(pair["cones"], "pair");
  EXPECT_EQ(pair["cone_sides"], 8);
  EXPECT_LT(pair["area_inner"].get<double>(), exact["area_inner"].get<double>());
  EXPECT_GT(pair["area_outer"].get<double>(), exact["area_outer"].get<double>());
}

TEST(Equilibrium, CountersAreForThoseWhoAsk) {
  const Outcome brief = carom({"equilibrium", "tripod_flat"});
  const Outcome full = carom({"equilibrium", "tripod_flat", "--verbose"});
  EXPECT_EQ(brief.out.find("pivots"), std::string::npos) << brief.out;
  EXPECT_NE(full.out.find("pivots"), std::string::npos) << full.out;
  EXPECT_NE(brief.out.find("Proposition 3.3, sampled and conservative"), std::string::npos);
}

TEST(Equilibrium, EmptyRegionIsAnAnswer) {
  json posture = stance();  // both contacts push down
  for (json& contact : posture["contacts"]) contact["normal"] = {0, -1};
  const Outcome outcome = equilibrium(posture);
  EXPECT_EQ(outcome.status, 0);
  const json result = outcome.document();
  EXPECT_EQ(result["status"], "infeasible");
  EXPECT_TRUE(result["tau_min"].is_null());
  EXPECT_TRUE(result["strip"]["lower"].is_null());
}

TEST(Equilibrium, ManyPosturesOfSeveralShapes) {
  const Outcome outcome = equilibrium(json::array({stance(), tripod(), stance()}));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json result = outcome.document();
  ASSERT_EQ(result.size(), 3U);
  EXPECT_EQ(result[0]["name"], "stance");
  EXPECT_EQ(result[1]["name"], "tripod");
  EXPECT_EQ(result[0]["strip"], result[2]["strip"]);
}

TEST(Equilibrium, MarginOfACentreOfMass) {
  const json inside = equilibrium(stance(), {"--centre-of-mass", "0.3,5", "--json"}).document();
  EXPECT_NEAR(inside["probe"]["distance"].get<double>(), 0.3, 1e-9);
  const json outside = equilibrium(stance(), {"--centre-of-mass", "1.5,0", "--json"}).document();
  EXPECT_NEAR(outside["probe"]["distance"].get<double>(), -0.5, 1e-9);
  const Outcome wrong = equilibrium(stance(), {"--centre-of-mass", "1,2,3"});
  expect_refused(wrong, {"--centre-of-mass has 3 numbers", "planar"});
}

TEST(Equilibrium, SpatialMembershipAndRobustRegion) {
  json posture = tripod();
  posture["neighbourhood"] = {{"p", {-0.05, 0.05}}};
  const json inside =
      equilibrium(posture, {"--centre-of-mass", "0.3,0.3,0.5", "--json"}).document();
  EXPECT_EQ(inside["probe"]["status"], "solved");
  // distance of (0.3, 0.3) to the triangle's nearest side, x + y = 1
  EXPECT_NEAR(inside["probe"]["distance"].get<double>(), 0.4 / std::sqrt(2.0), 1e-6);
  EXPECT_EQ(inside["probe"]["robust"], "inside");
  double weight = 0.0;
  for (const json& force : inside["probe"]["forces"]) weight += force[2].get<double>();
  EXPECT_NEAR(weight, 1.0, 1e-9);
  EXPECT_EQ(inside["robust"]["height"], 0.5);
  // tilted by 0.05 either way, the centre of mass at z = 0.5 must keep 0.025 from the sides
  EXPECT_LT(inside["robust"]["area_outer"].get<double>(), 0.5);
  EXPECT_GT(inside["robust"]["area_inner"].get<double>(), 0.35);
  const json outside =
      equilibrium(posture, {"--centre-of-mass", "0.7,0.7,0.5", "--json"}).document();
  EXPECT_EQ(outside["probe"]["status"], "infeasible");
  EXPECT_LT(outside["probe"]["distance"].get<double>(), 0.0);
  EXPECT_EQ(outside["probe"]["robust"], "outside");
}

TEST(Equilibrium, ValidateComparesWithTheReference) {
  for (const char* name : {"two_contacts", "biped_patches", "tripod_steep"}) {
    const Outcome outcome = carom({"validate", name, "--json"});
    EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
    EXPECT_EQ(outcome.document()["disagreements"], 0);
  }
}

TEST(Equilibrium, FilesAndPictures) {
  const Scratch scratch;
  const std::string h5 = (scratch / "out.h5").string();
  const std::string svg = (scratch / "out.svg").string();
  const Outcome outcome = carom({"equilibrium", "two_contacts", "--p=-0.3:0.3", "--q=0:0.1",
                                 "--output", h5, "--plot", svg, "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json result = outcome.document();
  const io::Hdf5Reader reader(h5);
  EXPECT_EQ(reader.doubles("/postures_0/strip/lower").at(0), result["strip"]["lower"]);
  EXPECT_EQ(reader.strings("/postures_0/status").at(0), "solved");
  EXPECT_EQ(reader.doubles("/postures_0/robust/polygon").size(),
            2 * result["robust_polygon"].size());
  const std::string picture = read_text(svg);
  EXPECT_NE(picture.find("<svg"), std::string::npos);
  EXPECT_NE(picture.find("robust region"), std::string::npos);
  const Outcome spatial =
      carom({"equilibrium", "tripod_steep", "--plot", svg, "--output", h5, "--quiet"});
  EXPECT_EQ(spatial.status, 0) << spatial.err;
  EXPECT_EQ(spatial.out, "");
  EXPECT_NE(read_text(svg).find("inner polygon"), std::string::npos);
}

TEST(Equilibrium, RefusesByName) {
  json posture = stance();
  posture["contacts"][1]["normal"] = {0, 1.1};
  expect_refused(equilibrium(posture), {"normal[1]", "1.1", "unit"});
  posture = stance();
  posture["contacts"][1]["friction"] = -0.5;
  expect_refused(equilibrium(posture), {"friction[1]", "-0.5", ">= 0"});
  posture = stance();
  posture["contacts"] = json::array();
  expect_refused(equilibrium(posture), {"contacts", "empty"});
  posture = stance();
  posture["contacts"][0]["position"] = {0, 0, 0};
  expect_refused(equilibrium(posture), {"contacts[0]", "position", "3", "2"});
  posture = stance();
  posture["contacts"][0]["mass"] = 1;
  expect_refused(equilibrium(posture), {"mass"});
  posture = stance();
  posture["contacts"][0].erase("friction");
  expect_refused(equilibrium(posture), {"contacts[0]", "friction"});
  posture = stance();
  posture["neighbourhood"] = {{"p", {0.3, -0.3}}};
  expect_refused(equilibrium(posture), {"neighbourhood", "p", "0.3"});
  posture = stance();
  posture["wrench"] = {{"force", {0, 0}}, {"torque", 0}};
  expect_refused(equilibrium(posture), {"wrench", "force"});
  posture = tripod();
  posture["contacts"][0]["length"] = 0.1;
  expect_refused(equilibrium(posture), {"length[0]", "0.1"});
  expect_refused(carom({"equilibrium", "no_such"}), {"no_such", "two_contacts"});
  expect_refused(carom({"equilibrium", "two_contacts", "--set", "mass=1"}), {"mass", "friction"});
  expect_refused(carom({"equilibrium", "two_contacts", "--method", "simplex"}),
                 {"simplex", "line_sweep"});
}

TEST(Equilibrium, NormalsAreNormalisedWithinAMillionth) {
  json posture = stance();
  posture["contacts"][0]["normal"] = {0, 1.0 + 5e-7};
  const json result = equilibrium(posture).document();
  EXPECT_EQ(result["status"], "solved");
  EXPECT_NEAR(result["strip"]["lower"].get<double>(), 0.0, 1e-9);
}

}  // namespace
}  // namespace carom::test
