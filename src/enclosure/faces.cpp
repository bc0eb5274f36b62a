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

void add_motion(Vector ray, Face& face) {
  const bool moves = std::any_of(ray.begin(), ray.end(), [](const Integer& x) { return x != 0; });
  if (moves && std::find(face.motion.begin(), face.motion.end(), ray) == face.motion.end()) {
    face.motion.push_back(std::move(ray));
  }
}

std::size_t places(const RoundedImpact& impact) {
  std::size_t all = 1;
  for (int i = 0; i < impact.contacts; ++i) {
    all *= impact.stores.empty() ? kContactFaces : kContactFacesWithStores;
  }
  return all;
}

}  // namespace

Faces::Faces(const RoundedImpact& impact)
    : impact_(impact),
      has_stores_(!impact.stores.empty()),
      base_(static_cast<std::size_t>(has_stores_ ? kContactFacesWithStores : kContactFaces)),
      points_(impact),
      faces_(places(impact)),
      hulls_(faces_.size()),
      enterable_(faces_.size()) {}

bool Faces::knows_guard(int contact) const {
  const std::size_t store = impact_.store_at(contact);
  return store > 0 && !impact_.speeds &&
         impact_.signed_row(3 * impact_.contacts + contact)[store] != 0;
}

Face Faces::make(FaceCode code) const {
  const int m = impact_.contacts;
  Face face;
  std::vector<const Vector*> pushes;
  const auto row = [&](int k) -> const Vector& { return impact_.signed_row(k); };
  const auto side = [&](int k, int sign) {
    face.side.push_back(sign > 0 ? row(k) : negative(row(k)));
    face.side_of.push_back(k);
  };
  for (int i = 0; i < m; ++i) {
    const ContactFace state = contact_face(code, i);
    const bool store = has_store(i);
    if (store && !filled(state) && !approaching(state)) face.zero.push_back(row(2 * m + i));
    if (filled(state) || (store && approaching(state))) side(2 * m + i, 1);
    if (filled(state)) face.terminal = false;
    if (touching(state)) face.zero.push_back(row(i));
    if (approaching(state)) {
      side(i, -1);
      face.terminal = false;
      if (store && impact_.speeds) {
        if (fastest(state)) face.zero.push_back(row(3 * m + i));
        if (!fastest(state)) side(3 * m + i, state == ContactFace::faster ? -1 : 1);
      }
    }
    if (!touching(state) && !approaching(state)) {
      side(i, 1);
      if (filled(state) && impact_.speeds) side(4 * m + i, state == ContactFace::spent ? -1 : 1);
      if (filled(state) && knows_guard(i)) side(3 * m + i, guarded(state) ? 1 : -1);
    }
    if (idle(state)) continue;
    const int sign = slip(state);
    if (sign == 0) face.zero.push_back(row(m + i));
    if (sign != 0) side(m + i, sign);
    for (int corner = 0; corner < impact_.corners(); ++corner) {
      if (sign != 0 && RoundedImpact::opposed(corner, 0) != sign) continue;
      pushes.push_back(&impact_.push[impact_.push_at(i, corner)]);
    }
  }
  if (!face.terminal) find_motion(code, pushes, face);
  return face;
}

void Faces::find_motion(FaceCode code, const std::vector<const Vector*>& pushes, Face& face) const {
  std::vector<Vector> equations, rows;
  for (int i = 0; i < impact_.contacts; ++i) {
    const ContactFace state = contact_face(code, i);
    const auto keep = [&](int k) {
      Vector equation(pushes.size());
      for (std::size_t g = 0; g < pushes.size(); ++g) {
        equation[g] = dot(impact_.row[static_cast<std::size_t>(k)], *pushes[g]);
      }
      equations.push_back(std::move(equation));
    };
    if (touching(state)) keep(i);
    if (!idle(state) && slip(state) == 0) keep(impact_.contacts + i);
    if (!fastest(state)) continue;
    Vector faster(pushes.size());  // or as fast
    for (std::size_t g = 0; g < pushes.size(); ++g) {
      faster[g] = -dot(impact_.row[static_cast<std::size_t>(i)], *pushes[g]);
    }
    rows.push_back(std::move(faster));
  }
  for (std::size_t g = 0; g < pushes.size(); ++g) rows.push_back(unit_row(pushes.size(), g));
  for (const Vector& weight : generators(pushes.size(), equations, rows).rays) {
    Vector ray = weighted(weight, pushes, impact_.size());
    if (!has_stores_) {
      add_motion(std::move(ray), face);
      continue;
    }
    face.pushed.push_back(ray);
    add_gains(code, std::move(ray), face);
  }
  for (int i = 0; i < impact_.contacts; ++i) {  // what the guard throws away
    const ContactFace state = contact_face(code, i);
    const bool grows = state == ContactFace::faster;  // to what it is as a push begins
    if (!grows && (!filled(state) || (knows_guard(i) && !guarded(state)))) continue;
    Vector ray(impact_.size());
    ray[impact_.store_at(i)] = grows ? 1 : -1;
    face.motion.push_back(std::move(ray));
  }
}

