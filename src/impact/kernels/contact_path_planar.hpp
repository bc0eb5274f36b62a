#pragma once

#include "impact/kernels/contact_path_start.hpp"

/// Tangential modes of a planar contact: at a corner of the friction interval, or inside.
namespace carom::kernels::contact_path {

template <class Real, class Lanes>
class PlanarTangents : protected Start<2, Real, Lanes> {
  using Base = Start<2, Real, Lanes>;

 protected:
  using Base::Base;
  using Base::drive, Base::driving_, Base::edge_length, Base::far_end_basic, Base::give_far_end,
      Base::int_at_, Base::linear, Base::mu, Base::relabel_velocity, Base::set, Base::swap_pair,
      Base::tangent_pair, Base::velocity_of;

  /// Calls visit(event, slack) for the tangential events of a contact that carries an impulse.
  template <class Visit>
  CAROM_INLINE void watch_tangent(int contact, int mode, Linear<Real> normal, int column,
                                  Visit&& visit) const {
    const int pair = tangent_pair(contact, 0);
    if (mode == kCorner) {
      visit(kNormalEvents, linear(velocity_of(pair), column));
      return;
    }
    visit(kNormalEvents, linear(pair, column));
    watch_sums(contact, mode, normal, column, visit);
  }
  /// Of them those that are a sum of variables.
  template <class Visit>
  CAROM_INLINE void watch_sums(int contact, int, Linear<Real> normal, int column,
                               Visit&& visit) const {
    visit(kNormalEvents + 1,
          beyond(linear(tangent_pair(contact, 0), column), normal, mu(contact) * edge_length()));
  }

  /// What leaves at a tangential event, in a tableau that is ready for it.
  CAROM_INLINE int prepare_tangent(int contact, int event, int column) {
    const int pair = tangent_pair(contact, 0);
    if (int_at_.tangent[contact] == kCorner) return velocity_of(pair);  // sliding stops
    if (event == 1 && driving_ == pair) {
      give_far_end(contact, 0, column);
      return kRowGiven;
    }
    if (event == 1) far_end_basic(contact, 0, 0);
    return pair;
  }

  /// The mode after the event.
  CAROM_INLINE void conclude_tangent(int contact, int event, int) {
    const int pair = tangent_pair(contact, 0);
    if (int_at_.tangent[contact] == kCorner) {
      set(int_at_.tangent, contact, kInside);
      return drive(pair);
    }
    if (event == 1 && driving_ == pair) {
      relabel_velocity(contact, 0, 0);
      swap_pair(contact, 0, 0);
    }
    set(int_at_.tangent, contact, kCorner);
    drive(velocity_of(pair));
  }
};

}  // namespace carom::kernels::contact_path
