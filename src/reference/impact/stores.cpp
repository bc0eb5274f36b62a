#include "reference/impact/stores.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <carom/certificate_restitution.hpp>

#include "core/constants.hpp"
#include "reference/impact/friction_polygon.hpp"

namespace carom::reference {

namespace {

constexpr double kEmpty = 1e-16;  // share of the energy before; Stronge's stores below are empty
constexpr double kSpent = 1e-24;  // likewise, of the other laws
constexpr double kMostWork = 1024.0;
constexpr double kStill = 1e-11;
constexpr double kNear = 1e-3;
constexpr double kServed = 1e-13;  // relative to what must be given back
constexpr double kNearlyServed = 1e-9;

/// Bounds of contact i; they may be absent.
double bound(const std::vector<double>& values, int i, double otherwise) {
  return values.empty() ? otherwise : values[static_cast<std::size_t>(i)];
}

double low_friction(const ImpactProblem& problem, int i) {
  return problem.friction[static_cast<std::size_t>(i)];
}
double high_friction(const ImpactProblem& problem, int i) {
  return bound(problem.friction_high, i, low_friction(problem, i));
}

template <int Dim>
double judged(const Mechanism& mechanism, RestitutionLaw law, int directions,
              const std::vector<PathPiece>& pieces, const Vector& velocity,
              const Bounces& bounces) {
  const kernels::FrictionPolygon polygon = FrictionPolygon(Dim, directions).judged();
  certificate::Restitution<Dim, kMaxFollowedContacts> judge(polygon);
  judge.begin({mechanism.problem.velocities, mechanism.contacts(), mechanism.jacobian.data(),
               mechanism.response.data(), mechanism.mass.data(), mechanism.velocity.data(),
               mechanism.kinetic_energy(mechanism.velocity), law});
  for (const PathPiece& piece : pieces) {
    judge.add(piece.impulse.data(), piece.restitution.data(), piece.friction.data());
  }
  const auto found =
      judge.finish(velocity.data(), bounces.lost_compression.data(), bounces.lost_friction.data());
  return certificate::within(found.books, certificate::kBooks) ? found.residual : kInfinity;
}

}  // namespace

bool friction_varies(const ImpactProblem& problem) {
  for (int i = 0; i < problem.contacts; ++i) {
    if (high_friction(problem, i) > low_friction(problem, i)) return true;
  }
  return false;
}

bool has_stores(const ImpactProblem& problem) {
  const auto& high = problem.restitution_high;
  return friction_varies(problem) ||
         std::any_of(high.begin(), high.end(), [](double e) { return e > 0.0; });
}

Materials::Materials(Mechanism& mechanism, const ImpactSettings& settings, std::uint32_t problem,
                     std::int64_t sample)
    : restitution(mechanism.contacts()),
      friction(mechanism.contacts()),
      mechanism_(mechanism),
      vary_(settings.vary),
      numbers_{settings.seed, problem, static_cast<std::uint64_t>(sample)} {
  draw();
}

void Materials::next_stretch() {
  if (!vary_) return;
  ++stretch_;
  draw();
}

void Materials::draw() {
  const ImpactProblem& problem = mechanism_.problem;
  const int m = problem.contacts;
  for (int i = 0; i < m; ++i) {
    restitution[i] = material_draw(bound(problem.restitution_low, i, 0.0),
                                   bound(problem.restitution_high, i, 0.0),
                                   numbers_.restitution(i, m, stretch_));
    friction[i] = material_draw(low_friction(problem, i), high_friction(problem, i),
                                numbers_.friction(i, m, stretch_));
  }
  mechanism_.friction = friction;
}

Stores::Stores(Mechanism& mechanism, const ImpactSettings& settings, std::uint32_t problem,
               std::int64_t sample)
    : mechanism_(mechanism),
      law_(settings.law),
      vary_(settings.vary),
      directions_(settings.friction_directions),
      materials_(mechanism, settings, problem, sample),
      energy_(mechanism.kinetic_energy(mechanism.velocity)),
      still_(certificate::kBooks * (mechanism.jacobian * mechanism.velocity).cwiseAbs().maxCoeff()),
      store_(static_cast<std::size_t>(mechanism.contacts())),
      filled_(static_cast<std::size_t>(mechanism.contacts()), false),
      velocity_(mechanism.velocity) {
  const Vector none = Vector::Zero(mechanism.contacts());
  bounces_ = {materials_.restitution, materials_.friction, none, none, none, none};
}

Vector Stores::pushers(Vector u, const EventDraws& draws, bool held, double size) const {
  const int m = mechanism_.contacts();
  std::vector<int> stays;
  const auto may_stay = [&](int i) { return u[i] == 0.0 && draws.holds(i); };
  for (int i = 0; held && i < m; ++i) {
    if (!filled(i) || !may_stay(i)) continue;
    for (int j = 0; j < m; ++j) {
      const bool pushes = u[j] < 0.0 || (filled(j) && !may_stay(j));
      if (j == i || !pushes || !(draws.weight[j] > 0.0)) continue;
      stays.push_back(i);
      break;
    }
  }
  Vector seen = u;
  for (int i = 0; i < m; ++i) {
    if (filled(i)) seen[i] = -size;
  }
  for (const int i : stays) seen[i] = u[i];
  return seen;
}

double Stores::until(int i, double u, double rate, double push) const {
  if (!filled(i) || u < 0.0 || (u == 0.0 && !(rate > 0.0))) return kInfinity;
  const Store& store = store_[static_cast<std::size_t>(i)];
  // push (u s + rate s^2 / 2) = work
  double empty = kInfinity;
  if (push > 0.0) {
    const double share = store.work / push, square = u * u + 2.0 * rate * share;
    if (square >= 0.0 && u + std::sqrt(square) > 0.0) empty = 2.0 * share / (u + std::sqrt(square));
  }
  if (law_ == RestitutionLaw::poisson && push > 0.0) return std::min(empty, store.goal / push);
  if (law_ == RestitutionLaw::newton && rate > 0.0) {
    return std::min(empty, std::max(0.0, materials_.restitution[i] * store.goal - u) / rate);
  }
  return empty;
}

bool Stores::leaves_out(const Vector& u, const Vector& impulse, const Vector& rate,
                        double length) const {
  const Vector root = mechanism_.delassus.diagonal().cwiseSqrt();
  const double push = root.dot(impulse.cwiseAbs());
  bool changes = (rate.array().abs() > kStill * push * root.array()).any();
  for (int i = 0; i < mechanism_.contacts(); ++i) changes |= impulse[i] > 0.0 && u[i] != 0.0;
  return !changes || push * length * push * length > kMostWork * energy_;
}

Vector Stores::rounded(Vector u) const {
  const Vector own = mechanism_.jacobian * velocity_;
  for (int k = 0; k < mechanism_.rows(); ++k) {
    if (std::abs(own[k] - u[k]) <= kNear * std::abs(u[k])) u[k] = own[k];
  }
  return u;
}

bool Stores::served(int i, double next, double impulse, double slack) const {
  const double goal = store_[static_cast<std::size_t>(i)].goal;
  if (law_ == RestitutionLaw::poisson) return !(goal > slack * impulse);
  if (law_ == RestitutionLaw::newton) {
    return !(next < materials_.restitution[i] * goal * (1.0 - slack));
  }
  return false;
}

void Stores::follow(const Vector& before, const Vector& after, const Vector& impulse,
                    const std::vector<bool>& emptied) {
  const int m = mechanism_.contacts(), tangents = mechanism_.tangents();
  for (int i = 0; i < m; ++i) {
    Store& store = store_[static_cast<std::size_t>(i)];
    const double e = materials_.restitution[i], push = impulse[i];
    const auto slip = [&](const Vector& u) { return u.segment(m + tangents * i, tangents); };
    bounces_.lost_friction[i] -= 0.5 * slip(impulse).dot(slip(before) + slip(after));
    const double work = 0.5 * push * (before[i] + after[i]);
    const bool compresses = before[i] < 0.0 || after[i] < 0.0;
    bounces_.lost_compression[i] -= work;
    if (compresses) {
      double kept = e * e;
      if (law_ != RestitutionLaw::stronge) kept = e > 0.0 ? 1.0 : 0.0;
      bounces_.stored[i] -= kept * work;
      store.work -= kept * work;
    } else {
      bounces_.released[i] += work;
      store.work -= work;
    }
    const double slowest = std::min(before[i], after[i]), fastest = std::max(before[i], after[i]);
    if (law_ == RestitutionLaw::newton && push > 0.0) store.goal = std::max(store.goal, -slowest);
    if (law_ == RestitutionLaw::poisson) {  // at u_n = 0, up to rounding, a push changes no store
      if (compresses && slowest < -still_) store.goal += e * push;
      if (!compresses && fastest > still_) store.goal -= push;
    }
    const bool ended = emptied[static_cast<std::size_t>(i)];
    const double least = (law_ == RestitutionLaw::stronge ? kEmpty : kSpent) * energy_;
    if (!ended && store.work > least && !served(i, after[i], push, kServed)) {
      filled_[static_cast<std::size_t>(i)] = true;
      continue;
    }
    filled_[static_cast<std::size_t>(i)] = false;
    bounces_.guarded = bounces_.guarded || (law_ != RestitutionLaw::stronge && ended &&
                                            !served(i, after[i], push, kNearlyServed));
    store = {};
  }
  velocity_ += mechanism_.response * impulse;
  pieces_.push_back({impulse, materials_.restitution, materials_.friction});
  taken_ = false;
}

double Stores::missed(const Vector& velocity) const {
  return mechanism_.tangents() == 1
             ? judged<2>(mechanism_, law_, directions_, pieces_, velocity, bounces_)
             : judged<3>(mechanism_, law_, directions_, pieces_, velocity, bounces_);
}

Bounces Stores::bounces() const {
  Bounces result = bounces_;
  if (vary_) {
    result.restitution.setConstant(kNan);
    result.friction.setConstant(kNan);
  }
  return result;
}

PathPiece Stores::take_piece() {
  if (!std::exchange(taken_, true)) return pieces_.back();
  return {Vector::Zero(mechanism_.rows()), materials_.restitution, materials_.friction};
}

}  // namespace carom::reference
