#pragma once

#include <tbb/enumerable_thread_specific.h>

#include "core/workspace.hpp"

namespace carom {

/// One Memory for each thread that ever took part. A Memory is made empty; its fit() is called in
/// each call before use.
template <class Memory>
struct ThreadScratch : ScratchBlock {
  tbb::enumerable_thread_specific<Memory> of_thread;
  Memory& local() { return of_thread.local(); }
};

}  // namespace carom
