#pragma once

#include <carom/device/arena.hpp>
#include <carom/device/contact_geometry.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/lanes.hpp>
#include <carom/device/numeric.hpp>
#include <cstdint>

#include "impact/kernels/contact_path_change.hpp"

/// The tableau of the path in contact_path.hpp: its memory, its variables, and a pivot.
namespace carom::kernels {

/// Lines of a tableau: rows, or columns where a Lanes type names a Register of kRowPadding doubles,
/// so that registers hold what one variable does to all others.
template <class Lanes>
CAROM_HOST_DEVICE constexpr bool by_columns() {
  return requires { typename Lanes::Register; };
}

template <class Memory>
struct PathRealLayout {
  Memory tableau;
  Memory pivot_row;
  Memory pivot_column;
  Memory x;        ///< values of the basic variables
  Memory above;    ///< by columns: upper bounds of the basic variables
  Memory factors;  ///< likewise: pivot columns of kept changes, a line each

  CAROM_INLINE constexpr PathRealLayout(Arena<Memory>& arena, int rows, int padding,
                                        bool by_columns)
      : tableau(arena.take(long{by_columns ? rows + 1 : rows} *
                           padded(by_columns ? rows : rows + 1, padding))),
        pivot_row(arena.take(padded(rows + 1, padding))),
        pivot_column(arena.take(by_columns ? padded(rows, padding) : rows)),
        x(arena.take(by_columns ? padded(rows, padding) : rows)),
        above(arena.take(by_columns ? padded(rows, padding) : 0)),
        factors(arena.take(by_columns && rows >= contact_path::kFewestLateRows
                               ? contact_path::kMostChanges * padded(rows, padding)
                               : 0)) {}
};
template <class Memory>
struct PathIntLayout {
  Memory place;
  Memory normal;
  Memory tangent;
  Memory corner;
  Memory basic;    ///< by columns: the variable of each row
  Memory applied;  ///< likewise: changes that a column has seen; -1: it is not filled
  Memory first;    ///< likewise: corners where the path begins

  CAROM_INLINE constexpr PathIntLayout(Arena<Memory>& arena, int rows, int contacts,
                                       bool by_columns)
      : place(arena.take(2 * rows + 1)),
        normal(arena.take(contacts)),
        tangent(arena.take(contacts)),
        corner(arena.take(contacts)),
        basic(arena.take(by_columns ? rows : 0)),
        applied(arena.take(by_columns ? rows + 1 : 0)),
        first(arena.take(by_columns ? contacts : 0)) {}
};

/// Room for either order of lines where the padding is a register of four doubles or more.
CAROM_HOST_DEVICE constexpr long path_real_workspace(int dimension, int contacts, int padding = 1) {
  const int rows = dimension * contacts;
  const long of_rows = values_of<PathRealLayout>(rows, padding, false);
  const long of_columns = padding < 4 ? 0 : values_of<PathRealLayout>(rows, padding, true);
  return of_rows > of_columns ? of_rows : of_columns;
}
CAROM_HOST_DEVICE constexpr long path_int_workspace(int dimension, int contacts, int padding = 1) {
  return values_of<PathIntLayout>(dimension * contacts, contacts, padding >= 4);
}

namespace contact_path {

/// What the path's whole numbers are kept in: int where a Lanes type does not name another.
template <class Lanes>
struct Kept {
  using Int = int;
};
template <class Lanes>
requires requires { typename Lanes::PathInt; }
struct Kept<Lanes> {
  using Int = typename Lanes::PathInt;
};

inline constexpr int kMostMaskedRows = 64;  // a bit of a mask each; more are looked at in turn

enum NormalState { kSeparate = 0, kClosed = 1, kFull = 2 };
// Corner: both tangential forces nonbasic. AlongA, AlongB: on the edge at which that force is
// measured. Inside: sticking.
enum TangentState { kCorner = 0, kAlongA = 1, kAlongB = 2, kInside = 3 };
inline constexpr int kNormalEvents = 2;  // of each contact, before its tangential ones
// What leaves where a mode changes, if it is no variable with a row of its own.
inline constexpr int kNothing = -1;
inline constexpr int kRowGiven = -2;

/// A variable, or what is left of it to a bound, as the driving variable moves.
template <class Real>
struct Linear {
  Real value;
  Real rate;
};

/// What is left to the far end of an edge: length lambda_n - f.
template <class Real>
CAROM_INLINE Linear<Real> beyond(Linear<Real> f, Linear<Real> normal, Real length) {
  return {length * normal.value - f.value, length * normal.rate - f.rate};
}

template <int Dim, class Real, class Lanes>
class Tableau {
 protected:
  static constexpr int kTangents = Dim - 1;
  static constexpr Real kRateTolerance = Real(sizeof(Real) == 8 ? 1e-11 : 1e-5);
  static constexpr Real kReal0 = Real(0);
  static constexpr bool kByColumns = by_columns<Lanes>();
  static constexpr int kPadding = row_padding<Lanes>();
  using Int = typename Kept<Lanes>::Int;

