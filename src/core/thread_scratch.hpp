#pragma once

#include <tbb/enumerable_thread_specific.h>

#include "core/workspace.hpp"

namespace carom {

/// Working memory per thread: one Memory for each thread that took part. A Memory starts empty; its
/// fit() is called in each call before use.
template <class Memory>
struct ThreadScratch : ScratchBlock {
  tbb::enumerable_thread_specific<Memory> of_thread;
  Memory& local() { return of_thread.local(); }
};

}  // namespace carom
