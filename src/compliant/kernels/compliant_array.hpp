#pragma once

#include <cstdint>
#include <type_traits>

#include <carom/certificate_compliant.hpp>
#include <carom/types/compliant.hpp>

#include "compliant/kernels/compliant_pack.hpp"
#include "core/pointers.hpp"

/// One step from arrays in one thread of the host or the device: dense M, any rows.
namespace carom::kernels {

/// Arrays of a batch of steps and of its result, in one memory space.
struct CompliantArrays : CompliantBatchArrays<ConstPointer> {
  int dimension;
  int velocities;
  int rows;
  int positions;
  CompliantResultArrays<Pointer> result;
};

/// The number of spatial contacts whose solver is compiled by itself: those of a box on a plane.
inline constexpr int kArrayContacts = 4;

/// Memory of a problem's choice of rows between the parts of a step.
CAROM_HOST_DEVICE constexpr long array_task_reals(long rows) { return rows; }
CAROM_HOST_DEVICE constexpr long array_task_ints(long rows) { return 3 * rows; }
CAROM_HOST_DEVICE constexpr long array_task_types(long rows) { return rows; }

/// Problems of a batch as tasks: `begin`, then a solver on `task`, then `end` or `refuse`.
/// Target: as of ContactNewton.
template <class Target>
class ArrayTask {
 public:
  ArrayTask() = default;
  CAROM_HOST_DEVICE ArrayTask(const CompliantArrays& arrays, double* reals, int* ints,
                              RowType* types)
      : a_(arrays) {
    task_.impulse = reals;
    task_.order = ints;
    task_.type = types;
    ConstraintRows& rows = task_.rows;
    rows.velocities = arrays.velocities;
    rows.capacity = rows.count = arrays.rows;
    rows.begin = ints + arrays.rows;
    rows.end = ints + 2L * arrays.rows;
  }
  [[nodiscard]] CAROM_INLINE const StepTask& task() const { return task_; }

  /// False where the problem is refused. What CompliantPack refuses by itself may not have been
  /// looked at: `acceptable` must be asked before another solver takes the task.
  CAROM_CALL bool begin(std::int64_t problem, bool centripetal) {
    const long nv = a_.velocities;
    task_.step_size = a_.step_size[problem];
    task_.mass = a_.mass_matrix + problem * nv * nv;
    task_.force = a_.force + problem * nv;
    task_.v = a_.velocity + problem * nv;
    task_.next_v = a_.result.velocity + problem * nv;
    a_.result.iterations[problem] = 0;
    view(problem);
    if (!contacts_are_whole()) return false;
    for (int i = 0; i < task_.rows.count; ++i) task_.impulse[i] = 0.0;
    task_.choose(centripetal);
    const bool all_in_pack = task_.pattern != 0 && task_.chosen.active == task_.rows.count;
    return (all_in_pack && a_.positions == 0) || acceptable(problem);
  }

  [[nodiscard]] CAROM_CALL bool acceptable(std::int64_t problem) const {
    const ConstraintRows& rows = task_.rows;
    const int nv = a_.velocities;
    const int nq = a_.positions;
    double bad = poison(task_.mass, static_cast<long>(nv) * nv) + poison(task_.force, nv) +
                 poison(task_.v, nv) +
                 poison(a_.position_map + problem * nq * nv, static_cast<long>(nq) * nv);
    bool good = task_.step_size > 0.0 && is_finite(task_.step_size);
    const auto mass = [&](int i, int j) { return task_.mass[static_cast<long>(i) * nv + j]; };
    for (int i = 0; i < nv; ++i) {
      for (int j = 0; j < i; ++j) {
        good &= is_mirrored(mass(i, j), mass(j, i), mass(i, i), mass(j, j));
      }
    }
    // Rows that are not there may hold anything.
    const long piece = whole_ ? rows.count : 1;
    for (long i = 0; i < rows.count; i += piece) {
      if (rows.type[i] == RowType::none) continue;
      bad += poison(rows.row(static_cast<int>(i)), piece * nv) +
             poison(rows.jacobian_dot_v + i, piece) + poison(rows.phi + i, piece) +
             poison(rows.stiffness + i, piece) + poison(rows.damping + i, piece);
    }
    for (int i = 0; i < rows.count; ++i) {
      const bool absent = rows.type[i] == RowType::none;
      const double friction = rows.type[i] == RowType::normal ? rows.friction[i] : 0.0;
      good &= absent || (rows.stiffness[i] >= 0.0 && rows.damping[i] >= 0.0);
      good &= friction >= 0.0 && is_finite(friction);
    }
    return good && bad == 0.0;
  }

