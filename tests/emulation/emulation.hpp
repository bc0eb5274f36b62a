#pragma once

#include <span>

#include <carom/equilibrium_planar.hpp>
#include <carom/equilibrium_spatial.hpp>
#include <carom/impact.hpp>
#include <carom/lcp.hpp>
#include <carom/lp.hpp>
#include <carom/qp.hpp>

/// The kernels of the device on a warp's worth of host lanes, or its threads one after the other,
/// run forwards or backwards. Arguments as of the backends' own entries.
namespace carom::emulation {

LcpResult solve_lcp(const LcpBatch& batch, const LcpSettings& settings, bool backwards);
LpResult solve_lp(const LpBatch& batch, const LpSettings& settings,
                  const Buffer<BasisStatus>* start, bool backwards);
QpResult solve_qp(const QpBatch& batch, const QpSettings& settings, bool backwards);
StepResult solve_steps(const StepBatch& batch, const StepSettings& settings, bool backwards);
ImpactResult sample_impacts(const ImpactBatch& batch, const ImpactSettings& settings,
                            bool backwards);
PlanarResult planar_equilibrium(const PostureBatch& batch, const PlanarSettings& settings,
                                bool backwards);
PlanarMargin planar_margins(const PostureBatch& batch, const Buffer<double>& centre_of_mass,
                            const PlanarSettings& settings, bool backwards);
SupportResult support(const PostureBatch& batch, std::span<const double> directions,
                      const SpatialSettings& settings, bool backwards);

}  // namespace carom::emulation
