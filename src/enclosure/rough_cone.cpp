#include "enclosure/rough_cone.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>

#include "enclosure/sums.hpp"

namespace carom::enclosure {

namespace {

constexpr std::size_t kMostRays =
    512;  // times the words of a set of rows: beyond, it takes too long
constexpr std::size_t kManyWords = 4;

/// N: numbers that are not 0 by themselves.
template <std::size_t N>
void scale(Tuple& v) {
  double most = 0.0;
  for (std::size_t i = 0; i < N; ++i) most = std::max(most, std::abs(v[i]));
  if (most == 0.0) return;
  for (std::size_t i = 0; i < N; ++i) v[i] /= most;
}

/// a x - b y, scaled; what cancels is zero.
template <std::size_t N>
Tuple combined(double a, const Tuple& x, double b, const Tuple& y) {
  constexpr double kCancels = 1e-14;
  Tuple v{};
  for (std::size_t i = 0; i < N; ++i) {
    const double first = a * x[i], second = b * y[i];
    v[i] = first - second;
    if (std::abs(v[i]) <= kCancels * (std::abs(first) + std::abs(second))) v[i] = 0.0;
  }
  scale<N>(v);
  return v;
}

/// A set of up to 64 `Words` rows.
template <std::size_t Words>
struct RowSet {
  std::array<std::uint64_t, Words> words{};

  void set(std::size_t row) { words[row / 64] |= std::uint64_t{1} << (row % 64); }
  void set_below(std::size_t end) {
    for (std::size_t row = 0; row < end; ++row) set(row);
  }
  [[nodiscard]] bool has(std::size_t row) const { return (words[row / 64] >> (row % 64) & 1) != 0; }
  [[nodiscard]] bool holds(const RowSet& part) const {
    for (std::size_t i = 0; i < Words; ++i) {
      if ((part.words[i] & ~words[i]) != 0) return false;
    }
    return true;
  }
  [[nodiscard]] RowSet common(const RowSet& other) const {
    RowSet both;
    for (std::size_t i = 0; i < Words; ++i) both.words[i] = words[i] & other.words[i];
    return both;
  }
  [[nodiscard]] std::size_t count() const {
    std::size_t sum = 0;
    for (const std::uint64_t word : words) sum += static_cast<std::size_t>(std::popcount(word));
    return sum;
  }
};

template <std::size_t N, std::size_t Words>
class RoughCone {
  using Rows = RowSet<Words>;
  static constexpr std::size_t kMostRows = 64 * Words;
  struct Ray {
    Tuple vector;
    Rows on;  // rows that it lies on
    double value = 0.0;
  };

 public:
  explicit RoughCone(std::size_t n) : n_(n) {
    for (std::size_t i = 0; i < n; ++i) {
      lines_.push_back({});
      lines_.back()[i] = 1.0;
    }
  }

  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] const Tuples& lines() const { return lines_; }
  [[nodiscard]] Tuples rays() const {
    Tuples result;
    result.reserve(rays_.size());
    for (const Ray& ray : rays_) result.push_back(ray.vector);
    return result;
  }

  void add(const Tuple& row, bool equation) {
    if (!known_ || added_ == kMostRows || rays_.size() > kMostRays * Words) {
      known_ = false;
      return;
    }
    const std::size_t index = added_++;
    if (cut_line(row, equation, index)) return;
    above_.clear();
    below_.clear();
    for (std::size_t i = 0; i < rays_.size(); ++i) {
      Ray& ray = rays_[i];
      ray.value = product(row, ray.vector);
      if (ray.value > 0.0) above_.push_back(i);
      if (ray.value < 0.0) below_.push_back(i);
    }
    kept_.clear();
    for (const std::size_t p : above_) {
      for (const std::size_t q : below_) {
        Rows both = rays_[p].on.common(rays_[q].on);
        if (!adjacent(p, q, both)) continue;
        both.set(index);
        kept_.push_back(
            {combined<N>(rays_[p].value, rays_[q].vector, rays_[q].value, rays_[p].vector), both});
      }
    }
    for (Ray& ray : rays_) {
      if (ray.value < 0.0 || (equation && ray.value > 0.0)) continue;
      if (ray.value == 0.0) ray.on.set(index);
      kept_.push_back(ray);
    }
    rays_.swap(kept_);
  }

  /// The cone that the rows so far generate, as Cone::dual.
  [[nodiscard]] std::optional<RoughCone> dual(std::span<const Tuple> rows) const {
    const std::size_t lines = lines_.size();
    RoughCone other(n_);
    other.lines_.clear();
    other.added_ = lines + rays_.size();
    if (!known_ || other.added_ > kMostRows) return std::nullopt;
    for (std::size_t g = 0; g < rows.size(); ++g) {
      Ray ray{rows[g], {}};
      ray.on.set_below(lines);
      std::size_t tight = 0;
      for (std::size_t k = 0; k < rays_.size(); ++k) {
        if (!rays_[k].on.has(g)) continue;
        ray.on.set(lines + k);
        ++tight;
      }
      if (tight == rays_.size()) return std::nullopt;
      scale<N>(ray.vector);
      const auto covers = [&](const Ray& kept) { return kept.on.holds(ray.on); };
      if (std::any_of(other.rays_.begin(), other.rays_.end(), covers)) continue;
      std::erase_if(other.rays_, [&](const Ray& kept) { return ray.on.holds(kept.on); });
      other.rays_.push_back(ray);
    }
    return other;
  }

