#pragma once

#include <carom/device/contact_geometry.hpp>
#include <carom/device/host_device.hpp>
#include <carom/device/lanes.hpp>
#include <carom/device/numeric.hpp>

namespace carom::kernels {

/// Most distinct outcomes of one step that an enumeration keeps.
inline constexpr int kMaxOutcomes = 32;
/// Most rows (dimension * contacts) of a step that can be enumerated.
inline constexpr int kMaxEnumeratedRows = 10;
/// Most combinations of contact modes that are tried for one step.
inline constexpr long kMaxCombinations = 20000;

CAROM_HOST_DEVICE constexpr long enumeration_workspace(int rows) {
  return static_cast<long>(kMaxOutcomes) * 2 * rows;
}

/// Number of combinations of contact modes of a step with m contacts.
template <int Dim>
CAROM_HOST_DEVICE constexpr double step_combinations(int m, int directions) {
  const int tangent = Dim == 2 ? 3 : 1 + 2 * directions;
  double product = 1.0;
  for (int i = 0; i < m; ++i) product *= 1 + 2 * tangent;
  return product;
}

/// All distinct v' of one step (75), by trying every combination of contact modes whose linear
/// system is regular. Solutions form bounded polyhedra, each mode's own, and a vertex of one has a
/// regular system: combinations with a singular one add nothing. Runs on one lane; Lanes only keeps
/// the code of one instruction set apart from another's.
template <int Dim, class Lanes = SingleLane>
class StepEnumerator {
  static constexpr int kTangents = Dim - 1;
  static constexpr int kRows = kMaxEnumeratedRows;

 public:
  /// Arguments as of ContactPath; outcomes: enumeration_workspace doubles.
  CAROM_HOST_DEVICE StepEnumerator(int contacts, const FrictionPolygon& polygon,
                                   const double* delassus, const double* friction, const double* u,
                                   const double* limit, double* outcomes)
      : m_(contacts),
        rows_(Dim * contacts),
        polygon_(polygon),
        delassus_(delassus),
        friction_(friction),
        u_(u),
        limit_(limit),
        outcomes_(outcomes) {}

  /// Fills the outcomes, ordered by J v'; returns how many there are.
  CAROM_HOST_DEVICE int run() {
    count_ = 0;
    double speed = 0.0;
    double impulse = 0.0;
    for (int i = 0; i < rows_; ++i) speed = larger(speed, magnitude(u_[i]));
    for (int i = 0; i < m_; ++i) impulse = larger(impulse, limit_[i]);
    tolerance_ = 1e-9 * larger(speed, impulse);
    distinct_ = 1e-7 * speed;
    const int tangent = Dim == 2 ? 3 : 1 + 2 * polygon_.count;
    const int options = 1 + 2 * tangent;
    long combinations = 1;
    for (int i = 0; i < m_; ++i) combinations *= options;
    for (long code = 0; code < combinations && count_ < kMaxOutcomes; ++code) try_modes(code);
    sort();
    return count_;
  }

  CAROM_HOST_DEVICE const double* impulse(int outcome) const {
    return outcomes_ + static_cast<long>(outcome) * 2 * rows_;
  }

 private:
  enum Tangent { kStick, kCorner, kEdge };
  struct Mode {
    int normal;  // 0 separate, 1 closed, 2 full
    int tangent;
    int index;  // corner or edge
  };

  CAROM_INLINE Mode mode(int option) const {
    if (option == 0) return {0, kCorner, 0};
    const int tangent = Dim == 2 ? 3 : 1 + 2 * polygon_.count;
    const int normal = 1 + (option - 1) / tangent;
    const int t = (option - 1) % tangent;
    if (t == 0) return {normal, kStick, 0};
    if (t <= polygon_.count) return {normal, kCorner, t - 1};
    return {normal, kEdge, t - 1 - polygon_.count};
  }

