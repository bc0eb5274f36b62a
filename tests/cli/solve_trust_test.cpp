#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "cli/command.hpp"

namespace carom::test {
namespace {

const std::string kFolder = data_file("trust/");

// tests/data/trust/README.md.
const std::map<std::string, std::string> kRight = {
    {"coulomb_false_solved_scales", "solved"},
    {"lcp_false_solved_units", "solved"},
    {"lcp_false_solved_unsolvable", "infeasible"},
    {"lp_false_solved_big_fixed_column", "infeasible"},
    {"lp_false_unbounded_infeasible", "infeasible"},
    {"qp_convex_on_row", "solved"},
    {"qp_crossed_by_one_ulp", "infeasible"},
    {"qp_false_solved_hidden_slope", "unbounded"},
    {"qp_false_unbounded_zero_row", "infeasible"},
    {"qp_min_false_solved_unbounded", "unbounded"},
    {"qp_near_contradiction", "infeasible"},
    {"qp_touching_far_away", "solved"},
    {"qp_nonconvex_on_row", "nonconvex"},
    {"qp_ray_beside_bound", "unbounded"},
    {"qp_rounding_for_zero", "solved"},
    {"qp_singular_false_solved_1", "unbounded"},
    {"qp_slope_in_range_by_rounding", "solved"},
    {"socp_clarabel_120", "infeasible"},
    {"socp_false_solved_infeasible", "infeasible"},
    {"socp_gap", "solved"},
    {"socp_unattained", "no_interior"},
    {"socp_weakly_infeasible", "no_interior"},
    {"socp_weakly_infeasible_far", "no_interior"}};

void expect_right(const std::string& name, const json& answer) {
  const std::string status = answer["status"];
  EXPECT_EQ(status, kRight.at(name));
  if (status == "infeasible" && name != "qp_crossed_by_one_ulp") {  // its bounds are the proof
    EXPECT_FALSE(answer["farkas"].is_null());
  }
  if (status == "unbounded") {
    EXPECT_FALSE(answer["point"].is_null());
    EXPECT_FALSE(answer["ray"].is_null());
  }
}

TEST(SolveTrust, EveryStoredProblemHasItsRightStatus) {
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".json") continue;
    ++files;
    SCOPED_TRACE(entry.path().stem().string());
    ASSERT_EQ(kRight.count(entry.path().stem().string()), 1U);
    expect_right(entry.path().stem().string(),
                 carom({"solve", entry.path().string(), "--json"}).document()[0]);
  }
  EXPECT_EQ(files, kRight.size());
}

TEST(SolveTrust, ObjectivesAreThoseOfExactArithmetic) {
  const std::map<std::string, double> objectives = {
      {"qp_convex_on_row", -8.0},
      {"qp_rounding_for_zero", 600.0012},
      {"qp_slope_in_range_by_rounding", -5.68726371926},
      {"socp_gap", -1.5}};
  for (const auto& [name, objective] : objectives) {
    const bool cones = name.rfind("socp_", 0) == 0;
    for (const char* method : {"auto", "interior_point", "active_set", "admm", "lemke"}) {
      if (cones && (method == std::string("active_set") || method == std::string("lemke")))
        continue;
      SCOPED_TRACE(name + " by " + method);
      const json answer =
          carom({"solve", kFolder + name + ".json", "--json", "--method", method}).document()[0];
      EXPECT_EQ(answer["status"], "solved");
      EXPECT_NEAR(answer["objective"].get<double>(), objective, 1e-9 * std::abs(objective));
    }
  }
}

TEST(SolveTrust, UnitsDoNotHideAnEquation) {
  const json answer =
      carom({"solve", kFolder + "lcp_false_solved_units.json", "--json"}).document()[0];
  EXPECT_DOUBLE_EQ(answer["x"][0].get<double>(), 1.0);
  EXPECT_DOUBLE_EQ(answer["x"][1].get<double>(), 1.0);
}

// A method asked for by name may give up, yet must not answer wrongly.
TEST(SolveTrust, NoMethodAnswersWrongly) {
  for (const auto& [name, right] : kRight) {
    if (name.rfind("qp_", 0) != 0 && name.rfind("socp_", 0) != 0) continue;
    for (const char* method : {"interior_point", "active_set", "admm", "projected", "lemke"}) {
      SCOPED_TRACE(name + " by " + method);
      const Outcome outcome =
          carom({"solve", kFolder + name + ".json", "--json", "--method", method});
      if (outcome.status == 2) continue;  // does not take cones
      const std::string status = outcome.document()[0]["status"];
      EXPECT_TRUE(status == right || status == "inaccurate" || status == "iteration_limit" ||
                  status == "numerical_error")
          << status;
    }
  }
}

}  // namespace
}  // namespace carom::test
