#pragma once

#include <limits>

#include "impact/kernels/contact_path_events.hpp"

/// Step problem (75) in its reduced form by following one path through the contact modes.
///
/// Unknown is the impulse of each contact, (lambda_n, lambda_t) with 0 <= lambda_n <= lambda_max
/// and lambda_t in mu lambda_n P. The contact velocities u = J v + A lambda are shifted by t c with
/// a fixed covering vector c: for t large the solution is a corner of the bounds, and as t falls to
/// zero the solution follows a line in each combination of modes and changes one contact's mode
/// where a bound is met. Bounded impulses leave the path no way to infinity, so short of a tie it
/// ends at t = 0 with a solution (docs/explanation/impact.md has the argument).
///
/// Variables come in pairs (force, velocity), one of which is zero or at a bound: normal
/// (lambda_n, u_n), and per tangent direction (a, w) relative to a corner d_j of the polygon:
/// planar lambda_t = d_j (mu lambda_n - a), w = -d_j u_t; spatial
/// lambda_t = mu lambda_n d_j + a e_j - b e_{j-1}, w_a = e_j.u_t, w_b = -e_{j-1}.u_t.
namespace carom::kernels {

/// Further paths that are tried where Lemke's method has failed too.
inline constexpr int kPathAttempts = 3;

struct PathOutcome {
  bool found;
  int pivots;
};
enum class PathProgress { running, arrived, lost };

namespace contact_path {

/// The path itself: its public calls, the normals' modes, and what it leaves behind.
template <int Dim, class Real, class Lanes>
class ContactPath : protected Events<Dim, Real, Lanes> {
  using Base = Events<Dim, Real, Lanes>;

 public:
  /// `scratch`: path_real_workspace Reals; `ints`: path_int_workspace.
  CAROM_HOST_DEVICE ContactPath(const Lanes& lanes, int contacts, const FrictionPolygon& polygon,
                                const double* friction, Real* scratch,
                                typename Kept<Lanes>::Int* ints)
      : Base(lanes, contacts, polygon, friction, scratch, ints) {}

  /// A: [rows, rows], read by entry(), and u: [rows], both scaled per contact to unit diagonal;
  /// rows are the m normals, then the tangents in contact order. max_impulse: [m], infinity where
  /// unbounded. impulse: [rows] out. Attempts above 0 start elsewhere and cover with other weights.
  template <class Matrix>
  CAROM_HOST_DEVICE PathOutcome run(const Matrix& delassus, const double* u,
                                    const double* max_impulse, int max_pivots, double* impulse,
                                    int attempt = 0) {
    PathProgress progress = begin(delassus, u, max_impulse, attempt);
    int pivots = 0;
    while (progress == PathProgress::running) {
      if (++pivots > max_pivots) return {false, pivots};
      progress = advance();
    }
    if (progress == PathProgress::lost) return {false, pivots};
    extract(impulse);
    return {true, pivots};
  }

  /// The same in parts: to the path's beginning, along one of its lines, and the impulse at its
  /// end.
  template <class Matrix>
  CAROM_HOST_DEVICE PathProgress begin(const Matrix& delassus, const double* u,
                                       const double* max_impulse, int attempt) {
    max_impulse_ = max_impulse;
    choose_corner(delassus, u, attempt);
    fill_tableau(delassus, u);
    const Real start = cover(attempt);
    const PathProgress progress = depart(start);
    if (progress == PathProgress::running) {
      this->move(start, rows_);
      if constexpr (Base::kByColumns) {
        if (this->at_once()) this->mark_all();
      }
    }
    return progress;
  }

  CAROM_HOST_DEVICE PathProgress advance() {
    const int column = column_of(driving_);
    ready(column);
    const ArgMin<Real> first = first_event(column);
    // t wins a tie.
    const Real to_zero = step_to(linear(time_id(), column));
    const bool arrives = to_zero < Base::kNever && to_zero <= first.key;
    if (!arrives && first.index < 0) return PathProgress::lost;
    const Real step = arrives ? to_zero : first.key;
    this->move(direction_ * step, column);
    driving_value_ = fused(direction_, step, driving_value_);
    // A solution on several bounds at once is reached with t: no mode needs to change any more.
    if (arrives || linear(time_id(), column).value <= smallest_time_) return PathProgress::arrived;
    return change_mode(first.index / kMostEvents, first.index % kMostEvents, column)
               ? PathProgress::running
               : PathProgress::lost;
  }