  CAROM_HOST_DEVICE void try_modes(long code) {
    Mode modes[kRows / Dim];
    const int options = 1 + 2 * (Dim == 2 ? 3 : 1 + 2 * polygon_.count);
    for (int i = 0; i < m_; ++i) {
      modes[i] = mode(static_cast<int>(code % options));
      code /= options;
      // Without friction the corner is the only tangential mode.
      if (!(friction_[i] > 0.0) && (modes[i].tangent != kCorner || modes[i].index != 0)) return;
    }
    // Unknowns, each a direction in lambda and the functional of u that must vanish.
    double force[kRows][kRows] = {};
    double velocity[kRows][kRows] = {};
    double lambda[kRows] = {};
    int unknowns = 0;
    for (int i = 0; i < m_; ++i) {
      const Mode& c = modes[i];
      if (c.normal == 0) continue;
      const int t = m_ + kTangents * i;
      double along[1 + kTangents] = {1.0};  // lambda per unit of lambda_n
      if (c.tangent != kStick) {
        for (int d = 0; d < kTangents; ++d) {
          along[1 + d] = friction_[i] * polygon_.direction[c.index][d];
        }
      }
      if (c.normal == 1) {
        force[unknowns][i] = 1.0;
        for (int d = 0; d < kTangents; ++d) force[unknowns][t + d] = along[1 + d];
        velocity[unknowns][i] = 1.0;
        ++unknowns;
      } else {
        lambda[i] = limit_[i];
        for (int d = 0; d < kTangents; ++d) lambda[t + d] = along[1 + d] * limit_[i];
      }
      if (c.tangent == kStick) {
        for (int d = 0; d < kTangents; ++d) {
          force[unknowns][t + d] = 1.0;
          velocity[unknowns][t + d] = 1.0;
          ++unknowns;
        }
      } else if (c.tangent == kEdge) {
        for (int d = 0; d < kTangents; ++d) {
          force[unknowns][t + d] = polygon_.along[c.index][d];
          velocity[unknowns][t + d] = polygon_.along[c.index][d];
        }
        ++unknowns;
      }
    }
    double next[kRows];
    apply(lambda, next);
    double system[kRows][kRows + 1];
    for (int c = 0; c < unknowns; ++c) {
      double response[kRows];
      for (int i = 0; i < rows_; ++i) {
        response[i] = 0.0;
        for (int j = 0; j < rows_; ++j) {
          response[i] = fused(delassus_[i * rows_ + j], force[c][j], response[i]);
        }
      }
      for (int r = 0; r < unknowns; ++r) system[r][c] = dot(velocity[r], response);
    }
    for (int r = 0; r < unknowns; ++r) system[r][unknowns] = -dot(velocity[r], next);
    double solution[kRows];
    if (!solve(system, unknowns, solution)) return;
    for (int c = 0; c < unknowns; ++c) {
      for (int i = 0; i < rows_; ++i) lambda[i] = fused(force[c][i], solution[c], lambda[i]);
    }
    apply(lambda, next);
    for (int i = 0; i < m_; ++i) {
      if (!admissible(modes[i], i, lambda, next)) return;
    }
    keep(lambda, next);
  }

  CAROM_INLINE double dot(const double* a, const double* b) const {
    double sum = 0.0;
    for (int i = 0; i < rows_; ++i) sum = fused(a[i], b[i], sum);
    return sum;
  }

  /// u' = u + A lambda.
  CAROM_INLINE void apply(const double* lambda, double* next) const {
    for (int i = 0; i < rows_; ++i) {
      double sum = u_[i];
      for (int j = 0; j < rows_; ++j) sum = fused(delassus_[i * rows_ + j], lambda[j], sum);
      next[i] = sum;
    }
  }

  /// Gauss with complete pivoting; false where the system is singular to working accuracy.
  CAROM_HOST_DEVICE static bool solve(double (&a)[kRows][kRows + 1], int n, double* x) {
    int column_of[kRows];
    for (int c = 0; c < n; ++c) column_of[c] = c;
    double first_pivot = 0.0;
    for (int k = 0; k < n; ++k) {
      int row = k;
      int column = k;
      for (int i = k; i < n; ++i) {
        for (int j = k; j < n; ++j) {
          if (magnitude(a[i][j]) > magnitude(a[row][column])) {
            row = i;
            column = j;
          }
        }
      }
      const double pivot = magnitude(a[row][column]);
      if (k == 0) first_pivot = pivot;
      if (!(pivot > 1e-11 * first_pivot)) return false;
      for (int j = 0; j <= n; ++j) {
        const double held = a[k][j];
        a[k][j] = a[row][j];
        a[row][j] = held;
      }
      for (int i = 0; i < n; ++i) {
        const double held = a[i][k];
        a[i][k] = a[i][column];
        a[i][column] = held;
      }
      const int held = column_of[k];
      column_of[k] = column_of[column];
      column_of[column] = held;
      for (int i = k + 1; i < n; ++i) {
        const double factor = a[i][k] / a[k][k];
        for (int j = k; j <= n; ++j) a[i][j] = fused(-factor, a[k][j], a[i][j]);
      }
    }
    for (int k = n - 1; k >= 0; --k) {
      double sum = a[k][n];
      for (int j = k + 1; j < n; ++j) sum = fused(-a[k][j], x[column_of[j]], sum);
      x[column_of[k]] = sum / a[k][k];
    }
    return true;
  }

