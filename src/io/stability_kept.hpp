#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include <carom/stability.hpp>

namespace carom::io {

/// A verdict as a file keeps it, with what is said to prove it.
struct KeptVerdict {
  Stance stance;
  StabilityVerdict verdict = StabilityVerdict::undecided;
  CertificateKind certificate = CertificateKind::none;
  double s = 0.0, kappa = 0.0;
  std::array<double, 24> coefficients{};
  std::vector<std::string> ambiguous_modes;
  std::array<double, 6> start{};
  double growth = 0.0;
  std::int64_t events = 0;
};

/// Points of a file that `carom stability --json` or `--output` wrote. Errors: InvalidInput naming
/// the file and what is missing.
std::vector<KeptVerdict> read_kept_verdicts(const std::filesystem::path& file);

}  // namespace carom::io
