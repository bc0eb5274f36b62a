#pragma once

#include <carom/device/numeric.hpp>

#include "compliant/kernels/contact_newton_rows.hpp"
#include "compliant/kernels/contact_pack_system.hpp"

/// Newton's method of compliant_contact.hpp for few rows, on packs of systems whose rows have the
/// same types: no branch depends on a number. Gaussian elimination takes the pivots in order, which
/// is safe since W is positive definite, except in a wedged sliding mode. The caller must check the
/// answer and use ContactNewton if it is not accurate.
namespace carom::kernels {

// Of Newton's method: the floor that rounding leaves to the residual, relative, ...
inline constexpr double kNewtonFloor = 1e-10;
// ... the residual at which a first guess is worth little: sweeps then find most modes more
// cheaply, ...
inline constexpr double kNewtonPoor = 0.1;
inline constexpr int kNewtonSweeps = 5;
// ... and the steps after which those that go round in circles are swept once more.
inline constexpr int kNewtonPatience = 10;

/// V: double, or a pack of them. kContacts: where all rows are those of so many spatial contacts,
/// known to the compiler; 0 where not.
template <class V, class Memory, int kContacts = 0>
class ContactNewtonPack {
  static constexpr int kRows = 3 * kContacts;
  using Values = typename RowValues<V, Memory, kRows>::Type;
  using Pivots = typename RowValues<V, Memory, 3 * kRows>::Type;
  static constexpr bool kUnrolled = kRows > 0 && sizeof(V) > sizeof(double);  // pays for packs

 public:
  CAROM_INLINE ContactNewtonPack(const ContactPackSystem<Memory>& system, const Memory& scratch)
      : s_(system), upper_(scratch) {
    if constexpr (kRows == 0) {
      const auto at = placed<ContactPackLayout>(scratch, n());
      weight_ = at.weight;
      force_ = at.force;
      slip_ = at.slip;
      step_ = at.step;
      best_ = at.best;
      pivot_ = at.pivot;
    }
  }

  /// impulse: p, [rows], in: first guess, out: the best found. Full Newton steps until max|p - Pi(p
  /// - rho F)| is `accuracy` times max|rho u|, or does not fall below the floor that rounding
  /// leaves. Returns the number of steps of each lane.
  CAROM_HOST_DEVICE V solve(const Memory& impulse, double accuracy, int max_iterations) {
    if constexpr (kRows > 0) {
      return run(impulse, accuracy, max_iterations);
    } else {
      ContactNewtonPack own = *this;  // which stores of packs cannot change
      return own.run(impulse, accuracy, max_iterations);
    }
  }

 private:
  static constexpr int kLateSweeps = 8;

  template <class, class, int>
  friend class ContactNewtonPair;

  CAROM_INLINE V run(const Memory& impulse, double accuracy, int max_iterations) {
    start(impulse, accuracy);
    if (any_of(chosen_ > V(0.0))) {
      for (int turn = 0; turn < kNewtonSweeps; ++turn) sweep();
      settle();
    }
    for (int turn = 0; turn < max_iterations && any_of(running_ > V(0.0)); ++turn) {
      if (turn == kNewtonPatience) {
        choose_late();
        for (int k = 0; k < kLateSweeps; ++k) sweep();
        natural_residual();
      }
      newton_step();
      accept();
    }
    for (int i = 0; i < n(); ++i) impulse[i] = best_[i];
    return iterations_;
  }

