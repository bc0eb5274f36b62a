#include <algorithm>
#include <memory>
#include <span>

#include "compliant/backends.hpp"
#include "core/backends.hpp"
#include "cuda/devices.hpp"
#include "cuda/memory.hpp"
#include "cuda/motion/motion_shards.hpp"
#include "equilibrium/planar_backends.hpp"
#include "equilibrium/spatial_backends.hpp"
#include "impact/backends.hpp"
#include "motion/backends.hpp"
#include "programs/lcp/backends.hpp"
#include "programs/lcp/boxed_backends.hpp"
#include "programs/lp/backends.hpp"
#include "programs/qp/backends.hpp"
#include "stability/backends.hpp"

namespace carom::cuda {

namespace {

/// A batch's entry on the devices that the caller chose.
template <class Result, class Batch, class Settings,
          Result (*kSolve)(const Batch&, const Settings&, WorkspaceState*)>
Result on_devices(const Batch& batch, const Settings& settings, WorkspaceState* workspace) {
  return divided<Result>(batch, batch, arrays::common_space("batch", batch), workspace,
                         [&](const Batch& part, std::int64_t, WorkspaceState* own) {
                           return kSolve(part, settings, own);
                         });
}

/// Numbers [begin, ...) of as many problems as `part` has; all of `values` where it has all.
template <class T>
Buffer<T> part_of(const Buffer<T>& values, std::int64_t problems, std::int64_t begin,
                  std::int64_t count) {
  const auto stride = values.size() / static_cast<std::size_t>(std::max<std::int64_t>(problems, 1));
  return Buffer<T>::borrow(const_cast<T*>(values.data()) + static_cast<std::size_t>(begin) * stride,
                           static_cast<std::size_t>(count) * stride, values.space());
}

LpResult lps(const LpBatch& batch, const LpSettings& settings, const Buffer<BasisStatus>* start,
             WorkspaceState* workspace) {
  return divided<LpResult>(batch, batch, batch.matrix.space(), workspace,
                           [&](const LpBatch& part, std::int64_t begin, WorkspaceState* own) {
                             if (start == nullptr) return solve_lp(part, settings, nullptr, own);
                             const auto of_part =
                                 part_of(*start, batch.problems, begin, part.problems);
                             return solve_lp(part, settings, &of_part, own);
                           });
}

BoxedLcpResult boxes(const BoxedLcpBatch& batch, const BoxedLcpSettings& settings, int frictions,
                     WorkspaceState* workspace) {
  return divided<BoxedLcpResult>(batch, batch, arrays::common_space("batch", batch), workspace,
                                 [&](const BoxedLcpBatch& part, std::int64_t, WorkspaceState* own) {
                                   return solve_boxed_lcp(part, settings, frictions, own);
                                 });
}

QpResult qps(const QpBatch& batch, const QpSettings& settings, const QpWarmStart& start,
             WorkspaceState* workspace) {
  return divided<QpResult>(batch, batch, batch.hessian.space(), workspace,
                           [&](const QpBatch& part, std::int64_t begin, WorkspaceState* own) {
                             QpWarmStart of_part;
                             QpWarmStart::each_array(
                                 batch,
                                 [&](const char*, const Extents&, auto& to, const auto& from) {
                                   to = part_of(from, batch.problems, begin, part.problems);
                                 },
                                 of_part, start);
                             return solve_qp(part, settings, of_part, own);
                           });
}

PlanarMargin margins(const PostureBatch& batch, const Buffer<double>& centre_of_mass,
                     const PlanarSettings& settings, WorkspaceState* workspace) {
  return divided<PlanarMargin>(
      batch, batch, batch.position.space(), workspace,
      [&](const PostureBatch& part, std::int64_t begin, WorkspaceState* own) {
        return planar_margins(part, part_of(centre_of_mass, batch.problems, begin, part.problems),
                              settings, own);
      });
}

SupportResult supports(const PostureBatch& batch, std::span<const double> directions,
                       const SpatialSettings& settings, WorkspaceState* workspace) {
  const SupportSizes sizes{batch.problems, static_cast<int>(directions.size() / 2), batch.contacts};
  return divided<SupportResult>(batch, sizes, batch.position.space(), workspace,
                                [&](const PostureBatch& part, std::int64_t, WorkspaceState* own) {
                                  return support(part, directions, settings, own);
                                });
}

StabilityResult stances(const StanceBatch& batch, const StabilitySettings& settings,
                        WorkspaceState* workspace) {
  return divided<StabilityResult>(
      batch, batch, arrays::common_space("batch", batch), workspace,
      [&](const StanceBatch& part, std::int64_t begin, WorkspaceState* own) {
        StabilitySettings of_part = settings;
        of_part.first_problem += begin;  // what random numbers are functions of
        return analyse_stability(part, of_part, own);
      });
}

}  // namespace

template <>
const LcpEntries& entries() {
  static constexpr LcpEntries kEntries{on_devices<LcpResult, LcpBatch, LcpSettings, solve_lcp>};
  return kEntries;
}

template <>
const BoxedLcpEntries& entries() {
  static constexpr BoxedLcpEntries kEntries{boxes};
  return kEntries;
}

template <>
const LpEntries& entries() {
  static constexpr LpEntries kEntries{lps};
  return kEntries;
}

template <>
const QpEntries& entries() {
  static constexpr QpEntries kEntries{qps};
  return kEntries;
}

template <>
const ImpactEntries& entries() {
  static constexpr ImpactEntries kEntries{
      on_devices<StepResult, StepBatch, StepSettings, solve_steps>, sample_impacts};
  return kEntries;
}

template <>
const PlanarEntries& entries() {
  static constexpr PlanarEntries kEntries{
      on_devices<PlanarResult, PostureBatch, PlanarSettings, planar_equilibrium>, margins};
  return kEntries;
}

template <>
const SpatialEntries& entries() {
  static constexpr SpatialEntries kEntries{supports, nullptr};
  return kEntries;
}

template <>
const CompliantEntries& entries() {
  static constexpr CompliantEntries kEntries{
      on_devices<CompliantResult, CompliantBatch, CompliantSettings, solve_compliant>,
      make_stepper};
  return kEntries;
}

template <>
const StabilityEntries& entries() {
  static constexpr StabilityEntries kEntries{stances};
  return kEntries;
}

template <>
const MotionEntries& entries() {
  static constexpr MotionEntries kEntries{motions_divided};
  return kEntries;
}

const Device* device() {
  static constexpr Device kDevice{devices, {allocate, release, copy}};
  return &kDevice;
}

}  // namespace carom::cuda
