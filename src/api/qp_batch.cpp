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

int QpSizes::cone_rows() const {
  int sum = 0;
  for (const Cone& cone : cones) sum += cone.size;
  return sum;
}

}  // namespace carom
