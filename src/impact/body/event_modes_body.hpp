#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

#include "impact/body/impact_body.hpp"

/// What planar contacts do right after a velocity at which some of them stick or touch, under given
/// weights: one of finitely many linear modes of the inclusion (39), (40).
namespace carom::kernels {

/// Planar contacts that trajectories are followed for from event to event.
inline constexpr int kMaxEventContacts = 4;
inline constexpr int kMaxEventRows = 2 * kMaxEventContacts;

/// Impulses and rates of contact velocities for one unit of the stretch.
struct EventRates {
  double impulse[kMaxEventRows];  ///< normals, then tangents
  double rate[kMaxEventRows];
};

/// u holds exact zeros where a contact touches or sticks.
class EventModes {
 public:
  CAROM_HOST_DEVICE EventModes(int contacts, const double* delassus, const double* scale,
                               const double* friction)
      : m_(contacts), delassus_(delassus), scale_(scale), friction_(friction) {}

  /// A(row, column) of u = A lambda.
  CAROM_HOST_DEVICE double response(int row, int column) const {
    return delassus_[row * 2 * m_ + column] / (scale_[row % m_] * scale_[column % m_]);
  }

  /// The first mode from number `first` (cyclically) that holds under `weight`; false where none
  /// does. weight: [m], >= 0.
  CAROM_HOST_DEVICE bool find(const double* u, const double* weight, unsigned first,
                              EventRates& rates) const {
    int options[kMaxEventContacts];
    unsigned count = 1;
    for (int i = 0; i < m_; ++i) {
      options[i] = option_count(u[i], u[m_ + i]);
      count *= static_cast<unsigned>(options[i]);
    }
    for (unsigned tried = 0; tried < count; ++tried) {
      unsigned number = (first + tried) % count;
      Choice choice[kMaxEventContacts];
      for (int i = 0; i < m_; ++i) {
        const auto own = static_cast<unsigned>(options[i]);
        choice[i] = choice_of(u[i], u[m_ + i], static_cast<int>(number % own));
        number /= own;
      }
      if (solve(weight, choice, rates) && holds(u, weight, choice, rates)) return true;
    }
    return false;
  }

 private:
  enum class Push : unsigned char { none, full, held };
  struct Choice {
    Push push;
    signed char slip;  ///< of friction; 0: no slip
    bool given;        ///< the slip is that of u, not a choice
  };

  CAROM_HOST_DEVICE static int option_count(double normal, double tangent) {
    if (normal > 0.0) return 1;
    const int slips = tangent == 0.0 ? 3 : 1;
    return normal < 0.0 ? slips : 1 + 2 * slips;
  }
  CAROM_HOST_DEVICE static Choice choice_of(double normal, double tangent, int option) {
    if (normal > 0.0) return {Push::none, 0, true};
    if (normal == 0.0 && option == 0) return {Push::none, 0, true};
    int rest = normal == 0.0 ? option - 1 : option;
    Choice choice{Push::full, static_cast<signed char>(tangent > 0.0 ? 1 : -1), tangent != 0.0};
    if (tangent == 0.0) {
      constexpr signed char kSlips[3] = {0, 1, -1};
      choice.slip = kSlips[rest % 3];
      rest /= 3;
    }
    if (rest == 1) choice.push = Push::held;
    return choice;
  }

