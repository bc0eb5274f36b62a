#pragma once

#include <type_traits>

#include <carom/device/host_device.hpp>
#include <carom/device/lanes.hpp>
#include <carom/device/numeric.hpp>

#include "models/mechanisms/mechanism.hpp"
#include "motion/kernels/small_matrix.hpp"

/// Accelerations and contact forces of a mechanism where each contact's law is known:
///
///     M v' = F + drive + J' lambda,   closed: Jn v' + (dJn/dt) v = 0,   stick: the same of Jt,
///     slide along d: lambda_t = -mu lambda_n d.
namespace carom::kernels::motion {

/// Sizes of a mechanism; constants where its parameters do not choose them.
template <class T>
struct FixedSizes {
  static constexpr int positions = T::kSizes.positions;
  static constexpr int velocities = T::kSizes.velocities;
  static constexpr int constraints = T::kSizes.constraints;
  CAROM_INLINE FixedSizes(const MechanismSizes&) {}  // NOLINT(google-explicit-constructor)
};
/// A mechanism that is known only at run time (any_mechanism.hpp, own_mechanism.hpp).
template <class T>
concept ErasedMechanism = requires {
  typename T::Parameters;
};
template <class T>
concept SizedAtRunTime = GrowingMechanism<T> || ErasedMechanism<T>;
template <class T>
using SizesOf = std::conditional_t<SizedAtRunTime<T>, MechanismSizes, FixedSizes<T>>;

/// What T and T::sizes are given: parameters; of an erased one what else it takes.
template <class T>
struct ParametersOfMechanism {
  using Type = const double*;
};
template <ErasedMechanism T>
struct ParametersOfMechanism<T> {
  using Type = typename T::Parameters;
};
template <class T>
using ParametersOf = typename ParametersOfMechanism<T>::Type;

/// One lane, as a mechanism that is compiled for an instruction set of its own names it: all that
/// is not inlined carries that name, or the mechanism's.
template <class T>
struct LaneOfMechanism {
  using Type = SingleLane;
};
template <class T>
requires requires { typename T::Lane; }
struct LaneOfMechanism<T> {
  using Type = typename T::Lane;
};
template <class T>
using LaneOf = typename LaneOfMechanism<T>::Type;

enum class Law : unsigned char { open, stick, slide };

/// Law of every contact; of sliding ones the direction of the slip: planar +-1, spatial a unit
/// vector, zero without friction.
template <class T>
struct Laws {
  static constexpr int kContacts = T::kSizes.constraints;
  Law law[kContacts];
  double direction[kContacts][2];
};

/// What a mechanism says of one state; contacts that `wanted` does not name have only their gap.
template <class T>
struct LocalState {
  static constexpr int kV = T::kSizes.velocities;
  static constexpr int kContacts = T::kSizes.constraints;
  static constexpr int kRows = T::kRows;
  static_assert(kRows == 2 || kRows == 3, "contacts of a motion have friction");

  double mass[kV * kV];
  double factor[kV * kV];  ///< of solve
  double free[kV];         ///< M^-1 (F + drive)
  double gap[kContacts];
  double friction[kContacts];
  double rows[kContacts][kRows * kV];  ///< J
  double drift[kContacts][kRows];      ///< (dJ/dt) v
  double speed[kContacts][kRows];      ///< J v
  double potential;

  bool diagonal;  ///< of an erased mechanism: factor is (1 / M_jj)

