#pragma once

namespace carom::cpu::simd {

/// Numbers that the next pack will load, asked for a few lines at a time between the steps of the
/// present one: those of a pack asked for at once are waited for as if they had not been.
class Ahead {
 public:
  /// [from, from + count) is next.
  void add(const double* from, long count) { *end_++ = {from, from + count}; }
  void ask() {
    for (int line = 0; line < kLines && now_ != end_; ++line) {
      __builtin_prefetch(now_->from);
      now_->from += kLine;
      if (now_->from >= now_->to) ++now_;
    }
  }

 private:
  static constexpr int kLines = 48;
  static constexpr int kLine = 64 / sizeof(double);
  struct Part {
    const double* from;
    const double* to;
  };
  Part parts_[6];
  Part* now_ = parts_;
  Part* end_ = parts_;
};

}  // namespace carom::cpu::simd
