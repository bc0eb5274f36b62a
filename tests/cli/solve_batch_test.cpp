#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/refusal.hpp"
#include "core/buffer_slice.hpp"
#include "io/fields.hpp"
#include "io/hdf5_file.hpp"

namespace carom::test {
namespace {

json without(json entry, const char* key) {
  entry.erase(key);
  return entry;
}

json problem(int i) {
  const double a = 2.0 + i;
  return {{"kind", "lcp"},
          {"name", "p" + std::to_string(i)},
          {"M", {{a, -1.0}, {-1.0, a}}},
          {"q", {-1.0 - i, 0.5 * i - 1.0}}};
}

TEST(SolveBatch, AnArrayIsSolvedLikeItsProblemsOneByOne) {
  const Scratch scratch;
  json all = json::array();
  for (int i = 0; i < 20; ++i) all.push_back(problem(i));
  const json answers = carom({"solve", scratch.file("all.json", all.dump()), "--json"}).document();
  ASSERT_EQ(answers.size(), 20U);
  for (int i = 0; i < 20; ++i) {
    const json alone =
        carom({"solve", scratch.file("one.json", problem(i).dump()), "--json"}).document();
    EXPECT_EQ(answers[static_cast<std::size_t>(i)], alone[0]);
  }
  // names that the problems do not have follow from the file's
  for (json& entry : all) entry.erase("name");
  const json unnamed = carom({"solve", scratch.file("all.json", all.dump()), "--json"}).document();
  EXPECT_EQ(unnamed[3]["name"], "all 3");
}

TEST(SolveBatch, QuadraticProgramsOfOneShapeAreOneBatch) {
  const Scratch scratch;
  json all = json::array();
  for (int i = 0; i < 9; ++i) {
    all.push_back({{"P", {{2.0 + i, 0.5}, {0.5, 1.0}}},
                   {"q", {-1.0, 0.25 * i}},
                   {"A", {{1.0, 1.0}, {1.0, -1.0}}},
                   {"l", {nullptr, -0.5}},
                   {"u", {0.75, i % 3 == 0 ? json(nullptr) : json(0.1 * i)}}});
  }
  const json answers = carom({"solve", scratch.file("qps.json", all.dump()), "--json"}).document();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const json alone =
        carom({"solve", scratch.file("one.json", all[i].dump()), "--json"}).document();
    EXPECT_EQ(without(answers[i], "name"), without(alone[0], "name")) << i;
  }
}

TEST(SolveBatch, DataSetsAreReadLikeJson) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Scratch scratch;
  {
    io::Hdf5Writer writer(scratch / "lps.h5");
    writer.dataset("/c", std::vector<double>{3, 5, 1, 1}, {2, 2});
    writer.dataset("/A", std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2});
    writer.dataset("/row_lower", std::vector<double>(4, -infinity), {2, 2});
    writer.dataset("/row_upper", std::vector<double>{4, 12, 1, 2}, {2, 2});
    writer.dataset("/col_lower", std::vector<double>(4, 0.0), {2, 2});
    writer.dataset("/col_upper", std::vector<double>(4, infinity), {2, 2});
    writer.attribute("/", "sense", std::string_view("max"));
    writer.close();
  }
  const json from_sets = carom({"solve", (scratch / "lps.h5").string(), "--json"}).document();
  const json same = json::parse(R"([
    {"kind": "lp", "name": "lps 0", "sense": "max", "c": [3, 5], "A": [[1, 2], [3, 4]],
     "row_lower": null, "row_upper": [4, 12], "col_lower": 0, "col_upper": null},
    {"kind": "lp", "name": "lps 1", "sense": "max", "c": [1, 1], "A": [[5, 6], [7, 8]],
     "row_lower": [null, null], "row_upper": [1, 2], "col_lower": [0, 0],
     "col_upper": [null, null]}])");
  EXPECT_EQ(from_sets,
            carom({"solve", scratch.file("lps.json", same.dump()), "--json"}).document());
}

