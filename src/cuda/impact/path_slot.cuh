#pragma once

#include "cuda/lanes.cuh"
#include "impact/kernels/contact_path.hpp"

/// A problem in the memory of a group of lanes, in front of its contact-mode path and after it.
namespace carom::cuda {

/// Lanes of one problem where they act without others; `Together`: with those of the warp's other
/// problems.
template <int Contacts>
struct PathLanes : GroupLanes<Contacts <= 2 ? 2 : 4> {
  static constexpr int kRowPadding = 2;  // two numbers a load
  using PathInt = signed char;           // memory is scarce
  using Together = GroupLanes<Contacts <= 2 ? 2 : 4, true>;
};

/// The ends of kernels::ContactPath with its bits, a contact a lane, all groups of a warp at once;
/// those that are not `on` change nothing.
template <int Dim, int Contacts>
class PathSlot : protected kernels::ContactPath<Dim, double, PathLanes<Contacts>> {
  using Base = kernels::ContactPath<Dim, double, PathLanes<Contacts>>;

 public:
  using Progress = kernels::PathProgress;
  static constexpr int kRows = Dim * Contacts;
  static constexpr int kColumns = kernels::padded(kRows + 1, PathLanes<Contacts>::kRowPadding);
  using Int = typename Base::Int;

  /// A problem's memory, whether one follows its path or not.
  template <class Memory>
  struct Layout {
    Memory tableau;  ///< first: its rows are read two numbers at a time; free after the path
    Memory x;
    Memory limit;     ///< [contacts], scaled
    Memory friction;  ///< [contacts]
    Memory value;     ///< of the driving variable
    Memory smallest;  ///< time at which the path has arrived
    Memory record;    ///< Record
    Memory ints;      ///< PathIntLayout, and the driving variable

    CAROM_INLINE constexpr explicit Layout(kernels::Arena<Memory>& arena)
        : tableau(arena.take(kRows * kColumns)),
          x(arena.take(kRows)),
          limit(arena.take(Contacts)),
          friction(arena.take(Contacts)),
          value(arena.take(1)),
          smallest(arena.take(1)),
          record(arena.take(1)),
          ints(arena.take((kInts + 1 + sizeof(double) - 1) / sizeof(double))) {}
  };
  static constexpr long kInts = kernels::path_int_workspace(Dim, Contacts);
  struct Record {
    int problem;
    int pivots;
  };
  static_assert(sizeof(Record) == sizeof(double) && sizeof(Int) == 1);

  /// Of the problem in `memory`; pivot_row: [columns], the group's. weights: of the covering
  /// vector, [rows].
  __device__ PathSlot(const PathLanes<Contacts>& lanes, const kernels::FrictionPolygon& polygon,
                      const double* weights, double* memory, double* pivot_row)
      : Base(lanes, Contacts, polygon, memory, memory, reinterpret_cast<Int*>(memory)),
        contact_(lanes.lane()),
        owns_(contact_ < Contacts),
        weights_(weights),
        own_(kernels::placed<Layout>(memory)) {
    at_.pivot_row = pivot_row;
    look_at(memory);
  }

  /// Another problem's memory, or the same again: places are computed, not kept.
  __device__ void look_at(double* memory) {
    own_ = kernels::placed<Layout>(memory);
    at_.tableau = own_.tableau;
    at_.x = own_.x;
    friction_ = own_.friction;
    max_impulse_ = own_.limit;
    int_at_ = kernels::placed<kernels::PathIntLayout>(reinterpret_cast<Int*>(own_.ints), kRows,
                                                      Contacts, false);
  }
  [[nodiscard]] __device__ Record& record() const {
    return *reinterpret_cast<Record*>(own_.record);
  }
  /// The lane's velocities in front of the path, normal first.
  [[nodiscard]] __device__ double& u(int r) const { return own_.x[row_of(contact_, r)]; }
  /// Two vectors of [rows] for what comes after the path.
  [[nodiscard]] __device__ double* spare(int i) const { return own_.tableau + i * kRows; }

  [[nodiscard]] __device__ static double weight(int row) { return Base::covering_weight(row, 0); }
  /// Row r of a contact, its normal's first.
  [[nodiscard]] __device__ static int row_of(int contact, int r) {
    return r == 0 ? contact : Contacts + kTangents * contact + r - 1;
  }

