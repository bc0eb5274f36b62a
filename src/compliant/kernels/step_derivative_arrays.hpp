#pragma once

#include <type_traits>

#include <carom/device/arena.hpp>
#include <carom/types/derivative_compliant.hpp>

#include "compliant/kernels/compliant_centripetal.hpp"
#include "core/pointers.hpp"
#include "programs/derivatives/kernels/dense.hpp"
#include "programs/derivatives/kernels/doubtful.hpp"

/// Inputs, results and working memory of the derivative of a compliant step.
namespace carom::derivatives {

/// Where the arrays of a body with the numbers V are.
template <class V>
struct StepNumbers {
  template <class T>
  using Given = const std::conditional_t<std::is_same_v<T, double>, V, T>*;
  template <class T>
  using Made = V*;
};
template <class V>
struct StepView : CompliantBatchArrays<StepNumbers<V>::template Given> {};
template <class V>
struct StepDirectionView : CompliantDirectionArrays<StepNumbers<V>::template Given> {};
template <class V>
struct StepGradientView : CompliantDirectionArrays<StepNumbers<V>::template Made> {};
template <class V>
struct StepCotangentView : CompliantCotangentArrays<StepNumbers<V>::template Given> {};
template <class V>
struct StepTangentView {
  V* velocity;
  V* increment;
  V* force;
  V* kinetic_energy;
};

/// Modes of a row that carries: what its equation is.
enum class StepMode : int {
  open,    ///< p = 0
  closed,  ///< F = 0: bilateral, closed, sticking
  slide,   ///< p_t |F_t| + mu p_n F_t = 0, of a tangent
};

/// n velocities, r rows.
template <class Memory>
struct StepModesLayout {
  Memory mass;                ///< Cholesky factor of M, its diagonal by inverses, [n, n]
  Memory velocity;            ///< v', polished
  Memory push;                ///< v0 = v + h M^-1 f
  Memory flexible;            ///< M^-1 G_i', [r, n]
  Memory delassus;            ///< W, [r, r]
  Memory constant;            ///< u
  Memory impulse;             ///< p
  Memory flow;                ///< F
  Memory unit;                ///< of an impulse of the row
  Memory per_unit, per_rate;  ///< 1 / unit, 1 / s
  Memory weight;              ///< rho = 1 / W_ii
  Memory factors;
  Memory schur, size, work;
  Memory source, test;  ///< of doubtful conditions: U and N', [r, r] each
  Memory touch, theta, direct;
  Memory g, y, extra, psi, psi_other, row;  ///< [r]
  Memory lambda, lambda_other, column;      ///< [n]
  Memory slip;                              ///< n or F^ of a contact at its tangents, [r]
  Memory hat;          ///< Cholesky factors of D of each kind of rows, diagonals by inverses
  Memory mode, doubt;  ///< StepMode; 0 none, 1 touching, 2 on the border of stick and slip
  Memory before, picked;
  Memory moment, turn;              ///< m = M^ (dG/dt) v, and its adjoint, [r]
  Memory along_moment, along_turn;  ///< M^-1 G'm and M^-1 G't of each kind, [5 n]
  Memory soft;                      ///< eta where closed, one where open, [r]
  Memory given, rest, scale;        ///< of solves by the velocities, [r]
  Memory inner;                     ///< [n]

  StepModesLayout() = default;
  CAROM_INLINE constexpr StepModesLayout(kernels::Arena<Memory>& arena, long n, long r)
      : mass(arena.take(n * n)),
        velocity(arena.take(n)),
        push(arena.take(n)),
        flexible(arena.take(r * n)),
        delassus(arena.take(r * r)),
        constant(arena.take(r)),
        impulse(arena.take(r)),
        flow(arena.take(r)),
        unit(arena.take(r)),
        per_unit(arena.take(r)),
        per_rate(arena.take(r)),
        weight(arena.take(r)),
        factors(arena.take(kernels::values_of<FactorsLayout>(r))),
        schur(arena.take(r * r)),
        size(arena.take(r)),
        work(arena.take(doubtful_workspace(r))),
        source(arena.take(r * r)),
        test(arena.take(r * r)),
        touch(arena.take(r)),
        theta(arena.take(r)),
        direct(arena.take(r)),
        g(arena.take(r)),
        y(arena.take(r)),
        extra(arena.take(r)),
        psi(arena.take(r)),
        psi_other(arena.take(r)),
        row(arena.take(r)),
        lambda(arena.take(n)),
        lambda_other(arena.take(n)),
        column(arena.take(n)),
        slip(arena.take(r)),
        hat(arena.take(r * r)),
        mode(arena.take(r)),
        doubt(arena.take(r)),
        before(arena.take(r)),
        picked(arena.take(r)),
        moment(arena.take(r)),
        turn(arena.take(r)),
        along_moment(arena.take(kernels::kRowGroups * n)),
        along_turn(arena.take(kernels::kRowGroups * n)),
        soft(arena.take(r)),
        given(arena.take(r)),
        rest(arena.take(r)),
        scale(arena.take(r)),
        inner(arena.take(n)) {}
};
CAROM_HOST_DEVICE constexpr long step_derivative_reals(int n, int r) {
  return kernels::values_of<StepModesLayout>(static_cast<long>(n), static_cast<long>(r));
}
CAROM_HOST_DEVICE constexpr long step_derivative_ints(int r) { return 5L * r; }

struct StepShape {
  int velocities, rows, positions;
  /// M is diagonal: mass_matrix, a direction of it and its gradient are the diagonals, [n].
  bool diagonal = false;
  /// Rows of a kind that depend on each other do so whatever the inputs are, as feet of one body:
  /// the set of independent ones that the centripetal term stands on does not change.
  bool fixed_kinds = false;
  /// With a diagonal M: columns [begin, end) of each row outside of which G, and its directions,
  /// are zero and its gradient is not written; null: all.
  const int* begin = nullptr;
  const int* end = nullptr;
};

/// Rows that carry, and the place of each one's normal among them: those that exert nothing, absent
/// or with K = B = 0, are left out. row, normal: [rows]. Their number.
CAROM_HOST_DEVICE inline int carrying_rows(int rows, const RowType* type, double h,
                                           const double* stiffness, const double* damping, int* row,
                                           int* normal) {
  int count = 0;
  int first = -1;  // normal of the contact, -1 where its tangents exert nothing
  for (int i = 0; i < rows; ++i) {
    if (type[i] == RowType::none) continue;
    const bool carries = h * (h * stiffness[i] + damping[i]) > 0.0;
    if (type[i] == RowType::tangent) {
      if (first < 0 || !carries) continue;
    } else {
      first = -1;
      if (!carries) continue;
    }
    row[count] = i;
    if (type[i] == RowType::normal) {
      bool all = true;  // tangents limit each other: one without a damper lets none exert
      for (int t = i + 1; t < rows && type[t] == RowType::tangent; ++t) {
        all = all && h * stiffness[t] + damping[t] > 0.0;
      }
      first = all ? count : -1;
    }
    normal[count] = type[i] == RowType::tangent ? first : count;
    ++count;
  }
  return count;
}

}  // namespace carom::derivatives