  CAROM_HOST_DEVICE Tableau(const Lanes& lanes, int contacts, const FrictionPolygon& polygon,
                            const double* friction, Real* scratch, Int* ints)
      : lanes_(lanes),
        polygon_(polygon),
        friction_(friction),
        m_(contacts),
        rows_(Dim * contacts),
        columns_(kByColumns ? rows_ + 1 : padded(rows_ + 1, kPadding)),
        line_(kByColumns ? padded(rows_, kPadding) : columns_),
        at_(placed<PathRealLayout>(scratch, rows_, kPadding, kByColumns)),
        int_at_(placed<PathIntLayout>(ints, rows_, m_, kByColumns)) {}

  // Pair p: force variable p, velocity variable rows + p; t is 2 rows. place holds the row
  // of a basic variable, or rows + column of a nonbasic one.
  CAROM_INLINE int time_id() const { return 2 * rows_; }
  CAROM_INLINE int velocity_of(int pair) const { return rows_ + pair; }
  CAROM_INLINE int tangent_pair(int contact, int slot) const {
    return m_ + kTangents * contact + slot;
  }
  CAROM_INLINE int column_of(int id) const { return int_at_.place[id] - rows_; }
  CAROM_INLINE Real& at(int i, int j) const {
    return at_
        .tableau[kByColumns ? static_cast<long>(j) * line_ + i : static_cast<long>(i) * line_ + j];
  }
  CAROM_INLINE Real mu(int contact) const { return static_cast<Real>(friction_[contact]); }
  CAROM_INLINE Real edge_length() const { return static_cast<Real>(polygon_.edge); }

  /// Value of a variable and its rate as the driving variable moves.
  CAROM_INLINE Linear<Real> linear(int id, int column) const {
    const int place = int_at_.place[id];
    if (place < rows_) return {at_.x[place], direction_ * at(place, column)};
    if (id == driving_) return {driving_value_, direction_};
    if (id < m_ && int_at_.normal[id] == kFull)
      return {static_cast<Real>(max_impulse_[id]), kReal0};
    return {kReal0, kReal0};
  }

  /// The basic variables, where that of `column` moves by `step`.
  CAROM_INLINE void move(Real step, int column) {
    if constexpr (kByColumns) {
      using Pack = typename Lanes::Register;
      for (int i = 0; i < rows_; i += kPadding) {
        Real* const x = at_.x + i;
        fused(Pack(step), Pack::load(&at(i, column)), Pack::load(x)).store(x);
      }
    } else {
      lanes_.for_each(rows_, [&](int i) { at_.x[i] = fused(step, at(i, column), at_.x[i]); });
    }
  }

  CAROM_INLINE void drive(int id) {
    driving_ = id;
    direction_ = Real(1);
    driving_value_ = kReal0;
  }

  CAROM_INLINE void set(Int* states, int contact, int state) {
    lanes_.for_each(1, [&](int) { states[contact] = state; });
  }

