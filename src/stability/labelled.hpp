#pragma once

#include <array>
#include <optional>

#include <carom/types/sdp.hpp>

#include "stability/kernels/stance.hpp"

/// Labelled functions, one for each contact touched last (docs/explanation/stability.md, "Labelled
/// functions"), found by a semidefinite program.
namespace carom::stability {

/// Numbers of a certificate, as StabilityResult::coefficients has them.
inline constexpr int kLabelledNumbers = 24;

struct LabelledCertificate {
  bool found = false;
  double margin = 0.0;  ///< slack of all conditions, relative to their sizes
  std::array<double, kLabelledNumbers> numbers{};
};

/// The stance is held, unambiguous, has no paradox, and no impact creates energy.
LabelledCertificate find_labelled(const kernels::stability::StanceForm& stance);
/// The programme that it solves, if there is one; its last variable is the slack.
std::optional<SdpProblem> labelled_programme(const kernels::stability::StanceForm& stance);

}  // namespace carom::stability
