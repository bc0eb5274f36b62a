#pragma once

#include <carom/device/qp_problem.hpp>

/// Proofs in doubles that hold for the data as given. A vector that meets a proof's equations up to
/// rounding and its cones with a margin is near one that meets both exactly, if the equations are
/// independent and what they need is less than the margins. On the host
/// (src/programs/qp/interior_proofs.cpp).
namespace carom::kernels {

/// Whether a vector near y is Farkas' vector. y is moved towards it, to within rounding of its
/// largest numbers; whether that serves as a proof in doubles is for a certificate. y: [rows].
bool completes_farkas(const QpShape& shape, const QpView<const double*>& view, double* y);

/// Whether a vector near d leads into all cones and intervals, down and without end, from `point`,
/// which is found. d is moved likewise. d, point: [n].
bool completes_ray(const QpShape& shape, const QpView<const double*>& view, double* d,
                   double* point);

}  // namespace carom::kernels
