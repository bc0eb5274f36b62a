#pragma once

#include <carom/device/arena.hpp>
#include <carom/device/contact_geometry.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/lanes.hpp>
#include <carom/device/numeric.hpp>

/// The tableau of the path in contact_path_body.hpp: its memory, its variables, and a pivot.
namespace carom::kernels {

/// columns: rows + 1, padded.
template <class Memory>
struct PathRealLayout {
  Memory tableau;
  Memory pivot_row;
  Memory pivot_column;
  Memory x;  ///< values of the basic variables

  CAROM_INLINE constexpr PathRealLayout(Arena<Memory>& arena, long rows, long columns)
      : tableau(arena.take(rows * columns)),
        pivot_row(arena.take(columns)),
        pivot_column(arena.take(rows)),
        x(arena.take(rows)) {}
};
template <class Memory>
struct PathIntLayout {
  Memory place;
  Memory normal;
  Memory tangent;
  Memory corner;

  CAROM_INLINE constexpr PathIntLayout(Arena<Memory>& arena, long rows, long contacts)
      : place(arena.take(2 * rows + 1)),
        normal(arena.take(contacts)),
        tangent(arena.take(contacts)),
        corner(arena.take(contacts)) {}
};

CAROM_HOST_DEVICE constexpr long path_real_workspace(int dimension, int contacts, int padding = 1) {
  const int rows = dimension * contacts;
  return values_of<PathRealLayout>(rows, padded(rows + 1, padding));
}
CAROM_HOST_DEVICE constexpr long path_int_workspace(int dimension, int contacts) {
  return values_of<PathIntLayout>(dimension * contacts, contacts);
}

namespace contact_path {

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

  CAROM_HOST_DEVICE Tableau(const Lanes& lanes, int contacts, const FrictionPolygon& polygon,
                            const double* friction, Real* scratch, int* ints)
      : lanes_(lanes),
        polygon_(polygon),
        friction_(friction),
        m_(contacts),
        rows_(Dim * contacts),
        columns_(padded(rows_ + 1, row_padding<Lanes>())),
        at_(placed<PathRealLayout>(scratch, rows_, columns_)),
        int_at_(placed<PathIntLayout>(ints, rows_, m_)) {}

  // Pair p: force variable p, velocity variable rows + p; t is 2 rows. place holds the row
  // of a basic variable, or rows + column of a nonbasic one.
  CAROM_INLINE int time_id() const { return 2 * rows_; }
  CAROM_INLINE int velocity_of(int pair) const { return rows_ + pair; }
  CAROM_INLINE int tangent_pair(int contact, int slot) const {
    return m_ + kTangents * contact + slot;
  }
  CAROM_INLINE int column_of(int id) const { return int_at_.place[id] - rows_; }
  CAROM_INLINE Real& at(int i, int j) const {
    return at_.tableau[static_cast<long>(i) * columns_ + j];
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

  CAROM_INLINE void drive(int id) {
    driving_ = id;
    direction_ = Real(1);
    driving_value_ = kReal0;
  }

  CAROM_INLINE void set(int* states, int contact, int state) {
    lanes_.for_each(1, [&](int) { states[contact] = state; });
  }

  /// The driving variable becomes basic in the row of `leaving`, which goes to its bound; with
  /// kRowGiven the leaving variable has no row but pivot_row. Afterwards pivot_row holds the
  /// driving variable, and `column` belongs to the leaving one. False where the pivot vanishes.
  CAROM_HOST_DEVICE bool pivot(int leaving, int column) {
    const int row = leaving == kRowGiven ? -1 : int_at_.place[leaving];
    const Real* const from = row < 0 ? &at_.pivot_row[0] : &at(row, 0);
    const Real element = from[column];
    if (!(magnitude(element) > kRateTolerance * Real(0.5))) return false;
    const Real inverse = Real(1) / element;
    // The pivot column restarts from zero and the leaving row gets no part: no element needs a
    // test.
    lanes_.for_each(rows_, [&](int i) {
      at_.pivot_column[i] = i == row ? kReal0 : at(i, column);
      if (i != row) at(i, column) = kReal0;
    });
    lanes_.for_each(columns_,
                    [&](int j) { at_.pivot_row[j] = j == column ? inverse : -from[j] * inverse; });
    add_outer(lanes_, rows_, columns_, at_.tableau, at_.pivot_column, at_.pivot_row);
    if (row < 0) return true;
    lanes_.for_each(columns_, [&](int j) {
      at(row, j) = at_.pivot_row[j];
      if (j == 0) {
        at_.x[row] = driving_value_;
        int_at_.place[driving_] = row;
        int_at_.place[leaving] = rows_ + column;
      }
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
    int_at_.place[a] = int_at_.place[b];
    int_at_.place[b] = held;
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
  int columns_;  // rows + 1, padded
  PathRealLayout<Real*> at_;
  PathIntLayout<int*> int_at_;
  int driving_ = 0;
  Real direction_ = Real(1);
  Real driving_value_ = Real(0);
};

}  // namespace contact_path
}  // namespace carom::kernels