  CAROM_CALL bool evaluate(const ParametersOf<T>& parameters, const SizesOf<T>& size, double time,
                           const double* q, const double* v, const double* drive, unsigned wanted) {
    if constexpr (ErasedMechanism<T>) {
      return T::evaluate(*this, parameters, size, time, q, v, drive, wanted);
    } else {
      return fill(T(parameters, time, q), size, v, drive, wanted);
    }
  }
  /// x := M^-1 x.
  CAROM_INLINE void solve(int nv, double* x) const {
    if (ErasedMechanism<T> ? diagonal : DiagonalMechanism<T>) {
      for (int j = 0; j < nv; ++j) x[j] *= factor[j];
    } else {
      solve_factor(nv, factor, x);
    }
  }
  CAROM_INLINE static double along(int nv, const double* row, const double* v) {
    double sum = 0.0;
    for (int j = 0; j < nv; ++j) sum = fused(row[j], v[j], sum);
    return sum;
  }
  [[nodiscard]] CAROM_INLINE double kinetic(int nv, const double* v) const {
    double twice = 0.0;
    for (int i = 0; i < nv; ++i) twice = fused(along(nv, mass + i * nv, v), v[i], twice);
    return 0.5 * twice;
  }

  /// From the mechanism at the state.
  template <class M>
  CAROM_HOST_DEVICE bool fill(const M& at, const SizesOf<T>& size, const double* v,
                              const double* drive, unsigned wanted) {
    const int nv = size.velocities;
    at.mass_matrix(mass);
    diagonal = DiagonalMechanism<M>;
    if constexpr (DiagonalMechanism<M>) {
      at.inverse_mass(factor);
      for (int j = 0; j < nv; ++j) {
        if (!(factor[j] > 0.0) || !is_finite(factor[j])) return false;
      }
    } else {
      for (int j = 0; j < nv * nv; ++j) factor[j] = mass[j];
      if (!factorise(nv, factor)) return false;
    }
    at.force(v, free);
    if (drive != nullptr) {
      for (int j = 0; j < nv; ++j) free[j] += drive[j];
    }
    solve(nv, free);
    potential = at.potential();
    for (int i = 0; i < size.constraints; ++i) {
      const auto contact = at.constraint(i);
      gap[i] = contact.gap;
      if ((wanted >> i & 1U) == 0U) continue;
      friction[i] = at.friction(contact);
      for (int j = 0; j < kRows * nv; ++j) rows[i][j] = 0.0;
      at.jacobian(contact, rows[i], nv);
      at.jacobian_dot_v(contact, v, drift[i]);
      for (int k = 0; k < kRows; ++k) speed[i][k] = along(nv, rows[i] + k * nv, v);
    }
    return true;
  }
};

/// Answer of a mechanism under given laws.
template <class T>
struct Response {
  static constexpr int kV = T::kSizes.velocities;
  static constexpr int kContacts = T::kSizes.constraints;
  double acceleration[kV];
  double force[kContacts][T::kRows];  ///< (lambda_n, lambda_t)
  bool redundant;                     ///< the forces' split is not unique: that of least norm

  [[nodiscard]] CAROM_INLINE double normal_sum(int contacts) const {
    double sum = 0.0;
    for (int i = 0; i < contacts; ++i) sum += force[i][0];
    return sum;
  }
};

/// The contacts' unknown forces under their laws: with x of them, v' = free + effect x and
/// rows (v' + drift) = 0, of a contact that slips only its normal force.
template <class T>
struct ForceSystem {
  static constexpr int kRows = T::kRows;
  static constexpr int kMost = kRows * T::kSizes.constraints;
  static constexpr int kV = T::kSizes.velocities;

  SmallSystem<kMost, LaneOf<T>> system;
  double effect[kMost][kV];  ///< M^-1 times the direction of each unknown
  int contact_of[kMost];
  int row_of[kMost];
  int unknowns = 0;

