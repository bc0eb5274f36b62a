#pragma once

#include <limits>

#include "cuda/impact/first_event.cuh"
#include "cuda/impact/path_slot.cuh"

/// The contact-mode path of some problems side by side, a contact a lane.
namespace carom::cuda {

/// kernels::ContactPath with its bits, all groups of a warp a line of their paths at a time: what
/// every line takes, events and a pivot, is one text that they run together; a change of mode, of
/// which there are many, they run apart. Groups that are not `on` change nothing.
template <int Dim, int Contacts>
class PathGroup : public PathSlot<Dim, Contacts> {
  using Base = PathSlot<Dim, Contacts>;
  using Together = typename Base::Together;
  using Linear = kernels::contact_path::Linear<double>;

 public:
  using Base::Base, Base::kColumns, Base::kRows, Base::row_of;
  using typename Base::Progress;

  /// One line of the path.
  __device__ Progress advance(bool on) {
    int column = 0;
    if (on) column = column_of(driving_);
    const kernels::ArgMin<double> first =
        Together{}.best_of(Contacts, kernels::kInfinity, [&](int) {
          return on ? next_event(column) : kernels::ArgMin<double>{kernels::kInfinity, -1};
        });
    bool arrives = false;
    bool lost = false;
    double moved = 0.0;
    if (on) {
      const double to_zero = first_event::step_to(time(column), kRateTolerance);
      arrives = to_zero < kernels::kInfinity && to_zero <= first.key;
      lost = !arrives && first.index < 0;
      const double step = arrives ? to_zero : first.key;
      if (!lost) {
        driving_value_ = kernels::fused(direction_, step, driving_value_);
      }
      moved = direction_ * step;
    }
    Together::barrier();
    if (on && !lost) {
      for (int turn = 0; turn < kRows; turn += Together::kWidth) {
        const int i = turn + contact_;
        if (i < kRows) at_.x[i] = kernels::fused(moved, at(i, column), at_.x[i]);
      }
    }
    Together::barrier();
    if (on && !lost) {
      arrives = arrives || time(column).value <= this->smallest_time_;
    }
    using namespace kernels::contact_path;
    const bool changes = on && !lost && !arrives;
    const int contact = first.index / kMostEvents;
    const int event = first.index % kMostEvents;
    int state = kSeparate;
    int mode = kCorner;
    int leaving = kNothing;
    if (changes) {
      state = int_at_.normal[contact];
      mode = int_at_.tangent[contact];
      leaving = event < kNormalEvents
                    ? this->normal_leaving(contact, event)
                    : this->prepare_tangent(contact, event - kNormalEvents, column);
    }
    const bool pivots = changes && leaving != kNothing;
    lost = lost || (!pivot(pivots, leaving, column) && pivots);
    if (changes && !lost) {
      if (event < kNormalEvents) {
        enter_normal(contact, event, state);
      } else {
        enter_tangent(contact, event - kNormalEvents, mode, column);
      }
    }
    return lost ? Progress::lost : arrives ? Progress::arrived : Progress::running;
  }

 private:
  using Base::at, Base::at_, Base::column_of, Base::contact_, Base::direction_, Base::driving_,
      Base::driving_value_, Base::frictional_, Base::int_at_, Base::kRateTolerance, Base::kTangents,
      Base::limit_, Base::linear, Base::max_impulse_, Base::polygon_, Base::reach_,
      Base::tangent_pair, Base::time_id, Base::time_row_, Base::velocity_of;
  static constexpr int kMostEvents = 32;  // of a contact

  /// linear() of t: driving first, then basic, in one row to the end.
  __device__ Linear time(int column) const {
    const bool basic = time_row_ >= 0;
    const int row = basic ? time_row_ : 0;
    const double value = at_.x[row];
    const double rate = direction_ * at(row, column);
    return {basic ? value : driving_value_, basic ? rate : direction_};
  }

  // As conclude_normal and conclude_tangent of ContactPath from the modes before the pivot. Modes
  // are not read again before the barrier of the next line, so that one lane writes them and none
  // waits for it.