  /// Chooses the lanes that shall be swept before Newton's method.
  CAROM_INLINE void start(const Memory& impulse, double accuracy) {
    if constexpr (kRows > 0) {
      for (int i = 0; i < n(); ++i) p_[i] = impulse[i];
      for (int i = 0; i < kContacts; ++i) friction_[i] = s_.friction[3 * i];
    } else {
      p_ = impulse;
    }
    const V zero(0.0);
    const V one(1.0);
    set_weights();
    V scale(1e-300);
    for (int i = 0; i < n(); ++i) {
      scale = larger(magnitude(weight_[i] * s_.vector[i]), scale);
      best_[i] = p_[i];
    }
    target_ = scale * V(accuracy);
    floor_ = scale * V(kNewtonFloor);
    least_ = natural_residual();
    chosen_ = select(least_ > scale * V(kNewtonPoor), one, zero);
    running_ = select(least_ <= target_, zero, one);
    iterations_ = zero;
  }
  /// After the first sweeps.
  CAROM_INLINE void settle() {
    least_ = natural_residual();
    for (int i = 0; i < n(); ++i) best_[i] = p_[i];
    running_ = select(least_ <= target_, V(0.0), V(1.0));
  }
  /// Lanes that go round in circles are swept from the best they had.
  CAROM_INLINE void choose_late() {
    for (int i = 0; i < n(); ++i) p_[i] = select(running_ > V(0.0), best_[i], p_[i]);
    natural_residual();
    chosen_ = running_;
  }
  /// Takes the step and keeps the best.
  CAROM_INLINE void accept() {
    const V zero(0.0);
    const V one(1.0);
    for (int i = 0; i < n(); ++i) p_[i] = select(running_ > zero, p_[i] + step_[i], p_[i]);
    const V merit = natural_residual();
    const auto lower = merit < least_;
    for (int i = 0; i < n(); ++i) best_[i] = select(lower, p_[i], best_[i]);
    iterations_ = iterations_ + running_;
    const V stalled = select(lower, zero, select(least_ <= floor_, one, zero));
    least_ = select(lower, merit, least_);
    running_ = select(least_ <= target_, zero, select(stalled > zero, zero, running_));
  }

  CAROM_INLINE int n() const { return kRows > 0 ? kRows : s_.rows; }
  CAROM_INLINE V w(int i, int j) const {
    const int stride = kRows > 0 ? kRows : s_.stride;  // bilateral rows would come before contacts
    return s_.matrix[static_cast<long>(i) * stride + j];
  }
  CAROM_INLINE V friction(int i) const {
    if constexpr (kContacts > 0) return friction_[i / 3];
    return s_.friction[i];
  }
  CAROM_INLINE int tangents(int i) const {
    if constexpr (kContacts > 0) return 2;
    return s_.type[i] == RowType::normal ? s_.tangents : 0;
  }

  CAROM_INLINE void set_weights() {
    for (int i = 0; i < n(); ++i) weight_[i] = V(1.0) / w(i, i);
    for (int i = 0; i < n(); i += 1 + tangents(i)) {
      if (tangents(i) == 2) {
        weight_[i + 1] = weight_[i + 2] = smaller(weight_[i + 1], weight_[i + 2]);
      }
    }
  }

  /// max |p - Pi(p - rho F)|, NaN where any F is; leaves p - rho F in force_ and F in slip_.
  CAROM_INLINE V natural_residual() {
    V poison(0.0);
    if constexpr (kUnrolled) {
      const Values p = p_;
      CAROM_UNROLLED
      for (int i = 0; i < kRows; ++i) add_flow(p, i, poison);
    } else {
      for (int i = 0; i < n(); ++i) add_flow(p_, i, poison);
    }
    const Values& p = p_;
    V worst(0.0);
    for (int i = 0; i < n(); i += 1 + tangents(i)) {
      worst = larger(magnitude(p[i] - larger(force_[i], V(0.0))), worst);
      const int count = tangents(i);
      if (count == 0) continue;
      const V radius = friction(i) * larger(p[i], V(0.0));
      const V size = length(i + 1, count);
      if constexpr (kContacts > 0) length_[i / 3] = size;
      const V shrink = select(size > radius, radius / size, V(1.0));
      for (int k = 1; k <= count; ++k) {
        worst = larger(magnitude(fused(-shrink, force_[i + k], p[i + k])), worst);
      }
    }
    return worst + poison;
  }
  CAROM_INLINE void add_flow(const Values& p, int i, V& poison) {
    V even = s_.vector[i];
    V odd(0.0);
    for (int j = 0; j + 1 < n(); j += 2) {
      even = fused(w(i, j), p[j], even);
      odd = fused(w(i, j + 1), p[j + 1], odd);
    }
    if (n() % 2 != 0) even = fused(w(i, n() - 1), p[n() - 1], even);
    const V flow = even + odd;
    slip_[i] = flow;
    force_[i] = fused(-weight_[i], flow, p[i]);
    poison = poison + flow * V(0.0);
  }
  CAROM_INLINE V length(int i, int count) const {
    if (count == 1) return magnitude(force_[i]);
    const V force[2] = {force_[i], force_[i + 1]};
    return length(force, count);
  }
  static CAROM_INLINE V length(const V* force, int count) {
    if (count == 1) return magnitude(force[0]);
    return square_root(fused(force[0], force[0], force[1] * force[1]));
  }

