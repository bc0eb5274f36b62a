#include <gtest/gtest.h>

#include "cli/command.hpp"

namespace carom::test {
namespace {

TEST(Plot, DrawsSvgAndPng) {
  if (!have_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  const Scratch scratch;
  for (const char* model : {"rocking_block", "box_wall", "disk_stack", "tripod"}) {
    const std::string svg = (scratch / "p.svg").string();
    const Outcome outcome = carom({"impact", model, "--samples", "200", "--quiet", "--plot", svg});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    const std::string text = read_text(svg);
    EXPECT_NE(text.find("<svg"), std::string::npos);
    EXPECT_NE(text.find("</svg>"), std::string::npos);
    for (const char* legend : {"intermediate velocities", "post-impact set", "simultaneous",
                               "before the impact", "[m/s]"}) {
      EXPECT_NE(text.find(legend), std::string::npos) << model << ": " << legend;
    }
  }
  const std::string png = (scratch / "p.png").string();
  EXPECT_EQ(
      carom({"impact-models", "compass_gait", "--samples", "200", "--quiet", "--plot", png}).status,
      0);
  EXPECT_EQ(read_text(png).substr(1, 3), "PNG");
  EXPECT_EQ(scratch.files(), 2U);
}

// A name is text for gnuplot, never a command.
TEST(Plot, HostileNamesStayText) {
  if (!have_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  const Scratch scratch;
  json problem = block();
  problem["name"] = "it's_a \"{name}\"'\nsystem('touch injected')\n\\";
  const std::string file = scratch.file("p.json", problem.dump());
  const std::string svg = (scratch / "it's.svg").string();
  const Outcome outcome = carom({"impact", file, "--samples", "100", "--quiet", "--plot", svg});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(read_text(svg).find("</svg>"), std::string::npos);
  EXPECT_EQ(scratch.files(), 2U);
}

TEST(Plot, MissingGnuplotNamesThePackage) {
  const Scratch scratch;
  const Outcome outcome =
      shell("PATH=/nonexistent \"$CAROM\" impact rocking_block --samples 10 --plot '" +
            (scratch / "p.svg").string() + "'");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.complaints(), 1U);
  EXPECT_NE(outcome.err.find("gnuplot-nox"), std::string::npos) << outcome.err;
  EXPECT_EQ(scratch.files(), 0U);
}

TEST(Plot, OnlyOneProblemWithContacts) {
  const Scratch scratch;
  const std::string two = scratch.file("two.json", json::array({block(), block()}).dump());
  const Outcome several = carom({"impact", two, "--plot", (scratch / "p.svg").string()});
  EXPECT_EQ(several.status, 2);
  EXPECT_NE(several.err.find("--problem"), std::string::npos) << several.err;
  json free = block();
  free["normal_jacobian"] = json::array();
  free["tangent_jacobian"] = json::array();
  free["friction"] = json::array();
  const std::string none = scratch.file("none.json", free.dump());
  const Outcome empty = carom({"impact", none, "--plot", (scratch / "p.svg").string()});
  EXPECT_EQ(empty.status, 2);
  EXPECT_NE(empty.err.find("no contact"), std::string::npos) << empty.err;
}

}  // namespace
}  // namespace carom::test
