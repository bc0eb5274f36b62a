#pragma once

#include <carom/device/packed.hpp>

#include "equilibrium/kernels/support.hpp"

/// Many directions of one posture. A sweep is cut into arcs of neighbouring directions, each of
/// which starts from the feasible basis and hands its optimal basis on; the arcs do not depend on
/// how many of them run at once, so that every backend takes the same pivots.
namespace carom::kernels {

inline constexpr int kSupportArcs = 8;

/// Directions of a posture whose set-up is done, and where the answers go; a null pointer leaves an
/// output out.
struct ProbeJob {
  PostureView view;
  const SupportPosture* prepared;
  const SupportContact* contact;
  const ConeRule* rule;
  double tolerance;
  int max_pivots;
  int count;
  const double* direction;    ///< [count, 2], unit vectors
  const int* start;           ///< [count], rows of start_basis, < 0 the feasible one; null: a sweep
  const double* start_basis;  ///< [., kBasisReals]
  double* basis;              ///< [count, kBasisReals]
  double* state;              ///< [count]
  double* pivots;             ///< [count]
  double* lower;              ///< [count]
  double* upper;              ///< [count]
  double* point;              ///< [count, 2]
  double* dual;               ///< [count, 6]
  double* slack;              ///< [count]
  double* residual;           ///< [count]
  double* forces;             ///< [count, k, 3]
  double* scratch;            ///< [3 k, lanes], aligned as V
};

/// Number `offset` of row `index[lane]` of a table of `stride` columns, for each lane; nothing
/// where there is no table or the index is negative.
template <class V>
CAROM_INLINE void put_lanes(double* table, const int* index, int stride, int offset,
                            const V& value) {
  if (table == nullptr) return;
  double buffer[kLaneCount<V>];
  store(buffer, value);
  for (int l = 0; l < kLaneCount<V>; ++l) {
    if (index[l] >= 0) table[static_cast<long>(index[l]) * stride + offset] = buffer[l];
  }
}

template <class V>
CAROM_INLINE SupportBasis<V> broadcast(const SupportBasis<double>& basis) {
  SupportBasis<V> all;
  for (int r = 0; r < 4; ++r) {
    for (int j = 0; j < 6; ++j) all.column[r].wrench[j] = V(basis.column[r].wrench[j]);
    all.column[r].contact = V(basis.column[r].contact);
  }
  return all;
}

/// Answers into rows `index[lane]` of the job's outputs; nothing where that is negative.
template <class V>
CAROM_INLINE void put_answer(const ProbeJob& job, const int* index, const SupportAnswer<V>& answer,
                             const V* forces) {
  const int k = job.view.contacts;
  put_lanes(job.state, index, 1, 0, answer.state);
  put_lanes(job.pivots, index, 1, 0, answer.pivots);
  put_lanes(job.lower, index, 1, 0, answer.lower);
  put_lanes(job.upper, index, 1, 0, answer.upper);
  put_lanes(job.point, index, 2, 0, answer.point[0]);
  put_lanes(job.point, index, 2, 1, answer.point[1]);
  for (int j = 0; j < 6; ++j) put_lanes(job.dual, index, 6, j, answer.dual[j]);
  put_lanes(job.slack, index, 1, 0, answer.slack);
  put_lanes(job.residual, index, 1, 0, answer.residual);
  for (int j = 0; j < 3 * k; ++j) put_lanes(job.forces, index, 3 * k, j, forces[j]);
}

/// Probes `index[lane]`, one a lane; lanes with a negative index repeat another's direction.
template <class V>
CAROM_STEP void run_lanes(const ProbeJob& job, const int* index, const int* direction,
                          SupportBasis<V>& basis) {
  constexpr int kLanes = kLaneCount<V>;
  double buffer[kLanes];
  V d[2];
  for (int c = 0; c < 2; ++c) {
    for (int l = 0; l < kLanes; ++l) buffer[l] = job.direction[2 * direction[l] + c];
    d[c] = load<V>(buffer);
  }
  V* forces = reinterpret_cast<V*>(job.scratch);
  SupportAnswer<V> answer;
  answer.state = V(kRunning);
  const SupportProbe<V> probe(job.view, *job.prepared, job.contact, *job.rule, job.tolerance,
                              job.max_pivots, forces);
  probe.run(d, basis, answer);
  put_answer(job, index, answer, forces);
  if (job.basis != nullptr) {
    for (int r = 0; r < 4; ++r) {
      for (int j = 0; j < 6; ++j)
        put_lanes(job.basis, index, kBasisReals, 7 * r + j, basis.column[r].wrench[j]);
      put_lanes(job.basis, index, kBasisReals, 7 * r + 6, basis.column[r].contact);
    }
  }
  // Where the method broke down or ran out of pivots the neighbour starts afresh.
  const auto good = (answer.state >= V(kOptimal)) & (answer.state <= V(kUnbounded));
  for (int r = 0; r < 4; ++r) {
    const SupportColumn<double>& fresh = job.prepared->feasible.column[r];
    SupportColumn<V>& column = basis.column[r];
    for (int j = 0; j < 6; ++j) {
      column.wrench[j] = select(good, column.wrench[j], V(fresh.wrench[j]));
    }
    column.contact = select(good, column.contact, V(fresh.contact));
  }
}

/// Arcs first_arc, first_arc + 1, ... of a sweep, one a lane.
template <class V>
CAROM_INLINE void sweep_arcs(const ProbeJob& job, int first_arc) {
  constexpr int kLanes = kLaneCount<V>;
  int next[kLanes];
  int end[kLanes];
  int steps = 0;
  for (int l = 0; l < kLanes; ++l) {
    const int arc = first_arc + l;
    const int count = arc < kSupportArcs ? job.count : 0;
    next[l] = static_cast<int>(static_cast<long>(arc) * count / kSupportArcs);
    end[l] = static_cast<int>(static_cast<long>(arc + 1) * count / kSupportArcs);
    steps = end[l] - next[l] > steps ? end[l] - next[l] : steps;
  }
  SupportBasis<V> basis = broadcast<V>(job.prepared->feasible);
  for (int step = 0; step < steps; ++step) {
    int index[kLanes];
    int direction[kLanes];
    for (int l = 0; l < kLanes; ++l) {
      const bool live = next[l] < end[l];
      index[l] = live ? next[l] : -1;
      direction[l] = live ? next[l] : (end[l] > 0 ? end[l] - 1 : 0);
      if (live) ++next[l];
    }
    run_lanes<V>(job, index, direction, basis);
  }
}

/// Probes first, first + 1, ... of a list, each from its own start.
template <class V>
CAROM_INLINE void run_list(const ProbeJob& job, int first) {
  constexpr int kLanes = kLaneCount<V>;
  int index[kLanes];
  int direction[kLanes];
  const double* start[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    const bool live = first + l < job.count;
    index[l] = live ? first + l : -1;
    direction[l] = live ? first + l : first;
    const int row = job.start[direction[l]];
    start[l] = row < 0 ? nullptr : job.start_basis + static_cast<long>(row) * kBasisReals;
  }
  SupportBasis<V> basis;
  for (int r = 0; r < 4; ++r) {
    const SupportColumn<double>& fresh = job.prepared->feasible.column[r];
    for (int j = 0; j < 7; ++j) {
      double buffer[kLanes];
      for (int l = 0; l < kLanes; ++l) {
        const double other = j < 6 ? fresh.wrench[j < 6 ? j : 0] : fresh.contact;
        buffer[l] = start[l] == nullptr ? other : start[l][7 * r + j];
      }
      (j < 6 ? basis.column[r].wrench[j < 6 ? j : 0] : basis.column[r].contact) = load<V>(buffer);
    }
  }
  run_lanes<V>(job, index, direction, basis);
}

/// All probes of a job, kLaneCount<V> at a time.
template <class V>
CAROM_INLINE void run_probes(const ProbeJob& job) {
  if (job.start == nullptr) {
    for (int arc = 0; arc < kSupportArcs; arc += kLaneCount<V>) sweep_arcs<V>(job, arc);
  } else {
    for (int first = 0; first < job.count; first += kLaneCount<V>) run_list<V>(job, first);
  }
}

}  // namespace carom::kernels