  /// Block Gauss-Seidel, in the lanes that are chosen; slip_: F of p, in and out.
  CAROM_INLINE void sweep() {
    if constexpr (kUnrolled) {
      ContactNewtonPack* own[1] = {this};
      sweep_together<1>(own, 1);
    } else {
      for (int i = 0; i < n(); i += 1 + tangents(i)) relax(i, slip_);
    }
  }
  /// Of kPacks packs, whose F stays in registers.
  template <int kPacks>
  CAROM_INLINE static void sweep_together(ContactNewtonPack* const* packs, int turns) {
    Values slip[kPacks];
    CAROM_UNROLLED
    for (int k = 0; k < kPacks; ++k) {
      CAROM_UNROLLED
      for (int i = 0; i < kRows; ++i) slip[k][i] = packs[k]->slip_[i];
    }
    for (int turn = 0; turn < turns; ++turn) {
      CAROM_UNROLLED
      for (int i = 0; i < kRows; i += 3) {
        CAROM_UNROLLED
        for (int k = 0; k < kPacks; ++k) packs[k]->relax(i, slip[k]);
      }
    }
    CAROM_UNROLLED
    for (int k = 0; k < kPacks; ++k) {
      CAROM_UNROLLED
      for (int i = 0; i < kRows; ++i) packs[k]->slip_[i] = slip[k][i];
    }
  }
  /// One contact with the others held: first its normal impulse, then its tangential ones.
  CAROM_INLINE void relax(int i, Values& slip) {
    const V chosen = chosen_;
    const int count = tangents(i);
    move(i, chosen * (larger(fused(-weight_[i], slip[i], p_[i]), V(0.0)) - p_[i]), slip);
    if (count == 0) return;
    V force[2];
    for (int k = 0; k < count; ++k) {
      force[k] = fused(-weight_[i + 1 + k], slip[i + 1 + k], p_[i + 1 + k]);
    }
    const V radius = friction(i) * p_[i];
    const V size = length(force, count);
    const V shrink = select(size > radius, radius / size, V(1.0));
    for (int k = 0; k < count; ++k) {
      move(i + 1 + k, chosen * fused(shrink, force[k], -p_[i + 1 + k]), slip);
    }
  }
  CAROM_INLINE void move(int i, V change, Values& slip) {
    p_[i] = p_[i] + change;
    for (int j = 0; j < n(); ++j) slip[j] = fused(w(i, j), change, slip[j]);
  }

  using Row = NewtonRow<V>;

  /// Linearises at p (force_ and slip_ as natural_residual left them) and solves for step_.
  CAROM_INLINE void newton_step() {
    if constexpr (kContacts > 0) {
      CAROM_UNROLLED
      for (int first = 0; first < kRows; first += 3) contact_rows(first);
      CAROM_UNROLLED
      for (int first = kRows - 3; first >= 0; first -= 3) substitute(first);
    } else {
      for (int i = 0; i < n(); i += 1 + tangents(i)) {
        const int count = tangents(i);
        Row row[3];
        normal_row(i, row[0]);
        if (count == 1) line_row(i, row[1]);
        if (count == 2) disk_rows(i, row + 1);
        for (int at = 0; at <= count; ++at) {
          form(i, at, count, row[at]);
          eliminate(i + at, row[at].wanted);
        }
      }
      for (int k = n() - 1; k >= 0; --k) {
        V sum = step_[k];
        for (int j = n() - 1; j > k; --j) sum = fused(-upper(k, j), step_[j], sum);
        step_[k] = sum * pivot_[k];
      }
    }
  }

