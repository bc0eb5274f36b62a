#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

#include "impact/kernels/impact.hpp"

/// What planar contacts do right after a velocity at which some of them stick or touch: one of
/// finitely many modes of the inclusion (39), (40), in each of which impulses and rates of contact
/// velocities are linear in the weights.
namespace carom::kernels {

/// Planar contacts that trajectories are followed for from event to event.
inline constexpr int kMaxEventContacts = 4;

/// Part of one contact in a mode: no push; its weight's push, with slip -, none, +; the push that
/// holds it at u_n = 0, likewise.
inline constexpr int kEventChoices = 7;
CAROM_INLINE bool event_held(int choice) { return choice >= 4; }
CAROM_INLINE int event_slip(int choice) { return (choice - 1) % 3 - 1; }

CAROM_HOST_DEVICE constexpr int event_modes(int contacts) {
  return contacts == 0 ? 1 : kEventChoices * event_modes(contacts - 1);
}
/// Doubles of a table.
CAROM_HOST_DEVICE constexpr long event_reals(int contacts) {
  return 4L * event_modes(contacts) * contacts * contacts;
}

/// The modes of one problem, each solved when it is asked for first. Isa: whose code this is.
template <class Isa, int M>
class EventTable {
 public:
  static constexpr int kRows = 2 * M;
  static constexpr int kModes = event_modes(M);

  /// modes: [kModes, M, 2, kRows], for each weight the impulses (normals, then tangents) and the
  /// rates of contact velocities; known: [kModes], zero where a mode has not been solved.
  CAROM_INLINE EventTable(const ImpactProblemView& problem, double* modes, unsigned char* known)
      : problem_(problem), modes_(modes), known_(known) {}

  /// [kModes, M, 2, kRows]
  [[nodiscard]] CAROM_INLINE const double* modes() const { return modes_; }

  /// A(row, column) of u = A lambda.
  CAROM_INLINE double response(int row, int column) const {
    return problem_.delassus[row * kRows + column] /
           (problem_.scale[row % M] * problem_.scale[column % M]);
  }

  /// Mode sum_i choice_i 7^i; null where its equations contradict each other under `pushing`, bits
  /// of the contacts with weight.
  CAROM_INLINE const double* mode(int number, unsigned pushing) const {
    if (known_[number] == 0) solve(number);
    return (known_[number] & pushing) == 0 ? modes_ + number * kModeSize : nullptr;
  }

  /// What is held or sticks solves linear equations, of which those that say nothing new are left
  /// out. Once for each mode, before or when it is asked for.
  CAROM_CALL void solve(int number) const;

 private:
  static constexpr double kNothing = 1e-13;    ///< of the terms of a sum: rounding
  static constexpr double kResidual = 1e-11;   ///< likewise, of what is to vanish
  static constexpr double kDependent = 1e-11;  ///< of a row's own response
  static constexpr unsigned char kSolved = 0x80;
  static constexpr long kModeSize = 2L * M * kRows;

  /// -T/N of a contact that slips.
  CAROM_INLINE double slope(const int* choice, int i) const {
    return problem_.friction[i] * event_slip(choice[i]);
  }

  /// The solutions of all right-hand sides, in their places.
  CAROM_INLINE static void eliminate(double (*system)[kRows + M], int count) {
    bool used[kRows] = {};
    int pivot_of[kRows];
    double size[kRows];
    for (int a = 0; a < count; ++a) size[a] = magnitude(system[a][a]);
    for (int column = 0; column < count; ++column) {
      int pivot = -1;
      for (int a = 0; a < count; ++a) {
        if (used[a] || !(magnitude(system[a][column]) > kDependent * size[a])) continue;
        if (pivot < 0 || magnitude(system[a][column]) > magnitude(system[pivot][column])) pivot = a;
      }
      pivot_of[column] = pivot;
      if (pivot < 0) continue;
      used[pivot] = true;
      for (int a = 0; a < count; ++a) {
        if (a == pivot) continue;
        const double factor = system[a][column] / system[pivot][column];
        for (int b = column; b < count; ++b) {
          system[a][b] = fused(-factor, system[pivot][b], system[a][b]);
        }
        for (int j = kRows; j < kRows + M; ++j) {
          system[a][j] = fused(-factor, system[pivot][j], system[a][j]);
        }
        system[a][column] = 0.0;
      }
    }
    double value[kRows][M];
    for (int column = 0; column < count; ++column) {
      const int pivot = pivot_of[column];
      for (int j = 0; j < M; ++j) {
        value[column][j] = pivot < 0 ? 0.0 : system[pivot][kRows + j] / system[pivot][column];
      }
    }
    for (int column = 0; column < count; ++column) {
      for (int j = 0; j < M; ++j) system[column][kRows + j] = value[column][j];
    }
  }

  const ImpactProblemView& problem_;
  double* modes_;
  unsigned char* known_;
};

template <class Isa, int M>
CAROM_CALL void EventTable<Isa, M>::solve(int number) const {
  double* const mode = modes_ + number * kModeSize;
  unsigned char& known = known_[number];
  int choice[M], unknown[kRows];  // rows of the impulse
  bool solved_for[kRows] = {};
  int count = 0;
  for (int i = 0; i < M; ++i) {
    choice[i] = number % kEventChoices;
    number /= kEventChoices;
  }
  for (int i = 0; i < M; ++i) {
    if (choice[i] == 0) continue;
    if (event_held(choice[i])) unknown[count++] = i;
    if (event_slip(choice[i]) == 0) unknown[count++] = M + i;
  }
  double system[kRows][kRows + M];
  for (int a = 0; a < count; ++a) {
    const int row = unknown[a];
    solved_for[row] = true;
    for (int b = 0; b < count; ++b) {
      const int k = unknown[b];
      system[a][b] = response(row, k);
      if (k < M) system[a][b] = fused(-slope(choice, k), response(row, M + k), system[a][b]);
    }
    for (int j = 0; j < M; ++j) {
      double push = 0.0;
      if (choice[j] != 0 && !event_held(choice[j])) {
        push = fused(-slope(choice, j), response(row, M + j), response(row, j));
      }
      system[a][kRows + j] = -push;
    }
  }
  eliminate(system, count);
  unsigned char contradicted = kSolved;
  for (int j = 0; j < M; ++j) {
    double* const impulse = mode + 2 * j * kRows;
    double* const rate = impulse + kRows;
    for (int k = 0; k < kRows; ++k) impulse[k] = 0.0;
    if (choice[j] != 0 && !event_held(choice[j])) impulse[j] = 1.0;
    for (int a = 0; a < count; ++a) impulse[unknown[a]] = system[a][kRows + j];
    for (int i = 0; i < M; ++i) {
      if (choice[i] != 0 && event_slip(choice[i]) != 0) {
        impulse[M + i] = -slope(choice, i) * impulse[i];
      }
    }
    for (int a = 0; a < kRows; ++a) {
      double sum = 0.0, size = 0.0;
      for (int k = 0; k < kRows; ++k) {
        sum = fused(response(a, k), impulse[k], sum);
        size += magnitude(response(a, k) * impulse[k]);
      }
      if (solved_for[a]) {
        if (!(magnitude(sum) <= kResidual * size)) {
          contradicted = static_cast<unsigned char>(contradicted | 1U << j);
        }
        sum = 0.0;
      }
      rate[a] = magnitude(sum) <= kNothing * size ? 0.0 : sum;
    }
  }
  known = contradicted;
}

}  // namespace carom::kernels
