#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "enclosure/sums.hpp"

/// The double description of one cone, which rows are added to.
namespace carom::enclosure {

/// Which rows a ray lies on.
class Incidence {
 public:
  void set(std::size_t row) {
    if (row < 64) {
      first_ |= std::uint64_t{1} << row;
      return;
    }
    if (row / 64 > more_.size()) more_.resize(row / 64);
    more_[row / 64 - 1] |= std::uint64_t{1} << (row % 64);
  }
  [[nodiscard]] bool has(std::size_t row) const {
    if (row < 64) return (first_ >> row & 1) != 0;
    return row / 64 <= more_.size() && (more_[row / 64 - 1] >> (row % 64) & 1) != 0;
  }
  [[nodiscard]] Incidence common(const Incidence& other) const {
    Incidence both;
    both.first_ = first_ & other.first_;
    both.more_.resize(std::min(more_.size(), other.more_.size()));
    for (std::size_t i = 0; i < both.more_.size(); ++i) both.more_[i] = more_[i] & other.more_[i];
    return both;
  }
  [[nodiscard]] bool holds(const Incidence& part) const {
    if ((part.first_ & ~first_) != 0) return false;
    for (std::size_t i = 0; i < part.more_.size(); ++i) {
      if ((part.more_[i] & ~(i < more_.size() ? more_[i] : 0)) != 0) return false;
    }
    return true;
  }
  [[nodiscard]] std::size_t count() const {
    auto sum = static_cast<std::size_t>(__builtin_popcountll(first_));
    for (const std::uint64_t word : more_) {
      sum += static_cast<std::size_t>(__builtin_popcountll(word));
    }
    return sum;
  }

 private:
  std::uint64_t first_ = 0;  // of rows below 64, without memory of its own
  std::vector<std::uint64_t> more_;
};

/// Words of numbers that are not made primitive before they are asked for: most vectors are made
/// anew before that, and a divisor of several products takes no longer than that of one, as what
/// counts is what is left of a number.
inline constexpr int kShort = 8;

/// A ray of the cone's own.
struct Made : Measured {
  bool primitive;

  Made(Vector v, bool is_primitive) : Measured(std::move(v)), primitive(is_primitive) {}
  Vector take() {
    if (!primitive) make_primitive(exact);
    return std::move(exact);
  }
};

struct Ray {
  const Measured* vector;
  Incidence on;
  Made* own = nullptr;  // the same, where the cone made it
  int sign = 0;         // of the value of the row in hand
};

class Cone {
 public:
  explicit Cone(std::size_t n) : n_(n) {
    for (std::size_t i = 0; i < n; ++i) {
      lines_.emplace_back(n);
      lines_.back()[i] = 1;
    }
  }
  /// A copy has rays of the other one, which must outlive it.
  Cone(const Cone& other)
      : n_(other.n_), added_(other.added_), lines_(other.lines_), rays_(other.rays_) {
    for (Ray& ray : rays_) ray.own = nullptr;
  }
  Cone& operator=(const Cone&) = delete;
  Cone(Cone&&) = default;
  Cone& operator=(Cone&&) = delete;
  ~Cone() = default;

  void add(const Measured& row, bool equation) {
    const std::size_t index = added_++;
    if (cut_line(row.exact, equation, index)) return;
    above_.clear();
    below_.clear();
    for (std::size_t i = 0; i < rays_.size(); ++i) {
      Ray& ray = rays_[i];
      ray.sign = sign_of_dot(row, *ray.vector);
      if (ray.sign > 0) above_.push_back(i);
      if (ray.sign < 0) below_.push_back(i);
    }
    if (below_.empty() && (!equation || above_.empty())) {
      for (Ray& ray : rays_) {
        if (ray.sign == 0) ray.on.set(index);
      }
      return;
    }
    std::vector<Ray> kept;
    std::vector<Integer> value(rays_.size());
    for (const std::size_t p : above_) {
      for (const std::size_t q : below_) {
        Incidence both = rays_[p].on.common(rays_[q].on);
        if (!adjacent(p, q, both)) continue;
        both.set(index);
        for (const std::size_t i : {p, q}) {
          if (value[i].is_zero()) value[i] = dot(row.exact, rays_[i].vector->exact);
        }
        kept.push_back(combined(value[p], rays_[q].vector->exact, value[q], rays_[p].vector->exact,
                                std::move(both)));
      }
    }
    for (Ray& ray : rays_) {
      if (ray.sign < 0 || (equation && ray.sign > 0)) continue;
      if (ray.sign == 0) ray.on.set(index);
      kept.push_back(std::move(ray));
    }
    rays_ = std::move(kept);
  }

