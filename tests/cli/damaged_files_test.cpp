#include <cstdint>
#include <cstring>

#include "cli/refusal.hpp"
#include "io/hdf5_file.hpp"

namespace carom::test {
namespace {

json unit_lcp(std::size_t order) {
  json matrix = json::array();
  for (std::size_t i = 0; i < order; ++i) {
    matrix.push_back(std::vector<double>(order, 0.0));
    matrix[i][i] = 1.0;
  }
  return {{"kind", "lcp"}, {"M", matrix}, {"q", std::vector<double>(order, -1.0)}};
}

TEST(ProblemFiles, BeyondWhatIsSolvedNameTheFile) {
  const Scratch scratch;
  const auto solve = [&scratch](const json& problem) {
    return carom({"solve", scratch.file("large.json", problem.dump()), "--json"});
  };
  expect_refusal(solve(unit_lcp(129)), {"large.json", "order", "is 129", "at most 128"});
  const std::vector<double> many(1025, 1.0);
  const json lp = {{"kind", "lp"},     {"c", many},         {"A", {many}},      {"row_lower", {0}},
                   {"row_upper", {1}}, {"col_lower", many}, {"col_upper", many}};
  expect_refusal(solve(lp), {"large.json", "columns", "is 1025", "at most 1024"});
  const json qp = {{"kind", "qp"}, {"q", std::vector<double>(2049, 1.0)}, {"P", json::array()}};
  expect_refusal(solve(qp), {"large.json", "variables", "is 2049", "at most 2048"});
}

TEST(ProblemFiles, ConeSizesArePrintedAsGiven) {
  const Scratch scratch;
  const json cone = {
      {"kind", "socp"}, {"q", {1}}, {"P", {{1}}},
      {"A", {{1}}},     {"b", {1}}, {"cones", json::array({json::array({"nonneg", UINT64_MAX})})}};
  expect_refusal(carom({"solve", scratch.file("cone.json", cone.dump())}),
                 {"cone.json", "cones[0] has size 18446744073709551615", "1..8192"});
}

TEST(ProblemFiles, InfiniteSpeedNamesFileAndProblem) {
  const Scratch scratch;
  json fast = block();
  fast["velocity"][1] = -1e308;
  fast["normal_jacobian"] = {{0, 1e10, 0}, {0, 1, 0}};
  const std::string file = scratch.file("fast.json", json::array({block(), fast}).dump());
  expect_refusal(carom({"impact", file}), {"fast.json", "problem 1", "contact speed", "inf"});
}

TEST(ProblemFiles, NumbersThatJsonHasNotAreNamed) {
  const Scratch scratch;
  const auto impact = [&scratch](const std::string& content) {
    return carom({"impact", scratch.file("python.json", content)});
  };
  expect_refusal(impact("[{\"velocity\": [1, 2]},\n {\"velocity\": [0, NaN]}]"),
                 {"python.json", "[1].velocity[1] is NaN", "line 2", "not JSON"});
  expect_refusal(impact("{\"velocity\": [-Infinity]}"), {"velocity[0] is -Infinity"});
  expect_refusal(impact("{\"mass_matrix\": [[1, 0], [0, Infinity]]}"),
                 {"mass_matrix[1][1] is Infinity"});
  expect_refusal(impact("{\"velocity\": [0, nul]}"), {"not JSON, at velocity[1]", "line 1"});
  expect_refusal(impact("NaN"), {"the document is NaN"});
}

// What prints and destroys values calls itself once a level.
TEST(ProblemFiles, DeepNestingIsRefused) {
  const Scratch scratch;
  const std::string deep(1'000'000, '[');
  expect_refusal(carom({"solve", scratch.file("deep.json", "{\"kind\": " + deep)}),
                 {"deep.json", "nested deeper than 64"});
}

void replace_extent(const fs::path& file, std::uint64_t from, std::uint64_t to) {
  std::string bytes = read_text(file);
  std::string pattern(8, '\0');
  std::memcpy(pattern.data(), &from, 8);
  std::string wanted(8, '\0');
  std::memcpy(wanted.data(), &to, 8);
  int found = 0;
  for (std::size_t at = bytes.find(pattern); at != std::string::npos;
       at = bytes.find(pattern, at + 8)) {
    bytes.replace(at, 8, wanted);
    ++found;
  }
  ASSERT_GT(found, 0);
  write_text(file, bytes);
}

constexpr std::uint64_t kCount = 7919;  // found again in the bytes of the file

void write_postures(const fs::path& file) {
  io::Hdf5Writer writer(file);
  writer.dataset("/position", std::vector<double>(2 * kCount, 0.0), {kCount, 1, 2});
  writer.dataset("/normal", std::vector<double>(2 * kCount, 1.0), {kCount, 1, 2});
  writer.dataset("/friction", std::vector<double>(kCount, 0.5), {kCount, 1});
  writer.close();
}

TEST(DamagedHdf5, DeclaredSizesAreCheckedBeforeMemoryIsAskedFor) {
  const Scratch scratch;
  const fs::path file = scratch / "damaged.h5";
  for (const std::uint64_t size :
       {std::uint64_t{1} << 34, std::uint64_t{1} << 60, UINT64_MAX / 2}) {
    write_postures(file);
    replace_extent(file, kCount, size);
    const Outcome outcome = carom({"equilibrium", file.string()});
    expect_refusal(outcome, {"damaged.h5", "position", "at most"});
    EXPECT_EQ(outcome.err.find("fewer samples"), std::string::npos);
  }
}

// What has no name was the group itself, and so on without end.
TEST(DamagedHdf5, NamesThatLeadNowhereAreRefused) {
  const Scratch scratch;
  const fs::path file = scratch / "damaged.h5";
  write_postures(file);
  const std::string whole = read_text(file);
  const std::size_t at = whole.find("position");
  ASSERT_NE(at, std::string::npos);
  for (const std::string name : {std::string("\0", 1), std::string(".\0", 2), std::string("/")}) {
    std::string bytes = whole;
    bytes.replace(at, name.size(), name);
    write_text(file, bytes);
    expect_refusal(carom({"info", file.string()}), {"damaged.h5", "no name"});
  }
}

TEST(DamagedHdf5, SomeBitsTurnedNeverCrash) {
  const Scratch scratch;
  const fs::path file = scratch / "damaged.h5";
  write_postures(file);
  const std::string whole = read_text(file);
  std::uint64_t state = 20261;
  for (int run = 0; run < 40; ++run) {
    std::string bytes = whole;
    for (int i = 0; i < 4; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      bytes[(state >> 33) % 4096] ^= static_cast<char>(1U << (state >> 61));
    }
    write_text(file, bytes);
    const Outcome outcome = carom({"equilibrium", file.string(), "--quiet"});
    EXPECT_LE(outcome.status, 2) << "run " << run << outcome.err;
  }
}

TEST(Tolerances, ThatWouldCertifyAnythingAreRefused) {
  const Scratch scratch;
  const std::string file = scratch.file("lcp.json", unit_lcp(2).dump());
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"solve", file},
                                             {"step", "inclined_block"},
                                             {"equilibrium", "two_contacts"},
                                             {"equilibrium", "tripod_flat"}}) {
    std::vector<std::string> loose = words;
    loose.insert(loose.end(), {"--tolerance", "1e6"});
    expect_refusal(carom(loose), {"--tolerance is 1000000", "(0, 1e-3]"});
  }
  EXPECT_EQ(carom({"solve", file, "--tolerance", "1e-3", "--quiet"}).status, 0);
}