  CAROM_CALL void end(std::int64_t problem, const StepVerdict& verdict, double tolerance) {
    a_.result.iterations[problem] = verdict.iterations;
    if (!verdict.finite || !is_finite(verdict.residual)) {
      refuse(problem, Status::numerical_error);
      return;
    }
    a_.result.residual[problem] = verdict.residual;
    a_.result.status[problem] = verdict.residual <= tolerance ? Status::solved : Status::inaccurate;
    hand_out(problem);
  }

  CAROM_CALL void refuse(std::int64_t problem, Status status) const {
    const double nan = kInfinity - kInfinity;
    const int nq = a_.positions == 0 ? a_.velocities : a_.positions;
    for (int j = 0; j < a_.velocities; ++j) a_.result.velocity[problem * a_.velocities + j] = nan;
    for (int j = 0; j < nq; ++j) a_.result.increment[problem * nq + j] = nan;
    for (int i = 0; i < a_.rows; ++i) a_.result.force[problem * a_.rows + i] = nan;
    a_.result.kinetic_energy[problem] = nan;
    a_.result.residual[problem] = nan;
    a_.result.status[problem] = status;
  }

 private:
  /// The batch's own arrays; nobody writes through a task's rows.
  CAROM_INLINE void view(std::int64_t problem) {
    const std::int64_t first = problem * a_.rows;
    ConstraintRows& rows = task_.rows;
    rows.type = const_cast<RowType*>(a_.type + first);
    rows.jacobian = const_cast<double*>(a_.jacobian + first * a_.velocities);
    rows.jacobian_dot_v = const_cast<double*>(a_.jacobian_dot_v + first);
    rows.phi = const_cast<double*>(a_.phi + first);
    rows.stiffness = const_cast<double*>(a_.stiffness + first);
    rows.damping = const_cast<double*>(a_.damping + first);
    rows.friction = const_cast<double*>(a_.friction + first);
    for (int i = 0; i < a_.rows; ++i) {
      rows.begin[i] = 0;
      rows.end[i] = a_.velocities;
    }
  }

  /// False where a tangent row has no normal row, or is missing.
  CAROM_INLINE bool contacts_are_whole() {
    int owed = 0;
    whole_ = true;
    for (int i = 0; i < a_.rows; ++i) {
      const RowType type = task_.rows.type[i];
      if ((type == RowType::tangent) != (owed > 0) || type > RowType::tangent) return false;
      if (owed > 0) --owed;
      if (type == RowType::normal) owed = a_.dimension - 1;
      whole_ = whole_ && type != RowType::none;
    }
    return owed == 0;
  }

  /// Zero where all are finite, otherwise NaN.
  static CAROM_INLINE double poison(const double* values, long count) {
    double sum[8] = {};
    long e = 0;
    for (; e + 8 <= count; e += 8) {
      for (int k = 0; k < 8; ++k) sum[k] += values[e + k] * 0.0;
    }
    for (; e < count; ++e) sum[0] += values[e] * 0.0;
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
  }

