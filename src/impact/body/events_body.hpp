#pragma once

#include <cstdint>

#include "impact/body/event_modes_body.hpp"
#include "impact/body/impact_body.hpp"

/// One solution of the inclusion (39), (40) of a planar impact, followed exactly from event to
/// event under weights that are drawn for stretches of impulse: no step size.
namespace carom::kernels {

class EventTrajectory {
 public:
  CAROM_HOST_DEVICE EventTrajectory(const ImpactRun& run, const ImpactProblemView& problem,
                                    const ImpactScratch<2>& scratch)
      : run_(run),
        problem_(problem),
        s_(scratch),
        m_(run.contacts),
        modes_(run.contacts, problem.delassus, problem.scale, problem.friction) {}

  /// Runs sample `sample` of problem `index`. Afterwards scratch.v, u and total hold v+, J v+ and
  /// the summed impulse. end.steps counts linear pieces, end.pivots series that were summed.
  /// `path`, if any: [max_steps + 1, nv] receives the first velocities at events, its last row v+.
  CAROM_HOST_DEVICE TrajectoryEnd run(std::uint32_t index, std::uint64_t sample, double* path) {
    TrajectoryEnd end{};
    end.status = TrajectoryStatus::max_steps;
    size_ = 0.0;
    for (int k = 0; k < 2 * m_; ++k) {
      s_.u[k] = problem_.contact_velocity[k];
      s_.total[k] = 0.0;
      size_ = larger(size_, magnitude(s_.u[k]));
    }
    for (int k = 0; k < 2 * m_; ++k) {
      if (magnitude(s_.u[k]) <= kZero * size_) s_.u[k] = 0.0;
    }
    block_ = 0;
    left_ = 0.0;
    events_ = 0;
    redrawn_ = 0;
    record(path, 0);
    while (approaches()) {
      if (end.steps == kMostPieces) return finished(end);
      if (!(left_ > 0.0)) begin_stretch(index, sample);
      if (!piece(end)) {
        if (end.status == TrajectoryStatus::failed) return finished(end);
        left_ = 0.0;  // no mode under these weights: others are drawn
      }
      ++end.steps;
      record(path, end.steps);
    }
    end.status = TrajectoryStatus::terminated;
    return finished(end);
  }

 private:
  static constexpr int kMostPieces = 4096;
  static constexpr double kZero = 1e-13;        ///< of the largest contact speed
  static constexpr double kTogether = 1e-12;    ///< of a piece: events at once
  static constexpr double kSameShape = 1e-8;    ///< of a cycle that repeats itself smaller
  static constexpr double kSlowest = 0.999;     ///< ratio of cycles that are summed
  static constexpr double kLeastWeight = 1e-5;  ///< of the largest; smaller ones are none
  static constexpr int kCyclesFrom = 24;  ///< events of a stretch before cycles are looked for

  CAROM_INLINE bool approaches() const {
    for (int i = 0; i < m_; ++i) {
      if (s_.u[i] < 0.0) return true;
    }
    return false;
  }

  /// Row `at` of the path; the last one is that of the newest velocity.
  CAROM_HOST_DEVICE void record(double* path, int at) const {
    if (path == nullptr) return;
    velocity(path + static_cast<long>(at < run_.max_steps ? at : run_.max_steps) * run_.velocities);
  }

  /// v + M^-1 J' (impulses so far).
  CAROM_HOST_DEVICE void velocity(double* v) const {
    for (int j = 0; j < run_.velocities; ++j) {
      double sum = problem_.velocity[j];
      for (int k = 0; k < 2 * m_; ++k) {
        sum = fused(problem_.response[static_cast<long>(j) * 2 * m_ + k], s_.total[k], sum);
      }
      v[j] = sum;
    }
  }

