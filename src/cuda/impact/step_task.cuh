#pragma once

#include <limits>

#include <carom/certificate.hpp>
#include <carom/device/arena.hpp>
#include <carom/types/impact.hpp>

#include "core/pointers.hpp"
#include "impact/kernels/step_lcp.hpp"

/// Single contact steps: what the kernels for them share.
namespace carom::cuda {

struct StepLaunch : StepBatchArrays<ConstPointer> {
  int problems;
  int contacts;
  kernels::FrictionPolygon polygon;
  Selection selection;
  double tolerance;
  StepResultArrays<Pointer> result;
  int* open;  ///< problems that groups of lanes leave to warps, in any order; null without groups
  int* open_count;
  double* lemke_work;  ///< for each block; null where it lies in shared memory
  int* lemke_int_work;
};

/// Memory of a task. Vectors, of which the path sees the scaled ones.
template <class Memory>
struct StepVectors {
  Memory scaled_u;
  Memory scaled_impulse;
  Memory scaled_limit;
  Memory scale;

  CAROM_INLINE constexpr StepVectors(kernels::Arena<Memory>& arena, long rows, long contacts)
      : scaled_u(arena.take(rows)),
        scaled_impulse(arena.take(rows)),
        scaled_limit(arena.take(contacts)),
        scale(arena.take(contacts)) {}
};

/// One problem of a launch on the lanes that solve it.
template <int Dim, class Lanes>
class StepTask {
 public:
  __device__ StepTask(const Lanes& lanes, const StepLaunch& launch, int contacts, double* memory)
      : vectors(kernels::placed<StepVectors>(memory, Dim * contacts, contacts)),
        lanes_(lanes),
        launch_(launch),
        m_(contacts),
        rows_(Dim * contacts) {}

  __device__ void take(int p) {
    delassus = launch_.delassus + static_cast<long>(p) * rows_ * rows_;
    u = launch_.contact_velocity + static_cast<long>(p) * rows_;
    friction = launch_.friction + static_cast<long>(p) * m_;
    limit = launch_.max_impulse + static_cast<long>(p) * m_;
  }

  [[nodiscard]] __device__ bool acceptable() const {
    double poison = 0.0;  // NaN where a number is not finite
    const auto look_at = [&](const double* values) {
      return [&poison, values](int e) { poison = kernels::fused(values[e], 0.0, poison); };
    };
    lanes_.for_each(rows_ * rows_, look_at(delassus));
    lanes_.for_each(rows_, look_at(u));
    bool bad = poison != 0.0;
    lanes_.for_each(m_, [&](int i) {
      bad = bad || !(limit[i] >= 0.0) || !(friction[i] >= 0.0) || !kernels::is_finite(friction[i]);
    });
    return !lanes_.any(bad);
  }

  [[nodiscard]] __device__ int contact_of(int row) const {
    return row < m_ ? row : (row - m_) / (Dim - 1);
  }

  __device__ void scale() const {
    lanes_.for_each(m_, [&](int i) {
      vectors.scale[i] = kernels::contact_scale<Dim>(delassus, m_, i);
      vectors.scaled_limit[i] = limit[i] / vectors.scale[i];
    });
    lanes_.for_each(rows_,
                    [&](int i) { vectors.scaled_u[i] = u[i] * vectors.scale[contact_of(i)]; });
  }

  __device__ void unscale(double* impulse) const {
    lanes_.for_each(rows_, [&](int i) {
      impulse[i] = vectors.scaled_impulse[i] * vectors.scale[contact_of(i)];
    });
  }

  /// Largest natural residual at the impulse, relative to max|u|; fills next_u.
  [[nodiscard]] __device__ double certify(const kernels::FrictionPolygon& polygon,
                                          const double* impulse, double* next_u) const {
    certificate::MaxAbs<> worst;
    certificate::MaxAbs<> scale;
    lanes_.for_each(rows_, [&](int i) {
      double sum = u[i];
      scale.add(sum);
      for (int j = 0; j < rows_; ++j) {
        sum = kernels::fused(kernels::entry(delassus, rows_, i, j), impulse[j], sum);
      }
      next_u[i] = sum;
    });
    lanes_.for_each(m_, [&](int i) {
      worst.add(certificate::contact_residual<Dim, double>(
          polygon, friction[i], certificate::contact_mobility(vectors.scale[i]), i,
          m_ + (Dim - 1) * i, limit, impulse, next_u));
    });
    const auto larger = [](certificate::MaxAbs<> a, double b) {
      a.add(b);
      return a.value;
    };
    const auto largest = [&](const certificate::MaxAbs<>& own) {
      return lanes_.reduce(own.value,
                           [&](double a, double b) { return larger(certificate::MaxAbs<>{a}, b); });
    };
    const double size = largest(scale);
    return largest(worst) / (size < certificate::kTiny ? certificate::kTiny : size);
  }

  __device__ void store(int p, Status status, int pivots, bool fallback, double residual) const {
    lanes_.for_each(1, [&](int) {
      launch_.result.status[p] = status;
      launch_.result.pivots[p] = pivots;
      launch_.result.fallback[p] = fallback ? 1 : 0;
      launch_.result.residual[p] = residual;
    });
  }

  /// The result's arrays of problem p.
  [[nodiscard]] __device__ double* impulse_of(int p) const {
    return launch_.result.impulse + static_cast<long>(p) * rows_;
  }
  [[nodiscard]] __device__ double* next_u_of(int p) const {
    return launch_.result.contact_velocity + static_cast<long>(p) * rows_;
  }

  __device__ void store_no_answer(int p) const {
    lanes_.for_each(rows_, [&](int i) {
      impulse_of(p)[i] = std::numeric_limits<double>::quiet_NaN();
      next_u_of(p)[i] = std::numeric_limits<double>::quiet_NaN();
    });
  }

  StepVectors<double*> vectors;
  const double *delassus = nullptr, *u = nullptr, *friction = nullptr, *limit = nullptr;

 private:
  const Lanes& lanes_;
  const StepLaunch& launch_;
  int m_;
  int rows_;
};

/// Problems of some sizes, Selection::any, along their paths: a few lanes each, so that a warp has
/// several. What they leave is listed in `launch.open`.
struct StepGroupKernel {
  void (*kernel)(StepLaunch);  ///< null where there is none for the size
  int problems;                ///< of a block of one warp
  std::size_t shared_bytes;
};
StepGroupKernel step_group_kernel(int dimension, int contacts);

}  // namespace carom::cuda
