#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace carom {

/// An arena of at most `threads` threads (0: all) for one caller. Arenas are kept for later
/// callers, because TBB (2021.8) loses 7 kB with each that had workers, and entering an existing
/// arena is faster.
class LeasedArena {
 public:
  explicit LeasedArena(int threads);
  ~LeasedArena();
  LeasedArena(const LeasedArena&) = delete;
  LeasedArena& operator=(const LeasedArena&) = delete;

  tbb::task_arena& operator*() { return *arena_; }

 private:
  int threads_;
  std::unique_ptr<tbb::task_arena> arena_;
};

/// Runs `work` on at most `threads` threads; 0 means all of them.
template <class Work>
void with_threads(int threads, Work&& work) {
  LeasedArena arena(threads);
  (*arena).execute(std::forward<Work>(work));
}

#if defined(CAROM_PLAIN_THREADS)
/// As below, on threads that the thread sanitizer sees: it knows nothing of how TBB's library
/// synchronises.
template <class Body>
void parallel_for(std::int64_t count, std::int64_t grain, int threads, Body&& body) {
  const std::int64_t pieces = (count + grain - 1) / grain;
  const std::int64_t most = threads > 0 ? threads : std::thread::hardware_concurrency();
  std::atomic<std::int64_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  const auto work = [&] {
    for (std::int64_t begin; (begin = next.fetch_add(grain)) < count;) {
      try {
        body(begin, std::min(count, begin + grain));
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
        next = count;
      }
    }
  };
  std::vector<std::thread> others;
  for (std::int64_t t = 1; t < std::min(most, pieces); ++t) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  if (error) std::rethrow_exception(error);
}
#else
/// body(begin, end) over [0, count) in pieces of `grain` on `threads` threads (0: all); one piece
/// is the caller's, without an arena.
template <class Body>
void parallel_for(std::int64_t count, std::int64_t grain, int threads, Body&& body) {
  if (count <= 0) return;
  if (count <= grain) return body(std::int64_t{0}, count);
  with_threads(threads, [&] {
    tbb::parallel_for(
        tbb::blocked_range<std::int64_t>(0, count, static_cast<std::size_t>(grain)),
        [&](const tbb::blocked_range<std::int64_t>& range) { body(range.begin(), range.end()); },
        tbb::simple_partitioner());
  });
}
#endif

/// body(i) for every i of [0, count), each a piece of its own.
template <class Body>
void parallel_for_each(std::int64_t count, int threads, Body&& body) {
  parallel_for(count, 1, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) body(i);
  });
}

}  // namespace carom
