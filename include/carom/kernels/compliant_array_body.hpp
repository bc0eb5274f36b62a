#pragma once

#include <cstdint>

#include <carom/certificate_compliant.hpp>
#include <carom/kernels/compliant_body.hpp>

/// One step from arrays in one thread of the host or the device: dense M, any rows.
namespace carom::kernels {

/// Arrays of a batch of steps, in one memory space (carom/compliant.hpp gives their shapes).
struct CompliantArrays {
  int dimension;
  int velocities;
  int rows;
  int positions;
  const double* step_size;
  const double* mass_matrix;
  const double* force;
  const double* velocity;
  const double* position_map;
  const RowType* type;
  const double* jacobian;
  const double* jacobian_dot_v;
  const double* phi;
  const double* stiffness;
  const double* damping;
  const double* friction;
  // results
  double* next_velocity;
  double* increment;
  double* constraint_force;
  double* kinetic_energy;
  Status* status;
  std::int32_t* iterations;
  double* residual;
};

CAROM_HOST_DEVICE constexpr long compliant_array_reals(long rows, long velocities) {
  return 2 * constraint_reals(static_cast<int>(rows), static_cast<int>(velocities)) +
         compliant_step_reals(rows, velocities) + velocities * velocities + 5 * velocities +
         3 * rows;
}
CAROM_HOST_DEVICE constexpr long compliant_array_ints(long rows) {
  return 2 * constraint_ints(static_cast<int>(rows)) + compliant_step_ints(rows);
}
CAROM_HOST_DEVICE constexpr long compliant_array_types(long rows) { return 3 * rows; }

template <class Target>
class CompliantArrayStep {
 public:
  CAROM_HOST_DEVICE CompliantArrayStep(const CompliantArrays& arrays, double* reals, int* ints,
                                       RowType* types)
      : a_(arrays),
        rows_(make_rows(arrays.rows, arrays.velocities, reals, ints, types)),
        white_(make_rows(arrays.rows, arrays.velocities,
                         reals + constraint_reals(arrays.rows, arrays.velocities),
                         ints + constraint_ints(arrays.rows), types + arrays.rows)),
        solver_(arrays.rows, arrays.velocities,
                reals + 2 * constraint_reals(arrays.rows, arrays.velocities),
                ints + 2 * constraint_ints(arrays.rows), types + 2L * arrays.rows) {
    const long nv = arrays.velocities;
    factor_ = reals + 2 * constraint_reals(arrays.rows, arrays.velocities) +
              compliant_step_reals(arrays.rows, nv);
    unit_ = factor_ + nv * nv;
    white_force_ = unit_ + nv;
    white_v_ = white_force_ + nv;
    white_next_ = white_v_ + nv;
    impulse_ = white_next_ + nv;
    scratch_ = impulse_ + arrays.rows;
  }

  CAROM_HOST_DEVICE void run(std::int64_t problem, double tolerance, int max_iterations,
                             bool centripetal) {
    const long nv = a_.velocities;
    const double h = a_.step_size[problem];
    const double* mass = a_.mass_matrix + problem * nv * nv;
    const double* force = a_.force + problem * nv;
    const double* v = a_.velocity + problem * nv;
    double* next_v = a_.next_velocity + problem * nv;
    a_.iterations[problem] = 0;
    if (!gather(problem) || !acceptable(problem) || !factor(mass)) {
      refuse(problem, Status::invalid_input);
      return;
    }
    whiten(force, v);
    CompliantOptions options;
    options.step_size = h;
    options.accuracy = 1e-3 * tolerance;
    options.max_iterations = max_iterations;
    options.tangents = a_.dimension - 1;
    options.centripetal = centripetal;
    for (int i = 0; i < rows_.count; ++i) impulse_[i] = 0.0;
    const CompliantOutcome outcome =
        solver_.solve(options, white_, unit_, white_force_, white_v_, impulse_, white_next_);
    a_.iterations[problem] = outcome.iterations;
    for (int i = a_.velocities - 1; i >= 0; --i) {  // v' = L^-T (L'v')
      double sum = white_next_[i];
      for (int j = i + 1; j < a_.velocities; ++j) sum = fused(-at(j, i), next_v[j], sum);
      next_v[i] = sum / at(i, i);
    }
    const double residual = certificate::compliant_residual(
        certificate::DenseMass{mass, a_.velocities}, rows_, h, force, v, next_v, impulse_,
        solver_.centripetal(), scratch_);
    if (outcome.status != Status::solved || !is_finite(residual)) {
      refuse(problem, Status::numerical_error);
      return;
    }
    a_.residual[problem] = residual;
    a_.status[problem] = residual <= tolerance ? Status::solved : Status::inaccurate;
    hand_out(problem, h);
  }