  using Block = V[3][3];

  /// The rows of one spatial contact, the contacts before it taken out in blocks of 3 x 3, each of
  /// which stays in registers from W to U.
  CAROM_INLINE void contact_rows(int first) {
    Row row[3];
    normal_row(first, row[0]);
    disk_rows(first, row + 1);
    V wanted[3] = {row[0].wanted, row[1].wanted, row[2].wanted};
    Block factor[kContacts > 1 ? kContacts - 1 : 1];
    Block left;
    CAROM_UNROLLED
    for (int j = 0; j < first; j += 3) {
      eliminated(row, first, j, factor, left);
      Block& own = factor[j / 3];
      for (int a = 0; a < 3; ++a) {
        for (int l = 0; l < 3; ++l) {
          V sum = left[a][0] * inverse(j, 0, l);
          sum = fused(left[a][1], inverse(j, 1, l), sum);
          own[a][l] = -fused(left[a][2], inverse(j, 2, l), sum);
        }
        for (int l = 0; l < 3; ++l) wanted[a] = fused(own[a][l], step_[j + l], wanted[a]);
      }
    }
    for (int a = 0; a < 3; ++a) step_[first + a] = wanted[a];
    eliminated(row, first, first, factor, left);
    Block inverted;
    invert_block(left, inverted);
    for (int a = 0; a < 3; ++a) {
      for (int l = 0; l < 3; ++l) inverse(first, a, l) = inverted[a][l];
    }
    CAROM_UNROLLED
    for (int j = first + 3; j < kRows; j += 3) {
      eliminated(row, first, j, factor, left);
      for (int a = 0; a < 3; ++a) {
        for (int l = 0; l < 3; ++l) upper(first + a, j + l) = left[a][l];
      }
    }
  }
  /// left: the block of contact `first` at column j without the contacts before both.
  CAROM_INLINE void eliminated(const Row* row, int first, int j, const Block* factor,
                               Block& left) const {
    for (int l = 0; l < 3; ++l) {
      left[0][l] = row[0].gain[0] * w(first, j + l);
      const V one = w(first + 1, j + l);
      const V two = w(first + 2, j + l);
      left[1][l] = fused(row[1].gain[1], one, row[1].gain[2] * two);
      left[2][l] = fused(row[2].gain[1], one, row[2].gain[2] * two);
    }
    if (j == first) {
      left[0][0] = left[0][0] + row[0].fixed[0];
      for (int a = 1; a < 3; ++a) {
        for (int l = 0; l < 3; ++l) left[a][l] = left[a][l] + row[a].fixed[l];
      }
    }
    const int known = j < first ? j : first;
    CAROM_UNROLLED
    for (int k = 0; k < known; k += 3) {
      const Block& by = factor[k / 3];
      for (int b = 0; b < 3; ++b) {
        for (int l = 0; l < 3; ++l) {
          const V above = upper_[static_cast<long>(k + b) * n() + j + l];
          for (int a = 0; a < 3; ++a) left[a][l] = fused(by[a][b], above, left[a][l]);
        }
      }
    }
  }
  CAROM_INLINE V& inverse(int first, int a, int l) { return pivot_[3 * (first + a) + l]; }

  CAROM_INLINE void substitute(int first) {
    V left[3] = {step_[first], step_[first + 1], step_[first + 2]};
    for (int j = kRows - 1; j >= first + 3; --j) {
      for (int a = 0; a < 3; ++a) left[a] = fused(-upper(first + a, j), step_[j], left[a]);
    }
    for (int a = 0; a < 3; ++a) {
      step_[first + a] =
          fused(inverse(first, a, 0), left[0],
                fused(inverse(first, a, 1), left[1], inverse(first, a, 2) * left[2]));
    }
  }

