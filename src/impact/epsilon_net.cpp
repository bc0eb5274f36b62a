#include "impact/epsilon_net.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace carom {

namespace {

/// floor without a call into the mathematics library.
std::int64_t floor_to_cell(double x) {
  const auto truncated = static_cast<std::int64_t>(x);
  return truncated - (static_cast<double>(truncated) > x ? 1 : 0);
}

std::uint64_t hash_cell(const std::int64_t* cell, int nv) {
  std::uint64_t hash = 0x9e3779b97f4a7c15ULL;
  for (int i = 0; i < nv; ++i) {
    hash ^= static_cast<std::uint64_t>(cell[i]);
    hash *= 0xff51afd7ed558ccdULL;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

NetBuilder::NetBuilder(int velocities, int contact_rows, double epsilon, std::int64_t capacity)
    : nv_(velocities),
      rows_(contact_rows),
      epsilon_(epsilon),
      edge_(velocities > 0 ? epsilon / std::sqrt(static_cast<double>(velocities)) : epsilon),
      capacity_(capacity) {
  if (enabled()) rehash(1024);
}

void NetBuilder::add(std::int64_t sample, const double* velocity, const double* impulse,
                     std::uint64_t modes, std::int64_t multiplicity) {
  std::array<std::int64_t, kMaxVelocities> cell;
  for (int i = 0; i < nv_; ++i) {
    const auto fine = floor_to_cell(velocity[i] / edge_);
    cell[static_cast<std::size_t>(i)] = (fine + kOrigin) >> level_;
  }
  insert(cell.data(), sample, velocity, impulse, modes, multiplicity);
  while (points() > capacity_) coarsen();
}

void NetBuilder::merge(const NetBuilder& other) {
  dropped_ += other.dropped_;
  while (level_ < other.level_) coarsen();
  const int shift = level_ - other.level_;
  std::array<std::int64_t, kMaxVelocities> cell{};
  for (std::int64_t p = 0; p < other.points(); ++p) {
    const auto point = static_cast<std::size_t>(p);
    for (int i = 0; i < nv_; ++i) {
      cell[static_cast<std::size_t>(i)] =
          other.cells_[point * static_cast<std::size_t>(nv_) + static_cast<std::size_t>(i)] >>
          shift;
    }
    insert(cell.data(), other.first_sample_[point],
           other.velocity_.data() + point * static_cast<std::size_t>(nv_),
           other.impulse_.data() + point * static_cast<std::size_t>(rows_), other.modes_[point],
           other.multiplicity_[point]);
  }
  while (points() > capacity_) coarsen();
}

std::size_t NetBuilder::find_slot(const std::int64_t* cell) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = static_cast<std::size_t>(hash_cell(cell, nv_)) & mask;
  while (slots_[slot] >= 0) {
    const std::int64_t* held =
        cells_.data() + static_cast<std::size_t>(slots_[slot]) * static_cast<std::size_t>(nv_);
    int same = 0;  // a loop: calling memcmp for so few takes longer
    while (same < nv_ && held[same] == cell[same]) ++same;
    if (same == nv_) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

void NetBuilder::insert(const std::int64_t* cell, std::int64_t sample, const double* velocity,
                        const double* impulse, std::uint64_t modes, std::int64_t multiplicity) {
  const std::size_t slot = find_slot(cell);
  if (slots_[slot] < 0) {
    slots_[slot] = static_cast<std::int32_t>(modes_.size());
    cells_.insert(cells_.end(), cell, cell + nv_);
    velocity_.insert(velocity_.end(), velocity, velocity + nv_);
    impulse_.insert(impulse_.end(), impulse, impulse + rows_);
    modes_.push_back(modes);
    multiplicity_.push_back(multiplicity);
    first_sample_.push_back(sample);
    if (2 * modes_.size() > slots_.size()) rehash(4 * slots_.size());
    return;
  }
  const auto point = static_cast<std::size_t>(slots_[slot]);
  multiplicity_[point] += multiplicity;
  if (sample < first_sample_[point]) {
    first_sample_[point] = sample;
    modes_[point] = modes;
    std::copy_n(velocity, nv_, velocity_.data() + point * static_cast<std::size_t>(nv_));
    std::copy_n(impulse, rows_, impulse_.data() + point * static_cast<std::size_t>(rows_));
  }
}

void NetBuilder::coarsen() {
  NetBuilder coarse(nv_, rows_, epsilon_, capacity_);
  coarse.level_ = level_ + 1;
  // Halving a cell's coordinates is exact, so the coarse cell is the one that add() would find.
  std::array<std::int64_t, kMaxVelocities> cell{};
  for (std::size_t point = 0; point < modes_.size(); ++point) {
    for (int i = 0; i < nv_; ++i) {
      cell[static_cast<std::size_t>(i)] =
          cells_[point * static_cast<std::size_t>(nv_) + static_cast<std::size_t>(i)] >> 1;
    }
    coarse.insert(cell.data(), first_sample_[point],
                  velocity_.data() + point * static_cast<std::size_t>(nv_),
                  impulse_.data() + point * static_cast<std::size_t>(rows_), modes_[point],
                  multiplicity_[point]);
  }
  coarse.dropped_ = dropped_;
  *this = std::move(coarse);
}

void NetBuilder::rehash(std::size_t slots) {
  slots_.assign(slots, -1);
  for (std::size_t point = 0; point < modes_.size(); ++point) {
    slots_[find_slot(cells_.data() + point * static_cast<std::size_t>(nv_))] =
        static_cast<std::int32_t>(point);
  }
}

EpsilonNet NetBuilder::finish(std::int64_t first_sample, std::int64_t samples) const {
  EpsilonNet net;
  net.requested_epsilon = epsilon_;
  net.epsilon = std::ldexp(epsilon_, level_);
  net.velocities = nv_;
  net.contact_rows = rows_;
  net.dropped = dropped_;
  std::vector<std::size_t> order(modes_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return first_sample_[a] < first_sample_[b]; });
  const auto nv = static_cast<std::size_t>(nv_);
  const auto rows = static_cast<std::size_t>(rows_);
  for (const std::size_t point : order) {
    const double* velocity = velocity_.data() + point * nv;
    const double* impulse = impulse_.data() + point * rows;
    net.velocity.insert(net.velocity.end(), velocity, velocity + nv);
    net.impulse.insert(net.impulse.end(), impulse, impulse + rows);
    net.modes.push_back(modes_[point]);
    net.multiplicity.push_back(multiplicity_[point]);
    net.first_sample.push_back(first_sample_[point]);
  }
  for (std::int64_t count = 1; count <= samples; count *= 2) {
    const auto end =
        std::lower_bound(net.first_sample.begin(), net.first_sample.end(), first_sample + count);
    net.coverage.push_back(end - net.first_sample.begin());
  }
  return net;
}

}  // namespace carom