  CAROM_HOST_DEVICE bool admissible(const Mode& mode, int i, const double* lambda,
                                    const double* next) const {
    const double normal = lambda[i];
    if (mode.normal == 0) return next[i] >= -tolerance_;
    if (mode.normal == 1 && !(normal >= -tolerance_ && normal <= limit_[i] + tolerance_))
      return false;
    if (mode.normal == 2 && !(next[i] <= tolerance_)) return false;
    if (!(friction_[i] > 0.0)) return true;
    const double* force = lambda + m_ + kTangents * i;
    const double* slip = next + m_ + kTangents * i;
    const double radius = friction_[i] * normal;
    const double cone_tolerance = tolerance_ * larger(1.0, friction_[i]);
    if constexpr (Dim == 2) {
      if (mode.tangent == kEdge) return false;
      if (mode.tangent == kCorner) return polygon_.direction[mode.index][0] * slip[0] <= tolerance_;
      return magnitude(force[0]) <= radius + cone_tolerance;
    } else {
      const int previous = mode.index == 0 ? polygon_.count - 1 : mode.index - 1;
      const double* edge = polygon_.along[mode.index];
      const double along = edge[0] * slip[0] + edge[1] * slip[1];
      if (mode.tangent == kCorner) {
        const double* before = polygon_.along[previous];
        return along >= -tolerance_ && before[0] * slip[0] + before[1] * slip[1] <= tolerance_;
      }
      if (mode.tangent == kEdge) {
        const double* corner = polygon_.direction[mode.index];
        const double a =
            edge[0] * (force[0] - radius * corner[0]) + edge[1] * (force[1] - radius * corner[1]);
        return a >= -cone_tolerance && a <= polygon_.edge * radius + cone_tolerance &&
               edge[1] * slip[0] - edge[0] * slip[1] <= tolerance_;
      }
      for (int j = 0; j < polygon_.count; ++j) {
        const double* e = polygon_.along[j];
        const double* d = polygon_.direction[j];
        if (e[1] * force[0] - e[0] * force[1] >
            radius * (e[1] * d[0] - e[0] * d[1]) + cone_tolerance) {
          return false;
        }
      }
      return true;
    }
  }

  CAROM_HOST_DEVICE void keep(const double* lambda, const double* next) {
    for (int o = 0; o < count_; ++o) {
      const double* known = impulse(o) + rows_;
      bool same = true;
      for (int i = 0; i < rows_; ++i) same = same && magnitude(known[i] - next[i]) <= distinct_;
      if (same) return;
    }
    double* place = outcomes_ + static_cast<long>(count_) * 2 * rows_;
    for (int i = 0; i < rows_; ++i) {
      place[i] = lambda[i];
      place[rows_ + i] = next[i];
    }
    ++count_;
  }

  /// Orders the outcomes by J v', the first component that differs deciding.
  CAROM_HOST_DEVICE void sort() {
    for (int a = 1; a < count_; ++a) {
      for (int b = a; b > 0; --b) {
        double* low = outcomes_ + static_cast<long>(b - 1) * 2 * rows_;
        double* high = low + 2 * rows_;
        int i = rows_;
        while (i < 2 * rows_ && magnitude(low[i] - high[i]) <= distinct_) ++i;
        if (i == 2 * rows_ || low[i] < high[i]) break;
        for (int j = 0; j < 2 * rows_; ++j) {
          const double held = low[j];
          low[j] = high[j];
          high[j] = held;
        }
      }
    }
  }

  int m_;
  int rows_;
  const FrictionPolygon& polygon_;
  const double* delassus_;
  const double* friction_;
  const double* u_;
  const double* limit_;
  double* outcomes_;
  int count_ = 0;
  double tolerance_ = 0.0;
  double distinct_ = 0.0;
};

}  // namespace carom::kernels
