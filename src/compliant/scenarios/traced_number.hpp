#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include <carom/device/packed.hpp>
#include <carom/device/trigonometry.hpp>

#include "compliant/scenarios/base.hpp"
#include "models/mechanisms/mechanism.hpp"

namespace carom::kernels {

/// Reverse-mode automatic differentiation: a tape stores each number's operands with the partial
/// derivatives, and one backward sweep gives the gradient in all inputs (Griewank and Walther,
/// Evaluating Derivatives, 2008, chapter 3). V: a pack, each lane has the same computation with
/// other numbers. At a branch only lanes that decide as the first lane does continue (live).
template <class V>
class Tape {
 public:
  using Mask = decltype(V() < V());
  struct Entry {
    std::int32_t kind;
    std::int32_t from[3];
  };
  /// Values V that a tape of some entries takes, without the entries.
  static constexpr long kValues = 3;

  /// values: [kValues * capacity]; entries: [capacity].
  CAROM_INLINE Tape(V* values, Entry* entries, int capacity)
      : partial_(values), bar_(values + 2L * capacity), entry_(entries), capacity_(capacity) {}

  CAROM_INLINE void start(unsigned live) {
    live_ = live;
    count_ = 1;  // place 0 takes what goes to constants
    full_ = false;
    bar_[0] = V(0.0);
  }
  [[nodiscard]] CAROM_INLINE unsigned live() const { return live_; }
  /// Whether it had no room: its gradient is none.
  [[nodiscard]] CAROM_INLINE bool full() const { return full_; }

  CAROM_INLINE int input() { return add(kInput, 0, 0, 0); }
  CAROM_INLINE int linear(int a, V by) {
    const int place = add(kLinear, a, 0, 0);
    partial_[2L * place] = by;
    return place;
  }
  CAROM_INLINE int sum(int a, int b) { return add(kSum, a, b, 0); }
  CAROM_INLINE int difference(int a, int b) { return add(kDifference, a, b, 0); }
  /// Of something whose partial derivatives in a and b are these, plus c.
  CAROM_INLINE int product(int a, V by_a, int b, V by_b, int c = 0) {
    const int place = add(kProduct, a, b, c);
    partial_[2L * place] = by_a;
    partial_[2L * place + 1] = by_b;
    return place;
  }

  /// a or b; by: 1 and 0, or NaN where they are equal.
  CAROM_INLINE int choice(int a, V by_a, int b, V by_b, bool larger) {
    const int place = add(larger ? kLarger : kSmaller, a, b, 0);
    partial_[2L * place] = by_a;
    partial_[2L * place + 1] = by_b;
    return place;
  }

  /// How much is on it; forget(): only so much.
  [[nodiscard]] CAROM_INLINE int written() const { return count_; }
  CAROM_INLINE void forget(int written) { count_ = full_ ? count_ : written; }

  /// Whether a condition holds in the lanes that go on.
  CAROM_INLINE bool decide(Mask condition) {
    const unsigned there = condition.bits() & live_;
    if (there == 0 || there == live_) return there != 0;
    const bool first = (there >> lowest_bit(live_) & 1U) != 0;
    live_ = first ? there : live_ & ~there;
    return first;
  }

  /// The loss's gradient in a number, to be added to before back(); the rate of a number, to be
  /// set of inputs before ahead().
  CAROM_INLINE V& bar(int place) { return bar_[place]; }

  void back() {
    for (int i = count_ - 1; i > 0; --i) {
      const V by = bar_[i];
      if (!any_of(by != V(0.0))) continue;
      const Entry& entry = entry_[i];
      const V* partial = partial_ + 2L * i;
      V& a = bar_[entry.from[0]];
      V& b = bar_[entry.from[1]];
      switch (entry.kind) {
        case kInput:
          break;
        case kLinear:
          a = a + partial[0] * by;
          break;
        case kSum:
          a = a + by;
          b = b + by;
          break;
        case kDifference:
          a = a + by;
          b = b - by;
          break;
        default:
          a = a + partial[0] * by;
          b = b + partial[1] * by;
          V& c = bar_[entry.from[2]];
          c = c + by;
      }
    }
  }

