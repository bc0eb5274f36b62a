#include "reference/impact/releases.hpp"

#include <algorithm>
#include <cmath>

#include <carom/certificate_release.hpp>

#include "core/constants.hpp"
#include "reference/impact/event_draws.hpp"
#include "reference/impact/event_sizes.hpp"
#include "reference/impact/friction_polygon.hpp"

namespace carom::reference {

namespace {

/// Changes of the energy balance in a step, [m] each.
struct StepBooks {
  Vector out, put, spent, rubbed;
  double gift = 0.0;  ///< work that no store paid for
};

class ReleaseWalk {
 public:
  ReleaseWalk(Mechanism& mechanism, const ImpactSettings& settings, double step_size,
              std::uint32_t problem, std::int64_t sample)
      : mechanism_(mechanism),
        settings_(settings),
        step_size_(step_size),
        m_(mechanism.contacts()),
        materials_(mechanism, settings, problem, sample),
        draws_(m_, settings.seed, problem, sample),
        u_(mechanism.jacobian * mechanism.velocity),
        speed_(u_.cwiseAbs().maxCoeff()),
        energy_(mechanism.kinetic_energy(mechanism.velocity)),
        kept_(Vector::Zero(m_)),
        mobility_(mechanism.delassus.diagonal().head(m_)),
        slope_(mobility_) {
    for (int i = 0; i < m_; ++i) {
      if (mobility_[i] > 0.0) longest_ = std::max(longest_, speed_ / mobility_[i]);
    }
    if (!(longest_ > 0.0)) longest_ = step_size;
    result_.velocity = mechanism.velocity;
    result_.impulse = Vector::Zero(mechanism.rows());
    bounces_ = {materials_.restitution, materials_.friction, kept_, kept_, kept_, kept_};
  }

  Trajectory operator()(bool keep_path) {
    record(keep_path, Vector::Zero(mechanism_.rows()));
    while (unfinished() && result_.steps < settings_.max_steps) {
      if (!step()) return finished(TrajectoryStatus::failed);
      ++result_.steps;
      record(keep_path, taken_.back().impulse);
    }
    return finished(unfinished() ? TrajectoryStatus::max_steps : TrajectoryStatus::terminated);
  }

 private:
  static constexpr double kApproach = 1e-12;  // of the largest speed: none
  static constexpr double kSame = 1e-9;       // likewise: what a policy takes for zero
  static constexpr double kFollowed = 64.0;   // stopping impulses by one policy
  static constexpr double kShortest = 0.25;   // stretch, of a step
  static constexpr double kRounding = 1e-12;  // of the energy before
  static constexpr double kEmpty = 1e-14;     // likewise
  static constexpr double kLeast = 1e-4;      // release beyond u, of the largest speed

  /// A step as the judge is told of it.
  struct Taken {
    Vector impulse, limit, release, restitution, friction;
  };

  [[nodiscard]] bool approaches(int i) const { return u_[i] < -settings_.velocity_tolerance; }
  [[nodiscard]] bool able(int i) const { return approaches(i) || kept_[i] > 0.0; }
  [[nodiscard]] bool unfinished() const {
    for (int i = 0; i < m_; ++i) {
      if (able(i)) return true;
    }
    return false;
  }
  [[nodiscard]] auto slip_of(const Vector& u, int i) const {
    const int t = mechanism_.tangents();
    return u.segment(m_ + t * i, t);
  }

  void record(bool keep_path, const Vector& impulse) {
    if (!keep_path) return;
    result_.path.push_back(result_.velocity);
    result_.pieces.push_back({impulse, materials_.restitution, materials_.friction});
  }

  [[nodiscard]] std::vector<int> states() const {
    const auto sign = [&](double x) {
      return x > kSame * speed_ ? 2 : (x < -kSame * speed_ ? 0 : 1);
    };
    std::vector<int> states;
    for (int i = 0; i < m_; ++i) {
      int number = 0;
      for (const double t : slip_of(u_, i)) number = 3 * number + sign(t);
      states.push_back(2 * (3 * number + sign(u_[i])) + (kept_[i] > 0.0 ? 1 : 0));
    }
    return states;
  }

