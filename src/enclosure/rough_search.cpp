#include "enclosure/rough_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "enclosure/propagate.hpp"

namespace carom::enclosure {

namespace {

double length(const Tuple& row) {
  double sum = 0.0;
  for (std::size_t i = 1; i < row.size(); ++i) sum += std::abs(row[i]);
  return sum;
}

/// By how much points with first number 1 lie outside of a row; negative inside.
double beyond(const Tuple& row, const Tuple& point, bool few) { return -dot(row, point, few); }

bool holds(const RoughPiece& piece, const RoughPoints& points) {
  const auto within = [&](const Tuple& r) {
    return std::all_of(points.begin(), points.end(), [&](const RoughPoint& point) {
      return dot(r, point.at, piece.few) >= -kRoughZero;
    });
  };
  const auto on = [&](const Tuple& e) {
    return std::all_of(points.begin(), points.end(), [&](const RoughPoint& point) {
      return sign_of_dot(e, point.at, piece.few) == 0;
    });
  };
  return std::all_of(piece.rows.begin(), piece.rows.end(), within) &&
         std::all_of(piece.equations.begin(), piece.equations.end(), on);
}

/// Of length 1.
void make_unit(Tuples& rows) {
  for (Tuple& row : rows) {
    const double size = length(row);
    if (size == 0.0) continue;
    for (double& x : row) x /= size;
  }
}

}  // namespace

double RoughPiece::distance(const Tuple& point) const {
  for (const Tuple& e : equations) {
    if (sign_of_dot(e, point, few) != 0) return std::numeric_limits<double>::infinity();
  }
  double most = 0.0;
  for (const Tuple& r : rows) most = std::max(most, beyond(r, point, few));
  return most;
}

RoughSearch::RoughSearch(const RoundedImpact& impact, Faces& faces)
    : impact_(impact), faces_(faces), row_(rough(impact.row)) {
  const Tuples stores = rough(impact.store_row);
  row_.insert(row_.end(), stores.begin(), stores.end());
}

RoughPoint RoughSearch::point(const Tuple& at) const {
  RoughPoint result{at, {}};
  for (std::size_t k = 0; k < row_.size(); ++k) {
    const int sign = sign_of_dot(row_[k], at, few());
    if (sign > 0) result.signs.above |= 1U << k;
    if (sign < 0) result.signs.below |= 1U << k;
  }
  return result;
}

RoughPoints RoughSearch::points(const Tuples& all) const {
  RoughPoints result;
  result.reserve(all.size());
  for (const Tuple& at : all) result.push_back(point(at));
  return result;
}

template <class Hand>
void RoughSearch::pass_on(const RoughPoints& points, const Hand& hand) {
  const auto cross = [&](int k, const RoughPoint& p, const RoughPoint& q) {
    RoughPoint at = point(crossing(row_[static_cast<std::size_t>(k)], p.at, q.at, few()));
    // Rounding gives it a side where the row is short relative to its numbers; no cut would end
    // that.
    const std::uint32_t others = ~(1U << k);
    at.signs.above &= others;
    at.signs.below &= others;
    return at;
  };
  propagate(faces_, impact_.contacts, points, cross, hand);
}

const RoughSearch::RoughFace& RoughSearch::face(FaceCode code) {
  const auto known = rough_.find(code);
  if (known != rough_.end()) return known->second;
  const Face& exact = faces_.face(code);
  RoughFace own{rough(exact.zero), rough(exact.side), rough(exact.motion), &exact};
  own.side.push_back({1.0});
  return rough_.emplace(code, std::move(own)).first->second;
}

bool RoughSearch::close(const RoughFace& face, const RoughPoints& points, RoughPiece& piece) {
  Tuples all = face.motion;
  for (const RoughPoint& point : points) all.push_back(point.at);
  RoughHull hulled = rough_hull(impact_.size(), all, face.side, limits_.many);
  if (!hulled.known) return false;
  piece.equations = std::move(hulled.equations);
  piece.rows = std::move(hulled.rows);
  make_unit(piece.rows);
  piece.vertices = this->points(hulled.cut);
  piece.number = made_++;
  return true;
}

double RoughSearch::slack() const {
  constexpr std::int64_t kPatience = 32;
  return std::ldexp(limits_.tolerance,
                    static_cast<int>(std::min<std::int64_t>(made_, 192) / kPatience));
}

void RoughSearch::widen(const RoughFace& face, const RoughPoints& points, RoughPiece& piece) {
  Tuples equations;
  equations.swap(piece.equations);
  for (Tuple& equation : equations) {
    const bool kept = std::all_of(points.begin(), points.end(), [&](const RoughPoint& point) {
      return sign_of_dot(equation, point.at, few()) == 0;
    });
    if (kept) {
      piece.equations.push_back(equation);
      continue;
    }
    piece.rows.push_back(equation);
    for (double& x : equation) x = -x;
    piece.rows.push_back(equation);
  }
  make_unit(piece.rows);
  for (Tuple& row : piece.rows) {
    double most = 0.0;
    for (const RoughPoint& point : points) most = std::max(most, beyond(row, point.at, few()));
    if (most > 0.0) row[0] += 1.25 * most + slack() / 16.0;
  }
  equations = face.zero;
  equations.insert(equations.end(), piece.equations.begin(), piece.equations.end());
  Tuples rows = face.side;
  rows.insert(rows.end(), piece.rows.begin(), piece.rows.end());
  piece.vertices = this->points(rough_rays(impact_.size(), equations, rows, limits_.many));
  lost_ = lost_ || piece.vertices.empty();
  piece.number = made_++;
}

void RoughSearch::add(FaceCode code, const RoughPoints& points, bool reached,
                      const Question& question) {
  std::vector<RoughPiece>& pieces = family_[code];
  if (std::any_of(pieces.begin(), pieces.end(),
                  [&](const RoughPiece& piece) { return holds(piece, points); })) {
    return;
  }
  const RoughFace& own = face(code);
  RoughPiece made;
  made.code = code;
  made.few = few();
  if (pieces.size() < limits_.pieces) {
    lost_ = lost_ || !close(own, points, made);
    made.reached = reached;
  } else {
    std::size_t nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const double far = pieces[i].distance(points);
      if (far < least) least = far, nearest = i;
    }
    made = std::move(pieces[nearest]);
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(nearest));
    if (least < slack()) {
      widen(own, points, made);
    } else {
      RoughPoints both = made.vertices;
      both.insert(both.end(), points.begin(), points.end());
      lost_ = lost_ || !close(own, both, made);
    }
    made.reached = false;
  }
  std::erase_if(pieces, [&](const RoughPiece& piece) { return holds(made, piece.vertices); });
  if (question && own.exact->terminal && !lost_) {
    const Met met = question(code, made);
    doubtful_ = met == Met::perhaps;
    if (met != Met::no) met_ = made.reached ? met : Met::perhaps;
  }
  open_.emplace_back(code, made.number);
  pieces.push_back(std::move(made));
}

