#pragma once

#include <cstdint>

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

#include "impact/kernels/event_memory.hpp"
#include "impact/kernels/event_piece.hpp"
#include "impact/kernels/event_slip.hpp"
#include "impact/kernels/impact.hpp"

namespace carom::kernels {

/// What a contact's push is in a mode.
enum class EventPush : unsigned char {
  none,
  full,  ///< its weight's
  held,  ///< what keeps it at u_n = 0
};

/// The motion right after a velocity: a mode in which impulses and rates of contact velocities keep
/// the laws of the inclusion (39), (40). Modes are not tabled, there are too many (19 a spatial
/// contact with four friction directions): one is guessed, solved, and what it breaks is put right.
/// Isa: whose code this is.
template <class Isa, int Dim, int Most>
class EventModes {
 public:
  static constexpr int kTangents = Dim - 1;
  static constexpr int kMaxRows = Dim * Most;

  EventMode<Dim, Most> mode;  ///< that was found

  CAROM_INLINE EventModes(const ImpactRun& run, const ImpactProblemView& problem)
      : contacts_(run.contacts),
        rows_(Dim * run.contacts),
        friction_(problem.friction),
        slip_(run.polygon) {
    for (int column = 0; column < rows_; ++column) {
      for (int row = rows_; row < kMaxRows; ++row) response_[column][row] = 0.0;
    }
    for (int row = rows_; row < kMaxRows; ++row) root_[row] = 0.0;
    for (int row = 0; row < rows_; ++row) {
      root_[row] = square_root(at_least_zero(problem.delassus[row * rows_ + row])) /
                   problem.scale[contact_of(row)];
      for (int column = 0; column < rows_; ++column) {
        response_[column][row] =
            problem.delassus[row * rows_ + column] /
            (problem.scale[contact_of(row)] * problem.scale[contact_of(column)]);
      }
    }
  }

  /// A(row, column) of u = A lambda.
  [[nodiscard]] CAROM_INLINE double response(int row, int column) const {
    return response_[column][row];
  }
  [[nodiscard]] CAROM_INLINE int tangent(int i) const { return contacts_ + kTangents * i; }

  /// A stretch begins: with other weights, another `first`, other friction.
  CAROM_INLINE void begin() {
    memory_.begin();
    solved_.begin();
  }

  /// u: contact velocities, [rows]; slip: states of those contacts that do not separate; weight:
  /// [contacts], either the stretch's or that of one contact, 1; first: number that decides which
  /// mode is tried first. False where none was found.
  CAROM_INLINE bool find(const double* u, const int* slip, const double* weight, unsigned first) {
    return memory_.recall(memory_.face(contacts_, u, slip, weight), mode,
                          [&] { return search(u, slip, weight, first); });
  }

 private:
  CAROM_CALL bool search(const double* u, const int* slip, const double* weight, unsigned first);
  static constexpr double kNothing = 1e-13;    ///< of the terms of a sum: rounding
  static constexpr double kResidual = 1e-11;   ///< likewise, of what is to vanish
  static constexpr double kDependent = 1e-11;  ///< of a row's largest entry
  static constexpr double kResting = 1e-6;     ///< likewise, what is certainly no rounding
  static constexpr bool kInRegisters = kKeptModes<Isa> > 0;
  static constexpr int kPack = kInRegisters ? 8 : 1;
  static constexpr int kColumns = (kMaxRows + kPack) & -kPack;  ///< of the system, the last whole
  static constexpr int kTogether = 4;                           ///< rows of a product at once
  static_assert(kMaxRows % kTogether == 0);
  static constexpr int kMostTries = 96;
  static constexpr int kTriesAtOnce = 6;  ///< that put all right at once, then one contact
  static constexpr int kTriesOfStart = 24;
  static constexpr int kGuesses =
      8 + (Most > 8 ? Most - 8 : 0);  ///< numbers between those of two tries

  [[nodiscard]] CAROM_INLINE int contact_of(int row) const {
    return row < contacts_ ? row : (row - contacts_) / kTangents;
  }
  CAROM_INLINE unsigned hash(unsigned salt) const {
    std::uint32_t x = (first_ ^ salt * 0x9E3779B9U) * 0x85EBCA6BU;
    x ^= x >> 13;
    x *= 0xC2B2AE35U;
    return x ^ (x >> 16);
  }

