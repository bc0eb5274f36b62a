#include "enclosure/sums.hpp"

#include <algorithm>
#include <cmath>

#include "enclosure/integer_limbs.hpp"

namespace carom::enclosure {

namespace {

#if defined(__SIZEOF_INT128__)
using limbs::Natural;
using limbs::Word;

/// sum of `size` words, whose highest bit is its sign, += a b, or -= where `negative`.
void add(Natural& sum, int size, const Integer& a, const Integer& b, bool negative) {
  int na = limbs::size_of(a), nb = limbs::size_of(b);
  const Word *x = limbs::words_of(a), *y = limbs::words_of(b);
  if (nb < na) std::swap(x, y), std::swap(na, nb);
  if (na == 1 && x[0] == 0) return;
  if ((a.backend().sign() != b.backend().sign()) == negative) {
    limbs::add_product(sum.word, size, x, na, y, nb);
  } else {
    limbs::subtract_product(sum.word, size, x, na, y, nb);
  }
}

/// Leaves the magnitude; whether it was negative.
bool take_sign(Natural& sum, int size) {
  const bool negative = limbs::take_sign(sum.word, size);
  sum.size = limbs::trimmed(sum.word, size);
  return negative;
}

int longest(const Vector& v) {  // in words
  int most = 1;
  for (const Integer& x : v) most = std::max(most, limbs::size_of(x));
  return most;
}

struct Dot {
  Natural magnitude;
  bool negative;
};
/// a.b where words of a fixed number hold it.
bool dot_in_words(const Vector& a, const Vector& b, Dot& dot) {
  const int na = longest(a), nb = longest(b);
  if (na > limbs::kFactor || nb > limbs::kFactor) return false;
  const int size = na + nb + 1;
  std::fill_n(dot.magnitude.word, size, Word{0});
  for (std::size_t i = 0; i < a.size(); ++i) add(dot.magnitude, size, a[i], b[i], false);
  dot.negative = take_sign(dot.magnitude, size);
  return true;
}
#endif

constexpr std::size_t kMostNumbers = 16;  // of a vector that is made without memory of its own

/// Its two leading words, rounded to some 2^-52 of them, times 2^(64 words) with `words` at most 0.
double leading_part(const Integer& x, int words) {
  constexpr double kWord = 0x1p64;
  const auto& limbs = x.backend();
  const auto size = static_cast<int>(limbs.size());
  double value = static_cast<double>(limbs.limbs()[size - 1]);
  if (size > 1) value += static_cast<double>(limbs.limbs()[size - 2]) / kWord;
  if (words < -14) return 0.0;
  for (int i = words; i < 0; ++i) value /= kWord;
  return limbs.sign() ? -value : value;
}

}  // namespace

Integer dot(const Vector& a, const Vector& b) {
#if defined(__SIZEOF_INT128__)
  if (Dot words; dot_in_words(a, b, words)) {
    Integer result;
    limbs::assign(result, words.magnitude, words.negative);
    return result;
  }
#endif
  Integer sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

bool combine(const Integer& a, const Vector& x, const Integer& b, const Vector& y, int words,
             Vector& result) {
  result.resize(x.size());
#if defined(__SIZEOF_INT128__)
  const int factor = std::max(limbs::size_of(a), limbs::size_of(b));
  const int other = std::max(longest(x), longest(y));
  if (factor <= limbs::kFactor && other <= limbs::kFactor && x.size() <= kMostNumbers) {
    Natural magnitude[kMostNumbers];
    bool negative[kMostNumbers];
    int most = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const int size = factor + std::max(limbs::size_of(x[i]), limbs::size_of(y[i])) + 1;
      Natural& sum = magnitude[i];
      std::fill_n(sum.word, size, Word{0});
      add(sum, size, a, x[i], false);
      add(sum, size, b, y[i], true);
      negative[i] = take_sign(sum, size);
      most = std::max(most, sum.size);
    }
    if (most > words) limbs::make_primitive(magnitude, static_cast<int>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) limbs::assign(result[i], magnitude[i], negative[i]);
    return most > words;
  }
#endif
  for (std::size_t i = 0; i < x.size(); ++i) result[i] = a * x[i] - b * y[i];
  make_primitive(result);
  return true;
}

Vector negative(const Vector& v) {
  Vector result(v.size());
  for (std::size_t i = 0; i < v.size(); ++i) result[i] = -v[i];
  return result;
}

void make_primitive(Vector& v) {
#if defined(__SIZEOF_INT128__)
  if (v.size() <= kMostNumbers && longest(v) <= limbs::kMost - 2) {
    Natural magnitude[kMostNumbers];
    for (std::size_t i = 0; i < v.size(); ++i) magnitude[i] = limbs::magnitude(v[i]);
    limbs::make_primitive(magnitude, static_cast<int>(v.size()));
    for (std::size_t i = 0; i < v.size(); ++i) {
      limbs::assign(v[i], magnitude[i], v[i].backend().sign());
    }
    return;
  }
#endif
  Integer divisor = 0;
  for (const Integer& x : v) divisor = gcd(divisor, x);
  if (divisor <= 1) return;
  for (Integer& x : v) x /= divisor;
}

Vector crossing(const Vector& row, const Vector& p, const Vector& q) {
  const Integer a = abs(dot(row, p)), b = abs(dot(row, q));
  Vector v(p.size());
  for (std::size_t k = 0; k < v.size(); ++k) v[k] = b * p[k] + a * q[k];
  make_primitive(v);
  return v;
}

Rough::Rough(const Vector& v) {
  if (v.size() > kMost) return;
  size_ = static_cast<int>(v.size());
  int most = 0;
  for (const Integer& x : v) most = std::max(most, static_cast<int>(x.backend().size()));
  for (int i = 0; i < size_; ++i) {
    const Integer& x = v[static_cast<std::size_t>(i)];
    value_[i] = leading_part(x, static_cast<int>(x.backend().size()) - most);
  }
}

int Rough::sign(const Rough& a, const Rough& b) {
  if (a.size_ == 0 || b.size_ == 0) return 0;
  // Products err by 2^-50 of themselves, sums by 2^-53 for each term; numbers a thousand bits
  // shorter than the longest by themselves, below one of its last bits.
  double sum = 0.0, size = 0.0;
  for (int i = 0; i < a.size_; ++i) {
    const double term = a.value_[i] * b.value_[i];
    sum += term;
    size += std::abs(term);
  }
  const double error = kError * size + kTiny;
  return sum > error ? 1 : (sum < -error ? -1 : 0);
}

int sign_of_dot(const Vector& a, const Vector& b) {
#if defined(__SIZEOF_INT128__)
  if (Dot words; dot_in_words(a, b, words)) {
    return words.negative ? -1 : (words.magnitude.size > 0 ? 1 : 0);
  }
#endif
  return dot(a, b).sign();
}

int sign_of_dot(const Vector& a, const Rough& rough_a, const Vector& b, const Rough& rough_b) {
  const int sign = Rough::sign(rough_a, rough_b);
  return sign != 0 ? sign : sign_of_dot(a, b);
}

}  // namespace carom::enclosure
