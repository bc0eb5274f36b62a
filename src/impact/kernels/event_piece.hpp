#pragma once

#include <type_traits>

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

#include "impact/kernels/derived_step.hpp"
#include "impact/kernels/impact.hpp"

/// One linear piece of a solution that is followed from event to event, and its certificate. V: a
/// double, or a pack of trajectories (src/cpu/simd).
namespace carom::kernels {

/// Sizes below which something is nothing, and how far is gone at most.
struct EventRules {
  static constexpr int kMostPieces = 4096;
  static constexpr int kMostBounces = 4 * kMostPieces;  ///< likewise, of contacts with restitution
  static constexpr int kMostRedrawn = kMostPieces / 8;  ///< stretches without a mode
  static constexpr int kPolicyEvents = 32;
  static constexpr int kPiecesOfLength = 256;  ///< after which stretches may be twice as long, ...
  static constexpr int kMostDoublings = 15;    ///< ... so many times at most
  static constexpr double kZero = 1e-13;       ///< of the largest contact speed
  static constexpr double kMet = 1e-12;        ///< likewise: a boundary so near is met
  static constexpr double kTogether = 1e-12;   ///< of a piece: events at once
  static constexpr double kNothing = 1e-13;    ///< of the terms of a sum: rounding
  static constexpr double kCone = 1e-12;       ///< of the friction limit
  static constexpr double kGain = 1e-15;       ///< of the energy before: no gain
  static constexpr double kEmpty = 1e-16;      ///< likewise: a store with so little is empty
  static constexpr double kMostWork = 1024.0;  ///< likewise: terms whose rounding is none
  static constexpr double kStill = 1e-11;      ///< of the terms of a rate: no motion
  static constexpr double kNear = 1e-3;        ///< of a velocity: it is the same one, but rounded

