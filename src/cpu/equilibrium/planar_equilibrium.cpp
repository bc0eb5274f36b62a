
#include "core/parallel.hpp"
#include "core/thread_scratch.hpp"
#include "cpu/equilibrium/planar_driver.hpp"
#include "cpu/equilibrium/planar_methods.hpp"
#include "equilibrium/kernels/planar_margin.hpp"
#include "equilibrium/planar_backends.hpp"

namespace carom {

namespace {

using kernels::PlanarView;
using kernels::StripRecord;

constexpr std::int64_t kPosturesAtOnce = 64;

void record_strip(const PlanarView& view, std::int64_t p, int which, const StripRecord& record) {
  if (which == 0) {
    view.write(p, record);
  } else {
    view.write_strip(p, which - 1, record);
  }
}

void solve_geometric(const PlanarView& view, PlanarMethod method, std::int64_t p) {
  const certificate::PlanarContacts contacts = view.posture(p);
  const bool usable = kernels::usable_contacts(contacts);
  for (int which = 0; which <= view.vertices; ++which) {
    const double* wrench = view.wrench_of(p, which);
    StripRecord record = kernels::refused_strip();
    const kernels::ForceFrame frame = kernels::force_frame(wrench);
    if (usable && kernels::usable_wrench(wrench, frame)) {
      const cpu::GeometricStrip found =
          cpu::geometric_strip(method, contacts, view.patches(), frame);
      if (found.usable) {
        record = kernels::strip_record(contacts, view.patches(), wrench, frame, found.strip,
                                       view.tolerance);
      } else {
        record.status = Status::nonconvex;
      }
    }
    record_strip(view, p, which, record);
  }
  if (view.vertices > 0) view.finish_robust(p);
}

}  // namespace

namespace cpu {

void solve_planar_pack(const PlanarView& view, const simd::PlanarSearch& search, std::int64_t begin,
                       int count, PlanarScratch& scratch) {
  const int width = search.width;
  std::array<bool, simd::kLargestPlanarWidth> usable{};
  double* workspace = scratch.workspace.data();
  for (int lane = 0; lane < width; ++lane) {
    const std::int64_t p = begin + (lane < count ? lane : 0);
    const bool good = kernels::usable_contacts(view.posture(p));
    usable[static_cast<std::size_t>(lane)] = good && lane < count;
    // A lane without a posture computes with zeros, which end at once.
    view.gather(
        p, [&](long row, double value) { workspace[row * width + lane] = good ? value : 0.0; });
  }
  std::array<kernels::ForceFrame, simd::kLargestPlanarWidth> frames{};
  double* normal_x = scratch.normals.data();
  double* normal_y = normal_x + width;
  for (int which = 0; which <= view.vertices; ++which) {
    std::array<bool, simd::kLargestPlanarWidth> solvable = usable;
    for (int lane = 0; lane < width; ++lane) {
      const auto l = static_cast<std::size_t>(lane);
      normal_x[lane] = 1.0;
      normal_y[lane] = 0.0;
      if (!usable[l]) continue;
      const double* wrench = view.wrench_of(begin + lane, which);
      frames[l] = kernels::force_frame(wrench);
      solvable[l] = kernels::usable_wrench(wrench, frames[l]);
      if (!solvable[l]) continue;
      normal_x[lane] = frames[l].x;
      normal_y[lane] = frames[l].y;
    }
    search.run(
        {workspace, normal_x, normal_y, view.contacts, view.patches(), scratch.strips.data()});
    for (int lane = 0; lane < count; ++lane) {
      const std::int64_t p = begin + lane;
      StripRecord record = kernels::refused_strip();
      if (solvable[static_cast<std::size_t>(lane)]) {
        record = kernels::strip_record(view.posture(p), view.patches(), view.wrench_of(p, which),
                                       frames[static_cast<std::size_t>(lane)],
                                       simd::strip_of(scratch.strips.data(), width, lane),
                                       view.tolerance);
      }
      record_strip(view, p, which, record);
    }
  }
  for (int lane = 0; view.vertices > 0 && lane < count; ++lane) view.finish_robust(begin + lane);
}

PlanarResult planar_equilibrium(const PostureBatch& batch, const PlanarSettings& settings,
                                WorkspaceState* workspace) {
  auto result = allocate<PlanarResult>(batch);
  const PlanarView view = planar_view(batch, settings, result);
  if (settings.method != PlanarMethod::lp) {
    parallel_for(batch.problems, kPosturesAtOnce, settings.threads,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t p = begin; p < end; ++p) {
                     solve_geometric(view, settings.method, p);
                   }
                 });
    return result;
  }
  const simd::PlanarSearch& search = simd::instruction_set().planar;
  const Scratch<ThreadScratch<PlanarScratch>> memories(workspace);
  parallel_for(
      batch.problems, kPosturesAtOnce, settings.threads, [&](std::int64_t begin, std::int64_t end) {
        PlanarScratch& scratch = memories->local();
        scratch.fit(view, search.width);
        for (std::int64_t p = begin; p < end; p += search.width) {
          const auto left = static_cast<int>(std::min<std::int64_t>(search.width, end - p));
          solve_planar_pack(view, search, p, left, scratch);
        }
      });
  return result;
}

PlanarMargin planar_margins(const PostureBatch& batch, const Buffer<double>& centre_of_mass,
                            const PlanarSettings& settings, WorkspaceState* workspace) {
  auto margin = allocate<PlanarMargin>(batch);
  PlanarMarginArrays<Pointer> to{};
  arrays::bind(to, margin);
  const PlanarView view = planar_inputs(batch, settings);
  const double* centre = centre_of_mass.data();
  const Scratch<ThreadScratch<PlanarScratch>> memories(workspace);
  parallel_for(batch.problems, kPosturesAtOnce, settings.threads,
               [&](std::int64_t begin, std::int64_t end) {
                 PlanarScratch& scratch = memories->local();
                 scratch.fit(view, 1);
                 const kernels::PlanarMarginBody body(view, {scratch.workspace.data(), 1});
                 for (std::int64_t p = begin; p < end; ++p) {
                   body.run(p, centre[2 * p], centre[2 * p + 1]).write(to, p);
                 }
               });
  return margin;
}

template <>
const PlanarEntries& entries() {
  static constexpr PlanarEntries kEntries{planar_equilibrium, planar_margins};
  return kEntries;
}

}  // namespace cpu

}  // namespace carom
