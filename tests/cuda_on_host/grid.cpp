#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>

#include "device.hpp"
#include "fibre.hpp"

// Blocks run one after another; a block's threads are fibres that change at barriers and shuffles.

uint3 threadIdx;
uint3 blockIdx;
dim3 blockDim;
dim3 gridDim;

namespace carom::cuda {
// What lanes.cuh declares; behind what a launch asked for stands a pattern that must not change.
thread_local double carom_shared_memory[cuda_on_host::kSharedBytes / sizeof(double) + 64];
}  // namespace carom::cuda

namespace cuda_on_host {

namespace {

constexpr int kWarp = 32;
constexpr unsigned char kFresh = 0xff;  // NaN, -1
constexpr unsigned char kBeyond = 0xfb;
constexpr std::size_t kBeyondBytes = 512;

enum class State : unsigned char { ready, at_barrier, at_shuffle, at_block, done };

/// A shuffle, or a ballot.
struct Exchange {
  std::uint64_t value = 0;
  int source = 0;  ///< lane
  bool ballot = false;
  std::uint64_t result = 0;
};

struct Thread {
  State state = State::ready;
  unsigned mask = 0;  ///< lanes that it waits for
  Exchange exchange;
  Fibre* fibre = nullptr;
};

struct Warp {
  int begin, end;  ///< threads
  int in[5];       ///< how many of them are in each state

  [[nodiscard]] int& count(State state) { return in[static_cast<std::size_t>(state)]; }
};

class Machine {
 public:
  void run(const cudaLaunchConfig_t& config, const std::function<void()>& thread) {
    thread_ = &thread;
    auto* const shared = reinterpret_cast<unsigned char*>(carom::cuda::carom_shared_memory);
    const std::size_t bytes = config.dynamicSmemBytes;
    gridDim = config.gridDim;
    blockDim = config.blockDim;
    std::vector<unsigned> blocks(config.gridDim.x);
    std::iota(blocks.begin(), blocks.end(), 0U);
    arrange(blocks.begin(), blocks.end());
    std::fill(shared + bytes, shared + bytes + kBeyondBytes, kBeyond);
    for (const unsigned block : blocks) {
      std::fill(shared, shared + bytes, kFresh);
      blockIdx.x = block;
      run_block(static_cast<int>(config.blockDim.x));
    }
    if (std::any_of(shared + bytes, shared + bytes + kBeyondBytes,
                    [](unsigned char c) { return c != kBeyond; })) {
      problem("a block wrote beyond its " + std::to_string(bytes) + " bytes of shared memory");
    }
  }

  void wait(State state, unsigned mask = 0) {
    Thread& thread = threads_[current_];
    if (mask != 0 && (mask >> (current_ % kWarp)) % 2 == 0) {
      problem("a thread waits at a barrier of other lanes");
    }
    thread.mask = mask;
    move(warps_[current_ / kWarp], thread, state);
    thread.fibre->leave();
  }

  std::uint64_t exchange(unsigned mask, const Exchange& exchange) {
    Thread& thread = threads_[current_];
    thread.exchange = exchange;
    wait(State::at_shuffle, mask);
    return thread.exchange.result;
  }

 private:
  /// Random orders need no more than a cheap generator.
  template <class Iterator>
  void arrange(Iterator begin, Iterator end) {
    if (order_ == Order::backwards) std::reverse(begin, end);
    if (order_ != Order::random) return;
    for (auto left = static_cast<std::uint64_t>(end - begin); left > 1; --left) {
      random_ ^= random_ << 13;
      random_ ^= random_ >> 7;
      random_ ^= random_ << 17;
      const auto chosen = static_cast<std::ptrdiff_t>(((random_ >> 32) * left) >> 32);
      std::swap(begin[chosen], begin[static_cast<std::ptrdiff_t>(left) - 1]);
    }
  }

  void move(Warp& warp, Thread& thread, State to) {
    --warp.count(thread.state);
    ++warp.count(to);
    thread.state = to;
  }

  void run_block(int threads) {
    const int warps = (threads + kWarp - 1) / kWarp;
    threads_.assign(static_cast<std::size_t>(threads), Thread{});
    warps_.assign(static_cast<std::size_t>(warps), Warp{});
    for (int w = 0; w < warps; ++w) {
      Warp& warp = warps_[static_cast<std::size_t>(w)];
      warp.begin = w * kWarp;
      warp.end = std::min(warp.begin + kWarp, threads);
      warp.count(State::ready) = warp.end - warp.begin;
    }
    std::vector<int> order(static_cast<std::size_t>(warps));
    std::iota(order.begin(), order.end(), 0);
    for (;;) {
      arrange(order.begin(), order.end());
      bool moved = false;
      int done = 0;
      int waiting = 0;
      for (const int w : order) {
        Warp& warp = warps_[static_cast<std::size_t>(w)];
        moved = run_warp(warp) || moved;
        done += warp.count(State::done);
        waiting += warp.count(State::at_block);
      }
      if (done == threads) return;
      if (done + waiting == threads) {
        for (Warp& warp : warps_) open_block(warp);
      } else if (!moved) {
        problem("the threads of a block wait at different barriers");
        std::abort();
      }
    }
  }

