#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "impact/kernels/contact_path_planar.hpp"
#include "impact/kernels/contact_path_spatial.hpp"

/// Where a line of the path ends: the first bound that the variables of all contacts meet.
namespace carom::kernels::contact_path {

template <int Dim, class Real, class Lanes>
using Tangents =
    std::conditional_t<Dim == 2, PlanarTangents<Real, Lanes>, SpatialTangents<Real, Lanes>>;

template <int Dim, class Real, class Lanes>
class Events : protected Tangents<Dim, Real, Lanes> {
  using Base = Tangents<Dim, Real, Lanes>;

 protected:
  using Base::Base;
  using Base::column_of, Base::direction_, Base::driving_, Base::driving_value_, Base::int_at_,
      Base::kByColumns, Base::kPadding, Base::kRateTolerance, Base::kReal0, Base::kTangents,
      Base::lanes_, Base::linear, Base::m_, Base::mask_of, Base::max_impulse_, Base::mu,
      Base::polygon_, Base::rows_, Base::tangent_pair, Base::time_id, Base::velocity_of;
  static constexpr int kMostEvents = kNormalEvents + 16;  // the edges of the largest polygon
  static constexpr int kFewRows = 4;
  static constexpr Real kNever = std::numeric_limits<Real>::infinity();

  /// How far the driving variable has to move for the first event, and kMostEvents contact + event.
  CAROM_HOST_DEVICE ArgMin<Real> first_event(int column) const {
    if constexpr (kByColumns) {
      if (at_once()) return first_of_rows(column);
    }
    return lanes_.best_of(m_, kNever, [&](int i) { return next_event(i, column); });
  }

  /// Calls visit(event, slack) for everything that a contact watches in its present mode. Events 0
  /// and 1 are the normal's lower and upper ones, the tangential ones follow.
  template <class Visit>
  CAROM_INLINE void watch(int contact, int column, Visit&& visit) const {
    const int state = int_at_.normal[contact];
    const int mode = int_at_.tangent[contact];
    if (state == kSeparate) {
      visit(0, linear(velocity_of(contact), column));
      return;
    }
    const bool frictional = mu(contact) > kReal0;
    const Linear<Real> normal = linear(contact, column);
    if (state == kFull) {
      const Linear<Real> u = linear(velocity_of(contact), column);
      visit(0, Linear<Real>{-u.value, -u.rate});
    } else {
      watch_normal(contact, normal, visit);
    }
    if (!frictional) return;
    this->watch_tangent(contact, mode, normal, column, visit);
  }

  /// The normal impulse of a closed contact.
  template <class Visit>
  CAROM_INLINE void watch_normal(int contact, Linear<Real> normal, Visit&& visit) const {
    // An impulse within its cone vanishes only at the cone's corner.
    if (!(mu(contact) > kReal0) || int_at_.tangent[contact] == kCorner) visit(0, normal);
    if (max_impulse_[contact] < kInfinity) {
      visit(1, Linear<Real>{static_cast<Real>(max_impulse_[contact]) - normal.value, -normal.rate});
    }
  }

  CAROM_INLINE static Real step_to(Linear<Real> f) {
    return f.rate < -kRateTolerance ? at_least_zero(f.value) / -f.rate : kNever;
  }

  /// A contact's next event and how far the driving variable has to move for it.
  CAROM_INLINE ArgMin<Real> next_event(int contact, int column) const {
    ArgMin<Real> best{kNever, -1};
    const auto earlier = [&best, contact](int event, Linear<Real> f) {
      const Real step = step_to(f);
      if (step < best.key) best = {step, kMostEvents * contact + event};
    };
    watch(contact, column, earlier);
    return best;
  }

  // By columns: the bounds of basic variables are compared all at once; what stands for a bound of
  // several variables is looked at contact by contact. The masks have a bit a row.

  /// Whether comparing them all at once pays.
  CAROM_INLINE bool at_once() const { return rows_ > kFewRows && rows_ < kMostMaskedRows; }