  CAROM_HOST_DEVICE void extract(double* impulse) const {
    lanes_.for_each(m_, [&](int i) { extract_contact(i, impulse); });
  }

  /// After run: removes from the impulse what rounding left in the velocities that its modes hold
  /// at zero. Residuals are formed in double, the tableau's own inverse turns them into a
  /// correction, so a path followed in float ends with a double's accuracy. False where the last
  /// mode is singular.
  template <class Matrix>
  CAROM_HOST_DEVICE bool correct(const Matrix& delassus, const double* u, double* impulse) {
    if (!basic_in_time()) return false;
    if (late()) {
      for (int p = 0; p < rows_; ++p) {
        const int place = int_at_.place[velocity_of(p)];
        if (place >= rows_) ready(place - rows_);
      }
    }
    lanes_.for_each(rows_, [&](int p) {
      const int place = int_at_.place[velocity_of(p)];
      at_.pivot_column[p] = place < rows_ ? kReal0 : velocity_left(p, delassus, u, impulse);
    });
    lanes_.for_each(m_, [&](int i) {
      const Real normal = force_change(i);
      impulse[i] += static_cast<double>(normal);
      const int j = int_at_.corner[i];
      Real basis[kTangents][kTangents];
      corner_basis(j, basis);
      for (int c = 0; c < kTangents; ++c) {
        double sum = friction_[i] * static_cast<double>(normal) * polygon_.direction[j][c];
        for (int slot = 0; slot < kTangents; ++slot) {
          sum = fused(static_cast<double>(basis[c][slot]),
                      static_cast<double>(force_change(tangent_pair(i, slot))), sum);
        }
        impulse[m_ + kTangents * i + c] += sum;
      }
    });
    return true;
  }

  /// After run: where contact i ended, see ModeCodes of src/impact/mode_entry.hpp.
  CAROM_INLINE int mode_code(int i) const {
    if (int_at_.normal[i] == kSeparate) return 0;
    const int count = polygon_.count;
    const int places = Dim == 2 ? 3 : 2 * count + 1;
    int place = int_at_.corner[i];
    if (int_at_.tangent[i] == kInside) {
      place = places - 1;
    } else if (int_at_.tangent[i] != kCorner) {  // b runs back along the edge before the corner
      place = count + (int_at_.tangent[i] == kAlongA ? int_at_.corner[i]
                                                     : (int_at_.corner[i] + count - 1) % count);
    }
    return 1 + place + (int_at_.normal[i] == kFull ? places : 0);
  }

 protected:
  using Base::at, Base::at_, Base::basic_in_time, Base::choose_corner, Base::column_of,
      Base::corner_basis, Base::cover, Base::direction_, Base::drive, Base::driving_,
      Base::driving_value_, Base::fill_tableau, Base::first_event, Base::friction_, Base::int_at_,
      Base::kMostEvents, Base::kRateTolerance, Base::kReal0, Base::kTangents, Base::lanes_,
      Base::late, Base::linear, Base::m_, Base::make_room, Base::max_impulse_, Base::mu,
      Base::pivot, Base::polygon_, Base::ready, Base::rows_, Base::set, Base::step_to,
      Base::tangent_pair, Base::time_id, Base::turn_corner, Base::velocity_of;
  static constexpr Real kTieTolerance = Real(sizeof(Real) == 8 ? 1e-13 : 1e-6);

  /// Along the first line, from t = start.
  CAROM_INLINE PathProgress depart(Real start) {
    driving_ = time_id();
    if (!(start > Real(0))) return PathProgress::arrived;
    direction_ = Real(-1);
    driving_value_ = start;
    smallest_time_ = kTieTolerance * start;
    return PathProgress::running;
  }

