#include "impact/enclosure/double_description.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "impact/enclosure/sums.hpp"

namespace carom::enclosure {

namespace {

/// Which rows a ray lies on.
class Incidence {
 public:
  explicit Incidence(std::size_t rows) : words_((rows + 63) / 64) {}
  void set(std::size_t row) { words_[row / 64] |= std::uint64_t{1} << (row % 64); }
  [[nodiscard]] bool has(std::size_t row) const {
    return (words_[row / 64] >> (row % 64) & 1) != 0;
  }
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
  Rough rough;
  int sign = 0;  // of the value of the row in hand

  Ray(Vector v, Incidence rows) : vector(std::move(v)), on(std::move(rows)), rough(vector) {}
};

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
    const Rough rough(row);
    for (std::size_t i = 0; i < rays_.size(); ++i) {
      Ray& ray = rays_[i];
      ray.sign = sign_of_dot(row, rough, ray.vector, ray.rough);
      if (ray.sign > 0) above.push_back(i);
      if (ray.sign < 0) below.push_back(i);
    }
    if (below.empty() && (!equation || above.empty())) {
      for (Ray& ray : rays_) {
        if (ray.sign == 0) ray.on.set(index);
      }
      return;
    }
    std::vector<Ray> kept;
    std::vector<Integer> value(rays_.size());
    for (const std::size_t p : above) {
      for (const std::size_t q : below) {
        Incidence both = rays_[p].on.common(rays_[q].on);
        if (!adjacent(p, q, both)) continue;
        both.set(index);
        for (const std::size_t i : {p, q}) {
          if (value[i].is_zero()) value[i] = dot(row, rays_[i].vector);
        }
        kept.emplace_back(combined(value[p], rays_[q].vector, value[q], rays_[p].vector),
                          std::move(both));
      }
    }
    for (Ray& ray : rays_) {
      if (ray.sign < 0 || (equation && ray.sign > 0)) continue;
      if (ray.sign == 0) ray.on.set(index);
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

  /// The cone that the rows added so far generate, in this cone's lines and rays, room for so many
  /// more rows: its rays are those of the rows that no other one has all incidences of. None where
  /// it holds a line.
  [[nodiscard]] std::optional<Cone> dual(std::span<const Vector> rows, std::size_t more) const {
    const std::size_t known = lines_.size() + rays_.size();
    Cone other(n_, known + more, known);
    for (std::size_t g = 0; g < rows.size(); ++g) {
      Ray ray(rows[g], Incidence(known + more));
      for (std::size_t k = 0; k < lines_.size(); ++k) ray.on.set(k);
      std::size_t tight = 0;
      for (std::size_t k = 0; k < rays_.size(); ++k) {
        if (!rays_[k].on.has(g)) continue;
        ray.on.set(lines_.size() + k);
        ++tight;
      }
      if (tight == rays_.size()) return std::nullopt;
      const auto covers = [&](const Ray& kept) { return kept.on.holds(ray.on); };
      if (std::any_of(other.rays_.begin(), other.rays_.end(), covers)) continue;
      std::erase_if(other.rays_, [&](const Ray& kept) { return ray.on.holds(kept.on); });
      other.rays_.push_back(std::move(ray));
    }
    return other;
  }

 private:
  Cone(std::size_t n, std::size_t rows, std::size_t added) : n_(n), rows_(rows), added_(added) {}

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
      if (value != 0) {
        ray.vector = combined(rise, ray.vector, value, line);
        ray.rough = Rough(ray.vector);
      }
      ray.on.set(index);
    }
    if (!equation) {
      Incidence on(rows_);
      for (std::size_t i = 0; i < index; ++i) on.set(i);
      make_primitive(line);
      rays_.emplace_back(std::move(line), std::move(on));
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

Hull hull(std::size_t n, std::span<const Vector> points, std::span<const Vector> sides) {
  Cone cone(n, points.size());
  for (const Vector& point : points) cone.add(point, false);
  std::optional<Cone> cut = cone.dual(points, sides.size());
  Generators dual = cone.take();
  Hull result{std::move(dual.lines), std::move(dual.rays), {}};
  if (cut) {
    for (const Vector& side : sides) cut->add(side, false);
    result.cut = cut->take().rays;
  } else {
    std::vector<Vector> rows(sides.begin(), sides.end());
    rows.insert(rows.end(), result.rows.begin(), result.rows.end());
    result.cut = generators(n, result.equations, rows).rays;
  }
  return result;
}

}  // namespace carom::enclosure
