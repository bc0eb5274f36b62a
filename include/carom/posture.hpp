#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <carom/batch.hpp>
#include <carom/types/posture.hpp>

/// Postures: a body held by frictional contacts against an external wrench (Or and Rimon,
/// "Computation and Graphic Characterization of Robust Multiple-Contact Postures in Gravitational
/// Environments" and "Computation of Multiple-Contact Frictional Equilibrium Postures in
/// Three-Dimensional Gravitational Environments").
namespace carom {

/// Vertices of the rectangle W = [p1, p2] x [q1, q2] of homogeneous coordinates p = f_x / f_y,
/// q = tau / f_y (section 3.1 of the planar paper): f_y (p, 1, q), [4, 3], counter-clockwise in
/// (p, q). Errors: InvalidInput unless f_y < 0, p1 <= p2 and q1 <= q2.
std::vector<double> wrench_rectangle(double p1, double p2, double q1, double q2, double f_y = -1.0);

/// The same for a convex polygon of (p, q), [vertices, 2], vertices in any order.
std::vector<double> wrench_polygon(std::span<const double> pq, double f_y = -1.0);

/// Packs postures of one shape, with normals normalised. Errors: InvalidInput naming the first that
/// is refused by `validate` or differs in shape.
PostureBatch make_batch(std::span<const Posture> postures);

/// Errors: InvalidInput naming the field, the index, the posture and the value: shapes, no contact,
/// NaN or infinity, a normal whose length is off by more than 1e-6, mu < 0, L < 0, a patch of a
/// spatial posture, an external force that is zero.
void validate(const Posture& posture, std::int64_t index = 0);

}  // namespace carom
