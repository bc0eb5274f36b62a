#pragma once

#include <array>
#include <map>
#include <mutex>

#include "stability/labelled.hpp"

/// Labelled functions of stances with rounded numbers: they often prove all stances that round to
/// the same numbers, which saves solving their programs.
namespace carom::stability {

/// The answers of a call, so far; several threads may ask. What it answers depends on the stance
/// only, not on what was asked before.
class NeighbourCertificates {
 public:
  /// The certificate of the rounded stance, a candidate for `stance` itself.
  LabelledCertificate of(const kernels::stability::StanceForm& stance);

 private:
  using Key = std::array<double, 19>;

  std::mutex mutex_;
  std::map<Key, LabelledCertificate> known_;
};

}  // namespace carom::stability
