#pragma once

#include <cstdint>
#include <vector>

#include <tbb/enumerable_thread_specific.h>

#include <carom/types/batch.hpp>
#include <carom/types/derivative.hpp>

#include "core/parallel.hpp"
#include "core/workspace.hpp"
#include "programs/derivatives/kernels/report.hpp"

namespace carom::cpu {

/// Working memory of one thread.
struct DerivativeMemory {
  std::vector<double> reals;  // of one lane
  std::vector<int> ints;
  Buffer<double> packs;  // on a cache line
  Buffer<bool> open;     // what packs leave to one lane

  void fit(long real_count, long int_count) {
    make_room(reals, real_count);
    make_room(ints, int_count);
  }
};

/// Packs, where they are used (pack_reals > 0), differentiate what they can of a range and mark the
/// rest: `in_packs(begin, end, memory)` with memory.open; `alone(problem, memory)` takes that, or
/// every problem without packs. Each thread has memory of these sizes.
template <class InPacks, class Alone>
void differentiate_in_packs(std::int64_t problems, int threads, long reals, long ints,
                            long pack_reals, InPacks&& in_packs, Alone&& alone) {
  tbb::enumerable_thread_specific<DerivativeMemory> memories;
  const auto range = [&](std::int64_t begin, std::int64_t end) {
    DerivativeMemory& memory = memories.local();
    make_room(memory.ints, ints);
    if (pack_reals > 0) {
      make_room(memory.packs, pack_reals);
      make_room(memory.open, end - begin);
      in_packs(begin, end, memory);
    }
    for (std::int64_t p = begin; p < end; ++p) {
      if (pack_reals > 0 && !memory.open.data()[p - begin]) continue;
      make_room(memory.reals, reals);
      alone(p, memory);
    }
  };
  if (threads == 1) {
    if (problems > 0) range(0, problems);
  } else {
    parallel_for(problems, 32, threads, range);
  }
}

inline derivatives::DerivativeRules rules_of(const DerivativeSettings& settings) {
  return {settings.at_kink, settings.margin_tolerance, settings.error_tolerance, settings.reach};
}

/// Writes what a derivative says of itself.
template <class Table>
void put_report(Table& table, std::int64_t p, const derivatives::Report& report) {
  const auto at = static_cast<std::size_t>(p);
  table.status.data()[at] = report.status;
  table.residual.data()[at] = report.residual;
  table.margin.data()[at] = report.margin;
  table.condition.data()[at] = report.condition;
  table.shift.data()[at] = report.shift;
  table.reach.data()[at] = report.reach;
  table.doubtful.data()[at] = report.doubtful;
}

/// Values of problem p, or null where the array is empty.
template <class Array>
auto* row_of(Array& array, std::int64_t p, std::int64_t stride) {
  return array.empty() ? nullptr : array.data() + p * stride;
}

}  // namespace carom::cpu
