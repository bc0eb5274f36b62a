#pragma once

#include <cstdint>

#include "compliant/kernels/compliant_laws.hpp"

namespace carom::kernels {

/// A change of modes on the path: where, and which.
enum class PathEventKind : std::uint8_t { none, close, open, slip, hold, arrival };
struct PathEvent {
  double length = kInfinity;  ///< along the tangent
  int row = 0;
  PathEventKind kind = PathEventKind::none;
};

/// The smooth pieces of CompliantPath's curve: every contact has a mode, and the modes' equations
/// E(p, s) = 0 with F = W p + u + s c define a curve.
template <class Target>
struct CompliantPieces {
  using Event = PathEvent;
  using Kind = PathEventKind;
  static constexpr double kOpen = 0.0;
  static constexpr double kStick = 1.0;  // of a row without friction: closed
  static constexpr double kSlide = 2.0;

  ContactSystem system;
  int rows = 0;
  int order = 0;                   ///< rows + 1
  const double* weight = nullptr;  ///< rho
  double* matrix = nullptr;        ///< [order, order]
  double* right = nullptr;         ///< [order], as all others
  double* flow = nullptr;          ///< F
  double* cover = nullptr;         ///< rho c
  double* mode = nullptr;          ///< at a contact's normal row
  int solutions = 0;               ///< calls of eliminate

  /// F at x = (p, s).
  CAROM_INLINE void evaluate(const double* x) {
    for (int i = 0; i < rows; ++i) flow[i] = system.flow(i, x) + x[rows] * cover[i] / weight[i];
  }

  CAROM_INLINE double& entry(int i, int j) { return matrix[static_cast<long>(i) * order + j]; }

  CAROM_INLINE void slide_force(const double* x, int i, int count, double* z) const {
    for (int k = 0; k < count; ++k) {
      z[k] = fused(-weight[i + 1 + k], flow[i + 1 + k], x[i + 1 + k]);
    }
  }

  /// Largest violation of the present modes' equations at x, whose F is in flow; right: minus
  /// the equations.
  CAROM_INLINE double equations(const double* x) {
    double worst = 0.0;
    for (int i = 0; i < rows; i += 1 + system.tangents_of(i)) {
      const int count = system.tangents_of(i);
      if (mode[i] == kOpen) {
        for (int k = 0; k <= count; ++k) right[i + k] = -x[i + k];
      } else {
        for (int k = 0; k <= count; ++k) right[i + k] = -weight[i + k] * flow[i + k];
        if (mode[i] == kSlide) {
          double z[2] = {0.0, 0.0};
          slide_force(x, i, count, z);
          const double size = tangent_length(z, count);
          const double radius = system.friction[i] * x[i];
          for (int k = 0; k < count; ++k) {
            right[i + 1 + k] = (size > 0.0 ? radius * (z[k] / size) : 0.0) - x[i + 1 + k];
          }
        }
      }
      for (int k = 0; k <= count; ++k) {
        const double error = magnitude(right[i + k]);
        worst = worst != worst || error <= worst ? worst : error;
      }
    }
    return worst;
  }

  /// Derivatives of the modes' equations at x by (p, s); the last row is left to the caller.
  CAROM_INLINE void linearise(const double* x) {
    for (int i = 0; i < order; ++i) {
      for (int j = 0; j < order; ++j) entry(i, j) = 0.0;
    }
    for (int i = 0; i < rows; i += 1 + system.tangents_of(i)) {
      const int count = system.tangents_of(i);
      if (mode[i] == kOpen) {
        for (int k = 0; k <= count; ++k) entry(i + k, i + k) = 1.0;
        continue;
      }
      const int held = mode[i] == kStick ? count : 0;
      for (int k = 0; k <= held; ++k) add_flow(i + k, i + k, weight[i + k]);
      if (mode[i] == kSlide) linearise_slide(x, i, count);
    }
  }

  CAROM_INLINE void add_flow(int to, int from, double factor) {
    const double* w = system.row(from);
    for (int j = system.first(from); j < system.last(from); ++j) {
      entry(to, j) = fused(factor, w[j], entry(to, j));
    }
    entry(to, rows) = fused(factor, cover[from] / weight[from], entry(to, rows));
  }

