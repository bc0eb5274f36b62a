#pragma once

#include "impact/body/contact_path_start.hpp"

/// Tangential modes of a planar contact: at a corner of the friction interval, or inside.
namespace carom::kernels::contact_path {

template <class Real, class Lanes>
class PlanarTangents : protected Start<2, Real, Lanes> {
  using Base = Start<2, Real, Lanes>;

 protected:
  using Base::Base;
  using Base::drive, Base::driving_, Base::edge_length, Base::exchange, Base::far_end_basic,
      Base::far_end_driving, Base::int_at_, Base::linear, Base::mu, Base::set, Base::tangent_pair,
      Base::velocity_of;

  /// Calls visit(event, slack) for the tangential events of a contact that carries an impulse.
  template <class Visit>
  CAROM_INLINE void watch_tangent(int contact, int mode, Linear<Real> normal, int column,
                                  Visit&& visit) const {
    const int pair = tangent_pair(contact, 0);
    if (mode == kCorner) {
      visit(kNormalEvents, linear(velocity_of(pair), column));
      return;
    }
    const Linear<Real> a = linear(pair, column);
    visit(kNormalEvents, a);
    visit(kNormalEvents + 1, beyond(a, normal, mu(contact) * edge_length()));
  }

  /// Changes the tangential mode at an event.
  CAROM_INLINE bool change_tangent(int contact, int event, int column) {
    const int mode = int_at_.tangent[contact];
    const int pair = tangent_pair(contact, 0);
    if (mode == kCorner) {  // sliding stops
      if (!exchange(velocity_of(pair), column)) return false;
      set(int_at_.tangent, contact, kInside);
      return drive(pair);
    }
    if (event == 1 && driving_ == pair) {
      if (!far_end_driving(contact, 0, 0, column)) return false;
    } else {
      if (event == 1) far_end_basic(contact, 0, 0);
      if (!exchange(pair, column)) return false;
    }
    set(int_at_.tangent, contact, kCorner);
    return drive(velocity_of(pair));
  }
};

}  // namespace carom::kernels::contact_path