  /// The driving variable becomes basic in the row of `leaving`, which goes to its bound; with
  /// kRowGiven the leaving variable has no row but pivot_row. Afterwards pivot_row holds the
  /// driving variable, and `column` belongs to the leaving one. False where the pivot vanishes.
  CAROM_HOST_DEVICE bool pivot(int leaving, int column) {
    const int row = leaving == kRowGiven ? -1 : int_at_.place[leaving];
    ready(column);
    const auto from = [&](int j) { return row < 0 ? at_.pivot_row[j] : at(row, j); };
    const Real element = from(column);
    if (!(magnitude(element) > kRateTolerance * Real(0.5))) return false;
    const Real inverse = Real(1) / element;
    if constexpr (kByColumns) {
      if (late()) {
        pivot_later(row, column, inverse);
      } else {
        pivot_lines(row, column, inverse);
      }
    } else {
      lanes_.for_each(
          columns_, [&](int j) { at_.pivot_row[j] = j == column ? inverse : -from(j) * inverse; });
      // The pivot column restarts from zero and the leaving row gets no part: no element needs a
      // test.
      lanes_.for_each(rows_, [&](int i) {
        at_.pivot_column[i] = i == row ? kReal0 : at(i, column);
        if (i != row) at(i, column) = kReal0;
      });
      add_outer(lanes_, rows_, columns_, at_.tableau, at_.pivot_column, at_.pivot_row);
      if (row < 0) return true;
      lanes_.for_each(columns_, [&](int j) {
        at(row, j) = at_.pivot_row[j];
        if (j == 0) at_.x[row] = driving_value_;
      });
    }
    if (row < 0) return true;
    lanes_.for_each(1, [&](int) {
      put(driving_, row);
      int_at_.place[leaving] = rows_ + column;
    });
    return true;
  }

  // Large tableaus by columns: most columns are never asked for. What changes all of them is kept,
  // and applied to a column where it is asked for, to the same bits.

  CAROM_INLINE bool late() const {
    if constexpr (kByColumns) return rows_ >= kFewestLateRows;
    return false;
  }

  /// To be called before a column is read or changed by itself.
  CAROM_INLINE void ready(int column) {
    if constexpr (kByColumns) {
      if (late() && int_at_.applied[column] != kept_.count) bring(column);
    }
  }

  /// To be called before a mode changes.
  CAROM_INLINE void make_room() {
    if constexpr (kByColumns) {
      if (!late() || kept_.count + kMostOfMode <= kMostChanges) return;
      for (int j = 0; j < columns_; ++j) ready(j);
      for (int j = 0; j < columns_; ++j) int_at_.applied[j] = 0;
      kept_.count = 0;
    }
  }

  /// Changes rows of all columns; `values` does the same to the basic variables.
  template <ChangeKind Kind, class Values>
  CAROM_INLINE void change_rows(Change<Real> change, Values&& values) {
    if constexpr (kByColumns) {
      if (late()) {
        change.kind = Kind;
        kept_.change[kept_.count++] = change;
        if (Kind == ChangeKind::basic) {  // only the pivot column has seen the pivot
          apply<Kind>(change, change.own, at_.pivot_row[change.own]);
          int_at_.applied[change.own] = kept_.count;
        }
        return values();
      }
    }
    lanes_.for_each(columns_, [&](int j) {
      apply<Kind>(change, j, Kind == ChangeKind::basic ? at_.pivot_row[j] : kReal0);
      if (j == 0) values();
    });
  }

  /// pivot_row receives the driving variable as it is measured from elsewhere, for a pivot.
  template <ChangeKind Kind>
  CAROM_INLINE void give_row(Change<Real> change) {
    if constexpr (kByColumns) {
      if (late()) {
        change.kind = Kind;
        kept_.change[kept_.count] = change;
        at_.pivot_row[change.own] = given<Kind>(change, change.own);
        return;
      }
    }
    lanes_.for_each(columns_, [&](int j) { at_.pivot_row[j] = given<Kind>(change, j); });
  }

