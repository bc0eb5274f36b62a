#pragma once

#include <optional>
#include <string>
#include <vector>

#include <carom/impact_enclosure.hpp>

#include "run/control.hpp"
#include "run/impact_run.hpp"

namespace carom::run {

/// Encloses the problem of every run, on all threads that the settings allow, answers the questions
/// (`never`, see impact_event) by it, and looks for counterexamples among the kept samples. Where
/// `control` stops, the remaining runs have none.
/// Errors: InvalidInput; a question that is not understood.
void enclose_runs(std::vector<ImpactRun>& runs, const EnclosureSettings& settings,
                  const std::vector<std::string>& never, const Control& control);

/// Errors: InvalidInput for a question that is not understood, before anything is computed.
void require_questions(const ImpactProblem& problem, const std::vector<std::string>& contact_names,
                       const std::vector<std::string>& never);

}  // namespace carom::run