  CAROM_INLINE void hand_out(std::int64_t problem) const {
    if (a_.rows == 3 * kArrayContacts && a_.velocities == 6) {
      hand_out(problem, std::integral_constant<int, 3 * kArrayContacts>(),
               std::integral_constant<int, 6>());
    } else {
      hand_out(problem, a_.rows, a_.velocities);
    }
  }
  /// rows, velocities: numbers, known when this is compiled or not.
  template <class Rows, class Velocities>
  CAROM_INLINE void hand_out(std::int64_t problem, Rows rows, Velocities velocities) const {
    const int nv = velocities;
    const double h = task_.step_size;
    const double* next_v = a_.result.velocity + problem * nv;
    double* force = a_.result.force + problem * rows;
    for (int i = 0; i < rows; ++i) force[i] = task_.impulse[i] / h;
    double energy = 0.0;
    for (int i = 0; i < nv; ++i) {
      double momentum = 0.0;
      for (int j = 0; j < nv; ++j) {
        momentum = fused(task_.mass[static_cast<long>(i) * nv + j], next_v[j], momentum);
      }
      energy = fused(0.5 * next_v[i], momentum, energy);
    }
    a_.result.kinetic_energy[problem] = energy;
    if (a_.positions == 0) {
      for (int j = 0; j < nv; ++j) a_.result.increment[problem * nv + j] = h * next_v[j];
      return;
    }
    for (int i = 0; i < a_.positions; ++i) {
      const double* row = a_.position_map + (problem * a_.positions + i) * nv;
      double sum = 0.0;
      for (int j = 0; j < nv; ++j) sum = fused(row[j], next_v[j], sum);
      a_.result.increment[problem * a_.positions + i] = h * sum;
    }
  }

  CompliantArrays a_{};
  StepTask task_;
  bool whole_ = true;  ///< no row of the problem is absent
};

/// Scratch of a problem's solver.
CAROM_HOST_DEVICE constexpr long array_solver_reals(long rows, long velocities) {
  return constraint_reals(static_cast<int>(rows), static_cast<int>(velocities)) +
         compliant_step_reals(rows, velocities) + velocities * velocities + 5 * velocities +
         2 * rows;
}
CAROM_HOST_DEVICE constexpr long array_solver_ints(long rows) {
  return constraint_ints(static_cast<int>(rows)) + compliant_step_ints(rows);
}
CAROM_HOST_DEVICE constexpr long array_solver_types(long rows) { return rows; }

/// The scalar solver of a problem with a dense M, for all shapes: velocities w = L'v, M = L L'.
template <class Target>
class ArraySolver {
 public:
  CAROM_HOST_DEVICE ArraySolver(int rows, int velocities, double* reals, int* ints, RowType* types)
      : nv_(velocities),
        white_(make_rows(rows, velocities, reals, ints, types)),
        solver_(rows, velocities, reals + constraint_reals(rows, velocities),
                ints + constraint_ints(rows)) {
    factor_ = reals + constraint_reals(rows, velocities) + compliant_step_reals(rows, velocities);
    unit_ = factor_ + static_cast<long>(nv_) * nv_;
    white_force_ = unit_ + nv_;
    white_v_ = white_force_ + nv_;
    white_next_ = white_v_ + nv_;
    scratch_ = white_next_ + nv_;
  }

  /// False where M is not positive definite.
  CAROM_CALL bool solve(const CompliantOptions& options, const StepTask& task,
                        StepVerdict& verdict) {
    if (!factor(task.mass)) return false;
    trim(task.rows);
    whiten(task);
    StepTask white = task;
    white.rows = white_;
    white.mass = unit_;
    white.force = white_force_;
    white.v = white_v_;
    white.next_v = white_next_;
    const CompliantOutcome outcome = solver_.solve(options, white);
    apply(task);
    verdict.residual = certificate::compliant_residual(
        certificate::DenseMass<>{task.mass, nv_}, task.rows, task.step_size, task.force, task.v,
        task.next_v, task.impulse, solver_.centripetal(), scratch_);
    verdict.iterations = outcome.iterations;
    verdict.finite = outcome.status == Status::solved;
    return true;
  }

 private:
  CAROM_INLINE double& at(int i, int j) const { return factor_[static_cast<long>(i) * nv_ + j]; }