  /// Weights of the stretches that events follow, of which a step is a part.
  void choose_weights() {
    Vector seen = u_;
    for (int i = 0; i < m_; ++i) {
      if (able(i)) seen[i] = -speed_;
      if (!able(i) && !(u_[i] > kSame * speed_)) seen[i] = 0.0;
    }
    if (!(draws_.left > 0.0)) {
      if (result_.steps > 0) materials_.next_stretch();
      draws_.next_stretch(seen, longest_, event_sizes::kHalvings);
      draws_.left = std::max(draws_.left, kShortest * step_size_);
      followed_ = 0.0;
    }
    if (draws_.policy) {
      draws_.apply_policy(seen, states());
      followed_ += step_size_;
      if (followed_ > kFollowed * longest_) draws_.spoil();
    }
    for (int i = 0; i < m_; ++i) {
      if (draws_.weight[i] > 0.0 && able(i)) return;
    }
    draws_.left = 0.0;
    for (int i = 0; i < m_; ++i) draws_.weight[i] = able(i) ? 1.0 : 0.0;
  }

  bool step() {
    choose_weights();
    const double whole = step_size_ / draws_.weight.maxCoeff();
    const double length = draws_.left > 0.0 ? std::min(whole, draws_.left) : whole;
    const StepModel model(mechanism_.problem.dimension, mechanism_.delassus, mechanism_.friction,
                          settings_.friction_directions);
    for (const bool carefully : {false, true}) {
      Taken taken{{},
                  length * draws_.weight,
                  Vector::Zero(m_),
                  materials_.restitution,
                  materials_.friction};
      set_releases(carefully, taken);
      Vector shifted = u_;
      shifted.head(m_) -= taken.release;
      const StepSolution solution = model.solve(shifted, taken.limit, settings_.residual_tolerance);
      result_.pivots += solution.pivots;
      if (solution.status != Status::solved) return false;
      taken.impulse = solution.impulse;
      for (int i = 0; i < m_; ++i) {  // what Lemke's method leaves of a contact that does not push
        if (std::abs(taken.impulse[i]) > kRounding * taken.limit[i]) continue;
        taken.impulse[i] = 0.0;
        const int t = mechanism_.tangents();
        taken.impulse.segment(m_ + t * i, t).setZero();
      }
      const Vector velocity = result_.velocity + mechanism_.response * taken.impulse;
      const Vector next = mechanism_.jacobian * velocity;
      const StepBooks books = booked(taken, next);
      const double pays = books.put.sum() + books.spent.sum() + books.rubbed.sum();
      if (books.gift > pays + kRounding * energy_ && !carefully) continue;
      result_.residual = std::max(result_.residual, solution.residual);
      book(books);
      for (int i = 0; i < m_; ++i) {
        const double slope = (next[i] - u_[i]) / taken.impulse[i];
        const bool known =
            taken.impulse[i] > kRounding * step_size_ && slope > 0.0 && std::isfinite(slope);
        slope_[i] = known ? slope : mobility_[i];
      }
      u_ = next;
      result_.velocity = velocity;
      result_.impulse += taken.impulse;
      taken_.push_back(std::move(taken));
      break;
    }
    draws_.left = std::max(0.0, draws_.left - length);
    return true;
  }

  /// r^2 = u^2 + 2 a E; lambda_max such that the work of a release is at most what is kept.
  void set_releases(bool carefully, Taken& taken) const {
    for (int i = 0; i < m_; ++i) {
      if (!(kept_[i] > 0.0) || u_[i] < -kApproach * speed_) continue;
      const double from = std::max(u_[i], 0.0);
      const double release =
          std::max(std::sqrt(from * from + 2.0 * slope_[i] * kept_[i]), from + kLeast * speed_);
      const double most = carefully ? kept_[i] / release : 2.0 * kept_[i] / (from + release);
      taken.release[i] = release;
      taken.limit[i] = std::min(taken.limit[i], most);
    }
  }

  [[nodiscard]] StepBooks booked(const Taken& taken, const Vector& next) const {
    const Vector none = Vector::Zero(m_);
    StepBooks books{none, none, none, none};
    for (int i = 0; i < m_; ++i) {
      const double e = materials_.restitution[i];
      const double work = 0.5 * taken.impulse[i] * (u_[i] + next[i]);
      const double friction =
          0.5 * slip_of(taken.impulse, i).dot(slip_of(u_, i) + slip_of(next, i));
      books.out[i] = std::clamp(work, 0.0, kept_[i]);
      books.put[i] = e * e * std::max(-work, 0.0);
      books.spent[i] = std::max(-work, 0.0) - books.put[i];
      books.rubbed[i] = std::max(-friction, 0.0);
      books.gift += std::max(work, 0.0) - books.out[i] + std::max(friction, 0.0);
    }
    return books;
  }

