#include "equilibrium/spatial_contour.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace carom {

namespace {

constexpr double kMerge = 1e-10;
/// Directions closer than this are one: the corner of their lines would be ill conditioned, and
/// leaving one of them out only widens the outer polygon.
constexpr double kParallel = 1e-8;

double cross(const double* a, const double* b) { return a[0] * b[1] - a[1] * b[0]; }
double dot(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1]; }
double turn(const double* a, const double* b, const double* c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/// Order of angle in [0, 2 pi) without arctangents.
bool before(const double* a, const double* b) {
  const bool low_a = a[1] < 0.0 || (a[1] == 0.0 && a[0] < 0.0);
  const bool low_b = b[1] < 0.0 || (b[1] == 0.0 && b[0] < 0.0);
  if (low_a != low_b) return low_b;
  return cross(a, b) > 0.0;
}

/// Intersection of the lines a . x = at_a and b . x = at_b.
bool meet(const double* a, double at_a, const double* b, double at_b, double* out) {
  const double determinant = cross(a, b);
  if (!(std::abs(determinant) > 1e-13)) return false;
  out[0] = (at_a * b[1] - at_b * a[1]) / determinant;
  out[1] = (a[0] * at_b - b[0] * at_a) / determinant;
  return true;
}

}  // namespace

double polygon_area(std::span<const double> vertices) {
  const std::size_t n = vertices.size() / 2;
  double twice = 0.0;
  for (std::size_t i = 2; i < n; ++i) {
    twice += turn(vertices.data(), vertices.data() + 2 * (i - 1), vertices.data() + 2 * i);
  }
  return 0.5 * twice;
}

SpatialContour::SpatialContour(PreparedSupport& prepared)
    : prepared_(&prepared),
      room_(static_cast<std::size_t>(prepared.settings().max_vertices)),
      answers_(allocate<SupportResult>({1, prepared.settings().max_vertices, prepared.contacts()})),
      direction_(2 * room_),
      start_(room_),
      work_(support_work(room_)) {
  order_.reserve(room_);
  for (int r = 0; r < (prepared.rules().two ? 2 : 1); ++r) {
    basis_[r].resize(room_ * kernels::kBasisReals);
  }
}

void SpatialContour::sweep(std::span<const double> directions) {
  order_.clear();
  count_ = directions.size() / 2;
  std::copy(directions.begin(), directions.end(), direction_.begin());
  const BasisStore bases{nullptr, {basis_[0].data(), basis_[1].data()}};
  support_of(*prepared_, directions, answers_, 0, work_.data(), &bases);
  order_.resize(count_);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
}

void SpatialContour::take(std::span<const double> directions, const SupportResult& answers,
                          std::size_t first) {
  count_ = directions.size() / 2;
  std::copy(directions.begin(), directions.end(), direction_.begin());
  copy(answers, first, 0, count_);
  // Their bases stayed behind: refinement starts from the feasible one.
  for (auto& basis : basis_) {
    const int rule = &basis == basis_ ? 0 : 1;
    if (basis.empty()) continue;
    const auto& fresh = prepared_->posture(rule == 0).feasible;
    for (std::size_t slot = 0; slot < count_; ++slot) {
      double* to = basis.data() + slot * kernels::kBasisReals;
      for (int r = 0; r < 4; ++r) {
        std::copy_n(fresh.column[r].wrench, 6, to + 7 * r);
        to[7 * r + 6] = fresh.column[r].contact;
      }
    }
  }
  order_.resize(count_);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
}

void SpatialContour::copy(const SupportResult& answers, std::size_t from, std::size_t to,
                          std::size_t count) {
  const auto each = [&](const auto& source, auto& target, std::size_t stride) {
    std::copy_n(source.data() + from * stride, count * stride, target.data() + to * stride);
  };
  each(answers.lower, answers_.lower, 1);
  each(answers.upper, answers_.upper, 1);
  each(answers.point, answers_.point, 2);
  each(answers.forces, answers_.forces, 3 * static_cast<std::size_t>(prepared_->contacts()));
  each(answers.dual, answers_.dual, 6);
  each(answers.slack, answers_.slack, 1);
  each(answers.residual, answers_.residual, 1);
  each(answers.status, answers_.status, 1);
  each(answers.pivots, answers_.pivots, 1);
}

