#include "reference/impact/friction_polygon.hpp"

#include <algorithm>
#include <cmath>

#include "reference/impact/step.hpp"

namespace carom::reference {

FrictionPolygon::FrictionPolygon(int dimension, int directions)
    : directions_(friction_polygon(dimension, directions)) {
  // Axes are axes: what is symmetric stays so.
  for (double& x : directions_.reshaped()) {
    if (std::abs(x - std::round(x)) < 1e-15) x = std::round(x);
  }
}

kernels::FrictionPolygon FrictionPolygon::judged() const {
  kernels::FrictionPolygon polygon;
  if (tangents() == 1) return polygon;
  polygon.count = directions();
  polygon.edge = (direction(1) - direction(0)).norm();
  polygon.turn = 2.0 * direction(0).dot(direction(1));
  for (int j = 0; j < directions(); ++j) {
    const Vector d = direction(j), e = edge(j);
    std::copy(d.begin(), d.end(), polygon.direction[j]);
    std::copy(e.begin(), e.end(), polygon.along[j]);
  }
  return polygon;
}

int FrictionPolygon::number(const Arc& arc) const {
  if (arc.count == directions()) return 0;
  return 1 + arc.first + (arc.count == 2 ? directions() : 0);
}

Arc FrictionPolygon::arc(int number) const {
  if (number == 0) return all();
  const int at = number - 1;
  return at < directions() ? Arc{at, 1} : Arc{at - directions(), 2};
}

bool FrictionPolygon::contains(const Arc& arc, int direction) const {
  const int k = directions();
  return ((direction - arc.first) % k + k) % k < arc.count;
}

Vector FrictionPolygon::edge(int j) const { return (direction(j + 1) - direction(j)).normalized(); }

Vector FrictionPolygon::ray(int j) const { return -(direction(j) + direction(j + 1)).normalized(); }

Arc FrictionPolygon::opposing(const Vector& slip, double nothing) const {
  if (slip.cwiseAbs().maxCoeff() <= nothing) return all();
  int best = 0;
  (-directions_.transpose() * slip).maxCoeff(&best);
  if (tangents() == 1) return {best, 1};
  const int k = directions();
  for (const int j : {best, (best + k - 1) % k}) {
    if (std::abs(edge(j).dot(slip)) <= nothing) return {j, 2};
  }
  return {best, 1};
}

Arc FrictionPolygon::after(const Arc& now, const Vector& rate, double nothing) const {
  if (now.count == directions()) return opposing(rate, nothing);
  if (now.count == 1) return now;
  const double turn = edge(now.first).dot(rate);
  if (std::abs(turn) <= nothing) return now;
  return {turn > 0.0 ? now.first : (now.first + 1) % directions(), 1};
}

Arc FrictionPolygon::closest(const Arc& now, const Vector& slip, double nothing) const {
  if (slip.cwiseAbs().maxCoeff() <= nothing) return all();
  const int k = directions();
  for (const int j : {now.first, (now.first + k - 1) % k}) {
    if (now.count != 1 || tangents() == 1) break;
    if (std::abs(edge(j).dot(slip)) <= nothing) return {j, 2};
  }
  return now;
}

Vector FrictionPolygon::onto(const Arc& arc, const Vector& slip) const {
  if (arc.count == directions()) return Vector::Zero(slip.size());
  if (arc.count == 1) return slip;
  const Vector along = ray(arc.first);
  return along.dot(slip) * along;
}

double FrictionPolygon::beyond(const Vector& friction, double limit) const {
  if (tangents() == 1) return std::abs(friction[0]) - limit;
  double most = -std::numeric_limits<double>::infinity();
  for (int j = 0; j < directions(); ++j) {
    most = std::max(most, -ray(j).dot(friction) + limit * ray(j).dot(direction(j)));
  }
  return most;
}

Arc FrictionPolygon::nearest(const Vector& friction, double limit, double slack) const {
  const int k = directions();
  int best = 0;
  (directions_.transpose() * friction).maxCoeff(&best);
  if (tangents() == 1) {
    return std::abs(friction[0]) <= limit * (1.0 + slack) ? all() : Arc{best, 1};
  }
  const int sides[2] = {best, (best + k - 1) % k};
  bool within = true;
  Arc side{best, 1};
  for (const int j : sides) {
    const double reach = -ray(j).dot(direction(j)) * limit * (1.0 + slack);
    if (-ray(j).dot(friction) <= reach) continue;
    within = false;
    const double half = 0.5 * limit * (direction(j + 1) - direction(j)).norm();
    if (side.count == 1 && std::abs(edge(j).dot(friction)) < half) side = {j, 2};
  }
  return within ? all() : side;
}

double FrictionPolygon::most_taken(const Vector& slip) const {
  return (-directions_.transpose() * slip).maxCoeff();
}

}  // namespace carom::reference