  /// To be called when contact `i` has changed its mode or the places of its variables.
  CAROM_INLINE void mark(int i) {
    const int state = int_at_.normal[i];
    const int mode = int_at_.tangent[i];
    const bool frictional = mu(i) > kReal0;
    const bool slips = state != kSeparate && frictional;
    std::uint64_t own = 0;
    std::uint64_t below = 0;
    std::uint64_t above = 0;
    const auto watch = [&](int id, bool at_zero, bool at_bound) {
      const int place = int_at_.place[id];
      const std::uint64_t row = place < rows_ ? std::uint64_t{1} << place : 0;
      own |= row;
      below |= at_zero ? row : 0;
      above |= at_bound ? row : 0;
    };
    const bool closed = state == kClosed;
    watch(i, closed && (!frictional || mode == kCorner), closed && max_impulse_[i] < kInfinity);
    watch(velocity_of(i), state == kSeparate, state == kFull);
    for (int slot = 0; slot < kTangents; ++slot) {
      const int pair = tangent_pair(i, slot);
      const bool own_edge = Dim == 2 ? mode == kInside : mode == (slot == 0 ? kAlongA : kAlongB);
      const bool other_edge = Dim == 3 && mode == (slot == 0 ? kAlongB : kAlongA);
      watch(pair, slips && own_edge, false);
      watch(velocity_of(pair), slips && (mode == kCorner || other_edge), false);
    }
    marks_.below = (marks_.below & ~own) | below;
    marks_.above = (marks_.above & ~own) | above;
    const unsigned contact = 1U << i;
    marks_.contacts = (marks_.contacts & ~contact) | (slips && mode != kCorner ? contact : 0U);
  }

  /// The same for the contact of variable `id`, which has become basic.
  CAROM_INLINE void mark_owner(int id, int marked) {
    if (id == time_id()) {
      const std::uint64_t row = std::uint64_t{1} << int_at_.place[id];
      marks_.below &= ~row;
      marks_.above &= ~row;
      return;
    }
    const int owner = contact_of(id);
    if (owner != marked) mark(owner);
  }

  CAROM_INLINE void mark_all() {
    marks_ = {};
    for (int i = 0; i < m_; ++i) mark(i);
  }

 private:
  struct Marks {
    std::uint64_t below;  // rows whose variable is watched at zero
    std::uint64_t above;  // rows whose variable is watched at its upper bound
    unsigned contacts;    // that watch sums of variables
  };

  CAROM_INLINE int contact_of(int id) const {
    const int pair = id < rows_ ? id : id - rows_;
    return pair < m_ ? pair : (pair - m_) / kTangents;
  }

  /// The event of a basic variable at zero, or at its upper bound, numbered as watch does.
  CAROM_INLINE int event_of(int id, bool above) const {
    const int contact = contact_of(id);
    const int pair = id < rows_ ? id : id - rows_;
    int event = 0;
    if (pair >= m_) {
      event = kNormalEvents;
      if (Dim == 3 && id >= rows_) {
        event += int_at_.tangent[contact] == kCorner ? (pair - m_) % kTangents : 2;
      }
    } else if (above && id < m_) {
      event = 1;
    }
    return kMostEvents * contact + event;
  }

  CAROM_INLINE ArgMin<Real> first_of_rows(int column) const requires kByColumns {
    using Pack = typename Lanes::Register;
    using Mask = decltype(Pack() < Pack());
    const Real* const rates = &this->at(0, column);
    Real* const keys = this->at_.pivot_column;
    const Pack never(kNever);
    Pack least = never;
    for (int first = 0; first < rows_; first += kPadding) {
      const Pack rate = Pack(direction_) * Pack::load(rates + first);
      const Pack x = Pack::load(this->at_.x + first);
      const Mask falls = (rate < Pack(-kRateTolerance)) & mask_of(marks_.below, first);
      const Mask grows = (rate > Pack(kRateTolerance)) & mask_of(marks_.above, first);
      const Pack slack = select(grows, Pack::load(this->at_.above + first) - x, x);
      const Pack key = select(falls | grows, larger(slack, Pack(0.0)) / magnitude(rate), never);
      key.store(keys + first);
      least = smaller(key, least);
    }
    ArgMin<Real> best{least_of(least), -1};
    for (int first = 0; best.key < kNever && first < rows_; first += kPadding) {
      unsigned equal = (Pack::load(keys + first) <= Pack(best.key)).bits();
      for (; equal != 0; equal &= equal - 1) {
        const int row = first + lowest_bit(equal);
        const int event = event_of(int_at_.basic[row], direction_ * rates[row] > kReal0);
        if (best.index < 0 || event < best.index) best.index = event;
      }
    }
    const auto earlier = [&](int contact, int event, Linear<Real> f) {
      const ArgMin<Real> other{step_to(f), kMostEvents * contact + event};
      if (other.key < kNever && precedes(other, best)) best = other;
    };
    for (unsigned rest = marks_.contacts; rest != 0; rest &= rest - 1) {
      const int i = lowest_bit(rest);
      this->watch_sums(i, int_at_.tangent[i], linear(i, column), column,
                       [&](int event, Linear<Real> f) { earlier(i, event, f); });
    }
    if (driving_ < m_) {
      const int i = driving_;
      watch_normal(i, {driving_value_, direction_},
                   [&](int event, Linear<Real> f) { earlier(i, event, f); });
    }
    return best;
  }

  Marks marks_{};
};

}  // namespace carom::kernels::contact_path