  CAROM_INLINE void extract_contact(int i, double* impulse) const {
    const auto force = [&](int id) -> double {
      const int place = int_at_.place[id];
      if (id == driving_) return static_cast<double>(at_least_zero(driving_value_));
      if (place < rows_) return static_cast<double>(at_least_zero(at_.x[place]));
      return id < m_ && int_at_.normal[id] == kFull ? max_impulse_[id] : 0.0;
    };
    double normal = force(i);
    if (normal > max_impulse_[i]) normal = max_impulse_[i];
    impulse[i] = normal;
    const double limit = friction_[i] * normal;
    const int j = int_at_.corner[i];
    for (int c = 0; c < kTangents; ++c) {
      double sum = limit * polygon_.direction[j][c];
      if (normal > 0.0 && friction_[i] > 0.0) {
        Real basis[kTangents][kTangents];
        corner_basis(j, basis);
        for (int slot = 0; slot < kTangents; ++slot) {
          sum = fused(static_cast<double>(basis[c][slot]), force(tangent_pair(i, slot)), sum);
        }
      }
      impulse[m_ + kTangents * i + c] = sum;
    }
  }

  CAROM_HOST_DEVICE bool change_mode(int contact, int event, int column) {
    [[maybe_unused]] const int driven = driving_;
    make_room();
    const int leaving = event < kNormalEvents
                            ? normal_leaving(contact, event)
                            : this->prepare_tangent(contact, event - kNormalEvents, column);
    if (leaving != kNothing && !pivot(leaving, column)) return false;
    if (event < kNormalEvents) {
      conclude_normal(contact, event);
    } else {
      this->conclude_tangent(contact, event - kNormalEvents, column);
    }
    if constexpr (Base::kByColumns) {
      if (this->at_once()) {
        this->mark(contact);
        if (leaving != kNothing) this->mark_owner(driven, contact);
      }
    }
    return true;
  }

  /// What leaves where a contact closes, opens, or meets or leaves lambda_max.
  CAROM_INLINE int normal_leaving(int contact, int event) const {
    if (event == 0 && int_at_.normal[contact] != kClosed) return velocity_of(contact);
    return driving_ == contact ? kNothing : contact;
  }

  CAROM_HOST_DEVICE void conclude_normal(int contact, int event) {
    const int before = int_at_.normal[contact];
    if (event == 1) {
      set(int_at_.normal, contact, kFull);
      driving_ = velocity_of(contact);
      direction_ = Real(-1);
      driving_value_ = kReal0;
    } else if (before == kClosed) {  // its impulse vanishes
      set(int_at_.normal, contact, kSeparate);
      drive(velocity_of(contact));
    } else {
      set(int_at_.normal, contact, kClosed);
      if (before == kSeparate) {
        turn_corner(contact);
        drive(contact);
      } else {
        driving_ = contact;  // falls from lambda_max
        direction_ = Real(-1);
        driving_value_ = static_cast<Real>(max_impulse_[contact]);
      }
    }
  }

  /// What the impulse leaves of velocity variable p.
  template <class Matrix>
  CAROM_INLINE Real velocity_left(int p, const Matrix& delassus, const double* u,
                                  const double* impulse) const {
    const auto row = [&](int i) {
      double sum = u[i];
      for (int j = 0; j < rows_; ++j) {
        sum = fused(entry(delassus, rows_, i, j), impulse[j], sum);
      }
      return sum;
    };
    if (p < m_) return static_cast<Real>(row(p));
    const int contact = (p - m_) / kTangents;
    Real basis[kTangents][kTangents];
    corner_basis(int_at_.corner[contact], basis);
    double sum = 0.0;
    for (int c = 0; c < kTangents; ++c) {
      sum = fused(static_cast<double>(basis[c][(p - m_) % kTangents]),
                  row(m_ + kTangents * contact + c), sum);
    }
    return static_cast<Real>(sum);
  }

  /// Change of force variable `id` that cancels the velocities in pivot_column.
  CAROM_INLINE Real force_change(int id) const {
    const int row = int_at_.place[id];
    if (row >= rows_) return kReal0;
    Real sum = kReal0;
    for (int p = 0; p < rows_; ++p) {
      const int place = int_at_.place[velocity_of(p)];
      if (place >= rows_) sum = fused(-at(row, place - rows_), at_.pivot_column[p], sum);
    }
    return sum;
  }

  Real smallest_time_ = Real(0);
};

}  // namespace contact_path

using contact_path::ContactPath;

}  // namespace carom::kernels
