#pragma once

#include <cstdint>

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <carom/backend.hpp>

namespace carom::cpu {

/// body(begin, end) over [0, count) in pieces of `grain` on `threads` threads (0: all).
template <class Body>
void parallel_for(std::int64_t count, std::int64_t grain, int threads, Body&& body) {
  if (count <= 0) return;
  tbb::task_arena arena(threads > 0 ? threads : tbb::task_arena::automatic);
  arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::int64_t>(0, count, static_cast<std::size_t>(grain)),
        [&](const tbb::blocked_range<std::int64_t>& range) { body(range.begin(), range.end()); },
        tbb::simple_partitioner());
  });
}

}  // namespace carom::cpu
