#pragma once

#include <carom/kernels/contact_geometry.hpp>
#include <carom/kernels/host_device.hpp>
#include <carom/kernels/lanes.hpp>
#include <carom/kernels/numeric.hpp>

/// Step problem (75) in its reduced form by following one path through the contact modes.
///
/// Unknown is the impulse of each contact, (lambda_n, lambda_t) with 0 <= lambda_n <= lambda_max
/// and lambda_t in mu lambda_n P. The contact velocities u = J v + A lambda are shifted by t c with
/// a fixed covering vector c: for t large the solution is a corner of the bounds, and as t falls to
/// zero the solution follows a line in each combination of modes and changes one contact's mode
/// where a bound is met. Bounded impulses leave the path no way to infinity, so short of a tie it
/// ends at t = 0 with a solution (docs/algorithms/impact.md has the argument).
///
/// Variables come in pairs (force, velocity), one of which is zero or at a bound: normal
/// (lambda_n, u_n), and per tangent direction (a, w) relative to a corner d_j of the polygon:
/// planar lambda_t = d_j (mu lambda_n - a), w = -d_j u_t; spatial
/// lambda_t = mu lambda_n d_j + a e_j - b e_{j-1}, w_a = e_j.u_t, w_b = -e_{j-1}.u_t.
namespace carom::kernels {

CAROM_HOST_DEVICE constexpr long path_real_workspace(int dimension, int contacts, int padding = 1) {
  const long rows = static_cast<long>(dimension) * contacts;
  const long stride = padded(static_cast<int>(rows) + 1, padding);
  return (rows + 2) * stride + 2 * rows;
}
CAROM_HOST_DEVICE constexpr long path_int_workspace(int dimension, int contacts) {
  return 2L * dimension * contacts + 1 + 3L * contacts;
}

/// Further paths that are tried where Lemke's method has failed too.
inline constexpr int kPathAttempts = 3;

struct PathOutcome {
  bool found;
  int pivots;
};

template <int Dim, class Real, class Lanes>
class ContactPath {
  static constexpr int kTangents = Dim - 1;

 public:
  /// `scratch`: path_real_workspace Reals; `ints`: path_int_workspace.
  CAROM_HOST_DEVICE ContactPath(const Lanes& lanes, int contacts, const FrictionPolygon& polygon,
                                const double* friction, Real* scratch, int* ints)
      : lanes_(lanes),
        polygon_(polygon),
        friction_(friction),
        m_(contacts),
        rows_(Dim * contacts),
        columns_(padded(rows_ + 1, row_padding<Lanes>())),
        tableau_(scratch),
        pivot_row_(tableau_ + static_cast<long>(rows_) * columns_),
        combined_(pivot_row_ + columns_),
        pivot_column_(combined_ + columns_),
        x_(pivot_column_ + rows_),
        place_(ints),
        normal_(place_ + 2 * rows_ + 1),
        tangent_(normal_ + m_),
        corner_(tangent_ + m_) {}

  /// A: [rows, rows] and u: [rows], both scaled per contact to unit diagonal; rows are the m
  /// normals, then the tangents in contact order. max_impulse: [m], infinity where unbounded.
  /// impulse: [rows] out. Attempts above 0 start elsewhere and cover with other weights.
  CAROM_HOST_DEVICE PathOutcome run(const double* delassus, const double* u,
                                    const double* max_impulse, int max_pivots, double* impulse,
                                    int attempt = 0) {
    max_impulse_ = max_impulse;
    choose_corner(u, attempt);
    fill_tableau(delassus, u);
    const Real start = cover(attempt);
    int pivots = 0;
    driving_ = time_id();
    if (start > Real(0)) {
      lanes_.for_each(rows_, [&](int i) { x_[i] = fused(at(i, rows_), start, x_[i]); });
      direction_ = Real(-1);
      driving_value_ = start;
      smallest_time_ = kTieTolerance * start;
      bool finished = false;
      while (!finished) {
        if (++pivots > max_pivots) return {false, pivots};
        if (!advance(finished)) return {false, pivots};
      }
    }
    extract(impulse);
    return {true, pivots};
  }

