#pragma once

#include <carom/certificate.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

#include "impact/kernels/impact.hpp"

namespace carom::kernels {

/// The difference of J v and the contact velocities u, relative to the largest contact speed
/// `size`; v is the velocity before plus M^-1 J' total.
///
/// Both are sums of the same terms, J v- and J M^-1 J' lambda: u was updated from event to event,
/// J v is computed from v. In doubles each has an error of at most (nv + rows) epsilons of the sum
/// of its terms' magnitudes. Velocities of contacts that nearly rest on fast bodies are small
/// differences of large terms: at 1e-8 m/s on a body at 100 m/s that error is 1e-6 of `size`.
/// If the tolerance is exceeded, only the part above this rounding error counts.
CAROM_INLINE double event_missed(const ImpactProblemView& problem, const ImpactRun& run, int rows,
                                 double size, const double* u, const double* total,
                                 const double* v) {
  const int nv = run.velocities;
  double wrong = 0.0;
  for (int most = 0; most < 2; ++most) {
    wrong = 0.0;
    for (int k = 0; k < rows; ++k) {
      const double* const row = problem.jacobian + static_cast<long>(k) * nv;
      double sum = 0.0, terms = 0.0;
      for (int j = 0; j < nv; ++j) {
        sum = fused(row[j], v[j], sum);
        if (most == 0 || row[j] == 0.0) continue;
        double size_of_v = magnitude(problem.velocity[j]);
        for (int i = 0; i < rows; ++i) {
          const double response = problem.response[static_cast<long>(j) * rows + i];
          size_of_v = fused(magnitude(response), magnitude(total[i]), size_of_v);
        }
        terms = fused(magnitude(row[j]), size_of_v, terms);
      }
      constexpr double kEpsilon = 0x1p-52;
      wrong = larger(wrong, magnitude(sum - u[k]) - (nv + rows) * kEpsilon * terms);
    }
    if (certificate::within(wrong / size, run.residual_tolerance)) break;
  }
  return wrong;
}

/// What is known of a followed impact by its residual, last contact velocities u and velocity v.
template <int Dim>
CAROM_INLINE void judge_end(const ImpactProblemView& problem, const ImpactRun& run, const double* u,
                            const double* v, TrajectoryEnd& end) {
  if (!certificate::within(end.residual, run.residual_tolerance)) {
    end.status = TrajectoryStatus::failed;
  }
  if (end.status == TrajectoryStatus::failed) {
    end.residual = kInfinity;
    return;
  }
  end.modes = contact_modes<Dim>(run.contacts, u, run.mode_tolerance);
  end.energy_ratio = energy_ratio<double>(problem, run.velocities, v);
  end.in_net = end.status == TrajectoryStatus::terminated;
  end.net_modes = end.modes;
}

}  // namespace carom::kernels