  CAROM_INLINE void linearise_slide(const double* x, int i, int count) {
    double z[2] = {0.0, 0.0};
    slide_force(x, i, count, z);
    const double size = tangent_length(z, count);
    const double mu = system.friction[i];
    for (int k = 0; k < count; ++k) {
      entry(i + 1 + k, i + 1 + k) = 1.0;
      if (size > 0.0) entry(i + 1 + k, i) = -mu * (z[k] / size);
    }
    if (count == 1 || !(size > 0.0)) return;
    const double bend = mu * x[i] / size;
    for (int k = 0; k < count; ++k) {
      for (int l = 0; l < count; ++l) {
        const double across = bend * ((k == l ? 1.0 : 0.0) - (z[k] / size) * (z[l] / size));
        entry(i + 1 + k, i + 1 + l) -= across;
        add_flow(i + 1 + k, i + 1 + l, across * weight[i + 1 + l]);
      }
    }
  }

  /// Distance to the end of row i's mode in the sense of `kind`, and its derivatives as last row.
  CAROM_INLINE double gap(const double* x, const Event& event, bool derivative) {
    const int i = event.row;
    const int count = i < rows ? system.tangents_of(i) : 0;
    if (derivative) {
      for (int j = 0; j < order; ++j) entry(rows, j) = 0.0;
    }
    switch (event.kind) {
      case Kind::close:
        if (derivative) add_flow(rows, i, weight[i]);
        return weight[i] * flow[i];
      case Kind::slip: {
        const double size = tangent_length(x + i + 1, count);
        if (derivative) {
          entry(rows, i) = system.friction[i];
          for (int k = 1; k <= count && size > 0.0; ++k) entry(rows, i + k) = -x[i + k] / size;
        }
        return system.friction[i] * x[i] - size;
      }
      case Kind::hold: {
        double z[2] = {0.0, 0.0};
        slide_force(x, i, count, z);
        const double size = tangent_length(z, count);
        if (derivative) {
          entry(rows, i) -= system.friction[i];
          for (int k = 0; k < count && size > 0.0; ++k) {
            entry(rows, i + 1 + k) += z[k] / size;
            add_flow(rows, i + 1 + k, -weight[i + 1 + k] * (z[k] / size));
          }
        }
        return size - system.friction[i] * x[i];
      }
      default:  // open, arrival
        if (derivative) entry(rows, i) = 1.0;
        return x[i];
    }
  }

  CAROM_INLINE void change_mode(const Event& event) {
    const int i = event.row;
    switch (event.kind) {
      case Kind::close: {
        const int count = system.tangents_of(i);
        mode[i] = kStick;
        if (count > 0 && tangent_length(flow + i + 1, count) > 0.0) mode[i] = kSlide;
        break;
      }
      case Kind::open:
        mode[i] = kOpen;
        break;
      case Kind::slip:
        mode[i] = kSlide;
        break;
      case Kind::hold:
        mode[i] = kStick;
        break;
      default:
        break;
    }
  }

  /// Gauss with row pivots; right in, solution out. Returns the determinant's sign, 0 if singular.
  CAROM_HOST_DEVICE int eliminate() {
    ++solutions;
    int sign = 1;
    for (int k = 0; k < order; ++k) {
      int pivot = k;
      for (int i = k + 1; i < order; ++i) {
        if (magnitude(entry(i, k)) > magnitude(entry(pivot, k))) pivot = i;
      }
      if (!(magnitude(entry(pivot, k)) > 0.0)) return 0;
      if (pivot != k) {
        for (int j = k; j < order; ++j) exchange(entry(k, j), entry(pivot, j));
        exchange(right[k], right[pivot]);
        sign = -sign;
      }
      if (entry(k, k) < 0.0) sign = -sign;
      const double inverse = 1.0 / entry(k, k);
      const double* source = &entry(k, 0);
      for (int i = k + 1; i < order; ++i) {
        double* target = &entry(i, 0);
        if (target[k] == 0.0) continue;
        const double factor = -target[k] * inverse;
        for (int j = k + 1; j < order; ++j) target[j] = fused(factor, source[j], target[j]);
        right[i] = fused(factor, right[k], right[i]);
      }
    }
    for (int k = rows; k >= 0; --k) {
      double sum = right[k];
      for (int j = k + 1; j < order; ++j) sum = fused(-entry(k, j), right[j], sum);
      right[k] = sum / entry(k, k);
      if (!is_finite(right[k])) return 0;
    }
    return sign;
  }
};

}  // namespace carom::kernels