  /// Without the system's matrix and right side.
  CAROM_CALL void assemble(const SizesOf<T>& size, const LocalState<T>& at, const Laws<T>& laws) {
    const int nv = size.velocities;
    for (int i = 0; i < size.constraints; ++i) {
      if (laws.law[i] == Law::open) continue;
      const int rows = laws.law[i] == Law::stick ? kRows : 1;
      for (int k = 0; k < rows; ++k) {
        const double* row = at.rows[i] + k * nv;
        double* column = effect[unknowns];
        for (int j = 0; j < nv; ++j) column[j] = row[j];
        if (laws.law[i] == Law::slide) {
          for (int d = 0; d < kRows - 1; ++d) {
            const double share = -at.friction[i] * laws.direction[i][d];
            const double* tangent = at.rows[i] + (1 + d) * nv;
            for (int j = 0; j < nv; ++j) column[j] = fused(share, tangent[j], column[j]);
          }
        }
        at.solve(nv, column);
        contact_of[unknowns] = i;
        row_of[unknowns] = k;
        ++unknowns;
      }
    }
  }
  CAROM_CALL void fill_matrix(const SizesOf<T>& size, const LocalState<T>& at) {
    for (int r = 0; r < unknowns; ++r) {
      const double* row = at.rows[contact_of[r]] + row_of[r] * size.velocities;
      for (int c = 0; c < unknowns; ++c) {
        system.a[r][c] = LocalState<T>::along(size.velocities, row, effect[c]);
      }
    }
  }
  /// What the rows lack at `acceleration`.
  CAROM_CALL void fill_side(const SizesOf<T>& size, const LocalState<T>& at,
                            const double* acceleration) {
    for (int r = 0; r < unknowns; ++r) {
      const double* row = at.rows[contact_of[r]] + row_of[r] * size.velocities;
      system.b[r] = -(LocalState<T>::along(size.velocities, row, acceleration) +
                      at.drift[contact_of[r]][row_of[r]]);
    }
  }
  CAROM_CALL void accelerate(const SizesOf<T>& size, const LocalState<T>& at, const double* x,
                             double* acceleration) const {
    for (int j = 0; j < size.velocities; ++j) acceleration[j] = at.free[j];
    for (int c = 0; c < unknowns; ++c) {
      for (int j = 0; j < size.velocities; ++j) {
        acceleration[j] = fused(effect[c][j], x[c], acceleration[j]);
      }
    }
  }
  CAROM_CALL void tell(const LocalState<T>& at, const Laws<T>& laws, const double* x,
                       Response<T>& out) const {
    for (int c = 0; c < unknowns; ++c) {
      const int i = contact_of[c];
      out.force[i][row_of[c]] = x[c];
      if (laws.law[i] != Law::slide) continue;
      for (int d = 0; d < kRows - 1; ++d) {
        out.force[i][1 + d] = -at.friction[i] * laws.direction[i][d] * x[c];
      }
    }
  }
};

template <class T>
CAROM_CALL bool respond(const SizesOf<T>& size, const LocalState<T>& at, const Laws<T>& laws,
                        Response<T>& out) {
  ForceSystem<T> forces;
  for (int i = 0; i < size.constraints; ++i) {
    for (int k = 0; k < T::kRows; ++k) out.force[i][k] = 0.0;
  }
  forces.assemble(size, at, laws);
  out.redundant = false;
  double x[ForceSystem<T>::kMost];
  if (forces.unknowns > 0) {
    forces.fill_matrix(size, at);
    forces.fill_side(size, at, at.free);
    if (!forces.system.solve(forces.unknowns, x, out.redundant)) return false;
  }
  forces.accelerate(size, at, x, out.acceleration);
  forces.tell(at, laws, x, out);
  return true;
}

/// Normal forces push, and what sticks is in its cone.
template <class T>
CAROM_CALL bool obeys(const SizesOf<T>& size, const LocalState<T>& at, const Laws<T>& laws,
                      const Response<T>& response, double slack) {
  for (int i = 0; i < size.constraints; ++i) {
    if (laws.law[i] == Law::open) continue;
    if (response.force[i][0] < -slack) return false;
    if (laws.law[i] != Law::stick) continue;
    double square = 0.0;
    for (int d = 1; d < T::kRows; ++d) {
      square = fused(response.force[i][d], response.force[i][d], square);
    }
    if (square_root(square) > fused(at.friction[i], response.force[i][0], slack)) return false;
  }
  return true;
}

/// The nearest force in Coulomb's cone.
template <int kRows>
CAROM_INLINE void to_cone(double friction, double* force) {
  double square = 0.0;
  for (int d = 1; d < kRows; ++d) square = fused(force[d], force[d], square);
  const double size = square_root(square);
  if (size <= friction * force[0]) return;
  const double normal = (force[0] + friction * size) / (1.0 + friction * friction);
  force[0] = at_least_zero(normal);
  for (int d = 1; d < kRows; ++d) {
    force[d] = normal > 0.0 && size > 0.0 ? force[d] * (friction * normal / size) : 0.0;
  }
}

/// Whether loads that contacts share can be split so that every force obeys its law, where the
/// split of least norm does not: projections on the cones, at first on narrower ones, so that what
/// lies just outside comes in, and on the splits in turn, from `start`, a split nearby, if it is
/// not null. `response` takes the split and
/// what it accelerates: of contacts that slip that depends on the split. Where there is none it has
/// the forces that come nearest to the cones.
template <class T>
CAROM_CALL bool share(const SizesOf<T>& size, const LocalState<T>& at, const Laws<T>& laws,
                      double slack, const double (*start)[T::kRows], Response<T>& response) {
  constexpr int kRows = T::kRows;
  constexpr int kRounds = 300;
  constexpr double kStride = 1.6;
  constexpr double kNarrower = 0.2;
  ForceSystem<T> forces;
  forces.assemble(size, at, laws);
  forces.fill_matrix(size, at);
  const int n = forces.unknowns;
  double x[ForceSystem<T>::kMost];
  double step[ForceSystem<T>::kMost];
  bool redundant = false;
  forces.fill_side(size, at, at.free);
  if (!forces.system.solve(n, x, redundant) || !redundant) return false;
  for (int c = 0; c < n && start != nullptr; ++c)
    x[c] = start[forces.contact_of[c]][forces.row_of[c]];
  Response<T> split = response;
  for (int round = 0; round < kRounds; ++round) {
    if (round > 0 || start != nullptr) {
      forces.accelerate(size, at, x, split.acceleration);
      forces.fill_side(size, at, split.acceleration);
      if (!forces.system.solve_again(n, step)) return false;
      for (int c = 0; c < n; ++c) x[c] += step[c];
    }
    forces.tell(at, laws, x, split);
    if (obeys<T>(size, at, laws, split, slack)) {
      forces.accelerate(size, at, x, split.acceleration);
      response = split;
      return true;
    }
    for (int c = 0; c < n;) {
      const int i = forces.contact_of[c];
      const int rows = laws.law[i] == Law::stick ? kRows : 1;
      double nearest[kRows];
      for (int k = 0; k < rows; ++k) nearest[k] = x[c + k];
      if (rows == 1) {
        nearest[0] = at_least_zero(nearest[0]);
      } else {
        const double left = 1.0 - static_cast<double>(round) / kRounds;
        to_cone<kRows>(at.friction[i] * (1.0 - kNarrower * left), nearest);
      }
      for (int k = 0; k < rows; ++k) x[c + k] = fused(kStride, nearest[k] - x[c + k], x[c + k]);
      c += rows;
    }
  }
  forces.tell(at, laws, x, response);
  return false;
}

/// Takes from v what the held rows feel of it, M-orthogonally, so that energy never grows: normals
/// of the contacts in `normals`, tangents of those in `tangents`. Returns |Lambda_n|_1 of the
/// impulse that takes it [N s].
template <class T>
CAROM_CALL double project_velocity(const SizesOf<T>& size, const LocalState<T>& at,
                                   unsigned normals, unsigned tangents, double* v) {
  constexpr int kRows = T::kRows;
  constexpr int kMost = kRows * T::kSizes.constraints;
  const int nv = size.velocities;
  SmallSystem<kMost, LaneOf<T>> system;
  double effect[kMost][T::kSizes.velocities];
  const double* row_at[kMost];
  bool normal[kMost];
  int unknowns = 0;
  for (int i = 0; i < size.constraints; ++i) {
    for (int k = 0; k < kRows; ++k) {
      if (((k == 0 ? normals : tangents) >> i & 1U) == 0U) continue;
      const double* row = at.rows[i] + k * nv;
      for (int j = 0; j < nv; ++j) effect[unknowns][j] = row[j];
      at.solve(nv, effect[unknowns]);
      system.b[unknowns] = -LocalState<T>::along(nv, row, v);
      row_at[unknowns] = row;
      normal[unknowns] = k == 0;
      ++unknowns;
    }
  }
  if (unknowns == 0) return 0.0;
  for (int r = 0; r < unknowns; ++r) {
    for (int c = 0; c < unknowns; ++c) {
      system.a[r][c] = LocalState<T>::along(nv, row_at[r], effect[c]);
    }
  }
  double x[kMost];
  bool redundant = false;
  if (!system.solve(unknowns, x, redundant)) return 0.0;
  double pressed = 0.0;
  for (int c = 0; c < unknowns; ++c) {
    for (int j = 0; j < nv; ++j) v[j] = fused(effect[c][j], x[c], v[j]);
    if (normal[c]) pressed += magnitude(x[c]);
  }
  return pressed;
}

/// Largest row of a contact's J v' + dJ/dt v that its law leaves free, and violations of the law:
/// the natural residual of the acceleration-level complementarity problem, and what friction of a
/// contact that slips, or starts to, differs by from the largest against its slip [m/s2 and N in
/// units of `acceleration` and `force`]. Recomputed from only the forces. sliding: contacts that
/// slip already.
template <class T>
CAROM_CALL double law_residual(const SizesOf<T>& size, const LocalState<T>& at, const Laws<T>& laws,
                               const Response<T>& response, unsigned candidates, unsigned sliding,
                               double acceleration, double force) {
  const int nv = size.velocities;
  double worst = 0.0;
  for (int i = 0; i < size.constraints; ++i) {
    if ((candidates >> i & 1U) == 0U) continue;
    const auto bent = [&](int k) {
      return LocalState<T>::along(nv, at.rows[i] + k * nv, response.acceleration) + at.drift[i][k];
    };
    const double normal = response.force[i][0];
    const double opening = bent(0) / acceleration;
    worst = larger(worst, magnitude(smaller(opening, normal / force)));
    if (laws.law[i] == Law::slide && at.friction[i] > 0.0) {
      const bool slips = (sliding >> i & 1U) != 0U;
      double slip[2] = {0.0, 0.0};
      double square = 0.0;
      for (int d = 1; d < T::kRows; ++d) {
        slip[d - 1] = slips ? at.speed[i][d] : bent(d) / acceleration;
        square = fused(slip[d - 1], slip[d - 1], square);
      }
      // A start so slow that its direction is rounding counts by as much as it is.
      const double size_of_slip = square_root(square);
      const double weight = slips || size_of_slip > 1.0 ? 1.0 : size_of_slip;
      for (int d = 1; d < T::kRows && size_of_slip > 0.0; ++d) {
        const double against = -at.friction[i] * normal * (slip[d - 1] / size_of_slip);
        worst = larger(worst, weight * magnitude(response.force[i][d] - against) / force);
      }
    }
    if (laws.law[i] != Law::stick) continue;
    double tangent = 0.0;
    double creep = 0.0;
    for (int d = 1; d < T::kRows; ++d) {
      tangent = fused(response.force[i][d], response.force[i][d], tangent);
      creep = larger(creep, magnitude(bent(d)) / acceleration);
    }
    worst = larger(worst, larger(creep, (square_root(tangent) - at.friction[i] * normal) / force));
  }
  return worst;
}

}  // namespace carom::kernels::motion
