#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <carom/stability.hpp>

namespace carom::io {

/// A verdict as it is stored in a file, with the proof that the file gives.
struct KeptVerdict {
  Stance stance;
  StabilityVerdict verdict = StabilityVerdict::undecided;
  std::optional<bool> equilibrium;  ///< HDF5: the sign of the margin
  double force_margin = 0.0;        ///< NaN where JSON has null, which is infinite
  CertificateKind certificate = CertificateKind::none;
  std::optional<bool> exact;  ///< as the file says; none without a certificate
  double s = 0.0, kappa = 0.0;
  std::array<double, 24> coefficients{};
  std::vector<std::string> ambiguous_modes;
  bool has_counterexample = false;
  std::array<double, 6> start{};
  double growth = 0.0;
  std::int64_t events = 0;
};

struct KeptVerdicts {
  std::vector<KeptVerdict> points;
  std::string model;  ///< empty where the file has none
  /// JSON: parameters of each point, and how many points the file says have each verdict.
  std::vector<std::map<std::string, double>> parameters;
  std::map<std::string, std::int64_t> counts;
  std::vector<std::string> other_fields;  ///< names of what is not here
};

/// Points of a file that `carom stability --json` or `--output` wrote. Errors: InvalidInput naming
/// the file and what is missing.
KeptVerdicts read_kept_verdicts(const std::filesystem::path& file);

}  // namespace carom::io