  /// One turn of a warp's lanes; false where none could run.
  bool run_warp(Warp& warp) {
    if (warp.count(State::ready) == 0) return false;
    int lanes[kWarp];
    int* last = lanes;
    for (int t = warp.begin; t < warp.end; ++t) {
      if (threads_[static_cast<std::size_t>(t)].state == State::ready) *last++ = t;
    }
    arrange(lanes, last);
    for (const int* lane = lanes; lane != last; ++lane) resume(static_cast<std::size_t>(*lane));
    for (int t = warp.begin; t < warp.end; ++t) {
      const State state = threads_[static_cast<std::size_t>(t)].state;
      if (state == State::at_barrier || state == State::at_shuffle) open_for(warp, t);
    }
    return true;
  }

  /// Opens what a thread waits at when all lanes of its mask that live are there.
  void open_for(Warp& warp, int t) {
    const Thread first = threads_[static_cast<std::size_t>(t)];
    const auto each = [&](auto&& visit) {
      for (int lane = 0; lane < warp.end - warp.begin; ++lane) {
        Thread& thread = threads_[static_cast<std::size_t>(warp.begin + lane)];
        if ((first.mask >> lane) % 2 == 1 && thread.state != State::done) visit(thread, lane);
      }
    };
    bool there = true;
    each([&](const Thread& thread, int) {
      there = there && thread.state == first.state && thread.mask == first.mask;
    });
    if (!there) return;
    std::uint64_t flags = 0;
    each([&](const Thread& thread, int lane) {
      flags |= static_cast<std::uint64_t>(thread.exchange.value != 0) << lane;
    });
    each([&](Thread& thread, int) {
      const Exchange& exchange = thread.exchange;
      const int from = warp.begin + exchange.source;
      thread.exchange.result =
          exchange.ballot ? flags : threads_[static_cast<std::size_t>(from)].exchange.value;
    });
    each([&](Thread& thread, int) { move(warp, thread, State::ready); });
  }

  void open_block(Warp& warp) {
    for (int t = warp.begin; t < warp.end; ++t) {
      Thread& thread = threads_[static_cast<std::size_t>(t)];
      if (thread.state == State::at_block) move(warp, thread, State::ready);
    }
  }

  void resume(std::size_t t) {
    Thread& thread = threads_[t];
    if (thread.fibre == nullptr) thread.fibre = take_fibre();
    current_ = t;
    threadIdx.x = static_cast<unsigned>(t);
    thread.fibre->enter();
    if (thread.state == State::done) idle_.push_back(std::exchange(thread.fibre, nullptr));
  }

  Fibre* take_fibre() {
    if (idle_.empty()) return all_.emplace_back(std::make_unique<Fibre>(&Machine::live)).get();
    Fibre* const fibre = idle_.back();
    idle_.pop_back();
    return fibre;
  }

  /// A fibre's life: one thread of a kernel after another.
  static void live();

  const std::function<void()>* thread_ = nullptr;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::vector<std::unique_ptr<Fibre>> all_;
  std::vector<Fibre*> idle_;
  std::size_t current_ = 0;
  const Order order_ = settings().order;
  std::uint64_t random_ = 0x9e3779b97f4a7c15ULL ^ settings().seed;
};

Machine& machine() {
  static auto* const all = new Machine;
  return *all;
}

void Machine::live() {
  for (;;) {
    (*machine().thread_)();
    machine().wait(State::done);
  }
}

}  // namespace

void run_grid(const cudaLaunchConfig_t& config, const std::function<void()>& thread) {
  machine().run(config, thread);
}

void warp_barrier(unsigned mask) { machine().wait(State::at_barrier, mask); }

void block_barrier() { machine().wait(State::at_block); }

std::uint64_t exchange(unsigned mask, std::uint64_t value, int source) {
  if ((mask >> source) % 2 == 0) problem("a shuffle from a lane that does not take part");
  return machine().exchange(mask, {value, source, false, 0});
}

unsigned ballot(unsigned mask, bool flag) {
  return static_cast<unsigned>(machine().exchange(mask, {flag ? 1U : 0U, 0, true, 0}));
}

}  // namespace cuda_on_host
