#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <carom/stability.hpp>

#include "run/control.hpp"

namespace carom::run {

/// Points of a model or file: the stance of each and what was varied to make it.
struct StancePoints {
  std::string name;  ///< of the model or file
  std::vector<Stance> stances;
  std::map<std::string, double> set;      ///< parameters that all of them were given
  std::vector<std::string> varied;        ///< names: sweeps, the last fastest, then what is drawn
  std::vector<std::vector<double>> axes;  ///< of each, its grid; empty where it is drawn
  std::vector<std::vector<double>> at;    ///< [points, varied]
  [[nodiscard]] bool drawn() const { return !axes.empty() && axes.back().empty(); }
  [[nodiscard]] bool chart() const { return varied.size() == 2 && !drawn(); }
};

/// Answers about one point's impact and motion.
struct StanceQuestions {
  std::optional<int> contact;  ///< of the impact, 0 first
  std::array<double, 3> impact{};
  std::optional<std::array<double, 6>> start;
  std::int64_t events = 100;
};

struct StabilityRun {
  StancePoints points;
  StabilitySettings settings;
  Backend backend = Backend::cpu;
  StabilityResult result;  ///< of the stances on two contacts, on the host
  /// Row of `result`; -1 for another number of contacts, of which modes and ambiguity are known.
  std::vector<std::int64_t> row;
  std::vector<std::uint8_t> exact;  ///< of rows: the certificate holds in exact arithmetic
  std::int64_t done = 0;            ///< rows
  bool complete = true;
  double seconds = 0.0;
  std::optional<StanceImpact> impact;
  std::vector<StanceEvent> events;

  /// Verdict of point i; of more contacts what modes tell.
  [[nodiscard]] StabilityVerdict verdict(std::size_t i) const;
};

/// Judges all points, in pieces between which `control` is asked. Errors: InvalidInput naming the
/// point.
StabilityRun run_stability(StancePoints points, const StabilitySettings& settings, Backend backend,
                           const StanceQuestions& questions, const Control& control);

}  // namespace carom::run
