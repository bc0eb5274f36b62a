#pragma once

#include <cstdint>
#include <numeric>
#include <utility>

#include <boost/multiprecision/cpp_int.hpp>

/// Natural numbers of known largest size, in memory of the caller: the inner loops of the exact
/// arithmetic of enclosures.
namespace carom::enclosure::limbs {

using Word = boost::multiprecision::limb_type;

#if defined(__SIZEOF_INT128__)
static_assert(sizeof(Word) == 8);
__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 WideWord;

inline constexpr int kMost = 256;                ///< words of a number, ...
inline constexpr int kFactor = (kMost - 2) / 2;  ///< ... of the factors of sums of products

inline int trimmed(const Word* x, int size) {
  while (size > 0 && x[size - 1] == 0) --size;
  return size;
}

/// sum += a b, as numbers of `size` words whose highest bit is their sign; b is not the shorter.
inline void add_product(Word* sum, int size, const Word* a, int na, const Word* b, int nb) {
  for (int i = 0; i < na; ++i) {
    const Word factor = a[i];
    Word carry = 0;
    int at = i;
    for (int j = 0; j < nb; ++j, ++at) {
      const WideWord total = static_cast<WideWord>(factor) * b[j] + sum[at] + carry;
      sum[at] = static_cast<Word>(total);
      carry = static_cast<Word>(total >> 64);
    }
    for (; carry != 0 && at < size; ++at) {
      sum[at] += carry;
      carry = sum[at] < carry ? 1 : 0;
    }
  }
}

/// sum -= a b, likewise.
inline void subtract_product(Word* sum, int size, const Word* a, int na, const Word* b, int nb) {
  for (int i = 0; i < na; ++i) {
    const Word factor = a[i];
    Word carry = 0;
    int at = i;
    for (int j = 0; j < nb; ++j, ++at) {
      const WideWord total = static_cast<WideWord>(factor) * b[j] + carry;
      const Word low = static_cast<Word>(total), before = sum[at];
      sum[at] = before - low;
      carry = static_cast<Word>(total >> 64) + (before < low ? 1 : 0);
    }
    for (; carry != 0 && at < size; ++at) {
      const Word before = sum[at];
      sum[at] = before - carry;
      carry = before < carry ? 1 : 0;
    }
  }
}

/// Magnitude in place of a number whose highest bit is its sign; whether it was negative.
inline bool take_sign(Word* x, int size) {
  if (size == 0 || (x[size - 1] >> 63) == 0) return false;
  Word carry = 1;
  for (int i = 0; i < size; ++i) {
    x[i] = ~x[i] + carry;
    carry = carry != 0 && x[i] == 0 ? 1 : 0;
  }
  return true;
}

struct Natural {
  int size = 0;  ///< without leading zeros
  Word word[kMost];

  Natural() = default;
  Natural(const Word* x, int words) : size(trimmed(x, words)) {
    for (int i = 0; i < size; ++i) word[i] = x[i];
  }
  Natural(const Natural& other) : Natural(other.word, other.size) {}
  Natural& operator=(const Natural& other) {
    if (this == &other) return *this;
    size = other.size;
    for (int i = 0; i < size; ++i) word[i] = other.word[i];
    return *this;
  }

