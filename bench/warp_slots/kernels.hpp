#pragma once

#include <cstdint>
#include <string>

#include "report.hpp"

/// A driver for each kernel that is counted: problems, the kernel's parameter, the CPU's answers.
/// One warp takes all problems; a row is printed and, for depth > 0, where its slots go. Returned:
/// answers that have not the CPU's bits.
namespace carom::warp_slots {

/// step_groups on a set of the benchmarks, over and over. set: planar2, spatial4... for random
/// steps of as many contacts, or a model's name. listing: of src/cuda/impact/step_groups.cu.
std::int64_t count_steps(const std::string& listing, const std::string& set, int problems,
                         int depth);

/// step_contacts: compliant steps of boxes on four contacts. listing: of
/// src/cuda/compliant/solve_compliant.cu.
std::int64_t count_contacts(const std::string& listing, int problems, int depth);

/// solve_lps in shared memory: support LPs, cold or 64 directions of a posture in turn.
/// listing: of src/cuda/programs/solve_lp.cu.
std::int64_t count_lps(const std::string& listing, bool cold, int problems, int depth);

}  // namespace carom::warp_slots
