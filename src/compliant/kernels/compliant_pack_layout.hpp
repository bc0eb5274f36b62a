#pragma once

#include "compliant/kernels/compliant_pattern.hpp"
#include "compliant/kernels/contact_newton_pack.hpp"

/// Memory layout of a pack of compliant steps, with loads and stores.
namespace carom::kernels {

/// What the worlds of a pack share.
struct PackShape {
  int velocities = 0;
  int rows = 0;                        ///< chosen
  int bilateral = 0;                   ///< the first of them
  int tangents = 1;                    ///< after a normal row
  RowType type[kPackRows] = {};        ///< to the solver
  std::uint8_t group[kPackRows] = {};  ///< row_group

  /// Whether every row belongs to one of `contacts` spatial contacts of one rigid body.
  [[nodiscard]] CAROM_INLINE bool is_body_on(int contacts) const {
    if (tangents != 2 || velocities != 6 || bilateral > 0 || rows != 3 * contacts) return false;
    for (int a = 0; a < rows; a += 3) {
      if (type[a] != RowType::normal) return false;
    }
    return contacts > 0;
  }
};

/// The shape of a step that pack_pattern takes.
CAROM_INLINE PackShape pack_shape(const StepTask& task, int tangents) {
  PackShape shape;
  shape.velocities = task.rows.velocities;
  shape.rows = task.chosen.active;
  shape.bilateral = task.chosen.bilateral;
  shape.tangents = tangents;
  for (int a = 0; a < shape.rows; ++a) {
    shape.type[a] = task.type[a];
    shape.group[a] = static_cast<std::uint8_t>(row_group(task.rows, task.order[a]));
  }
  return shape;
}

/// A pack's numbers, as offsets in values of V. Given: all down to `impulse`. rows, velocities: of
/// the shape, or the largest. The mass matrix is dense, or given by the diagonal of its inverse.
template <class Memory>
struct PackNumbers {
  Memory step_size;
  Memory mass;
  Memory force;
  Memory v;
  Memory jacobian;
  Memory jacobian_dot_v;
  Memory phi;
  Memory stiffness;
  Memory damping;
  Memory friction;
  Memory impulse;
  Memory centripetal;
  Memory next_v;
  Memory factor;
  Memory white;
  Memory matrix;
  Memory vector;
  Memory own;
  Memory softness;
  Memory scratch;
  long end = 0;

  PackNumbers() = default;
  CAROM_INLINE constexpr PackNumbers(Arena<Memory>& arena, long rows, long velocities,
                                     bool diagonal)
      : step_size(arena.take(1)),
        mass(arena.take(diagonal ? velocities : velocities * velocities)),
        force(arena.take(velocities)),
        v(arena.take(velocities)),
        jacobian(arena.take(rows * velocities)),
        jacobian_dot_v(arena.take(rows)),
        phi(arena.take(rows)),
        stiffness(arena.take(rows)),
        damping(arena.take(rows)),
        friction(arena.take(rows)),
        impulse(arena.take(rows)),
        centripetal(arena.take(rows)),
        next_v(arena.take(velocities)),
        factor(arena.take(diagonal ? velocities : velocities * velocities)),
        white(arena.take(rows * velocities + velocities)),
        matrix(arena.take(rows * rows)),
        vector(arena.take(rows)),
        own(arena.take(rows)),
        softness(arena.take(rows)),
        scratch(arena.take_largest(contact_pack_workspace(rows), 2 * rows + velocities)),
        end(arena.used()) {}
};
using PackLayout = PackNumbers<long>;
CAROM_HOST_DEVICE constexpr PackLayout pack_layout(long rows, long velocities, bool diagonal) {
  return placed<PackNumbers>(0L, rows, velocities, diagonal);
}

/// Numbers of a task in a lane of a pack; values(e) is the lane's number at offset e.
template <class Values>
CAROM_INLINE void load_task(const StepTask& task, const PackLayout& at, bool diagonal,
                            const Values& values) {
  const ConstraintRows& rows = task.rows;
  const int nv = rows.velocities;
  values(at.step_size) = task.step_size;
  const int masses = diagonal ? nv : nv * nv;
  for (int e = 0; e < masses; ++e) values(at.mass + e) = task.mass[e];
  for (int j = 0; j < nv; ++j) values(at.force + j) = task.force[j];
  for (int j = 0; j < nv; ++j) values(at.v + j) = task.v[j];
  for (int a = 0; a < task.chosen.active; ++a) {
    const int i = task.order[a];
    const double* g = rows.row(i);
    const long to = at.jacobian + static_cast<long>(a) * nv;
    for (int j = 0; j < nv; ++j) {
      values(to + j) = j >= rows.begin[i] && j < rows.end[i] ? g[j] : 0.0;
    }
    values(at.jacobian_dot_v + a) = rows.jacobian_dot_v[i];
    values(at.phi + a) = rows.phi[i];
    values(at.stiffness + a) = rows.stiffness[i];
    values(at.damping + a) = rows.damping[i];
    values(at.friction + a) = rows.type[i] == RowType::normal ? rows.friction[i] : 0.0;
    values(at.impulse + a) = task.impulse[i];
  }
}

/// The answer of a lane, given back to its task.
template <class Values>
CAROM_INLINE void unload_task(const StepTask& task, const PackLayout& at, const Values& values) {
  for (int i = 0; i < task.rows.count; ++i) task.impulse[i] = 0.0;
  for (int a = 0; a < task.chosen.active; ++a) {
    task.impulse[task.order[a]] = values(at.impulse + a);
  }
  for (int j = 0; j < task.rows.velocities; ++j) task.next_v[j] = values(at.next_v + j);
}

/// The certificate's view of a pack. kContacts: as of CompliantPack.
template <class Memory, int kContacts>
struct RowsOfPack {
  const PackShape& shape;
  const PackLayout& at;
  Memory memory;
  [[nodiscard]] CAROM_INLINE int count() const {
    return kContacts > 0 ? 3 * kContacts : shape.rows;
  }
  [[nodiscard]] CAROM_INLINE int velocities() const { return kContacts > 0 ? 6 : shape.velocities; }
  [[nodiscard]] CAROM_INLINE RowType type(int i) const {
    if constexpr (kContacts > 0) return i % 3 == 0 ? RowType::normal : RowType::tangent;
    return shape.type[i];
  }
  [[nodiscard]] CAROM_INLINE int begin(int) const { return 0; }
  [[nodiscard]] CAROM_INLINE int end(int) const { return velocities(); }
  [[nodiscard]] CAROM_INLINE auto jacobian(int i, int j) const {
    return memory[at.jacobian + static_cast<long>(i) * velocities() + j];
  }
  [[nodiscard]] CAROM_INLINE auto jacobian_dot_v(int i) const {
    return memory[at.jacobian_dot_v + i];
  }
  [[nodiscard]] CAROM_INLINE auto phi(int i) const { return memory[at.phi + i]; }
  [[nodiscard]] CAROM_INLINE auto stiffness(int i) const { return memory[at.stiffness + i]; }
  [[nodiscard]] CAROM_INLINE auto damping(int i) const { return memory[at.damping + i]; }
  [[nodiscard]] CAROM_INLINE auto friction(int i) const { return memory[at.friction + i]; }
};

}  // namespace carom::kernels
