#include "impact/enclosure/double_description.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "impact/enclosure/common_divisor.hpp"

namespace carom::enclosure {

namespace {

/// Which rows a ray lies on.
class Incidence {
 public:
  explicit Incidence(std::size_t rows) : words_((rows + 63) / 64) {}
  void set(std::size_t row) { words_[row / 64] |= std::uint64_t{1} << (row % 64); }
  [[nodiscard]] Incidence common(const Incidence& other) const {
    Incidence both = *this;
    for (std::size_t i = 0; i < words_.size(); ++i) both.words_[i] &= other.words_[i];
    return both;
  }
  [[nodiscard]] bool holds(const Incidence& part) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if ((part.words_[i] & ~words_[i]) != 0) return false;
    }
    return true;
  }
  [[nodiscard]] std::size_t count() const {
    std::size_t sum = 0;
    for (const std::uint64_t word : words_) {
      sum += static_cast<std::size_t>(__builtin_popcountll(word));
    }
    return sum;
  }

 private:
  std::vector<std::uint64_t> words_;
};

struct Ray {
  Vector vector;
  Incidence on;
  Integer value;  // of the row in hand
};

/// a x - b y, primitive.
Vector combined(const Integer& a, const Vector& x, const Integer& b, const Vector& y) {
  Vector v(x.size());
  Integer second;
  for (std::size_t i = 0; i < x.size(); ++i) {
    multiply(v[i], a, x[i]);
    multiply(second, b, y[i]);
    v[i] -= second;
  }
  make_primitive(v);
  return v;
}

class Cone {
 public:
  Cone(std::size_t n, std::size_t rows) : n_(n), rows_(rows) {
    for (std::size_t i = 0; i < n; ++i) {
      lines_.emplace_back(n);
      lines_.back()[i] = 1;
    }
  }

  void add(const Vector& row, bool equation) {
    const std::size_t index = added_++;
    if (cut_line(row, equation, index)) return;
    std::vector<std::size_t> above, below;
    std::vector<Ray> kept;
    for (std::size_t i = 0; i < rays_.size(); ++i) {
      Ray& ray = rays_[i];
      ray.value = dot(row, ray.vector);
      if (ray.value > 0) above.push_back(i);
      if (ray.value < 0) below.push_back(i);
    }
    if (below.empty() && (!equation || above.empty())) {
      for (Ray& ray : rays_) {
        if (ray.value == 0) ray.on.set(index);
      }
      return;
    }
    for (const std::size_t p : above) {
      for (const std::size_t q : below) {
        Incidence both = rays_[p].on.common(rays_[q].on);
        if (!adjacent(p, q, both)) continue;
        both.set(index);
        kept.push_back({combined(rays_[p].value, rays_[q].vector, rays_[q].value, rays_[p].vector),
                        std::move(both), Integer(0)});
      }
    }
    for (Ray& ray : rays_) {
      if (ray.value < 0 || (equation && ray.value > 0)) continue;
      if (ray.value == 0) ray.on.set(index);
      kept.push_back(std::move(ray));
    }
    rays_ = std::move(kept);
  }

  Generators take() {
    Generators result;
    result.lines = std::move(lines_);
    for (Ray& ray : rays_) result.rays.push_back(std::move(ray.vector));
    return result;
  }

 private:
  /// Where a line leaves the row's plane, everything else is moved along it into the plane.
  bool cut_line(const Vector& row, bool equation, std::size_t index) {
    std::size_t chosen = lines_.size();
    std::vector<Integer> values;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      values.push_back(dot(row, lines_[i]));
      if (chosen == lines_.size() && values[i] != 0) chosen = i;
    }
    if (chosen == lines_.size()) return false;
    Vector line = std::move(lines_[chosen]);
    Integer rise = values[chosen];
    if (rise < 0) {
      rise = -rise;
      for (Integer& x : line) x = -x;
    }
    lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(chosen));
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(chosen));
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (values[i] != 0) lines_[i] = combined(rise, lines_[i], values[i], line);
    }
    for (Ray& ray : rays_) {
      const Integer value = dot(row, ray.vector);
      if (value != 0) ray.vector = combined(rise, ray.vector, value, line);
      ray.on.set(index);
    }
    if (!equation) {
      Incidence on(rows_);
      for (std::size_t i = 0; i < index; ++i) on.set(i);
      make_primitive(line);
      rays_.push_back({std::move(line), std::move(on), Integer(0)});
    }
    return true;
  }

  /// Two rays span a face of dimension 2 where no third lies on all rows that they share.
  [[nodiscard]] bool adjacent(std::size_t p, std::size_t q, const Incidence& both) const {
    if (both.count() + 2 + lines_.size() < n_) return false;
    for (std::size_t i = 0; i < rays_.size(); ++i) {
      if (i != p && i != q && rays_[i].on.holds(both)) return false;
    }
    return true;
  }

  std::size_t n_, rows_, added_ = 0;
  std::vector<Vector> lines_;
  std::vector<Ray> rays_;
};

double shortened(const Integer& value, int& exponent) {
  exponent = 0;
  if (value == 0) return 0.0;
  Integer size = value < 0 ? Integer(-value) : value;
  const auto bits = static_cast<int>(msb(size));
  if (bits > 62) {
    exponent = bits - 62;
    size >>= static_cast<unsigned>(exponent);
  }
  const double magnitude = static_cast<double>(static_cast<std::uint64_t>(size));
  return value < 0 ? -magnitude : magnitude;
}

}  // namespace

Integer dot(const Vector& a, const Vector& b) {
  Integer sum = 0, product;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].is_zero() || b[i].is_zero()) continue;
    multiply(product, a[i], b[i]);
    sum += product;
  }
  return sum;
}

void make_primitive(Vector& v) {
  Integer divisor = 0;
  for (const Integer& x : v) {
    if (x == 0) continue;
    divisor = divisor == 0 ? Integer(abs(x)) : common_divisor(divisor, x);
    if (divisor == 1) return;
  }
  if (divisor == 0) return;
  for (Integer& x : v) divide_exactly(x, divisor);
}

double quotient(const Integer& a, const Integer& b) {
  int up = 0, down = 0;
  const double numerator = shortened(a, up), denominator = shortened(b, down);
  return std::ldexp(numerator / denominator, up - down);
}

Generators generators(std::size_t n, std::span<const Vector> equations,
                      std::span<const Vector> rows) {
  Cone cone(n, equations.size() + rows.size());
  for (const Vector& equation : equations) cone.add(equation, true);
  for (const Vector& row : rows) cone.add(row, false);
  return cone.take();
}

}  // namespace carom::enclosure