  [[nodiscard]] bool is_one() const { return size == 1 && word[0] == 1; }
  [[nodiscard]] bool operator<(const Natural& other) const {
    if (size != other.size) return size < other.size;
    for (int i = size - 1; i >= 0; --i) {
      if (word[i] != other.word[i]) return word[i] < other.word[i];
    }
    return false;
  }
  void trim() { size = trimmed(word, size); }
  void shift_up(int bits) {  // below 64, room for it
    if (bits == 0 || size == 0) return;
    Word carry = 0;
    for (int i = 0; i < size; ++i) {
      const Word next = word[i] >> (64 - bits);
      word[i] = word[i] << bits | carry;
      carry = next;
    }
    if (carry != 0) word[size++] = carry;
  }
  void shift_down(int whole, int bits) {
    for (int i = 0; i + whole < size; ++i) {
      const Word next = i + whole + 1 < size ? word[i + whole + 1] : 0;
      word[i] = bits == 0 ? word[i + whole] : word[i + whole] >> bits | next << (64 - bits);
    }
    size -= whole;
    trim();
  }
  /// The 64 bits from where a number of `words` with so many leading zeros begins.
  [[nodiscard]] Word leading(int words, int zeros) const {
    const Word high = words <= size ? word[words - 1] : 0;
    const Word next = words > 1 && words - 1 <= size ? word[words - 2] : 0;
    return zeros == 0 ? high : high << zeros | next >> (64 - zeros);
  }
  [[nodiscard]] Word remainder(Word divisor) const {
    WideWord rest = 0;
    for (int i = size - 1; i >= 0; --i) rest = (rest << 64 | word[i]) % divisor;
    return static_cast<Word>(rest);
  }
};

/// x modulo divisor, of two words at least (Knuth, The Art of Computer Programming 2, 4.3.1, D); of
/// a size below kMost.
inline void reduce(Natural& x, const Natural& by) {
  const int n = by.size;
  if (n < 2 || x < by) return;
  const int zeros = __builtin_clzll(by.word[n - 1]);
  Natural divisor = by;
  divisor.shift_up(zeros);
  const int before = x.size;
  x.shift_up(zeros);
  if (x.size == before) x.word[x.size++] = 0;
  const Word high = divisor.word[n - 1], second = divisor.word[n - 2];
  for (int at = x.size - n - 1; at >= 0; --at) {
    const WideWord top = static_cast<WideWord>(x.word[at + n]) << 64 | x.word[at + n - 1];
    WideWord digit = x.word[at + n] >= high ? ~Word{0} : top / high;
    WideWord rest = top - digit * high;
    while ((rest >> 64) == 0 && digit * second > (rest << 64 | x.word[at + n - 2])) {
      --digit;
      rest += high;
    }
    const Word q = static_cast<Word>(digit);
    subtract_product(x.word + at, n + 1, &q, 1, divisor.word, n);
    if ((x.word[at + n] >> 63) != 0) {  // one too many
      Word carry = 0;
      for (int i = 0; i < n; ++i) {
        const WideWord total = static_cast<WideWord>(x.word[at + i]) + divisor.word[i] + carry;
        x.word[at + i] = static_cast<Word>(total);
        carry = static_cast<Word>(total >> 64);
      }
      x.word[at + n] += carry;
    }
  }
  x.size = n;
  x.trim();
  x.shift_down(0, zeros);
}

/// For b <= a: both become what Euclid's algorithm makes of them by the steps that the leading 64
/// bits are sure of, by Collins' condition; false where there is none.
inline bool lehmer_step(Natural& a, Natural& b) {
  const int zeros = __builtin_clzll(a.word[a.size - 1]);
  Word x = a.leading(a.size, zeros), y = b.leading(a.size, zeros);
  Word u0 = 0, u1 = 1, u2 = 0, v0 = 0, v1 = 0, v2 = 1;
  bool even = false;
  while (y >= v2 && x - y >= v1 + v2) {
    const Word q = x / y;
    x = std::exchange(y, x - q * y);
    u0 = std::exchange(u1, std::exchange(u2, u1 + q * u2));
    v0 = std::exchange(v1, std::exchange(v2, v1 + q * v2));
    even = !even;
  }
  if (v0 == 0) return false;
  const auto signs = [even](Word magnitude) {
    return even ? static_cast<Wide>(magnitude) : -static_cast<Wide>(magnitude);
  };
  const auto p = static_cast<std::int64_t>(signs(u0)), q = static_cast<std::int64_t>(-signs(v0));
  const auto r = static_cast<std::int64_t>(-signs(u1)), s = static_cast<std::int64_t>(signs(v1));
  Wide first = 0, second = 0;
  for (int i = 0; i < a.size; ++i) {
    const Wide own = a.word[i], other = i < b.size ? b.word[i] : 0;
    first += p * own + q * other;
    second += r * own + s * other;
    a.word[i] = static_cast<Word>(first);
    b.word[i] = static_cast<Word>(second);
    first >>= 64;
    second >>= 64;
  }
  b.size = a.size;
  a.trim();
  b.trim();
  return true;
}

/// The greatest common divisor by Lehmer's algorithm; both are destroyed, and it is in one of them.
inline Natural& common_divisor(Natural& x, Natural& y) {
  Natural *a = &x, *b = &y;
  if (*a < *b) std::swap(a, b);
  while (b->size > 1) {
    if (!lehmer_step(*a, *b)) reduce(*a, *b);
    if (*a < *b) std::swap(a, b);
  }
  if (b->size == 0) return *a;
  b->word[0] = std::gcd(a->remainder(b->word[0]), b->word[0]);
  return *b;
}

/// Divides numbers that it divides without rest, from their lowest words on (Jebelean 1993).
class Divisor {
 public:
  explicit Divisor(const Natural& divisor) : odd_(divisor) {
    while (divisor.word[whole_] == 0) ++whole_;
    bits_ = __builtin_ctzll(divisor.word[whole_]);
    odd_.shift_down(whole_, bits_);
    const Word low = odd_.word[0];
    inverse_ = low * 3 ^ 2;  // of five bits, doubled by each step
    for (int step = 0; step < 4; ++step) inverse_ *= 2 - low * inverse_;
  }

  void divide(Natural& x) const {
    if (x.size == 0) return;
    x.shift_down(whole_, bits_);
    const int length = x.size - odd_.size + 1;
    for (int i = 0; i < length; ++i) {
      const Word q = x.word[i] * inverse_;
      const int rest = length - i;
      subtract_product(x.word + i, rest, &q, 1, odd_.word, rest < odd_.size ? rest : odd_.size);
      x.word[i] = q;
    }
    x.size = length;
    x.trim();
  }

 private:
  Natural odd_;
  int whole_ = 0, bits_ = 0;
  Word inverse_ = 0;
};

/// Divides `count` numbers, not all zero, by their greatest common divisor.
inline void make_primitive(Natural* x, int count) {
  int least = -1, second = -1;
  for (int k = 0; k < count; ++k) {
    if (x[k].size == 0) continue;
    if (x[k].is_one()) return;
    if (least < 0 || x[k].size < x[least].size) {
      second = std::exchange(least, k);
    } else if (second < 0 || x[k].size < x[second].size) {
      second = k;
    }
  }
  if (least < 0) return;
  Natural a = x[least], b;
  Natural* divisor = &a;
  if (second >= 0) {
    b = x[second];
    divisor = &common_divisor(a, b);
  }
  for (int k = 0; k < count && !divisor->is_one(); ++k) {
    if (k == least || k == second || x[k].size == 0) continue;
    Natural& other = divisor == &a ? b : a;
    if (divisor->size == 1) {
      divisor->word[0] = std::gcd(x[k].remainder(divisor->word[0]), divisor->word[0]);
      continue;
    }
    other = x[k];
    reduce(other, *divisor);
    divisor = &common_divisor(*divisor, other);
  }
  if (divisor->is_one()) return;
  const Divisor by(*divisor);
  for (int k = 0; k < count; ++k) by.divide(x[k]);
}
#endif

}  // namespace carom::enclosure::limbs
