#pragma once

#include "impact/body/contact_path_start.hpp"

/// Tangential modes of a spatial contact: at a corner of the friction polygon, on one of its edges,
/// or inside.
namespace carom::kernels::contact_path {

template <class Real, class Lanes>
class SpatialTangents : protected Start<3, Real, Lanes> {
  using Base = Start<3, Real, Lanes>;

 protected:
  using Base::at, Base::at_, Base::column_of, Base::columns_, Base::corner_basis,
      Base::corner_change, Base::drive, Base::driving_, Base::edge_length, Base::eliminate,
      Base::exchange, Base::far_end_basic, Base::far_end_driving, Base::int_at_, Base::kTangents,
      Base::lanes_, Base::linear, Base::mu, Base::polygon_, Base::row_entry, Base::rows_, Base::set,
      Base::tangent_pair, Base::velocity_of;
  using Base::Base;

  /// Calls visit(event, slack) for the tangential events of a contact that carries an impulse.
  template <class Visit>
  CAROM_INLINE void watch_tangent(int contact, int mode, Linear<Real> normal, int column,
                                  Visit&& visit) const {
    const int a = tangent_pair(contact, 0);
    const int b = tangent_pair(contact, 1);
    if (mode == kInside) {
      watch_edges(contact, normal, linear(a, column), linear(b, column), visit);
      return;
    }
    if (mode == kCorner) {
      visit(kNormalEvents, linear(velocity_of(a), column));
      visit(kNormalEvents + 1, linear(velocity_of(b), column));
      return;
    }
    const Linear<Real> along = linear(mode == kAlongA ? a : b, column);
    visit(kNormalEvents, along);
    visit(kNormalEvents + 1, beyond(along, normal, mu(contact) * edge_length()));
    visit(kNormalEvents + 2, linear(velocity_of(mode == kAlongA ? b : a), column));
  }

  /// Changes the tangential mode at an event.
  CAROM_INLINE bool change_tangent(int contact, int event, int column) {
    const int mode = int_at_.tangent[contact];
    if (mode == kInside) return leave_inside(contact, event, column);
    if (mode == kCorner) {
      const int pair = tangent_pair(contact, event);
      if (!exchange(velocity_of(pair), column)) return false;
      set(int_at_.tangent, contact, event == 0 ? kAlongA : kAlongB);
      return drive(pair);
    }
    const int active = mode == kAlongA ? 0 : 1;
    const int other = 1 - active;
    if (event == 2) {  // sliding along the edge stops
      if (!exchange(velocity_of(tangent_pair(contact, other)), column)) return false;
      set(int_at_.tangent, contact, kInside);
      return drive(tangent_pair(contact, other));
    }
    if (event == 0) {
      if (!exchange(tangent_pair(contact, active), column)) return false;
      set(int_at_.tangent, contact, kCorner);
      return drive(velocity_of(tangent_pair(contact, active)));
    }
    // At the far corner the same edge is measured by the other force.
    if (driving_ == tangent_pair(contact, active)) {
      if (!far_end_driving(contact, active, other, column)) return false;
    } else {
      far_end_basic(contact, active, other);
      if (!exchange(tangent_pair(contact, other), column)) return false;
    }
    set(int_at_.tangent, contact, kCorner);
    return drive(velocity_of(tangent_pair(contact, other)));
  }

 private:
  /// Distances of a sticking impulse from the edges of its cone.
  template <class Visit>
  CAROM_INLINE void watch_edges(int contact, Linear<Real> normal, Linear<Real> a, Linear<Real> b,
                                Visit&& visit) const {
    const int j = int_at_.corner[contact];
    Real basis[kTangents][kTangents];
    corner_basis(j, basis);
    const Linear<Real> radius{mu(contact) * normal.value, mu(contact) * normal.rate};
    Linear<Real> t[2];
    for (int c = 0; c < 2; ++c) {
      const Real d = static_cast<Real>(polygon_.direction[j][c]);
      t[c].value = fused(d, radius.value, fused(basis[c][0], a.value, basis[c][1] * b.value));
      t[c].rate = fused(d, radius.rate, fused(basis[c][0], a.rate, basis[c][1] * b.rate));
    }
    const Real apothem = fused(
        static_cast<Real>(polygon_.along[0][1]), static_cast<Real>(polygon_.direction[0][0]),
        static_cast<Real>(-polygon_.along[0][0]) * static_cast<Real>(polygon_.direction[0][1]));
    for (int i = 0; i < polygon_.count; ++i) {
      const Real nx = static_cast<Real>(polygon_.along[i][1]);
      const Real ny = static_cast<Real>(-polygon_.along[i][0]);
      visit(kNormalEvents + i,
            Linear<Real>{apothem * radius.value - fused(nx, t[0].value, ny * t[1].value),
                         apothem * radius.rate - fused(nx, t[0].rate, ny * t[1].rate)});
    }
  }