  /// Rates of all numbers; of the larger of two equal ones, the larger rate. Lanes where such two
  /// have different rates: a kink.
  unsigned ahead() {
    const V zero(0.0);
    unsigned kinks = 0;
    bar_[0] = zero;
    const auto times = [&](V by, V rate) { return select(rate != zero, by * rate, zero); };
    for (int i = 1; i < count_; ++i) {
      const Entry& entry = entry_[i];
      const V* partial = partial_ + 2L * i;
      const V a = bar_[entry.from[0]], b = bar_[entry.from[1]];
      switch (entry.kind) {
        case kInput:
          break;
        case kLinear:
          bar_[i] = times(partial[0], a);
          break;
        case kSum:
          bar_[i] = a + b;
          break;
        case kDifference:
          bar_[i] = a - b;
          break;
        case kLarger:
        case kSmaller: {
          const V most = entry.kind == kLarger ? larger(a, b) : smaller(a, b);
          const V chosen = times(partial[0], a) + times(partial[1], b);
          const Mask equal = partial[0] != partial[0];
          bar_[i] = select(equal, most, chosen);
          kinks |= (equal & (a != b)).bits();
          break;
        }
        default:
          bar_[i] = times(partial[0], a) + times(partial[1], b) + bar_[entry.from[2]];
      }
    }
    return kinks;
  }

 private:
  enum Kind : std::int32_t { kInput, kLinear, kSum, kDifference, kProduct, kLarger, kSmaller };

  CAROM_INLINE int add(std::int32_t kind, int a, int b, int c) {
    if (count_ == capacity_) {
      full_ = true;
      count_ = 1;  // anything that is there
    }
    entry_[count_] = {kind, {a, b, c}};
    bar_[count_] = V(0.0);
    return count_++;
  }

  V* partial_;
  V* bar_;
  Entry* entry_;
  int capacity_;
  int count_ = 1;
  unsigned live_ = 0;
  bool full_ = false;
};

/// A number of a scenario's text that is written down on a tape. Where it has no derivative
/// (a root at zero, the larger of two equal numbers) its partials are NaN.
template <class V>
struct TracedNumber {
  V value;
  Tape<V>* tape;
  int place;  ///< on the tape; 0: a constant

  TracedNumber() = default;
  CAROM_INLINE TracedNumber(double constant) : value(constant), tape(nullptr), place(0) {}
  explicit CAROM_INLINE TracedNumber(V constant) : value(constant), tape(nullptr), place(0) {}
  CAROM_INLINE TracedNumber(V number, Tape<V>* on, int at) : value(number), tape(on), place(at) {}

  friend CAROM_INLINE TracedNumber operator-(TracedNumber a) { return of(a, -a.value, V(-1.0)); }
  friend CAROM_INLINE TracedNumber operator+(TracedNumber a, TracedNumber b) {
    const V value = a.value + b.value;
    if (b.place == 0) return {value, any(a, b), a.place};
    if (a.place == 0) return {value, b.tape, b.place};
    return {value, a.tape, a.tape->sum(a.place, b.place)};
  }
  friend CAROM_INLINE TracedNumber operator-(TracedNumber a, TracedNumber b) {
    const V value = a.value - b.value;
    if (b.place == 0) return {value, any(a, b), a.place};
    return {value, b.tape, b.tape->difference(a.place, b.place)};
  }
  friend CAROM_INLINE TracedNumber operator*(TracedNumber a, TracedNumber b) {
    return of(a, b, a.value * b.value, b.value, a.value);
  }
  friend CAROM_INLINE TracedNumber operator/(TracedNumber a, TracedNumber b) {
    const V quotient = a.value / b.value;
    if (a.place == 0 && b.place == 0) return {quotient, any(a, b), 0};
    const V inverse = V(1.0) / b.value;
    return of(a, b, quotient, inverse, -(quotient * inverse));
  }
  CAROM_INLINE TracedNumber& operator+=(TracedNumber b) { return *this = *this + b; }
  CAROM_INLINE TracedNumber& operator-=(TracedNumber b) { return *this = *this - b; }
  CAROM_INLINE TracedNumber& operator/=(TracedNumber b) { return *this = *this / b; }
  friend CAROM_INLINE bool operator<(TracedNumber a, TracedNumber b) {
    return decided(a, b, a.value < b.value);
  }
  friend CAROM_INLINE bool operator>(TracedNumber a, TracedNumber b) { return b < a; }
  friend CAROM_INLINE bool operator<=(TracedNumber a, TracedNumber b) {
    return decided(a, b, a.value <= b.value);
  }
  friend CAROM_INLINE bool operator==(TracedNumber a, TracedNumber b) {
    return !decided(a, b, a.value != b.value);
  }