  /// Weights close to the corners of their simplex, at times in one; a length over all orders of
  /// magnitude up to what would stop the fastest contact.
  CAROM_HOST_DEVICE void begin_stretch(std::uint32_t index, std::uint64_t sample) {
    const UniformPair kind = uniform_pair(run_.seed, index, sample, block_++);
    const UniformPair choice = uniform_pair(run_.seed, index, sample, block_++);
    double sum = 0.0;
    for (int i = 0; i < m_; i += 2) {
      const UniformPair pair = uniform_pair(run_.seed, index, sample, block_++);
      weight_[i] = corner(pair.first);
      if (i + 1 < m_) weight_[i + 1] = corner(pair.second);
    }
    const int alone = static_cast<int>(kind.first * 3.0 * m_);
    double most = 0.0;
    for (int i = 0; i < m_; ++i) most = larger(most, weight_[i]);
    for (int i = 0; i < m_; ++i) {
      if (alone < m_) weight_[i] = i == alone ? 1.0 : 0.0;
      if (weight_[i] < kLeastWeight * most) weight_[i] = 0.0;
      if (s_.u[i] < 0.0) sum += weight_[i];
    }
    if (!(sum > 0.0)) {
      for (int i = 0; i < m_; ++i) {
        if (s_.u[i] < 0.0) weight_[i] = 1.0;
      }
    }
    sum = 0.0;
    for (int i = 0; i < m_; ++i) sum += weight_[i];
    for (int i = 0; i < m_; ++i) weight_[i] /= sum;
    first_ = static_cast<unsigned>(choice.second * 1048576.0);
    double longest = 0.0;
    for (int i = 0; i < m_; ++i) {
      const double own = modes_.response(i, i);
      if (own > 0.0) longest = larger(longest, size_ / own);
    }
    const int halvings = static_cast<int>(choice.first * 12.0);
    double scale = 4.0;
    for (int i = 0; i < halvings; ++i) scale *= 0.5;
    left_ = longest * scale * (0.5 + kind.second);
    if (longest == 0.0) left_ = 1.0;
    events_ = 0;
    cycle_ = 0;
  }
  CAROM_INLINE static double corner(double x) {
    const double square = x * x, fourth = square * square;
    return fourth * fourth;
  }

  /// One linear piece: to the next zero of a contact velocity or the stretch's end.
  CAROM_HOST_DEVICE bool piece(TrajectoryEnd& end) {
    EventRates rates;
    if (!modes_.find(s_.u, weight_, first_, rates)) {
      if (++redrawn_ > kMostPieces / 8) end.status = TrajectoryStatus::failed;
      return false;
    }
    const int rows = 2 * m_;
    double length = left_;
    int key = -1;
    for (int k = 0; k < rows; ++k) {
      const double u = s_.u[k], rate = rates.rate[k];
      if (k >= m_ && s_.u[k - m_] > 0.0) continue;  // of a contact that separates
      if (u * rate >= 0.0) continue;
      const double until = -u / rate;
      if (until < length) length = until, key = k;
    }
    std::uint32_t zeros = 0;
    double work = 0.0, worth = 0.0;
    for (int k = 0; k < rows; ++k) {
      const double before = s_.u[k], rate = rates.rate[k];
      double after = fused(length, rate, before);
      const bool counts = k < m_ || !(s_.u[k - m_] > 0.0);
      if (key >= 0 && counts && before * rate < 0.0 &&
          (k == key || -before / rate <= length * (1.0 + kTogether) ||
           magnitude(after) <= kZero * magnitude(before))) {
        after = 0.0;
      }
      if (before * after < 0.0 && counts) after = 0.0;
      next_[k] = after;
      if (after == 0.0) zeros |= 1U << k;
      const double part = rates.impulse[k] * 0.5 * (before + after) * length;
      work += part;
      worth += magnitude(part);
    }
    certify(rates, end);
    if (work > 1e-12 * worth + 1e-15 * problem_.energy) end.residual = larger(end.residual, work);
    for (int k = 0; k < rows; ++k) {
      s_.u[k] = next_[k];
      s_.total[k] = fused(length, rates.impulse[k], s_.total[k]);
    }
    left_ = key < 0 ? 0.0 : left_ - length;
    ++events_;
    if (key >= 0 && events_ > kCyclesFrom) watch(key, zeros, end);
    return true;
  }

  /// Coulomb's law and complementarity of push and gap velocity at both ends of a piece.
  CAROM_HOST_DEVICE void certify(const EventRates& rates, TrajectoryEnd& end) const {
    double wrong = 0.0;
    for (int i = 0; i < m_; ++i) {
      const double normal = rates.impulse[i], tangent = rates.impulse[m_ + i];
      const double most = problem_.friction[i] * normal;
      if (normal < 0.0 || magnitude(tangent) > most * (1.0 + 1e-12)) wrong = kInfinity;
      if (!(normal > 0.0)) continue;
      for (const double* u :
           {static_cast<const double*>(s_.u), static_cast<const double*>(next_)}) {
        wrong = larger(wrong, u[i] / size_);
        const double opposed = u[m_ + i] > 0.0 ? -most : most;
        if (u[m_ + i] != 0.0 && magnitude(tangent - opposed) > 1e-12 * most) {
          wrong = larger(wrong, magnitude(u[m_ + i]) / size_);
        }
      }
    }
    end.residual = larger(end.residual, wrong);
  }