  /// A contact whose push is a choice, or whose friction is.
  [[nodiscard]] CAROM_INLINE bool chooses(int i, const double* u, const int* slip) const {
    return idle_[i] == 0 && (u[i] == 0.0 || !slip_.is_sector(slip[i]));
  }
  /// Some part of contact i, by a number.
  CAROM_INLINE void guess(int i, const double* u, const int* slip, unsigned number) {
    if (idle_[i] != 0) {
      push_[i] = EventPush::none;
      return;
    }
    push_[i] = u[i] < 0.0 ? EventPush::full : static_cast<EventPush>(number % 3);
    number /= 3;
    choice_[i] = slip[i];
    if (slip[i] == 0 && number % 2 == 1) {
      choice_[i] = 1 + static_cast<int>(number / 2 % static_cast<unsigned>(slip_.states() - 1));
    } else if (slip_.is_ray(slip[i]) && number % 2 == 1) {
      const int j = slip_.index(slip[i]);
      choice_[i] = slip_.sector(number / 2 % 2 == 0 ? j : slip_.after(j));
    }
  }

  /// rate = A impulse, and the sum of root |impulse|; in the order of impulses, most of which are
  /// 0.
  CAROM_INLINE double respond() {
    double sum[kMaxRows], all = 0.0;
    for (int row = 0; row < kMaxRows; ++row) sum[row] = 0.0;
    for (int first = 0; first < rows_; first += 32) {
      unsigned pushes = 0;  // a bit a row: branches on impulses themselves are hard to foresee
      for (int k = first; k < rows_ && k < first + 32; ++k) {
        pushes |= static_cast<unsigned>(mode.impulse[k] != 0.0) << (k - first);
      }
      for (; pushes != 0; pushes &= pushes - 1) {
        const int k = first + lowest_bit(pushes);
        const double one = mode.impulse[k];
        all = fused(root_[k], magnitude(one), all);
        if constexpr (kInRegisters) {  // all sums at once
          for (int r = 0; r < kMaxRows; ++r) sum[r] = fused(response_[k][r], one, sum[r]);
        } else {
          for (int row = 0; row < rows_; row += kTogether) {
            for (int r = row; r < row + kTogether; ++r) {
              sum[r] = fused(response_[k][r], one, sum[r]);
            }
          }
        }
      }
    }
    for (int row = 0; row < kMaxRows; ++row) mode.rate[row] = sum[row];
    return all;
  }

  /// Where contact i's slip goes at the mode's rate.
  CAROM_INLINE void move(int i, const int* slip) {
    double nothing = 0.0;
    for (int c = 0; c < kTangents; ++c) nothing += terms_[tangent(i) + c];
    mode.moving[i] = slip_.moving(slip[i], mode.rate + tangent(i), nothing * kNothing);
  }

  /// A push, one along an edge or a component of friction that a mode leaves open.
  struct Unknown {
    int contact, kind;  // 0: normal; 1, 2: component of friction; 3: along the edge
  };
  /// Those of the mode push_, choice_.
  CAROM_INLINE int unknowns(Unknown* unknown) const;
  /// What an unknown of 1 does to the contact velocities, [kMaxRows].
  CAROM_INLINE void moved(const Unknown& x, double* column) const;
  /// What an unknown is to leave at rest, value(row) being the velocities.
  template <class Value>
  CAROM_INLINE double rests(const Unknown& x, Value&& value) const {
    const int t = tangent(x.contact);
    if (x.kind == 0) return value(x.contact);
    if (x.kind < 3) return value(t + x.kind - 1);
    const double* const edge = slip_.edge(slip_.index(choice_[x.contact]));
    return fused(edge[0], value(t), edge[1] * value(t + kTangents - 1));
  }
  /// The system's matrix.
  CAROM_INLINE void couple(const Unknown* unknown, int count);