TEST(SolveBatch, OutputsHoldProblemsAndProofsAndAreInputs) {
  const Scratch scratch;
  const std::string out = (scratch / "out.h5").string();
  std::vector<std::string> words = {"solve", "--json", "--output", out};
  for (const char* name : {"lp.json", "lcp.json", "qp.json", "socp.json", "friction.json"}) {
    words.push_back(example(name));
  }
  const Outcome first = carom(words);
  EXPECT_EQ(first.status, 1) << "one LP is infeasible; " << first.err;
  EXPECT_EQ(first.document(), carom({"solve", out, "--json"}).document());
  const io::Hdf5Reader reader(out);
  EXPECT_EQ(reader.text_attribute("/problems_1", "kind"), "lcp");
  const std::vector<double> z = reader.doubles("/problems_1/answer/x");
  const std::vector<double> w = reader.doubles("/problems_1/answer/w");
  EXPECT_NEAR(z[0], 1.5, 1e-12);
  EXPECT_NEAR(w[0] * z[0] + w[1] * z[1], 0.0, 1e-12);
  EXPECT_EQ(reader.text_attribute("/", "method"), "auto");
}

TEST(SolveBatch, SmallAnswersArePrintedAndManyAreCounted) {
  const Outcome few = carom({"solve", example("qp.json")});
  EXPECT_NE(few.out.find("x = (1, 1)"), std::string::npos) << few.out;
  EXPECT_NE(few.out.find("dual = (2, 0, 0)"), std::string::npos) << few.out;
  json all = json::array();
  for (int i = 0; i < 100; ++i) all.push_back(problem(i));
  const Scratch scratch;
  const Outcome many = carom({"solve", scratch.file("all.json", all.dump())});
  EXPECT_NE(many.out.find("100"), std::string::npos);
  EXPECT_LT(std::count(many.out.begin(), many.out.end(), '\n'), 10);
}

TEST(SolveBatch, RefusalsNameTheProblem) {
  const Scratch scratch;
  json all = json::array({problem(0), problem(1)});
  all[1]["q"][1] = "high";
  expect_refusal(carom({"solve", scratch.file("p.json", all.dump())}),
                 {"p.json", "problem 1 (\"p1\")", "q[1]", "high"});
  expect_refusal(carom({"solve", scratch.file("p.json", "[]")}), {"holds no problem"});
  expect_refusal(carom({"solve", scratch.file("p.json", "[{\"x\": 1}]")}),
                 {"problem 0", "kind is missing", "lcp"});
  {
    io::Hdf5Writer writer(scratch / "bad.h5");
    writer.dataset("/M", std::vector<double>{1, 2}, {2, 1, 1});
    writer.dataset("/q", std::vector<double>{-1}, {1, 1});
    writer.close();
  }
  expect_refusal(carom({"solve", (scratch / "bad.h5").string()}),
                 {"M has 2 problems", "q has 1", "must be equal"});
  {
    io::Hdf5Writer writer(scratch / "bad.h5");
    writer.dataset("/M", std::vector<double>{1, std::nan("")}, {2, 1, 1});
    writer.dataset("/q", std::vector<double>{-1, -1}, {2, 1});
    writer.close();
  }
  expect_refusal(carom({"solve", (scratch / "bad.h5").string()}), {"problem 1", "M[0][0]", "nan"});
}

