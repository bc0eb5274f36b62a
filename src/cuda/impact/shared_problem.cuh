#pragma once

#include "cuda/impact/sample_store.cuh"

/// One problem's data in shared memory, for kernels whose blocks sample a single problem.
namespace carom::cuda {

/// Doubles of one problem's data without its mode table.
CAROM_HOST_DEVICE constexpr int problem_reals(int dimension, int nv, int m) {
  const int rows = dimension * m;
  return nv * nv + 2 * rows * nv + rows * rows + 2 * m + nv + rows;
}

/// Copies a problem's arrays to the block's shared memory from `next` on, and its table if asked
/// to.
template <int Dim>
__device__ __forceinline__ kernels::ImpactProblemView share(const kernels::ImpactProblemView& from,
                                                            int nv, int m, bool with_table,
                                                            double* next) {
  const BlockLanes block;
  const int rows = Dim * m;
  kernels::ImpactProblemView view = from;
  const auto take = [&](const double* source, int count) {
    double* begin = next;
    next += count;
    block.for_each(count, [&](int i) { begin[i] = source[i]; });
    return begin;
  };
  view.mass = take(from.mass, nv * nv);
  view.jacobian = take(from.jacobian, rows * nv);
  view.response = take(from.response, nv * rows);
  view.delassus = take(from.delassus, rows * rows);
  view.scale = take(from.scale, m);
  view.friction = take(from.friction, m);
  view.velocity = take(from.velocity, nv);
  view.contact_velocity = take(from.contact_velocity, rows);
  if (with_table) {  // and from nowhere else, so that the compiler knows where it reads
    const int count = from.table.count;
    const int others = count > 0 ? from.table.first[count] : 0;
    view.table.numbers = take(
        from.table.numbers,
        count > 0 ? static_cast<int>(kernels::ModeTableView::size(rows, rows + m, count, others))
                  : 0);
    int* first = reinterpret_cast<int*>(next);
    block.for_each(count > 0 ? count + 1 : 0, [&](int i) { first[i] = from.table.first[i]; });
    view.table.first = first;
  }
  return view;
}

/// Bytes that a mode table takes in addition, the longest of the problems'.
inline std::size_t table_bytes(const ProblemArrays& problems) {
  return static_cast<std::size_t>(problems.table_reals) * sizeof(double) +
         static_cast<std::size_t>(problems.table_ints) * sizeof(int);
}

}  // namespace carom::cuda
