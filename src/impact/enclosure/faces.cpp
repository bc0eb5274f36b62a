#include "impact/enclosure/faces.hpp"

#include <algorithm>

namespace carom::enclosure {

namespace {

Vector negative(const Vector& v) {
  Vector result(v.size());
  for (std::size_t i = 0; i < v.size(); ++i) result[i] = -v[i];
  return result;
}

Vector unit_row(std::size_t size, std::size_t at) {
  Vector row(size);
  row[at] = 1;
  return row;
}

/// sum_g weight_g rays_g, primitive.
Vector weighted(const Vector& weight, const std::vector<const Vector*>& rays, std::size_t size) {
  Vector sum(size);
  for (std::size_t g = 0; g < rays.size(); ++g) {
    if (weight[g] == 0) continue;
    for (std::size_t i = 0; i < size; ++i) sum[i] += weight[g] * (*rays[g])[i];
  }
  make_primitive(sum);
  return sum;
}

}  // namespace

Face Faces::make(FaceCode code) const {
  const int m = impact_.contacts;
  Face face;
  std::vector<const Vector*> pushes;
  const auto row = [&](int k) -> const Vector& { return impact_.row[static_cast<std::size_t>(k)]; };
  for (int i = 0; i < m; ++i) {
    const ContactFace state = contact_face(code, i);
    if (state == ContactFace::separating) {
      face.side.push_back(row(i));
      continue;
    }
    if (touching(state)) face.zero.push_back(row(i));
    if (approaching(state)) {
      face.side.push_back(negative(row(i)));
      face.terminal = false;
    }
    const int sign = slip(state);
    if (sign == 0) face.zero.push_back(row(m + i));
    if (sign > 0) face.side.push_back(row(m + i));
    if (sign < 0) face.side.push_back(negative(row(m + i)));
    const auto first = 2 * static_cast<std::size_t>(i);
    if (sign <= 0) pushes.push_back(&impact_.push[first]);
    if (sign >= 0) pushes.push_back(&impact_.push[first + 1]);
  }
  if (face.terminal) return face;
  std::vector<Vector> equations, rows;
  for (const Vector& zero : face.zero) {
    Vector equation(pushes.size());
    for (std::size_t g = 0; g < pushes.size(); ++g) equation[g] = dot(zero, *pushes[g]);
    equations.push_back(std::move(equation));
  }
  for (std::size_t g = 0; g < pushes.size(); ++g) rows.push_back(unit_row(pushes.size(), g));
  for (const Vector& weight : generators(pushes.size(), equations, rows).rays) {
    Vector ray = weighted(weight, pushes, impact_.size());
    const bool moves = std::any_of(ray.begin(), ray.end(), [](const Integer& x) { return x != 0; });
    if (moves && std::find(face.motion.begin(), face.motion.end(), ray) == face.motion.end()) {
      face.motion.push_back(std::move(ray));
    }
  }
  return face;
}

const Face& Faces::face(FaceCode code) {
  const auto known = faces_.find(code);
  return known != faces_.end() ? known->second : faces_.emplace(code, make(code)).first->second;
}

bool Faces::enterable(FaceCode code, std::uint32_t leaving) {
  if (leaving == 0) return true;
  const auto key = std::make_pair(code, leaving);
  const auto known = enterable_.find(key);
  if (known != enterable_.end()) return known->second;
  const Face& entered = face(code);
  const int m = impact_.contacts;
  std::vector<Vector> rows;  // rate of each row that leaves, along its sign, of each ray
  for (int k = 0; k < 2 * m; ++k) {
    if ((leaving >> k & 1U) == 0) continue;
    const ContactFace state = contact_face(code, k % m);
    const bool positive = k < m ? state == ContactFace::separating : slip(state) > 0;
    Vector rates;
    for (const Vector& ray : entered.motion) {
      const Integer rate = dot(impact_.row[static_cast<std::size_t>(k)], ray);
      rates.push_back(positive ? rate : Integer(-rate));
    }
    rows.push_back(std::move(rates));
  }
  const auto count = entered.motion.size();
  const auto some = [](const Vector& rates) {
    return std::any_of(rates.begin(), rates.end(), [](const Integer& rate) { return rate > 0; });
  };
  bool answer = std::all_of(rows.begin(), rows.end(), some);
  if (answer && rows.size() > 1) {
    std::vector<Vector> bounds = rows;
    for (std::size_t g = 0; g < count; ++g) bounds.push_back(unit_row(count, g));
    const std::vector<Vector> weights = generators(count, {}, bounds).rays;
    answer = std::all_of(rows.begin(), rows.end(), [&](const Vector& rates) {
      return std::any_of(weights.begin(), weights.end(),
                         [&](const Vector& weight) { return dot(rates, weight) > 0; });
    });
  }
  enterable_.emplace(key, answer);
  return answer;
}

}  // namespace carom::enclosure
