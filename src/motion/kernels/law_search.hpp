#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

#include "motion/kernels/contact_forces.hpp"

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
  CAROM_CALL LawSearch(const SizesOf<T>& size, const LocalState<T>& at, unsigned candidates,
                       unsigned sliding, const double (*direction)[2], const int* preferred,
                       double tolerance)
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
      at.solve(size.velocities, effect);
      yielding = larger(yielding, LocalState<T>::along(size.velocities, at.rows[i], effect));
    }
    if (!(acceleration_ > 0.0)) acceleration_ = 1e-300;
    force_ = yielding > 0.0 ? acceleration_ / yielding : 1e-300;
  }

  /// Number of solutions, at most kMostSolutions.
  CAROM_CALL int run() {
    long combinations = 1;
    for (int i = 0; i < size_.constraints; ++i) combinations *= options(i);
    Laws<T> laws;
    Response<T> response;
    const auto try_all = [&] {
      for (long code = 0; code < combinations; ++code) {
        if (holds(code, laws, response)) keep(code, laws, response);
      }
    };
    try_all();
    if constexpr (kRows == 3) {
      if (count_ == 0) {
        thorough_ = true;
        try_all();
      }
      if (count_ == 0 && iterate()) {
        code_[0] = kIterated;
        count_ = 1;
      }
    }
    return count_;
  }

  /// Solution `which`; its residual.
  CAROM_CALL double take(int which, Laws<T>& laws, Response<T>& response) const {
    if (code_[which] == kIterated) {
      laws = iterated_laws_;
      response = iterated_;
    } else {
      holds(code_[which], laws, response);
    }
    double force = force_;
    for (int i = 0; i < size_.constraints; ++i) {
      force = larger(force, magnitude(response.force[i][0]));
    }
    double quick = acceleration_;
    for (int j = 0; j < size_.velocities; ++j) {
      quick = larger(quick, 1e-3 * magnitude(response.acceleration[j]));
    }
    return law_residual<T>(size_, at_, laws, response, candidates_, sliding_, quick, force);
  }

  [[nodiscard]] CAROM_INLINE double acceleration_scale() const { return acceleration_; }
  [[nodiscard]] CAROM_INLINE double force_scale() const { return force_; }

 private:
  [[nodiscard]] CAROM_INLINE bool touches(int i) const { return has(candidates_, i); }
  [[nodiscard]] CAROM_INLINE bool slides(int i) const { return has(sliding_, i); }
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
  CAROM_CALL void decode(long code, Laws<T>& laws, unsigned& onset) const {
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

  CAROM_CALL bool holds(long code, Laws<T>& laws, Response<T>& response) const {
    unsigned onset = 0;
    decode(code, laws, onset);
    if (!respond<T>(size_, at_, laws, response)) return false;
    if constexpr (kRows == 3) {
      if (onset != 0 && !find_directions(onset, laws, response)) return false;
    }
    if (response.redundant && !split(laws, nullptr, response)) return false;
    return agrees(laws, response);
  }

  /// Forces and accelerations obey the laws.
  CAROM_CALL bool agrees(const Laws<T>& laws, const Response<T>& response) const {
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
        if constexpr (kRows == 3) {  // along its own acceleration, whatever split was taken
          const double across = fused(laws.direction[i][0], bend(i, 2, response.acceleration),
                                      -(laws.direction[i][1] * bend(i, 1, response.acceleration)));
          if (!(magnitude(across) <= slack)) return false;
        }
      }
    }
    return true;
  }

  /// Keeps the split of least norm where its forces obey the laws, else looks for another from
  /// `start`.
  CAROM_CALL bool split(const Laws<T>& laws, const double (*start)[kRows],
                        Response<T>& response) const {
    return obeys<T>(size_, at_, laws, response, tolerance_ * force_) ||
           share<T>(size_, at_, laws, tolerance_ * force_, start, response);
  }

  [[nodiscard]] CAROM_INLINE static bool has(unsigned mask, int i) {
    return (mask >> i & 1U) != 0U;
  }

  /// Slip starts along the acceleration that its own friction leaves: a fixed point, from the force
  /// that sticking would take.
  CAROM_CALL bool find_directions(unsigned onset, Laws<T>& laws, Response<T>& response) const {
    Laws<T> stuck = laws;
    for (int i = 0; i < size_.constraints; ++i) {
      if (has(onset, i)) stuck.law[i] = Law::stick;
    }
    if (!respond<T>(size_, at_, stuck, response)) return false;
    if (thorough_ && response.redundant) split(stuck, nullptr, response);
    for (int i = 0; i < size_.constraints; ++i) {
      if (!has(onset, i)) continue;
      double way[2] = {-response.force[i][1], -response.force[i][kRows - 1]};
      if (!turn_to(way, laws.direction[i])) return false;
    }
    const Laws<T> start = laws;
    for (int round = 0; round < kRounds; ++round) {
      if (!respond<T>(size_, at_, laws, response)) return false;
      double moved = 0.0;
      for (int i = 0; i < size_.constraints; ++i) {
        if (!has(onset, i)) continue;
        double way[2] = {bend(i, 1, response.acceleration),
                         bend(i, kRows - 1, response.acceleration)};
        const double before[2] = {laws.direction[i][0], laws.direction[i][1]};
        if (!turn(way, laws.direction[i])) {
          if (!thorough_) return false;
          continue;  // any will do
        }
        for (int d = 0; d < 2; ++d) {
          moved = larger(moved, magnitude(laws.direction[i][d] - before[d]));
        }
      }
      if (moved <= 1e-13) return true;
    }
    if (sharpen(onset, laws, response)) return true;
    if (!thorough_) return false;
    // Substitution goes astray where slip is about to start: friction's turns outweigh it.
    laws = start;
    if (sharpen(onset, laws, response)) return true;
    laws = start;
    return look_around(onset, laws, response);
  }

  /// The direction of one contact, by a look at all of them.
  CAROM_CALL bool look_around(unsigned onset, Laws<T>& laws, Response<T>& response) const {
    constexpr int kLooks = 48;
    constexpr double kCosine = 0.9914448613738104;  // of 1 / kLooks of a turn
    constexpr double kSine = 0.13052619222005157;
    if ((onset & (onset - 1U)) != 0U) return false;
    int i = 0;
    while (!has(onset, i)) ++i;
    double* d = laws.direction[i];
    double across = 0.0;
    double along = 0.0;
    if (!astray(i, laws, response, across, along)) return false;
    for (int look = 0; look < kLooks; ++look) {
      double low[2] = {d[0], d[1]};
      const double before = across;
      const bool ahead = along > 0.0;
      rotate(d, kCosine, kSine);
      double high[2] = {d[0], d[1]};
      if (!astray(i, laws, response, across, along)) return false;
      if ((before > 0.0) == (across > 0.0) || !(ahead || along > 0.0)) continue;
      double there = before;
      double onward = 0.0;
      for (int halving = 0; halving < 60; ++halving) {
        const double middle[2] = {low[0] + high[0], low[1] + high[1]};
        if (!turn_to(middle, d) || !astray(i, laws, response, there, onward)) return false;
        double* end = (there > 0.0) == (before > 0.0) ? low : high;
        end[0] = d[0];
        end[1] = d[1];
      }
      if (onward > 0.0 && magnitude(there) <= tolerance_ * acceleration_) return true;
      for (int k = 0; k < 2; ++k) d[k] = high[k];
      if (!astray(i, laws, response, across, along)) return false;
    }
    return false;
  }

  /// How far contact i's acceleration along its tangents turns away from its direction.
  CAROM_CALL bool astray(int i, const Laws<T>& laws, Response<T>& response, double& across,
                         double& along) const {
    if (!respond<T>(size_, at_, laws, response)) return false;
    const double x = bend(i, 1, response.acceleration);
    const double y = bend(i, kRows - 1, response.acceleration);
    const double* d = laws.direction[i];
    across = fused(d[0], y, -(d[1] * x));
    along = fused(d[0], x, d[1] * y);
    return true;
  }
  CAROM_INLINE static void rotate(double* d, double cosine, double sine) {
    const double way[2] = {fused(cosine, d[0], -(sine * d[1])), fused(sine, d[0], cosine * d[1])};
    turn_to(way, d);
  }

  /// Newton's method in the angles of all directions.
  CAROM_CALL bool sharpen(unsigned onset, Laws<T>& laws, Response<T>& response) const {
    constexpr double kTilt = 1e-6;
    SmallSystem<kContacts, LaneOf<T>> system;
    int contact[kContacts];
    int count = 0;
    for (int i = 0; i < size_.constraints; ++i) {
      if (has(onset, i)) contact[count++] = i;
    }
    bool forward = false;
    const auto residuals = [&](double* out) {
      forward = true;
      for (int k = 0; k < count; ++k) {
        double along = 0.0;
        if (!astray(contact[k], laws, response, out[k], along)) return false;
        out[k] /= acceleration_;
        forward = forward && along > -tolerance_ * acceleration_;
      }
      return true;
    };
    for (int round = 0; round < 12; ++round) {
      double now[kContacts];
      if (!residuals(now)) return false;
      double worst = 0.0;
      for (int k = 0; k < count; ++k) worst = larger(worst, magnitude(now[k]));
      if (worst <= 1e-14 || (round > 6 && worst <= 1e-12)) return forward;
      for (int c = 0; c < count; ++c) {
        double* d = laws.direction[contact[c]];
        const double held[2] = {d[0], d[1]};
        double tilted[kContacts];
        rotate(d, 1.0, kTilt);
        const bool known = residuals(tilted);
        d[0] = held[0];
        d[1] = held[1];
        if (!known) return false;
        for (int k = 0; k < count; ++k) system.a[k][c] = (tilted[k] - now[k]) / kTilt;
      }
      for (int k = 0; k < count; ++k) system.b[k] = -now[k];
      double step[kContacts];
      bool redundant = false;
      if (!system.solve(count, step, redundant) || redundant) return false;
      for (int c = 0; c < count; ++c) {
        rotate(laws.direction[contact[c]], 1.0, larger(-0.5, smaller(0.5, step[c])));
      }
    }
    return false;
  }
  CAROM_INLINE bool turn(const double* way, double* direction) const {
    const double size = square_root(fused(way[0], way[0], way[1] * way[1]));
    return size > tolerance_ * acceleration_ && turn_to(way, direction);
  }
  CAROM_INLINE static bool turn_to(const double* way, double* direction) {
    const double size = square_root(fused(way[0], way[0], way[1] * way[1]));
    if (!(size > 0.0)) return false;
    direction[0] = way[0] / size;
    direction[1] = way[1] / size;
    return true;
  }

  /// Where no combination's directions settle, or contacts share loads that no split by itself
  /// obeys: forces by projection on Coulomb's cones, contact after contact, with De Saxce's
  /// correction of the normal acceleration; what they come to is told from laws, which then are
  /// solved and checked like any others.
  CAROM_CALL bool iterate() {
    const int nv = size_.velocities;
    double effect[kContacts][kRows][kV];
    double force[kContacts][kRows] = {};
    double yielding[kContacts] = {};
    double moving[kV];
    for (int j = 0; j < nv; ++j) moving[j] = at_.free[j];
    for (int i = 0; i < size_.constraints; ++i) {
      for (int k = 0; k < kRows && touches(i); ++k) {
        const double* row = at_.rows[i] + k * nv;
        double* column = effect[i][k];
        for (int j = 0; j < nv; ++j) column[j] = row[j];
        for (int d = 1; d < kRows && k == 0 && slides(i); ++d) {
          const double share = -at_.friction[i] * direction_[i][d - 1];
          for (int j = 0; j < nv; ++j) column[j] = fused(share, row[d * nv + j], column[j]);
        }
        at_.solve(nv, column);
        yielding[i] += magnitude(LocalState<T>::along(nv, row, column));
      }
    }
    for (int sweep = 1; sweep <= kSweeps; ++sweep) {
      for (int i = 0; i < size_.constraints; ++i) {
        if (!touches(i) || !(yielding[i] > 0.0)) continue;
        const int rows = slides(i) || !rough(i) ? 1 : kRows;
        double next[kRows] = {};
        double slip = 0.0;
        for (int k = 0; k < rows; ++k) {
          const double bent = bend(i, k, moving);
          next[k] = force[i][k] - bent / yielding[i];
          if (k > 0) slip = fused(bent, bent, slip);
        }
        if (rows == 1) {
          next[0] = at_least_zero(next[0]);
        } else {
          next[0] -= at_.friction[i] * square_root(slip) / yielding[i];
          to_cone<kRows>(at_.friction[i], next);
        }
        for (int k = 0; k < rows; ++k) {
          const double change = next[k] - force[i][k];
          force[i][k] = next[k];
          for (int j = 0; j < nv; ++j) moving[j] = fused(change, effect[i][k][j], moving[j]);
        }
      }
      if (sweep % kSweepsBetween == 0 && tell(force, moving)) return true;
    }
    return false;
  }

  /// iterated_laws_ and iterated_ from forces and accelerations nearby.
  CAROM_CALL bool tell(const double (*force)[kRows], const double* moving) {
    Laws<T>& laws = iterated_laws_;
    unsigned onset = 0;
    for (int i = 0; i < size_.constraints; ++i) {
      laws.law[i] = Law::open;
      laws.direction[i][0] = laws.direction[i][1] = 0.0;
      if (!touches(i) || !(force[i][0] > kDistinct * force_)) continue;
      const double way[2] = {bend(i, 1, moving), bend(i, kRows - 1, moving)};
      const double against[2] = {-force[i][1], -force[i][kRows - 1]};
      const double friction = square_root(fused(against[0], against[0], against[1] * against[1]));
      if (slides(i) || !rough(i)) {
        laws.law[i] = Law::slide;
        for (int d = 0; d < 2 && slides(i); ++d) laws.direction[i][d] = direction_[i][d];
      } else if (square_root(fused(way[0], way[0], way[1] * way[1])) > kCreep * acceleration_) {
        laws.law[i] = Law::slide;
        turn(way, laws.direction[i]);
        onset |= 1U << i;
      } else if (friction > (1.0 - kDistinct) * at_.friction[i] * force[i][0]) {
        laws.law[i] = Law::slide;
        turn_to(against, laws.direction[i]);
        onset |= 1U << i;
      } else {
        laws.law[i] = Law::stick;
      }
    }
    if (onset != 0 && !sharpen(onset, laws, iterated_)) return false;
    if (!respond<T>(size_, at_, laws, iterated_)) return false;
    if (iterated_.redundant && !split(laws, force, iterated_)) return false;
    return agrees(laws, iterated_);
  }

  CAROM_CALL void keep(long code, const Laws<T>& laws, const Response<T>& response) {
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
  static constexpr double kCreep = 1e-5;
  static constexpr long kIterated = -1;
  static constexpr int kSweeps = 4000;
  static constexpr int kSweepsBetween = 100;
  static constexpr int kRounds = 30;

  const SizesOf<T>& size_;
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
  bool thorough_ = false;  ///< directions in which slip starts are looked for by all means
  Laws<T> iterated_laws_;
  Response<T> iterated_;
};

}  // namespace carom::kernels::motion
