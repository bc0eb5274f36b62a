#include "cli/refusal.hpp"
#include "io/hdf5_file.hpp"
#include "io/printable.hpp"

namespace carom::test {
namespace {

const std::string kHostile = "red\x1b[31m\x07\xc2\x9b name";

bool steers(const std::string& text) {
  return text.find('\x1b') != std::string::npos || text.find('\x07') != std::string::npos ||
         text.find("\xc2\x9b") != std::string::npos;
}

TEST(Printable, ControlCharactersAndStrayBytesAreEscaped) {
  EXPECT_EQ(io::printable("plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"),
            "plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(io::printable(kHostile), "red\\x1b[31m\\x07\\xc2\\x9b name");
  EXPECT_EQ(io::printable(std::string("\0\x7f\n", 3)), "\\x00\\x7f\\x0a");
  EXPECT_EQ(io::printable("\xff\xc3 \xc0\xaf \xed\xa0\x80"),
            "\\xff\\xc3 \\xc0\\xaf \\xed\\xa0\\x80");
}

TEST(Names, DoNotReachTheTerminalAsTheyAre) {
  const Scratch scratch;
  json problem = block();
  problem["name"] = kHostile;
  const std::string impact = scratch.file("impact.json", problem.dump());
  const json lcp = {{"kind", "lcp"}, {"name", kHostile}, {"M", {{1}}}, {"q", {-1}}};
  const std::string single = scratch.file("lcp.json", lcp.dump());
  const json contact = {{"position", {0, 0}}, {"normal", {0, 1}}, {"friction", 0.5}};
  const json stance = {{"name", kHostile}, {"contacts", {contact}}};
  const std::string posture = scratch.file("posture.json", stance.dump());
  const json step = {{"name", kHostile}, {"mass_matrix", {{1}}}, {"force", {0}},
                     {"velocity", {1}},  {"dt", 0.01},           {"constraints", json::array()}};
  const std::string steps = scratch.file("step.json", step.dump());
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"impact", impact, "--samples", "8"},
           {"impact-models", impact, "--samples", "8"},
           {"validate", impact, "--samples", "8", "--tolerance", "1e-300"},
           {"solve", single},
           {"equilibrium", posture},
           {"validate", posture},
           {"step", steps},
           {"validate", steps}}) {
    const Outcome outcome = carom(words);
    EXPECT_FALSE(outcome.out.empty()) << words[0] << outcome.err;
    EXPECT_FALSE(steers(outcome.out)) << words[0] << " " << words[1] << outcome.out;
    EXPECT_FALSE(steers(outcome.err)) << words[0] << " " << words[1] << outcome.err;
  }
  EXPECT_EQ(carom({"solve", single, "--json"}).document()[0]["name"], kHostile);
}

TEST(Names, DoNotReachTheTerminalInMessages) {
  const Scratch scratch;
  json problem = block();
  problem["name"] = kHostile;
  problem["friction"][0] = -1;
  const Outcome outcome = carom({"impact", scratch.file("bad.json", problem.dump())});
  expect_refusal(outcome, {"red\\x1b[31m", "friction[0]"});
  EXPECT_FALSE(steers(outcome.err));
  const Outcome target = carom({"impact", kHostile});
  expect_refusal(target, {"red\\x1b[31m"});
  EXPECT_FALSE(steers(target.err));
}

TEST(Names, OfHdf5MustBeText) {
  const Scratch scratch;
  const fs::path file = scratch / "steps.h5";
  io::Hdf5Writer writer(file);
  const std::vector<double> one = {1.0};
  for (const char* name : {"/velocity", "/force"}) writer.dataset(name, one, {1, 1});
  writer.dataset("/mass_matrix", one, {1, 1, 1});
  writer.dataset("/dt", one, {1});
  for (const char* name : {"/type", "/stiffness", "/damping"}) writer.dataset(name, one, {1, 1});
  writer.dataset("/jacobian", one, {1, 1, 1});
  writer.dataset("/name", std::vector<std::string>{"stray \xff"});
  writer.close();
  expect_refusal(carom({"step", file.string(), "--json"}), {"name[0]", "\\xff", "UTF-8"});
}

}  // namespace
}  // namespace carom::test
