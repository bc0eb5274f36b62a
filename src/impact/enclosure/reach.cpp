#include "impact/enclosure/reach.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace carom::enclosure {

namespace {

enum class Side : std::uint8_t { zero, positive, negative, both };

Side side_of(const Vector& row, const Points& points) {
  bool above = false, below = false;
  for (const Vector& point : points) {
    const int sign = sign_of_dot(row, point);
    above = above || sign > 0;
    below = below || sign < 0;
  }
  if (above && below) return Side::both;
  return above ? Side::positive : (below ? Side::negative : Side::zero);
}

/// Generators of conv(points) where sign * row >= 0, or = 0 for sign 0; not all are vertices.
Points clipped(const Vector& row, int sign, const Points& points) {
  Points result;
  std::vector<Integer> value;
  for (const Vector& point : points) value.push_back(dot(row, point));
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (value[i] == 0 || (sign != 0 && (value[i] > 0) == (sign > 0))) result.push_back(points[i]);
    for (std::size_t j = 0; j < i; ++j) {
      if ((value[i] > 0) == (value[j] > 0) || value[i] == 0 || value[j] == 0) continue;
      const Integer a = abs(value[i]), b = abs(value[j]);
      Vector crossing(points[i].size());
      for (std::size_t k = 0; k < crossing.size(); ++k) {
        crossing[k] = b * points[i][k] + a * points[j][k];
      }
      make_primitive(crossing);
      result.push_back(std::move(crossing));
    }
  }
  return result;
}

constexpr std::int64_t kPatience = 64;  // polyhedra after which the tolerance is made coarser ...
constexpr std::int64_t kHaste = 12;     // ... and to its double once the energy bounds them
constexpr double kCoarsest = 1e-3;      // tolerance beyond which rows are given up for the energy's
constexpr std::int64_t kBounded = 3;    // of these until what the energy forbids is cut off

constexpr std::size_t kMany = 48;  // points of a part, ...
constexpr unsigned kHuge = 2048;   // ... or bits, from which on no polyhedron is made anew

unsigned longest(const std::vector<Vector>& rows) {
  unsigned most = 0;
  for (const Vector& row : rows) {
    for (const Integer& x : row) {
      if (x != 0) most = std::max(most, static_cast<unsigned>(msb(abs(x))) + 1);
    }
  }
  return most;
}

/// Sum of the magnitudes of a row's coefficients.
Integer length(const Vector& row) {
  Integer sum = 0;
  for (std::size_t i = 1; i < row.size(); ++i) sum += abs(row[i]);
  return sum;
}

/// 2^bits at least `value` > 0.
Integer power_above(double value) {
  const int bits = std::max(0, std::ilogb(value) + 1);
  return Integer(1) << static_cast<unsigned>(bits);
}

}  // namespace

Reach::Reach(const RoundedImpact& impact, const ReachLimits& limits)
    : impact_(impact), limits_(limits), faces_(impact) {}

void Reach::hand_over(Faces& faces, const RoundedImpact& impact, const Points& points,
                      const Hand& hand) {
  if (points.empty()) return;
  const int m = impact.contacts;
  const auto row = [&](int k) -> const Vector& { return impact.row[static_cast<std::size_t>(k)]; };
  bool ends = true;
  std::vector<Side> normal(static_cast<std::size_t>(m)), tangent(normal);
  for (int i = 0; i < m; ++i) {
    const auto at = static_cast<std::size_t>(i);
    normal[at] = side_of(row(i), points);
    ends = ends && normal[at] != Side::negative;
    if (normal[at] == Side::positive) continue;
    tangent[at] = side_of(row(m + i), points);
    if (tangent[at] != Side::both) continue;
    for (const int sign : {-1, 0, 1}) {
      hand_over(faces, impact, clipped(row(m + i), sign, points), hand);
    }
    return;
  }
  // What each contact may do next, with the rows that leave zero.
  struct Choice {
    ContactFace face;
    std::uint32_t leaving;
  };
  std::vector<std::vector<Choice>> choices(static_cast<std::size_t>(m));
  for (int i = 0; i < m; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::uint32_t n = 1U << i, t = 1U << (m + i);
    if (normal[at] == Side::positive) {
      choices[at].push_back({ContactFace::separating, 0});
      continue;
    }
    const bool touches = normal[at] == Side::zero;
    if (touches && !ends) choices[at].push_back({ContactFace::separating, n});
    for (const int sign : {-1, 0, 1}) {
      const bool leaves = tangent[at] == Side::zero && sign != 0;
      if (tangent[at] != Side::zero && sign != (tangent[at] == Side::positive ? 1 : -1)) continue;
      if (leaves && ends) continue;
      const auto with = [&](ContactFace middle) {
        return static_cast<ContactFace>(static_cast<int>(middle) + sign);
      };
      if (touches) choices[at].push_back({with(ContactFace::touching_sticking), leaves ? t : 0});
      if (!ends) {
        choices[at].push_back(
            {with(ContactFace::approaching_sticking), (leaves ? t : 0) | (touches ? n : 0)});
      }
    }
  }
  const std::function<void(int, FaceCode, std::uint32_t)> choose = [&](int i, FaceCode code,
                                                                       std::uint32_t leaving) {
    if (i < m) {
      for (const Choice& choice : choices[static_cast<std::size_t>(i)]) {
        choose(i + 1, code | face_code(choice.face, i), leaving | choice.leaving);
      }
      return;
    }
    const Face& next = faces.face(code);
    if (next.terminal != ends) return;
    if (ends || (!next.motion.empty() && faces.enterable(code, leaving))) hand(code, points);
  };
  choose(0, 0, 0);
}

