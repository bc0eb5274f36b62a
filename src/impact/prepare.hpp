#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <carom/types/error.hpp>
#include <carom/types/impact.hpp>

#include "impact/kernels/contact_stores.hpp"
#include "impact/kernels/impact.hpp"

namespace carom {

/// Per-problem data that its samples share, on the host. Prepared on settings.threads threads.
class PreparedImpacts {
 public:
  PreparedImpacts(const ImpactBatch& batch, const ImpactSettings& settings);

  [[nodiscard]] bool valid(std::int64_t p) const {
    return valid_[static_cast<std::size_t>(p)] != 0;
  }
  /// Its arrays are those of all problems, [problems, ..], from p on.
  [[nodiscard]] kernels::ImpactProblemView view(std::int64_t p) const;
  /// Restitution and friction of problem p; none where it is inelastic with numbers for friction,
  /// and followed without stores.
  [[nodiscard]] std::optional<kernels::RestitutionView> restitution(std::int64_t p) const;
  [[nodiscard]] const std::vector<std::uint8_t>& valid() const { return valid_; }
  [[nodiscard]] const std::vector<double>& energy() const { return energy_; }
  [[nodiscard]] const std::vector<double>& step_size() const { return step_size_; }
  [[nodiscard]] const std::vector<double>& contact_speed() const { return contact_speed_; }
  [[nodiscard]] const std::vector<double>& closing_impulse() const { return closing_; }

 private:
  void prepare(const ImpactBatch& batch, const ImpactSettings& settings, std::int64_t p);

  int nv_;
  int m_;
  int rows_;
  const ImpactBatch* batch_;
  ImpactSettings settings_;        ///< only law and vary
  std::vector<double> inelastic_;  ///< zeros, [m]
  std::vector<std::uint8_t> valid_;
  std::vector<double> jacobian_, response_, delassus_, scale_, contact_velocity_, energy_,
      step_size_, contact_speed_, closing_;
};

/// PreparedImpacts::restitution of problem p of a batch in host memory, of which nothing but
/// friction and intervals is read. inelastic: zeros, [m], which the view may point to.
std::optional<kernels::RestitutionView> restitution_of(const ImpactBatch& batch, std::int64_t p,
                                                       const ImpactSettings& settings,
                                                       const double* inelastic);

/// Problem p of a batch in host memory.
ImpactProblem problem_of(const ImpactBatch& batch, std::int64_t p);

/// Radius of the net of problem p; 0: none.
inline double epsilon_of(const ImpactSettings& settings, std::int64_t p) {
  if (settings.problem_epsilon.empty()) return settings.epsilon > 0.0 ? settings.epsilon : 0.0;
  return settings.problem_epsilon[static_cast<std::size_t>(p)];
}
inline bool wants_net(const ImpactSettings& settings) {
  return settings.epsilon > 0.0 || !settings.problem_epsilon.empty();
}
/// Settings of problems [begin, end) of a batch, whose memory they borrow.
ImpactSettings part_of(const ImpactSettings& settings, std::int64_t begin, std::int64_t end);

/// Settings of a run in the form that the bodies read; `sobol` outlives it.
kernels::ImpactRun impact_run(const ImpactBatch& batch, const ImpactSettings& settings,
                              const std::vector<std::uint64_t>& sobol);

/// Sobol directions of a run; empty for the uniform sampler.
std::vector<std::uint64_t> run_directions(const ImpactBatch& batch, const ImpactSettings& settings);

}  // namespace carom
