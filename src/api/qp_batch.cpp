#include <carom/qp.hpp>

namespace carom {

std::string_view to_string(QpMethod method) {
  switch (method) {
    case QpMethod::automatic:
      return "auto";
    case QpMethod::interior_point:
      return "interior_point";
    case QpMethod::active_set:
      return "active_set";
    case QpMethod::admm:
      return "admm";
    case QpMethod::projected:
      return "projected";
    case QpMethod::lemke:
      return "lemke";
  }
  return "unknown";
}

int QpBatch::cone_rows() const {
  int sum = 0;
  for (const Cone& cone : cones) sum += cone.size;
  return sum;
}

QpBatch QpBatch::to(MemorySpace space) const {
  QpBatch copy;
  copy.problems = problems;
  copy.variables = variables;
  copy.rows = rows;
  copy.cones = cones;
  copy.hessian = hessian.to(space);
  copy.vector = vector.to(space);
  copy.matrix = matrix.to(space);
  copy.lower = lower.to(space);
  copy.upper = upper.to(space);
  copy.cone_matrix = cone_matrix.to(space);
  copy.cone_vector = cone_vector.to(space);
  return copy;
}

}  // namespace carom