  /// How often stretches have been made twice as long after so many pieces.
  CAROM_INLINE static int doublings(int pieces) {
    const int all = pieces / kPiecesOfLength;
    return all < kMostDoublings ? all : kMostDoublings;
  }
};

/// Whether a piece of contacts with stores is left out. Contacts that press against each other at
/// u_n = 0 may do so for ever: neither velocities nor stores change. Impulses of many times what
/// stops the contacts change little, but their rounding much. root: of A's diagonal, [rows].
template <class V>
CAROM_INLINE auto event_idles(int contacts, int rows, const double* root, double energy, const V* u,
                              const V* impulse, const V* rate, V length) {
  const V none(0.0);
  V push(0.0);  // A's entries are at most products of two roots
  for (int k = 0; k < rows; ++k) push = fused(V(root[k]), magnitude(impulse[k]), push);
  auto changes = none < none;
  for (int k = 0; k < rows; ++k) {
    changes = changes | (magnitude(rate[k]) > V(EventRules::kStill * root[k]) * push);
    if (k < contacts) changes = changes | ((impulse[k] > none) & (u[k] != none));
    if constexpr (std::is_same_v<V, double>) {
      if (changes) break;
    }
  }
  push = push * length;
  return (!changes) | (push * push > V(EventRules::kMostWork * energy));
}

/// sqrt(A_kk) of a row of J M^-1 J'.
CAROM_INLINE double event_root(const ImpactProblemView& problem, int contacts, int rows, int row) {
  const int tangents = rows / contacts - 1;
  const int i = row < contacts ? row : (row - contacts) / tangents;
  return square_root(at_least_zero(problem.delassus[row * rows + row])) / problem.scale[i];
}

/// What inelastic contacts have put by: nothing.
struct NoStores {
  static constexpr bool kAny = false;
};

/// What the numbers of a problem are measured by.
struct EventSizes {
  double speed;   ///< largest contact speed before the impact
  double length;  ///< impulse that stops the fastest contact
};

/// modes: have response(row, column), A of u = A lambda.
template <class Modes>
CAROM_INLINE EventSizes event_sizes(const ImpactProblemView& problem, int contacts, int rows,
                                    const Modes& modes) {
  EventSizes sizes{0.0, 0.0};
  for (int k = 0; k < rows; ++k) {
    sizes.speed = larger(sizes.speed, magnitude(problem.contact_velocity[k]));
  }
  sizes.length =
      longest_push(contacts, sizes.speed, [&modes](int i) { return modes.response(i, i); });
  if (sizes.length == 0.0) sizes.length = 1.0;
  return sizes;
}

/// v := v- + M^-1 J' total, the velocity after impulses `total`, [rows].
template <class V>
CAROM_INLINE void event_velocity(const ImpactProblemView& problem, int nv, int rows, const V* total,
                                 V* v) {
  for (int j = 0; j < nv; ++j) {
    V sum(problem.velocity[j]);
    for (int k = 0; k < rows; ++k) {
      sum = fused(V(problem.response[static_cast<long>(j) * rows + k]), total[k], sum);
    }
    v[j] = sum;
  }
}

/// Component k of the contact velocity that a sample begins with.
CAROM_INLINE double event_start(const ImpactProblemView& problem, double speed, int k) {
  const double u = problem.contact_velocity[k];
  return magnitude(u) <= EventRules::kZero * speed ? 0.0 : u;
}

template <class V, int M>
struct EventPiece {
  V length;
  V key;          ///< row whose zero ends the piece, beyond the rows: a store; -1: the stretch ends
  V next[2 * M];  ///< contact velocities at its end
  V wrong;   ///< velocity by which (39), (40) are missed at its ends, infinite: no such impulse
  V gained;  ///< energy that is more than rounding
};

/// What the largest `wrong` and `gained` of a solution's pieces are of its numbers.
template <class V>
CAROM_INLINE V event_residual(V wrong, V gained, double speed, double energy) {
  const V share = wrong / V(speed);
  return select(gained > V(0.0), larger(share, gained / V(energy)), share);
}

/// Coulomb's law and complementarity of push and gap velocity at both ends of a piece.
template <class V, int M>
CAROM_INLINE V event_wrong(const ImpactProblemView& problem, const V* impulse, const V* before,
                           const V* after) {
  const V none(0.0);
  V wrong(0.0);
  auto impossible = none < none;
  for (int i = 0; i < M; ++i) {
    const V normal = impulse[i], tangent = impulse[M + i];
    const V most = V(problem.friction[i]) * normal;
    impossible =
        impossible | (normal < none) | (magnitude(tangent) > most * V(1.0 + EventRules::kCone));
    const auto pushes = normal > none;
    wrong = select(pushes, larger(wrong, larger(before[i], after[i])), wrong);
    for (int end = 0; end < 2; ++end) {
      const V slip = end == 0 ? before[M + i] : after[M + i];
      const V opposed = select(slip > none, -most, most);
      const auto against =
          pushes & (slip != none) & (magnitude(tangent - opposed) > V(EventRules::kCone) * most);
      wrong = select(against, larger(wrong, magnitude(slip)), wrong);
    }
  }
  return select(impossible, V(kInfinity), wrong);
}

/// To the next zero of a contact velocity, the next store that is empty or the stretch's end,
/// `left` away. With stores (planar_stores.hpp) `wrong` and `gained` are left to their certificate.
template <class V, int M, class Stores = NoStores>
CAROM_INLINE EventPiece<V, M> event_piece(const ImpactProblemView& problem, const V* u,
                                          const V* impulse, const V* rate, V left,
                                          double speed = 0.0, Stores* stores = nullptr) {
  constexpr int kRows = 2 * M;
  const V none(0.0), never(kInfinity);
  EventPiece<V, M> piece;
  V until[kRows], spent[M];
  for (int k = 0; k < kRows; ++k) {
    const int i = k - (k < M ? 0 : M);
    auto counts = u[k] * rate[k] < none;
    if constexpr (Stores::kAny) {
      if (k >= M) counts = counts & ((u[i] <= none) | stores->filled(i));
    } else {
      if (k >= M) counts = counts & (u[i] <= none);  // not where it separates
    }
    until[k] = select(counts, -u[k] / rate[k], never);
  }
  piece.length = left;
  piece.key = V(-1.0);
  for (int k = 0; k < kRows; ++k) {
    const auto earlier = until[k] < piece.length;
    piece.length = select(earlier, until[k], piece.length);
    piece.key = select(earlier, V(static_cast<double>(k)), piece.key);
  }
  if constexpr (Stores::kAny) {
    for (int i = 0; i < M; ++i) {
      spent[i] = stores->until(i, u[i], rate[i], impulse[i]);
      const auto earlier = spent[i] < piece.length;
      piece.length = select(earlier, spent[i], piece.length);
      piece.key = select(earlier, V(static_cast<double>(kRows + i)), piece.key);
    }
  }
  const auto event = piece.key >= none;
  const V together = select(event, piece.length * V(1.0 + EventRules::kTogether), none);
  V work(0.0), worth(0.0);
  for (int k = 0; k < kRows; ++k) {
    const V before = u[k];
    V after = fused(piece.length, rate[k], before);
    const auto reached = (until[k] <= together) | (before * after < none) |
                         (event & (magnitude(after) <= V(EventRules::kZero) * magnitude(before)));
    after = select((until[k] < never) & reached, none, after);
    if constexpr (Stores::kAny) {
      // work stored at a speed that counts as zero would be missed in the energy balance
      after = select(magnitude(after) <= V(0.01 * EventRules::kMet * speed), none, after);
    }
    piece.next[k] = after;
    if constexpr (Stores::kAny) continue;
    const V part = impulse[k] * V(0.5) * (before + after) * piece.length;
    work = work + part;
    worth = worth + magnitude(part);
  }
  if constexpr (Stores::kAny) {
    for (int i = 0; i < M; ++i) stores->ends(i, spent[i] <= together);
    piece.wrong = piece.gained = none;
    return piece;
  }
  piece.wrong = event_wrong<V, M>(problem, impulse, u, piece.next);
  const V gain(EventRules::kGain * problem.energy);
  piece.gained = select(work > V(EventRules::kCone) * worth + gain, work, none);
  return piece;
}

}  // namespace carom::kernels
