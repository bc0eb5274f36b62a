#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "cli/refusal.hpp"

namespace carom::test {
namespace {

json first_of(const std::string& name) {
  const json document = json::parse(read_text(example(name)));
  return document.is_array() ? document[0] : document;
}

std::string other_case(std::string key) {
  const auto letter = static_cast<unsigned char>(key[0]);
  key[0] =
      static_cast<char>(std::isupper(letter) != 0 ? std::tolower(letter) : std::toupper(letter));
  return key;
}

struct Input {
  const char* command;
  const char* file;
};

class UnknownKeys : public testing::TestWithParam<Input> {};

// Each key once in the other case, once with a letter too many.
TEST_P(UnknownKeys, AreRefusedWithTheNearestKnownOne) {
  const Scratch scratch;
  const json problem = first_of(GetParam().file);
  const json longer = {{"surely_not_a_key", 1}};
  for (const std::string& key : keys(problem)) {
    if (key == "source" || key == "note" || key == "kind") continue;
    for (const std::string& typo : {other_case(key), key + "s"}) {
      if (problem.contains(typo)) continue;
      json wrong = problem;
      wrong[typo] = problem[key];
      const Outcome outcome =
          carom({GetParam().command, scratch.file("typo.json", wrong.dump()), "--json"});
      std::vector<std::string> words = {"typo.json", "unknown key \"" + typo + "\"", "known are"};
      if (key.size() > 2) words.push_back("is \"" + key + "\" meant?");
      expect_refusal(outcome, words);
    }
  }
  json wrong = problem;
  wrong.update(longer);
  const Outcome outcome =
      carom({GetParam().command, scratch.file("typo.json", wrong.dump()), "--json"});
  expect_refusal(outcome, {"unknown key \"surely_not_a_key\"; known are"});
}

TEST_P(UnknownKeys, OfReadersAreFree) {
  const Scratch scratch;
  json problem = first_of(GetParam().file);
  for (const char* key : {"source", "licence", "note", "_mine", "expected_status", "convention"}) {
    problem[key] = "words";
  }
  const std::string command = GetParam().command;
  std::vector<std::string> words = {command, scratch.file("free.json", problem.dump()), "--json"};
  if (command == "impact") words.insert(words.end(), {"--samples", "8"});
  const Outcome outcome = carom(words);
  EXPECT_LE(outcome.status, 1) << outcome.err;
}

INSTANTIATE_TEST_SUITE_P(Files, UnknownKeys,
                         testing::Values(Input{"solve", "lp.json"}, Input{"solve", "qp.json"},
                                         Input{"solve", "socp.json"}, Input{"solve", "lcp.json"},
                                         Input{"solve", "friction.json"},
                                         Input{"impact", "block.json"}, Input{"step", "step.json"},
                                         Input{"stability", "walker.json"}),
                         [](const auto& info) {
                           const std::string file = info.param.file;
                           return file.substr(0, file.find('.'));
                         });

TEST(SolveFiles, MayWrapTheirProblem) {
  const Scratch scratch;
  json inner = first_of("lp.json");
  const json plain = carom({"solve", scratch.file("p.json", inner.dump()), "--json"}).document();
  inner.erase("kind");
  json outer = {{"kind", "lp"},
                {"name", "of a collection"},
                {"source", "somewhere"},
                {"data", inner},
                {"expected", "optimal"}};
  if (inner.contains("name")) outer.erase("name");
  const Outcome outcome = carom({"solve", scratch.file("wrapped.json", outer.dump()), "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.document()[0]["x"], plain[0]["x"]);
  outer["daat"] = 1;
  expect_refusal(carom({"solve", scratch.file("wrapped.json", outer.dump())}),
                 {"wrapped.json", "unknown key \"daat\": is \"data\" meant?"});
  outer.erase("daat");
  outer["data"]["Sense"] = "max";
  expect_refusal(carom({"solve", scratch.file("wrapped.json", outer.dump())}),
                 {"wrapped.json: data", "unknown key \"Sense\": is \"sense\" meant?"});
  outer["data"] = 3;
  expect_refusal(carom({"solve", scratch.file("wrapped.json", outer.dump())}),
                 {"data", "must be an object"});
}

TEST(SolveFiles, SayTheKindWhoseKeysTheyHave) {
  const Scratch scratch;
  expect_refusal(
      carom({"solve",
             scratch.file("own.json", R"({"kind": "lcp", "M": [[1]], "q": [1], "lo": [0]})")}),
      {"own.json: kind lcp", "unknown key \"lo\"", "known are kind, name, M, q, n"});
}

}  // namespace
}  // namespace carom::test
