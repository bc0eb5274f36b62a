#include "cli/refusal.hpp"

namespace carom::test {
namespace {

// An unset shell variable makes an empty word: it must not pass for an option that was left out.
struct EmptyValue {
  std::string option;
  std::vector<std::string> command;
};

// Every option that takes a value, as the command's own help lists them.
std::vector<EmptyValue> every_option() {
  std::vector<EmptyValue> all;
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"impact", "rocking_block"},
                                             {"impact-models", "rocking_block"},
                                             {"equilibrium", "two_contacts"},
                                             {"step", "inclined_block"},
                                             {"solve", "problem.json"},
                                             {"validate", "rocking_block"},
                                             {"bench", "rocking_block"}}) {
    std::istringstream help(carom({command[0], "--help"}).out);
    for (std::string line; std::getline(help, line);) {
      const std::size_t dashes = line.find("--");
      if (dashes == std::string::npos || line.find_first_not_of(' ') != dashes) continue;
      std::istringstream words(line);
      std::string option;
      std::string type;
      words >> option >> type;
      const bool flag =
          line.size() <= dashes + option.size() || line[dashes + option.size() + 1] == ' ';
      if (!flag) all.push_back({option, command});
    }
  }
  return all;
}

TEST(EmptyValues, OfEveryOptionAreRefusedByName) {
  std::size_t outputs = 0;
  for (const auto& [option, command] : every_option()) {
    outputs += option == "--output" ? 1 : 0;
    std::vector<std::string> apart = command;
    apart.insert(apart.end(), {option, ""});
    expect_refusal(carom(apart), {option + " is empty"});
    std::vector<std::string> joined = command;
    joined.insert(joined.end(), {option + "=", "--quiet"});  // which must not become the value
    expect_refusal(carom(joined), {option + " is empty"});
  }
  EXPECT_EQ(outputs, 5U);  // impact, impact-models, equilibrium, solve and step were all asked
}

TEST(EmptyValues, OfTargetsAndFilesAreRefused) {
  expect_refusal(carom({"impact", ""}), {"target is empty"});
  expect_refusal(carom({"solve", ""}), {"files is empty"});
  expect_refusal(carom({"models", ""}), {"name is empty"});
}

}  // namespace
}  // namespace carom::test
