#include <carom/qp.hpp>

namespace carom {

int QpSizes::cone_rows() const {
  int sum = 0;
  for (const Cone& cone : cones) sum += cone.size;
  return sum;
}

}  // namespace carom
