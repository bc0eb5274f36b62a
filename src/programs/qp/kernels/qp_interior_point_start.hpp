#pragma once

#include "programs/qp/kernels/qp_cone_scaling.hpp"
#include "programs/qp/kernels/qp_factor.hpp"
#include "programs/qp/kernels/qp_normal_equations.hpp"

/// The starting point of the interior-point method.
namespace carom::kernels {

/// Marks the equations and sides that are there; the degree of the complementarity.
template <class Data>
CAROM_CALL typename Data::V mark_present(const Data& data) {
  using V = typename Data::V;
  using Side = typename Data::Side;
  const Data m = data;
  m.lanes.for_each(m.shape.equations, [&](int k) {
    const int i = m.shape.equation_row[k];
    const V l = m.scaled.lower[i];
    const V u = m.scaled.upper[i];
    m.equation_on[k] = presence(l) * select(l != u, V(0.0), V(1.0));
    m.equation[k] = V(0.0);
  });
  data.for_sides([&](const Side& side, int k, int i, V sign) {
    const V l = m.scaled.lower[i];
    const V u = m.scaled.upper[i];
    const V bound = select(sign > V(0.0), u, l);
    const V on = presence(bound) * select(l != u, V(1.0), V(0.0));
    side.on[k] = on;
    const V value = select(on > V(0.0), sign * bound, V(0.0));
    side.bound[k] = value;
    side.size_inverse[k] = V(1.0) / larger(magnitude(value), V(1.0));
  });
  V degree(0.0);
  data.over_sides([&](const Side& side, int k, int, V) { degree = degree + side.on[k]; });
  return larger(degree + V(static_cast<double>(m.shape.cones)), V(1.0));
}

/// Least squares for x with unit weights, slacks and multipliers from its residuals, both moved
/// into their cones (Mehrotra 1992, section 7).
template <class Data>
CAROM_CALL void start_interior_point(const Data& data) {
  using V = typename Data::V;
  using Side = typename Data::Side;
  using Cones = QpConeScaling<Data>;
  using Equations = QpNormalEquations<Data>;
  constexpr double kStartFloor = 1e-3;
  const Data m = data;
  const V tight(1.0 / kEquationProximity);
  m.lanes.for_each(m.rows, [&](int i) {
    m.weight[i] = V(0.0);
    m.push[i] = V(0.0);
  });
  m.lanes.for_each(m.shape.equations, [&](int k) {
    const int i = m.shape.equation_row[k];
    const V on = m.equation_on[k] * tight;
    m.weight[i] = on;
    m.push[i] = on * select(on > V(0.0), m.scaled.upper[i], V(0.0));
  });
  data.for_sides([&](const Side& side, int k, int i, V sign) {
    m.weight[i] = m.weight[i] + side.on[k];
    m.push[i] = fused(sign, side.bound[k], m.push[i]);
  });
  for (int c = 0; c < m.shape.cones; ++c) {
    const QpConeSpan& cone = m.shape.cone[c];
    m.lanes.for_each(m.size_of(cone), [&](int t) {
      m.weight[cone.first + t] = V(1.0);
      m.push[cone.first + t] = m.scaled.upper[cone.first + t];
    });
  }
  Equations::factorise(data, false);
  Equations::transpose_product(data, m.push);
  m.lanes.for_each(m.variables(), [&](int j) { m.x[j] = m.transposed[j] - m.scaled.gradient[j]; });
  solve_symmetric<V, Data::kVariables>(m.lanes, m.variables(), m.factor, m.inverse, m.x);
  m.lanes.for_each(m.rows, [&](int i) { m.ax[i] = Equations::row_product(m, i, m.x); });
  data.for_sides([&](const Side& side, int k, int i, V sign) {
    side.slack[k] = side.bound[k] - sign * m.ax[i];
  });
  m.lanes.for_each(m.shape.equations, [&](int k) {
    const int i = m.shape.equation_row[k];
    const V on = m.equation_on[k];
    m.equation[k] = on * tight * (m.ax[i] - select(on > V(0.0), m.scaled.upper[i], m.ax[i]));
  });
  for (int c = 0; c < m.shape.cones; ++c) {
    const QpConeSpan& cone = m.shape.cone[c];
    m.lanes.for_each(m.size_of(cone), [&](int t) {
      const int i = cone.first + t;
      m.cone.slack[i] = m.scaled.upper[i] - m.ax[i];
    });
  }
  // z = -s; the shifts that bring either inside.
  V least(kInfinity);
  V most(-kInfinity);
  data.over_sides([&](const Side& side, int k, int, V) {
    const V s = side.slack[k];
    least = select(side.on[k] > V(0.0), smaller(least, s), least);
    most = select(side.on[k] > V(0.0), larger(most, s), most);
  });
  for (int c = 0; c < m.shape.cones; ++c) {
    const QpConeSpan& cone = m.shape.cone[c];
    const V tail = Cones::norm_of_tail(m, m.cone.slack, cone);
    least = smaller(least, m.cone.slack[cone.first] - tail);
    most = larger(most, m.cone.slack[cone.first] + tail);
  }
  const V first_primal = larger(V(-1.5) * least, V(0.0));
  const V first_dual = larger(V(1.5) * most, V(0.0));
  V product(0.0);
  V slacks(0.0);
  V duals(0.0);
  data.over_sides([&](const Side& side, int k, int, V) {
    const V on = side.on[k];
    const V s = side.slack[k] + first_primal;
    const V z = first_dual - side.slack[k];
    product = select(on > V(0.0), fused(s, z, product), product);
    slacks = select(on > V(0.0), slacks + s, slacks);
    duals = select(on > V(0.0), duals + z, duals);
  });
  for (int c = 0; c < m.shape.cones; ++c) {
    const QpConeSpan& cone = m.shape.cone[c];
    const V s = m.cone.slack[cone.first] + first_primal;
    const V z = first_dual - m.cone.slack[cone.first];
    product = fused(s, z, product);
    for (int i = cone.first + 1; i < cone.first + m.size_of(cone); ++i) {
      product = fused(-m.cone.slack[i], m.cone.slack[i], product);
    }
    slacks = slacks + s;
    duals = duals + z;
  }
  const V floor(kStartFloor);
  const V primal =
      first_primal + select(duals > V(0.0), larger(V(0.5) * product / duals, floor), V(1.0));
  const V dual =
      first_dual + select(slacks > V(0.0), larger(V(0.5) * product / slacks, floor), V(1.0));
  data.for_sides([&](const Side& side, int k, int, V) {
    const V s = side.slack[k];
    const V on = side.on[k];
    side.slack[k] = select(on > V(0.0), s + primal, V(1.0));
    side.dual[k] = select(on > V(0.0), dual - s, V(1.0));
  });
  for (int c = 0; c < m.shape.cones; ++c) {
    const QpConeSpan& cone = m.shape.cone[c];
    m.lanes.for_each(m.size_of(cone), [&](int t) {
      const int i = cone.first + t;
      const V s = m.cone.slack[i];
      m.cone.slack[i] = t == 0 ? s + primal : s;
      m.cone.dual[i] = t == 0 ? dual - s : -s;
    });
  }
}

}  // namespace carom::kernels
