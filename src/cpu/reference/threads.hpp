#pragma once

#include <utility>

#include <tbb/task_arena.h>

namespace carom::reference {

/// Runs `work` on at most `threads` threads; 0 means all of them.
template <class Work>
void with_threads(int threads, Work&& work) {
  tbb::task_arena arena(threads > 0 ? threads : tbb::task_arena::automatic);
  arena.execute(std::forward<Work>(work));
}

}  // namespace carom::reference