  /// Old, in the place of two rows or columns, becomes matrix' old.
  template <class Entry>
  CAROM_INLINE static void combine(const Change<Real>& c, Entry&& entry) {
    Real old[kTangents];
    for (int k = 0; k < kTangents; ++k) old[k] = entry(k);
    for (int k = 0; k < kTangents; ++k) {
      Real sum = kReal0;
      for (int d = 0; d < kTangents; ++d) sum = fused(c.matrix[d][k], old[d], sum);
      entry(k) = sum;
    }
  }

  CAROM_INLINE void exchange_places(int a, int b) {
    const int held = int_at_.place[a];
    put(a, int_at_.place[b]);
    put(b, held);
  }

  /// Those of the rows `first`, ..., a lane of a register each, whose bits are set.
  CAROM_INLINE static auto mask_of(std::uint64_t rows, int first) requires kByColumns {
    using Pack = typename Lanes::Register;
    constexpr unsigned kAll = (1U << kPadding) - 1;
    return decltype(Pack() < Pack())::from_bits(static_cast<unsigned>(rows >> first) & kAll);
  }
  /// The same of one row, or of none (-1).
  CAROM_INLINE static auto mask_of_row(int row, int first) requires kByColumns {
    using Pack = typename Lanes::Register;
    const auto lane = static_cast<unsigned>(row - first);
    return decltype(Pack() < Pack())::from_bits(row >= 0 && lane < kPadding ? 1U << lane : 0U);
  }

  CAROM_INLINE void put(int id, int place) {
    int_at_.place[id] = place;
    if (kByColumns && place < rows_) int_at_.basic[place] = id;
  }

  /// Puts the driving variable into t's row, which ends the path in a basis without t.
  CAROM_HOST_DEVICE bool basic_in_time() {
    if (driving_ == time_id()) return true;
    const int leaving = time_id();
    make_room();
    if (!pivot(leaving, column_of(driving_))) return false;
    driving_ = leaving;
    return true;
  }

  const Lanes& lanes_;
  const FrictionPolygon& polygon_;
  const double* friction_;
  const double* max_impulse_ = nullptr;
  int m_;
  int rows_;
  int columns_;  // rows + 1, padded where lines are rows
  int line_;
  PathRealLayout<Real*> at_;
  PathIntLayout<Int*> int_at_;
  int driving_ = 0;
  Real direction_ = Real(1);
  Real driving_value_ = Real(0);
  const double* matrix_ = nullptr;  ///< A, of late columns
  KeptChanges<Real, kByColumns> kept_;

  /// Column c of the basis E_j of a tangential impulse relative to corner j.
  CAROM_INLINE void corner_basis(int j, Real (&basis)[kTangents][kTangents]) const {
    if constexpr (Dim == 2) {
      basis[0][0] = static_cast<Real>(-polygon_.direction[j][0]);
    } else {
      const int previous = j == 0 ? polygon_.count - 1 : j - 1;
      basis[0][0] = static_cast<Real>(polygon_.along[j][0]);
      basis[1][0] = static_cast<Real>(polygon_.along[j][1]);
      basis[0][1] = static_cast<Real>(-polygon_.along[previous][0]);
      basis[1][1] = static_cast<Real>(-polygon_.along[previous][1]);
    }
  }

 private:
  /// Entry of column j in the row of a variable at this place.
  CAROM_INLINE Real row_entry(int place, int j) const {
    if (place < rows_) return at(place, j);
    return place - rows_ == j ? Real(1) : kReal0;
  }

  template <ChangeKind Kind>
  CAROM_INLINE Real given(const Change<Real>& c, int j) const {
    if constexpr (Kind == ChangeKind::far_end_given) {
      return fused(c.scale, row_entry(c.place[2], j), j == c.own ? Real(-1) : kReal0) +
             (j == c.other ? c.turn : kReal0);
    } else {
      return fused(c.matrix[1][0], row_entry(c.place[0], j),
                   c.matrix[1][1] * row_entry(c.place[1], j)) +
             c.vector[1] * c.scale * row_entry(c.place[2], j);
    }
  }

