#include "enclosure/points.hpp"

#include <algorithm>
#include <utility>

namespace carom::enclosure {

namespace {

unsigned longest(const Vector& v) {
  unsigned most = 0;
  for (const Integer& x : v) {
    if (x != 0) most = std::max(most, static_cast<unsigned>(msb(abs(x))) + 1);
  }
  return most;
}

std::size_t hash(const Vector& v) {
  std::size_t sum = 0;
  for (const Integer& x : v) {
    const auto& backend = x.backend();
    for (unsigned i = 0; i < backend.size(); ++i) {
      sum = (sum ^ backend.limbs()[i]) * 0x9e3779b97f4a7c15U;
      sum ^= sum >> 29;
    }
    sum += backend.sign() ? 1 : 0;
  }
  return sum;
}

}  // namespace

Point::Point(Vector v, std::size_t index)
    : Measured(std::move(v)), number(index), tuple(enclosure::rough(exact)), bits(longest(exact)) {}

PointTable::PointTable(const RoundedImpact& impact) {
  for (int k = 0; k < impact.signed_rows(); ++k) row_.emplace_back(impact.signed_row(k));
}

const Point* PointTable::add(Vector primitive) {
  const std::size_t key = hash(primitive);
  const auto [first, last] = known_.equal_range(key);
  for (auto at = first; at != last; ++at) {
    if (at->second->exact == primitive) return at->second;
  }
  Point& point = points_.emplace_back(std::move(primitive), points_.size());
  for (std::size_t k = 0; k < row_.size(); ++k) {
    const int sign = sign_of_dot(row_[k], point);
    if (sign > 0) point.signs.above |= 1U << k;
    if (sign < 0) point.signs.below |= 1U << k;
  }
  known_.emplace(key, &point);
  return &point;
}

const Point* PointTable::crossing(int k, const Point& p, const Point& q) {
  return add(enclosure::crossing(row_[static_cast<std::size_t>(k)].exact, p.exact, q.exact));
}

}  // namespace carom::enclosure