  /// After run: removes from the impulse what rounding left in the velocities that its modes hold
  /// at zero. Residuals are formed in double, the tableau's own inverse turns them into a
  /// correction, so a path followed in float ends with a double's accuracy. False where the last
  /// mode is singular.
  CAROM_HOST_DEVICE bool correct(const double* delassus, const double* u, double* impulse) {
    if (!basic_in_time()) return false;
    lanes_.for_each(rows_, [&](int p) {
      const int place = place_[velocity_of(p)];
      pivot_column_[p] = place < rows_ ? kReal0 : velocity_left(p, delassus, u, impulse);
    });
    lanes_.for_each(m_, [&](int i) {
      const Real normal = force_change(i);
      impulse[i] += static_cast<double>(normal);
      const int j = corner_[i];
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

  /// After run: where contact i ended, see ModeCodes of src/mode_entry.hpp.
  CAROM_INLINE int mode_code(int i) const {
    if (normal_[i] == kSeparate) return 0;
    const int count = polygon_.count;
    const int places = Dim == 2 ? 3 : 2 * count + 1;
    int place = corner_[i];
    if (tangent_[i] == kInside) {
      place = places - 1;
    } else if (tangent_[i] != kCorner) {  // b runs back along the edge before the corner
      place = count + (tangent_[i] == kAlongA ? corner_[i] : (corner_[i] + count - 1) % count);
    }
    return 1 + place + (normal_[i] == kFull ? places : 0);
  }

 private:
  enum NormalState { kSeparate = 0, kClosed = 1, kFull = 2 };
  // Corner: both tangential forces nonbasic. AlongA, AlongB: on the edge at which that force is
  // measured. Inside: sticking.
  enum TangentState { kCorner = 0, kAlongA = 1, kAlongB = 2, kInside = 3 };
  static constexpr int kNormalEvents = 2;  // of each contact, before its tangential ones

  static constexpr Real kRateTolerance = Real(sizeof(Real) == 8 ? 1e-11 : 1e-5);
  static constexpr Real kTieTolerance = Real(sizeof(Real) == 8 ? 1e-13 : 1e-6);
  static constexpr Real kReal0 = Real(0);

  // Pair p: force variable p, velocity variable rows + p; t is 2 rows. place_ holds the row of a
  // basic variable, or rows + column of a nonbasic one.
  CAROM_INLINE int time_id() const { return 2 * rows_; }
  CAROM_INLINE int velocity_of(int pair) const { return rows_ + pair; }
  CAROM_INLINE int tangent_pair(int contact, int slot) const {
    return m_ + kTangents * contact + slot;
  }
  CAROM_INLINE bool basic(int id) const { return place_[id] < rows_; }
  CAROM_INLINE int column_of(int id) const { return place_[id] - rows_; }
  CAROM_INLINE Real& at(int i, int j) const {
    return tableau_[static_cast<long>(i) * columns_ + j];
  }
  CAROM_INLINE Real mu(int contact) const { return static_cast<Real>(friction_[contact]); }
  CAROM_INLINE Real edge_length() const { return static_cast<Real>(polygon_.edge); }

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

  /// change = E_to^-1 E_from, offset = E_to^-1 (d_from - d_to).
  CAROM_INLINE void corner_change(int from, int to, Real (&change)[kTangents][kTangents],
                                  Real (&offset)[kTangents]) const {
    Real source[kTangents][kTangents];
    Real target[kTangents][kTangents];
    corner_basis(from, source);
    corner_basis(to, target);
    const Real dx = static_cast<Real>(polygon_.direction[from][0] - polygon_.direction[to][0]);
    if constexpr (Dim == 2) {
      change[0][0] = source[0][0] * target[0][0];
      offset[0] = dx * target[0][0];
    } else {
      const Real dy = static_cast<Real>(polygon_.direction[from][1] - polygon_.direction[to][1]);
      const Real inverse = Real(1) / (target[0][0] * target[1][1] - target[0][1] * target[1][0]);
      for (int c = 0; c < 2; ++c) {
        change[0][c] = (target[1][1] * source[0][c] - target[0][1] * source[1][c]) * inverse;
        change[1][c] = (target[0][0] * source[1][c] - target[1][0] * source[0][c]) * inverse;
      }
      offset[0] = (target[1][1] * dx - target[0][1] * dy) * inverse;
      offset[1] = (target[0][0] * dy - target[1][0] * dx) * inverse;
    }
  }

  /// Start: approaching contacts at lambda_max, the others at zero, all sliding against u_t.
  CAROM_HOST_DEVICE void choose_corner(const double* u, int attempt) {
    lanes_.for_each(m_, [&](int i) {
      const bool full = attempt == 0 ? u[i] < 0.0 : attempt == 1;
      normal_[i] = full && max_impulse_[i] < kInfinity ? kFull : kSeparate;
      double against[kTangents];
      for (int c = 0; c < kTangents; ++c) against[c] = -u[m_ + kTangents * i + c];
      corner_[i] = nearest_direction<Dim>(polygon_, against);
      tangent_[i] = kCorner;
    });
  }

  CAROM_HOST_DEVICE void fill_tableau(const double* delassus, const double* u) {
    const int rows = rows_;
    // Coefficients of variable `pair` in (its contact's) lambda: at most 1 + kTangents terms.
    const auto terms = [&](int pair, int(&index)[1 + kTangents], Real(&weight)[1 + kTangents],
                           bool force) {
      if (pair < m_) {
        index[0] = pair;
        weight[0] = Real(1);
        if (!force) return 1;
        for (int c = 0; c < kTangents; ++c) {
          index[1 + c] = m_ + kTangents * pair + c;
          weight[1 + c] = mu(pair) * static_cast<Real>(polygon_.direction[corner_[pair]][c]);
        }
        return 1 + kTangents;
      }
      const int contact = (pair - m_) / kTangents;
      const int slot = (pair - m_) % kTangents;
      Real basis[kTangents][kTangents];
      corner_basis(corner_[contact], basis);
      for (int c = 0; c < kTangents; ++c) {
        index[c] = m_ + kTangents * contact + c;
        weight[c] = basis[c][slot];
      }
      return kTangents;
    };
    lanes_.for_each_2d(rows, rows, [&](int i, int j) {
      int row_index[1 + kTangents];
      int column_index[1 + kTangents];
      Real row_weight[1 + kTangents];
      Real column_weight[1 + kTangents];
      const int row_terms = terms(i, row_index, row_weight, false);
      const int column_terms = terms(j, column_index, column_weight, true);
      Real sum = kReal0;
      for (int r = 0; r < row_terms; ++r) {
        Real inner = kReal0;
        for (int c = 0; c < column_terms; ++c) {
          inner = fused(
              static_cast<Real>(delassus[static_cast<long>(row_index[r]) * rows + column_index[c]]),
              column_weight[c], inner);
        }
        sum = fused(row_weight[r], inner, sum);
      }
      at(i, j) = sum;
    });
    lanes_.for_each(rows, [&](int i) {
      int index[1 + kTangents];
      Real weight[1 + kTangents];
      const int count = terms(i, index, weight, false);
      Real value = kReal0;
      for (int r = 0; r < count; ++r)
        value = fused(weight[r], static_cast<Real>(u[index[r]]), value);
      for (int j = 0; j < m_; ++j) {
        if (normal_[j] == kFull) value = fused(at(i, j), static_cast<Real>(max_impulse_[j]), value);
      }
      x_[i] = value;
      place_[i] = rows + i;  // forces nonbasic
      place_[rows + i] = i;  // velocities basic
    });
    lanes_.for_each(1, [&](int) { place_[2 * rows] = rows + rows; });
  }

  /// Fills column t with the covering vector; returns the smallest t at which the corner solves.
  CAROM_HOST_DEVICE Real cover(int attempt) {
    const auto shortfall = [&](int i) {
      const bool upper = i < m_ && normal_[i] == kFull;
      const Real slack = upper ? -x_[i] : x_[i];
      if (i >= m_) {
        const int contact = (i - m_) / kTangents;
        if (normal_[contact] == kSeparate || !(mu(contact) > kReal0)) return kReal0;
      }
      return -slack;
    };
    lanes_.for_each(rows_, [&](int i) {
      for (int j = rows_ + 1; j < columns_; ++j) at(i, j) = kReal0;
      // Irregular weights keep two bounds from being met at once.
      const Real weight = Real(1) +
                          Real(0.3819660112501051) *
                              static_cast<Real>((i * (7 + 2 * attempt) + 3) % 11) / Real(11) +
                          Real(0.013) * static_cast<Real>(i);
      at(i, rows_) = (i < m_ && normal_[i] == kFull) ? -weight : weight;
    });
    const ArgMin<Real> worst = lanes_.argmin(
        rows_, Real(1), [&](int i) { return -shortfall(i) / magnitude(at(i, rows_)); });
    return worst.index < 0 ? kReal0 : -worst.key;
  }

  struct Linear {
    Real value;
    Real rate;
  };

  /// Value of a variable and its rate as the driving variable moves.
  CAROM_INLINE Linear linear(int id, int column) const {
    const int place = place_[id];
    if (place < rows_) return {x_[place], direction_ * at(place, column)};
    if (id == driving_) return {driving_value_, direction_};
    if (id < m_ && normal_[id] == kFull) return {static_cast<Real>(max_impulse_[id]), kReal0};
    return {kReal0, kReal0};
  }

  /// Calls visit(event, slack) for everything that a contact watches in its present mode. Events 0
  /// and 1 are the normal's lower and upper ones, the tangential ones follow.
  template <class Visit>
  CAROM_INLINE void watch(int contact, int column, Visit&& visit) const {
    const int state = normal_[contact];
    const int mode = tangent_[contact];
    if (state == kSeparate) {
      visit(0, linear(velocity_of(contact), column));
      return;
    }
    const bool frictional = mu(contact) > kReal0;
    const Linear normal = linear(contact, column);
    if (state == kFull) {
      const Linear u = linear(velocity_of(contact), column);
      visit(0, Linear{-u.value, -u.rate});
    } else {
      // An impulse within its cone vanishes only at the cone's corner.
      if (!frictional || mode == kCorner) visit(0, normal);
      if (max_impulse_[contact] < kInfinity) {
        visit(1, Linear{static_cast<Real>(max_impulse_[contact]) - normal.value, -normal.rate});
      }
    }
    if (!frictional) return;
    if constexpr (Dim == 2) {
      const int pair = tangent_pair(contact, 0);
      if (mode == kCorner) {
        visit(kNormalEvents, linear(velocity_of(pair), column));
        return;
      }
      const Linear a = linear(pair, column);
      visit(kNormalEvents, a);
      visit(kNormalEvents + 1, beyond(a, normal, mu(contact) * edge_length()));
    } else {
      const int a = tangent_pair(contact, 0);
      const int b = tangent_pair(contact, 1);
      if (mode == kInside) {
        watch_edges(contact, normal, linear(a, column), linear(b, column), visit);
        return;
      }
      if (mode == kCorner) {
        visit(kNormalEvents, linear(velocity_of(a), column));
        visit(kNormalEvents + 1, linear(velocity_of(b), column));
        return;
      }
      const Linear along = linear(mode == kAlongA ? a : b, column);
      visit(kNormalEvents, along);
      visit(kNormalEvents + 1, beyond(along, normal, mu(contact) * edge_length()));
      visit(kNormalEvents + 2, linear(velocity_of(mode == kAlongA ? b : a), column));
    }
  }

  /// What is left to the far end of an edge: length lambda_n - f.
  CAROM_INLINE static Linear beyond(Linear f, Linear normal, Real length) {
    return {length * normal.value - f.value, length * normal.rate - f.rate};
  }

  /// Distances of a sticking impulse from the edges of its cone.
  template <class Visit>
  CAROM_INLINE void watch_edges(int contact, Linear normal, Linear a, Linear b,
                                Visit&& visit) const {
    const int j = corner_[contact];
    Real basis[kTangents][kTangents];
    corner_basis(j, basis);
    const Linear radius{mu(contact) * normal.value, mu(contact) * normal.rate};
    Linear t[2];
    for (int c = 0; c < 2; ++c) {
      const Real d = static_cast<Real>(polygon_.direction[j][c]);
      t[c].value = fused(d, radius.value, fused(basis[c][0], a.value, basis[c][1] * b.value));
      t[c].rate = fused(d, radius.rate, fused(basis[c][0], a.rate, basis[c][1] * b.rate));
    }
    const Real apothem = fused(
        static_cast<Real>(polygon_.along[0][1]), static_cast<Real>(polygon_.direction[0][0]),
        static_cast<Real>(-polygon_.along[0][0]) * static_cast<Real>(polygon_.direction[0][1]));
    for (int i = 0; i < polygon_.count; ++i) {
      const Real nx = static_cast<Real>(polygon_.along[i][1]);
      const Real ny = static_cast<Real>(-polygon_.along[i][0]);
      visit(kNormalEvents + i,
            Linear{apothem * radius.value - fused(nx, t[0].value, ny * t[1].value),
                   apothem * radius.rate - fused(nx, t[0].rate, ny * t[1].rate)});
    }
  }

  CAROM_INLINE static Real step_to(Linear f) {
    return f.rate < -kRateTolerance ? at_least_zero(f.value) / -f.rate
                                    : std::numeric_limits<Real>::infinity();
  }

  /// A contact's next event and how far the driving variable has to move for it.
  CAROM_INLINE ArgMin<Real> next_event(int contact, int column) const {
    ArgMin<Real> best{std::numeric_limits<Real>::infinity(), -1};
    watch(contact, column, [&best](int event, Linear f) {
      const Real step = step_to(f);
      if (step < best.key) best = {step, event};
    });
    return best;
  }

  /// Moves along the path to the next event and changes the mode there.
  CAROM_HOST_DEVICE bool advance(bool& finished) {
    const int column = column_of(driving_);
    const Real infinity = std::numeric_limits<Real>::infinity();
    const ArgMin<Real> first =
        lanes_.argmin(m_, infinity, [&](int i) { return next_event(i, column).key; });
    // t wins a tie.
    const Real to_zero = step_to(linear(time_id(), column));
    const bool arrives = to_zero < infinity && to_zero <= first.key;
    if (!arrives && first.index < 0) return false;
    const Real step = arrives ? to_zero : first.key;
    const int event = arrives ? -1 : next_event(first.index, column).index;
    lanes_.for_each(rows_, [&](int i) { x_[i] = fused(direction_ * step, at(i, column), x_[i]); });
    driving_value_ = fused(direction_, step, driving_value_);
    // A solution on several bounds at once is reached with t: no mode needs to change any more.
    if (arrives || linear(time_id(), column).value <= smallest_time_) {
      finished = true;
      return true;
    }
    return change_mode(first.index, event, column);
  }

  CAROM_HOST_DEVICE bool change_mode(int contact, int e, int column) {
    if (e == 0) return normal_lower_event(contact, column);
    if (e == 1) return normal_upper_event(contact, column);
    const int event = e - kNormalEvents;
    const int mode = tangent_[contact];
    if constexpr (Dim == 2) {
      const int pair = tangent_pair(contact, 0);
      if (mode == kCorner) {  // sliding stops
        if (!exchange(velocity_of(pair), column)) return false;
        set(tangent_, contact, kInside);
        return drive(pair);
      }
      if (event == 1 && driving_ == pair) {
        if (!far_end_driving(contact, 0, 0, column)) return false;
      } else {
        if (event == 1) far_end_basic(contact, 0, 0);
        if (!exchange(pair, column)) return false;
      }
      set(tangent_, contact, kCorner);
      return drive(velocity_of(pair));
    } else {
      if (mode == kInside) return leave_inside(contact, event, column);
      if (mode == kCorner) {
        const int pair = tangent_pair(contact, event);
        if (!exchange(velocity_of(pair), column)) return false;
        set(tangent_, contact, event == 0 ? kAlongA : kAlongB);
        return drive(pair);
      }
      const int active = mode == kAlongA ? 0 : 1;
      const int other = 1 - active;
      if (event == 2) {  // sliding along the edge stops
        if (!exchange(velocity_of(tangent_pair(contact, other)), column)) return false;
        set(tangent_, contact, kInside);
        return drive(tangent_pair(contact, other));
      }
      if (event == 0) {
        if (!exchange(tangent_pair(contact, active), column)) return false;
        set(tangent_, contact, kCorner);
        return drive(velocity_of(tangent_pair(contact, active)));
      }
      // At the far corner the same edge is measured by the other force.
      if (driving_ == tangent_pair(contact, active)) {
        if (!far_end_driving(contact, active, other, column)) return false;
      } else {
        far_end_basic(contact, active, other);
        if (!exchange(tangent_pair(contact, other), column)) return false;
      }
      set(tangent_, contact, kCorner);
      return drive(velocity_of(tangent_pair(contact, other)));
    }
  }

  CAROM_HOST_DEVICE bool normal_lower_event(int contact, int column) {
    const int state = normal_[contact];
    if (state == kClosed) {  // impulse vanishes
      if (driving_ != contact && !exchange(contact, column)) return false;
      set(normal_, contact, kSeparate);
      return drive(velocity_of(contact));
    }
    if (!exchange(velocity_of(contact), column)) return false;
    set(normal_, contact, kClosed);
    if (state == kSeparate) {
      turn_corner(contact);
      return drive(contact);
    }
    driving_ = contact;  // falls from lambda_max
    direction_ = Real(-1);
    driving_value_ = static_cast<Real>(max_impulse_[contact]);
    return true;
  }

  CAROM_HOST_DEVICE bool normal_upper_event(int contact, int column) {
    if (driving_ != contact && !exchange(contact, column)) return false;
    set(normal_, contact, kFull);
    driving_ = velocity_of(contact);
    direction_ = Real(-1);
    driving_value_ = kReal0;
    return true;
  }

  CAROM_INLINE bool drive(int id) {
    driving_ = id;
    direction_ = Real(1);
    driving_value_ = kReal0;
    return true;
  }

  CAROM_INLINE void set(int* states, int contact, int state) {
    lanes_.for_each(1, [&](int) { states[contact] = state; });
  }

  /// The basic variable `leaving` goes to its bound, the driving variable takes its row.
  CAROM_HOST_DEVICE bool exchange(int leaving, int column) {
    const int row = place_[leaving];
    lanes_.for_each(columns_, [&](int j) { pivot_row_[j] = at(row, j); });
    if (!eliminate(column, row)) return false;
    lanes_.for_each(columns_, [&](int j) {
      at(row, j) = pivot_row_[j];
      if (j == 0) {
        x_[row] = driving_value_;
        place_[driving_] = row;
        place_[leaving] = rows_ + column;
      }
    });
    return true;
  }

  /// pivot_row_ holds the leaving variable over the nonbasic ones; afterwards it holds the driving
  /// variable, and `column` belongs to the leaving one in every row but `skip`.
  CAROM_HOST_DEVICE bool eliminate(int column, int skip) {
    const Real element = pivot_row_[column];
    if (!(magnitude(element) > kRateTolerance * Real(0.5))) return false;
    const Real inverse = Real(1) / element;
    // The pivot column restarts from zero and row `skip` gets no part: no element needs a test.
    lanes_.for_each(rows_, [&](int i) {
      pivot_column_[i] = i == skip ? kReal0 : at(i, column);
      if (i != skip) at(i, column) = kReal0;
    });
    lanes_.for_each(
        columns_, [&](int j) { pivot_row_[j] = j == column ? inverse : -pivot_row_[j] * inverse; });
    add_outer(lanes_, rows_, columns_, tableau_, pivot_column_, pivot_row_);
    return true;
  }

  /// Coefficient of column j in weight * (row of variable id).
  CAROM_INLINE Real row_entry(int id, int j) const {
    const int place = place_[id];
    if (place < rows_) return at(place, j);
    return place - rows_ == j ? Real(1) : kReal0;
  }

  /// Measures a basic force from the far end of its edge: the active pair's role passes to `other`
  /// (planar: to itself, at the opposite corner).
  CAROM_HOST_DEVICE void far_end_basic(int contact, int active, int other) {
    const int force = tangent_pair(contact, active);
    const Real length = mu(contact) * edge_length();
    const int row = place_[force];
    relabel_velocity(contact, active, other);
    const Real value = fused(length, linear(contact, 0).value, -x_[row]);
    const Real turn = static_cast<Real>(polygon_.turn);
    const int other_column = Dim == 2 ? -1 : column_of(tangent_pair(contact, other));
    lanes_.for_each(columns_, [&](int j) {
      combined_[j] =
          fused(length, row_entry(contact, j), -at(row, j)) + (j == other_column ? turn : kReal0);
    });
    lanes_.for_each(columns_, [&](int j) {
      at(row, j) = combined_[j];
      if (j == 0) x_[row] = value;
    });
    swap_pair(contact, active, other);
  }

  /// The same where the driving force itself arrives at the far end: its column passes to the
  /// force measured from there.
  CAROM_HOST_DEVICE bool far_end_driving(int contact, int active, int other, int column) {
    const Real length = mu(contact) * edge_length();
    const Real turn = static_cast<Real>(polygon_.turn);
    const int other_column = Dim == 2 ? -1 : column_of(tangent_pair(contact, other));
    lanes_.for_each(columns_, [&](int j) {
      pivot_row_[j] = fused(length, row_entry(contact, j), j == column ? Real(-1) : kReal0) +
                      (j == other_column ? turn : kReal0);
    });
    if (!eliminate(column, -1)) return false;
    relabel_velocity(contact, active, other);
    swap_pair(contact, active, other);
    return true;
  }

  /// Velocities seen from the far end: w_active' = w_other + turn w_active, w_other' = -w_active.
  /// The active one is nonbasic; the other one is basic, or driving where the impulse has just come
  /// to this edge from the inside.
  CAROM_HOST_DEVICE void relabel_velocity(int contact, int active, int other) {
    const int column = column_of(velocity_of(tangent_pair(contact, active)));
    const int other_place = Dim == 2 ? -1 : place_[velocity_of(tangent_pair(contact, other))];
    const Real turn = static_cast<Real>(polygon_.turn);
    if (Dim == 3 && other_place >= rows_) {
      lanes_.for_each(rows_, [&](int i) {
        at(i, column) = fused(turn, at(i, other_place - rows_), -at(i, column));
      });
      driving_ = velocity_of(tangent_pair(contact, active));
      return;
    }
    lanes_.for_each(rows_, [&](int i) {
      at(i, column) = i == other_place ? -at(i, column) - turn : -at(i, column);
    });
  }

  CAROM_HOST_DEVICE void swap_pair(int contact, int active, int other) {
    const int count = polygon_.count;
    lanes_.for_each(1, [&](int) {
      const int j = corner_[contact];
      corner_[contact] = active == 0 ? (j + 1) % count : (j + count - 1) % count;
      if (Dim == 3) {
        exchange_places(tangent_pair(contact, active), tangent_pair(contact, other));
        exchange_places(velocity_of(tangent_pair(contact, active)),
                        velocity_of(tangent_pair(contact, other)));
      }
    });
  }

  CAROM_INLINE void exchange_places(int a, int b) {
    const int held = place_[a];
    place_[a] = place_[b];
    place_[b] = held;
  }

  /// A contact closes: its corner must oppose the velocity it has now.
  CAROM_HOST_DEVICE void turn_corner(int contact) {
    if (!(mu(contact) > kReal0)) return;
    const int from = corner_[contact];
    Real basis[kTangents][kTangents];
    corner_basis(from, basis);
    double against[kTangents];
    velocity_against(contact, basis, against);
    const int to = nearest_direction<Dim>(polygon_, against);
    if (to == from) return;
    Real change[kTangents][kTangents];  // E_from^-1 E_to
    Real offset[kTangents];             // E_from^-1 (d_to - d_from)
    corner_change(to, from, change, offset);
    const Real friction = mu(contact);
    const int normal_column = column_of(contact);
    int column[kTangents];
    int row[kTangents];
    for (int c = 0; c < kTangents; ++c) {
      column[c] = column_of(tangent_pair(contact, c));
      row[c] = place_[velocity_of(tangent_pair(contact, c))];
    }
    // lambda_t = mu lambda_n d_from + E_from a_from = mu lambda_n d_to + E_to a_to.
    lanes_.for_each(rows_, [&](int i) {
      Real old[kTangents];
      for (int c = 0; c < kTangents; ++c) old[c] = at(i, column[c]);
      Real sum = at(i, normal_column);
      for (int c = 0; c < kTangents; ++c) {
        Real entry = kReal0;
        for (int d = 0; d < kTangents; ++d) entry = fused(old[d], change[d][c], entry);
        at(i, column[c]) = entry;
        sum = fused(old[c], friction * offset[c], sum);
      }
      at(i, normal_column) = sum;
    });
    const auto combine = [&](auto&& entry) {
      Real old[kTangents];
      for (int c = 0; c < kTangents; ++c) old[c] = entry(c);
      for (int c = 0; c < kTangents; ++c) {
        Real sum = kReal0;
        for (int d = 0; d < kTangents; ++d) sum = fused(change[d][c], old[d], sum);
        entry(c) = sum;
      }
    };
    lanes_.for_each(columns_ + 1, [&](int j) {
      if (j < columns_) {
        combine([&](int c) -> Real& { return at(row[c], j); });
      } else {
        combine([&](int c) -> Real& { return x_[row[c]]; });
      }
    });
    set(corner_, contact, to);
  }

  /// -u_t of a contact whose tangential velocities are basic.
  CAROM_INLINE void velocity_against(int contact, const Real (&basis)[kTangents][kTangents],
                                     double (&against)[kTangents]) const {
    if constexpr (Dim == 2) {
      against[0] = -basis[0][0] * x_[place_[velocity_of(tangent_pair(contact, 0))]];
    } else {  // w = E' u_t
      const Real wa = x_[place_[velocity_of(tangent_pair(contact, 0))]];
      const Real wb = x_[place_[velocity_of(tangent_pair(contact, 1))]];
      const Real inverse = Real(1) / (basis[0][0] * basis[1][1] - basis[0][1] * basis[1][0]);
      against[0] = -(basis[1][1] * wa - basis[1][0] * wb) * inverse;
      against[1] = -(basis[0][0] * wb - basis[0][1] * wa) * inverse;
    }
  }

  /// A sticking impulse reaches edge `edge`: measure it from that edge's corner, where b = 0.
  CAROM_HOST_DEVICE bool leave_inside(int contact, int edge, int column) {
    Real change[kTangents][kTangents];
    Real offset[kTangents];
    corner_change(corner_[contact], edge, change, offset);
    const Real friction = mu(contact);
    const int a = tangent_pair(contact, 0);
    const int b = tangent_pair(contact, 1);
    const Real a_value = linear(a, column).value;
    const Real b_value = linear(b, column).value;
    const Real n_value = linear(contact, column).value;
    const auto value = [&](int c) {
      return fused(change[c][0], a_value, change[c][1] * b_value) + friction * offset[c] * n_value;
    };
    // Velocities w_from = change' w_to.
    const int wa_column = column_of(velocity_of(a));
    const int wb_column = column_of(velocity_of(b));
    const auto turn_velocities = [&] {
      lanes_.for_each(rows_, [&](int i) {
        const Real wa = at(i, wa_column);
        const Real wb = at(i, wb_column);
        at(i, wa_column) = fused(change[0][0], wa, change[0][1] * wb);
        at(i, wb_column) = fused(change[1][0], wa, change[1][1] * wb);
      });
    };
    if (driving_ != a && driving_ != b) {
      turn_velocities();
      const int a_row = place_[a];
      const int b_row = place_[b];
      const Real new_a = value(0);
      const Real new_b = value(1);
      lanes_.for_each(columns_, [&](int j) {
        const Real ra = at(a_row, j);
        const Real rb = at(b_row, j);
        const Real rn = friction * row_entry(contact, j);
        at(a_row, j) = fused(change[0][0], ra, change[0][1] * rb) + offset[0] * rn;
        at(b_row, j) = fused(change[1][0], ra, change[1][1] * rb) + offset[1] * rn;
        if (j == 0) {
          x_[a_row] = new_a;
          x_[b_row] = new_b;
        }
      });
      if (!exchange(b, column)) return false;
    } else {
      // The driving force's column passes to b of the new corner; the basic one's row to a.
      const int basic_force = driving_ == a ? b : a;
      const int row = place_[basic_force];
      lanes_.for_each(columns_, [&](int j) {
        pivot_row_[j] = fused(change[1][0], row_entry(a, j), change[1][1] * row_entry(b, j)) +
                        offset[1] * friction * row_entry(contact, j);
      });
      if (!eliminate(column, -1)) return false;
      const Real new_a = value(0);
      const Real of_basic = basic_force == a ? change[0][0] : change[0][1];
      const Real of_driving = basic_force == a ? change[0][1] : change[0][0];
      lanes_.for_each(columns_, [&](int j) {
        combined_[j] = fused(of_basic, at(row, j), of_driving * pivot_row_[j]) +
                       offset[0] * friction * row_entry(contact, j);
      });
      lanes_.for_each(columns_, [&](int j) {
        at(row, j) = combined_[j];
        if (j == 0) {
          x_[row] = new_a;
          place_[a] = row;
          place_[b] = rows_ + column;
        }
      });
      turn_velocities();
    }
    set(corner_, contact, edge);
    set(tangent_, contact, kAlongA);
    return drive(velocity_of(b));
  }

  /// Puts the driving variable into t's row, which ends the path in a basis without t.
  CAROM_HOST_DEVICE bool basic_in_time() {
    if (driving_ == time_id()) return true;
    const int leaving = time_id();
    if (!exchange(leaving, column_of(driving_))) return false;
    driving_ = leaving;
    return true;
  }

  /// What the impulse leaves of velocity variable p.
  CAROM_INLINE Real velocity_left(int p, const double* delassus, const double* u,
                                  const double* impulse) const {
    const auto row = [&](int i) {
      double sum = u[i];
      for (int j = 0; j < rows_; ++j) {
        sum = fused(delassus[static_cast<long>(i) * rows_ + j], impulse[j], sum);
      }
      return sum;
    };
    if (p < m_) return static_cast<Real>(row(p));
    const int contact = (p - m_) / kTangents;
    Real basis[kTangents][kTangents];
    corner_basis(corner_[contact], basis);
    double sum = 0.0;
    for (int c = 0; c < kTangents; ++c) {
      sum = fused(static_cast<double>(basis[c][(p - m_) % kTangents]),
                  row(m_ + kTangents * contact + c), sum);
    }
    return static_cast<Real>(sum);
  }

  /// Change of force variable `id` that cancels the velocities in pivot_column_.
  CAROM_INLINE Real force_change(int id) const {
    const int row = place_[id];
    if (row >= rows_) return kReal0;
    Real sum = kReal0;
    for (int p = 0; p < rows_; ++p) {
      const int place = place_[velocity_of(p)];
      if (place >= rows_) sum = fused(-at(row, place - rows_), pivot_column_[p], sum);
    }
    return sum;
  }

  CAROM_HOST_DEVICE void extract(double* impulse) const {
    lanes_.for_each(m_, [&](int i) {
      const auto force = [&](int id) -> double {
        const int place = place_[id];
        if (id == driving_) return static_cast<double>(at_least_zero(driving_value_));
        if (place < rows_) return static_cast<double>(at_least_zero(x_[place]));
        return id < m_ && normal_[id] == kFull ? max_impulse_[id] : 0.0;
      };
      double normal = force(i);
      if (normal > max_impulse_[i]) normal = max_impulse_[i];
      impulse[i] = normal;
      const double limit = friction_[i] * normal;
      const int j = corner_[i];
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
    });
  }

  const Lanes& lanes_;
  const FrictionPolygon& polygon_;
  const double* friction_;
  const double* max_impulse_ = nullptr;
  int m_;
  int rows_;
  int columns_;         // rows + 1, padded
  Real* tableau_;       // [rows, columns]
  Real* pivot_row_;     // [columns]
  Real* combined_;      // [columns]
  Real* pivot_column_;  // [rows]
  Real* x_;             // [rows] values of the basic variables
  int* place_;          // [2 rows + 1]
  int* normal_;         // [m]
  int* tangent_;        // [m]
  int* corner_;         // [m]
  int driving_ = 0;
  Real direction_ = Real(1);
  Real driving_value_ = Real(0);
  Real smallest_time_ = Real(0);
};

}  // namespace carom::kernels