  /// Events that alternate in cycles, each a copy of the one before it and smaller by one ratio,
  /// sum to a geometric series: the state behind all of them is taken at once.
  CAROM_HOST_DEVICE void watch(int key, std::uint32_t zeros, TrajectoryEnd& end) {
    const int rows = 2 * m_;
    if (cycle_ == 0) key_ = key, seen_ = 0;
    seen_ |= zeros;
    if (key != key_) {
      if (++since_ > kCyclesFrom) cycle_ = 0;
      return;
    }
    since_ = 0;
    Mark& mark = mark_[cycle_ % 3];
    for (int k = 0; k < rows; ++k) mark.u[k] = s_.u[k], mark.total[k] = s_.total[k];
    mark.left = left_;
    ++cycle_;
    if (cycle_ < 3) return;
    const Mark& first = mark_[cycle_ % 3];
    const Mark& second = mark_[(cycle_ + 1) % 3];
    const double ratio = (second.left - mark.left) / (first.left - second.left);
    if (!(ratio > 0.0 && ratio < kSlowest)) return;
    double largest = 0.0, wrong = 0.0;
    for (int k = 0; k < rows; ++k) {
      const double step = second.u[k] - first.u[k], next = mark.u[k] - second.u[k];
      largest = larger(largest, magnitude(step));
      wrong = larger(wrong, magnitude(fused(-ratio, step, next)));
    }
    if (!(wrong <= kSameShape * largest)) return;
    const double times = ratio / (1.0 - ratio);
    const double spent = times * (second.left - mark.left);
    if (!(spent < left_)) return;
    for (int k = 0; k < rows; ++k) {
      s_.total[k] = fused(times, mark.total[k] - second.total[k], s_.total[k]);
      s_.u[k] = fused(times, mark.u[k] - second.u[k], s_.u[k]);
      if ((seen_ >> k & 1U) != 0) s_.u[k] = 0.0;
    }
    left_ -= spent;
    cycle_ = 0;
    ++end.pivots;
  }

  CAROM_HOST_DEVICE TrajectoryEnd finished(TrajectoryEnd end) {
    velocity(s_.v);
    double wrong = 0.0;
    for (int k = 0; k < 2 * m_; ++k) {
      double sum = 0.0;
      for (int j = 0; j < run_.velocities; ++j) {
        sum = fused(problem_.jacobian[static_cast<long>(k) * run_.velocities + j], s_.v[j], sum);
      }
      wrong = larger(wrong, magnitude(sum - s_.u[k]));
    }
    if (size_ > 0.0) end.residual = larger(end.residual, wrong / size_);
    if (!certificate::within(end.residual, run_.residual_tolerance)) {
      end.status = TrajectoryStatus::failed;
    }
    if (end.status == TrajectoryStatus::failed) {
      end.residual = kInfinity;
      return end;
    }
    end.modes = contact_modes<2>(m_, s_.u, run_.mode_tolerance);
    end.energy_ratio = kernels::energy_ratio<double>(problem_, run_.velocities, s_.v);
    end.in_net = end.status == TrajectoryStatus::terminated;
    end.net_modes = end.modes;
    return end;
  }

  struct Mark {
    double u[kMaxEventRows], total[kMaxEventRows];
    double left;
  };

  const ImpactRun& run_;
  const ImpactProblemView& problem_;
  const ImpactScratch<2>& s_;
  int m_;
  EventModes modes_;
  double weight_[kMaxEventContacts];
  double next_[kMaxEventRows];
  double size_ = 0.0;
  double left_ = 0.0;
  std::uint32_t block_ = 0;
  unsigned first_ = 0;
  int events_ = 0;
  int redrawn_ = 0;
  Mark mark_[3];
  int cycle_ = 0, key_ = -1, since_ = 0;
  std::uint32_t seen_ = 0;
};

}  // namespace carom::kernels
