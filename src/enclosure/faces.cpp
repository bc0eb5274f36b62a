#include "enclosure/faces.hpp"

#include <algorithm>

namespace carom::enclosure {

namespace {

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

Faces::Faces(const RoundedImpact& impact)
    : impact_(impact),
      points_(impact),
      faces_(std::size_t{1} << (3 * impact.contacts)),
      hulls_(faces_.size()),
      enterable_(faces_.size()) {}

Face Faces::make(FaceCode code) const {
  const int m = impact_.contacts;
  Face face;
  std::vector<const Vector*> pushes;
  const auto row = [&](int k) -> const Vector& { return impact_.row[static_cast<std::size_t>(k)]; };
  const auto side = [&](int k, int sign) {
    face.side.push_back(sign > 0 ? row(k) : negative(row(k)));
    face.side_of.push_back(k);
  };
  for (int i = 0; i < m; ++i) {
    const ContactFace state = contact_face(code, i);
    if (state == ContactFace::separating) {
      side(i, 1);
      continue;
    }
    if (touching(state)) face.zero.push_back(row(i));
    if (approaching(state)) {
      side(i, -1);
      face.terminal = false;
    }
    const int sign = slip(state);
    if (sign == 0) face.zero.push_back(row(m + i));
    if (sign != 0) side(m + i, sign);
    for (int corner = 0; corner < impact_.corners(); ++corner) {
      if (sign != 0 && RoundedImpact::opposed(corner, 0) != sign) continue;
      pushes.push_back(&impact_.push[impact_.push_at(i, corner)]);
    }
  }
  if (!face.terminal) find_motion(pushes, face);
  return face;
}

void Faces::find_motion(const std::vector<const Vector*>& pushes, Face& face) const {
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
}

const Face& Faces::face(FaceCode code) {
  std::unique_ptr<const Face>& known = faces_[code];
  if (!known) known = std::make_unique<const Face>(make(code));
  return *known;
}

const FaceHulls& Faces::hulls(FaceCode code) {
  std::unique_ptr<const FaceHulls>& known = hulls_[code];
  if (known) return *known;
  const Face& own = face(code);
  auto made = std::make_unique<FaceHulls>(FaceHulls{{impact_.size(), own.motion}, {}});
  for (const Vector& row : own.side) made->closure.emplace_back(row);
  made->closure.emplace_back(unit_row(impact_.size(), 0));
  known = std::move(made);
  return *known;
}

bool Faces::enterable(FaceCode code, std::uint32_t leaving) {
  if (leaving == 0) return true;
  std::vector<Known>& of_face = enterable_[code];
  if (of_face.empty()) of_face.resize(std::size_t{1} << (2 * impact_.contacts), Known::no);
  Known& known = of_face[leaving];
  if (known == Known::no) {
    known = find_enterable(code, leaving) ? Known::enterable : Known::not_enterable;
  }
  return known == Known::enterable;
}

bool Faces::find_enterable(FaceCode code, std::uint32_t leaving) {
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
  return answer;
}

}  // namespace carom::enclosure