  [[nodiscard]] CAROM_INLINE bool rest() const;
  CAROM_CALL bool dissipates(const int* slip);
  CAROM_INLINE void conclude(const double* u, const int* slip);
  CAROM_INLINE bool solve(const double* weight);
  /// The same, from memory where the stretch has met this mode.
  CAROM_INLINE bool solved(const double* weight) {
    if constexpr (!kInRegisters) {
      return solve(weight);
    } else {
      auto& known = solved_.of(contacts_, [&](int i) {
        if (push_[i] == EventPush::none) return weight[i] > 0.0 ? 1 : 0;
        return 2 * choice_[i] + (push_[i] == EventPush::full ? 3 : 2);
      });
      if (known.fresh) {
        known.consistent = solve(weight);
        for (int k = 0; k < kMaxRows; ++k) known.impulse[k] = mode.impulse[k];
        for (int k = 0; k < kMaxRows; ++k) known.rate[k] = mode.rate[k];
        for (int k = 0; k < kMaxRows; ++k) known.terms[k] = terms_[k];
      } else {
        for (int k = 0; k < kMaxRows; ++k) mode.impulse[k] = known.impulse[k];
        for (int k = 0; k < kMaxRows; ++k) mode.rate[k] = known.rate[k];
        for (int k = 0; k < kMaxRows; ++k) terms_[k] = known.terms[k];
      }
      return known.consistent;
    }
  }
  CAROM_INLINE void eliminate(int count);
  CAROM_INLINE int mend(const double* u, const int* slip, const double* weight, unsigned number);

