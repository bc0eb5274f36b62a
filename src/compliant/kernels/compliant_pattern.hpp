#pragma once

#include <cstdint>

#include <carom/device/constraint_rows.hpp>

#include "compliant/kernels/compliant_centripetal.hpp"

/// Which rows of a step carry forces, and in which order the solvers take them.
namespace carom::kernels {

/// Counts of the rows chosen: bilateral ones first, then unilateral and normal rows, a normal row's
/// tangents after it.
struct ChosenRows {
  int active;
  int bilateral;
};

/// order: indices of the rows chosen; type: what they are to the solver, [rows.count] both. Rows
/// without spring and damper exert nothing and are left out. A contact whose normal is left out
/// takes its tangents with it; one without friction is a unilateral row.
CAROM_INLINE ChosenRows choose_rows(const ConstraintRows& rows, double h, int* order,
                                    RowType* type) {
  const auto stiff = [&](int i) { return h * (h * rows.stiffness[i] + rows.damping[i]) > 0.0; };
  ChosenRows chosen{0, 0};
  for (int i = 0; i < rows.count; ++i) {
    if (rows.type[i] != RowType::bilateral || !stiff(i)) continue;
    type[chosen.active] = RowType::bilateral;
    order[chosen.active++] = i;
  }
  chosen.bilateral = chosen.active;
  for (int i = 0; i < rows.count; ++i) {
    if (rows.type[i] != RowType::unilateral && rows.type[i] != RowType::normal) continue;
    int tangents = 0;
    bool rubbing = rows.type[i] == RowType::normal && rows.friction[i] > 0.0;
    while (i + tangents + 1 < rows.count && rows.type[i + tangents + 1] == RowType::tangent) {
      ++tangents;
      rubbing = rubbing && stiff(i + tangents);
    }
    if (stiff(i)) {
      for (int k = 0; k <= (rubbing ? tangents : 0); ++k) {
        type[chosen.active] =
            k > 0 ? RowType::tangent : (rubbing ? RowType::normal : RowType::unilateral);
        order[chosen.active++] = i + k;
      }
    }
    i += tangents;
  }
  return chosen;
}

/// Largest step that CompliantPack takes: rows chosen, and velocities.
inline constexpr int kPackRows = 24;
inline constexpr int kPackVelocities = 12;

/// A number that steps share whose rows are alike, so that they can go through CompliantPack
/// together; 0 where it does not take the step: too large, or a centripetal term that needs rows
/// which are not chosen.
CAROM_INLINE std::uint64_t pack_pattern(const ConstraintRows& rows, const ChosenRows& chosen,
                                        const int* order, const RowType* type, bool centripetal) {
  if (chosen.active > kPackRows || rows.velocities > kPackVelocities) return 0;
  if (centripetal && chosen.active < rows.count) {
    bool moves[kRowGroups] = {};
    int present[kRowGroups] = {};
    for (int i = 0; i < rows.count; ++i) {
      const int group = row_group(rows, i);
      if (group < 0) continue;
      ++present[group];
      moves[group] = moves[group] || rows.jacobian_dot_v[i] != 0.0;
    }
    for (int a = 0; a < chosen.active; ++a) --present[row_group(rows, order[a])];
    for (int group = 0; group < kRowGroups; ++group) {
      if (moves[group] && present[group] > 0) return 0;
    }
  }
  std::uint64_t pattern = 1;
  for (int a = 0; a < chosen.bilateral; ++a) pattern = pattern * 4 + 3;
  for (int a = chosen.bilateral; a < chosen.active; ++a) {
    if (type[a] == RowType::tangent) continue;
    const bool contact = rows.type[order[a]] == RowType::normal;
    pattern = pattern * 4 + (type[a] == RowType::normal ? 2 : (contact ? 1 : 0));
  }
  return pattern;
}

/// One world's step as the solvers take it.
struct StepTask {
  ConstraintRows rows;
  const double* mass = nullptr;  ///< M, [nv, nv], or the diagonal of its inverse, [nv]
  const double* force = nullptr;
  const double* v = nullptr;
  double step_size = 0.0;
  double* impulse = nullptr;  ///< [rows.count], in: first guess, out: p
  double* next_v = nullptr;   ///< out: v'
  int* order = nullptr;       ///< [rows.capacity], as choose_rows leaves it
  RowType* type = nullptr;
  ChosenRows chosen{0, 0};
  std::uint64_t pattern = 0;
  bool in_place = false;  ///< the rows chosen are the first ones, in their order and full

  CAROM_INLINE void choose(bool centripetal) {
    if (chosen_again()) return;
    chosen = choose_rows(rows, step_size, order, type);
    pattern = pack_pattern(rows, chosen, order, type, centripetal);
    in_place = true;
    for (int a = 0; a < chosen.active; ++a) {
      in_place = in_place && order[a] == a && rows.begin[a] == 0 && rows.end[a] == rows.velocities;
    }
  }

 private:
  /// Whether all rows were chosen in their order, full, and would be again.
  [[nodiscard]] CAROM_INLINE bool chosen_again() const {
    if (!in_place || chosen.active != rows.count) return false;
    bool same = true;
    for (int i = 0; i < rows.count; ++i) {
      const double eta = step_size * (step_size * rows.stiffness[i] + rows.damping[i]);
      same = same & (eta > 0.0) & (rows.type[i] == type[i]) & (rows.begin[i] == 0) &
             (rows.end[i] == rows.velocities) &
             ((rows.type[i] != RowType::normal) | (rows.friction[i] > 0.0));
    }
    return same;
  }
};

}  // namespace carom::kernels
