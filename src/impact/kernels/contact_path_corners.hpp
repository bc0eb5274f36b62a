#pragma once

#include "impact/kernels/contact_path_tableau.hpp"

/// The corners of the friction polygon that tangential impulses are measured from, and how a
/// tableau passes from one corner to another.
namespace carom::kernels::contact_path {

template <int Dim, class Real, class Lanes>
class Corners : protected Tableau<Dim, Real, Lanes> {
  using Base = Tableau<Dim, Real, Lanes>;

 protected:
  using Base::at, Base::at_, Base::column_of, Base::columns_, Base::combine, Base::corner_basis,
      Base::driving_, Base::edge_length, Base::exchange_places, Base::int_at_, Base::kReal0,
      Base::kTangents, Base::lanes_, Base::linear, Base::mu, Base::polygon_, Base::ready,
      Base::rows_, Base::set, Base::tangent_pair, Base::velocity_of;
  using Base::Base;

  /// change = E_to^-1 E_from, offset = E_to^-1 (d_from - d_to).
  CAROM_INLINE void corner_change(int from, int to, Real (&change)[2][2], Real (&offset)[2]) const {
    Real source[kTangents][kTangents];
    Real target[kTangents][kTangents];
    corner_basis(from, source);
    corner_basis(to, target);
    const Real dx = static_cast<Real>(polygon_.direction[from][0] - polygon_.direction[to][0]);
    if constexpr (Dim == 2) {
      change[0][0] = source[0][0] * target[0][0];
      offset[0] = dx * target[0][0];
    } else {
      const Real dy = static_cast<Real>(polygon_.direction[from][1] - polygon_.direction[to][1]);
      const Real inverse = Real(1) / (target[0][0] * target[1][1] - target[0][1] * target[1][0]);
      for (int c = 0; c < 2; ++c) {
        change[0][c] = (target[1][1] * source[0][c] - target[0][1] * source[1][c]) * inverse;
        change[1][c] = (target[0][0] * source[1][c] - target[1][0] * source[0][c]) * inverse;
      }
      offset[0] = (target[1][1] * dx - target[0][1] * dy) * inverse;
      offset[1] = (target[0][0] * dy - target[1][0] * dx) * inverse;
    }
  }

  /// Measures a basic force from the far end of its edge: the active pair's role passes to `other`
  /// (planar: to itself, at the opposite corner).
  CAROM_HOST_DEVICE void far_end_basic(int contact, int active, int other) {
    const int force = tangent_pair(contact, active);
    const Real length = mu(contact) * edge_length();
    const int row = int_at_.place[force];
    relabel_velocity(contact, active, other);
    const Real value = fused(length, linear(contact, 0).value, -at_.x[row]);
    Change<Real> far_end{};
    far_end.row = row;
    far_end.place[2] = int_at_.place[contact];
    far_end.scale = length;
    far_end.turn = static_cast<Real>(polygon_.turn);
    far_end.other = Dim == 2 ? -1 : column_of(tangent_pair(contact, other));
    this->template change_rows<ChangeKind::far_end>(far_end, [&] { at_.x[row] = value; });
    swap_pair(contact, active, other);
  }

  /// The same where the driving force itself arrives at the far end: its column passes to the
  /// force measured from there, whose row this gives.
  CAROM_HOST_DEVICE void give_far_end(int contact, int other, int column) {
    Change<Real> far_end{};
    far_end.own = column;
    far_end.place[2] = int_at_.place[contact];
    far_end.scale = mu(contact) * edge_length();
    far_end.turn = static_cast<Real>(polygon_.turn);
    far_end.other = Dim == 2 ? -1 : column_of(tangent_pair(contact, other));
    this->template give_row<ChangeKind::far_end_given>(far_end);
  }

