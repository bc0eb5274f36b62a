#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <carom/impact.hpp>

#include "enclosure/double_description.hpp"

namespace carom::enclosure {

/// An impact in integers, planar or with four friction directions in space. Rows of J are the
/// normals [m], then what tells the slip's friction: planar tangents [m], in space the two sums
/// t1 + t2, t1 - t2 whose signs are the sector that the slip is in [2 m]. Contact velocities
/// reached from a start differ by the range of A = J M^-1 J'. Independent rows of J are the
/// coordinates w, the other rows integer combinations of them, so that dependent contacts stay so.
struct RoundedImpact {
  int contacts = 0;
  int slips = 1;           ///< rows of slip of each contact
  std::vector<int> basis;  ///< rows of J that are coordinates
  std::vector<Vector>
      row;  ///< [m + slips m]: u_k = unit (row_k . w) / (scale_k w_0), w homogeneous
  std::vector<Integer> scale;  ///< likewise, > 0
  double unit = 1.0;           ///< [m/s], a power of two
  Vector start;                ///< w before the impact, [1 + basis]
  /// A (e_n + mu d) as rays (0, ...), of contact i from corners() i on: planar d = e_t, then -e_t;
  /// where friction is an interval with its least mu, then with its largest.
  std::vector<Vector> push;
  bool friction_varies = false;
  /// Normal impulse of each, in the unit in which its product with (row_k . w) / scale_k is the
  /// power that its ray has in coordinates w.
  std::vector<double> impulse;
  /// Of the work of compression what a contact's store takes at most, [m]; empty: inelastic.
  std::vector<double> stored;
  /// What it takes at least, and does not lose, [m]; empty by laws that may throw some away.
  std::vector<double> least_stored;
  /// Contacts whose stores of impulses are coordinates behind w (impulse_stores.hpp), ascending;
  /// then pushes have in that of their contact their normal impulse, times 2^store_bits and in the
  /// unit of w. Coefficients of stores are 0 in all other rows.
  std::vector<int> stores;
  int store_bits = 0;
  /// Newton's law: stores are the largest speeds of approach, in the unit of row_i . w, and have no
  /// guards.
  bool speeds = false;
  /// What a store gains of an impulse, [stores], and gives back, all times one number.
  std::vector<Integer> least_gain, most_gain;
  Integer whole_gain = 0;
  /// The guard may end a store's release where upper (row_i . w) >= lower store + impulse . (w -
  /// start), [stores]; 0 and 0 where it may everywhere.
  struct Guard {
    Integer upper = 0, lower = 0;
    /// [basis], at most a share of the contact's impulse since the start; empty: none.
    Vector impulse;
  };
  std::vector<Guard> guard;
  /// Rows of stores: [m] the store of each contact, then [m] those of guards, of speeds instead
  /// what they are beyond the speed of approach, [m], and what is left of a release, [m]; 0 where
  /// there are none; empty without stores.
  std::vector<Vector> store_row;
  std::vector<double> response;  ///< A of the coordinates, [basis, basis]
  /// Rows >= 0 wherever the kinetic energy is not above that before the impact: u_k^2 <= 2 K A_kk.
  std::vector<Vector> energy;
  double rounding = 0.0;  ///< see ImpactEnclosure::data_rounding
  /// Times the length of rounded data: of numbers, and of what limits are for those.
  unsigned length = 1;

  [[nodiscard]] std::size_t size() const { return basis.size() + 1 + stores.size(); }
  /// The coordinate of a contact's store; 0 for none.
  [[nodiscard]] std::size_t store_at(int contact) const {
    for (std::size_t s = 0; s < stores.size(); ++s) {
      if (stores[s] == contact) return basis.size() + 1 + s;
    }
    return 0;
  }
  /// The rows whose signs are a point's (Signs): contact velocities, then store_row.
  [[nodiscard]] int signed_rows() const { return static_cast<int>(row.size() + store_row.size()); }
  [[nodiscard]] const Vector& signed_row(int k) const {
    const auto at = static_cast<std::size_t>(k);
    return at < row.size() ? row[at] : store_row[at - row.size()];
  }
  /// Of a contact's friction.
  [[nodiscard]] int corners() const { return (1 << slips) * (friction_varies ? 2 : 1); }
  /// Of `push`.
  [[nodiscard]] std::size_t push_at(int contact, int corner) const {
    return static_cast<std::size_t>(contact) * static_cast<std::size_t>(corners()) +
           static_cast<std::size_t>(corner);
  }
  /// Of those with the largest friction.
  [[nodiscard]] bool most(int corner) const { return corner >> slips != 0 || !friction_varies; }
  /// The sign of a row of slip that a corner's friction opposes.
  static int opposed(int corner, int slip) { return (corner >> slip & 1) != 0 ? 1 : -1; }
  [[nodiscard]] int slip_row(int contact, int slip) const {
    return contacts + slips * contact + slip;
  }
  /// Contact velocity k at the homogeneous point w [m/s].
  [[nodiscard]] double velocity(int k, const Vector& w) const;
};

/// Data of a problem whose numbers are good, rounded to 2^-44 of their largest (finer for mu > 1)
/// where they are well conditioned: independent rows are far from dependent, the others exactly
/// dependent, none is of another size. Else, and with exact_data, the problem itself. In neither
/// case is a row taken for a combination of others that is not one. None where M is positive
/// definite by rounding only.
/// stores: contacts with coordinates of their own, whose rows and gains are still to be set.
std::optional<RoundedImpact> round_impact(const ImpactProblem& problem, bool exact_data = false,
                                          const std::vector<int>& stores = {});

/// x 2^bits to the nearest integer.
Integer rounded(double x, int bits);

/// RoundedImpact::stored of a problem, rounded up. Laws of impulses and speeds give back what may
/// be all of the work.
std::vector<double> stored_shares(const ImpactProblem& problem, RestitutionLaw law);
/// RoundedImpact::least_stored of one that has stores, rounded down.
std::vector<double> least_stored_shares(const ImpactProblem& problem, RestitutionLaw law);

/// The problem itself in coordinates of these rows of J; none where they are not a basis, or M is
/// not positive definite but for rounding. stores, store_bits: as RoundedImpact has them.
std::optional<RoundedImpact> given_impact(const ImpactProblem& problem,
                                          const std::vector<int>& basis,
                                          const std::vector<int>& stores = {}, int store_bits = 0);

/// What `impact` was rounded by (RoundedImpact::rounding) if it is the problem itself or what
/// rounding may make of it, by numbers of `problem` that are computed without rounding; else none.
std::optional<double> rounding_between(const RoundedImpact& impact, const ImpactProblem& problem);

}  // namespace carom::enclosure
