#include "programs/qp/cone_faces.hpp"

namespace carom::kernels {

QpHomogeneousOutcome decide_homogeneous(const QpShape& shape, const QpView<const double*>& view,
                                        double* point, double* direction, double* dual,
                                        double* face) {
  const qp::ConeVerdict verdict = qp::decide_cones(shape, view);
  const bool faced = !verdict.face.empty();
  for (int j = 0; j < shape.variables; ++j) {
    const auto column = static_cast<std::size_t>(j);
    point[j] = verdict.x[column];
    direction[j] = verdict.direction.empty() ? 0.0 : verdict.direction[column];
  }
  for (int i = 0; i < shape.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    dual[i] = verdict.y[row];
    face[i] = faced ? verdict.face[row] : 0.0;
  }
  return {verdict.end, verdict.iterations, verdict.residual, faced};
}

}  // namespace carom::kernels
