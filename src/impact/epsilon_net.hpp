#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <carom/types/impact.hpp>

namespace carom {

/// Epsilon-net under construction: at most one point per cube of edge epsilon/sqrt(nv) * 2^level.
/// What it holds after a set of samples does not depend on their order or on how they were split
/// among nets that are merged: the kept point of a cube is its sample of lowest index, and the
/// level is the lowest at which the points fit the capacity.
class NetBuilder {
 public:
  NetBuilder() = default;
  NetBuilder(int velocities, int contact_rows, double epsilon, std::int64_t capacity);

  [[nodiscard]] bool enabled() const { return epsilon_ > 0.0; }

  void add(std::int64_t sample, const double* velocity, const double* impulse, std::uint64_t modes,
           std::int64_t multiplicity = 1);
  void merge(const NetBuilder& other);
  void count_dropped(std::int64_t samples) { dropped_ += samples; }

  /// Points by ascending first sample; coverage after 1, 2, 4, .. `samples` (relative to
  /// `first_sample`).
  [[nodiscard]] EpsilonNet finish(std::int64_t first_sample, std::int64_t samples) const;

  [[nodiscard]] std::int64_t points() const { return static_cast<std::int64_t>(modes_.size()); }
  /// Edge of the cubes of level 0. Samples of one such cube share their cube at every level.
  [[nodiscard]] double edge() const { return edge_; }
  [[nodiscard]] int level() const { return level_; }

  /// Where the velocity 0 lies in the lattice, in cubes of level 0. Its bits alternate, so that 0
  /// is never near a face of its cube: on a lattice that starts at 0 the signs of v would never
  /// merge, and a capacity of less than 2^nv could not be kept.
  static constexpr std::int64_t kOrigin = 0x2aaaaaaaaaaaaaaaLL;

 private:
  [[nodiscard]] std::size_t find_slot(const std::int64_t* cell) const;
  void insert(const std::int64_t* cell, std::int64_t sample, const double* velocity,
              const double* impulse, std::uint64_t modes, std::int64_t multiplicity);
  void coarsen();
  void rehash(std::size_t slots);

  int nv_ = 0;
  int rows_ = 0;
  double epsilon_ = 0.0;
  double edge_ = 0.0;
  int level_ = 0;
  std::int64_t capacity_ = 0;
  std::int64_t dropped_ = 0;
  std::vector<std::int32_t> slots_;  // point index or -1, open addressing
  std::vector<std::int64_t> cells_;  // [points, nv]
  std::vector<double> velocity_;     // [points, nv]
  std::vector<double> impulse_;      // [points, rows]
  std::vector<std::uint64_t> modes_;
  std::vector<std::int64_t> multiplicity_;
  std::vector<std::int64_t> first_sample_;
};

}  // namespace carom