  /// Velocities seen from the far end: w_active' = w_other + turn w_active, w_other' = -w_active.
  /// The active one is nonbasic; the other one is basic, or driving where the impulse has just come
  /// to this edge from the inside.
  CAROM_HOST_DEVICE void relabel_velocity(int contact, int active, int other) {
    const int column = column_of(velocity_of(tangent_pair(contact, active)));
    const int other_place =
        Dim == 2 ? -1 : int_at_.place[velocity_of(tangent_pair(contact, other))];
    const Real turn = static_cast<Real>(polygon_.turn);
    ready(column);
    if (Dim == 3 && other_place >= rows_) {
      ready(other_place - rows_);
      lanes_.for_each(rows_, [&](int i) {
        at(i, column) = fused(turn, at(i, other_place - rows_), -at(i, column));
      });
      driving_ = velocity_of(tangent_pair(contact, active));
      return;
    }
    lanes_.for_each(rows_, [&](int i) {
      at(i, column) = i == other_place ? -at(i, column) - turn : -at(i, column);
    });
  }

  CAROM_HOST_DEVICE void swap_pair(int contact, int active, int other) {
    const int count = polygon_.count;
    lanes_.for_each(1, [&](int) {
      const int j = int_at_.corner[contact];
      const int before = j == 0 ? count - 1 : j - 1;
      const int behind = j + 1 == count ? 0 : j + 1;
      int_at_.corner[contact] = active == 0 ? behind : before;
      if (Dim == 3) {
        exchange_places(tangent_pair(contact, active), tangent_pair(contact, other));
        exchange_places(velocity_of(tangent_pair(contact, active)),
                        velocity_of(tangent_pair(contact, other)));
      }
    });
  }

  /// A contact closes: its corner must oppose the velocity it has now.
  CAROM_HOST_DEVICE void turn_corner(int contact) {
    if (!(mu(contact) > kReal0)) return;
    const int from = int_at_.corner[contact];
    Real basis[kTangents][kTangents];
    corner_basis(from, basis);
    double against[kTangents];
    velocity_against(contact, basis, against);
    const int to = nearest_direction<Dim>(polygon_, against);
    if (to == from) return;
    Change<Real> turned{};
    auto& change = turned.matrix;  // E_from^-1 E_to
    auto& offset = turned.vector;  // E_from^-1 (d_to - d_from)
    corner_change(to, from, change, offset);
    const Real friction = mu(contact);
    const int normal_column = column_of(contact);
    int column[kTangents];
    ready(normal_column);
    for (int c = 0; c < kTangents; ++c) {
      column[c] = column_of(tangent_pair(contact, c));
      ready(column[c]);
      turned.place[c] = int_at_.place[velocity_of(tangent_pair(contact, c))];
    }
    // lambda_t = mu lambda_n d_from + E_from a_from = mu lambda_n d_to + E_to a_to.
    lanes_.for_each(rows_, [&](int i) {
      Real old[kTangents];
      for (int c = 0; c < kTangents; ++c) old[c] = at(i, column[c]);
      Real sum = at(i, normal_column);
      for (int c = 0; c < kTangents; ++c) {
        Real entry = kReal0;
        for (int d = 0; d < kTangents; ++d) entry = fused(old[d], change[d][c], entry);
        at(i, column[c]) = entry;
        sum = fused(old[c], friction * offset[c], sum);
      }
      at(i, normal_column) = sum;
    });
    this->template change_rows<ChangeKind::corner>(
        turned, [&] { combine(turned, [&](int c) -> Real& { return at_.x[turned.place[c]]; }); });
    set(int_at_.corner, contact, to);
  }

  /// -u_t of a contact whose tangential velocities are basic.
  CAROM_INLINE void velocity_against(int contact, const Real (&basis)[kTangents][kTangents],
                                     double (&against)[kTangents]) const {
    if constexpr (Dim == 2) {
      against[0] = -basis[0][0] * at_.x[int_at_.place[velocity_of(tangent_pair(contact, 0))]];
    } else {  // w = E' u_t
      const Real wa = at_.x[int_at_.place[velocity_of(tangent_pair(contact, 0))]];
      const Real wb = at_.x[int_at_.place[velocity_of(tangent_pair(contact, 1))]];
      const Real inverse = Real(1) / (basis[0][0] * basis[1][1] - basis[0][1] * basis[1][0]);
      against[0] = -(basis[1][1] * wa - basis[1][0] * wb) * inverse;
      against[1] = -(basis[0][0] * wb - basis[0][1] * wa) * inverse;
    }
  }
};

}  // namespace carom::kernels::contact_path