  friend CAROM_INLINE TracedNumber fused(TracedNumber a, TracedNumber b, TracedNumber c) {
    const V value = fused(a.value, b.value, c.value);
    if (a.place == 0 && b.place == 0)
      return {value, c.tape != nullptr ? c.tape : any(a, b), c.place};
    Tape<V>* tape = any(a, b);
    return {value, tape, tape->product(a.place, b.value, b.place, a.value, c.place)};
  }
  friend CAROM_INLINE TracedNumber square_root(TracedNumber a) {
    const V root = square_root(a.value);
    if (a.place == 0) return {root, a.tape, 0};
    return of(a, root, select(root > V(0.0), V(0.5) / root, none()));
  }
  friend CAROM_INLINE TracedNumber sine(TracedNumber a) {
    V values[2];
    both(a.value, values);
    return of(a, values[0], values[1]);
  }
  friend CAROM_INLINE TracedNumber cosine(TracedNumber a) {
    V values[2];
    both(a.value, values);
    return of(a, values[1], -values[0]);
  }
  /// Of a base above zero.
  friend CAROM_INLINE TracedNumber power(TracedNumber base, TracedNumber exponent) {
    constexpr int kLanes = kernels::kLaneCount<V>;
    double x[kLanes], e[kLanes], whole[kLanes], log[kLanes] = {};
    put(base.value, x);
    put(exponent.value, e);
    for (int lane = 0; lane < kLanes; ++lane) {
      whole[lane] = kernels::power(x[lane], e[lane]);
      if (exponent.place != 0) log[lane] = std::log(x[lane]);
    }
    const V value = got(whole);
    return of(base, exponent, value, exponent.value * value / base.value, value * got(log));
  }
  friend CAROM_INLINE TracedNumber larger(TracedNumber a, TracedNumber b) {
    return chosen(a, b, a.value > b.value, true);
  }
  friend CAROM_INLINE TracedNumber smaller(TracedNumber a, TracedNumber b) {
    return chosen(a, b, a.value < b.value, false);
  }
  friend CAROM_INLINE V number_of(TracedNumber x) { return x.value; }
  friend CAROM_INLINE int whole(TracedNumber count) {
    double lanes[kernels::kLaneCount<V>];
    put(count.value, lanes);
    const double first = lanes[lowest_bit(count.tape->live())];
    count.tape->decide(!(count.value != V(first)));
    return kernels::whole(first);
  }

 private:
  static CAROM_INLINE Tape<V>* any(const TracedNumber& a, const TracedNumber& b) {
    return a.tape != nullptr ? a.tape : b.tape;
  }
  static CAROM_INLINE TracedNumber of(const TracedNumber& a, V value, V by) {
    return {value, a.tape, a.place == 0 ? 0 : a.tape->linear(a.place, by)};
  }
  static CAROM_INLINE TracedNumber of(const TracedNumber& a, const TracedNumber& b, V value, V by_a,
                                      V by_b) {
    if (b.place == 0) return {value, any(a, b), a.place == 0 ? 0 : a.tape->linear(a.place, by_a)};
    if (a.place == 0) return {value, b.tape, b.tape->linear(b.place, by_b)};
    return {value, a.tape, a.tape->product(a.place, by_a, b.place, by_b)};
  }
  static CAROM_INLINE bool decided(const TracedNumber& a, const TracedNumber& b,
                                   typename Tape<V>::Mask condition) {
    Tape<V>* tape = any(a, b);
    return tape != nullptr ? tape->decide(condition) : any_of(condition);
  }
  static CAROM_INLINE V none() { return V(kInfinity - kInfinity); }
  /// a where it is, else b; equal numbers have no derivative.
  static CAROM_INLINE TracedNumber chosen(const TracedNumber& a, const TracedNumber& b,
                                          typename Tape<V>::Mask is, bool larger) {
    const V zero(0.0), one(1.0);
    const V by_a = select(is, one, zero), by_b = select(is, zero, one);
    const auto differ = a.value != b.value;
    const V value = select(is, a.value, b.value);
    if (a.place == 0 && b.place == 0) return {value, any(a, b), 0};
    Tape<V>* tape = any(a, b);
    return {value, tape,
            tape->choice(a.place, select(differ, by_a, none()), b.place,
                         select(differ, by_b, none()), larger)};
  }
  static CAROM_INLINE void put(const V& from, double* to) { std::memcpy(to, &from, sizeof from); }
  static CAROM_INLINE V got(const double* from) {
    V to;
    std::memcpy(static_cast<void*>(&to), from, sizeof to);
    return to;
  }
  static CAROM_INLINE void both(V x, V* values) {
    constexpr int kLanes = kernels::kLaneCount<V>;
    double at[kLanes], sines[kLanes], cosines[kLanes];
    put(x, at);
    for (int lane = 0; lane < kLanes; ++lane) {
      const SineCosine one = sine_cosine(at[lane]);
      sines[lane] = one.sine;
      cosines[lane] = one.cosine;
    }
    values[0] = got(sines);
    values[1] = got(cosines);
  }
};

/// h is an input, so it is on the tape.
template <class V>
struct Written<TracedNumber<V>> {
  explicit CAROM_INLINE Written(const TracedNumber<V>& h)
      : tape(h.tape), written(h.tape->written()) {}
  CAROM_INLINE void forget() const { tape->forget(written); }

  Tape<V>* tape;
  int written;
};

}  // namespace carom::kernels
