#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <carom/impact.hpp>
#include <carom/impact_enclosure.hpp>
#include <carom/impact_judge.hpp>
#include <carom/impact_models.hpp>

#include "core/buffer_slice.hpp"
#include "run/parameters.hpp"

namespace carom::run {

/// Outcomes of the other impact models for one problem.
struct ComparedModels {
  std::vector<ImpactOutcome> simultaneous;
  bool simultaneous_complete = true;  ///< false: one Lemke solution, enumeration was too large
  std::vector<SequentialOutcome> sequential;
};

/// What is known of something that is asked never to happen.
struct NeverAnswer {
  std::string question;
  bool proven = false;
  /// Proven, but slow contacts count as it in samples: mode_tolerance.
  bool in_doubt = false;
  /// A sample in which it happens, or counts as it.
  std::optional<std::int64_t> sample;
};

/// "proven", "counterexample" or "open".
std::string_view answer_word(const NeverAnswer& answer);

/// Samples that an enclosure is compared with.
inline constexpr std::int64_t kComparedSamples = 1 << 10;

/// The enclosure of one problem and its samples.
struct EnclosedRun {
  ImpactEnclosure set;
  double filled = 0.0;      ///< filled_share of the samples' bounds
  OutsideSamples samples;   ///< the stored samples of the run compared with it
  OutsideSamples followed;  ///< samples of events, the run's own or others
  /// Sampled outcomes that the set has only at the settings' mode_tolerance; not in the set's
  /// impossible_modes.
  std::vector<std::uint64_t> within_tolerance;
  std::vector<NeverAnswer> answers;
};

/// A measured outcome compared with the set.
struct JudgedRun {
  ImpactFloorArrays<Values> floor;
  ImpactJudgementArrays<Values> samples;
  std::vector<double> nearest_path;  ///< v_0, v_1, .. of the nearest sample, [pieces + 1, nv]
};

/// Which restitution and friction explain it, among those of all runs.
struct IdentifiedRun {
  std::vector<double> restitution, friction;  ///< grids
  std::vector<double> distance;               ///< [restitution, friction]
  double tolerance = 0.0;                     ///< distance up to which a pair explains it
  std::array<double, 4> smallest_interval{};  ///< as ImpactIdentification has it, of all runs
  std::array<double, 8> bounds{};
};

/// The outcome of another model, and how far from the set it lies.
struct ModelledBounce {
  std::string model;
  SequentialOutcome outcome;  ///< order: of sequences; impacts: also rounds or steps
  double energy_ratio = 0.0;  ///< K+/K-
  double distance = 0.0;      ///< of the nearest sample, as of a measured outcome
  double resolution = 0.0;    ///< between samples
  double measured = 0.0;      ///< from the measured outcome; NaN without
};

/// The kept rows of one problem.
struct SampleRows : ImpactSampleArrays<Values> {
  std::int64_t count = 0;
};

/// What is reported, written and drawn of one sampled problem.
struct ImpactRun {
  std::string model;                       ///< model name, or the problem's own name
  std::vector<std::string> contact_names;  ///< [m]
  ImpactProblem problem;
  Parameters parameters;                  ///< swept or drawn
  MeasuredImpactArrays<Values> measured;  ///< the outcome as measured, if it was
  ImpactSettings settings;                ///< with what was left open decided
  std::string step_size_reason;           ///< why h has this value if the user did not choose it
  std::string epsilon_reason;             ///< likewise
  Backend backend = Backend::cpu;
  ImpactSummary summary;
  std::optional<EpsilonNet> net;
  ImpactPaths paths;
  SampleRows rows;
  bool complete = true;             ///< false: the run was stopped before its end
  double seconds = 0.0;             ///< of the batch that this problem was solved in
  double samples_per_second = 0.0;  ///< of that batch
  std::optional<ComparedModels> models;
  std::optional<EnclosedRun> enclosure;
  std::optional<JudgedRun> judgement;
  std::optional<IdentifiedRun> identified;
  std::vector<ModelledBounce> bounces;
};

/// Contacts that approach before the impact, faster than settings.velocity_tolerance.
std::vector<int> approaching_contacts(const ImpactRun& run);

/// J v of one velocity: normals [m], then tangents [(dimension-1) m].
std::vector<double> contact_velocity(const ImpactProblem& problem, const double* velocity);

}  // namespace carom::run
