#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace carom::cli {

/// What `carom bench` measures besides impacts: scenarios, postures, stances, motions, and files of
/// them, of steps and of what `carom solve` takes.
struct FamilyBench {
  std::string target;
  std::vector<std::string> set;
  std::int64_t count = 0;  ///< worlds, postures, stances or motions; 0: the family's own
  int threads = 0;         ///< 0: all
  std::string backend = "auto";
  std::int64_t repetitions = 5;
  bool json = false;
  bool quiet = false;
};

/// Whether a target is a name or a file of another family than impacts.
bool is_of_other_family(const std::string& target);

/// Exit status. Errors: InvalidInput, BackendUnavailable.
int bench_family(const FamilyBench& bench);

}  // namespace carom::cli