  /// M = L L'; false where M is not positive definite.
  CAROM_INLINE bool factor(const double* mass) {
    diagonal_ = true;
    for (int i = 0; i < nv_; ++i) {
      for (int j = 0; j <= i; ++j) {
        const double entry = mass[static_cast<long>(i) * nv_ + j];
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

  /// Finds the columns in which the rows are nonzero.
  CAROM_INLINE void trim(const ConstraintRows& rows) const {
    for (int i = 0; i < rows.count; ++i) {
      const double* g = rows.row(i);
      int first = 0;
      int last = rows.type[i] == RowType::none ? 0 : nv_;
      while (first < last && g[first] == 0.0) ++first;
      while (last > first && g[last - 1] == 0.0) --last;
      rows.begin[i] = first;
      rows.end[i] = last;
    }
  }

  /// v' = v + M^-1 (h f + G'p), as in CompliantPack.
  CAROM_INLINE void apply(const StepTask& task) const {
    const ConstraintRows& rows = task.rows;
    double* next = white_next_;
    for (int j = 0; j < nv_; ++j) next[j] = 0.0;
    for (int i = 0; i < rows.count; ++i) {
      for (int j = rows.begin[i]; j < rows.end[i]; ++j) {
        next[j] = fused(rows.row(i)[j], task.impulse[i], next[j]);
      }
    }
    for (int j = 0; j < nv_; ++j) next[j] = fused(task.step_size, task.force[j], next[j]);
    forward(next, next);
    for (int i = nv_ - 1; i >= 0; --i) {
      double sum = next[i];
      for (int j = i + 1; j < nv_; ++j) sum = fused(-at(j, i), next[j], sum);
      next[i] = sum / at(i, i);
    }
    for (int j = 0; j < nv_; ++j) task.next_v[j] = task.v[j] + next[j];
  }

  CAROM_INLINE void forward(const double* from, double* to) const {
    for (int i = 0; i < nv_; ++i) {
      double sum = from[i];
      for (int j = 0; j < i; ++j) sum = fused(-at(i, j), to[j], sum);
      to[i] = sum / at(i, i);
    }
  }

  /// Velocities w = L'v with unit mass: rows L^-1 G', force L^-1 f.
  CAROM_INLINE void whiten(const StepTask& task) {
    const ConstraintRows& rows = task.rows;
    white_.count = rows.count;
    for (int j = 0; j < nv_; ++j) {
      unit_[j] = 1.0;
      double sum = 0.0;
      for (int i = j; i < nv_; ++i) sum = fused(at(i, j), task.v[i], sum);
      white_v_[j] = sum;
    }
    forward(task.force, white_force_);
    for (int i = 0; i < rows.count; ++i) {
      white_.type[i] = rows.type[i];
      white_.jacobian_dot_v[i] = rows.jacobian_dot_v[i];
      white_.phi[i] = rows.phi[i];
      white_.stiffness[i] = rows.stiffness[i];
      white_.damping[i] = rows.damping[i];
      white_.friction[i] = rows.friction[i];
      white_.begin[i] = rows.begin[i];
      white_.end[i] = diagonal_ ? rows.end[i] : nv_;
      for (int k = white_.begin[i]; k < white_.end[i]; ++k) {
        double sum = k < rows.end[i] ? rows.row(i)[k] : 0.0;
        if (!diagonal_) {
          for (int j = white_.begin[i]; j < k; ++j) {
            sum = fused(-at(k, j), white_.row(i)[j], sum);
          }
        }
        white_.row(i)[k] = sum / at(k, k);
      }
    }
  }

  int nv_;
  ConstraintRows white_;
  CompliantStep<Target> solver_;
  double* factor_;
  double* unit_;
  double* white_force_;
  double* white_v_;
  double* white_next_;
  double* scratch_;
  bool diagonal_ = false;
};

/// One problem by itself: as in a pack, and by the scalar solver where that does not do. False
/// where it is refused. pack: [alone_reals(rows, velocities, false)].
template <class Target, class Memory>
CAROM_CALL bool solve_problem(const ArrayTask<Target>& problem, std::int64_t index,
                              ArraySolver<Target>& solver, const CompliantOptions& options,
                              const Memory& pack, StepVerdict& verdict) {
  const StepTask& task = problem.task();
  int iterations = 0;
  if (task.pattern != 0) {
    const PackOutcome<double> outcome = solve_alone<false, kArrayContacts>(task, options, pack);
    iterations = static_cast<int>(outcome.iterations);
    verdict = {outcome.residual, iterations, true};
    if (outcome.residual <= options.tolerance) return true;
  }
  if (!problem.acceptable(index) || !solver.solve(options, task, verdict)) return false;
  verdict.iterations += iterations;
  return true;
}

}  // namespace carom::kernels
