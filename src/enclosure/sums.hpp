#pragma once

#include <utility>

#include "enclosure/integer.hpp"

namespace carom::enclosure {

/// a x - b y where all its numbers have that many words at most; primitive otherwise. Whether it
/// was made primitive.
bool combine(const Integer& a, const Vector& x, const Integer& b, const Vector& y, int words,
             Vector& result);

/// Where the line between two points of different signs in a row has none.
Vector crossing(const Vector& row, const Vector& p, const Vector& q);

/// A vector in doubles, up to a power of two, that tells most signs of products.
class Rough {
 public:
  explicit Rough(const Vector& v);

  /// Sign of the product of two vectors where rounding cannot change it; else 0.
  static int sign(const Rough& a, const Rough& b);
  /// A number of the vector, in a unit that all of them share.
  [[nodiscard]] double operator[](std::size_t i) const { return value_[i]; }

 private:
  static constexpr std::size_t kMost = 16;   ///< longer vectors tell nothing
  static constexpr double kError = 0x1p-48;  ///< of a sum's terms
  static constexpr double kTiny = 0x1p-700;  ///< what numbers may be that count as zero

  int size_ = 0;
  double value_[kMost];
};

/// A vector with what doubles know of it.
struct Measured {
  Vector exact;
  Rough rough;

  explicit Measured(Vector v) : exact(std::move(v)), rough(exact) {}
};

/// Sign of a.b, exactly.
int sign_of_dot(const Vector& a, const Vector& b);
int sign_of_dot(const Vector& a, const Rough& rough_a, const Vector& b, const Rough& rough_b);
inline int sign_of_dot(const Measured& a, const Measured& b) {
  return sign_of_dot(a.exact, a.rough, b.exact, b.rough);
}

}  // namespace carom::enclosure