// Rounding alone leaves more than the default 1e-3 m^2 open where the contacts span 1e6 m.
TEST(FarContacts, RegionsAreFinishedAtTheirOwnSize) {
  const Scratch scratch;
  const auto region = [&scratch](double size, double place) {
    const json rows = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.1}, {0.0, 1.0, 0.0}};
    json contacts = json::array();
    for (const json& row : rows) {
      json position = json::array();
      for (std::size_t j = 0; j < 3; ++j) {
        position.push_back(row[j].get<double>() * size + (j < 2 ? place : 0.0));
      }
      contacts.push_back({{"position", position}, {"normal", {0, 0, 1}}, {"friction", 0.5}});
    }
    const json posture = {{"name", "far"}, {"contacts", contacts}};
    const Outcome outcome =
        carom({"equilibrium", scratch.file("far.json", posture.dump()), "--json"});
    EXPECT_EQ(outcome.status, 0) << size << " at " << place << ": " << outcome.out;
    return outcome.document();
  };
  for (const auto& [size, place] :
       {std::pair{1.0, 0.0}, std::pair{1.0, 1e6}, std::pair{1e6, 0.0}, std::pair{1e6, 1e6}}) {
    const json result = region(size, place);
    EXPECT_EQ(result["status"], "solved") << size << " at " << place;
    EXPECT_NEAR(result["area_inner"].get<double>() / (0.5 * size * size), 1.0, 1e-6);
  }
}

TEST(ImpactModels, SayWhereNothingApproaches) {
  const Scratch scratch;
  // a rod that slides on its tip, pushed against hard friction: Painleve's paradox
  const json rod = {{"name", "rod"},
                    {"mass_matrix", {{1, 0, 0}, {0, 1, 0}, {0, 0, 0.3333333333333333}}},
                    {"normal_jacobian", {{0, 1, -0.5403}}},
                    {"tangent_jacobian", {{1, 0, 0.8415}}},
                    {"friction", {3}},
                    {"velocity", {-1, 0, 0}}};
  const std::string file = scratch.file("rod.json", rod.dump());
  const Outcome text = carom({"impact-models", file, "--samples", "8"});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_NE(text.out.find("no contact approaches (normal velocities A 0 m/s)"), std::string::npos)
      << text.out;
  EXPECT_NE(text.out.find("jams"), std::string::npos) << text.out;
  const json result = carom({"impact-models", file, "--samples", "8", "--json"}).document();
  EXPECT_EQ(result["approaching"], json::array());
  EXPECT_EQ(result["simultaneous"].size(), 2U);
  const json gait =
      carom({"impact-models", "rocking_block", "--samples", "8", "--json"}).document();
  EXPECT_EQ(gait["approaching"], json({0, 1}));
}

}  // namespace
}  // namespace carom::test