  /// Up to the path's beginning, from u(). block(j, entries): of A, the lane's rows and contact j's
  /// columns, normal first; limit, friction: of the lane's contact; scaled as for ContactPath.
  template <class Block>
  __device__ Progress begin(bool on, Block&& block, double limit, double friction) {
    if (on && owns_) {
      own_.limit[contact_] = limit;
      own_.friction[contact_] = friction;
      choose_own_corner();
    }
    Together::barrier();
    double key = 1.0;
    if (on && owns_) {
      fill_rows(block);
      key = cover_rows();
    }
    const double least = Together{}.reduce(key, [](double a, double b) { return b < a ? b : a; });
    Progress progress = Progress::lost;
    if (on) {
      const double start = least < 1.0 ? -least : 0.0;
      progress = Base::depart(start);
      if (contact_ == 0) {
        own_.smallest[0] = this->smallest_time_;
        leave(progress);
      }
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

  /// Leaves registers to other work until recall.
  __device__ void pause() const { own_.value[0] = driving_value_; }
  /// Leaves in memory what extract needs.
  __device__ void leave(Progress progress) const {
    pause();
    int_at_.place[kInts] = static_cast<Int>(progress == Progress::lost ? kLost : driving_);
  }
  /// Takes the path up again; `begins`: for the first time.
  __device__ void recall(bool begins) {
    if (begins) {
      driving_ = time_id();
      direction_ = -1.0;
      time_row_ = -1;
    }
    driving_value_ = own_.value[0];
    this->smallest_time_ = own_.smallest[0];
    if (owns_) {
      limit_ = max_impulse_[contact_];
      frictional_ = mu(contact_) > 0.0;
      reach_ = mu(contact_) * edge_length();
    }
  }

  /// The impulse of the lane's contact at the path's end, into [rows]. False where it has none.
  __device__ bool extract(double* impulse) {
    driving_ = int_at_.place[kInts];
    if (driving_ == kLost) return false;
    if (owns_) {
      driving_value_ = own_.value[0];
      extract_own(impulse);
    }
    return true;
  }

 protected:
  using Together = typename PathLanes<Contacts>::Together;
  using Base::at, Base::at_, Base::corner_basis, Base::direction_, Base::driving_,
      Base::driving_value_, Base::edge_length, Base::friction_, Base::int_at_, Base::kTangents,
      Base::max_impulse_, Base::mu, Base::polygon_, Base::tangent_pair, Base::time_id;

  int contact_;  ///< the lane's
  bool owns_;    ///< that there is one
  // Of the lane's contact.
  double limit_ = 0.0;
  double reach_ = 0.0;  ///< length of the polygon's edges at a unit impulse
  bool frictional_ = false;
  int time_row_ = -1;  ///< t's, below 0 while it drives

 private:
  static constexpr int kLost = -1;  // driving variable of a path that has been lost

  __device__ void extract_own(double* impulse) const {
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

  /// Value of a force variable, `otherwise` where it is at a bound.
  __device__ double force(int id, double otherwise) const {
    const int place = int_at_.place[id];
    const bool basic = place < kRows;
    const double value = at_.x[basic ? place : 0];
    const double kept = kernels::at_least_zero(id == driving_ ? driving_value_ : value);
    return basic || id == driving_ ? kept : otherwise;
  }

  // As choose_corner, fill_tableau and cover of ContactPath, of only the lane's contact.

  __device__ void choose_own_corner() {
    const bool full = u(0) < 0.0 && max_impulse_[contact_] < kernels::kInfinity;
    double against[kTangents];
    for (int c = 0; c < kTangents; ++c) against[c] = -u(1 + c);
    int_at_.normal[contact_] =
        full ? kernels::contact_path::kFull : kernels::contact_path::kSeparate;
    int_at_.tangent[contact_] = kernels::contact_path::kCorner;
    int_at_.corner[contact_] = kernels::nearest_direction<Dim>(polygon_, against);
  }

  template <class Block>
  __device__ void fill_rows(Block&& block) {
    double velocity[kTangents][kTangents];
    corner_basis(int_at_.corner[contact_], velocity);
    double value[Dim];
    value[0] = kernels::fused(u(0), 1.0, 0.0);
    for (int slot = 0; slot < kTangents; ++slot) {
      double sum = 0.0;
      for (int c = 0; c < kTangents; ++c) {
        sum = kernels::fused(velocity[c][slot], u(1 + c), sum);
      }
      value[1 + slot] = sum;
    }
    for (int j = 0; j < Contacts; ++j) {
      double force[kTangents][kTangents];
      const int corner = int_at_.corner[j];
      corner_basis(corner, force);
      double sliding[kTangents];
      for (int c = 0; c < kTangents; ++c) sliding[c] = mu(j) * polygon_.direction[corner][c];
      double entry[Dim][Dim];
      block(j, entry);
      double response[Dim][Dim];
      for (int r = 0; r < Dim; ++r) {
        response[r][0] = kernels::fused(entry[r][0], 1.0, 0.0);
        for (int c = 0; c < kTangents; ++c) {
          response[r][0] = kernels::fused(entry[r][1 + c], sliding[c], response[r][0]);
        }
        for (int slot = 0; slot < kTangents; ++slot) {
          double sum = 0.0;
          for (int c = 0; c < kTangents; ++c) {
            sum = kernels::fused(entry[r][1 + c], force[c][slot], sum);
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

  const double* weights_;
  Layout<double*> own_;
};

}  // namespace carom::cuda
