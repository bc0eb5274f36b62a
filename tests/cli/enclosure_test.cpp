#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/refusal.hpp"

namespace carom::test {
namespace {

TEST(EnclosureCommand, SaysWhatIsPossibleAndAnswers) {
  const Outcome outcome = carom({"impact", "compass_gait", "--method", "events", "--samples",
                                 "4096", "--never", "A separating, B separating", "--never",
                                 "B separating", "--never", "A normal > 0.03", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json result = outcome.document();
  const json& enclosure = result["enclosure"];
  EXPECT_EQ(enclosure["status"], "enclosed");
  EXPECT_TRUE(enclosure["exact"].get<bool>());
  EXPECT_NEAR(enclosure["normal_velocity_max"][1].get<double>(), 0.0995552, 1e-7);
  EXPECT_EQ(enclosure["modes"].size() + enclosure["impossible_modes"].size(), 16U);
  for (const json& mode : enclosure["modes"]) {
    EXPECT_FALSE(mode["vertices"].empty());
    EXPECT_EQ(mode["constraints"][0].size(), 5U);
  }
  EXPECT_EQ(enclosure["never"][0]["answer"], "proven");
  EXPECT_EQ(enclosure["never"][1]["answer"], "counterexample");
  EXPECT_GE(enclosure["never"][1]["sample"].get<int>(), 0);
  EXPECT_NE(enclosure["never"][2]["answer"], "proven");
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_LE(result["normal_velocity_max"][i].get<double>(),
              enclosure["normal_velocity_max"][i].get<double>() + 1e-9);
  }
}

TEST(EnclosureCommand, EventsAreCountedInPieces) {
  for (const char* draws : {"1", "2"}) {  // a report of one problem, a table of several
    const Outcome outcome = carom({"impact", "compass_gait", "--method", "events", "--samples",
                                   "64", "--random", "friction=0.3:0.6", "--draws", draws});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("pieces/sample"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("time/piece"), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.out.find("LCP"), std::string::npos) << outcome.out;
  }
}

TEST(EnclosureCommand, ManyProblemsAreAnsweredInATableAndTogether) {
  const std::vector<std::string> words = {
      "impact",  "compass_gait",     "--method", "events",       "--samples", "64",
      "--sweep", "friction=0.3:5:4", "--never",  "A separating", "--never",   "B normal > 0.2"};
  const Outcome text = carom(words);
  ASSERT_EQ(text.status, 0) << text.err;
  const json results = carom(with(words, {"--json"})).document();
  ASSERT_EQ(results.size(), 4U);
  for (std::size_t q = 0; q < 2; ++q) {
    std::map<std::string, int> counts;
    for (const json& result : results) {
      ++counts[result["enclosure"]["never"][q]["answer"].get<std::string>()];
    }
    for (const auto& [word, count] : counts) {
      EXPECT_NE(text.out.find(word + " in " + std::to_string(count)), std::string::npos)
          << text.out;
    }
  }
  for (const char* word : {"enclosures: enclosed in 4", "coverage",
                           "never \"A separating\": ", "never \"B normal > 0.2\": "}) {
    EXPECT_NE(text.out.find(word), std::string::npos) << text.out;
  }
}

TEST(EnclosureCommand, AFileIsVerifiedFromItselfAlone) {
  const Scratch scratch;
  const std::string file = (scratch / "set.h5").string();
  ASSERT_EQ(
      carom({"impact", "box_wall", "--samples", "64", "--enclose", "--quiet", "--output", file})
          .status,
      0);
  Outcome outcome = carom({"verify", file, "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.document()["enclosure"]["proven"], 1);

  // One digit of the last polyhedron's last row; and no checksum, which would tell.
  std::string bytes = read_text(file);
  bytes.resize(bytes.rfind("carom crc32"));
  std::size_t at = bytes.find("carom-enclosure 1");
  ASSERT_NE(at, std::string::npos);
  at = bytes.find('\0', at);
  while (std::isxdigit(static_cast<unsigned char>(bytes[at])) == 0) --at;
  bytes[at] = bytes[at] == '3' ? '5' : '3';
  write_text(file, bytes);
  outcome = carom({"verify", file, "--json"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.document()["refuted"], json::array({0}));
}

TEST(EnclosureCommand, ADocumentIsVerifiedFromItselfAlone) {
  const Scratch scratch;
  const std::string file = (scratch / "set.json").string();
  const Outcome written =
      carom({"impact", "compass_gait", "--samples", "64", "--enclose", "--json"});
  ASSERT_EQ(written.status, 0) << written.err;
  write_text(file, written.out);
  Outcome outcome = carom({"verify", file, "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.document()["kind"], "enclosure");
  EXPECT_EQ(outcome.document()["enclosure"]["proven"], 1);

  json changed = written.document();
  changed["enclosure"]["problem"]["friction"][0] = 4.9;
  write_text(file, changed.dump());
  outcome = carom({"verify", file, "--json"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.document()["refuted"], json::array({0}));
  changed = written.document();
  changed["enclosure"]["impossible_modes"].push_back("flying/sticking");
  write_text(file, changed.dump());
  expect_refusal(carom({"verify", file}), {"impossible_modes", "flying/sticking"});
}

// What the page calls impossible, no sample of the same page may have.
TEST(EnclosureCommand, SlowContactsAreNoContradiction) {
  const Scratch scratch;
  const std::string problem = (scratch / "feet.json").string();
  const std::string kept = (scratch / "feet.h5").string();
  const std::string text = (scratch / "set.json").string();
  write_text(problem,
             R"({"mass_matrix": [[1, 0, 0], [0, 1, 0], [0, 0, 0.4]],
                 "normal_jacobian": [[0, 1, 0], [0, 1, 1e-6]],
                 "tangent_jacobian": [[1, 0, 1], [1, 0, 1]],
                 "friction": [1, 1], "velocity": [0.3, -1, 0.1]})");
  for (const char* method : {"events", "lcp"}) {
    const Outcome outcome =
        carom({"impact", problem, "--method", method, "--samples", "64", "--never", "A sticking",
               "--never", "A sliding+", "--output", kept, "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    json document = outcome.document();
    json& enclosure = document["enclosure"];
    const json sticking = {{"modes", "sticking/sticking"}, {"sampled", 64}};
    EXPECT_EQ(enclosure["modes_within_tolerance"], json::array({sticking}));
    EXPECT_EQ(enclosure["modes"].size(), 1U);
    EXPECT_EQ(enclosure["impossible_modes"].size(), 14U);
    for (const json& words : enclosure["impossible_modes"]) {
      EXPECT_FALSE(document["mode_counts"].contains(words.get<std::string>())) << words;
    }
    EXPECT_EQ(enclosure["never"][0]["answer"], "open");
    EXPECT_EQ(enclosure["never"][0]["sample"], 0);
    EXPECT_EQ(enclosure["never"][1]["answer"], "proven");
    EXPECT_EQ(carom({"verify", kept}).status, 0);
    write_text(text, document.dump());
    EXPECT_EQ(carom({"verify", text}).status, 0);
    enclosure["never"][0]["answer"] = "proven";
    write_text(text, document.dump());
    EXPECT_EQ(carom({"verify", text}).status, 1);
    enclosure["never"][0]["answer"] = "open";
    enclosure["modes_within_tolerance"][0]["modes"] = "sliding+/sticking";
    write_text(text, document.dump());
    EXPECT_EQ(carom({"verify", text}).status, 1);
  }
  // a tolerance that tells them apart
  const Outcome outcome = carom({"impact", problem, "--method", "events", "--samples", "64",
                                 "--mode-tolerance", "1e-8", "--never", "A sticking", "--json"});
  const json enclosure = outcome.document()["enclosure"];
  EXPECT_EQ(enclosure["never"][0]["answer"], "proven");
  EXPECT_EQ(enclosure["impossible_modes"].size(), 15U);
}

// In space, and with many contacts, only by bounds, which a file proves as well.
TEST(EnclosureCommand, BoundsOtherShapes) {
  const Scratch scratch;
  for (const char* model : {"ball_in_corner", "disk_stack"}) {
    const std::string kept = (scratch / (std::string(model) + ".h5")).string();
    const std::string text = (scratch / (std::string(model) + ".json")).string();
    const std::string name = model == std::string("disk_stack") ? "top_left" : "floor";
    const Outcome outcome =
        carom({"impact", model, "--samples", "256", "--enclose", "--never", name + " normal > 2.5",
               "--never", name + " separating", "--output", kept, "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const json enclosure = outcome.document()["enclosure"];
    EXPECT_EQ(enclosure["status"], "outer");
    EXPECT_TRUE(enclosure["modes"].empty());
    EXPECT_EQ(enclosure["never"][0]["answer"], "proven");
    EXPECT_NE(enclosure["never"][1]["answer"], "proven");
    write_text(text, outcome.out);
    for (const std::string& file : {kept, text}) {
      const Outcome judged = carom({"verify", file, "--json"});
      EXPECT_EQ(judged.status, 0) << judged.err;
      EXPECT_EQ(judged.document()["enclosure"]["proven"], 1) << file;
    }
    json changed = outcome.document();
    changed["enclosure"]["normal_velocity_max"][0] = 0.01;
    write_text(text, changed.dump());
    EXPECT_EQ(carom({"verify", text}).status, 1);
  }
  const Outcome table =
      carom({"impact", "cube_drop", "--samples", "64", "--enclose", "--closeness", "0"});
  EXPECT_NE(table.out.find("only bounds"), std::string::npos);
  EXPECT_NE(table.out.find("tangential 2"), std::string::npos);
}

/// By bounds, for a law, which both files prove again.
TEST(EnclosureCommand, BoundsImpactsWithRestitution) {
  const Scratch scratch;
  const std::string kept = (scratch / "set.h5").string(), text = (scratch / "set.json").string();
  const Outcome written =
      carom({"impact", "rocking_block", "--restitution", "0.3:0.5", "--friction", "0.2:0.4",
             "--restitution-law", "newton", "--samples", "512", "--enclose", "--never",
             "A normal > 0.6", "--json", "--output", kept});
  ASSERT_EQ(written.status, 0) << written.err;
  const json set = written.document()["enclosure"];
  EXPECT_EQ(set["status"], "outer");
  EXPECT_EQ(set["law"], "newton");
  EXPECT_EQ(set["never"][0]["answer"], "proven");
  EXPECT_EQ(set["followed"]["outside"], 0);
  EXPECT_EQ(set["problem"]["restitution"], json::array({{0.3, 0.5}, {0.3, 0.5}}));
  write_text(text, written.out);
  for (const std::string& file : {kept, text}) {
    const Outcome outcome = carom({"verify", file, "--json"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.document()["enclosure"]["proven"], 1);
    EXPECT_EQ(outcome.document()["bounds"]["proven"], 1);
  }
  json changed = written.document();
  changed["enclosure"]["law"] = "stronge";  // bounds of all the work are no closer ones of e^2
  changed["enclosure"]["problem"]["restitution"] = {0.9, 0.9};
  write_text(text, changed.dump());
  EXPECT_EQ(carom({"verify", text, "--json"}).status, 0);  // but hold for them, too
  changed["enclosure"]["normal_velocity_max"][0] = 0.3;
  write_text(text, changed.dump());
  EXPECT_EQ(carom({"verify", text, "--json"}).status, 1);
  changed["enclosure"]["law"] = "hertz";
  write_text(text, changed.dump());
  expect_refusal(carom({"verify", text}), {"law", "hertz", "stronge"});
}

/// By polyhedra that follow the law's stores.
TEST(EnclosureCommand, NamesOutcomesWithRestitution) {
  const Scratch scratch;
  const std::string kept = (scratch / "set.h5").string(), text = (scratch / "set.json").string();
  const std::vector<std::string> asked = {
      "impact",    "rocking_block", "--restitution",     "0.5",
      "--samples", "512",           "--restitution-law", "poisson",
      "--enclose", "--never",       "A sticking",        "--output",
      kept};
  std::vector<std::string> as_json = asked;
  as_json.emplace_back("--json");
  const Outcome written = carom(as_json);
  ASSERT_EQ(written.status, 0) << written.err;
  const json set = written.document()["enclosure"];
  EXPECT_EQ(set["status"], "outer");
  EXPECT_EQ(set["modes"].size(), 1U);
  EXPECT_EQ(set["impossible_modes"].size(), 15U);
  EXPECT_EQ(set["never"][0]["answer"], "proven");
  EXPECT_EQ(set["followed"]["outside"], 0);
  EXPECT_GT(set["filled"], 0.8);
  write_text(text, written.out);
  for (const std::string& file : {kept, text}) {
    const Outcome outcome = carom({"verify", file, "--json"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.document()["enclosure"]["proven"], 1);
    EXPECT_EQ(outcome.document()["outcomes"]["proven"], 1);
  }
  json changed = written.document();
  changed["enclosure"]["law"] = "stronge";
  write_text(text, changed.dump());
  EXPECT_EQ(carom({"verify", text, "--json"}).status, 1);
  const Outcome report = carom(asked);
  EXPECT_NE(report.out.find("releases that end too early"), std::string::npos) << report.out;
  EXPECT_NE(report.out.find("(least: normal of"), std::string::npos) << report.out;
}

/// A tangential range of 0.001 m/s, of which samples reach one point, is not what counts.
TEST(EnclosureCommand, NarrowRangesAreNotTheCoverage) {
  const Outcome outcome =
      carom({"impact", "rocking_block", "--restitution", "0.5", "--samples", "4096", "--enclose"});
  EXPECT_EQ(outcome.out.find("reach 0.00 %"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("coverage: samples reach 9"), std::string::npos) << outcome.out;
}

TEST(EnclosureCommand, RefusesWhatItCannotDo) {
  expect_refusal(carom({"impact", "cube_drop", "--never", "A tangent > 1"}), {"tangent1"});
  expect_refusal(carom({"impact", "box_wall", "--never", "Q separating"}), {"Q", "A or B"});
  const Scratch scratch;
  json named = block();
  named["name"] = "the other";
  named["contact_names"] = {"left", "right"};
  const std::string file = scratch.file("two.json", json::array({block(), named}).dump());
  expect_refusal(carom({"impact", file, "--never", "A separating"}),
                 {"problem 1 (\"the other\")", "A separating", "left or right"});
  json free = block();
  for (const char* key : {"normal_jacobian", "tangent_jacobian", "friction"}) {
    free[key] = json::array();
  }
  expect_refusal(
      carom({"impact", scratch.file("free.json", free.dump()), "--never", "A separating"}),
      {"must name a contact", "none"});
}

TEST(EnclosureCommand, FollowsEventsOfSpatialImpacts) {
  for (const char* name : {"cube_drop", "disk_stack"}) {
    const Outcome outcome = carom({"impact", name, "--method", "events", "--samples", "64"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("followed from event to event"), std::string::npos) << outcome.out;
  }
  EXPECT_EQ(carom({"validate", "bar_on_steps", "--method", "events", "--samples", "32"}).status, 0);
}

// Steps of Algorithm 1 leave the set: how many samples, and by how much, is said.
TEST(EnclosureCommand, SamplesOutsideAreCounted) {
  const std::string file = data_file("impact/lcp_outside.json");
  const Outcome outcome = carom({"impact", file, "--enclose", "--samples", "1024", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json result = outcome.document();
  const json& enclosure = result["enclosure"];
  EXPECT_EQ(enclosure["status"], "enclosed");
  EXPECT_EQ(enclosure["followed"]["compared"], 1024);
  EXPECT_EQ(enclosure["followed"]["outside"], 0);
  EXPECT_GT(enclosure["samples"]["outside"].get<int>(), 512);
  double largest = 0.0;
  for (const char* each : {"normal_velocity", "tangent_velocity"}) {
    for (std::size_t i = 0; i < 2; ++i) {
      const auto bound = [&](const json& of, const char* end) {
        return of[std::string(each) + end][i].get<double>();
      };
      largest = std::max({largest, bound(enclosure, "_min") - bound(result, "_min"),
                          bound(result, "_max") - bound(enclosure, "_max")});
    }
  }
  EXPECT_GT(largest, 1.0);
  EXPECT_GE(enclosure["samples"]["largest"].get<double>(), largest * (1.0 - 1e-12));
  const Outcome text = carom({"impact", file, "--enclose", "--samples", "1024"});
  EXPECT_NE(text.out.find("samples outside: "), std::string::npos) << text.out;
  EXPECT_EQ(text.out.find("coverage:"), std::string::npos) << text.out;
}

// Rows that differ by less than samples can follow: two results exclude each other, no proof is
// given.
TEST(EnclosureCommand, AContradictionIsNoSuccess) {
  const std::string file = data_file("impact/contradiction.json");
  const Outcome outcome = carom({"impact", file, "--method", "events", "--samples", "1024",
                                 "--enclose", "--never", "A separating, B separating", "--json"});
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  const json result = outcome.document();
  const json& enclosure = result["enclosure"];
  EXPECT_EQ(enclosure["status"], "contradiction");
  EXPECT_TRUE(enclosure["impossible_modes"].empty());
  EXPECT_TRUE(enclosure["normal_velocity_max"][0].is_null());
  EXPECT_EQ(enclosure["never"][0]["answer"], "open");
}

}  // namespace
}  // namespace carom::test
