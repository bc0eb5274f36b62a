#pragma once

#include <cstdint>

#include <carom/types/equilibrium_planar.hpp>

#include "core/pointers.hpp"
#include "equilibrium/kernels/planar_posture.hpp"
#include "equilibrium/kernels/strip_polygon.hpp"

/// Reads and writes the arrays of a planar batch, on host and device.
namespace carom::kernels {

/// Arrays of equilibrium_planar.hpp; outputs may be missing where only margins are asked for.
struct PlanarView : PostureBatchArrays<ConstPointer> {
  int contacts;
  int vertices;
  double tolerance;
  PlanarResultArrays<Pointer> result;

  [[nodiscard]] CAROM_INLINE bool patches() const { return length != nullptr; }
  [[nodiscard]] CAROM_INLINE certificate::PlanarContacts posture(std::int64_t p) const {
    return {contacts, position + 2 * p * contacts, normal + 2 * p * contacts,
            friction + p * contacts, length == nullptr ? nullptr : length + p * contacts};
  }
  /// Wrench 0 is the nominal one, v + 1 vertex v of W.
  [[nodiscard]] CAROM_INLINE const double* wrench_of(std::int64_t p, int which) const {
    return which == 0 ? wrench + 3 * p : wrench_vertices + 3 * (p * vertices + which - 1);
  }

  /// Row r of the raw part of a lane's workspace for posture p.
  template <class Store>
  CAROM_INLINE void gather(std::int64_t p, Store&& store) const {
    const certificate::PlanarContacts c = posture(p);
    for (int i = 0; i < contacts; ++i) {
      store(6L * i, c.position[2 * i]);
      store(6L * i + 1, c.position[2 * i + 1]);
      store(6L * i + 2, c.normal[2 * i]);
      store(6L * i + 3, c.normal[2 * i + 1]);
      store(6L * i + 4, c.friction[i]);
      store(6L * i + 5, c.length_of(i));
    }
  }

  CAROM_INLINE void write(std::int64_t p, const StripRecord& record) const {
    result.status[p] = record.status;
    result.torque_min[p] = record.torque[0];
    result.torque_max[p] = record.torque[1];
    result.lower[p] = record.end[0];
    result.upper[p] = record.end[1];
    result.residual[p] = record.residual;
    const bool answered = record.count[0] > 0 && record.count[1] > 0;
    for (int e = 0; e < 2; ++e) {
      result.normal[2 * p + e] = record.normal[e];
      result.height[2 * p + e] = record.height[e];
      result.separation[2 * p + e] = record.separation[e];
      write_forces(p, e, record, answered);
    }
    write_essential(p, record);
  }

  CAROM_INLINE void write_strip(std::int64_t p, int v, const StripRecord& record) const {
    double* strip = result.robust_strip + 4 * (p * vertices + v);
    for (int e = 0; e < 2; ++e) {
      strip[e] = record.normal[e];
      strip[2 + e] = record.end[e];
    }
    // What the whole region is, as far as the strips up to this one say.
    if (v == 0) {
      result.robust_status[p] = Status::solved;
      result.robust_residual[p] = 0.0;
    }
    certificate::MaxAbs<> worst;
    worst.add(result.robust_residual[p]);
    worst.add(record.residual);
    result.robust_residual[p] = worst.value;
    // An empty strip makes the region empty, whatever the others are.
    const Status found = result.robust_status[p];
    if (found == Status::invalid_input || record.status == Status::solved ||
        record.status == Status::unbounded) {
      return;
    }
    const bool strong =
        record.status == Status::infeasible || record.status == Status::invalid_input;
    if (strong || found == Status::solved ||
        (found == Status::inaccurate && record.status != Status::inaccurate)) {
      result.robust_status[p] = record.status;
    }
  }

  CAROM_HOST_DEVICE void finish_robust(std::int64_t p) const {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    double* polygon = result.robust_polygon + 4 * p * vertices;
    int count = 0;
    if (result.robust_status[p] == Status::solved ||
        result.robust_status[p] == Status::inaccurate) {
      const StripPolygon region(result.robust_strip + 4 * p * vertices, vertices);
      if (region.count() == 0) {
        result.robust_status[p] = Status::infeasible;
      } else if (!region.bounded()) {
        result.robust_status[p] = Status::unbounded;
      } else {
        count = region.count() < 2 * vertices ? region.count() : 2 * vertices;
        for (int i = 0; i < count; ++i) {
          polygon[2 * i] = region.x(i);
          polygon[2 * i + 1] = region.y(i);
        }
      }
    }
    result.robust_count[p] = count;
    for (int i = 2 * count; i < 4 * vertices; ++i) polygon[i] = kNan;
  }

 private:
  CAROM_INLINE void write_forces(std::int64_t p, int e, const StripRecord& record,
                                 bool answered) const {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    double* f = result.force + 2 * (2 * p + e) * contacts;
    double* t = result.torque + (2 * p + e) * contacts;
    for (int i = 0; i < contacts; ++i) {
      f[2 * i] = f[2 * i + 1] = t[i] = answered ? 0.0 : kNan;
    }
    const certificate::PlanarContacts c = posture(p);
    for (int j = 0; answered && j < record.count[e]; ++j) {
      const certificate::PointForce& point = record.force[e][j];
      f[2 * point.contact] += point.x;
      f[2 * point.contact + 1] += point.y;
      // t x f, which is the force's normal component
      const double pressure =
          fused(point.x, c.normal[2 * point.contact], point.y * c.normal[2 * point.contact + 1]);
      t[point.contact] = fused(point.along, pressure, t[point.contact]);
    }
  }

  CAROM_INLINE void write_essential(std::int64_t p, const StripRecord& record) const {
    std::int32_t* out = result.essential + 4 * p;
    int count = 0;
    for (int e = 0; e < 2; ++e) {
      for (int j = 0; j < record.count[e]; ++j) {
        const std::int32_t contact = record.force[e][j].contact;
        int at = 0;
        while (at < count && out[at] < contact) ++at;
        if ((at < count && out[at] == contact) || count == 4) continue;
        for (int m = count; m > at; --m) out[m] = out[m - 1];
        out[at] = contact;
        ++count;
      }
    }
    for (; count < 4; ++count) out[count] = -1;
  }
};

}  // namespace carom::kernels
