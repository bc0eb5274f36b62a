#pragma once

#include <vector>

#include "impact/body/impact_body.hpp"
#include "impact/body/mode_table.hpp"

namespace carom {

struct PilotJob;
struct ConditionJob;

/// The loops behind a table's set-up, compiled for one instruction set: mode_pilots.hpp.
struct PilotCode {
  void (*follow_pilots)(const PilotJob&);
  void (*test_conditions)(const ConditionJob&);
  int padding;  ///< most doubles that it pads the rows of a tableau to
};

namespace cpu {
/// For this machine.
PilotCode pilot_code();
}  // namespace cpu

/// Table of the step's solutions for one problem, from a few pilot trajectories with numbers of
/// their own: a function of the problem, of step_size and max_steps alone. Up to three planar
/// contacts: every regular combination of modes, as far as the table has room; more contacts, or
/// spatial ones: those that the contact path ended in. Most frequent first.
class ModeTable {
 public:
  ModeTable(int dimension, const kernels::ImpactProblemView& problem, const kernels::ImpactRun& run,
            const PilotCode& code);

  [[nodiscard]] kernels::ModeTableView view() const {
    return {static_cast<int>(first_.size()) - 1, mixed_, beside_, first_.data(), numbers_.data()};
  }

 private:
  bool mixed_ = false;
  double beside_ = 0.0;
  std::vector<int> first_;
  std::vector<double> numbers_;
};

/// Whether problems of this shape get a table under these settings.
bool wants_mode_table(int dimension, int contacts, const ImpactSettings& settings);

}  // namespace carom
