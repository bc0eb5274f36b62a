#include "impact/enclosure/common_divisor.hpp"

#include <cstdint>
#include <numeric>
#include <utility>

namespace carom::enclosure {

namespace {

using Limb = boost::multiprecision::limb_type;
using Word = std::uint64_t;

#if defined(__SIZEOF_INT128__)
__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 WideWord;

/// A number of Lehmer's algorithm: Euclid's steps are found from the leading 62 bits of both
/// numbers and applied some twenty at a time. Boost takes them bit by bit, six times as long.
class Number {
 public:
  static constexpr int kWords = 64;

  explicit Number(const Integer& x) : size_(static_cast<int>(x.backend().size())) {
    for (int i = 0; i < size_; ++i) word_[i] = x.backend().limbs()[i];
    trim();
  }

  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] Word low() const { return size_ > 0 ? word_[0] : 0; }

  [[nodiscard]] bool operator<(const Number& other) const {
    if (size_ != other.size_) return size_ < other.size_;
    for (int i = size_ - 1; i >= 0; --i) {
      if (word_[i] != other.word_[i]) return word_[i] < other.word_[i];
    }
    return false;
  }

  [[nodiscard]] Integer value() const {
    Integer x = 0;
    const auto size = static_cast<unsigned>(size_ > 0 ? size_ : 1);
    x.backend().resize(size, size);
    for (int i = 0; i < size_; ++i) x.backend().limbs()[i] = word_[i];
    return x;
  }

  /// *this / divisor, which leaves no rest: the quotient's words from the lowest on (Jebelean
  /// 1993), as many as `length` tells.
  void quotient(Number divisor, Word* to, int& length) {
    const int zeros = __builtin_ctzll(divisor.word_[divisor.lowest()]);
    shift_down(divisor.lowest(), zeros);
    divisor.shift_down(divisor.lowest(), zeros);
    length = size_ - divisor.size_ + 1;
    const Word odd = divisor.word_[0];
    Word inverse = odd * 3 ^ 2;  // of five bits, doubled by each step
    for (int step = 0; step < 4; ++step) inverse *= 2 - odd * inverse;
    for (int i = 0; i < length; ++i) {
      const Word q = word_[i] * inverse;
      to[i] = q;
      Word carry = 0;
      int at = i;
      for (int j = 0; j < divisor.size_ && at < length; ++j, ++at) {
        const WideWord product = static_cast<WideWord>(q) * divisor.word_[j] + carry;
        const Word low = static_cast<Word>(product);
        carry = static_cast<Word>(product >> 64) + (word_[at] < low ? 1 : 0);
        word_[at] -= low;
      }
      for (; carry != 0 && at < length; ++at) {
        const Word before = word_[at];
        word_[at] -= carry;
        carry = before < carry ? 1 : 0;
      }
    }
  }

  [[nodiscard]] Word remainder(Word divisor) const {
    WideWord rest = 0;
    for (int i = size_ - 1; i >= 0; --i) rest = (rest << 64 | word_[i]) % divisor;
    return static_cast<Word>(rest);
  }

  /// For other <= *this: both become what Euclid's algorithm makes of them by the steps that the
  /// leading bits are sure of (Knuth, The Art of Computer Programming 2, 4.5.2, algorithm L); false
  /// where there is none.
  bool reduce(Number& other) {
    const int zeros = __builtin_clzll(word_[size_ - 1]);
    std::int64_t x = leading(size_, zeros), y = other.leading(size_, zeros);
    std::int64_t a = 1, b = 0, c = 0, d = 1;
    while (y + c != 0 && y + d != 0) {
      const std::int64_t q = (x + a) / (y + c);
      if (q != (x + b) / (y + d)) break;
      a = std::exchange(c, a - q * c);
      b = std::exchange(d, b - q * d);
      x = std::exchange(y, x - q * y);
    }
    if (b == 0) return false;
    Wide first = 0, second = 0;
    for (int i = 0; i < kWords && i < size_; ++i) {
      const Wide p = word_[i], r = i < other.size_ ? other.word_[i] : 0;
      first += a * p + b * r;
      second += c * p + d * r;
      word_[i] = static_cast<Word>(first);
      other.word_[i] = static_cast<Word>(second);
      first >>= 64;
      second >>= 64;
    }
    other.size_ = size_;
    trim();
    other.trim();
    return true;
  }

 private:
  void trim() {
    while (size_ > 0 && word_[size_ - 1] == 0) --size_;
  }

  [[nodiscard]] int lowest() const {
    int i = 0;
    while (word_[i] == 0) ++i;
    return i;
  }

  void shift_down(int words, int bits) {
    for (int i = 0; i + words < size_; ++i) {
      const Word next = i + words + 1 < size_ ? word_[i + words + 1] : 0;
      word_[i] = bits == 0 ? word_[i + words] : word_[i + words] >> bits | next << (64 - bits);
    }
    size_ -= words;
    trim();
  }

  /// The first 62 bits from where a number of `size` words with so many leading zeros begins.
  [[nodiscard]] std::int64_t leading(int size, int zeros) const {
    const Word high = size <= size_ ? word_[size - 1] : 0;
    const Word next = size > 1 && size - 1 <= size_ ? word_[size - 2] : 0;
    const Word top = zeros == 0 ? high : high << zeros | next >> (64 - zeros);
    return static_cast<std::int64_t>(top >> 2);
  }

  Word word_[kWords];
  int size_;
};

Integer by_lehmer(const Integer& x, const Integer& y) {
  Number first(x), second(y);
  Number *a = &first, *b = &second;  // a >= b
  if (*a < *b) std::swap(a, b);
  while (b->size() > 1) {
    if (!a->reduce(*b)) *a = Number(Integer(a->value() % b->value()));
    if (*a < *b) std::swap(a, b);
  }
  return b->size() == 0 ? a->value() : Integer(std::gcd(a->remainder(b->low()), b->low()));
}

bool fits(const Integer& x) {
  return sizeof(Limb) == sizeof(Word) &&
         x.backend().size() <= static_cast<unsigned>(Number::kWords);
}
#endif

}  // namespace

Integer common_divisor(const Integer& x, const Integer& y) {
#if defined(__SIZEOF_INT128__)
  if (fits(x) && fits(y)) return by_lehmer(x, y);
#endif
  return gcd(x, y);
}

void divide_exactly(Integer& x, const Integer& divisor) {
#if defined(__SIZEOF_INT128__)
  if (x != 0 && fits(x) && fits(divisor)) {
    Word words[Number::kWords];
    int length = 0;
    Number(x).quotient(Number(divisor), words, length);
    auto& to = x.backend();
    const auto size = static_cast<unsigned>(length);
    to.resize(size, size);
    for (int i = 0; i < length; ++i) to.limbs()[i] = words[i];
    to.normalize();
    return;
  }
#endif
  x /= divisor;
}

}  // namespace carom::enclosure
