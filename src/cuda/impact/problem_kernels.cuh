#pragma once

#include "core/pointers.hpp"
#include "cuda/impact/sample_launch.hpp"
#include "cuda/lanes.cuh"
#include "impact/kernels/closing_step.hpp"
#include "impact/kernels/derived_step.hpp"

/// The small kernels around cuSOLVER's factorisation of a device batch. A block is one warp.
namespace carom::cuda {

/// A device batch and where its prepared arrays go, [problems, ...].
struct PrepareLaunch : ImpactBatchArrays<ConstPointer> {
  int problems;
  int nv;
  int m;
  kernels::FrictionPolygon polygon;
  double step_size, velocity_tolerance;
  double epsilon;                 ///< of the problems' nets, where ...
  const double* problem_epsilon;  ///< ... this is null
  double *jacobian, *response, *delassus, *scale, *contact_velocity, *energy, *step_sizes,
      *contact_speed, *closing_impulse;
  double* factor;    ///< [nv, nv]: M, then the factor that cuSOLVER leaves in its place
  double* solution;  ///< [rows, nv]: J, then (M^-1 J')'
  double* product;   ///< [rows, rows]: J M^-1 J' in column-major order
  double** factor_pointers;
  double** solution_pointers;
  const int* info;
  std::uint8_t* valid;
};

/// Screens a problem as problem_refusal does on the host, and lays out what cuSOLVER needs.
template <int Dim>
__global__ void __launch_bounds__(WarpLanes::kWidth)
    screen_problems(const __grid_constant__ PrepareLaunch launch) {
  const WarpLanes lanes;
  const int nv = launch.nv;
  const int m = launch.m;
  const int rows = Dim * m;
  const auto none = [&](int count, auto&& bad) {
    return lanes
               .argmin(count, kernels::kInfinity,
                       [&](int i) { return bad(i) ? 0.0 : kernels::kInfinity; })
               .index < 0;
  };
  for (int p = Grid::block(); p < launch.problems; p += Grid::blocks()) {
    const double* mass = launch.mass_matrix + static_cast<long>(p) * nv * nv;
    const double* normal = launch.normal_jacobian + static_cast<long>(p) * m * nv;
    const double* tangent = launch.tangent_jacobian + static_cast<long>(p) * (rows - m) * nv;
    const double* friction = launch.friction + static_cast<long>(p) * m;
    const double* velocity = launch.velocity + static_cast<long>(p) * nv;
    const auto not_finite = [](double x) { return !kernels::is_finite(x); };
    bool good = none(nv * nv, [&](int i) { return not_finite(mass[i]); }) &&
                none(m * nv, [&](int i) { return not_finite(normal[i]); }) &&
                none((rows - m) * nv, [&](int i) { return not_finite(tangent[i]); }) &&
                none(nv, [&](int i) { return not_finite(velocity[i]); }) &&
                none(m, [&](int i) { return not_finite(friction[i]) || friction[i] < 0.0; });
    const long contacts = static_cast<long>(p) * m;
    if (launch.friction_high != nullptr) {
      const double* high = launch.friction_high + contacts;
      good =
          good && none(m, [&](int i) { return not_finite(high[i]) || !(high[i] >= friction[i]); });
    }
    if (launch.restitution_high != nullptr) {
      const double *low = launch.restitution_low + contacts,
                   *high = launch.restitution_high + contacts;
      good = good && none(m, [&](int i) {
               return !(low[i] >= 0.0 && high[i] >= low[i] && high[i] <= 1.0);
             });
    }
    const double largest = -lanes
                                .argmin(nv * nv, kernels::kInfinity,
                                        [&](int i) { return -kernels::magnitude(mass[i]); })
                                .key;
    good = good && none(nv * nv, [&](int e) {
             const int i = e / nv;
             const int j = e % nv;
             return kernels::magnitude(mass[e] - mass[j * nv + i]) > 1e-9 * largest;
           });
    double* factor = launch.factor + static_cast<long>(p) * nv * nv;
    double* jacobian = launch.jacobian + static_cast<long>(p) * rows * nv;
    double* solution = launch.solution + static_cast<long>(p) * rows * nv;
    lanes.for_each(nv * nv, [&](int i) { factor[i] = mass[i]; });
    lanes.for_each(rows * nv, [&](int i) {
      const double entry = i < m * nv ? normal[i] : tangent[i - m * nv];
      jacobian[i] = entry;
      solution[i] = entry;
    });
    lanes.for_each(1, [&](int) {
      launch.factor_pointers[p] = factor;
      launch.solution_pointers[p] = solution;
      launch.valid[p] = good ? 1 : 0;
    });
  }
}

/// After M = U'U, X = M^-1 J' and A = J X: the arrays that the samples read.
template <int Dim>
__global__ void __launch_bounds__(WarpLanes::kWidth)
    finish_problems(const __grid_constant__ PrepareLaunch launch) {
  const WarpLanes lanes;
  const int nv = launch.nv;
  const int m = launch.m;
  const int rows = Dim * m;
  const auto contact_of = [m](int row) { return row < m ? row : (row - m) / (Dim - 1); };
  for (int p = Grid::block(); p < launch.problems; p += Grid::blocks()) {
    const double* mass = launch.mass_matrix + static_cast<long>(p) * nv * nv;
    const double* velocity = launch.velocity + static_cast<long>(p) * nv;
    const double* friction = launch.friction + static_cast<long>(p) * m;
    const double* factor = launch.factor + static_cast<long>(p) * nv * nv;
    const double* jacobian = launch.jacobian + static_cast<long>(p) * rows * nv;
    const double* solution = launch.solution + static_cast<long>(p) * rows * nv;
    const double* product = launch.product + static_cast<long>(p) * rows * rows;
    double* response = launch.response + static_cast<long>(p) * nv * rows;
    double* delassus = launch.delassus + static_cast<long>(p) * rows * rows;
    double* scale = launch.scale + static_cast<long>(p) * m;
    double* contact_velocity = launch.contact_velocity + static_cast<long>(p) * rows;
    lanes.for_each_2d(nv, rows,
                      [&](int i, int j) { response[i * rows + j] = solution[j * nv + i]; });
    lanes.for_each_2d(rows, rows, [&](int i, int j) {
      delassus[i * rows + j] = 0.5 * (product[i * rows + j] + product[j * rows + i]);
    });
    lanes.for_each(m, [&](int i) { scale[i] = kernels::contact_scale<Dim>(delassus, m, i); });
    lanes.for_each_2d(rows, rows, [&](int i, int j) {
      delassus[i * rows + j] *= scale[contact_of(i)] * scale[contact_of(j)];
    });
    lanes.for_each(rows, [&](int i) {
      double sum = 0.0;
      for (int j = 0; j < nv; ++j) sum = kernels::fused(jacobian[i * nv + j], velocity[j], sum);
      contact_velocity[i] = sum;
    });
    double twice = 0.0;    // v'Mv
    double largest = 0.0;  // |M|
    double pivot = kernels::kInfinity;
    for (int i = 0; i < nv; ++i) {
      double momentum = 0.0;
      for (int j = 0; j < nv; ++j) {
        momentum = kernels::fused(mass[i * nv + j], velocity[j], momentum);
        largest = kernels::larger(largest, kernels::magnitude(mass[i * nv + j]));
      }
      twice = kernels::fused(momentum, velocity[i], twice);
      const double diagonal = factor[i * nv + i];
      pivot = kernels::smaller(pivot, diagonal * diagonal);
    }
    lanes.for_each(1, [&](int) {
      launch.energy[p] = 0.5 * twice;
      launch.step_sizes[p] = kernels::step_size_of(launch.step_size, m, rows, delassus, scale,
                                                   contact_velocity, launch.velocity_tolerance);
      launch.contact_speed[p] = kernels::contact_speed(rows, contact_velocity);
      const double epsilon =
          launch.problem_epsilon != nullptr ? launch.problem_epsilon[p] : launch.epsilon;
      double closing = 0.0;
      if (epsilon > 0.0 && m > 0) {
        const double psi = kernels::closing_psi<Dim>(
            nv, m, launch.polygon, friction, [&](int r, int c) { return solution[c * nv + r]; });
        closing = epsilon / (3.0 * psi);
      }
      launch.closing_impulse[p] = closing;
      // The pivots that problem_refusal looks at are the squares of the factor's diagonal.
      if (launch.info[p] != 0 || !(pivot > 1e-14 * largest)) launch.valid[p] = 0;
    });
  }
}

}  // namespace carom::cuda