  /// Impulses of a choice: what is held or sticks solves linear equations, of which those that say
  /// nothing new are left out.
  CAROM_HOST_DEVICE bool solve(const double* weight, const Choice* choice,
                               EventRates& rates) const {
    const int rows = 2 * m_;
    int unknown[kMaxEventRows];  // its row of the impulse
    int count = 0;
    double* impulse = rates.impulse;
    for (int i = 0; i < m_; ++i) {
      impulse[i] = choice[i].push == Push::full ? weight[i] : 0.0;
      impulse[m_ + i] = -friction_[i] * choice[i].slip * impulse[i];
      if (choice[i].push == Push::held) unknown[count++] = i;
      if (choice[i].push != Push::none && choice[i].slip == 0) unknown[count++] = m_ + i;
    }
    double system[kMaxEventRows][kMaxEventRows + 1];
    for (int a = 0; a < count; ++a) {
      double sum = 0.0;
      for (int k = 0; k < rows; ++k) sum = fused(response(unknown[a], k), impulse[k], sum);
      system[a][count] = -sum;
      for (int b = 0; b < count; ++b) {
        const int k = unknown[b];
        system[a][b] = response(unknown[a], k);
        if (k < m_ && choice[k].slip != 0) {
          system[a][b] =
              fused(-friction_[k] * choice[k].slip, response(unknown[a], m_ + k), system[a][b]);
        }
      }
    }
    if (!eliminate(system, count)) return false;
    for (int a = 0; a < count; ++a) impulse[unknown[a]] = system[a][count];
    for (int i = 0; i < m_; ++i) {
      if (choice[i].push == Push::held && choice[i].slip != 0) {
        impulse[m_ + i] = -friction_[i] * choice[i].slip * impulse[i];
      }
    }
    for (int a = 0; a < rows; ++a) {
      double sum = 0.0, size = 0.0;
      for (int k = 0; k < rows; ++k) {
        const double part = response(a, k) * impulse[k];
        sum = fused(response(a, k), impulse[k], sum);
        size += magnitude(part);
      }
      rates.rate[a] = magnitude(sum) <= kNothing * size ? 0.0 : sum;
    }
    return true;
  }

  CAROM_HOST_DEVICE static bool eliminate(double (*system)[kMaxEventRows + 1], int count) {
    bool used[kMaxEventRows] = {};
    int pivot_of[kMaxEventRows];
    double size[kMaxEventRows];
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
        for (int b = column; b <= count; ++b) {
          system[a][b] = fused(-factor, system[pivot][b], system[a][b]);
        }
        system[a][column] = 0.0;
      }
    }
    double value[kMaxEventRows];
    for (int column = 0; column < count; ++column) {
      const int pivot = pivot_of[column];
      value[column] = pivot < 0 ? 0.0 : system[pivot][count] / system[pivot][column];
    }
    for (int column = 0; column < count; ++column) system[column][count] = value[column];
    return true;
  }

  CAROM_HOST_DEVICE bool holds(const double* u, const double* weight, const Choice* choice,
                               EventRates& rates) const {
    bool pushed = false;
    for (int i = 0; i < m_; ++i) {
      double& normal = rates.impulse[i];
      double& tangent = rates.impulse[m_ + i];
      double& opening = rates.rate[i];
      double& slipping = rates.rate[m_ + i];
      switch (choice[i].push) {
        case Push::none:
          if (u[i] == 0.0 && opening < 0.0) return false;
          continue;
        case Push::full:
          if (u[i] == 0.0 && opening > 0.0) return false;
          break;
        case Push::held:
          if (!(magnitude(opening) <= kResidual * response(i, i) * weight[i])) return false;
          if (!(normal >= -kNothing * weight[i] && normal <= weight[i] * (1.0 + kNothing))) {
            return false;
          }
          normal = normal < 0.0 ? 0.0 : normal;
          opening = 0.0;
          break;
      }
      pushed = pushed || normal > 0.0;
      if (choice[i].given) continue;
      if (choice[i].slip == 0) {
        const double size = response(m_ + i, m_ + i) * friction_[i] * normal +
                            magnitude(response(m_ + i, i)) * normal;
        if (!(magnitude(slipping) <= kResidual * size)) return false;
        const double most = friction_[i] * normal;
        if (!(magnitude(tangent) <= most * (1.0 + kNothing))) return false;
        tangent = smaller(larger(tangent, -most), most);
        slipping = 0.0;
      } else if (choice[i].slip * slipping < 0.0) {
        return false;
      }
    }
    return pushed;
  }

  static constexpr double kNothing = 1e-13;    ///< of the terms of a sum: rounding
  static constexpr double kResidual = 1e-11;   ///< of a rate that is to vanish
  static constexpr double kDependent = 1e-11;  ///< of a row's own response

  int m_;
  const double* delassus_;
  const double* scale_;
  const double* friction_;
};

}  // namespace carom::kernels