  std::vector<Vector> take_lines() {
    for (Vector& line : lines_) make_primitive(line);
    return std::move(lines_);
  }
  [[nodiscard]] const std::vector<Ray>& rays() const { return rays_; }
  /// The rays' vectors, primitive; those of another cone, or points, stay there.
  std::vector<Vector> take_rays() {
    std::vector<Vector> result;
    result.reserve(rays_.size());
    for (const Ray& ray : rays_) result.push_back(taken(ray));
    return result;
  }
  /// Before it is copied.
  void make_all_primitive() {
    for (Vector& line : lines_) make_primitive(line);
    for (Ray& ray : rays_) {
      if (ray.own == nullptr || ray.own->primitive) continue;
      own_.emplace_back(ray.own->take(), true);
      ray.vector = ray.own = &own_.back();
    }
  }
  /// Of a ray that the cone made itself.
  Vector taken(const Ray& ray) {
    if (ray.own == nullptr) return ray.vector->exact;
    return ray.own->take();
  }

  /// The cone that the rows added so far generate, in this cone's lines and rays: its rays are
  /// those of the rows that no other one has all incidences of. None where it holds a line.
  [[nodiscard]] std::optional<Cone> dual(std::span<const Measured* const> rows) const {
    std::optional<Cone> other(Cone(n_, lines_.size() + rays_.size(), {}));
    for (std::size_t g = 0; g < rows.size(); ++g) {
      Ray ray{rows[g], {}};
      for (std::size_t k = 0; k < lines_.size(); ++k) ray.on.set(k);
      std::size_t tight = 0;
      for (std::size_t k = 0; k < rays_.size(); ++k) {
        if (!rays_[k].on.has(g)) continue;
        ray.on.set(lines_.size() + k);
        ++tight;
      }
      if (tight == rays_.size()) return std::nullopt;
      const auto covers = [&](const Ray& kept) { return kept.on.holds(ray.on); };
      if (std::any_of(other->rays_.begin(), other->rays_.end(), covers)) continue;
      std::erase_if(other->rays_, [&](const Ray& kept) { return ray.on.holds(kept.on); });
      other->rays_.push_back(std::move(ray));
    }
    return other;
  }

 private:
  Cone(std::size_t n, std::size_t added, std::vector<Vector> lines)
      : n_(n), added_(added), lines_(std::move(lines)) {}

  Ray combined(const Integer& a, const Vector& x, const Integer& b, const Vector& y, Incidence on) {
    Vector v;
    const bool primitive = combine(a, x, b, y, kShort, v);
    own_.emplace_back(std::move(v), primitive);
    return {&own_.back(), std::move(on), &own_.back()};
  }

  /// Where a line leaves the row's plane, everything else is moved along it into the plane.
  bool cut_line(const Vector& row, bool equation, std::size_t index) {
    if (lines_.empty()) return false;
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
      if (values[i] == 0) continue;
      Vector moved;
      combine(rise, lines_[i], values[i], line, kShort, moved);
      lines_[i] = std::move(moved);
    }
    for (Ray& ray : rays_) {
      const Integer value = dot(row, ray.vector->exact);
      if (value != 0) {
        ray = combined(rise, ray.vector->exact, value, line, std::move(ray.on));
      }
      ray.on.set(index);
    }
    if (!equation) {
      Incidence on;
      for (std::size_t i = 0; i < index; ++i) on.set(i);
      own_.emplace_back(std::move(line), false);
      rays_.push_back({&own_.back(), std::move(on), &own_.back()});
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

  std::size_t n_, added_ = 0;
  std::vector<Vector> lines_;
  std::vector<Ray> rays_;
  std::deque<Made> own_;
  std::vector<std::size_t> above_, below_;
};

}  // namespace carom::enclosure
