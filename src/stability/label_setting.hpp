#pragma once

#include <Eigen/Dense>

#include <optional>

#include "stability/kernels/events.hpp"
#include "stability/label_program.hpp"
#include "stability/labelled.hpp"

/// Common input of both kinds of labelled functions.
namespace carom::stability {

namespace body = kernels::stability;
using Eigen::Matrix3d;
using Eigen::Vector2d;
using Eigen::Vector3d;

inline constexpr double kDegenerate = 1e-9;  ///< of rates that are divided by

/// A contact and what belongs to it.
struct Side {
  Vector3d normal, tangent, turn;      ///< turn: N x T, the rotation about it
  Vector3d normal_dual, tangent_dual;  ///< within span(N, T)
  double nn, nt, tt, mu, e, load, turn2;
  Vector3d slip_acceleration[2];  ///< A of slip + and -
  bool sticks;                    ///< S is a mode at rest of slip
};

/// Numbers that both kinds of functions start from; c.n = 1, k = 1.
struct Setting {
  Side side[2];
  Vector3d g, n, c;
  Vector3d gap_dual[2];  ///< N_j.gap_dual_j = 1, the other's 0, no part along n
  double m = 0.0;        ///< of V1 that makes V positive: 1 / (g.n)
  bool usable = false;
  body::EventTables tables;
};

/// `usable` is off where a condition of every labelled function fails or a rate vanishes.
Setting setting_of(const kernels::stability::StanceForm& stance);

/// Both slip along way * n without leaving: k + Q12 A.n along the way is not positive. at_n: the
/// functions' form at n.
void add_sliding(LabelProgram& program, const Setting& s, int way, const Affine& q12,
                 const Affine& at_n);
bool slides(const Setting& s, int way);

/// Conditions, and how the certificate's numbers depend on the unknowns.
struct PosedLabels {
  LabelProgram program;
  std::array<Affine, kLabelledNumbers> numbers{};
};

/// e = 0 for both contacts, and otherwise; nothing where a condition cannot be written down.
std::optional<PosedLabels> pose_inelastic(const Setting& setting);
std::optional<PosedLabels> pose_elastic(const Setting& setting);

}  // namespace carom::stability
