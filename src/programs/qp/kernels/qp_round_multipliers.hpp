#pragma once

#include <carom/device/qp_problem.hpp>

namespace carom::kernels {

/// Nearly parallel rows may have multipliers so large that their rounding matters: the neighbouring
/// doubles of the two largest are tried. is_better(): whether y is better than
/// the best so far; is_done(): whether it is sufficient.
template <class Lanes, class Data, class Memory, class Better, class Done>
CAROM_CALL void round_multipliers(const Lanes& lanes, const QpShape& shape,
                                  const QpView<Data>& view, const Memory& y, Better&& is_better,
                                  Done&& is_done) {
  constexpr int kSteps = 8;  // last digits up and down
  int row[2] = {-1, -1};
  double most[2] = {0.0, 0.0};
  for (int i = 0; i < shape.rows; ++i) {
    double term = 0.0;
    for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
      const long j = shape.column[t];
      term = larger(magnitude(view.matrix[static_cast<long>(i) * shape.variables + j]), term);
    }
    term *= magnitude(y[i]);
    if (term > most[1]) {
      const int first = term > most[0] ? 0 : 1;
      if (first == 0) {
        row[1] = row[0];
        most[1] = most[0];
      }
      row[first] = i;
      most[first] = term;
    }
  }
  if (row[1] < 0) return;
  const double given[2] = {y[row[0]], y[row[1]]};
  const auto set = [&](int a, int b) {
    lanes.for_each(1, [&](int) {
      y[row[0]] = given[0] * (1.0 + a * 0x1p-52);
      y[row[1]] = given[1] * (1.0 + b * 0x1p-52);
    });
  };
  int best[2] = {0, 0};
  for (int a = -kSteps; a <= kSteps && !is_done(); ++a) {
    for (int b = -kSteps; b <= kSteps && !is_done(); ++b) {
      set(a, b);
      if (!is_better()) continue;
      best[0] = a;
      best[1] = b;
    }
  }
  set(best[0], best[1]);
}

}  // namespace carom::kernels
