#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

#include "motion/body/contact_forces.hpp"

namespace carom::kernels::motion {

/// Laws of the contacts that touch without approach: the solutions of the contact problem of
/// accelerations and forces with Coulomb's law, by trying every combination of open, stick and
/// slide. Combinations of one acceleration are one solution; of them the one with the most
/// preferred laws is kept, then that which sticks most.
template <class T>
class LawSearch {
  static constexpr int kContacts = T::kSizes.constraints;
  static constexpr int kV = T::kSizes.velocities;
  static constexpr int kRows = T::kRows;

 public:
  static constexpr int kMostSolutions = 12;

  /// candidates: contacts that touch; sliding: those of them that slip, along `direction`.
  CAROM_HOST_DEVICE LawSearch(const MechanismSizes& size, const LocalState<T>& at,
                              unsigned candidates, unsigned sliding, const double (*direction)[2],
                              const int* preferred, double tolerance)
      : size_(size),
        at_(at),
        candidates_(candidates),
        sliding_(sliding),
        direction_(direction),
        preferred_(preferred),
        tolerance_(tolerance) {
    for (int j = 0; j < size.velocities; ++j) {
      acceleration_ = larger(acceleration_, 1e-3 * magnitude(at.free[j]));
    }
    double yielding = 0.0;
    for (int i = 0; i < size.constraints; ++i) {
      if (!touches(i)) continue;
      acceleration_ = larger(acceleration_, magnitude(bend(i, 0, at.free)));
      double effect[kV];
      for (int j = 0; j < size.velocities; ++j) effect[j] = at.rows[i][j];
      solve_factor(size.velocities, at.factor, effect);
      yielding = larger(yielding, LocalState<T>::along(size.velocities, at.rows[i], effect));
    }
    if (!(acceleration_ > 0.0)) acceleration_ = 1e-300;
    force_ = yielding > 0.0 ? acceleration_ / yielding : 1e-300;
  }

  /// Number of solutions, at most kMostSolutions.
  CAROM_HOST_DEVICE int run() {
    long combinations = 1;
    for (int i = 0; i < size_.constraints; ++i) combinations *= options(i);
    Laws<T> laws;
    Response<T> response;
    for (long code = 0; code < combinations; ++code) {
      if (!holds(code, laws, response)) continue;
      keep(code, laws, response);
    }
    return count_;
  }

  /// Solution `which`; its residual.
  CAROM_HOST_DEVICE double take(int which, Laws<T>& laws, Response<T>& response) const {
    holds(code_[which], laws, response);
    return law_residual<T>(size_, at_, laws, response, candidates_, acceleration_, force_);
  }

  [[nodiscard]] CAROM_INLINE double acceleration_scale() const { return acceleration_; }
  [[nodiscard]] CAROM_INLINE double force_scale() const { return force_; }

 private:
  [[nodiscard]] CAROM_INLINE bool touches(int i) const { return (candidates_ >> i & 1U) != 0U; }
  [[nodiscard]] CAROM_INLINE bool slides(int i) const { return (sliding_ >> i & 1U) != 0U; }
  [[nodiscard]] CAROM_INLINE bool rough(int i) const { return at_.friction[i] > 0.0; }
  [[nodiscard]] CAROM_INLINE int options(int i) const {
    if (!touches(i)) return 1;
    if (slides(i) || !rough(i)) return 2;
    return kRows == 2 ? 4 : 3;
  }
  [[nodiscard]] CAROM_INLINE double bend(int i, int row, const double* acceleration) const {
    return LocalState<T>::along(size_.velocities, at_.rows[i] + row * size_.velocities,
                                acceleration) +
           at_.drift[i][row];
  }

  /// The laws of a combination; `onset`: contacts that start to slide in a direction to be found.
  CAROM_HOST_DEVICE void decode(long code, Laws<T>& laws, unsigned& onset) const {
    onset = 0;
    for (int i = 0; i < size_.constraints; ++i) {
      laws.law[i] = Law::open;
      laws.direction[i][0] = laws.direction[i][1] = 0.0;
      if (!touches(i)) continue;
      const int count = options(i);
      const int option = static_cast<int>(code % count);
      code /= count;
      if (option == count - 1) continue;
      if (slides(i)) {
        laws.law[i] = Law::slide;
        for (int d = 0; d < 2; ++d) laws.direction[i][d] = direction_[i][d];
      } else if (!rough(i)) {
        laws.law[i] = Law::slide;
      } else if (option == 0) {
        laws.law[i] = Law::stick;
      } else {
        laws.law[i] = Law::slide;
        laws.direction[i][0] = option == 1 ? 1.0 : -1.0;
        if (kRows == 3) onset |= 1U << i;
      }
    }
  }