  CAROM_INLINE void normal_row(int i, Row& row) const {
    newton_normal_row<V>(p_[i], force_[i], slip_[i], weight_[i], row);
  }

  /// One tangent. Open: p_t = 0. Sticking: rho F_t = 0. Sliding: p_t = mu p_n d.
  CAROM_INLINE void line_row(int i, Row& row) const {
    const Values& p = p_;
    const V zero(0.0);
    const V one(1.0);
    const V mu = friction(i);
    const V force = force_[i + 1];
    const V side = select(force < zero, -mu, mu);
    const auto closed = force_[i] > zero;
    const auto sticks = closed & (magnitude(force) <= mu * force_[i]);
    row.gain[0] = zero;
    row.gain[1] = select(sticks, weight_[i + 1], zero);
    row.fixed[0] = select(sticks, zero, select(closed, -side, zero));
    row.fixed[1] = select(sticks, zero, one);
    row.wanted = select(sticks, -weight_[i + 1] * slip_[i + 1],
                        select(closed, fused(side, p[i], -p[i + 1]), -p[i + 1]));
  }

  CAROM_INLINE void disk_rows(int i, Row* row) const {
    const V impulse[3] = {p_[i], p_[i + 1], p_[i + 2]};
    const V force[3] = {force_[i], force_[i + 1], force_[i + 2]};
    const V slip[3] = {slip_[i], slip_[i + 1], slip_[i + 2]};
    V size;
    if constexpr (kContacts > 0) {
      size = length_[i / 3];
    } else {
      size = length(i + 1, 2);
    }
    newton_disk_rows<V>(impulse, force, slip, weight_[i + 1], friction(i), size, row);
  }

  CAROM_INLINE V& upper(int i, int j) { return upper_[static_cast<long>(i) * n() + j]; }

  /// Row first + at of the Newton matrix; the contact has `count` tangents.
  CAROM_INLINE void form(int first, int at, int count, const Row& row) {
    const int i = first + at;
    for (int j = 0; j < n(); ++j) {
      if (at == 0) {
        upper(i, j) = row.gain[0] * w(first, j);
      } else if (count == 1) {
        upper(i, j) = row.gain[1] * w(first + 1, j);
      } else {
        upper(i, j) = fused(row.gain[1], w(first + 1, j), row.gain[2] * w(first + 2, j));
      }
    }
    for (int l = 0; l <= (at == 0 ? 0 : count); ++l) {
      upper(i, first + l) = upper(i, first + l) + row.fixed[l];
    }
  }

  /// Takes the rows above out of row i.
  CAROM_INLINE void eliminate(int i, V wanted) {
    for (int k = 0; k < i; ++k) {
      const V factor = -(upper(i, k) * pivot_[k]);
      for (int j = k + 1; j < n(); ++j) upper(i, j) = fused(factor, upper(k, j), upper(i, j));
      wanted = fused(factor, step_[k], wanted);
    }
    pivot_[i] = V(1.0) / upper(i, i);
    step_[i] = wanted;
  }

  ContactPackSystem<Memory> s_;
  Memory upper_;   // factor U above its diagonal, [rows, rows]
  Values weight_;  // rho
  Values force_;   // p - rho F
  Values slip_;    // F
  Values step_;
  Values best_;
  Values p_;
  LocalValues<V, (kContacts > 0 ? kContacts : 1)> length_;  // of the contacts' p - rho F
  LocalValues<V, (kContacts > 0 ? kContacts : 1)> friction_;
  V target_;
  V floor_;
  V least_;       // residual, at best_
  V chosen_;      // 1 in lanes to be swept, otherwise 0
  V running_;     // 1 in lanes that want steps, otherwise 0
  V iterations_;  // taken by each lane
  Pivots pivot_;  // reciprocals of U's diagonal, or inverses of its blocks
};

}  // namespace carom::kernels