std::vector<Points> Reach::parts(const Face& face, const Piece& piece) {
  std::vector<const Vector*> attained;
  for (const Vector& side : face.side) {
    if (std::any_of(piece.vertices.begin(), piece.vertices.end(),
                    [&](const Vector& v) { return sign_of_dot(side, v) == 0; })) {
      attained.push_back(&side);
    }
  }
  std::vector<std::vector<std::size_t>> subsets;
  std::vector<Points> result;
  for (std::uint32_t chosen = 0; chosen < 1U << attained.size(); ++chosen) {
    std::vector<std::size_t> subset;
    for (std::size_t v = 0; v < piece.vertices.size(); ++v) {
      bool on = true;
      for (std::size_t k = 0; on && k < attained.size(); ++k) {
        on = (chosen >> k & 1U) == 0 || sign_of_dot(*attained[k], piece.vertices[v]) == 0;
      }
      if (on) subset.push_back(v);
    }
    if (subset.empty() || std::find(subsets.begin(), subsets.end(), subset) != subsets.end()) {
      continue;
    }
    Points points;
    for (const std::size_t v : subset) points.push_back(piece.vertices[v]);
    subsets.push_back(std::move(subset));
    result.push_back(std::move(points));
  }
  return result;
}

bool Reach::holds(const Piece& piece, const Points& points) {
  return holds(piece, points, {points.begin(), points.end()});
}

bool Reach::holds(const Piece& piece, const Points& points, const std::vector<Rough>& rough) {
  // What doubles are sure of first: most answers are no.
  struct Open {
    const Vector *row, *point;
    bool equation;
  };
  std::vector<Open> open;
  const auto may_hold = [&](const std::vector<Vector>& rows, bool equation) {
    for (const Vector& row : rows) {
      const Rough own(row);
      for (std::size_t i = 0; i < points.size(); ++i) {
        const int sign = Rough::sign(own, rough[i]);
        if (sign < 0 || (sign > 0 && equation)) return false;
        if (sign == 0) open.push_back({&row, &points[i], equation});
      }
    }
    return true;
  };
  if (!may_hold(piece.rows, false) || !may_hold(piece.equations, true)) return false;
  return std::all_of(open.begin(), open.end(), [](const Open& o) {
    const int sign = sign_of_dot(*o.row, *o.point);
    return sign == 0 || (sign > 0 && !o.equation);
  });
}

std::vector<Vector> Reach::sides(const Face& face) {
  std::vector<Vector> rows = face.side;
  rows.emplace_back(impact_.size());
  rows.back()[0] = 1;
  if (made_ >= kBounded * kPatience) {
    rows.insert(rows.end(), impact_.energy.begin(), impact_.energy.end());
    bounded_ = true;
  }
  return rows;
}

void Reach::cut(const Face& face, Piece& piece) {
  // Rows of the face first: their numbers are small, and with them those in between.
  std::vector<Vector> equations = face.zero, rows = sides(face);
  equations.insert(equations.end(), piece.equations.begin(), piece.equations.end());
  rows.insert(rows.end(), piece.rows.begin(), piece.rows.end());
  piece.vertices = generators(impact_.size(), equations, rows).rays;
  piece.number = made_++;
}

Piece Reach::closed(const Face& face, const Points& points) {
  std::vector<Vector> all = face.motion;
  all.insert(all.end(), points.begin(), points.end());
  Hull hulled = hull(impact_.size(), all, sides(face));
  Piece piece{std::move(hulled.equations), std::move(hulled.rows), std::move(hulled.cut)};
  piece.number = made_++;
  return piece;
}

double Reach::slack() const {
  const std::int64_t patient = std::min(made_, kBounded * kPatience);
  const std::int64_t doublings = patient / (kPatience / 2) + (made_ - patient) / kHaste;
  return std::ldexp(limits_.tolerance, static_cast<int>(std::min<std::int64_t>(doublings, 60)));
}