bool RoughSearch::run(const RoughLimits& limits, const Question& question) {
  limits_ = limits;
  family_.clear();
  open_.clear();
  made_ = 0;
  lost_ = doubtful_ = false;
  met_ = Met::no;
  bool reached = impact_.stores.empty();
  const auto hand = [&](FaceCode code, const RoughPoints& points) {
    if (!lost_ && met_ == Met::no) add(code, points, reached, question);
  };
  pass_on({point(rough(impact_.start))}, hand);
  while (!open_.empty()) {
    if (lost_ || met_ != Met::no || made_ >= limits_.budget) return false;
    const auto [code, number] = open_.front();
    open_.pop_front();
    const RoughFace& own = face(code);
    const auto& pieces = family_[code];
    const auto piece = std::find_if(pieces.begin(), pieces.end(),
                                    [n = number](const RoughPiece& p) { return p.number == n; });
    if (piece == pieces.end() || own.exact->terminal) continue;
    reached = piece->reached;
    for (const RoughPoints& points : parts(*own.exact, piece->vertices)) {
      pass_on(points, hand);
    }
  }
  return !lost_ && met_ == Met::no;
}

std::vector<RoughPiece> RoughSearch::plan() {
  std::vector<const RoughPiece*> pieces;
  std::map<FaceCode, std::vector<std::size_t>> of_face;
  for (const auto& [code, kept] : family_) {
    for (const RoughPiece& piece : kept) {
      of_face[code].push_back(pieces.size());
      pieces.push_back(&piece);
    }
  }
  std::vector<std::size_t> next;
  const auto hand = [&](FaceCode code, const RoughPoints& points) {
    const auto found = of_face.find(code);
    if (found == of_face.end()) return;
    std::size_t nearest = found->second.front();
    double least = std::numeric_limits<double>::infinity();
    for (const std::size_t p : found->second) {
      const double far = pieces[p]->distance(points);
      if (far < least) least = far, nearest = p;
      if (far == 0.0) break;
    }
    next.push_back(nearest);
  };
  // Depth first; those that are done last come first.
  struct Visit {
    std::size_t piece;
    std::vector<std::size_t> next;
  };
  std::vector<bool> seen(pieces.size(), false);
  std::vector<std::size_t> done;
  std::vector<Visit> path;
  const auto enter = [&](std::size_t at) {
    seen[at] = true;
    next.clear();
    const RoughFace& own = face(pieces[at]->code);
    if (!own.exact->terminal) {
      for (const RoughPoints& points : parts(*own.exact, pieces[at]->vertices)) {
        pass_on(points, hand);
      }
    }
    path.push_back({at, next});
  };
  pass_on({point(rough(impact_.start))}, hand);
  for (const std::vector<std::size_t> first = next; const std::size_t at : first) {
    if (seen[at]) continue;
    enter(at);
    while (!path.empty()) {
      std::vector<std::size_t>& rest = path.back().next;
      if (rest.empty()) {
        done.push_back(path.back().piece);
        path.pop_back();
        continue;
      }
      const std::size_t to = rest.back();
      rest.pop_back();
      if (!seen[to]) enter(to);
    }
  }
  std::vector<RoughPiece> result;
  for (auto at = done.rbegin(); at != done.rend(); ++at) result.push_back(*pieces[*at]);
  return result;
}

}  // namespace carom::enclosure