 private:
  [[nodiscard]] static double product(const Tuple& a, const Tuple& b) {
    const double sum = dot(a, b, N <= kFewNumbers);
    return std::abs(sum) <= kRoughZero ? 0.0 : sum;
  }

  bool cut_line(const Tuple& row, bool equation, std::size_t index) {
    std::size_t chosen = lines_.size();
    double rise = 0.0;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const double value = product(row, lines_[i]);
      if (std::abs(value) > std::abs(rise)) rise = value, chosen = i;
    }
    if (chosen == lines_.size()) return false;
    Tuple line = lines_[chosen];
    if (rise < 0.0) {
      rise = -rise;
      for (double& x : line) x = -x;
    }
    lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(chosen));
    for (Tuple& other : lines_) {
      const double value = product(row, other);
      if (value != 0.0) other = combined<N>(rise, other, value, line);
    }
    for (Ray& ray : rays_) {
      const double value = product(row, ray.vector);
      if (value != 0.0) ray.vector = combined<N>(rise, ray.vector, value, line);
      ray.on.set(index);
    }
    if (!equation) {
      scale<N>(line);
      Ray ray{line, {}};
      ray.on.set_below(index);
      rays_.push_back(ray);
    }
    return true;
  }

  [[nodiscard]] bool adjacent(std::size_t p, std::size_t q, const Rows& both) const {
    if (both.count() + 2 + lines_.size() < n_) return false;
    for (std::size_t i = 0; i < rays_.size(); ++i) {
      if (i != p && i != q && rays_[i].on.holds(both)) return false;
    }
    return true;
  }

  std::size_t n_, added_ = 0;
  bool known_ = true;
  Tuples lines_;
  std::vector<Ray> rays_, kept_;
  std::vector<std::size_t> above_, below_;
};

/// Rays as points, whose first number is 1, and directions, for which it is 0.
void make_points(Tuples& rays) {
  constexpr double kDirection = 1e-9;
  for (Tuple& v : rays) {
    if (v[0] <= kDirection) {
      v[0] = 0.0;
      continue;
    }
    const double first = v[0];
    for (double& x : v) x /= first;
  }
}

template <std::size_t N, std::size_t Words>
Tuples rays_of(std::size_t n, std::span<const Tuple> equations, std::span<const Tuple> rows) {
  RoughCone<N, Words> cone(n);
  for (const Tuple& equation : equations) cone.add(equation, true);
  for (const Tuple& row : rows) cone.add(row, false);
  if (!cone.known()) return {};
  Tuples rays = cone.rays();
  make_points(rays);
  return rays;
}

template <std::size_t N, std::size_t Words>
RoughHull hull_of(std::size_t n, std::span<const Tuple> points, std::span<const Tuple> sides) {
  RoughHull result;
  RoughCone<N, Words> cone(n);
  for (const Tuple& point : points) cone.add(point, false);
  if (!cone.known()) return result;
  result.equations = cone.lines();
  result.rows = cone.rays();
  if (std::optional<RoughCone<N, Words>> cut = cone.dual(points)) {
    for (const Tuple& side : sides) cut->add(side, false);
    result.known = cut->known();
    result.cut = cut->rays();
    make_points(result.cut);
    return result;
  }
  Tuples rows(sides.begin(), sides.end());
  rows.insert(rows.end(), result.rows.begin(), result.rows.end());
  result.cut = rays_of<N, Words>(n, result.equations, rows);
  result.known = !result.cut.empty();
  return result;
}

}  // namespace

Tuple rough(const Vector& v) {
  Tuple result{};
  const Rough own(v);
  double unit = own[0];
  for (std::size_t i = 1; i < v.size() && own[0] == 0.0; ++i) {
    unit = std::max(unit, std::abs(own[i]));
  }
  for (std::size_t i = 0; i < v.size() && unit > 0.0; ++i) result[i] = own[i] / unit;
  return result;
}

Tuples rough(const std::vector<Vector>& vectors) {
  Tuples result;
  result.reserve(vectors.size());
  for (const Vector& v : vectors) result.push_back(rough(v));
  return result;
}

Tuple crossing(const Tuple& row, const Tuple& p, const Tuple& q, bool few) {
  const double a = std::abs(dot(row, p, few)), b = std::abs(dot(row, q, few));
  Tuple v;
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = (b * p[i] + a * q[i]) / (a + b);
  return v;
}

Tuples rough_rays(std::size_t n, std::span<const Tuple> equations, std::span<const Tuple> rows,
                  bool many) {
  const auto with = [&]<std::size_t Words>() {
    return n <= kFewNumbers ? rays_of<kFewNumbers, Words>(n, equations, rows)
                            : rays_of<kMostNumbersOfTuple, Words>(n, equations, rows);
  };
  Tuples rays = with.template operator()<1>();
  return rays.empty() && many ? with.template operator()<kManyWords>() : rays;
}

RoughHull rough_hull(std::size_t n, std::span<const Tuple> points, std::span<const Tuple> sides,
                     bool many) {
  const auto with = [&]<std::size_t Words>() {
    return n <= kFewNumbers ? hull_of<kFewNumbers, Words>(n, points, sides)
                            : hull_of<kMostNumbersOfTuple, Words>(n, points, sides);
  };
  RoughHull hull = with.template operator()<1>();
  return !hull.known && many ? with.template operator()<kManyWords>() : hull;
}

}  // namespace carom::enclosure