 private:
  CAROM_INLINE double& at(int i, int j) const {
    return factor_[static_cast<long>(i) * a_.velocities + j];
  }

  /// Copies the rows that are there; false where a tangent row stands alone or is missing.
  CAROM_INLINE bool gather(std::int64_t problem) {
    const long m = a_.rows;
    const RowType* type = a_.type + problem * m;
    rows_.count = 0;
    int owed = 0;
    for (int i = 0; i < a_.rows; ++i) {
      if ((type[i] == RowType::tangent) != (owed > 0)) return false;
      if (owed > 0) --owed;
      if (type[i] == RowType::none) continue;
      if (type[i] > RowType::tangent) return false;
      if (type[i] == RowType::normal) owed = a_.dimension - 1;
      const double* g = a_.jacobian + (problem * m + i) * a_.velocities;
      int first = 0;
      int last = a_.velocities;
      while (first < last && g[first] == 0.0) ++first;
      while (last > first && g[last - 1] == 0.0) --last;
      const long at = problem * m + i;
      const int row =
          rows_.add(type[i], i, first, last, a_.phi[at], a_.stiffness[at], a_.damping[at]);
      rows_.jacobian_dot_v[row] = a_.jacobian_dot_v[at];
      rows_.friction[row] = type[i] == RowType::normal ? a_.friction[at] : 0.0;
      for (int j = first; j < last; ++j) rows_.row(row)[j] = g[j];
    }
    return owed == 0;
  }

  CAROM_INLINE bool acceptable(std::int64_t problem) const {
    const double h = a_.step_size[problem];
    bool good = h > 0.0 && is_finite(h);
    for (int j = 0; j < a_.velocities; ++j) {
      good = good && is_finite(a_.force[problem * a_.velocities + j]) &&
             is_finite(a_.velocity[problem * a_.velocities + j]);
    }
    for (long e = 0; e < static_cast<long>(a_.positions) * a_.velocities; ++e) {
      good = good && is_finite(a_.position_map[problem * a_.positions * a_.velocities + e]);
    }
    for (int i = 0; i < rows_.count; ++i) {
      good = good && is_finite(rows_.phi[i]) && is_finite(rows_.jacobian_dot_v[i]) &&
             rows_.stiffness[i] >= 0.0 && is_finite(rows_.stiffness[i]) &&
             rows_.damping[i] >= 0.0 && is_finite(rows_.damping[i]) && rows_.friction[i] >= 0.0 &&
             is_finite(rows_.friction[i]);
      for (int j = rows_.begin[i]; j < rows_.end[i]; ++j) good = good && is_finite(rows_.row(i)[j]);
    }
    return good;
  }

  /// M = L L'; false where M is not symmetric or not positive definite.
  CAROM_INLINE bool factor(const double* mass) {
    const int nv = a_.velocities;
    diagonal_ = true;
    for (int i = 0; i < nv; ++i) {
      for (int j = 0; j <= i; ++j) {
        const double entry = mass[static_cast<long>(i) * nv + j];
        const double mirrored = mass[static_cast<long>(j) * nv + i];
        if (!is_finite(entry) ||
            !(magnitude(entry - mirrored) <= 1e-9 * (magnitude(entry) + magnitude(mirrored)))) {
          return false;
        }
        if (i != j && entry != 0.0) diagonal_ = false;
        double sum = entry;
        if (!diagonal_) {
          for (int k = 0; k < j; ++k) sum = fused(-at(i, k), at(j, k), sum);
        }
        if (j < i) {
          at(i, j) = sum / at(j, j);
        } else if (sum > 0.0) {
          at(i, i) = square_root(sum);
        } else {
          return false;
        }
      }
    }
    return true;
  }