/// What the store may gain in a motion, whose normal impulse is in its place.
void Faces::find_gains(FaceCode code, std::size_t store, const Vector& ray,
                       std::vector<Integer>& gains) const {
  const int contact = impact_.stores[store];
  const ContactFace state = contact_face(code, contact);
  const Integer& impulse = ray[impact_.basis.size() + 1 + store];
  if (impact_.speeds) {
    gains = {Integer(0)};
    if (fastest(state)) gains[0] = -dot(impact_.row[static_cast<std::size_t>(contact)], ray);
  } else if (approaching(state)) {
    gains = {impact_.least_gain[store] * impulse, impact_.most_gain[store] * impulse};
  } else if (touching(state) && filled(state)) {
    gains = {-impact_.whole_gain * impulse, impact_.most_gain[store] * impulse};
  } else {
    gains = {filled(state) ? Integer(-impact_.whole_gain * impulse) : Integer(0)};
  }
}

/// A motion with normal impulses in the place of stores becomes those with all that stores may gain
/// of these.
void Faces::add_gains(FaceCode code, Vector ray, Face& face) const {
  std::vector<Vector> rays;
  for (std::size_t a = 0; a <= impact_.basis.size(); ++a) ray[a] *= impact_.whole_gain;
  rays.push_back(std::move(ray));
  for (std::size_t s = 0; s < impact_.stores.size(); ++s) {
    const std::size_t at = impact_.basis.size() + 1 + s;
    std::vector<Integer> gains;
    find_gains(code, s, rays.front(), gains);  // velocities of all are the same
    std::vector<Vector> all;
    for (const Vector& each : rays) {
      for (const Integer& gain : gains) {
        all.push_back(each);
        all.back()[at] = gain;
      }
    }
    rays = std::move(all);
  }
  for (Vector& each : rays) {
    make_primitive(each);
    add_motion(std::move(each), face);
  }
}

const Face& Faces::face(FaceCode code) {
  std::unique_ptr<const Face>& known = faces_[place(code)];
  if (!known) known = std::make_unique<const Face>(make(code));
  return *known;
}

const FaceHulls& Faces::hulls(FaceCode code) {
  std::unique_ptr<const FaceHulls>& known = hulls_[place(code)];
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
  std::vector<Known>& of_face = enterable_[place(code)];
  const int rows = impact_.signed_rows();
  if (of_face.empty()) of_face.resize(std::size_t{1} << rows, Known::no);
  Known& known = of_face[leaving];
  if (known == Known::no) {
    known = find_enterable(code, leaving) ? Known::enterable : Known::not_enterable;
  }
  return known == Known::enterable;
}

/// Of a row that is not 0 in the face.
int Faces::sign_in(FaceCode code, int row) const {
  const int m = impact_.contacts;
  const ContactFace state = contact_face(code, row % m);
  if (row < m) return approaching(state) ? -1 : 1;
  if (row < 2 * m) return slip(state);
  if (impact_.speeds) return state == ContactFace::faster ? -1 : 1;
  return row < 3 * m || guarded(state) ? 1 : -1;
}

bool Faces::find_enterable(FaceCode code, std::uint32_t leaving) {
  const Face& entered = face(code);
  std::vector<Vector> rows;  // rate of each row that leaves, along its sign, of each ray
  for (int k = 0; k < impact_.signed_rows(); ++k) {
    if ((leaving >> k & 1U) == 0) continue;
    const bool positive = sign_in(code, k) > 0;
    Vector rates;
    for (const Vector& ray : entered.motion) {
      const Integer rate = dot(impact_.signed_row(k), ray);
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
