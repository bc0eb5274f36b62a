#pragma once

#include "equilibrium/kernels/support_sweep.hpp"

/// Few directions of many postures: one posture per lane, also during its set-up. Every
/// direction starts from the posture's feasible basis, as in a sweep of at most kSupportArcs
/// directions, and a lane's arithmetic does not depend on its neighbours: the bits are the sweep's.
namespace carom::kernels {

/// Postures whose numbers lie one after the other, under one cone rule.
struct PosturesJob {
  int problems;
  const double* position;  ///< [problems, k, 3]
  const double* normal;    ///< [problems, k, 3]
  const double* friction;  ///< [problems, k]
  const double* wrench;    ///< [problems, 6]
  double* status;          ///< [problems], numbers of Status
  double* length;          ///< [problems]
  double* proof;           ///< [problems, 6], where the status is infeasible
  /// What all postures share: contacts of the view, rule, tolerance, max_pivots, count, direction
  /// and the outputs, each [problems, count, ...]. scratch: postures_scratch() lanes.
  ProbeJob probe;
  SupportContact* lane_contact;  ///< [k]
};

/// Rows of ProbeJob::scratch.
constexpr int postures_scratch(int contacts) {
  const int per_contact = 3 + 7 + static_cast<int>(sizeof(SupportContact) / sizeof(double));
  return per_contact * contacts;
}

/// Postures first, first + 1, ..., one a lane.
template <class V>
CAROM_INLINE void run_postures(const PosturesJob& job, int first) {
  constexpr int kLanes = kLaneCount<V>;
  const ProbeJob& probe = job.probe;
  const int k = probe.view.contacts;
  // Lanes without a posture repeat the first one's.
  int posture[kLanes];
  int row[kLanes];
  int index[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    row[l] = first + l < job.problems ? first + l : -1;
    posture[l] = row[l] < 0 ? first : row[l];
  }
  double buffer[kLanes];
  const auto gather = [&](const double* from, int stride, V* to) {
    for (int j = 0; j < stride; ++j) {
      for (int l = 0; l < kLanes; ++l) buffer[l] = from[static_cast<long>(posture[l]) * stride + j];
      to[j] = load<V>(buffer);
    }
  };
  V* forces = reinterpret_cast<V*>(probe.scratch);
  V* position = forces + 3 * k;
  V* normal = position + 3 * k;
  V* friction = normal + 3 * k;
  auto* contact = reinterpret_cast<SupportContactOf<V>*>(friction + k);
  V wrench[6];
  gather(job.position, 3 * k, position);
  gather(job.normal, 3 * k, normal);
  gather(job.friction, k, friction);
  gather(job.wrench, 6, wrench);
  SupportPostureOf<V> prepared;
  V pivots;
  V status = prepare_numbers<V>(k, position, normal, friction, wrench, *probe.rule, probe.tolerance,
                                probe.max_pivots, prepared, contact, pivots);
  const PostureViewOf<V> view{k, position, normal, friction};
  const SupportProbe<V, V> solver(view, prepared, contact, *probe.rule, probe.tolerance,
                                  probe.max_pivots, forces, job.lane_contact);
  const V infeasible(status_number(Status::infeasible));
  SupportAnswer<V> answer;
  if (any_of(equals(status, infeasible))) {
    const auto proven = prove_infeasible(solver, prepared, answer);
    status = select(equals(status, infeasible),
                    select(proven, status, V(status_number(Status::numerical_error))), status);
    for (int j = 0; j < 6; ++j) put_lanes(job.proof, row, 6, j, answer.dual[j]);
  }
  put_lanes(job.status, row, 1, 0, status);
  put_lanes(job.length, row, 1, 0, prepared.length);
  const auto solved = equals(status, V(status_number(Status::solved)));
  if (!any_of(solved)) return;
  for (int at = 0; at < probe.count; ++at) {
    const V d[2] = {V(probe.direction[2 * at]), V(probe.direction[2 * at + 1])};
    for (int l = 0; l < kLanes; ++l) {
      index[l] = row[l] < 0 ? -1 : row[l] * probe.count + at;
    }
    answer.state = select(solved, V(kRunning), V(kBroken));
    SupportBasis<V> basis = prepared.feasible;
    solver.run(d, basis, answer);
    put_answer(probe, index, answer, forces);
  }
}

template <class V>
CAROM_INLINE void run_all_postures(const PosturesJob& job) {
  for (int first = 0; first < job.problems; first += kLaneCount<V>) run_postures<V>(job, first);
}

}  // namespace carom::kernels