  int contacts_, rows_;
  const double* friction_;
  EventSlip<Dim> slip_;
  EventMemory<Dim, Most, kKeptModes<Isa>> memory_;
  SolvedModes<Dim, Most, kKeptModes<Isa>> solved_;
  unsigned first_ = 0;
  unsigned char idle_[Most];
  EventPush push_[Most], next_push_[Most];
  int choice_[Most], next_choice_[Most];
  double root_[kMaxRows];                ///< of A's diagonal: |A_ab| is at most the product of two
  double terms_[kMaxRows];               ///< what the terms of a rate may come to
  double response_[kMaxRows][kMaxRows];  ///< A by columns
  double system_[kMaxRows][kColumns] = {};
};

/// Whether none of the contacts that may push, all at u = 0, can push at all. Impulses n, t
/// of contacts that are held or pushed in full would take n . rate_n <= 0. That is n . A_nn n + n .
/// A_nt t, at least n . B n with B_ij = A_nn,ij - mu_j |A_nt,ij|, which is positive for all n >= 0
/// if B less its positive entries beside the diagonal, or B itself, is positive definite.
template <class Isa, int Dim, int Most>
CAROM_INLINE bool EventModes<Isa, Dim, Most>::rest() const {
  int able[Most], count = 0;
  for (int i = 0; i < contacts_; ++i) {
    if (idle_[i] == 0) able[count++] = i;
  }
  double bound[Most][Most];
  for (int a = 0; a < count; ++a) {
    for (int b = 0; b < count; ++b) {
      const double* const pull = response_[tangent(able[b])] + able[a];
      double square = 0.0;
      for (int c = 0; c < kTangents; ++c) square += pull[c * kMaxRows] * pull[c * kMaxRows];
      bound[a][b] = response(able[a], able[b]) - friction_[able[b]] * square_root(square);
    }
    double size = 0.0;
    for (int c = 0; c < kTangents; ++c) size += root_[tangent(able[a]) + c];
    size = fused(friction_[able[a]], size, root_[able[a]]);
    bound[a][a] -= kResting * size * size;
  }
  for (int most = 0; most < 2; ++most) {
    double factor[Most][Most];  // Cholesky's, by rows; its diagonal inverted
    bool positive = true;
    for (int a = 0; positive && a < count; ++a) {
      for (int b = 0; b <= a; ++b) {
        double left = 0.5 * (bound[a][b] + bound[b][a]);
        if (most == 0 && b < a) left = smaller(left, 0.0);
        for (int k = 0; k < b; ++k) left = fused(-factor[a][k], factor[b][k], left);
        if (b < a) {
          factor[a][b] = left * factor[b][b];
        } else {
          positive = left > 0.0;
          factor[a][a] = 1.0 / square_root(left);
        }
      }
    }
    if (positive) return true;
  }
  return false;
}

template <class Isa, int Dim, int Most>
CAROM_INLINE int EventModes<Isa, Dim, Most>::unknowns(Unknown* unknown) const {
  int count = 0;
  for (int i = 0; i < contacts_; ++i) {
    if (push_[i] == EventPush::none) continue;
    if (push_[i] == EventPush::held) unknown[count++] = {i, 0};
    if (choice_[i] == 0) {
      for (int c = 0; c < kTangents; ++c) unknown[count++] = {i, 1 + c};
    } else if (Dim == 3 && slip_.is_ray(choice_[i])) {
      unknown[count++] = {i, 3};
    }
  }
  return count;
}

template <class Isa, int Dim, int Most>
CAROM_INLINE void EventModes<Isa, Dim, Most>::moved(const Unknown& x, double* column) const {
  const int t = tangent(x.contact);
  const double *const first = response_[t], *const second = response_[t + kTangents - 1];
  if (x.kind == 1 || x.kind == 2) {
    const double* const own = response_[t + x.kind - 1];
    for (int row = 0; row < kMaxRows; ++row) column[row] = own[row];
  } else if (x.kind == 3) {
    const double* const edge = slip_.edge(slip_.index(choice_[x.contact]));
    for (int row = 0; row < kMaxRows; ++row) {
      column[row] = fused(edge[0], first[row], edge[1] * second[row]);
    }
  } else {
    for (int row = 0; row < kMaxRows; ++row) column[row] = response_[x.contact][row];
    if (choice_[x.contact] == 0) return;
    const double* const direction = slip_.direction(slip_.index(choice_[x.contact]));
    for (int c = 0; c < kTangents; ++c) {
      const double along = friction_[x.contact] * direction[c];
      for (int row = 0; row < kMaxRows; ++row) {
        column[row] = fused(along, response_[t + c][row], column[row]);
      }
    }
  }
}

template <class Isa, int Dim, int Most>
CAROM_INLINE void EventModes<Isa, Dim, Most>::couple(const Unknown* unknown, int count) {
  int row[kMaxRows];
  bool edges = false;
  for (int a = 0; a < count; ++a) {
    const int kind = unknown[a].kind;
    row[a] = kind == 0 ? unknown[a].contact : tangent(unknown[a].contact) + (kind == 2 ? 1 : 0);
    edges = edges || kind == 3;
  }
  for (int b = 0; b < count; ++b) {
    double made[kMaxRows];
    const double* column = response_[row[b]];
    if (unknown[b].kind == 3 || (unknown[b].kind == 0 && choice_[unknown[b].contact] != 0)) {
      moved(unknown[b], made);
      column = made;
    }
    for (int a = 0; a < count; ++a) system_[a][b] = column[row[a]];
    for (int a = 0; edges && a < count; ++a) {
      if (unknown[a].kind != 3) continue;
      system_[a][b] = rests(unknown[a], [&](int k) { return column[k]; });
    }
  }
}

/// Whether any push of contacts that are at u = 0 would take energy, so that there is none. Let
/// each contact be held in its slip's state, x its impulses there and S the system's matrix. Modes
/// that keep the laws have x . S x <= 0: a push, a component of friction or its part along an edge
/// either holds its velocity at 0 or opposes it, and friction of a sector hangs on its push. If S
/// is positive definite, x is 0.
template <class Isa, int Dim, int Most>
CAROM_CALL bool EventModes<Isa, Dim, Most>::dissipates(const int* slip) {
  for (int i = 0; i < contacts_; ++i) {
    push_[i] = idle_[i] != 0 ? EventPush::none : EventPush::held;
    choice_[i] = slip[i];
  }
  Unknown unknown[kMaxRows];
  const int count = unknowns(unknown);
  couple(unknown, count);
  for (int a = 0; a < count; ++a) {
    const int i = unknown[a].contact, t = tangent(i), kind = unknown[a].kind;
    double size = 0.0;
    for (int c = 0; c < kTangents; ++c) {
      if (kind == 3 || kind == 1 + c) size += root_[t + c];
      if (kind == 0 && choice_[i] != 0) size = fused(friction_[i], root_[t + c], size);
    }
    if (kind == 0) size += root_[i];
    system_[a][a] -= kResting * size * size;
    for (int b = 0; b < a; ++b) system_[a][b] = 0.5 * (system_[a][b] + system_[b][a]);
  }
  for (int a = 0; a < count; ++a) {  // Cholesky's factor, its diagonal inverted
    for (int b = 0; b <= a; ++b) {
      double left = system_[a][b];
      for (int k = 0; k < b; ++k) left = fused(-system_[a][k], system_[b][k], left);
      if (b < a) {
        system_[a][b] = left * system_[b][b];
      } else {
        if (!(left > 0.0)) return false;
        system_[a][a] = 1.0 / square_root(left);
      }
    }
  }
  return true;
}

/// The solution in the last column. Unknowns that say nothing new are 0.
template <class Isa, int Dim, int Most>
CAROM_INLINE void EventModes<Isa, Dim, Most>::eliminate(int count) {
  if (count == 1) {
    const double own = system_[0][0];
    system_[0][1] = magnitude(own) > kDependent * magnitude(own) ? system_[0][1] / own : 0.0;
    return;
  }
  std::uint64_t used = 0;
  int pivot_of[kMaxRows];
  double size[kMaxRows];
  static_assert(kMaxRows <= 64);
  for (int a = 0; a < count; ++a) {
    size[a] = 0.0;
    for (int b = 0; b < count; ++b) size[a] = larger(size[a], magnitude(system_[a][b]));
  }
  for (int column = 0; column < count; ++column) {
    int pivot = -1;
    for (int a = 0; a < count; ++a) {
      if ((used >> a & 1U) != 0 || !(magnitude(system_[a][column]) > kDependent * size[a])) {
        continue;
      }
      if (pivot < 0 || magnitude(system_[a][column]) > magnitude(system_[pivot][column])) pivot = a;
    }
    pivot_of[column] = pivot;
    if (pivot < 0) continue;
    used |= std::uint64_t{1} << pivot;
    for (int a = 0; a < count; ++a) {
      if (a == pivot || system_[a][column] == 0.0) continue;
      const double factor = system_[a][column] / system_[pivot][column];
      if constexpr (kInRegisters) {  // whole packs, columns that are done too
        for (int b = (column + 1) & -kPack; b <= count; b += kPack) {
          for (int r = b; r < b + kPack; ++r) {
            system_[a][r] = fused(-factor, system_[pivot][r], system_[a][r]);
          }
        }
      } else {
        for (int b = column + 1; b <= count; ++b) {
          system_[a][b] = fused(-factor, system_[pivot][b], system_[a][b]);
        }
      }
      system_[a][column] = 0.0;
    }
  }
  double value[kMaxRows];
  for (int column = 0; column < count; ++column) {
    const int pivot = pivot_of[column];
    value[column] = pivot < 0 ? 0.0 : system_[pivot][count] / system_[pivot][column];
  }
  for (int column = 0; column < count; ++column) system_[column][count] = value[column];
}

/// Impulses and rates of the mode push_, choice_; false where its equations contradict each other.
template <class Isa, int Dim, int Most>
CAROM_INLINE bool EventModes<Isa, Dim, Most>::solve(const double* weight) {
  for (int k = 0; k < rows_; ++k) mode.impulse[k] = 0.0;
  for (int i = 0; i < contacts_; ++i) {
    if (push_[i] == EventPush::none) continue;
    if (push_[i] == EventPush::full) mode.impulse[i] = weight[i];
    if (choice_[i] == 0) continue;
    const double* const direction = slip_.direction(slip_.index(choice_[i]));
    for (int c = 0; c < kTangents; ++c) {
      mode.impulse[tangent(i) + c] = friction_[i] * direction[c] * mode.impulse[i];
    }
  }
  Unknown unknown[kMaxRows];
  const int count = unknowns(unknown);
  if (count > 0) respond();
  couple(unknown, count);
  for (int a = 0; a < count; ++a) {
    system_[a][count] = -rests(unknown[a], [&](int row) { return mode.rate[row]; });
  }
  if (count > 0) eliminate(count);
  for (int a = 0; a < count; ++a) {
    const int i = unknown[a].contact, kind = unknown[a].kind, t = tangent(i);
    const double value = system_[a][count];
    if (kind == 0) {
      mode.impulse[i] = value;
      if (choice_[i] != 0) {
        const double* const direction = slip_.direction(slip_.index(choice_[i]));
        for (int c = 0; c < kTangents; ++c) {
          mode.impulse[t + c] = friction_[i] * direction[c] * value;
        }
      }
    } else if (kind < 3) {
      mode.impulse[t + kind - 1] = value;
    } else {
      const double* const edge = slip_.edge(slip_.index(choice_[i]));
      for (int c = 0; c < kTangents; ++c)
        mode.impulse[t + c] = fused(value, edge[c], mode.impulse[t + c]);
    }
  }
  const double all = respond();
  for (int row = 0; row < kMaxRows; ++row) {  // without branches
    terms_[row] = root_[row] * all;
    const double found = mode.rate[row];
    mode.rate[row] = magnitude(found) <= kNothing * terms_[row] ? 0.0 : found;
  }
  for (int a = 0; a < count; ++a) {
    const double left = rests(unknown[a], [&](int row) { return mode.rate[row]; });
    const int i = unknown[a].contact, t = tangent(i);
    double size = 0.0;
    if (unknown[a].kind == 0) {
      size = terms_[i];
    } else {
      for (int c = 0; c < kTangents; ++c) size += terms_[t + c];
    }
    if (!(magnitude(left) <= kResidual * size)) return false;
    if (unknown[a].kind == 0) mode.rate[i] = 0.0;
    if (unknown[a].kind == 1 || unknown[a].kind == 2) mode.rate[t + unknown[a].kind - 1] = 0.0;
    if (Dim == 3 && unknown[a].kind == 3) slip_.project(choice_[i], mode.rate + t);
  }
  return true;
}

/// How many contacts break a law; next_push_ and next_choice_ receive what they may do instead.
template <class Isa, int Dim, int Most>
CAROM_INLINE int EventModes<Isa, Dim, Most>::mend(const double* u, const int* slip,
                                                  const double* weight, unsigned number) {
  int broken = 0;
  for (int i = 0; i < contacts_; ++i) {
    next_push_[i] = push_[i];
    next_choice_[i] = choice_[i];
    if (u[i] > 0.0) continue;
    if (idle_[i] != 0) continue;
    move(i, slip);
    double* const t = mode.impulse + tangent(i);
    if (push_[i] == EventPush::none) {
      if (u[i] == 0.0 && mode.rate[i] < 0.0) {
        next_push_[i] = EventPush::held;
        next_choice_[i] = slip[i] == 0 && number % 2 == 0 ? mode.moving[i] : slip[i];
        ++broken;
      }
      continue;
    }
    if (push_[i] == EventPush::held) {
      double& normal = mode.impulse[i];
      if (!(normal >= -kNothing * weight[i])) {
        next_push_[i] = EventPush::none;
        ++broken;
        continue;
      }
      if (!(normal <= weight[i] * (1.0 + kNothing))) {
        next_push_[i] = EventPush::full;
        ++broken;
        continue;
      }
      if (normal <= kNothing * weight[i]) {  // no push: no friction either
        const double slight = kNothing * (1.0 + friction_[i]) * weight[i];
        bool rubs = false;
        for (int c = 0; c < kTangents; ++c) rubs = rubs || magnitude(t[c]) > slight;
        if (rubs) {
          next_push_[i] = EventPush::none;
          ++broken;
          continue;
        }
        normal = 0.0;
        for (int c = 0; c < kTangents; ++c) t[c] = 0.0;
      }
    } else if (u[i] == 0.0 && mode.rate[i] > 0.0) {
      next_push_[i] = EventPush::held;
      ++broken;
      continue;
    }
    if (slip_.is_sector(slip[i])) continue;
    const double limit = friction_[i] * mode.impulse[i];
    if (choice_[i] == 0) {
      const int place = slip_.nearest(t, limit, kNothing);
      if (place != 0) {
        next_choice_[i] = place;
        ++broken;
      }
    } else if (Dim == 3 && slip_.is_ray(choice_[i])) {
      const int j = slip_.index(choice_[i]);
      const double* const from = slip_.direction(j);
      const double past[2] = {fused(-limit, from[0], t[0]),
                              fused(-limit, from[1], t[kTangents - 1])};
      const double share = slip_.across(j, past), whole = limit * slip_.edge_length();
      if (!(share >= -kNothing * whole)) {
        next_choice_[i] = slip_.sector(j);
        ++broken;
      } else if (!(share <= whole * (1.0 + kNothing))) {
        next_choice_[i] = slip_.sector(slip_.after(j));
        ++broken;
      } else if (!slip_.opposes(choice_[i], mode.moving[i])) {
        next_choice_[i] = slip[i] == 0 ? 0 : slip[i];
        ++broken;
      }
    } else if (!slip_.opposes(choice_[i], mode.moving[i])) {
      ++broken;
      next_choice_[i] = slip[i];
      if (Dim == 3 && slip[i] == 0 && slip_.is_sector(mode.moving[i])) {
        const int j = slip_.index(choice_[i]), k = slip_.index(mode.moving[i]);
        if (slip_.after(j) == k) next_choice_[i] = slip_.ray(j);
        if (slip_.after(k) == j) next_choice_[i] = slip_.ray(k);
      }
    }
  }
  return broken;
}

/// What the piece needs of the mode that holds, once for all its recalls.
template <class Isa, int Dim, int Most>
CAROM_INLINE void EventModes<Isa, Dim, Most>::conclude(const double* u, const int* slip) {
  mode.possible = true;
  for (int i = 0; i < contacts_; ++i) {
    if (u[i] > 0.0) continue;
    if (idle_[i] != 0) {
      move(i, slip);
    } else if (push_[i] != EventPush::none) {
      const double normal = mode.impulse[i], most = friction_[i] * normal;
      mode.possible = mode.possible && !(normal < 0.0) &&
                      !(slip_.beyond(mode.impulse + tangent(i), most) > EventRules::kCone * most);
    }
    slip_.project(mode.moving[i], mode.rate + tangent(i));
  }
}

template <class Isa, int Dim, int Most>
CAROM_CALL bool EventModes<Isa, Dim, Most>::search(const double* u, const int* slip,
                                                   const double* weight, unsigned first) {
  first_ = first;
  int choosing = 0;
  bool able = false, approach = false;
  for (int i = 0; i < contacts_; ++i) {
    idle_[i] = u[i] > 0.0 || !(weight[i] > 0.0) ? 1 : 0;
    able = able || idle_[i] == 0;
    approach = approach || (idle_[i] == 0 && u[i] < 0.0);
    mode.moving[i] = 0;
  }
  if (!able || (!approach && (rest() || dissipates(slip)))) return false;
  for (int i = 0; i < contacts_; ++i) choice_[i] = 0;
  for (int i = 0; i < contacts_; ++i) choosing += chooses(i, u, slip) ? 1 : 0;
  for (int tried = 0; tried < kMostTries; ++tried) {
    const int turn = tried % kTriesOfStart;
    if (turn == 0) {
      for (int i = 0; i < contacts_; ++i) {
        guess(i, u, slip, hash(static_cast<unsigned>(tried * kGuesses + i)));
      }
    }
    const unsigned number = hash(0x10000U + static_cast<unsigned>(tried));
    if (!solved(weight)) {
      if (choosing == 0) return false;
      auto which = static_cast<int>(number % static_cast<unsigned>(choosing));
      for (int i = 0; i < contacts_; ++i) {
        if (chooses(i, u, slip) && which-- == 0) {
          guess(i, u, slip, hash(0x20000U + static_cast<unsigned>(tried)));
        }
      }
      continue;
    }
    const int broken = mend(u, slip, weight, number);
    if (broken == 0) {
      bool pushed = false;
      for (int i = 0; i < contacts_; ++i) pushed = pushed || mode.impulse[i] > 0.0;
      if (pushed) {
        conclude(u, slip);
        return true;
      }
      if (choosing == 0) return false;
      for (int i = 0; i < contacts_; ++i) {
        guess(i, u, slip, hash(0x30000U + static_cast<unsigned>(tried * kGuesses + i)));
      }
      continue;
    }
    auto which = static_cast<int>(number / 2 % static_cast<unsigned>(broken));
    for (int i = 0; i < contacts_; ++i) {
      if (next_push_[i] == push_[i] && next_choice_[i] == choice_[i]) continue;
      if (turn < kTriesAtOnce || which-- == 0) {
        push_[i] = next_push_[i];
        choice_[i] = next_choice_[i];
      }
    }
  }
  return false;
}

}  // namespace carom::kernels