bool SpatialContour::has_point(std::size_t slot) const {
  const Status status = answers_.status.data()[slot];
  return (status == Status::solved || status == Status::inaccurate) &&
         answers_.residual.data()[slot] <= prepared_->settings().tolerance;
}

bool SpatialContour::has_plane(std::size_t slot) const {
  const Status status = answers_.status.data()[slot];
  return (status == Status::solved || status == Status::inaccurate) &&
         answers_.slack.data()[slot] >= -prepared_->settings().tolerance;
}

Status SpatialContour::status() const {
  Status found = Status::solved;
  for (std::size_t i = 0; i < count_; ++i) {
    const Status status = answers_.status.data()[i];
    if (status == Status::unbounded) return status;
    if (has_point(i) && has_plane(i)) continue;
    if (found == Status::solved) found = status == Status::solved ? Status::inaccurate : status;
  }
  return found;
}

double SpatialContour::gap(std::size_t a, std::size_t b) const {
  if (!has_point(a) || !has_point(b)) return 0.0;
  // Lines through the points themselves: of a pair of cones each polygon is refined on its own.
  double corner[2];
  if (!(cross(direction(a), direction(b)) > kParallel) ||
      !meet(direction(a), answers_.lower.data()[a], direction(b), answers_.lower.data()[b],
            corner)) {
    return 0.0;
  }
  return std::max(0.0, 0.5 * turn(point(a), corner, point(b)));
}

bool SpatialContour::refine(double area) {
  const std::size_t n = order_.size();
  double largest = 0.0;
  double sum = 0.0;
  std::vector<double>& gaps = work_;
  for (std::size_t i = 0; i < n; ++i) {
    gaps[i] = gap(order_[i], order_[(i + 1) % n]);
    largest = std::max(largest, gaps[i]);
    sum += gaps[i];
  }
  if (!(sum > area)) return false;
  // An edge's gap falls to about a quarter when it is split: the largest first, until that is
  // enough.
  std::vector<std::size_t> edges(n);
  std::iota(edges.begin(), edges.end(), std::size_t{0});
  std::sort(edges.begin(), edges.end(),
            [&](std::size_t a, std::size_t b) { return gaps[a] > gaps[b]; });
  std::vector<double> normals;
  for (const std::size_t i : edges) {
    if (!(sum > 0.9 * area) || !(gaps[i] >= 0.125 * largest)) break;
    sum -= 0.75 * gaps[i];
    const double* a = point(order_[i]);
    const double* b = point(order_[(i + 1) % n]);
    const double normal[2] = {b[1] - a[1], a[0] - b[0]};
    const double length = std::hypot(normal[0], normal[1]);
    if (!(length > kMerge * extent())) continue;
    normals.push_back(normal[0] / length);
    normals.push_back(normal[1] / length);
  }
  return probe(normals);
}

bool SpatialContour::probe(std::span<const double> directions) {
  const std::size_t wanted = std::min(directions.size() / 2, room_ - count_);
  if (wanted == 0) return false;
  for (std::size_t j = 0; j < wanted; ++j) {
    const double* d = directions.data() + 2 * j;
    const auto place = std::lower_bound(
        order_.begin(), order_.end(), d,
        [&](std::size_t slot, const double* value) { return before(direction(slot), value); });
    start_[j] = static_cast<int>(place == order_.end() ? order_.front() : *place);
    std::copy_n(d, 2, direction_.data() + 2 * (count_ + j));
  }
  const BasisStore bases{start_.data(), {basis_[0].data(), basis_[1].data()}};
  support_of(*prepared_, directions.first(2 * wanted), answers_, count_, work_.data(), &bases);
  insert(count_, wanted);
  count_ += wanted;
  return true;
}

