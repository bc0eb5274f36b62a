#pragma once

#include <cstddef>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace cuda_on_host {

/// A stack of its own on which a function runs bit by bit.
class Fibre {
 public:
  /// `body` never returns.
  explicit Fibre(void (*body)());
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;
  ~Fibre() = default;  // fibres live as long as the process

  /// From the scheduler into the fibre, until it leaves.
  void enter();
  /// From the fibre back to the scheduler.
  void leave();

 private:
  static constexpr std::size_t kStackBytes = std::size_t{1} << 20;

#if defined(__x86_64__)
  void* here_ = nullptr;
  void* scheduler_ = nullptr;
#else
  ucontext_t here_;
  ucontext_t scheduler_;
#endif
  // The address sanitizer's own notes of the two stacks.
  char* stack_ = nullptr;
  void* fake_ = nullptr;
  void* scheduler_fake_ = nullptr;
  const void* scheduler_stack_ = nullptr;
  std::size_t scheduler_bytes_ = 0;
  void (*body_)();

  void arrive();
  static void start();
};

}  // namespace cuda_on_host
