#pragma once

#include <nlohmann/json.hpp>

#include "run/step_arrays.hpp"
#include "run/step_run.hpp"

/// JSON of `carom step`. Values that are not finite become null.
namespace carom::io {

/// Stepped worlds. Up to kListedWorlds `final_state` lists q and v of each; beyond, the least,
/// mean and largest of every component, one entry for each shape of worlds.
inline constexpr std::int64_t kListedWorlds = 64;
nlohmann::ordered_json step_json(const run::StepRun& run);

/// One step of arrays.
nlohmann::ordered_json array_step_json(const run::ArrayStepRun& run, std::size_t problem);

}  // namespace carom::io