  __device__ void enter_normal(int contact, int event, int before) {
    using namespace kernels::contact_path;
    if (event == 0 && before == kSeparate) this->turn_corner(contact);
    const bool fills = event == 1;
    const bool opens = !fills && before == kClosed;
    const bool falls = !fills && before == kFull;
    if (contact_ == 0) int_at_.normal[contact] = fills ? kFull : opens ? kSeparate : kClosed;
    driving_ = fills || opens ? velocity_of(contact) : contact;
    direction_ = fills || falls ? -1.0 : 1.0;
    driving_value_ = falls ? max_impulse_[contact] : 0.0;
  }

  __device__ void enter_tangent(int contact, int event, int before, int column) {
    using namespace kernels::contact_path;
    if constexpr (Dim == 3) {
      if (before == kInside) return this->conclude_tangent(contact, event, column);
    }
    const bool corner = before == kCorner;
    const int active = before == kAlongB ? 1 : 0;
    const int other = kTangents == 1 ? 0 : 1 - active;
    if (!corner && event == 1 && driving_ == tangent_pair(contact, active)) {
      this->relabel_velocity(contact, active, other);
      this->swap_pair(contact, active, other);
    }
    int after = kCorner;
    int next = velocity_of(tangent_pair(contact, event == 0 ? active : other));
    if (corner) {
      after = Dim == 2 ? kInside : event == 0 ? kAlongA : kAlongB;
      next = tangent_pair(contact, event);
    } else if (Dim == 3 && event == 2) {
      after = kInside;
      next = tangent_pair(contact, other);
    }
    if (contact_ == 0) int_at_.tangent[contact] = after;
    this->drive(next);
  }

  /// As linear of a variable that is at no lambda_max, without branches.
  __device__ Linear linear_alike(int id, int column) const {
    const int place = int_at_.place[id];
    const bool basic = place < kRows;
    const bool drives = id == driving_;
    const int row = basic ? place : 0;
    const double value = at_.x[row];
    const double rate = direction_ * at(row, column);
    return {basic    ? value
            : drives ? driving_value_
                     : 0.0,
            basic    ? rate
            : drives ? direction_
                     : 0.0};
  }

  /// The next event of the lane's contact, by one text for all modes: lanes whose contacts are in
  /// different ones stay together. Slacks that are not there do not shrink.
  __device__ kernels::ArgMin<double> next_event(int column) const {
    FirstEvent first(kRateTolerance);
    watch_alike(column, first);
    if (!first.in_doubt()) return first.found(kMostEvents * contact_);
    kernels::ArgMin<double> best{kernels::kInfinity, -1};
    watch_alike(column, [&](int event, Linear slack) {
      const double step = first_event::step_to(slack, kRateTolerance);
      if (step < best.key) best = {step, kMostEvents * contact_ + event};
    });
    return best;
  }

  template <class Visit>
  __device__ void watch_alike(int column, Visit&& visit) const {
    using namespace kernels::contact_path;
    const int contact = contact_;
    const int state = int_at_.normal[contact];
    const int mode = int_at_.tangent[contact];
    const bool closed = state == kClosed;
    const bool frictional = frictional_;
    const double limit = limit_;
    const Linear near = linear_alike(closed ? contact : velocity_of(contact), column);
    const Linear normal{closed ? near.value : limit, closed ? near.rate : 0.0};
    const bool lower = !closed || !frictional || mode == kCorner;
    const double sign = state == kFull ? -1.0 : 1.0;
    visit(0, {sign * near.value, lower ? sign * near.rate : 0.0});
    const bool upper = closed && limit < kernels::kInfinity;
    visit(1, {upper ? limit - normal.value : 0.0, upper ? -normal.rate : 0.0});
    if (state == kSeparate || !frictional) return;
    if constexpr (Dim == 2) {
      this->watch_tangent(contact, mode, normal, column, visit);
    } else {
      watch_slide(mode, normal, column, visit);
    }
  }

