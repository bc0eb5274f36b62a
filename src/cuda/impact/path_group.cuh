#pragma once

#include <limits>

#include "cuda/impact/first_event.cuh"
#include "cuda/lanes.cuh"
#include "impact/body/contact_path_body.hpp"

/// The contact-mode path of some problems side by side, a contact a lane.
namespace carom::cuda {

/// Lanes of one problem where they act alone; `Together`: with those of the warp's other problems.
template <int Contacts>
struct PathLanes : GroupLanes<Contacts <= 2 ? 2 : 4> {
  static constexpr int kRowPadding = 2;  // two numbers a load
  using Together = GroupLanes<Contacts <= 2 ? 2 : 4, true>;
};

/// kernels::ContactPath with its bits, all groups of a warp a line of their paths at a time: what
/// every line takes, events and a pivot, is one text that they run together; a change of mode, of
/// which there are many, they run apart. Groups that are not `on` change nothing.
template <int Dim, int Contacts>
class PathGroup : protected kernels::ContactPath<Dim, double, PathLanes<Contacts>> {
  using Base = kernels::ContactPath<Dim, double, PathLanes<Contacts>>;
  using Together = typename PathLanes<Contacts>::Together;
  using Linear = kernels::contact_path::Linear<double>;

 public:
  using Progress = kernels::PathProgress;
  static constexpr int kRows = Dim * Contacts;
  static constexpr int kColumns = kernels::padded(kRows + 1, PathLanes<Contacts>::kRowPadding);

  /// weights: of the covering vector, [rows].
  __device__ PathGroup(const PathLanes<Contacts>& lanes, const kernels::FrictionPolygon& polygon,
                       const double* friction, const double* weights, double* scratch, int* ints)
      : Base(lanes, Contacts, polygon, friction, scratch, ints),
        weights_(weights),
        contact_(lanes.lane()),
        owns_(contact_ < Contacts) {}

  [[nodiscard]] __device__ static double weight(int row) { return Base::covering_weight(row, 0); }
  /// Row r of a contact, its normal's first.
  [[nodiscard]] __device__ static int row_of(int contact, int r) {
    return r == 0 ? contact : Contacts + kTangents * contact + r - 1;
  }

  /// matrix: the lane's rows of A; u: [rows]; max_impulse: [contacts]; scaled as for ContactPath.
  __device__ Progress begin(bool on, const double (&matrix)[Dim][kRows], const double* u,
                            const double* max_impulse) {
    if (on) {
      max_impulse_ = max_impulse;
      if (owns_) {
        limit_ = max_impulse[contact_];
        frictional_ = mu(contact_) > 0.0;
        reach_ = mu(contact_) * edge_length();
        choose_own_corner(u);
      }
    }
    Together::barrier();
    double key = 1.0;
    if (on && owns_) {
      fill_rows(matrix, u);
      key = cover_rows();
    }
    const double least = Together{}.reduce(key, [](double a, double b) { return b < a ? b : a; });
    Progress progress = Progress::lost;
    if (on) {
      const double start = least < 1.0 ? -least : 0.0;
      progress = Base::depart(start);
      time_row_ = -1;
      if (progress == Progress::running && owns_) {
        for (int r = 0; r < Dim; ++r) {
          const int i = row_of(contact_, r);
          at_.x[i] = kernels::fused(at(i, kRows), start, at_.x[i]);
        }
      }
    }
    Together::barrier();
    return progress;
  }

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

  /// The impulse of the lane's contact at the path's end, into [rows].
  __device__ void extract(double* impulse) const {
    const bool full = int_at_.normal[contact_] == kernels::contact_path::kFull;
    const double limit = max_impulse_[contact_];
    const double found = force(contact_, full ? limit : 0.0);
    const double normal = found > limit ? limit : found;
    impulse[contact_] = normal;
    const double radius = mu(contact_) * normal;
    const int corner = int_at_.corner[contact_];
    const bool carries = normal > 0.0 && mu(contact_) > 0.0;
    double basis[kTangents][kTangents];
    corner_basis(corner, basis);
    double along[kTangents];
    for (int slot = 0; slot < kTangents; ++slot) {
      along[slot] = force(tangent_pair(contact_, slot), 0.0);
    }
    for (int c = 0; c < kTangents; ++c) {
      const double at_corner = radius * polygon_.direction[corner][c];
      double sum = at_corner;
      for (int slot = 0; slot < kTangents; ++slot) {
        sum = kernels::fused(basis[c][slot], along[slot], sum);
      }
      impulse[row_of(contact_, 1 + c)] = carries ? sum : at_corner;
    }
  }

 private:
  using Base::at, Base::at_, Base::column_of, Base::corner_basis, Base::direction_, Base::driving_,
      Base::driving_value_, Base::edge_length, Base::int_at_, Base::kRateTolerance, Base::kTangents,
      Base::linear, Base::max_impulse_, Base::mu, Base::polygon_, Base::tangent_pair, Base::time_id,
      Base::velocity_of;
  static constexpr int kMostEvents = 32;  // of a contact

