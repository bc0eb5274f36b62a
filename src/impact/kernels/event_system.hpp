#pragma once

#include <cstdint>
#include <type_traits>

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

#include "impact/kernels/event_memory.hpp"
#include "impact/kernels/event_slip.hpp"
#include "impact/kernels/event_system_packs.hpp"
#include "impact/kernels/impact.hpp"

namespace carom::kernels {

/// What a contact's push is in a mode.
enum class EventPush : unsigned char {
  none,
  full,  ///< its weight's
  held,  ///< what keeps it at u_n = 0
};

/// Where the rows of contacts lie: normals, then each contact's tangents; split, in thirds of
/// normals, first and second components, so that contacts are the lanes of registers.
template <int Dim, int Most, bool Split>
struct EventRows {
  static constexpr int kTangents = Dim - 1;
  static constexpr int kMax = Dim * Most;
  static_assert(!Split || Dim == 3);
  int contacts;

  [[nodiscard]] CAROM_INLINE int tangent(int i, int c) const {
    return Split ? Most * (1 + c) + i : contacts + kTangents * i + c;
  }
  /// Of a row of the problem.
  [[nodiscard]] CAROM_INLINE int of(int row) const {
    if (!Split || row < contacts) return row;
    return tangent((row - contacts) / kTangents, (row - contacts) % kTangents);
  }
  /// Rows in use, with gaps where split.
  [[nodiscard]] CAROM_INLINE int end() const { return Split ? kMax : Dim * contacts; }
};

/// The equations of an impact's modes and their solution. Isa: whose code this is; Split: with
/// contacts in the lanes of its registers.
template <class Isa, int Dim, int Most, bool Split>
class EventSystem {
 public:
  static constexpr int kTangents = Dim - 1;
  static constexpr int kMaxRows = Dim * Most;
  using State = std::conditional_t<Split, double, int>;  ///< of a slip; in lanes, whole numbers
  using Push = std::conditional_t<Split, double, EventPush>;

  CAROM_INLINE EventSystem(const ImpactRun& run, const ImpactProblemView& problem)
      : contacts_(run.contacts),
        at_{run.contacts},
        friction_(problem.friction),
        slip_(run.polygon),
        packs_(run, problem) {
    for (int column = 0; column < at_.end(); ++column) {
      for (int row = Split ? 0 : at_.end(); row < kMaxRows; ++row) response_[column][row] = 0.0;
    }
    for (int row = Split ? 0 : at_.end(); row < kMaxRows; ++row) root_[row] = 0.0;
    const int rows = Dim * contacts_;
    for (int row = 0; row < rows; ++row) {
      root_[at_.of(row)] = square_root(at_least_zero(problem.delassus[row * rows + row])) /
                           problem.scale[contact_of(row)];
      for (int column = 0; column < rows; ++column) {
        response_[at_.of(column)][at_.of(row)] =
            problem.delassus[row * rows + column] /
            (problem.scale[contact_of(row)] * problem.scale[contact_of(column)]);
      }
    }
  }

  /// A(row, column) of u = A lambda.
  [[nodiscard]] CAROM_INLINE double response(int row, int column) const {
    return response_[column][row];
  }
  [[nodiscard]] CAROM_INLINE int tangent(int i, int c) const { return at_.tangent(i, c); }

 protected:
  using Packs = EventSystemPacks<Isa, Most, Split>;
  static constexpr double kNothing = 1e-13;    ///< of the terms of a sum: rounding
  static constexpr double kResidual = 1e-11;   ///< likewise, of what is to vanish
  static constexpr double kDependent = 1e-11;  ///< of a row's largest entry
  static constexpr double kResting = 1e-6;     ///< likewise, what is certainly no rounding
  static constexpr bool kInRegisters = kKeptModes<Isa> > 0;
  static constexpr int kPack = kInRegisters ? 8 : 1;
  static constexpr int kColumns = (kMaxRows + kPack) & -kPack;  ///< of the system, the last whole
  static constexpr int kTogether = 4;                           ///< rows of a product at once
  static_assert(kMaxRows % kTogether == 0);