  /// A change of rows, in column j. pivoted: its entry in pivot_row after the pivot just before.
  template <ChangeKind Kind>
  CAROM_INLINE void apply(const Change<Real>& c, int j, [[maybe_unused]] Real pivoted) const {
    if constexpr (Kind == ChangeKind::far_end) {
      at(c.row, j) = fused(c.scale, row_entry(c.place[2], j), -at(c.row, j)) +
                     (j == c.other ? c.turn : kReal0);
    } else if constexpr (Kind == ChangeKind::edge) {
      const Real ra = at(c.place[0], j);
      const Real rb = at(c.place[1], j);
      const Real rn = c.scale * row_entry(c.place[2], j);
      at(c.place[0], j) = fused(c.matrix[0][0], ra, c.matrix[0][1] * rb) + c.vector[0] * rn;
      at(c.place[1], j) = fused(c.matrix[1][0], ra, c.matrix[1][1] * rb) + c.vector[1] * rn;
    } else if constexpr (Kind == ChangeKind::corner) {
      combine(c, [&](int k) -> Real& { return at(c.place[k], j); });
    } else {
      at(c.row, j) = fused(c.matrix[0][0], at(c.row, j), c.matrix[0][1] * pivoted) +
                     c.vector[0] * c.scale * row_entry(c.place[2], j);
    }
  }

  /// What a column has not seen yet.
  CAROM_CALL void bring(int column) requires kByColumns {
    using Pack = typename Lanes::Register;
    int next = int_at_.applied[column];
    if (next < 0) {
      fill_late(column);
      next = 0;
    }
    const long line = line_;
    Real* const to = at_.tableau + column * line;
    Real entry = kReal0;
    for (; next < kept_.count; ++next) {
      const Change<Real>& change = kept_.change[next];
      if (is_pivot(change.kind)) {
        const Real before = change.kind == ChangeKind::pivot ? to[change.row]
                            : change.kind == ChangeKind::edge_given
                                ? given<ChangeKind::edge_given>(change, column)
                                : given<ChangeKind::far_end_given>(change, column);
        entry = -before * change.inverse;
        add_multiple(line, Pack(entry), at_.factors + next * line, to);
        if (change.kind == ChangeKind::pivot) to[change.row] = entry;
      } else if (change.kind == ChangeKind::far_end) {
        apply<ChangeKind::far_end>(change, column, entry);
      } else if (change.kind == ChangeKind::edge) {
        apply<ChangeKind::edge>(change, column, entry);
      } else if (change.kind == ChangeKind::corner) {
        apply<ChangeKind::corner>(change, column, entry);
      } else {
        apply<ChangeKind::basic>(change, column, entry);
      }
    }
    int_at_.applied[column] = kept_.count;
  }

  /// to += factor from, some registers at a time: nearly all of a late column's work.
  template <class Pack>
  CAROM_INLINE static void add_multiple(long line, Pack factor, const Real* __restrict from,
                                        Real* __restrict to) {
    constexpr int kAtOnce = 4;
    constexpr int kTurn = kAtOnce * kPadding;
    long i = 0;
    for (; i + kTurn <= line; i += kTurn) {
      Pack sum[kAtOnce];
      for (int k = 0; k < kAtOnce; ++k) {
        const long at = i + k * kPadding;
        sum[k] = fused(Pack::load(from + at), factor, Pack::load(to + at));
      }
      for (int k = 0; k < kAtOnce; ++k) sum[k].store(to + i + k * kPadding);
    }
    for (; i < line; i += kPadding) {
      fused(Pack::load(from + i), factor, Pack::load(to + i)).store(to + i);
    }
  }

