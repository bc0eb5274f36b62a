#include "enclosure/double_description.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "enclosure/cone.hpp"

namespace carom::enclosure {

namespace {

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
  Cone cone(n);
  for (const Vector& equation : equations) cone.add(Measured(equation), true);
  for (const Vector& row : rows) cone.add(Measured(row), false);
  Generators result;
  result.rays = cone.take_rays();
  result.lines = cone.take_lines();
  return result;
}

struct HullBase::State {
  std::size_t n;
  std::vector<Measured> points;
  Cone cone;
};

HullBase::HullBase(std::size_t n, const std::vector<Vector>& points) {
  auto state = std::make_shared<State>(State{n, {points.begin(), points.end()}, Cone(n)});
  for (const Measured& point : state->points) state->cone.add(point, false);
  state->cone.make_all_primitive();
  state_ = std::move(state);
}

Hull HullBase::with(std::span<const Measured* const> points,
                    std::span<const Measured> sides) const {
  std::vector<const Measured*> all;
  all.reserve(state_->points.size() + points.size());
  for (const Measured& point : state_->points) all.push_back(&point);
  all.insert(all.end(), points.begin(), points.end());
  Cone cone = state_->cone;
  for (const Measured* point : points) cone.add(*point, false);
  std::optional<Cone> cut = cone.dual(all);
  Hull result;
  result.rows = cone.take_rays();
  result.equations = cone.take_lines();
  if (cut) {
    for (const Measured& side : sides) cut->add(side, false);
    const auto of_base = [&](const Ray& ray) {
      return std::any_of(state_->points.begin(), state_->points.end(),
                         [&](const Measured& point) { return &point == ray.vector; });
    };
    for (const Ray& ray : cut->rays()) {
      if (ray.own != nullptr || of_base(ray)) {
        result.cut.push_back({nullptr, cut->taken(ray)});
      } else {
        result.cut.push_back({ray.vector, {}});
      }
    }
  } else {
    std::vector<Vector> rows;
    for (const Measured& side : sides) rows.push_back(side.exact);
    rows.insert(rows.end(), result.rows.begin(), result.rows.end());
    for (Vector& ray : generators(state_->n, result.equations, rows).rays) {
      result.cut.push_back({nullptr, std::move(ray)});
    }
  }
  return result;
}

}  // namespace carom::enclosure
