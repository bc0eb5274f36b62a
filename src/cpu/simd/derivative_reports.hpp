#pragma once

#include <cstdint>

#include "cpu/simd/pack_number.hpp"
#include "programs/derivatives/kernels/report.hpp"

namespace carom::cpu::simd {

/// Stores the reports of the accepted lanes' derivatives at the index problem(lane).
template <class Isa, class V, class Table, class Problem>
CAROM_INLINE void put_reports(const derivatives::ReportOf<V>& report, unsigned good,
                              Problem&& problem, Table& table) {
  const Smoothness status = report.status;
  double residual[Isa::kWidth], margin[Isa::kWidth], condition[Isa::kWidth], shift[Isa::kWidth],
      reach[Isa::kWidth];
  report.residual.store_doubles(residual);
  report.margin.store_doubles(margin);
  report.condition.store_doubles(condition);
  report.shift.store_doubles(shift);
  report.reach.store_doubles(reach);
  for (; good != 0U; good &= good - 1U) {
    const int lane = kernels::lowest_bit(good);
    const std::int64_t p = problem(lane);
    table.status[p] = status;
    table.residual[p] = residual[lane];
    table.margin[p] = margin[lane];
    table.condition[p] = condition[lane];
    table.shift[p] = shift[lane];
    table.reach[p] = reach[lane];
    table.doubtful[p] = 0;
  }
}

}  // namespace carom::cpu::simd
