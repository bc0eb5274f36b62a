#pragma once

#include "impact/kernels/contact_path_start.hpp"

/// Tangential modes of a spatial contact: at a corner of the friction polygon, on one of its edges,
/// or inside.
namespace carom::kernels::contact_path {

template <class Real, class Lanes>
class SpatialTangents : protected Start<3, Real, Lanes> {
  using Base = Start<3, Real, Lanes>;

 protected:
  using Base::at, Base::at_, Base::column_of, Base::columns_, Base::corner_basis,
      Base::corner_change, Base::drive, Base::driving_, Base::edge_length, Base::far_end_basic,
      Base::give_far_end, Base::int_at_, Base::kTangents, Base::lanes_, Base::late, Base::linear,
      Base::mu, Base::polygon_, Base::put, Base::ready, Base::relabel_velocity, Base::rows_,
      Base::set, Base::swap_pair, Base::tangent_pair, Base::velocity_of;
  using Base::Base;

  /// Calls visit(event, slack) for the tangential events of a contact that carries an impulse.
  template <class Visit>
  CAROM_INLINE void watch_tangent(int contact, int mode, Linear<Real> normal, int column,
                                  Visit&& visit) const {
    const int a = tangent_pair(contact, 0);
    const int b = tangent_pair(contact, 1);
    if (mode == kInside) return watch_sums(contact, mode, normal, column, visit);
    if (mode == kCorner) {
      visit(kNormalEvents, linear(velocity_of(a), column));
      visit(kNormalEvents + 1, linear(velocity_of(b), column));
      return;
    }
    visit(kNormalEvents, linear(mode == kAlongA ? a : b, column));
    watch_sums(contact, mode, normal, column, visit);
    visit(kNormalEvents + 2, linear(velocity_of(mode == kAlongA ? b : a), column));
  }
  /// Of them those that are a sum of variables.
  template <class Visit>
  CAROM_INLINE void watch_sums(int contact, int mode, Linear<Real> normal, int column,
                               Visit&& visit) const {
    const int a = tangent_pair(contact, 0);
    const int b = tangent_pair(contact, 1);
    if (mode == kInside) {
      watch_edges(contact, normal, linear(a, column), linear(b, column), visit);
    } else {
      const Linear<Real> along = linear(mode == kAlongA ? a : b, column);
      visit(kNormalEvents + 1, beyond(along, normal, mu(contact) * edge_length()));
    }
  }

  /// What leaves at a tangential event, in a tableau that is ready for it.
  CAROM_INLINE int prepare_tangent(int contact, int event, int column) {
    const int mode = int_at_.tangent[contact];
    if (mode == kInside) return prepare_edge(contact, event, column);
    if (mode == kCorner) return velocity_of(tangent_pair(contact, event));
    const int active = mode == kAlongA ? 0 : 1;
    const int other = 1 - active;
    if (event == 2) return velocity_of(tangent_pair(contact, other));  // sliding stops
    if (event == 0) return tangent_pair(contact, active);
    // At the far corner the same edge is measured by the other force.
    if (driving_ == tangent_pair(contact, active)) {
      give_far_end(contact, other, column);
      return kRowGiven;
    }
    far_end_basic(contact, active, other);
    return tangent_pair(contact, other);
  }

  /// The mode after the event.
  CAROM_INLINE void conclude_tangent(int contact, int event, int column) {
    const int mode = int_at_.tangent[contact];
    if (mode == kInside) return conclude_edge(contact, event, column);
    if (mode == kCorner) {
      set(int_at_.tangent, contact, event == 0 ? kAlongA : kAlongB);
      return drive(tangent_pair(contact, event));
    }
    const int active = mode == kAlongA ? 0 : 1;
    const int other = 1 - active;
    if (event == 2) {
      set(int_at_.tangent, contact, kInside);
      return drive(tangent_pair(contact, other));
    }
    if (event == 1 && driving_ == tangent_pair(contact, active)) {
      relabel_velocity(contact, active, other);
      swap_pair(contact, active, other);
    }
    set(int_at_.tangent, contact, kCorner);
    drive(velocity_of(tangent_pair(contact, event == 0 ? active : other)));
  }

