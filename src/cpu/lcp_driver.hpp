#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <carom/certificate.hpp>
#include <carom/kernels/contact_path_body.hpp>
#include <carom/kernels/lemke_body.hpp>
#include <carom/kernels/step_lcp.hpp>
#include <carom/lcp.hpp>

#include "cpu/parallel.hpp"
#include "friction_polygon.hpp"
#include "impact_prepare.hpp"

namespace carom::cpu {

/// General LCPs on host lanes.
template <class Lanes>
LcpResult drive_lcp(const LcpBatch& batch, const LcpSettings& settings, const Lanes& lanes) {
  const int n = batch.order;
  const auto problems = static_cast<std::size_t>(batch.problems);
  LcpResult result;
  result.solution = Buffer<double>(problems * static_cast<std::size_t>(n));
  result.status = Buffer<Status>(problems);
  result.pivots = Buffer<std::int32_t>(problems);
  result.residual = Buffer<double>(problems);
  struct Memory {
    std::vector<double> reals;
    std::vector<int> ints;
  };
  tbb::enumerable_thread_specific<Memory> memories([n] {
    return Memory{std::vector<double>(static_cast<std::size_t>(kernels::lemke_real_workspace(n))),
                  std::vector<int>(static_cast<std::size_t>(kernels::lemke_int_workspace(n)))};
  });
  const int max_pivots = settings.max_pivots > 0 ? settings.max_pivots : 50 * (n + 1);
  parallel_for(batch.problems, 16, settings.threads, [&](std::int64_t begin, std::int64_t end) {
    Memory& memory = memories.local();
    for (std::int64_t p = begin; p < end; ++p) {
      const double* matrix = batch.matrix.data() + p * n * n;
      const double* vector = batch.vector.data() + p * n;
      double* z = result.solution.data() + p * n;
      const auto finite = [](double x) { return std::isfinite(x); };
      kernels::LemkeOutcome outcome{Status::invalid_input, 0};
      double residual = std::numeric_limits<double>::quiet_NaN();
      if (std::all_of(matrix, matrix + n * n, finite) && std::all_of(vector, vector + n, finite)) {
        kernels::Lemke<Lanes> lemke(lanes, n, memory.reals.data(), memory.ints.data());
        outcome = lemke.run([&](int i, int j) { return matrix[i * n + j]; },
                            [&](int i) { return vector[i]; }, max_pivots, z);
        if (outcome.status == Status::solved) {
          residual = certificate::lcp_residual(n, matrix, vector, z);
          if (!certificate::within(residual, settings.tolerance)) {
            outcome.status = std::isfinite(residual) ? Status::inaccurate : Status::numerical_error;
          }
        }
      }
      if (outcome.status != Status::solved && outcome.status != Status::inaccurate) {
        std::fill(z, z + n, std::numeric_limits<double>::quiet_NaN());
      }
      result.status.data()[p] = outcome.status;
      result.pivots.data()[p] = outcome.pivots;
      result.residual.data()[p] = residual;
    }
  });
  return result;
}

/// Largest natural residual of the step LCP at a reduced impulse, relative to max|w|.
template <int Dim>
double step_residual(const kernels::FrictionPolygon& polygon, int m, const double* delassus,
                     const double* u, const double* friction, const double* limit,
                     const double* impulse, double* next) {
  const int rows = Dim * m;
  certificate::MaxAbs<> worst;
  certificate::MaxAbs<> scale;
  for (int i = 0; i < rows; ++i) {
    double sum = u[i];
    for (int j = 0; j < rows; ++j) sum = kernels::fused(delassus[i * rows + j], impulse[j], sum);
    next[i] = sum;
    scale.add(u[i]);
  }
  for (int i = 0; i < m; ++i) {
    const int t = m + (Dim - 1) * i;
    if (limit[i] < kernels::kInfinity) scale.add(limit[i]);
    worst.add(certificate::contact_residual<Dim>(polygon, friction[i], i, t, limit, impulse, next));
  }
  return worst.value / std::max(scale.value, certificate::kTiny);
}

/// Single contact steps on host lanes.
template <int Dim, class Lanes>
StepResult drive_steps(const StepBatch& batch, const StepSettings& settings, const Lanes& lanes) {
  const int m = batch.contacts;
  const int rows = Dim * m;
  const auto problems = static_cast<std::size_t>(batch.problems);
  const kernels::FrictionPolygon polygon = friction_polygon(Dim, settings.friction_directions);
  const int order = kernels::step_lcp_order<Dim>(m, settings.friction_directions);
  StepResult result;
  result.impulse = Buffer<double>(problems * static_cast<std::size_t>(rows));
  result.contact_velocity = Buffer<double>(problems * static_cast<std::size_t>(rows));
  result.status = Buffer<Status>(problems);
  result.pivots = Buffer<std::int32_t>(problems);
  result.fallback = Buffer<std::uint8_t>(problems);
  result.residual = Buffer<double>(problems);
  struct Memory {
    std::vector<double> reals, scaled;
    std::vector<int> ints;
  };
  tbb::enumerable_thread_specific<Memory> memories([&] {
    const long reals = std::max(kernels::path_real_workspace(Dim, m),
                                order + kernels::lemke_real_workspace(order));
    const long ints =
        std::max(kernels::path_int_workspace(Dim, m), kernels::lemke_int_workspace(order));
    return Memory{std::vector<double>(static_cast<std::size_t>(reals)),
                  std::vector<double>(static_cast<std::size_t>(rows * rows + 2 * rows + 2 * m)),
                  std::vector<int>(static_cast<std::size_t>(ints))};
  });
  parallel_for(batch.problems, 16, settings.threads, [&](std::int64_t begin, std::int64_t end) {
    Memory& memory = memories.local();
    double* scaled = memory.scaled.data();
    double* scaled_u = scaled + rows * rows;
    double* scaled_impulse = scaled_u + rows;
    double* scaled_limit = scaled_impulse + rows;
    double* scale = scaled_limit + m;
    for (std::int64_t p = begin; p < end; ++p) {
      const double* delassus = batch.delassus.data() + p * rows * rows;
      const double* u = batch.contact_velocity.data() + p * rows;
      const double* friction = batch.friction.data() + p * m;
      const double* limit = batch.max_impulse.data() + p * m;
      double* impulse = result.impulse.data() + p * rows;
      double* next = result.contact_velocity.data() + p * rows;
      const auto finite = [](double x) { return std::isfinite(x); };
      const auto not_negative = [](double x) { return x >= 0.0; };
      Status status = Status::invalid_input;
      double residual = std::numeric_limits<double>::quiet_NaN();
      int pivots = 0;
      bool fallback = false;
      if (std::all_of(delassus, delassus + rows * rows, finite) &&
          std::all_of(u, u + rows, finite) && std::all_of(limit, limit + m, not_negative) &&
          std::all_of(friction, friction + m,
                      [](double x) { return x >= 0.0 && std::isfinite(x); })) {
        const auto contact_of = [m](int row) { return row < m ? row : (row - m) / (Dim - 1); };
        for (int i = 0; i < m; ++i) {
          scale[i] = contact_scale(delassus, rows, Dim, m, i);
          scaled_limit[i] = limit[i] / scale[i];
        }
        for (int i = 0; i < rows; ++i) {
          scaled_u[i] = u[i] * scale[contact_of(i)];
          for (int j = 0; j < rows; ++j) {
            scaled[i * rows + j] =
                delassus[i * rows + j] * scale[contact_of(i)] * scale[contact_of(j)];
          }
        }
        status = Status::iteration_limit;
        if (settings.selection == Selection::any) {
          kernels::ContactPath<Dim, double, Lanes> path(lanes, m, polygon, friction,
                                                        memory.reals.data(), memory.ints.data());
          const kernels::PathOutcome outcome =
              path.run(scaled, scaled_u, scaled_limit, 12 * rows + 20, scaled_impulse);
          pivots += outcome.pivots;
          for (int correction = 0; outcome.found && correction <= 3; ++correction) {
            if (correction > 0 && !path.correct(scaled, scaled_u, scaled_impulse)) break;
            for (int i = 0; i < rows; ++i) impulse[i] = scaled_impulse[i] * scale[contact_of(i)];
            residual = step_residual<Dim>(polygon, m, delassus, u, friction, limit, impulse, next);
            if (certificate::within(residual, settings.tolerance)) {
              status = Status::solved;
              break;
            }
          }
        }
        if (status != Status::solved) {
          fallback = settings.selection == Selection::any;
          const bool bounded = std::all_of(limit, limit + m, finite);
          const kernels::StepLcp<Dim> lcp{m, &polygon, scaled, scale, friction, limit, u, bounded};
          const int n = lcp.order();
          double* z = memory.reals.data();
          kernels::Lemke<Lanes> lemke(lanes, n, z + order, memory.ints.data());
          const kernels::LemkeOutcome outcome =
              lemke.run([&](int i, int j) { return lcp.entry(i, j); },
                        [&](int i) { return lcp.vector(i); }, 50 * (n + 1), z);
          pivots += outcome.pivots;
          status = outcome.status;
          if (status == Status::solved) {
            for (int i = 0; i < rows; ++i) impulse[i] = lcp.impulse(z, i);
            residual = step_residual<Dim>(polygon, m, delassus, u, friction, limit, impulse, next);
            if (!certificate::within(residual, settings.tolerance)) {
              status = std::isfinite(residual) ? Status::inaccurate : Status::numerical_error;
            }
          }
        }
      }
      if (status != Status::solved && status != Status::inaccurate) {
        constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
        std::fill(impulse, impulse + rows, kNan);
        std::fill(next, next + rows, kNan);
      }
      result.status.data()[p] = status;
      result.pivots.data()[p] = pivots;
      result.fallback.data()[p] = fallback ? 1 : 0;
      result.residual.data()[p] = residual;
    }
  });
  return result;
}

}  // namespace carom::cpu
