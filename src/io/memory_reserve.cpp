#include "io/memory_reserve.hpp"

#include <cstdlib>
#include <mutex>
#include <new>

namespace carom::io {

namespace {

std::mutex g_mutex;  // any thread may run out of memory
MemoryReserve* g_innermost = nullptr;
std::new_handler g_before = nullptr;

}  // namespace

void MemoryReserve::spend() {
  const std::lock_guard lock(g_mutex);
  for (MemoryReserve* reserve = g_innermost; reserve != nullptr; reserve = reserve->outer_) {
    if (reserve->block_ == nullptr) continue;
    std::free(reserve->block_);
    reserve->block_ = nullptr;
    return;  // the allocation is tried again
  }
  throw std::bad_alloc();
}

MemoryReserve::MemoryReserve(std::size_t bytes) : block_(std::malloc(bytes)) {
  if (block_ == nullptr) throw std::bad_alloc();
  const std::lock_guard lock(g_mutex);
  outer_ = g_innermost;
  if (outer_ == nullptr) g_before = std::set_new_handler(spend);
  g_innermost = this;
}

MemoryReserve::~MemoryReserve() {
  const std::lock_guard lock(g_mutex);
  g_innermost = outer_;
  if (outer_ == nullptr) std::set_new_handler(g_before);
  std::free(block_);
}

void MemoryReserve::require_unspent() const {
  if (block_ == nullptr) throw std::bad_alloc();
}

}  // namespace carom::io
