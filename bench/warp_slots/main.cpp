#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "kernels.hpp"

// carom_warp_slots STEP_GROUPS SOLVE_COMPLIANT SOLVE_LP [--profile DEPTH] [--problems N] [SET...]
// The files are listings of the machine code of src/cuda; scripts/warp_slots.sh makes them. SET:
// boxes, support_cold, support_warm, or as for count_steps. Fails where an answer has not the CPU's
// bits.
int main(int argc, char** argv) {
  using namespace carom::warp_slots;
  int depth = 0;
  int problems = 0;
  std::vector<std::string> words;
  std::int64_t different = 0;
  try {
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      if (word == "--profile" && i + 1 < argc) {
        depth = std::stoi(argv[++i]);
      } else if (word == "--problems" && i + 1 < argc) {
        problems = std::stoi(argv[++i]);
      } else {
        words.push_back(word);
      }
    }
    if (words.size() < 3 || problems < 0) {
      std::fprintf(
          stderr,
          "usage: %s STEP_GROUPS SOLVE_COMPLIANT SOLVE_LP [--profile DEPTH] [--problems N] "
          "[SET...]\n",
          argv[0]);
      return 2;
    }
    std::vector<std::string> sets(words.begin() + 3, words.end());
    if (sets.empty()) sets = {"spatial4", "cube_drop", "boxes", "support_cold"};
    const auto count = [&](int usual) { return problems > 0 ? problems : usual; };
    print_head();
    for (const std::string& set : sets) {
      if (set == "boxes") {
        different += count_contacts(words[1], count(2048), depth);
      } else if (set == "support_cold") {
        different += count_lps(words[2], true, count(256), depth);
      } else if (set == "support_warm") {
        different += count_lps(words[2], false, count(8), depth);
      } else {
        different += count_steps(words[0], set, count(816), depth);
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "carom_warp_slots: %s\n", error.what());
    return 1;
  }
  if (different > 0) std::fprintf(stderr, "carom_warp_slots: not the CPU's bits\n");
  return different > 0 ? 1 : 0;
}