  /// Corner: both velocities. Edge: its near and far end, and the other velocity. Inside: edges.
  template <class Visit>
  __device__ void watch_slide(int mode, Linear normal, int column, Visit&& visit) const {
    using namespace kernels::contact_path;
    const int a = tangent_pair(contact_, 0);
    const int b = tangent_pair(contact_, 1);
    const bool inside = mode == kInside;
    const bool corner = mode == kCorner;
    const int on_edge = mode == kAlongB ? b : a;
    const int off_edge = mode == kAlongB ? a : b;
    const Linear first = linear_alike(corner ? velocity_of(a) : on_edge, column);
    const Linear second = linear_alike(inside ? b : velocity_of(off_edge), column);
    const Linear end = beyond(first, normal, reach_);
    Linear slack[3] = {first, corner ? second : end, {second.value, corner ? 0.0 : second.rate}};
    typename Base::ConeSection cone;
    if (inside) {
      cone = this->cone_section(contact_, normal, first, second);
      for (int i = 0; i < 3; ++i) slack[i] = this->edge_slack(cone, i);
    }
    for (int i = 0; i < 3; ++i) visit(kNormalEvents + i, slack[i]);
    if (!inside) return;
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (int i = 3; i < polygon_.count; ++i) visit(kNormalEvents + i, this->edge_slack(cone, i));
  }

  /// Neighbouring numbers of a row, which begins at a whole Pair: one access of 16 bytes.
  struct alignas(16) Pair {
    double first, second;
  };
  static constexpr int kPairs = kColumns / 2;

  /// As Tableau::pivot, each lane its rows with the whole pivot row in registers.
  __device__ bool pivot(bool on, int leaving, int column) {
    Together::barrier();
    bool fine = false;
    int row = -1;
    double inverse = 0.0;
    double scaled[kColumns];  // the pivot row, but for `column`
    if (on) {
      const bool given = leaving == kernels::contact_path::kRowGiven;
      row = given ? -1 : int_at_.place[leaving];
      const double* const from = given ? &at_.pivot_row[0] : &at(row, 0);
      const double element = from[column];
      fine = kernels::magnitude(element) > kRateTolerance * 0.5;
      inverse = 1.0 / element;
      const double minus = -inverse;
      for (int k = 0; k < kPairs; ++k) {
        const Pair old = reinterpret_cast<const Pair*>(from)[k];
        scaled[2 * k] = old.first * minus;
        scaled[2 * k + 1] = old.second * minus;
      }
    }
    Together::barrier();  // the leaving row has been read
    if (fine) {
      for (int turn = 0; turn < kRows; turn += Together::kWidth) {
        const int i = turn + contact_;
        if (kRows % Together::kWidth != 0 && i >= kRows) break;
        double* const to = &at(i, 0);
        const double factor = to[column];
        for (int k = 0; k < kPairs; ++k) {
          Pair& pair = reinterpret_cast<Pair*>(to)[k];
          const Pair old = pair;
          pair = {kernels::fused(factor, scaled[2 * k], old.first),
                  kernels::fused(factor, scaled[2 * k + 1], old.second)};
        }
        to[column] = kernels::fused(factor, inverse, 0.0);  // restarts from zero
      }
      // Row `row` is of one of these lanes, and what it got above nobody has seen.
      const bool given = row < 0;
      if (driving_ == time_id()) time_row_ = row;
      if (given ? contact_ == 0 : contact_ == row % Together::kWidth) {
        double* const to = given ? &at_.pivot_row[0] : &at(row, 0);
        for (int k = 0; k < kPairs; ++k) {
          reinterpret_cast<Pair*>(to)[k] = {scaled[2 * k], scaled[2 * k + 1]};
        }
        to[column] = inverse;
        if (!given) {
          at_.x[row] = driving_value_;
          int_at_.place[driving_] = row;
          int_at_.place[leaving] = kRows + column;
        }
      }
    }
    Together::barrier();
    return fine;
  }
};

}  // namespace carom::cuda