double Reach::distance(const Piece& piece, const Points& points) const {
  double most = 0.0;
  const auto beyond = [](const Vector& row, const Vector& point) {
    const Integer size = length(row);
    return size == 0 ? 0.0 : quotient(dot(row, point), size * point[0]);
  };
  for (const Vector& point : points) {
    for (const Vector& e : piece.equations) {
      if (sign_of_dot(e, point) != 0) return std::numeric_limits<double>::infinity();
    }
    for (const Vector& r : piece.rows) most = std::max(most, -beyond(r, point));
  }
  return most;
}

void Reach::widen(const Face& face, Piece& piece, const Points& points) {
  std::vector<Vector> equations = std::move(piece.equations);
  piece.equations.clear();
  for (Vector& equation : equations) {  // one that a point violates becomes two rows
    const bool kept = std::all_of(points.begin(), points.end(), [&](const Vector& point) {
      return sign_of_dot(equation, point) == 0;
    });
    if (kept) {
      piece.equations.push_back(std::move(equation));
      continue;
    }
    piece.rows.push_back(equation);
    for (Integer& x : equation) x = -x;
    piece.rows.push_back(std::move(equation));
  }
  if (bounded_ && slack() > kCoarsest) {
    std::erase_if(piece.rows, [&](const Vector& row) {
      return std::any_of(points.begin(), points.end(),
                         [&](const Vector& point) { return dot(row, point) < 0; });
    });
  }
  for (Vector& row : piece.rows) {
    Integer most = 0;  // what is to be added to row[0], rounded up
    for (const Vector& point : points) {
      const Integer value = dot(row, point);
      if (value >= 0) continue;
      const Integer needed = -value / point[0] + 1;
      if (needed > most) most = needed;
    }
    if (most == 0) continue;
    const Integer size = length(row);
    const double beyond = quotient(most, size);
    moved_ = std::max(moved_, beyond);
    row[0] += most + most / 4 + Integer(size / power_above(16.0 / slack())) + 1;
  }
  cut(face, piece);
  widened_ = true;
}

void Reach::add(FaceCode code, const Points& points, bool reached, const Question& question) {
  std::vector<Piece>& pieces = family_[code];
  const std::vector<Rough> rough(points.begin(), points.end());
  for (const Piece& piece : pieces) {
    if (holds(piece, points, rough)) return;
  }
  const Face& face = faces_.face(code);
  Piece made;
  const bool endless = !limits_.tight && (points.size() > kMany || longest(points) > kHuge);
  if (pieces.empty() || (pieces.size() < limits_.pieces && !endless)) {
    made = closed(face, points);
    made.reached = reached;
  } else {
    std::size_t nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const double far = distance(pieces[i], points);
      if (far < least) least = far, nearest = i;
    }
    made = std::move(pieces[nearest]);
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(nearest));
    bool hulled = least >= slack() && longest(points) < limits_.longest &&
                  longest(made.vertices) < limits_.longest;
    if (hulled) {
      Points both = made.vertices;
      both.insert(both.end(), points.begin(), points.end());
      Piece hull = closed(face, both);
      hulled = longest(hull.vertices) < limits_.longest;
      if (hulled) made = std::move(hull);
    }
    if (!hulled) widen(face, made, points);
    made.reached = false;
  }
  std::erase_if(pieces, [&](const Piece& piece) { return holds(made, piece.vertices); });
  if (question && face.terminal) {
    const Met met = question(code, made);
    if (met != Met::no) met_ = made.reached ? met : Met::perhaps;
  }
  open_.emplace_back(code, made.number);
  pieces.push_back(std::move(made));
}

bool Reach::run(const Question& question) {
  bool reached = true;
  const Hand hand = [&](FaceCode code, const Points& points) {
    if (met_ == Met::no) add(code, points, reached, question);
  };
  if (made_ == 0) hand_over(faces_, impact_, {impact_.start}, hand);
  while (!open_.empty()) {
    if (met_ != Met::no || made_ >= limits_.budget || (limits_.tight && bounded_)) return false;
    const auto [code, number] = open_.front();
    open_.pop_front();
    const auto& pieces = family_[code];
    const auto piece = std::find_if(pieces.begin(), pieces.end(),
                                    [n = number](const Piece& p) { return p.number == n; });
    const Face& face = faces_.face(code);
    if (piece == pieces.end() || face.terminal) continue;
    reached = piece->reached;
    for (const Points& points : parts(face, *piece)) hand_over(faces_, impact_, points, hand);
  }
  return met_ == Met::no;
}

}  // namespace carom::enclosure