  [[nodiscard]] CAROM_INLINE int contact_of(int row) const {
    return row < contacts_ ? row : (row - contacts_) / kTangents;
  }
  [[nodiscard]] CAROM_INLINE bool is_able(int i) const {
    if constexpr (Split) return (able_ >> i & 1U) != 0;
    return idle_[i] == 0;
  }
  [[nodiscard]] CAROM_INLINE EventPush push(int i) const {
    if constexpr (Split) return static_cast<EventPush>(static_cast<int>(push_[i]));
    return static_cast<EventPush>(push_[i]);
  }
  [[nodiscard]] CAROM_INLINE int choice(int i) const { return static_cast<int>(choice_[i]); }

  /// Impulses of what is pushed in full, with the friction of sectors and the ends of edges.
  CAROM_INLINE void push_in_full(const double* weight, double* impulse) {
    if constexpr (Split) {
      doing_ = packs_.push_in_full(weight, push_, choice_, impulse);
    } else {
      for (int k = 0; k < at_.end(); ++k) impulse[k] = 0.0;
      for (int i = 0; i < contacts_; ++i) {
        if (push_[i] == EventPush::none) continue;
        if (push_[i] == EventPush::full) impulse[i] = weight[i];
        if (choice_[i] == 0) continue;
        const double* const direction = slip_.direction(slip_.index(choice_[i]));
        for (int c = 0; c < kTangents; ++c) {
          impulse[tangent(i, c)] = friction_[i] * direction[c] * impulse[i];
        }
      }
    }
  }

  /// rate = A impulse, and the sum of root |impulse|; in the order of impulses, most of which are
  /// 0. whole: unknowns are in.
  CAROM_INLINE double respond(const double* impulse, bool whole, double* rate) const {
    if constexpr (Split) {
      return packs_.respond(response_, root_, impulse, whole ? doing_.pushes : doing_.full,
                            whole ? doing_.pushes : doing_.rubs, rate);
    } else {
      const int rows = at_.end();
      double sum[kMaxRows], all = 0.0;
      for (int row = 0; row < kMaxRows; ++row) sum[row] = 0.0;
      for (int first = 0; first < rows; first += 32) {
        unsigned pushes = 0;  // a bit a row: branches on impulses themselves are hard to foresee
        for (int k = first; k < rows && k < first + 32; ++k) {
          pushes |= static_cast<unsigned>(impulse[k] != 0.0) << (k - first);
        }
        for (; pushes != 0; pushes &= pushes - 1) {
          const int k = first + lowest_bit(pushes);
          const double one = impulse[k];
          all = fused(root_[k], magnitude(one), all);
          if constexpr (kInRegisters) {  // all sums at once
            for (int r = 0; r < kMaxRows; ++r) sum[r] = fused(response_[k][r], one, sum[r]);
          } else {
            for (int row = 0; row < rows; row += kTogether) {
              for (int r = row; r < row + kTogether; ++r) {
                sum[r] = fused(response_[k][r], one, sum[r]);
              }
            }
          }
        }
      }
      for (int row = 0; row < kMaxRows; ++row) rate[row] = sum[row];
      return all;
    }
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
    if (x.kind == 0) return value(x.contact);
    if (x.kind < 3) return value(tangent(x.contact, x.kind - 1));
    const double* const edge = slip_.edge(slip_.index(choice(x.contact)));
    return fused(edge[0], value(tangent(x.contact, 0)),
                 edge[1] * value(tangent(x.contact, kTangents - 1)));
  }
  /// The system's matrix.
  CAROM_INLINE void couple(const Unknown* unknown, int count);
  CAROM_INLINE void eliminate(int count);
  template <int Parts>
  CAROM_INLINE void release_few(const double* rate, double* impulse);
  CAROM_INLINE void release_any(const Unknown* unknown, int count, const double* rate,
                                double* impulse);
  CAROM_INLINE bool solve(const double* weight, double* impulse, double* rate, double& all);