void SpatialContour::insert(std::size_t first, std::size_t count) {
  for (std::size_t slot = first; slot < first + count; ++slot) order_.push_back(slot);
  std::sort(order_.begin(), order_.end(),
            [&](std::size_t a, std::size_t b) { return before(direction(a), direction(b)); });
}

std::vector<std::size_t> SpatialContour::inner_polygon() const {
  const double merge = kMerge * extent();
  // Points of ascending directions go round the region once. What stands out by less than rounding
  // is on the edge, unless the edge ends there.
  const auto same = [&](std::size_t a, std::size_t b) {
    const double* p = point(a);
    const double* q = point(b);
    return std::abs(p[0] - q[0]) <= merge && std::abs(p[1] - q[1]) <= merge;
  };
  const auto superfluous = [&](std::size_t before, std::size_t middle, std::size_t after) {
    const double* a = point(before);
    const double* b = point(middle);
    const double* c = point(after);
    const double area = turn(a, b, c);
    const double rounding = 1e-15 * extent() * std::hypot(c[0] - a[0], c[1] - a[1]);
    if (area > rounding) return false;
    const bool between = (b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1]) >= 0.0;
    return area < -rounding || between;
  };
  std::vector<std::size_t> hull;
  for (const std::size_t slot : order_) {
    if (!has_point(slot) || (!hull.empty() && same(hull.back(), slot))) continue;
    while (hull.size() >= 2 && superfluous(hull[hull.size() - 2], hull.back(), slot)) {
      hull.pop_back();
    }
    hull.push_back(slot);
  }
  // The same where the round closes.
  while (hull.size() > 1 && same(hull.back(), hull.front())) hull.pop_back();
  for (bool changed = true; changed && hull.size() > 2;) {
    changed = false;
    if (superfluous(hull[hull.size() - 2], hull.back(), hull.front())) {
      hull.pop_back();
      changed = true;
    } else if (superfluous(hull.back(), hull.front(), hull[1])) {
      hull.erase(hull.begin());
      changed = true;
    }
  }
  return hull;
}

std::vector<double> SpatialContour::outer_polygon() const {
  struct Line {
    const double* d;
    double at;
  };
  const double* upper = answers_.upper.data();
  std::vector<Line> lines;
  for (const std::size_t slot : order_) {
    if (!has_plane(slot)) continue;
    const Line line{direction(slot), upper[slot]};
    if (!lines.empty() && std::abs(cross(lines.back().d, line.d)) <= kParallel &&
        dot(lines.back().d, line.d) > 0.0) {
      if (line.at < lines.back().at) lines.back() = line;
      continue;
    }
    lines.push_back(line);
  }
  // Intersection in order of angle; a line is dropped where its neighbours' corner lies inside it
  // by more than rounding.
  const double rounding = 1e-13 * extent();
  std::vector<Line> kept;
  std::size_t front = 0;
  const auto outside = [&](const Line& a, const Line& b, const Line& line) {
    double corner[2];
    return meet(a.d, a.at, b.d, b.at, corner) && dot(line.d, corner) > line.at + rounding;
  };
  for (const Line& line : lines) {
    while (kept.size() >= front + 2 && outside(kept[kept.size() - 2], kept.back(), line)) {
      kept.pop_back();
    }
    while (kept.size() >= front + 2 && outside(kept[front], kept[front + 1], line)) ++front;
    kept.push_back(line);
  }
  while (kept.size() >= front + 3 && outside(kept[kept.size() - 2], kept.back(), kept[front])) {
    kept.pop_back();
  }
  while (kept.size() >= front + 3 && outside(kept[front], kept[front + 1], kept.back())) ++front;
  std::vector<double> vertices;
  const std::size_t n = kept.size() - front;
  for (std::size_t i = 0; i < n; ++i) {
    const Line& a = kept[front + i];
    const Line& b = kept[front + (i + 1) % n];
    double corner[2];
    // A turn of half a circle or more leaves the intersection open.
    if (n < 3 || !(cross(a.d, b.d) > 0.0) || !meet(a.d, a.at, b.d, b.at, corner)) return {};
    vertices.insert(vertices.end(), corner, corner + 2);
  }
  return vertices;
}

}  // namespace carom
