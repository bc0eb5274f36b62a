#include "io/memory_reserve.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace carom::io {

namespace {

std::atomic<void*> g_block = nullptr;  // the handler takes no argument
std::atomic<bool> g_alive = false;
std::atomic<bool> g_spent = false;
std::new_handler g_before = nullptr;

void spend() {
  void* block = g_block.exchange(nullptr);
  if (block == nullptr) throw std::bad_alloc();
  g_spent = true;
  std::free(block);
}

}  // namespace

MemoryReserve::MemoryReserve(std::size_t bytes) {
  if (g_alive.exchange(true)) return;
  void* block = std::malloc(bytes);
  if (block == nullptr) {
    g_alive = false;
    throw std::bad_alloc();
  }
  owner_ = true;
  g_spent = false;
  g_block = block;
  g_before = std::set_new_handler(spend);
}

MemoryReserve::~MemoryReserve() {
  if (!owner_) return;
  std::set_new_handler(g_before);
  std::free(g_block.exchange(nullptr));
  g_alive = false;
}

void MemoryReserve::require_unspent() {
  if (g_spent) throw std::bad_alloc();
}

}  // namespace carom::io