  /// A sticking impulse and its cone at this normal impulse.
  struct ConeSection {
    Linear<Real> radius;
    Linear<Real> t[2];
    Real apothem;
  };
  CAROM_INLINE ConeSection cone_section(int contact, Linear<Real> normal, Linear<Real> a,
                                        Linear<Real> b) const {
    const int j = int_at_.corner[contact];
    Real basis[kTangents][kTangents];
    corner_basis(j, basis);
    ConeSection cone;
    cone.radius = {mu(contact) * normal.value, mu(contact) * normal.rate};
    for (int c = 0; c < 2; ++c) {
      const Real d = static_cast<Real>(polygon_.direction[j][c]);
      cone.t[c].value =
          fused(d, cone.radius.value, fused(basis[c][0], a.value, basis[c][1] * b.value));
      cone.t[c].rate = fused(d, cone.radius.rate, fused(basis[c][0], a.rate, basis[c][1] * b.rate));
    }
    cone.apothem = fused(
        static_cast<Real>(polygon_.along[0][1]), static_cast<Real>(polygon_.direction[0][0]),
        static_cast<Real>(-polygon_.along[0][0]) * static_cast<Real>(polygon_.direction[0][1]));
    return cone;
  }
  /// Its distance from edge i.
  CAROM_INLINE Linear<Real> edge_slack(const ConeSection& cone, int i) const {
    const Real nx = static_cast<Real>(polygon_.along[i][1]);
    const Real ny = static_cast<Real>(-polygon_.along[i][0]);
    return {cone.apothem * cone.radius.value - fused(nx, cone.t[0].value, ny * cone.t[1].value),
            cone.apothem * cone.radius.rate - fused(nx, cone.t[0].rate, ny * cone.t[1].rate)};
  }
  template <class Visit>
  CAROM_INLINE void watch_edges(int contact, Linear<Real> normal, Linear<Real> a, Linear<Real> b,
                                Visit&& visit) const {
    const ConeSection cone = cone_section(contact, normal, a, b);
    for (int i = 0; i < polygon_.count; ++i) visit(kNormalEvents + i, edge_slack(cone, i));
  }

 private:
  /// A sticking impulse that reaches edge `to` is measured from that edge's corner, where b = 0.
  struct Turn {
    Change<Real> change;
    Real force[kTangents];  ///< a and b from there
  };
  CAROM_INLINE Turn turn_to(int contact, int to, int column) const {
    Turn turn{};
    corner_change(int_at_.corner[contact], to, turn.change.matrix, turn.change.vector);
    turn.change.scale = mu(contact);
    turn.change.own = column;
    turn.change.place[0] = int_at_.place[tangent_pair(contact, 0)];
    turn.change.place[1] = int_at_.place[tangent_pair(contact, 1)];
    turn.change.place[2] = int_at_.place[contact];
    const auto& matrix = turn.change.matrix;
    const Real a = linear(tangent_pair(contact, 0), column).value;
    const Real b = linear(tangent_pair(contact, 1), column).value;
    const Real normal = linear(contact, column).value;
    for (int c = 0; c < kTangents; ++c) {
      turn.force[c] =
          fused(matrix[c][0], a, matrix[c][1] * b) + mu(contact) * turn.change.vector[c] * normal;
    }
    return turn;
  }

  /// Velocities w_from = change' w_to.
  CAROM_INLINE void turn_velocities(int contact, const Turn& turn) {
    const int wa_column = column_of(velocity_of(tangent_pair(contact, 0)));
    const int wb_column = column_of(velocity_of(tangent_pair(contact, 1)));
    ready(wa_column);
    ready(wb_column);
    const auto& matrix = turn.change.matrix;
    lanes_.for_each(rows_, [&](int i) {
      const Real wa = at(i, wa_column);
      const Real wb = at(i, wb_column);
      at(i, wa_column) = fused(matrix[0][0], wa, matrix[0][1] * wb);
      at(i, wb_column) = fused(matrix[1][0], wa, matrix[1][1] * wb);
    });
  }

  CAROM_HOST_DEVICE int prepare_edge(int contact, int edge, int column) {
    const Turn turn = turn_to(contact, edge, column);
    const int a = tangent_pair(contact, 0);
    const int b = tangent_pair(contact, 1);
    if (driving_ == a || driving_ == b) {
      // The driving force's column passes to b of the new corner.
      this->template give_row<ChangeKind::edge_given>(turn.change);
      return kRowGiven;
    }
    turn_velocities(contact, turn);
    this->template change_rows<ChangeKind::edge>(turn.change, [&] {
      at_.x[turn.change.place[0]] = turn.force[0];
      at_.x[turn.change.place[1]] = turn.force[1];
    });
    return b;
  }

  CAROM_HOST_DEVICE void conclude_edge(int contact, int edge, int column) {
    const int a = tangent_pair(contact, 0);
    const int b = tangent_pair(contact, 1);
    if (driving_ == a || driving_ == b) {
      // The basic force's row passes to a.
      const Turn turn = turn_to(contact, edge, column);
      Change<Real> basic = turn.change;
      basic.row = int_at_.place[driving_ == a ? b : a];
      if (driving_ == a) {  // of the basic force, then of the driving one
        basic.matrix[0][0] = turn.change.matrix[0][1];
        basic.matrix[0][1] = turn.change.matrix[0][0];
      }
      this->template change_rows<ChangeKind::basic>(basic, [&] {
        at_.x[basic.row] = turn.force[0];
        put(a, basic.row);
        put(b, rows_ + column);
      });
      turn_velocities(contact, turn);
    }
    set(int_at_.corner, contact, edge);
    set(int_at_.tangent, contact, kAlongA);
    drive(velocity_of(b));
  }
};

}  // namespace carom::kernels::contact_path
