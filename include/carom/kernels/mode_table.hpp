#pragma once

#include <carom/kernels/host_device.hpp>
#include <carom/kernels/numeric.hpp>

/// For few planar contacts the step (75) is read off a table: in each combination of contact modes
/// the impulse is a linear function of (u, lambda_max), and all samples of a problem share those
/// functions. The first entry whose impulse satisfies the step is the answer; a step that no entry
/// solves goes to the contact path.
namespace carom::kernels {

/// Most contacts of a problem that gets a table, and most entries of one.
inline constexpr int kMaxTableContacts = 3;
inline constexpr int kMaxTableEntries = 32;

struct ModeTableView {
  int count = 0;
  const double* delassus = nullptr;  ///< A, not scaled, [rows, rows]
  const double* maps = nullptr;      ///< [count, rows, rows + m]: impulse = map [u; lambda_max]
};

/// Worst violation of the step's conditions by (impulse, next) over the m planar contacts.
template <class V>
CAROM_INLINE V mode_violation(int m, const double* friction, const V* limit, const V* impulse,
                              const V* next) {
  V worst(0.0);
  const V zero(0.0);
  for (int i = 0; i < m; ++i) {
    const V normal = impulse[i];
    const V tangent = impulse[m + i];
    const V radius = V(friction[i]) * normal;
    const V separation = larger(next[i], zero);
    const V approach = larger(-next[i], zero);
    const V room = limit[i] - normal;
    // Within [0, limit] and on the bound that the normal velocity asks for.
    worst = larger(worst, larger(-normal, -room));
    worst = larger(worst, smaller(separation, normal));
    worst = larger(worst, smaller(approach, room));
    // Within the cone, and on the side of it that opposes the sliding velocity.
    const V slip = next[m + i];
    worst = larger(worst, magnitude(tangent) - radius);
    const V opposing = radius + select(slip > zero, tangent, -tangent);
    worst = larger(worst, smaller(magnitude(slip), opposing));
  }
  return worst;
}

/// Fills impulse [2m] from the first entry that solves the step for u [2m] and limit [m]; true (per
/// lane of a pack) where there is one. V: double or a pack.
template <class V>
CAROM_INLINE auto find_mode(const ModeTableView& table, int m, const double* friction, const V* u,
                            const V* limit, V* impulse) {
  constexpr int kRows = 2 * kMaxTableContacts;
  const int rows = 2 * m;
  V scale(0.0);
  for (int i = 0; i < rows; ++i) scale = larger(scale, magnitude(u[i]));
  for (int i = 0; i < m; ++i) scale = larger(scale, limit[i]);
  const V tolerance = V(1e-13) * scale;
  auto found = tolerance < V(0.0);
  for (int i = 0; i < rows; ++i) impulse[i] = V(0.0);
  for (int entry = 0; entry < table.count; ++entry) {
    const double* map = table.maps + static_cast<long>(entry) * rows * (rows + m);
    V candidate[kRows];
    for (int i = 0; i < rows; ++i) {
      V sum(0.0);
      for (int j = 0; j < rows; ++j) sum = fused(V(map[i * (rows + m) + j]), u[j], sum);
      for (int j = 0; j < m; ++j) sum = fused(V(map[i * (rows + m) + rows + j]), limit[j], sum);
      candidate[i] = sum;
    }
    V next[kRows];
    for (int i = 0; i < rows; ++i) {
      V sum = u[i];
      for (int j = 0; j < rows; ++j) {
        sum = fused(V(table.delassus[i * rows + j]), candidate[j], sum);
      }
      next[i] = sum;
    }
    const auto solves = mode_violation(m, friction, limit, candidate, next) <= tolerance;
    for (int i = 0; i < rows; ++i) {
      impulse[i] = select(found, impulse[i], select(solves, candidate[i], impulse[i]));
    }
    found = found | solves;
    if (all_of(found)) break;
  }
  return found;
}

}  // namespace carom::kernels
