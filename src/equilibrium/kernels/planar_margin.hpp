#pragma once

#include <carom/types/equilibrium_planar.hpp>

#include "equilibrium/kernels/planar_batch.hpp"

/// How far a centre of mass is from the ends of its regions, one posture on one lane.
namespace carom::kernels {

struct MarginRecord {
  Status status;
  double distance, robust_distance, scale;
  int limiting;

  CAROM_INLINE void write(const PlanarMarginArrays<Pointer>& margin, std::int64_t p) const {
    margin.status[p] = status;
    margin.distance[p] = distance;
    margin.robust_distance[p] = robust_distance;
    margin.scale[p] = scale;
    margin.limiting_vertex[p] = limiting;
  }
};

class PlanarMarginBody {
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  static constexpr int kMostCuts = 256;
  static constexpr double kInsideCone = 1e-10;

 public:
  CAROM_INLINE PlanarMarginBody(const PlanarView& view, LaneMemory<double> memory)
      : view_(view), memory_(memory) {}

  CAROM_HOST_DEVICE MarginRecord run(std::int64_t p, double x, double y) const {
    MarginRecord margin{Status::invalid_input, kNan, kNan, kNan, -1};
    const certificate::PlanarContacts contacts = view_.posture(p);
    const double* nominal = view_.wrench_of(p, 0);
    if (!usable_contacts(contacts) || !usable_wrench(nominal, force_frame(nominal)) ||
        !is_finite(x) || !is_finite(y)) {
      return margin;
    }
    view_.gather(p, [&](long row, double value) { memory_.store(row, value); });
    const StripRecord record = strip_of(contacts, nominal);
    margin.status = record.status;
    margin.distance = distance(record, x, y);
    if (!(margin.distance == margin.distance) || view_.vertices == 0) return margin;
    margin.robust_distance = kInfinity;
    margin.scale = kInfinity;
    const double slack = 1e-12 * larger(certificate::PlanarProof(contacts, nominal).scale(),
                                        magnitude(margin.distance));
    const bool held = margin.distance >= -slack;
    for (int v = 0; v < view_.vertices; ++v) {
      const double* vertex = view_.wrench_of(p, v + 1);
      if (!usable_wrench(vertex, force_frame(vertex))) {
        margin = {Status::invalid_input, kNan, kNan, kNan, -1};
        return margin;
      }
      const StripRecord strip = strip_of(contacts, vertex);
      const double here = strip.status == Status::infeasible ? -kInfinity : distance(strip, x, y);
      // A strip without answer leaves none for the region.
      if (!(here >= margin.robust_distance)) {
        margin.robust_distance =
            margin.robust_distance == margin.robust_distance ? here : margin.robust_distance;
      }
      if (!held) continue;
      const double scale = largest_scale(contacts, nominal, vertex, x, y, slack);
      if (scale < margin.scale) margin.limiting = v;
      if (!(scale >= margin.scale)) margin.scale = scale;
    }
    if (!held) margin.scale = kNan;
    return margin;
  }

 private:
  CAROM_INLINE StripRecord strip_of(const certificate::PlanarContacts& contacts,
                                    const double* wrench) const {
    const ForceFrame frame = force_frame(wrench);
    PlanarStripBody<double> body(memory_, view_.contacts, view_.patches());
    return strip_record(contacts, view_.patches(), wrench, frame, body.run(frame.x, frame.y),
                        view_.tolerance);
  }

  static CAROM_INLINE double distance(const StripRecord& record, double x, double y) {
    const double at = fused(y, record.normal[1], x * record.normal[0]);
    const double low = at - record.end[0];
    const double high = record.end[1] - at;
    return low != low || low < high ? low : high;
  }

  /// Largest s with x in the strip of w + s (w_v - w); NaN where a strip has no answer.
  CAROM_HOST_DEVICE double largest_scale(const certificate::PlanarContacts& contacts,
                                         const double* nominal, const double* vertex, double x,
                                         double y, double slack) const {
    double s = kMaxDisturbanceScale;
    double cone = kInfinity;  // where the force leaves the cone that all contacts span
    for (int cut = 0; cut < kMostCuts; ++cut) {
      double wrench[3];
      for (int i = 0; i < 3; ++i) wrench[i] = fused(s, vertex[i] - nominal[i], nominal[i]);
      const ForceFrame frame = force_frame(wrench);
      if (!usable_wrench(wrench, frame)) {
        s *= 1.0 - 1e-9;  // no force is left at this very s
        continue;
      }
      PlanarStripBody<double> body(memory_, view_.contacts, view_.patches());
      const Strip<double> found = body.run(frame.x, frame.y);
      const StripRecord record =
          strip_record(contacts, view_.patches(), wrench, frame, found, view_.tolerance);
      if (found.feasible < 0.5) {
        // Contact forces have no component along this d, which the wrench's would have to cancel.
        const double d = body.touching_separation();
        const double dx = fused(d, frame.x, -frame.y);
        const double dy = fused(d, frame.y, frame.x);
        const double now = fused(dy, wrench[1], dx * wrench[0]);
        const double start = fused(dy, nominal[1], dx * nominal[0]);
        if (!(start > 0.0)) return 0.0;
        cone = smaller(cone, s * (start / (start - now)));
        // On the cone itself rounding decides whether a strip exists; just inside it does.
        s = cone * (1.0 - kInsideCone);
        if (!(s > 0.0)) return kNan;
        continue;
      }
      const double inside = distance(record, x, y);
      if (inside != inside) return kNan;
      if (inside >= -slack) {
        if (cut == 0) return kInfinity;
        return s >= cone * (1.0 - kInsideCone) ? cone : s;
      }
      // Torque of the wrench about the violated end's dual point, which no contact can balance.
      const double at = fused(y, record.normal[1], x * record.normal[0]);
      const int end = at > record.end[1] ? 1 : 0;
      const double sign = end == 1 ? 1.0 : -1.0;
      const double across = at - (record.end[end] - wrench[2] / frame.size);
      const double over = fused(y, record.normal[0], -(x * record.normal[1])) - record.height[end];
      const auto torque = [&](const double* w) {
        const double along_n = fused(w[1], record.normal[1], w[0] * record.normal[0]);
        const double along_up = fused(w[1], record.normal[0], -(w[0] * record.normal[1]));
        return sign * (w[2] + fused(across, along_up, -(over * along_n)));
      };
      const double start = torque(nominal);
      if (!(start > 0.0)) return 0.0;
      const double next = s * (start / (start - torque(wrench)));
      if (!(next < s)) return s;
      s = next;
    }
    return kNan;
  }

  const PlanarView& view_;
  LaneMemory<double> memory_;
};

}  // namespace carom::kernels
