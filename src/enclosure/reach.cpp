#include "enclosure/reach.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "enclosure/propagate.hpp"

namespace carom::enclosure {

namespace {

constexpr std::int64_t kPatience =
    Reach::kUnbounded / 3;           // polyhedra after which the tolerance is made coarser ...
constexpr std::int64_t kHaste = 12;  // ... and to its double once the energy bounds them
constexpr double kCoarsest = 1e-3;   // tolerance beyond which rows are given up for the energy's

constexpr double kLost = 1e-6;             // of a part outside of all polyhedra that were expected
constexpr std::int64_t kTurns = 2;         // polyhedra made for each that was expected, and ...
constexpr std::int64_t kFew = 4;           // ... so many more
constexpr unsigned kLongestPlanned = 768;  // bits with which hulls are no longer what was expected

constexpr std::size_t kMany = 48;  // points of a part, ...
constexpr unsigned kHuge = 2048;   // ... or bits, from which no polyhedron is made anew

unsigned longest(const Points& points) {
  unsigned most = 0;
  for (const Point* point : points) most = std::max(most, point->bits);
  return most;
}

/// Whether a vertex lies at infinity.
bool is_endless(const Piece& piece) {
  return std::any_of(piece.vertices.begin(), piece.vertices.end(),
                     [](const Point* vertex) { return !(vertex->exact[0] > 0); });
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

Reach::Reach(const RoundedImpact& impact, Faces& faces, const ReachLimits& limits)
    : impact_(impact), limits_(limits), faces_(faces) {}

void Reach::propagate(Faces& faces, const RoundedImpact& impact, const Points& points,
                      const Hand& hand) {
  const auto cross = [&](int k, const Point* p, const Point* q) {
    return faces.points().crossing(k, *p, *q);
  };
  enclosure::propagate(faces, impact.contacts, points, cross, hand);
}

bool Reach::holds(Piece& piece, const Points& points) {
  Points asked;
  for (const Point* point : points) {
    if (!piece.held.has(*point)) asked.push_back(point);
  }
  if (asked.empty()) return true;
  if (piece.rough.empty()) {
    for (const Vector& row : piece.rows) piece.rough.emplace_back(row);
    for (const Vector& row : piece.equations) piece.rough.emplace_back(row);
  }
  // What doubles are sure of first: most answers are no.
  struct Open {
    const Vector *row, *point;
    bool equation;
  };
  std::vector<Open> open;
  for (std::size_t r = 0; r < piece.rough.size(); ++r) {
    const bool equation = r >= piece.rows.size();
    const Vector& row = equation ? piece.equations[r - piece.rows.size()] : piece.rows[r];
    for (const Point* point : asked) {
      const int sign = Rough::sign(piece.rough[r], point->rough);
      if (sign < 0 || (sign > 0 && equation)) return false;
      if (sign == 0) open.push_back({&row, &point->exact, equation});
    }
  }
  const bool held = std::all_of(open.begin(), open.end(), [](const Open& o) {
    const int sign = sign_of_dot(*o.row, *o.point);
    return sign == 0 || (sign > 0 && !o.equation);
  });
  if (held) piece.held.add(asked);
  return held;
}

const std::vector<Measured>& Reach::sides(FaceCode code) {
  const std::vector<Measured>& closure = faces_.hulls(code).closure;
  if (limits_.tight || made_ < kUnbounded) return closure;
  bounded_ = true;
  bounded_sides_ = closure;
  for (const Vector& row : impact_.energy) bounded_sides_.emplace_back(row);
  return bounded_sides_;
}

void Reach::count(Piece& piece) {
  const std::int64_t words = longest(piece.vertices) / 64 + 1;
  work_ += static_cast<std::int64_t>(piece.vertices.size()) * words * words;
  piece.number = made_++;
}

bool Reach::is_spent(std::int64_t most) const { return made_ >= most || work_ >= limits_.work; }

void Reach::cut(FaceCode code, Piece& piece) {
  // Rows of the face first: their numbers are small, and with them those in between.
  std::vector<Vector> equations = faces_.face(code).zero, rows;
  for (const Measured& side : sides(code)) rows.push_back(side.exact);
  equations.insert(equations.end(), piece.equations.begin(), piece.equations.end());
  rows.insert(rows.end(), piece.rows.begin(), piece.rows.end());
  piece.vertices.clear();
  for (Vector& ray : generators(impact_.size(), equations, rows).rays) {
    piece.vertices.push_back(faces_.points().add(std::move(ray)));
  }
  endless_ = endless_ || (!impact_.stores.empty() && is_endless(piece));
  piece.rough.clear();
  piece.held.add(piece.vertices);
  count(piece);
}

Piece Reach::closed(FaceCode code, const Points& points) {
  Piece piece;
  std::vector<const Measured*> once;
  for (const Point* point : points) {
    if (!piece.held.has(*point)) once.push_back(point);
    piece.held.add(*point);
  }
  Hull hulled = faces_.hulls(code).base.with(once, sides(code));
  piece.equations = std::move(hulled.equations);
  piece.rows = std::move(hulled.rows);
  for (CutRay& ray : hulled.cut) {
    piece.vertices.push_back(ray.point != nullptr ? static_cast<const Point*>(ray.point)
                                                  : faces_.points().add(std::move(ray.vector)));
  }
  endless_ = endless_ || (!impact_.stores.empty() && is_endless(piece));
  piece.held.add(piece.vertices);
  piece.from = points;
  count(piece);
  return piece;
}

double Reach::slack() const {
  const std::int64_t patient = std::min(made_, kUnbounded);
  const std::int64_t hasty = limits_.tight ? 0 : made_ - patient;
  const std::int64_t doublings = patient / (kPatience / 2) + hasty / kHaste;
  return std::ldexp(limits_.tolerance, static_cast<int>(std::min<std::int64_t>(doublings, 60)));
}

double Reach::distance(const Piece& piece, const Points& points) {
  double most = 0.0;
  const auto beyond = [](const Vector& row, const Vector& point) {
    const Integer size = length(row);
    return size == 0 ? 0.0 : quotient(dot(row, point), size * point[0]);
  };
  for (const Point* point : points) {
    if (piece.held.has(*point)) continue;
    for (const Vector& e : piece.equations) {
      if (sign_of_dot(e, point->exact) != 0) return std::numeric_limits<double>::infinity();
    }
    for (const Vector& r : piece.rows) most = std::max(most, -beyond(r, point->exact));
  }
  return most;
}

void Reach::widen(FaceCode code, Piece& piece, const Points& points) {
  std::vector<Vector> equations = std::move(piece.equations);
  piece.equations.clear();
  for (Vector& equation : equations) {  // one that a point violates becomes two rows
    const bool kept = std::all_of(points.begin(), points.end(), [&](const Point* point) {
      return sign_of_dot(equation, point->exact) == 0;
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
                         [&](const Point* point) { return dot(row, point->exact) < 0; });
    });
  }
  for (Vector& row : piece.rows) {
    Integer most = 0;  // what is to be added to row[0], rounded up
    for (const Point* point : points) {
      const Integer value = dot(row, point->exact);
      if (value >= 0) continue;
      const Integer needed = -value / point->exact[0] + 1;
      if (needed > most) most = needed;
    }
    if (most == 0) continue;
    const Integer size = length(row);
    const double beyond = quotient(most, size);
    moved_ = std::max(moved_, beyond);
    row[0] += most + most / 4 + Integer(size / power_above(16.0 / slack())) + 1;
  }
  piece.held.add(points);
  cut(code, piece);
  widened_ = true;
}

void Reach::add(FaceCode code, const Points& points, bool reached, const Question& question) {
  std::vector<Piece>& pieces = family_[code];
  for (Piece& piece : pieces) {
    if (holds(piece, points)) return;
  }
  const Face& face = faces_.face(code);
  Piece made;
  const bool endless =
      !limits_.tight && (points.size() > kMany || longest(points) > kHuge * limits_.length);
  if (pieces.empty() || (pieces.size() < limits_.pieces && !endless)) {
    made = closed(code, points);
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
      Piece hull = closed(code, both);
      hulled = longest(hull.vertices) < limits_.longest;
      if (hulled) made = std::move(hull);
    }
    if (!hulled) widen(code, made, points);
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

void Reach::plan(FaceCode code, const Points& points) {
  Target* nearest = nullptr;
  double least = kLost;
  for (const std::size_t t : targets_of_[code]) {
    const double far = targets_[t].planned.distance(points);
    if (far < least) least = far, nearest = &targets_[t];
    if (far == 0.0) break;
  }
  if (nearest == nullptr) {
    lost_ = true;
    return;
  }
  std::vector<Piece>& pieces = family_[code];
  const auto made = std::find_if(pieces.begin(), pieces.end(),
                                 [&](const Piece& piece) { return piece.number == nearest->made; });
  if (made != pieces.end() && holds(*made, points)) return;
  nearest->due.insert(nearest->due.end(), points.begin(), points.end());
  due_.insert(static_cast<std::size_t>(nearest - targets_.data()));
}

const Piece* Reach::made_before(FaceCode code, const Points& points) const {
  if (before_ == nullptr) return nullptr;
  const auto known = before_->find(code);
  if (known == before_->end()) return nullptr;
  const auto same = std::find_if(known->second.begin(), known->second.end(),
                                 [&](const Piece& piece) { return piece.from == points; });
  return same == known->second.end() ? nullptr : &*same;
}

void Reach::make(Target& target) {
  const FaceCode code = target.planned.code;
  std::vector<Piece>& pieces = family_[code];
  const auto known = std::find_if(pieces.begin(), pieces.end(),
                                  [&](const Piece& p) { return p.number == target.made; });
  Piece made;
  const Points points = std::move(target.due);
  target.due.clear();
  if (known == pieces.end()) {
    const Piece* const before = made_before(code, points);
    made = before != nullptr ? *before : closed(code, points);
    if (before != nullptr) made.number = --reused_;
  } else {
    made = std::move(*known);
    pieces.erase(known);
    if (distance(made, points) >= slack()) {
      Points both = made.vertices;
      both.insert(both.end(), points.begin(), points.end());
      made = closed(code, both);
    } else {
      widen(code, made, points);
    }
  }
  target.made = made.number;
  pieces.push_back(std::move(made));
}

bool Reach::run(const std::vector<RoughPiece>& planned, const Family& before) {
  before_ = &before;
  for (const RoughPiece& piece : planned) {
    targets_of_[piece.code].push_back(targets_.size());
    targets_.push_back({piece, {}, kNone});
  }
  const Hand hand = [&](FaceCode code, const Points& points) {
    if (!lost_) plan(code, points);
  };
  propagate(faces_, impact_, {faces_.points().add(impact_.start)}, hand);
  const auto most =
      std::min(limits_.budget, kTurns * (kFew + static_cast<std::int64_t>(planned.size())));
  while (!due_.empty() && !lost_) {
    if (is_spent(most) || bounded_ || endless_) return false;
    Target& target = targets_[*due_.begin()];
    due_.erase(due_.begin());
    make(target);
    const Face& face = faces_.face(target.planned.code);
    if (face.terminal) continue;
    const Points vertices = family_[target.planned.code].back().vertices;
    lost_ = lost_ || longest(vertices) > kLongestPlanned * limits_.length;
    for (const Points& points : parts(face, vertices)) {
      propagate(faces_, impact_, points, hand);
    }
  }
  return !lost_ && !endless_;
}

bool Reach::run(const Question& question) {
  bool reached = impact_.stores.empty();
  const Hand hand = [&](FaceCode code, const Points& points) {
    if (met_ == Met::no) add(code, points, reached, question);
  };
  if (made_ == 0) propagate(faces_, impact_, {faces_.points().add(impact_.start)}, hand);
  while (!open_.empty()) {
    const bool over = is_spent(limits_.budget) || (limits_.tight && bounded_);
    if (met_ != Met::no || endless_ || over) return false;
    const auto [code, number] = open_.front();
    open_.pop_front();
    const auto& pieces = family_[code];
    const auto piece = std::find_if(pieces.begin(), pieces.end(),
                                    [n = number](const Piece& p) { return p.number == n; });
    const Face& face = faces_.face(code);
    if (piece == pieces.end() || face.terminal) continue;
    reached = piece->reached;
    for (const Points& points : parts(face, piece->vertices)) {
      propagate(faces_, impact_, points, hand);
    }
  }
  return met_ == Met::no && !endless_;
}

}  // namespace carom::enclosure
