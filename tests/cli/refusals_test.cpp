#include <gtest/gtest.h>

#include <functional>

#include "cli/command.hpp"
#include "cli/refusal.hpp"

namespace carom::test {
namespace {

struct BadProblem {
  const char* label;
  std::function<void(json&)> spoil;
  std::vector<std::string> words;  // field, position, value
};

class RefusedProblem : public testing::TestWithParam<BadProblem> {};

// The spoilt problem is the second of its file: the message must say so.
TEST_P(RefusedProblem, NamesFieldProblemAndValue) {
  const Scratch scratch;
  json bad = block();
  bad["name"] = "spoilt";
  GetParam().spoil(bad);
  const std::string file = scratch.file("two.json", json::array({block(), bad}).dump());
  std::vector<std::string> words = GetParam().words;
  words.push_back("problem 1");
  for (const char* command : {"impact", "impact-models", "validate"}) {
    expect_refusal(carom({command, file, "--samples", "8", "--json"}), words);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Fields, RefusedProblem,
    testing::Values(
        BadProblem{"mass_not_square",
                   [](json& p) { p["mass_matrix"] = json::parse("[[1, 0, 0], [0, 1, 0]]"); },
                   {"mass_matrix is 2 x 3", "3 x 3", "\"spoilt\""}},
        BadProblem{"mass_ragged",
                   [](json& p) {
                     p["mass_matrix"][2] = {0, 0};
                   },
                   {"mass_matrix[2] has 2", "\"spoilt\""}},
        BadProblem{"contact_names_few",
                   [](json& p) { p["contact_names"] = {"heel"}; },
                   {"contact_names is [\"heel\"]", "a list of 2 texts"}},
        BadProblem{"contact_names_twice",
                   [](json& p) {
                     p["contact_names"] = {"toe", "toe"};
                   },
                   {"contact_names[0] is \"toe\"", "no other"}},
        BadProblem{"source_is_number", [](json& p) { p["source"] = 3; }, {"source is 3", "text"}},
        BadProblem{"mass_not_symmetric",
                   [](json& p) { p["mass_matrix"][0][1] = 0.125; },
                   {"mass_matrix", "0.125", "symmetric", "\"spoilt\""}},
        BadProblem{"mass_not_positive_definite",
                   [](json& p) { p["mass_matrix"][1][1] = -2; },
                   {"mass_matrix", "-2", "positive definite", "\"spoilt\""}},
        BadProblem{"normal_columns",
                   [](json& p) { p["normal_jacobian"] = json::parse("[[0, 1], [0, 1]]"); },
                   {"normal_jacobian has 2 columns", "must have 3"}},
        BadProblem{"tangent_rows",
                   [](json& p) {
                     p["tangent_jacobian"].push_back({1, 0, 1});
                   },
                   {"tangent_jacobian has 3 rows", "2 (planar)", "4 (spatial)"}},
        BadProblem{"tangent_row_is_number",
                   [](json& p) { p["tangent_jacobian"][1] = 7; },
                   {"tangent_jacobian[1] is 7", "row of numbers"}},
        BadProblem{"friction_count",
                   [](json& p) { p["friction"] = {1}; },
                   {"friction has 1 numbers", "must have 2"}},
        BadProblem{"measured_number",
                   [](json& p) { p["measured"] = 3; },
                   {"measured is 3", "must be an object"}},
        BadProblem{"measured_count",
                   [](json& p) {
                     p["measured"]["velocity"] = {1, 2};
                   },
                   {"measured: velocity has 2 numbers", "must have 3"}},
        BadProblem{"measured_key",
                   [](json& p) {
                     p["measured"] = {{"velocity", 0}, {"sigmas", 1}};
                   },
                   {"unknown key \"sigmas\"", "is \"sigma\" meant?"}},
        BadProblem{"measured_sigma",
                   [](json& p) {
                     p["measured"] = {{"velocity", 0}, {"sigma", {1, 0, 1}}};
                   },
                   {"measured: sigma[1] is 0", "must be > 0"}},
        BadProblem{
            "measured_covariance",
            [](json& p) {
              p["measured"] = {{"velocity", 0}, {"covariance", {{1, 2, 0}, {0, 1, 0}, {0, 0, 1}}}};
            },
            {"measured_covariance[1][0]", "must be symmetric", "\"spoilt\""}},
        BadProblem{"friction_negative",
                   [](json& p) { p["friction"][1] = -0.5; },
                   {"friction[1]", "-0.5", ">= 0", "\"spoilt\""}},
        BadProblem{"friction_text",
                   [](json& p) { p["friction"][0] = "rough"; },
                   {"friction[0] is \"rough\"", "must be a number"}},
        BadProblem{"velocity_null",
                   [](json& p) { p["velocity"][2] = nullptr; },
                   {"velocity[2] is null", "must be a number"}},
        BadProblem{"velocity_missing",
                   [](json& p) { p.erase("velocity"); },
                   {"velocity is missing", "\"spoilt\""}},
        BadProblem{"velocity_empty",
                   [](json& p) { p["velocity"] = json::array(); },
                   {"velocity is empty"}},
        BadProblem{"unknown_key",
                   [](json& p) {
                     p["frictions"] = {1, 1};
                   },
                   {"unknown key \"frictions\"", "normal_jacobian"}},
        BadProblem{"name_is_number", [](json& p) { p["name"] = 3; }, {"name is 3", "text"}},
        BadProblem{"not_an_object", [](json& p) { p = 5; }, {"must be an object"}},
        BadProblem{"too_many_contacts",
                   [](json& p) {
                     for (int i = 0; i < 70; ++i) {
                       p["normal_jacobian"].push_back({0, 1, 0});
                       p["tangent_jacobian"].push_back({1, 0, 0});
                       p["friction"].push_back(1);
                     }
                   },
                   {"contacts", "72", "64"}}),
    [](const auto& test) { return std::string(test.param.label); });

TEST(RefusedFile, TextThatIsNotAProblem) {
  const Scratch scratch;
  const auto impact = [&scratch](const std::string& content) {
    return carom({"impact", scratch.file("bad.json", content), "--json"});
  };
  expect_refusal(impact("{\"name\": "), {"bad.json", "not JSON", "line 1"});
  expect_refusal(impact(""), {"bad.json", "not JSON"});
  expect_refusal(impact("[]"), {"bad.json", "no problem"});
  expect_refusal(impact("{\"velocity\": [NaN]}"),
                 {"bad.json", "velocity[0] is NaN", "line 1", "not JSON"});
  std::string overflow = block().dump();
  overflow.replace(overflow.find("-0.4429"), 7, "1e999");
  expect_refusal(impact(overflow), {"bad.json", "1e999"});
  std::string twice = block().dump();
  twice.replace(twice.find("\"name\""), 6, "\"velocity\"");
  expect_refusal(impact(twice), {"bad.json", "\"velocity\" is given twice"});
}

TEST(RefusedFile, MissingFileNamesTheModels) {
  expect_refusal(carom({"impact", "no_such_thing"}),
                 {"no_such_thing", "neither a file nor a model", "rocking_block"});
  expect_refusal(carom({"solve", "no_such_file.json"}), {"no_such_file.json", "cannot be opened"});
}

struct BadOption {
  const char* label;
  std::vector<std::string> arguments;
  std::vector<std::string> words;
};

class RefusedOption : public testing::TestWithParam<BadOption> {};

TEST_P(RefusedOption, NamesOptionAndValue) {
  std::vector<std::string> words = {"impact", "rocking_block", "--json"};
  words.insert(words.end(), GetParam().arguments.begin(), GetParam().arguments.end());
  expect_refusal(carom(words), GetParam().words);
}

INSTANTIATE_TEST_SUITE_P(
    Options, RefusedOption,
    testing::Values(
        BadOption{"samples_zero", {"--samples", "0"}, {"--samples is 0", ">= 1"}},
        BadOption{"samples_text", {"--samples", "many"}, {"--samples is many"}},
        BadOption{"samples_fraction", {"--samples", "1.5"}, {"--samples is 1.5"}},
        BadOption{"samples_overflow", {"--samples", "2^80"}, {"--samples is 2^80"}},
        BadOption{"samples_trailing", {"--samples", "100x"}, {"--samples is 100x"}},
        BadOption{"first_sample_wraps",
                  {"--first-sample", "9223372036854775807", "--samples", "8"},
                  {"--first-sample is 9223372036854775807", "9223372036854775799"}},
        BadOption{"residual_tolerance",
                  {"--residual-tolerance", "0.002"},
                  {"--residual-tolerance is 0.002", "(0, 1e-3]"}},
        BadOption{"velocity_tolerance",
                  {"--velocity-tolerance", "-1"},
                  {"--velocity-tolerance is -1", ">= 0 and finite"}},
        BadOption{"step_negative", {"--step", "-1"}, {"--step is -1", ">= 0"}},
        BadOption{"step_nan", {"--step", "nan"}, {"--step is nan", "finite"}},
        BadOption{"max_steps_negative", {"--max-steps", "-1"}, {"--max-steps is -1"}},
        BadOption{"max_steps_large",
                  {"--max-steps", "2000000"},
                  {"--max-steps is 2000000", "from 0 to 1000000"}},
        BadOption{"seed_negative", {"--seed", "-1"}, {"--seed is -1"}},
        BadOption{"seed_too_large", {"--seed", "18446744073709551616"}, {"--seed"}},
        BadOption{"threads_negative", {"--threads", "-2"}, {"--threads is -2"}},
        BadOption{"sampler", {"--sampler", "halton"}, {"--sampler is halton", "uniform, sobol"}},
        BadOption{"selection", {"--selection", "best"}, {"--selection is best", "lemke"}},
        BadOption{"backend", {"--backend", "gpu"}, {"--backend is gpu", "cuda, reference"}},
        BadOption{"precision", {"--precision", "half"}, {"--precision is half", "float"}},
        BadOption{"directions", {"--friction-directions", "3"}, {"--friction-directions is 3"}},
        BadOption{"epsilon", {"--epsilon", "-2"}, {"--epsilon is -2"}},
        BadOption{"set_unknown", {"--set", "colour=3"}, {"colour", "friction", "height"}},
        BadOption{"set_range", {"--set", "mass=-1"}, {"mass", "-1"}},
        BadOption{"set_no_value", {"--set", "mass"}, {"--set mass", "NAME=VALUE"}},
        BadOption{"set_text", {"--set", "mass=heavy"}, {"--set mass is heavy"}},
        BadOption{"set_twice", {"--set", "mass=1", "--set", "mass=2"}, {"mass", "twice"}},
        BadOption{"keep", {"--keep", "some"}, {"--keep is some"}},
        BadOption{"output_name", {"--output", "result.txt"}, {"--output result.txt", ".h5"}},
        BadOption{
            "output_folder", {"--output", "no/such/folder/r.h5"}, {"--output", "no/such/folder"}},
        BadOption{"plot_name", {"--plot", "picture.pdf"}, {"--plot picture.pdf", ".svg or .png"}},
        BadOption{"problem", {"--problem", "1"}, {"--problem is 1"}}),
    [](const auto& test) { return std::string(test.param.label); });

TEST(RefusedOption, SetOfAFileTakesFrictionAlone) {
  const Scratch scratch;
  const std::string file = scratch.file("p.json", block().dump());
  expect_refusal(carom({"impact", file, "--set", "mass=1"}), {"mass", "p.json", "friction"});
}

TEST(RefusedOption, CudaWithoutADevice) {
  const json info = carom({"info", "--json"}).document();
  if (!info["devices"].empty()) GTEST_SKIP() << "a CUDA device is present";
  expect_refusal(carom({"impact", "rocking_block", "--backend", "cuda", "--json"}), {"cuda"});
}

TEST(RefusedOption, RandomSelectionOfTooManyContacts) {
  json many = block();
  for (int i = 0; i < 10; ++i) {
    many["normal_jacobian"].push_back({0, 1, 0.1 * i});
    many["tangent_jacobian"].push_back({1, 0, 1});
    many["friction"].push_back(1);
  }
  const Scratch scratch;
  const std::string file = scratch.file("many.json", many.dump());
  expect_refusal(carom({"impact", file, "--samples", "2", "--selection", "random", "--json"}),
                 {"selection random", "12 contacts"});
}

}  // namespace
}  // namespace carom::test
