
#include "programs/qp/body/qp_homogeneous_body.hpp"

namespace carom::kernels {

QpHomogeneousOutcome decide_homogeneous(const QpShape& shape, const QpView<const double*>& view,
                                        double* memory, double* point, double* direction,
                                        double* dual) {
  QpHomogeneous<> body(shape, memory);
  const QpHomogeneousOutcome outcome = body.decide(view, QpHomogeneousOptions{});
  for (int j = 0; j < shape.variables; ++j) {
    point[j] = body.solution(j);
    direction[j] = body.direction(j);
  }
  for (int i = 0; i < shape.rows; ++i) dual[i] = body.dual(i);
  return outcome;
}

}  // namespace carom::kernels