  /// A sticking impulse reaches edge `edge`: measure it from that edge's corner, where b = 0.
  CAROM_HOST_DEVICE bool leave_inside(int contact, int edge, int column) {
    Real change[kTangents][kTangents];
    Real offset[kTangents];
    corner_change(int_at_.corner[contact], edge, change, offset);
    const Real friction = mu(contact);
    const int a = tangent_pair(contact, 0);
    const int b = tangent_pair(contact, 1);
    const Real a_value = linear(a, column).value;
    const Real b_value = linear(b, column).value;
    const Real n_value = linear(contact, column).value;
    const auto value = [&](int c) {
      return fused(change[c][0], a_value, change[c][1] * b_value) + friction * offset[c] * n_value;
    };
    // Velocities w_from = change' w_to.
    const int wa_column = column_of(velocity_of(a));
    const int wb_column = column_of(velocity_of(b));
    const auto turn_velocities = [&] {
      lanes_.for_each(rows_, [&](int i) {
        const Real wa = at(i, wa_column);
        const Real wb = at(i, wb_column);
        at(i, wa_column) = fused(change[0][0], wa, change[0][1] * wb);
        at(i, wb_column) = fused(change[1][0], wa, change[1][1] * wb);
      });
    };
    if (driving_ != a && driving_ != b) {
      turn_velocities();
      const int a_row = int_at_.place[a];
      const int b_row = int_at_.place[b];
      const Real new_a = value(0);
      const Real new_b = value(1);
      lanes_.for_each(columns_, [&](int j) {
        const Real ra = at(a_row, j);
        const Real rb = at(b_row, j);
        const Real rn = friction * row_entry(contact, j);
        at(a_row, j) = fused(change[0][0], ra, change[0][1] * rb) + offset[0] * rn;
        at(b_row, j) = fused(change[1][0], ra, change[1][1] * rb) + offset[1] * rn;
        if (j == 0) {
          at_.x[a_row] = new_a;
          at_.x[b_row] = new_b;
        }
      });
      if (!exchange(b, column)) return false;
    } else {
      // The driving force's column passes to b of the new corner; the basic one's row to a.
      const int basic_force = driving_ == a ? b : a;
      const int row = int_at_.place[basic_force];
      lanes_.for_each(columns_, [&](int j) {
        at_.pivot_row[j] = fused(change[1][0], row_entry(a, j), change[1][1] * row_entry(b, j)) +
                           offset[1] * friction * row_entry(contact, j);
      });
      if (!eliminate(column, -1)) return false;
      const Real new_a = value(0);
      const Real of_basic = basic_force == a ? change[0][0] : change[0][1];
      const Real of_driving = basic_force == a ? change[0][1] : change[0][0];
      lanes_.for_each(columns_, [&](int j) {
        at_.combined[j] = fused(of_basic, at(row, j), of_driving * at_.pivot_row[j]) +
                          offset[0] * friction * row_entry(contact, j);
      });
      lanes_.for_each(columns_, [&](int j) {
        at(row, j) = at_.combined[j];
        if (j == 0) {
          at_.x[row] = new_a;
          int_at_.place[a] = row;
          int_at_.place[b] = rows_ + column;
        }
      });
      turn_velocities();
    }
    set(int_at_.corner, contact, edge);
    set(int_at_.tangent, contact, kAlongA);
    return drive(velocity_of(b));
  }
};

}  // namespace carom::kernels::contact_path