  /// Value of a force variable, `otherwise` where it is at a bound.
  __device__ double force(int id, double otherwise) const {
    const int place = int_at_.place[id];
    const bool basic = place < kRows;
    const double value = at_.x[basic ? place : 0];
    const double kept = kernels::at_least_zero(id == driving_ ? driving_value_ : value);
    return basic || id == driving_ ? kept : otherwise;
  }

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

  // As choose_corner, fill_tableau and cover of ContactPath, of the lane's contact alone.

  __device__ void choose_own_corner(const double* u) {
    const bool full = u[contact_] < 0.0 && max_impulse_[contact_] < kernels::kInfinity;
    double against[kTangents];
    for (int c = 0; c < kTangents; ++c) against[c] = -u[row_of(contact_, 1 + c)];
    int_at_.normal[contact_] =
        full ? kernels::contact_path::kFull : kernels::contact_path::kSeparate;
    int_at_.tangent[contact_] = kernels::contact_path::kCorner;
    int_at_.corner[contact_] = kernels::nearest_direction<Dim>(polygon_, against);
  }

  __device__ void fill_rows(const double (&matrix)[Dim][kRows], const double* u) {
    double velocity[kTangents][kTangents];
    corner_basis(int_at_.corner[contact_], velocity);
    double value[Dim];
    value[0] = kernels::fused(u[contact_], 1.0, 0.0);
    for (int slot = 0; slot < kTangents; ++slot) {
      double sum = 0.0;
      for (int c = 0; c < kTangents; ++c) {
        sum = kernels::fused(velocity[c][slot], u[row_of(contact_, 1 + c)], sum);
      }
      value[1 + slot] = sum;
    }
    for (int j = 0; j < Contacts; ++j) {
      double force[kTangents][kTangents];
      const int corner = int_at_.corner[j];
      corner_basis(corner, force);
      double sliding[kTangents];
      for (int c = 0; c < kTangents; ++c) sliding[c] = mu(j) * polygon_.direction[corner][c];
      double response[Dim][Dim];
      for (int r = 0; r < Dim; ++r) {
        response[r][0] = kernels::fused(matrix[r][j], 1.0, 0.0);
        for (int c = 0; c < kTangents; ++c) {
          response[r][0] = kernels::fused(matrix[r][row_of(j, 1 + c)], sliding[c], response[r][0]);
        }
        for (int slot = 0; slot < kTangents; ++slot) {
          double sum = 0.0;
          for (int c = 0; c < kTangents; ++c) {
            sum = kernels::fused(matrix[r][row_of(j, 1 + c)], force[c][slot], sum);
          }
          response[r][1 + slot] = sum;
        }
      }
      const bool full = int_at_.normal[j] == kernels::contact_path::kFull;
      const double limit = full ? max_impulse_[j] : 0.0;
      for (int c = 0; c < Dim; ++c) {
        const int column = row_of(j, c);
        at(contact_, column) = response[0][c];
        if (c == 0 && full) value[0] = kernels::fused(response[0][0], limit, value[0]);
        for (int slot = 0; slot < kTangents; ++slot) {
          double sum = 0.0;
          for (int r = 0; r < kTangents; ++r) {
            sum = kernels::fused(velocity[r][slot], response[1 + r][c], sum);
          }
          at(row_of(contact_, 1 + slot), column) = sum;
          if (c == 0 && full) value[1 + slot] = kernels::fused(sum, limit, value[1 + slot]);
        }
      }
    }
    for (int r = 0; r < Dim; ++r) {
      const int i = row_of(contact_, r);
      at_.x[i] = value[r];
      int_at_.place[i] = kRows + i;
      int_at_.place[kRows + i] = i;
    }
    if (contact_ == 0) int_at_.place[2 * kRows] = kRows + kRows;
  }

  /// The least key of the lane's rows.
  __device__ double cover_rows() {
    const int state = int_at_.normal[contact_];
    const bool full = state == kernels::contact_path::kFull;
    const bool slides = state != kernels::contact_path::kSeparate && mu(contact_) > 0.0;
    double least = 1.0;
    for (int r = 0; r < Dim; ++r) {
      const int i = row_of(contact_, r);
      for (int j = kRows + 1; j < kColumns; ++j) at(i, j) = 0.0;
      const double size = weights_[i];
      at(i, kRows) = r == 0 && full ? -size : size;
      const double slack = r == 0 && full ? -at_.x[i] : at_.x[i];
      // A slack of 0 is not divided, see quotient.cuh; its sign does not matter here.
      const bool vanishes = slack == 0.0 || !(r == 0 || slides);
      const double key = (vanishes ? 1.0 : slack) / size * (vanishes ? 0.0 : 1.0);
      if (key < least) least = key;
    }
    return least;
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

  const double* weights_;
  int contact_;  ///< the lane's
  bool owns_;    ///< that there is one
  // Of the lane's contact.
  double limit_ = 0.0;
  double reach_ = 0.0;  ///< length of the polygon's edges at a unit impulse
  bool frictional_ = false;
  int time_row_ = -1;
};

}  // namespace carom::cuda
