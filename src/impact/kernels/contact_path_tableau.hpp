#pragma once

#include <carom/device/arena.hpp>
#include <carom/device/contact_geometry.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/lanes.hpp>
#include <carom/device/numeric.hpp>
#include <cstdint>

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
  Memory x;      ///< values of the basic variables
  Memory above;  ///< by columns: upper bounds of the basic variables

  CAROM_INLINE constexpr PathRealLayout(Arena<Memory>& arena, int rows, int padding,
                                        bool by_columns)
      : tableau(arena.take(long{by_columns ? rows + 1 : rows} *
                           padded(by_columns ? rows : rows + 1, padding))),
        pivot_row(arena.take(padded(rows + 1, padding))),
        pivot_column(arena.take(by_columns ? padded(rows, padding) : rows)),
        x(arena.take(by_columns ? padded(rows, padding) : rows)),
        above(arena.take(by_columns ? padded(rows, padding) : 0)) {}
};
template <class Memory>
struct PathIntLayout {
  Memory place;
  Memory normal;
  Memory tangent;
  Memory corner;
  Memory basic;  ///< by columns: the variable of each row

  CAROM_INLINE constexpr PathIntLayout(Arena<Memory>& arena, int rows, int contacts,
                                       bool by_columns)
      : place(arena.take(2 * rows + 1)),
        normal(arena.take(contacts)),
        tangent(arena.take(contacts)),
        corner(arena.take(contacts)),
        basic(arena.take(by_columns ? rows : 0)) {}
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
    const auto from = [&](int j) { return row < 0 ? at_.pivot_row[j] : at(row, j); };
    const Real element = from(column);
    if (!(magnitude(element) > kRateTolerance * Real(0.5))) return false;
    const Real inverse = Real(1) / element;
    if constexpr (kByColumns) {
      pivot_lines(row, column, inverse);
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

  /// Coefficient of column j in weight * (row of variable id).
  CAROM_INLINE Real row_entry(int id, int j) const {
    const int place = int_at_.place[id];
    if (place < rows_) return at(place, j);
    return place - rows_ == j ? Real(1) : kReal0;
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

 private:
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
