#pragma once

namespace carom::cpu::simd {

/// Prefetches the numbers of the next pack, a few cache lines at a time between the steps of the
/// present pack. Prefetching all at once would stall like loads.
class Ahead {
 public:
  /// [from, from + count) is next.
  void add(const double* from, long count) { parts_[end_++] = {from, from + count}; }
  /// Locality: of __builtin_prefetch; 2 where it is more than the first cache holds.
  template <int Lines = 48, int Locality = 3>
  void ask() {
    for (int line = 0; line < Lines && now_ < end_; ++line) {
      Part& part = parts_[now_];
      __builtin_prefetch(part.from, 0, Locality);
      part.from += kLine;
      if (part.from >= part.to) ++now_;
    }
  }

 private:
  static constexpr int kLine = 64 / sizeof(double);
  struct Part {
    const double* from;
    const double* to;
  };
  Part parts_[6];
  int now_ = 0;
  int end_ = 0;
};

}  // namespace carom::cpu::simd