  CAROM_INLINE void forward(const double* from, double* to) const {
    for (int i = 0; i < a_.velocities; ++i) {
      double sum = from[i];
      for (int j = 0; j < i; ++j) sum = fused(-at(i, j), to[j], sum);
      to[i] = sum / at(i, i);
    }
  }

  /// Velocities w = L'v with unit mass: rows L^-1 G', force L^-1 f.
  CAROM_INLINE void whiten(const double* force, const double* v) {
    const int nv = a_.velocities;
    white_.count = rows_.count;
    for (int j = 0; j < nv; ++j) {
      unit_[j] = 1.0;
      double sum = 0.0;
      for (int i = j; i < nv; ++i) sum = fused(at(i, j), v[i], sum);
      white_v_[j] = sum;
    }
    forward(force, white_force_);
    for (int i = 0; i < rows_.count; ++i) {
      white_.type[i] = rows_.type[i];
      white_.slot[i] = rows_.slot[i];
      white_.jacobian_dot_v[i] = rows_.jacobian_dot_v[i];
      white_.phi[i] = rows_.phi[i];
      white_.stiffness[i] = rows_.stiffness[i];
      white_.damping[i] = rows_.damping[i];
      white_.friction[i] = rows_.friction[i];
      white_.begin[i] = rows_.begin[i];
      white_.end[i] = diagonal_ ? rows_.end[i] : nv;
      for (int k = white_.begin[i]; k < white_.end[i]; ++k) {
        double sum = k < rows_.end[i] ? rows_.row(i)[k] : 0.0;
        if (!diagonal_) {
          for (int j = white_.begin[i]; j < k; ++j) {
            sum = fused(-at(k, j), white_.row(i)[j], sum);
          }
        }
        white_.row(i)[k] = sum / at(k, k);
      }
    }
  }

  CAROM_INLINE void hand_out(std::int64_t problem, double h) const {
    const int nv = a_.velocities;
    const double* next_v = a_.next_velocity + problem * nv;
    double* force = a_.constraint_force + problem * a_.rows;
    for (int i = 0; i < a_.rows; ++i) force[i] = 0.0;
    for (int i = 0; i < rows_.count; ++i) force[rows_.slot[i]] = impulse_[i] / h;
    double square = 0.0;
    for (int j = 0; j < nv; ++j) square = fused(white_next_[j], white_next_[j], square);
    a_.kinetic_energy[problem] = 0.5 * square;
    if (a_.positions == 0) {
      for (int j = 0; j < nv; ++j) a_.increment[problem * nv + j] = h * next_v[j];
      return;
    }
    for (int i = 0; i < a_.positions; ++i) {
      const double* row = a_.position_map + (problem * a_.positions + i) * nv;
      double sum = 0.0;
      for (int j = 0; j < nv; ++j) sum = fused(row[j], next_v[j], sum);
      a_.increment[problem * a_.positions + i] = h * sum;
    }
  }

  CAROM_INLINE void refuse(std::int64_t problem, Status status) const {
    const double nan = kInfinity - kInfinity;
    const int nq = a_.positions == 0 ? a_.velocities : a_.positions;
    for (int j = 0; j < a_.velocities; ++j) a_.next_velocity[problem * a_.velocities + j] = nan;
    for (int j = 0; j < nq; ++j) a_.increment[problem * nq + j] = nan;
    for (int i = 0; i < a_.rows; ++i) a_.constraint_force[problem * a_.rows + i] = nan;
    a_.kinetic_energy[problem] = nan;
    a_.residual[problem] = nan;
    a_.status[problem] = status;
  }

  CompliantArrays a_;
  ConstraintRows rows_;
  ConstraintRows white_;
  CompliantStep<Target> solver_;
  double* factor_ = nullptr;
  double* unit_ = nullptr;
  double* white_force_ = nullptr;
  double* white_v_ = nullptr;
  double* white_next_ = nullptr;
  double* impulse_ = nullptr;
  double* scratch_ = nullptr;
  bool diagonal_ = false;
};

}  // namespace carom::kernels
