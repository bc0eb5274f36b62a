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

/// Pointers to all objects of a document.
std::vector<std::string> objects_of(const json& value, const std::string& at = "") {
  std::vector<std::string> found;
  if (value.is_object()) found.push_back(at);
  for (const auto& item : value.items()) {
    if (!value.is_structured()) break;
    const std::vector<std::string> inner = objects_of(item.value(), at + "/" + item.key());
    found.insert(found.end(), inner.begin(), inner.end());
  }
  return found;
}

// At any depth, of every command that reads JSON.
TEST(UnknownKeysInside, AreRefused) {
  const Scratch scratch;
  const json contact = {{"position", {-1, 0}}, {"normal", {0, 1}}, {"friction", 0.5}};
  json posture = {{"contacts", {contact, contact}},
                  {"wrench", {{"force", {0, -1}}, {"torque", 0}}},
                  {"neighbourhood", {{"wrenches", {{{"force", {0, -1}}, {"torque", 0}}}}}}};
  posture["contacts"][1]["position"] = {1, 0};
  json box = posture;
  box["neighbourhood"] = {{"p", {-0.1, 0.1}}, {"q", {-0.1, 0.1}}};
  const std::vector<std::pair<std::string, json>> inputs = {
      {"equilibrium", posture},
      {"equilibrium", box},
      {"motion", first_of("hopper.json")},
      {"motion", first_of("tumbling_hammer.json")},
      {"step", first_of("step.json")},
      {"stability", first_of("walker.json")},
      {"impact", first_of("block.json")},
      {"impact-models", first_of("block.json")},
      {"solve", {{"kind", "lcp"}, {"data", {{"M", {{1}}}, {"q", {1}}}}}}};
  for (const auto& [command, right] : inputs) {
    const std::vector<std::string> objects = objects_of(right);
    ASSERT_FALSE(objects.empty());
    for (const std::string& at : objects) {
      SCOPED_TRACE(command + " " + at);
      json wrong = right;
      wrong[json::json_pointer(at)]["surely_not_a_key"] = 1;
      expect_refusal(carom({command, scratch.file("inside.json", wrong.dump()), "--json"}),
                     {"inside.json", "unknown key \"surely_not_a_key\"; known are"});
    }
  }
  const std::string policy =
      scratch.file("policy.json", R"({"interval": 0.1, "drive": [[0]], "surely_not_a_key": 1})");
  expect_refusal(carom({"motion", example("hopper.json"), "--policy", policy}),
                 {"policy.json", "unknown key \"surely_not_a_key\"; known are"});
}

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