  /// What is given is taken from what the step put by, then lost, then from the stores.
  void book(StepBooks books) {
    double owed = books.gift;
    trimmed_ += owed;
    const auto pay = [&owed](double from) {
      const double paid = std::min(owed, from);
      owed -= paid;
      return from > 0.0 ? paid / from : 0.0;
    };
    Vector left = kept_ - books.out;
    const double of_puts = pay(books.put.sum());
    const double of_losses = pay(books.spent.sum() + books.rubbed.sum());
    const double of_left = pay(left.sum());
    books.put *= 1.0 - of_puts;
    const Vector taken = of_left * left;
    kept_ = left - taken + books.put;
    bounces_.stored += books.put - taken;
    bounces_.released += books.out;
    bounces_.lost_compression += (1.0 - of_losses) * books.spent;
    bounces_.lost_friction += (1.0 - of_losses) * books.rubbed;
    for (int i = 0; i < m_; ++i) {
      if (kept_[i] > kEmpty * energy_) continue;
      bounces_.lost_compression[i] += kept_[i];
      kept_[i] = 0.0;
    }
  }

  template <int Dim>
  [[nodiscard]] double missed() const {
    const kernels::FrictionPolygon polygon =
        FrictionPolygon(Dim, settings_.friction_directions).judged();
    certificate::ReleaseBooks<Dim, kMaxFollowedContacts> judge(polygon);
    judge.begin({mechanism_.problem.velocities, m_, mechanism_.jacobian.data(),
                 mechanism_.response.data(), mechanism_.mass.data(), mechanism_.velocity.data(),
                 energy_, settings_.law});
    for (const Taken& taken : taken_) {
      judge.add(taken.impulse.data(), taken.limit.data(), taken.release.data(),
                taken.restitution.data(), taken.friction.data());
    }
    const auto found = judge.finish(result_.velocity.data(), bounces_.lost_compression.data(),
                                    bounces_.lost_friction.data(), settings_.velocity_tolerance);
    return certificate::within(found.books, certificate::kBooks) ? found.residual : kInfinity;
  }

  Trajectory finished(TrajectoryStatus status) {
    result_.status = status;
    result_.contact_velocity = u_;
    if (status == TrajectoryStatus::terminated) {
      result_.residual =
          std::max(result_.residual, mechanism_.tangents() == 1 ? missed<2>() : missed<3>());
    }
    if (status == TrajectoryStatus::failed ||
        !certificate::within(result_.residual, settings_.residual_tolerance)) {
      result_.status = TrajectoryStatus::failed;
      result_.residual = kInfinity;
    }
    if (settings_.vary) {
      bounces_.restitution.setConstant(kNan);
      bounces_.friction = bounces_.restitution;
    }
    bounces_.trimmed = trimmed_ > kRounding * energy_;
    result_.bounces = bounces_;
    return std::move(result_);
  }

  Mechanism& mechanism_;
  const ImpactSettings& settings_;
  double step_size_;
  int m_;
  Materials materials_;
  EventDraws draws_;
  Vector u_;
  double speed_, energy_;
  Vector kept_;            ///< in the stores [J]
  Vector mobility_;        ///< u_n by impulse of a contact by itself, and ...
  Vector slope_;           ///< ... in its last push
  double longest_ = 0.0;   ///< impulse that stops the fastest contact
  double followed_ = 0.0;  ///< by a policy
  double trimmed_ = 0.0;
  std::vector<Taken> taken_;
  Bounces bounces_;
  Trajectory result_;
};

}  // namespace

ReleaseSimulator::ReleaseSimulator(const Mechanism& mechanism, const ImpactSettings& settings,
                                   double step_size, std::uint32_t problem)
    : mechanism_(mechanism), settings_(settings), step_size_(step_size), problem_(problem) {}

Trajectory ReleaseSimulator::run(std::int64_t sample, bool keep_path) const {
  Mechanism own = mechanism_;
  return ReleaseWalk(own, settings_, step_size_, problem_, sample)(keep_path);
}

}  // namespace carom::reference
