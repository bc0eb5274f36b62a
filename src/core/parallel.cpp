#include "core/parallel.hpp"

#include <map>
#include <mutex>
#include <vector>

namespace carom {

namespace {

struct Arenas {
  std::mutex mutex;
  std::map<int, std::vector<std::unique_ptr<tbb::task_arena>>> idle;  ///< by number of threads
};

/// Never destroyed: threads of callers may outlive what stands in this file.
Arenas& arenas() {
  static auto* const kept = new Arenas;
  return *kept;
}

}  // namespace

LeasedArena::LeasedArena(int threads) : threads_(threads > 0 ? threads : 0) {
  {
    const std::lock_guard lock(arenas().mutex);
    auto& idle = arenas().idle[threads_];
    if (!idle.empty()) {
      arena_ = std::move(idle.back());
      idle.pop_back();
    }
  }
  if (arena_) return;
  const int most = threads_ > 0 ? threads_ : int{tbb::task_arena::automatic};
  arena_ = std::make_unique<tbb::task_arena>(most);
}

LeasedArena::~LeasedArena() {
  const std::lock_guard lock(arenas().mutex);
  arenas().idle[threads_].push_back(std::move(arena_));
}

}  // namespace carom