  /// A column as Start::fill_tableau has it.
  CAROM_INLINE void fill_late(int column) const requires kByColumns {
    const int j = column < m_ ? column : (column - m_) / kTangents;
    Real force[kTangents][kTangents];
    corner_basis(int_at_.first[j], force);
    Real weight[kTangents];  // of the impulse's tangents; of the normal 1, or 0
    for (int c = 0; c < kTangents; ++c) {
      weight[c] = column < m_ ? mu(j) * static_cast<Real>(polygon_.direction[int_at_.first[j]][c])
                              : force[c][(column - m_) % kTangents];
    }
    Real* const to = &at(0, column);
    const double* from = matrix_;
    const int tangent = m_ + kTangents * j;
    for (int i = 0; i < rows_; ++i, from += rows_) {
      Real sum = column < m_ ? fused(from[j], Real(1), kReal0) : kReal0;
      for (int c = 0; c < kTangents; ++c) sum = fused(from[tangent + c], weight[c], sum);
      to[i] = sum;
    }
    for (int i = 0; i < m_; ++i) {
      Real velocity[kTangents][kTangents];
      corner_basis(int_at_.first[i], velocity);
      Real old[kTangents];
      for (int r = 0; r < kTangents; ++r) old[r] = to[m_ + kTangents * i + r];
      for (int slot = 0; slot < kTangents; ++slot) {
        Real sum = kReal0;
        for (int r = 0; r < kTangents; ++r) sum = fused(velocity[r][slot], old[r], sum);
        to[m_ + kTangents * i + slot] = sum;
      }
    }
    for (int i = rows_; i < line_; ++i) to[i] = kReal0;
  }

  /// A pivot of which only the pivot column sees something at once.
  CAROM_INLINE void pivot_later(int row, int column, Real inverse) requires kByColumns {
    using Pack = typename Lanes::Register;
    Change<Real>& change = kept_.change[kept_.count];
    if (row >= 0) change.kind = ChangeKind::pivot;
    change.row = row;
    change.inverse = inverse;
    const int line = line_;
    Real* const __restrict factors = at_.factors + static_cast<long>(kept_.count) * line;
    Real* const __restrict to = &at(0, column);
    if (row >= 0) to[row] = kReal0;
    for (int i = 0; i < line; i += kPadding) {
      const Pack factor = Pack::load(to + i);
      factor.store(factors + i);
      fused(factor, Pack(inverse), Pack(0.0)).store(to + i);
    }
    if (row >= 0) {
      to[row] = inverse;
      at_.x[row] = driving_value_;
      at_.above[row] = upper_bound(driving_);
    }
    at_.pivot_row[column] = inverse;
    int_at_.applied[column] = ++kept_.count;
  }

  /// Every column in registers: plus the pivot column times pivot_row, which becomes the row.
  CAROM_INLINE void pivot_lines(int row, int column, Real inverse) requires kByColumns {
    using Pack = typename Lanes::Register;
    // Nothing that a store might change is read again from memory.
    const int columns = columns_;
    const long line = line_;
    Real* const __restrict entries = at_.pivot_row;
    if (row >= 0) {
      at_.above[row] = upper_bound(driving_);
      const Real* from = at_.tableau + row;
      for (int j = 0; j < columns; ++j, from += line) entries[j] = -*from * inverse;
    } else {
      for (int j = 0; j < columns; ++j) entries[j] = -entries[j] * inverse;
    }
    entries[column] = inverse;
    for (int first = 0; first < line; first += kPadding) {
      const auto own = mask_of_row(row, first);
      Real* __restrict to = at_.tableau + first;
      const Pack factor = select(own, Pack(0.0), Pack::load(to + column * line));
      Pack(0.0).store(to + column * line);
      for (int j = 0; j < columns; ++j, to += line) {
        const Pack entry(entries[j]);
        select(own, entry, fused(factor, entry, Pack::load(to))).store(to);
      }
      Real* const x = at_.x + first;
      select(own, Pack(driving_value_), Pack::load(x)).store(x);
    }
  }

  /// Of a basic variable; 0 where it has none, see Events::mark.
  CAROM_INLINE Real upper_bound(int id) const {
    return id < m_ ? static_cast<Real>(max_impulse_[id]) : kReal0;
  }
};

}  // namespace contact_path
}  // namespace carom::kernels