  CAROM_HOST_DEVICE bool holds(long code, Laws<T>& laws, Response<T>& response) const {
    unsigned onset = 0;
    decode(code, laws, onset);
    if (!respond<T>(size_, at_, laws, response)) return false;
    if constexpr (kRows == 3) {
      if (onset != 0 && !find_directions(onset, laws, response)) return false;
    }
    if (response.redundant && !split(laws, response)) return false;
    double load = 0.0;
    for (int i = 0; i < size_.constraints; ++i)
      load = larger(load, magnitude(response.force[i][0]));
    const double slack_force = tolerance_ * larger(force_, load);
    double quick = acceleration_;
    for (int j = 0; j < size_.velocities; ++j) {
      if (!is_finite(response.acceleration[j])) return false;
      quick = larger(quick, 1e-3 * magnitude(response.acceleration[j]));
    }
    const double slack = tolerance_ * quick;
    for (int i = 0; i < size_.constraints; ++i) {
      if (!touches(i)) continue;
      const double opening = bend(i, 0, response.acceleration);
      if (laws.law[i] == Law::open) {
        if (!(opening >= -slack)) return false;
        continue;
      }
      const double normal = response.force[i][0];
      if (!(normal >= -slack_force) || !(magnitude(opening) <= slack)) return false;
      if (laws.law[i] == Law::stick) {
        double tangent = 0.0;
        for (int d = 1; d < kRows; ++d) {
          tangent = fused(response.force[i][d], response.force[i][d], tangent);
          if (!(magnitude(bend(i, d, response.acceleration)) <= slack)) return false;
        }
        if (!(square_root(tangent) <=
              at_.friction[i] * normal + slack_force * larger(1.0, at_.friction[i]))) {
          return false;
        }
      } else if (!slides(i) && rough(i)) {
        double slip = 0.0;
        for (int d = 1; d < kRows; ++d) {
          slip = fused(laws.direction[i][d - 1], bend(i, d, response.acceleration), slip);
        }
        if (!(slip >= -slack)) return false;
      }
    }
    return true;
  }

  /// Keeps the split of least norm where its forces obey the laws, else looks for another.
  CAROM_HOST_DEVICE bool split(const Laws<T>& laws, Response<T>& response) const {
    return obeys<T>(size_, at_, laws, response, tolerance_ * force_) ||
           share<T>(size_, at_, laws, 0.1 * tolerance_ * acceleration_, response);
  }

  /// Slip starts along the acceleration that its own friction leaves: a fixed point, from the force
  /// that sticking would take.
  CAROM_HOST_DEVICE bool find_directions(unsigned onset, Laws<T>& laws,
                                         Response<T>& response) const {
    Laws<T> stuck = laws;
    for (int i = 0; i < size_.constraints; ++i) {
      if ((onset >> i & 1U) != 0U) stuck.law[i] = Law::stick;
    }
    if (!respond<T>(size_, at_, stuck, response)) return false;
    for (int i = 0; i < size_.constraints; ++i) {
      if ((onset >> i & 1U) == 0U) continue;
      double way[2] = {-response.force[i][1], -response.force[i][kRows - 1]};
      if (!turn(way, laws.direction[i])) return false;
    }
    for (int round = 0; round < kRounds; ++round) {
      if (!respond<T>(size_, at_, laws, response)) return false;
      double moved = 0.0;
      for (int i = 0; i < size_.constraints; ++i) {
        if ((onset >> i & 1U) == 0U) continue;
        double way[2] = {bend(i, 1, response.acceleration),
                         bend(i, kRows - 1, response.acceleration)};
        const double before[2] = {laws.direction[i][0], laws.direction[i][1]};
        if (!turn(way, laws.direction[i])) return false;
        for (int d = 0; d < 2; ++d) {
          moved = larger(moved, magnitude(laws.direction[i][d] - before[d]));
        }
      }
      if (moved <= 1e-13) return true;
    }
    return false;
  }
  CAROM_INLINE bool turn(const double* way, double* direction) const {
    const double size = square_root(fused(way[0], way[0], way[1] * way[1]));
    if (!(size > tolerance_ * acceleration_)) return false;
    direction[0] = way[0] / size;
    direction[1] = way[1] / size;
    return true;
  }

  CAROM_HOST_DEVICE void keep(long code, const Laws<T>& laws, const Response<T>& response) {
    int score = 0;
    for (int i = 0; i < size_.constraints; ++i) {
      if (!touches(i)) continue;
      const int law = static_cast<int>(laws.law[i]);
      if (preferred_[i] == law) score += 64;
      score += laws.law[i] == Law::stick ? 2 : (laws.law[i] == Law::slide ? 1 : 0);
    }
    double quick = acceleration_;
    for (int j = 0; j < size_.velocities; ++j) {
      quick = larger(quick, magnitude(response.acceleration[j]));
    }
    for (int known = 0; known < count_; ++known) {
      bool same = true;
      for (int j = 0; j < size_.velocities; ++j) {
        same = same && magnitude(found_[known][j] - response.acceleration[j]) <= kDistinct * quick;
      }
      if (!same) continue;
      if (score > score_[known]) {
        score_[known] = score;
        code_[known] = code;
      }
      return;
    }
    if (count_ == kMostSolutions) return;
    for (int j = 0; j < size_.velocities; ++j) found_[count_][j] = response.acceleration[j];
    score_[count_] = score;
    code_[count_] = code;
    ++count_;
  }

  static constexpr double kDistinct = 1e-7;
  static constexpr int kRounds = 200;

  const MechanismSizes& size_;
  const LocalState<T>& at_;
  unsigned candidates_, sliding_;
  const double (*direction_)[2];
  const int* preferred_;
  double tolerance_;
  double acceleration_ = 0.0;
  double force_ = 0.0;
  int count_ = 0;
  int score_[kMostSolutions];
  long code_[kMostSolutions];
  double found_[kMostSolutions][kV];
};

}  // namespace carom::kernels::motion
