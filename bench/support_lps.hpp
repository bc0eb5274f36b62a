#pragma once

#include <vector>

#include <carom/certificate_lp.hpp>
#include <carom/lp.hpp>

/// Support LPs of spatial postures: 4 contacts with cones of 8 sides and the 2 free coordinates of
/// the centre of mass make 34 columns, force and torque balance 6 equations.
namespace carom::bench {

struct SupportSet {
  static constexpr int kPostures = 64;
  static constexpr int kDirections = 64;
  static constexpr int kRows = 6;
  static constexpr int kColumns = 34;

  std::vector<double> cost;          ///< [postures, directions, columns]
  std::vector<double> matrix;        ///< [postures, rows, columns]
  std::vector<double> bound;         ///< of equations, [postures, rows]
  std::vector<double> lower, upper;  ///< [postures, columns]

  [[nodiscard]] certificate::LpData lp(int posture, int direction) const;
};

SupportSet random_supports();

/// Cold: one problem a direction, each from all rows basic. Otherwise one a posture with all
/// directions, a sweep, each from its neighbour's basis.
LpBatch support_lps(const SupportSet& set, bool cold);

}  // namespace carom::bench
