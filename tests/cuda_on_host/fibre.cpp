#include "fibre.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(__x86_64__)
// Saves what a function must keep and goes on where `to` was left; swapcontext would make two
// system calls for the signal mask each time.
extern "C" void carom_switch_stack(void** from, void* to);
asm(R"(
.text
.globl carom_switch_stack
.type carom_switch_stack,@function
carom_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp,(%rdi)
  movq %rsi,%rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size carom_switch_stack,.-carom_switch_stack
)");
#endif

namespace cuda_on_host {

namespace {
Fibre* entering = nullptr;
}  // namespace

Fibre::Fibre(void (*body)()) : body_(body) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* memory = mmap(nullptr, kStackBytes + page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0) std::abort();
  stack_ = static_cast<char*>(memory) + page;
#if defined(__x86_64__)
  // Stacks that all began at the same place of a page would share a few lines of the cache.
  static std::size_t made = 0;
  const std::size_t shift = 320 * (made++ % 64);
  auto** top = reinterpret_cast<void**>(stack_ + kStackBytes - 64 - shift);
  *--top = nullptr;  // where a caller's return address would be: keeps the stack's alignment
  *--top = reinterpret_cast<void*>(&Fibre::start);
  here_ = top - 6;  // the saved registers, zero in fresh memory
#else
  getcontext(&here_);
  here_.uc_stack.ss_sp = stack_;
  here_.uc_stack.ss_size = kStackBytes;
  makecontext(&here_, &Fibre::start, 0);
#endif
}

void Fibre::enter() {
  entering = this;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&scheduler_fake_, stack_, kStackBytes);
#endif
#if defined(__x86_64__)
  carom_switch_stack(&scheduler_, here_);
#else
  swapcontext(&scheduler_, &here_);
#endif
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(scheduler_fake_, nullptr, nullptr);
#endif
}

void Fibre::leave() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&fake_, scheduler_stack_, scheduler_bytes_);
#endif
#if defined(__x86_64__)
  carom_switch_stack(&here_, scheduler_);
#else
  swapcontext(&here_, &scheduler_);
#endif
  arrive();
}

void Fibre::arrive() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_, &scheduler_stack_, &scheduler_bytes_);
#endif
}

void Fibre::start() {
  Fibre* const self = entering;
  self->arrive();
  self->body_();
  std::abort();
}

}  // namespace cuda_on_host
