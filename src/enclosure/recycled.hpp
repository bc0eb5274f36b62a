#pragma once

#include <array>
#include <cstddef>
#include <new>

namespace carom::enclosure {

/// A free list per thread of blocks of a few objects, by their number of objects: thousands of
/// vectors of integers of the same length are allocated and released.
template <class T>
class RecycledBlocks {
 public:
  static constexpr std::size_t kMost = 16;          ///< objects of a block that is kept
  static constexpr std::size_t kMostBlocks = 4096;  ///< kept of one number of objects

  RecycledBlocks() = default;
  RecycledBlocks(const RecycledBlocks&) = delete;
  RecycledBlocks& operator=(const RecycledBlocks&) = delete;
  ~RecycledBlocks() {
    for (Block* block : first_) {
      while (block != nullptr) ::operator delete(take(block));
    }
  }

  void* take(std::size_t objects) {
    if (first_[objects] == nullptr) return ::operator new(objects * sizeof(T));
    --kept_[objects];
    return take(first_[objects]);
  }
  void give(void* memory, std::size_t objects) noexcept {
    if (kept_[objects] == kMostBlocks) return ::operator delete(memory);
    ++kept_[objects];
    first_[objects] = new (memory) Block{first_[objects]};
  }

 private:
  struct Block {
    Block* next;
  };
  static_assert(sizeof(T) >= sizeof(Block) && alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

  static void* take(Block*& from) {
    Block* const block = from;
    from = block->next;
    return block;
  }

  std::array<Block*, kMost + 1> first_{};
  std::array<std::size_t, kMost + 1> kept_{};
};

template <class T>
struct RecycledAllocator {
  using value_type = T;

  RecycledAllocator() = default;
  template <class U>
  explicit RecycledAllocator(const RecycledAllocator<U>& /*other*/) {}

  T* allocate(std::size_t objects) {
    if (objects <= RecycledBlocks<T>::kMost) return static_cast<T*>(blocks().take(objects));
    return static_cast<T*>(::operator new(objects * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t objects) noexcept {
    if (objects <= RecycledBlocks<T>::kMost) {
      blocks().give(memory, objects);
    } else {
      ::operator delete(memory);
    }
  }
  bool operator==(const RecycledAllocator& /*other*/) const { return true; }

 private:
  static RecycledBlocks<T>& blocks() {
    thread_local RecycledBlocks<T> own;
    return own;
  }
};

}  // namespace carom::enclosure
