#include <gtest/gtest.h>
#include <functional>

#include "cli/command.hpp"
#include "cli/refusal.hpp"
#include "io/command_line.hpp"
#include "io/hdf5_file.hpp"

namespace carom::test {
namespace {

// One run of every family, from a built-in model and from a file.
const std::vector<std::vector<std::string>> kRuns = {
    {"impact", "disk_stack", "--set", "friction=0.4", "--samples", "64"},
    {"impact", example("mixed.json"), "--samples", "64", "--seed", "7"},
    {"impact-models", "compass_gait", "--samples", "64"},
    {"equilibrium", "two_contacts", "--p=-0.1:0.1"},
    {"equilibrium", "tripod_flat", "--centre-of-mass", "0.1,0.1,0.2"},
    {"step", "inclined_block", "--random", "friction=0:0.4", "--worlds", "3", "--steps", "5"},
    {"step", example("step.json")},
    {"stability", "figure2", "--sweep", "d=0.1:1.1:3"},
    {"stability", example("walker.json")},
    {"motion", "rocking_block_drop", "--samples", "3", "--random", "angle=0.02:0.1"},
    {"solve", example("lp.json"), example("qp.json"), example("friction.json")},
};

TEST(Rerun, FilesOfEveryFamilyAreReproducedBitForBit) {
  const Scratch scratch;
  const std::string file = (scratch / "first.h5").string();
  for (const std::vector<std::string>& words : kRuns) {
    const Outcome first = carom(with(words, {"--quiet", "--output", file}));
    ASSERT_LE(first.status, 1) << words[0] << first.err;
    const Outcome again = carom({"rerun", file, "--json"});
    EXPECT_EQ(again.status, 0) << words[0] << " " << words[1] << again.out << again.err;
    const json result = again.document();
    EXPECT_EQ(result["reproduced"], true) << words[0];
    EXPECT_EQ(result["same_commit"], true);
    EXPECT_GT(result["compared"], 20) << words[0];

    write_text(scratch / "first.json", carom(with(words, {"--json"})).out);
    const Outcome text = carom({"rerun", (scratch / "first.json").string()});
    EXPECT_EQ(text.status, 0) << words[0] << text.out << text.err;
    EXPECT_NE(text.out.find("reproduced bit for bit on cpu"), std::string::npos) << text.out;
  }
  EXPECT_EQ(scratch.files(), 2U) << "a rerun leaves nothing behind";
}

TEST(Rerun, InputsAreKeptInTheFile) {
  const Scratch scratch;
  const std::string input = scratch.file("it's a block.json", block().dump());
  const std::string output = (scratch / "out.h5").string();
  ASSERT_EQ(carom({"impact", input, "--samples", "32", "--quiet", "--output", output}).status, 0);
  fs::remove(input);
  EXPECT_EQ(carom({"rerun", output}).status, 0);
  // the output stands for its problem
  const json result = carom({"impact", output, "--samples", "8", "--json"}).document();
  EXPECT_EQ(result["model"], "block");
  EXPECT_EQ(result["samples"], 8);
}

TEST(Rerun, OutputsStandForTheirProblems) {
  const Scratch scratch;
  const std::string output = (scratch / "out.h5").string();
  const auto written = [&](const std::vector<std::string>& words) {
    ASSERT_EQ(carom(with(words, {"--quiet", "--output", output})).status, 0);
  };
  written({"impact", "box_wall", "--samples", "16", "--set", "friction=0.1", "--set=mass=2"});
  json from_output = carom({"impact", output, "--samples", "64", "--json"}).document();
  json direct = carom({"impact", "box_wall", "--samples", "64", "--json", "--set", "friction=0.1",
                       "--set", "mass=2"})
                    .document();
  for (json* document : {&from_output, &direct}) {
    document->erase("seconds");
    document->erase("samples_per_second");
  }
  EXPECT_EQ(from_output, direct);
  expect_refusal(carom({"equilibrium", output}), {"written by carom impact", "carom equilibrium"});
  written({"equilibrium", "tripod_flat", "--set", "friction=0.3"});
  EXPECT_EQ(carom({"equilibrium", output, "--json"}).document()["name"], "tripod_flat");
}

TEST(Rerun, DrawnAndChosenProblemsAreTheSameAgain) {
  const Scratch scratch;
  const std::string output = (scratch / "out.h5").string();
  const auto results_of = [&](std::vector<std::string> words, const std::vector<std::string>& of) {
    json results = carom(with(with(std::move(words), of), {"--samples", "8", "--json"})).document();
    for (json& result : results) {
      for (const char* key : {"seconds", "samples_per_second", "carom"}) result.erase(key);
    }
    return results;
  };
  const std::vector<std::string> drawn = {"--random", "friction=0.2:0.8", "--draws=5", "--seed",
                                          "7",        "--first-problem",  "2"};
  const std::vector<std::string> words = {"impact", "rocking_block"};
  ASSERT_EQ(carom(with(with(words, drawn), {"--quiet", "--output", output})).status, 0);
  const json again = results_of({"impact", output}, {});
  EXPECT_EQ(again.size(), 5U);
  EXPECT_EQ(again, results_of(words, drawn));
  EXPECT_EQ(results_of({"impact", output}, {"--seed", "7"}), again);
  expect_refusal(carom({"impact", output, "--seed", "8"}), {"--seed is 8", "out.h5", "--seed 7"});
  expect_refusal(carom({"impact", output, "--draws", "6"}), {"--draws is 6", "--draws 5"});

  ASSERT_EQ(carom({"step", "sphere_stack", "--random", "friction=0.2:0.8", "--worlds", "2",
                   "--steps", "1", "--quiet", "--output", output})
                .status,
            0);
  expect_refusal(carom({"validate", output}), {"out.h5", "--worlds 2", "carom validate"});

  json two = json::array({block(), block()});
  two[1]["name"] = "the second";
  const std::string input = scratch.file("two.json", two.dump());
  ASSERT_EQ(
      carom({"impact", input, "--problem", "1", "--samples", "8", "--quiet", "--output", output})
          .status,
      0);
  EXPECT_EQ(carom({"impact", output, "--samples", "8", "--json"}).document()["model"],
            "the second");
}

// Every command that reads problems takes its own output for them.
TEST(Rerun, OutputsOfEveryCommandStandForTheirProblems) {
  const Scratch scratch;
  const std::vector<std::vector<std::string>> runs = {
      {"impact", "rocking_block", "--samples", "8", "--sweep", "friction=0.2:0.4:2"},
      {"equilibrium", "two_contacts", "--sweep", "friction=0.2:0.4:2"},
      {"step", "inclined_block", "--sweep", "angle=10:20:2"},
      {"stability", "figure2", "--sweep", "mu1=0.2:0.4:2"},
      {"motion", "rocking_block_drop", "--random", "angle=0.02:0.1", "--draws", "2", "--seed", "3"},
      {"solve", example("lcp.json")}};
  for (const std::vector<std::string>& words : runs) {
    SCOPED_TRACE(words[0]);
    const std::string output = (scratch / (words[0] + ".h5")).string();
    const Outcome first = carom(with(words, {"--quiet", "--output", output}));
    ASSERT_EQ(first.status, 0) << first.err;
    std::vector<std::string> again = {words[0], output, "--json"};
    if (words[0] == "impact") again.insert(again.end(), {"--samples", "8"});
    const auto times_aside = [](json document) {
      const std::function<void(json&)> strip = [&](json& part) {
        if (part.is_object()) {
          for (const char* key : {"seconds", "carom", "file"}) part.erase(key);
          for (auto it = part.begin(); it != part.end();) {
            const bool rate = it.key().find("per_second") != std::string::npos;
            it = rate ? part.erase(it) : std::next(it);
          }
        }
        for (json& inner : part) {
          if (inner.is_structured()) strip(inner);
        }
      };
      strip(document);
      return document;
    };
    EXPECT_EQ(times_aside(carom(again).document()),
              times_aside(carom(with(words, {"--json"})).document()));
  }
  for (const std::vector<std::string>& words : runs) {
    const std::string printed = scratch.file("printed.json", carom(with(words, {"--json"})).out);
    expect_refusal(carom({words[0], printed}), {"printed by --json", "carom rerun"});
  }
  expect_refusal(carom({"motion", (scratch / "impact.h5").string()}),
                 {"written by carom impact", "carom motion"});
  io::Hdf5Writer writer(scratch / "foreign.h5");
  writer.dataset("/anything", std::vector<double>{1}, {1, 1, 1});
  writer.close();
  expect_refusal(carom({"motion", (scratch / "foreign.h5").string()}),
                 {"foreign.h5", "is HDF5", "JSON"});
}

TEST(Rerun, DifferencesAreNamed) {
  const Scratch scratch;
  const std::string file = (scratch / "other.json").string();
  json document = json::parse(carom({"impact", "rocking_block", "--samples", "16", "--json"}).out);
  document["lcp_solves"] = 1;
  document["carom"]["commit"] = "0000000";
  write_text(file, document.dump());
  const Outcome text = carom({"rerun", file});
  EXPECT_EQ(text.status, 1);
  EXPECT_NE(text.out.find("lcp_solves: 1 in the file"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("commit 0000000"), std::string::npos) << text.out;

  io::Hdf5Writer writer(scratch / "other.h5");
  writer.attribute("/", "carom_version", std::string_view("0.1.0"));
  writer.attribute("/", "commit", std::string_view("0000000"));
  writer.attribute("/", "backend", std::string_view("cpu"));
  writer.attribute("/", "command", std::string_view("carom solve 'no such file.json'"));
  writer.close();
  expect_refusal(carom({"rerun", (scratch / "other.h5").string()}), {"no such file.json"});
}

TEST(Rerun, FilesWithoutARecordAreRefused) {
  const Scratch scratch;
  expect_refusal(carom({"rerun", example("block.json")}), {"block.json", "cannot be run again"});
  expect_refusal(carom({"rerun", (scratch / "nothing.h5").string()}), {"no such file"});
  io::Hdf5Writer writer(scratch / "foreign.h5");
  writer.dataset("/M", std::vector<double>{1}, {1, 1, 1});
  writer.close();
  expect_refusal(carom({"rerun", (scratch / "foreign.h5").string()}), {"cannot be run again"});
}

TEST(Rerun, CommandLinesAreSplitAsTheyWereJoined) {
  const std::vector<std::string> words = {"carom",     "impact", "a b",   "it's", "",
                                          "--set=x=1", "\\ \"",  "$HOME", "ü"};
  EXPECT_EQ(io::split_words(io::joined_words(words)), words);
  const Outcome shown = shell("printf '%s|' " + io::joined_words(words));
  EXPECT_EQ(shown.out, "carom|impact|a b|it's||--set=x=1|\\ \"|$HOME|ü|");
}

TEST(Info, FilesSayWhereTheyAreFrom) {
  const Scratch scratch;
  const std::string output = (scratch / "out.h5").string();
  carom(
      {"impact", "rocking_block", "--samples", "16", "--quiet", "--seed", "5", "--output", output});
  const Outcome text = carom({"info", output});
  EXPECT_EQ(text.status, 0) << text.err;
  for (const char* word : {"written by carom", "commit", "--seed 5", "residual_tolerance",
                           "/impact_0/net/velocity", "carom rerun"}) {
    EXPECT_NE(text.out.find(word), std::string::npos) << word;
  }
  const json result = carom({"info", output, "--json"}).document();
  EXPECT_EQ(result["attributes"]["seed"], "5");
  EXPECT_NE(carom({"info", example("block.json")}).out.find("no output of carom"),
            std::string::npos);
  expect_refusal(carom({"info", "no.h5"}), {"no.h5", "no such file"});
  const Outcome version = carom({"--version"});
  EXPECT_NE(version.out.find("(commit "), std::string::npos) << version.out;
}

TEST(Info, EveryDocumentSaysItsOriginAndItsSettings) {
  for (const std::vector<std::string>& words : kRuns) {
    json document = json::parse(carom(with(words, {"--json"})).out);
    if (document.is_object()) document = json::array({document});
    for (const json& entry : document) {
      EXPECT_EQ(keys(entry["carom"]), (std::vector<std::string>{"command", "commit", "version"}));
      if (words[0] == "impact-models") continue;  // under `sampled`
      EXPECT_TRUE(entry["settings"].contains("threads")) << words[0];
    }
  }
}

}  // namespace
}  // namespace carom::test
