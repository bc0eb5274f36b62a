#pragma once

#include <array>
#include <cstddef>
#include <new>

namespace carom::enclosure {

/// Blocks of a few objects that a thread gave back, by their number of objects, until it ends:
/// vectors of integers come and go by the thousand, all of one length.
template <class T>
class RecycledBlocks {
 public:
  static constexpr std::size_t kMost = 16;  // objects of a block that is kept

  RecycledBlocks() = default;
  RecycledBlocks(const RecycledBlocks&) = delete;
  RecycledBlocks& operator=(const RecycledBlocks&) = delete;
  ~RecycledBlocks() {
    for (Block* block : first_) {
      while (block != nullptr) ::operator delete(take(block));
    }
  }

  void* take(std::size_t objects) {
    return first_[objects] != nullptr ? take(first_[objects]) : ::operator new(objects * sizeof(T));
  }
  void give(void* memory, std::size_t objects) noexcept {
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