  /// What the terms of a rate may come to.
  [[nodiscard]] CAROM_INLINE double term(int row, double all) const { return root_[row] * all; }
  [[nodiscard]] CAROM_INLINE bool rest() const;
  CAROM_CALL bool dissipates(const State* slip);

  int contacts_;
  EventRows<Dim, Most, Split> at_;
  const double* friction_;
  EventSlip<Dim> slip_;
  Packs packs_;
  typename Packs::Doing doing_{};
  unsigned char idle_[Most];
  unsigned able_ = 0;  ///< a bit a contact, of Split: those that are not idle
  Push push_[Most];
  State choice_[Most];

 protected:
  static constexpr int kAligned = kInRegisters ? 64 : alignof(double);
  /// Of A's diagonal: |A_ab| is at most the product of two.
  alignas(kAligned) double root_[kMaxRows];

 private:
  alignas(kAligned) double response_[kMaxRows][kMaxRows];  ///< A by columns
  alignas(kAligned) double system_[kMaxRows][kColumns] = {};
};

/// Whether none of the contacts that may push, all at u = 0, can push at all. Impulses n, t
/// of contacts that are held or pushed in full would take n . rate_n <= 0. That is n . A_nn n + n .
/// A_nt t, at least n . B n with B_ij = A_nn,ij - mu_j |A_nt,ij|, which is positive for all n >= 0
/// if B less its positive entries off the diagonal, or B itself, is positive definite.
template <class Isa, int Dim, int Most, bool Split>
CAROM_INLINE bool EventSystem<Isa, Dim, Most, Split>::rest() const {
  int able[Most], count = 0;
  for (int i = 0; i < contacts_; ++i) {
    if (is_able(i)) able[count++] = i;
  }
  double bound[Most][Most];
  for (int a = 0; a < count; ++a) {
    for (int b = 0; b < count; ++b) {
      double square = 0.0;
      for (int c = 0; c < kTangents; ++c) {
        const double pull = response(able[a], tangent(able[b], c));
        square += pull * pull;
      }
      bound[a][b] = response(able[a], able[b]) - friction_[able[b]] * square_root(square);
    }
    double size = 0.0;
    for (int c = 0; c < kTangents; ++c) size += root_[tangent(able[a], c)];
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

template <class Isa, int Dim, int Most, bool Split>
CAROM_INLINE int EventSystem<Isa, Dim, Most, Split>::unknowns(Unknown* unknown) const {
  int count = 0;
  const auto add = [&](int i) {
    if (push(i) == EventPush::held) unknown[count++] = {i, 0};
    if (choice(i) == 0) {
      for (int c = 0; c < kTangents; ++c) unknown[count++] = {i, 1 + c};
    } else if (Dim == 3 && slip_.is_ray(choice(i))) {
      unknown[count++] = {i, 3};
    }
  };
  if constexpr (Split) {
    for (unsigned some = doing_.open; some != 0; some &= some - 1) {
      add(lowest_bit(some));
    }
  } else {
    for (int i = 0; i < contacts_; ++i) {
      if (push(i) != EventPush::none) add(i);
    }
  }
  return count;
}

template <class Isa, int Dim, int Most, bool Split>
CAROM_INLINE void EventSystem<Isa, Dim, Most, Split>::moved(const Unknown& x,
                                                            double* column) const {
  const double* const first = response_[tangent(x.contact, 0)];
  const double* const second = response_[tangent(x.contact, kTangents - 1)];
  if (x.kind == 1 || x.kind == 2) {
    const double* const own = response_[tangent(x.contact, x.kind - 1)];
    for (int row = 0; row < kMaxRows; ++row) column[row] = own[row];
  } else if (x.kind == 3) {
    const double* const edge = slip_.edge(slip_.index(choice(x.contact)));
    for (int row = 0; row < kMaxRows; ++row) {
      column[row] = fused(edge[0], first[row], edge[1] * second[row]);
    }
  } else {
    for (int row = 0; row < kMaxRows; ++row) column[row] = response_[x.contact][row];
    if (choice(x.contact) == 0) return;
    const double* const direction = slip_.direction(slip_.index(choice(x.contact)));
    for (int c = 0; c < kTangents; ++c) {
      const double along = friction_[x.contact] * direction[c];
      for (int row = 0; row < kMaxRows; ++row) {
        column[row] = fused(along, response_[tangent(x.contact, c)][row], column[row]);
      }
    }
  }
}

template <class Isa, int Dim, int Most, bool Split>
CAROM_INLINE void EventSystem<Isa, Dim, Most, Split>::couple(const Unknown* unknown, int count) {
  int row[kMaxRows];
  bool edges = false;
  for (int a = 0; a < count; ++a) {
    const int kind = unknown[a].kind;
    row[a] = kind == 0 ? unknown[a].contact : tangent(unknown[a].contact, kind == 2 ? 1 : 0);
    edges = edges || kind == 3;
  }
  for (int b = 0; b < count; ++b) {
    double made[kMaxRows];
    const double* column = response_[row[b]];
    if (unknown[b].kind == 3 || (unknown[b].kind == 0 && choice(unknown[b].contact) != 0)) {
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
template <class Isa, int Dim, int Most, bool Split>
CAROM_CALL bool EventSystem<Isa, Dim, Most, Split>::dissipates(const State* slip) {
  for (int i = 0; i < contacts_; ++i) {
    push_[i] = static_cast<Push>(is_able(i) ? EventPush::held : EventPush::none);
    choice_[i] = slip[i];
  }
  if constexpr (Split) doing_.open = able_;
  Unknown unknown[kMaxRows];
  const int count = unknowns(unknown);
  couple(unknown, count);
  for (int a = 0; a < count; ++a) {
    const int i = unknown[a].contact, kind = unknown[a].kind;
    double size = 0.0;
    for (int c = 0; c < kTangents; ++c) {
      const double root = root_[tangent(i, c)];
      if (kind == 3 || kind == 1 + c) size += root;
      if (kind == 0 && choice(i) != 0) size = fused(friction_[i], root, size);
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
template <class Isa, int Dim, int Most, bool Split>
CAROM_INLINE void EventSystem<Isa, Dim, Most, Split>::eliminate(int count) {
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

/// The unknowns of a mode whose equations are lanes of so many registers, put into its impulses.
/// The operations are those of couple and eliminate.
template <class Isa, int Dim, int Most, bool Split>
template <int Parts>
CAROM_INLINE void EventSystem<Isa, Dim, Most, Split>::release_few(const double* rate,
                                                                  double* impulse) {
  using Registers = ContactRegisters<Isa>;
  using Pack = typename Registers::Pack;
  using Mask = typename Registers::Mask;
  constexpr int kWidth = Registers::kWidth, kMost = Parts * kWidth;
  int row[kMost + 3] = {}, across[kMost + 3] = {};
  alignas(64) double edge[2][kMost + 3] = {};
  unsigned edges = 0;
  int count = 0;
  for (unsigned open = doing_.open; open != 0; open &= open - 1) {
    const int i = lowest_bit(open), state = choice(i);
    row[count] = i;
    count += push_[i] > 1.0 ? 1 : 0;
    row[count] = tangent(i, 0);
    row[count + 1] = across[count] = tangent(i, 1);
    if (slip_.is_ray(state)) {
      const double* const e = slip_.edge(slip_.index(state));
      for (int c = 0; c < 2; ++c) edge[c][count] = e[c];
      edges |= 1U << count;
      ++count;
    } else if (state == 0) {
      count += 2;
    }
  }
  const auto lanes = [](unsigned bits, int part) {
    return Mask::from_bits(bits >> (part * kWidth) & ((1U << kWidth) - 1U));
  };
  const unsigned all = (1U << count) - 1U;
  const auto left = [&](const double* velocities, int part) {
    const int at = part * kWidth;
    Pack value = Registers::of_rows(velocities, row + at);
    if (edges != 0) {
      const Pack second = Pack::load(edge[1] + at) * Registers::of_rows(velocities, across + at);
      value = select(lanes(edges, part), fused(Pack::load(edge[0] + at), value, second), value);
    }
    return select(lanes(all, part), value, Pack(0.0));
  };
  alignas(64) double column[kMost + 1][kMost];
  Pack size[Parts];
  for (Pack& part : size) part = Pack(0.0);
  const auto add = [&](int b, const double* velocities) {
    for (int part = 0; part < Parts; ++part) {
      const Pack value = left(velocities, part);
      size[part] = larger(size[part], magnitude(value));
      value.store(column[b] + part * kWidth);
    }
  };
  int made = 0;
  for (unsigned open = doing_.open; open != 0; open &= open - 1) {
    const int i = lowest_bit(open), state = choice(i);
    alignas(64) double velocities[kMaxRows];
    if (push_[i] > 1.0) {
      const double* own = response_[i];
      if (state != 0) {
        moved({i, 0}, velocities);
        own = velocities;
      }
      add(made++, own);
    }
    if (state == 0) {
      add(made++, response_[tangent(i, 0)]);
      add(made++, response_[tangent(i, 1)]);
    } else if (slip_.is_ray(state)) {
      moved({i, 3}, velocities);
      add(made++, velocities);
    }
  }
  for (int part = 0; part < Parts; ++part) {
    (-left(rate, part)).store(column[count] + part * kWidth);
    size[part] = Pack(kDependent) * size[part];
  }
  unsigned open = all;
  double value[kMost];
  int pivot_of[kMost];
  for (int c = 0; c < count; ++c) {
    Pack own[Parts], among[Parts];
    unsigned which = 0;
    for (int part = 0; part < Parts; ++part) {
      own[part] = Pack::load(column[c] + part * kWidth);
      const Pack most = magnitude(own[part]);
      const Mask able = (most > size[part]) & lanes(open, part);
      which |= able.bits() << (part * kWidth);
      among[part] = select(able, -most, Pack(0.0));
    }
    pivot_of[c] = -1;
    if (which == 0) continue;
    if ((which & (which - 1)) != 0) {
      Pack least = among[0];
      for (int part = 1; part < Parts; ++part) least = smaller(least, among[part]);
      const Pack largest(least_of(least));
      unsigned bits = 0;
      for (int part = 0; part < Parts; ++part) {
        bits |= (among[part] <= largest).bits() << (part * kWidth);
      }
      which &= bits;
    }
    const int pivot = lowest_bit(which);
    pivot_of[c] = pivot;
    value[c] = column[c][pivot];
    open &= ~(1U << pivot);
    for (int part = 0; part < Parts; ++part) {
      own[part] = select(lanes(1U << pivot, part), Pack(0.0), own[part] / Pack(value[c]));
    }
    for (int b = c + 1; b <= count; ++b) {
      const Pack factor(column[b][pivot]);
      for (int part = 0; part < Parts; ++part) {
        double* const to = column[b] + part * kWidth;
        fused(-own[part], factor, Pack::load(to)).store(to);
      }
    }
  }
  for (int c = 0; c < count; ++c) {
    value[c] = pivot_of[c] < 0 ? 0.0 : column[count][pivot_of[c]] / value[c];
  }
  const double* next = value;
  for (unsigned some = doing_.open; some != 0; some &= some - 1) {
    const int i = lowest_bit(some), state = choice(i);
    double &x = impulse[tangent(i, 0)], &y = impulse[tangent(i, 1)];
    if (push_[i] > 1.0) {
      impulse[i] = *next++;
      if (state != 0) {
        const double* const direction = slip_.direction(slip_.index(state));
        x = friction_[i] * direction[0] * impulse[i];
        y = friction_[i] * direction[1] * impulse[i];
      }
    }
    if (state == 0) {
      x = *next++;
      y = *next++;
    } else if (slip_.is_ray(state)) {
      const double* const along = slip_.edge(slip_.index(state));
      x = fused(*next, along[0], x);
      y = fused(*next++, along[1], y);
    }
  }
}

/// The unknowns of a mode, put into its impulses.
template <class Isa, int Dim, int Most, bool Split>
CAROM_INLINE void EventSystem<Isa, Dim, Most, Split>::release_any(const Unknown* unknown, int count,
                                                                  const double* rate,
                                                                  double* impulse) {
  couple(unknown, count);
  for (int a = 0; a < count; ++a) {
    system_[a][count] = -rests(unknown[a], [&](int row) { return rate[row]; });
  }
  eliminate(count);
  for (int a = 0; a < count; ++a) {
    const int i = unknown[a].contact, kind = unknown[a].kind;
    const double value = system_[a][count];
    if (kind == 0) {
      impulse[i] = value;
      if (choice(i) != 0) {
        const double* const direction = slip_.direction(slip_.index(choice(i)));
        for (int c = 0; c < kTangents; ++c) {
          impulse[tangent(i, c)] = friction_[i] * direction[c] * value;
        }
      }
    } else if (kind < 3) {
      impulse[tangent(i, kind - 1)] = value;
    } else {
      const double* const edge = slip_.edge(slip_.index(choice(i)));
      for (int c = 0; c < kTangents; ++c) {
        double& part = impulse[tangent(i, c)];
        part = fused(value, edge[c], part);
      }
    }
  }
}

/// Impulses and rates of the mode push_, choice_; false where its equations contradict each other.
/// all: receives what `term` takes.
template <class Isa, int Dim, int Most, bool Split>
CAROM_INLINE bool EventSystem<Isa, Dim, Most, Split>::solve(const double* weight, double* impulse,
                                                            double* rate, double& all) {
  push_in_full(weight, impulse);
  Unknown unknown[kMaxRows];
  if constexpr (Split) {
    constexpr int kLanes = Packs::kLanes;
    if (doing_.open != 0) {
      respond(impulse, false, rate);
      if (doing_.most > 2 * kLanes) {
        release_any(unknown, unknowns(unknown), rate, impulse);
      } else if constexpr (kLanes > 0) {
        if (doing_.most <= kLanes) {
          release_few<1>(rate, impulse);
        } else {
          release_few<2>(rate, impulse);
        }
      }
    }
    all = respond(impulse, true, rate);
    return packs_.settle(push_, choice_, root_, all, kNothing, kResidual, rate);
  } else {
    const int count = unknowns(unknown);
    if (count > 0) {
      respond(impulse, false, rate);
      release_any(unknown, count, rate, impulse);
    }
    all = respond(impulse, true, rate);
    for (int row = 0; row < kMaxRows; ++row) {  // without branches
      const double found = rate[row];
      rate[row] = magnitude(found) <= kNothing * term(row, all) ? 0.0 : found;
    }
    for (int a = 0; a < count; ++a) {
      const double left = rests(unknown[a], [&](int row) { return rate[row]; });
      const int i = unknown[a].contact, kind = unknown[a].kind;
      double size = 0.0;
      if (kind == 0) {
        size = term(i, all);
      } else {
        for (int c = 0; c < kTangents; ++c) size += term(tangent(i, c), all);
      }
      if (!(magnitude(left) <= kResidual * size)) return false;
      if (kind == 0) rate[i] = 0.0;
      if (kind == 1 || kind == 2) rate[tangent(i, kind - 1)] = 0.0;
      if (Dim == 3 && kind == 3) {
        double t[2] = {rate[tangent(i, 0)], rate[tangent(i, kTangents - 1)]};
        slip_.project(choice(i), t);
        rate[tangent(i, 0)] = t[0];
        rate[tangent(i, kTangents - 1)] = t[1];
      }
    }
    return true;
  }
}

}  // namespace carom::kernels