TEST(SolveBoxed, TheExamplesAreAnsweredAndNamed) {
  const Outcome outcome = carom({"solve", example("boxed_lcp.json")});
  EXPECT_EQ(outcome.status, 1) << outcome.err;  // one is infeasible
  for (const char* part : {"z = (2, 1)", "limit_error = 0.2", "limit = (0, 0.333333333)",
                           "no x gives rows 0, 1 of w the signs that they need"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
}

TEST(SolveBoxed, OutputsAreInputs) {
  const Scratch scratch;
  const std::string out = (scratch / "out.h5").string();
  const Outcome first = carom({"solve", example("boxed_lcp.json"), "--json", "--output", out});
  EXPECT_EQ(first.document(), carom({"solve", out, "--json"}).document());
  const json answers = first.document();
  EXPECT_EQ(answers[3]["kind"], "mixed_lcp");
  EXPECT_NEAR(answers[3]["x"][0].get<double>(), -1.0 / 7.0, 1e-15);
  EXPECT_EQ(answers[0].contains("limit"), false);
  EXPECT_EQ(answers[1].contains("limit_error"), false);
  EXPECT_NEAR(answers[2]["limit_error"].get<double>(), 0.2, 1e-12);
  const Outcome verdict = carom({"verify", out, "--json"});
  EXPECT_EQ(verdict.status, 0) << verdict.err;
}

/// Only `flips` and `gain` are in JSON.
template <template <class> class Array>
struct ToyArrays {
  struct Sizes {
    std::int64_t problems = 0;
  };
  Array<double> solution;
  Array<std::int32_t> flips;
  Array<double> gain;
  Array<double> slack;

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const std::int64_t p = sizes.problems;
    visit("solution", Extents{p}, tables.solution...);
    visit(ArrayField{"flips", "number", "", "bound flips"}, Extents{p}, tables.flips...);
    visit(ArrayField{"gain", "number", "J", "energy won"}, Extents{p}, tables.gain...);
    visit(ArrayField{"slack", "", "", "least slack"}, Extents{p}, tables.slack...);
  }
};

TEST(ResultNumbers, ALineOfTheListIsAKeyAColumnAndADescription) {
  const ToyArrays<carom::Values> result{{1, 2}, {3, 4}, {0.5, std::nan("")}, {6, 7}};
  std::vector<run::Numbers> rows;
  for (const std::size_t p : {0U, 1U}) {
    rows.push_back(run::numbers_of(result, ToyArrays<carom::Values>::Sizes{2}, p));
  }
  nlohmann::ordered_json object;
  io::add_fields(object, rows[1]);
  EXPECT_EQ(object.dump(), R"({"flips":4,"gain":null})");
  const Scratch scratch;
  {
    io::Hdf5Writer writer(scratch / "toy.h5");
    writer.group("/toy");
    io::write_columns(writer, "/toy", rows);
    writer.close();
  }
  const io::Hdf5Reader reader(scratch / "toy.h5");
  EXPECT_EQ(reader.names("/toy"), (std::vector<std::string>{"flips", "gain"}));
  EXPECT_EQ(reader.integers("/toy/flips"), (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(reader.doubles("/toy/gain")[0], 0.5);
  std::vector<std::string> described;
  io::each_described<ToyArrays<carom::Values>>(
      [&](const Field& field, const Extents&) { described.emplace_back(field.meaning); });
  EXPECT_EQ(described, (std::vector<std::string>{"bound flips", "energy won", "least slack"}));
}

// Row 0 asks for 0 z >= 1: nothing solves it, with limits from another answer or not.
TEST(SolveBoxed, NumbersWithoutAnAnswerAreNull) {
  const Scratch scratch;
  const std::string file = scratch.file("none.json", R"({"kind": "boxed_lcp",
    "M": [[0, 0], [0, 1]], "q": [-1, -1], "lo": [0, null], "hi": null, "findex": [-1, 0], "mu": [0, 0.5],
    "friction_law": "ode"})");
  const std::string out = (scratch / "out.h5").string();
  const json answer = carom({"solve", file, "--json", "--output", out}).document();
  const json& only = answer.is_array() ? answer[0] : answer;
  EXPECT_NE(only["status"], "solved");
  EXPECT_TRUE(only.at("limit_error").is_null()) << only.dump();
  const std::vector<double> column = io::Hdf5Reader(out).doubles("/problems_0/answer/limit_error");
  ASSERT_EQ(column.size(), 1U);
  EXPECT_TRUE(std::isnan(column[0]));
}

// A monotone inequality that is not a gradient's, and one whose set is empty.
TEST(SolveBoxed, VariationalInequalities) {
  const Scratch scratch;
  const json skew = {{0, 1}, {-1, 0}};
  const json vi = {{"kind", "affine_vi"},    {"M", skew},           {"q", {-1, 1}},
                   {"A", {{1, 1}, {1, -1}}}, {"l", {0.5, nullptr}}, {"u", {0.5, 0.25}},
                   {"col_lower", 0}};
  json none = vi;
  none["col_upper"] = 0.125;
  const std::string out = (scratch / "out.h5").string();
  const Outcome outcome = carom({"solve", scratch.file("vi.json", json::array({vi, none}).dump()),
                                 "--json", "--output", out});
  const json answers = outcome.document();
  EXPECT_EQ(answers[0]["status"], "solved");
  // M x + q = (x1 - 1, 1 - x0) pushes to large x0 and small x1 on x0 + x1 = 1/2, up to x0 - x1 =
  // 1/4
  EXPECT_NEAR(answers[0]["x"][0].get<double>(), 0.375, 1e-12);
  EXPECT_NEAR(answers[0]["x"][1].get<double>(), 0.125, 1e-12);
  EXPECT_EQ(answers[0]["x"].size(), 4U);
  EXPECT_EQ(answers[1]["status"], "infeasible");
  EXPECT_EQ(carom({"verify", out, "--json"}).status, 0);
  EXPECT_EQ(carom({"solve", out, "--json"}).document(), answers);
  json box = {{"kind", "affine_vi"}, {"M", skew},      {"q", {-1, 1}},
              {"A", json::array()},  {"col_lower", 0}, {"col_upper", 2}};
  const json alone = carom({"solve", scratch.file("box.json", box.dump()), "--json"}).document();
  EXPECT_EQ(alone[0]["x"], json({1, 1}));
  json bad = vi;
  bad["l"] = {0.5};
  expect_refusal(carom({"solve", scratch.file("bad.json", bad.dump())}),
                 {"l has 1 numbers", "must have 2"});
}

TEST(SolveBoxed, WhatFrictionRowsNeedIsSaid) {
  const Scratch scratch;
  const json good = {{"kind", "boxed_lcp"}, {"M", {{1, 0}, {0, 1}}},    {"q", {-1, -1}},
                     {"lo", {0, nullptr}},  {"hi", {nullptr, nullptr}}, {"findex", {-1, 0}},
                     {"mu", {nullptr, 0.5}}};
  const auto says = [&](const std::string& key, const json& value,
                        const std::vector<std::string>& parts) {
    json bad = good;
    bad[key] = value;
    expect_refusal(carom({"solve", scratch.file("bad.json", bad.dump())}), parts);
  };
  EXPECT_EQ(carom({"solve", scratch.file("good.json", good.dump())}).status, 0);
  says("findex", {-1, 2}, {"findex[1]", "2"});
  says("findex", {-1, 0.5}, {"findex[1]", "0.5"});
  says("findex", {-1}, {"findex", "1 numbers", "must have 2"});
  says("findex", {1, 0}, {"findex[0]", "1"});
  says("mu", {nullptr, -0.5}, {"mu[1]", "-0.5", "must be >= 0"});
  says("lo", {-1, nullptr}, {"lo[0]", "-1", "must be >= 0"});
  says("hi", {nullptr, 2}, {"lo[1] and hi[1]", "must be null"});
  says("friction_law", "bullet", {"friction_law", "bullet", "simultaneous or ode"});
  says("lo", {0, nullptr, 1}, {"lo", "3 numbers", "must have 2"});
}

}  // namespace
}  // namespace carom::test
