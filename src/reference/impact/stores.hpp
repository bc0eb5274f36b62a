#pragma once

#include <cstdint>
#include <vector>

#include "core/material_draws.hpp"
#include "reference/impact/event_draws.hpp"

namespace carom::reference {

/// What became of the work of one sample's contacts, [m] each.
struct Bounces {
  Vector restitution, friction;  ///< NaN where they vary within the sample
  Vector stored, released, lost_compression, lost_friction;
  bool guarded = false, trimmed = false;
};

/// A piece of a sample's path: its impulse, and e and mu of the contacts.
struct PathPiece {
  Vector impulse, restitution, friction;
};

/// Whether a problem has restitution or an interval of friction.
[[nodiscard]] bool has_stores(const ImpactProblem& problem);
/// Whether its samples have frictions of their own.
[[nodiscard]] bool friction_varies(const ImpactProblem& problem);

/// Restitution and friction of one sample, in stretches of it where they vary.
class Materials {
 public:
  /// mechanism: one of the sample's own, whose friction is kept at what is drawn.
  Materials(Mechanism& mechanism, const ImpactSettings& settings, std::uint32_t problem,
            std::int64_t sample);
  void next_stretch();

  Vector restitution, friction;

 private:
  void draw();

  Mechanism& mechanism_;
  bool vary_;
  MaterialNumbers numbers_;
  std::uint32_t stretch_ = 0;
};

/// The stores of one sample's contacts (docs/explanation/restitution.md), from event to event.
class Stores {
 public:
  Stores(Mechanism& mechanism, const ImpactSettings& settings, std::uint32_t problem,
         std::int64_t sample);

  /// Before each stretch but the first.
  void next_stretch() { materials_.next_stretch(); }
  [[nodiscard]] const Materials& materials() const { return materials_; }

  /// Whether contact i may push while it separates.
  [[nodiscard]] bool filled(int i) const { return filled_[static_cast<std::size_t>(i)]; }
  /// Normal velocities u as a search for a mode must see them: those of contacts that may
  /// push by their stores are -size. held: but for those that the draws hold at u_n = 0, since
  /// another contact pushes.
  [[nodiscard]] Vector pushers(Vector u, const EventDraws& draws, bool held, double size) const;
  /// Impulse until the store of contact i is empty; infinite where u turns before.
  [[nodiscard]] double until(int i, double u, double rate, double push) const;
  /// Whether a piece, [impulse and rate of one unit] over `length`, is left out: it changes neither
  /// velocities nor stores, or its rounding exceeds the tolerance of the energy balance.
  [[nodiscard]] bool leaves_out(const Vector& u, const Vector& impulse, const Vector& rate,
                                double length) const;
  /// A piece from contact velocities `before` to `after`, with these impulses; emptied: contacts
  /// whose stores end with it.
  void follow(const Vector& before, const Vector& after, const Vector& impulse,
              const std::vector<bool>& emptied);

  /// What the impact misses, of its largest contact speed; infinite where energies do.
  [[nodiscard]] double missed(const Vector& velocity) const;
  [[nodiscard]] Bounces bounces() const;
  /// Contact velocities u after the pieces so far, of their rounded impulses where these move them.
  [[nodiscard]] Vector rounded(Vector u) const;
  /// The newest piece, once; afterwards one without impulse.
  [[nodiscard]] PathPiece take_piece();

 private:
  struct Store {
    double work = 0.0;  ///< that may come back
    double goal = 0.0;  ///< poisson: impulse that is to come back; newton: fastest approach
  };

  [[nodiscard]] bool served(int i, double next, double impulse, double slack) const;

  Mechanism& mechanism_;
  RestitutionLaw law_;
  bool vary_;
  int directions_;
  Materials materials_;
  double energy_, still_;
  std::vector<Store> store_;
  std::vector<bool> filled_;
  std::vector<PathPiece> pieces_;
  bool taken_ = true;  ///< the newest one
  Vector velocity_;
  Bounces bounces_;
};

}  // namespace carom::reference
