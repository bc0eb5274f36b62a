#include "programs/coulomb/solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "programs/coulomb/contacts.hpp"
#include "programs/coulomb/lemke.hpp"
#include "programs/coulomb/local.hpp"

namespace carom::cpu {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Rounding ends progress near here; a search for less is a search in noise.
constexpr double kFloor = 1e-16;
constexpr double kAim = 1e-12;
constexpr int kGrace = 300;

class Search {
 public:
  Search(const CoulombSystem& system, double tolerance, int max_iterations)
      : system_(system), tolerance_(tolerance), max_iterations_(max_iterations) {
    best_.reaction = VectorXd::Zero(system.size());
    best_.residual = std::numeric_limits<double>::quiet_NaN();
    offer(best_.reaction);
  }

  CoulombSolution run() {
    search();
    if (best_.residual <= tolerance_) polish();
    best_.iterations = used_;
    return best_;
  }

 private:
  /// Below the tolerance the search goes on for a while, since polishing by itself may stall.
  [[nodiscard]] bool done() const {
    if (best_.residual <= std::min(tolerance_, kAim) || spent()) return true;
    return best_.residual <= tolerance_ && used_ - accepted_at_ > kGrace;
  }
  [[nodiscard]] bool spent() const { return used_ >= max_iterations_; }

  /// Plain starts first, the more expensive ones only for what they leave.
  void search() {
    VectorXd reaction = VectorXd::Zero(system_.size());
    refine(reaction);
    if (system_.dimension == 2) pivot_starts();
    reaction = best_.reaction;
    continuation(reaction);
    random_starts(16);
    for (const double alpha : {1e-3, 1e-1, 1e-5}) {
      if (done()) return;
      reaction = best_.reaction;
      proximal_point(reaction, alpha, 40);
    }
    if (system_.dimension == 3) pivot_starts();
    for (const double alpha : {1.0, 1e-2, 1e-4}) {
      if (done()) return;
      reaction.setZero();
      proximal_point(reaction, alpha, 400);
    }
  }

  void pivot_starts() {
    VectorXd reaction;
    for (const int directions : {4, 8, 12}) {
      for (const double balance : {1.0, 0.0, 0.5}) {
        if (done()) return;
        const int pivots =
            std::min(max_iterations_ - used_, 20 * system_.contacts * (directions + 2));
        if (!solve_polyhedral(system_, directions, balance, pivots, reaction, used_)) continue;
        offer(reaction);
        newton(system_, reaction, 40);
        refine(reaction);
      }
      if (system_.dimension == 2) return;
    }
  }

  /// Points inside the cones, from a fixed sequence: the answer stays a function of the problem.
  void random_starts(int starts) {
    std::minstd_rand generator(1);
    const auto uniform = [&] { return static_cast<double>(generator()) / generator.max(); };
    const int d = system_.dimension;
    VectorXd reaction(system_.size());
    for (int start = 0; start < starts && !done(); ++start) {
      for (int i = 0; i < system_.contacts; ++i) {
        auto own = reaction.segment(d * i, d);
        own[0] = uniform() / system_.weight[i];
        for (int k = 1; k < d; ++k) own[k] = (2 * uniform() - 1) / system_.weight[i];
        project_on_cone(own, system_.friction[i]);
      }
      newton(system_, reaction, 60);
      refine(reaction);
    }
  }

  void refine(VectorXd& reaction) {
    for (int round = 0; round < 3 && !done(); ++round) {
      gauss_seidel(system_, reaction, 30);
      offer(reaction);
      newton(system_, reaction, 40);
    }
    for (const double limit : {1.0, 0.1, 0.01}) leaping_newton(best_.reaction, limit, 40);
  }

  /// r <- solution of W r + alpha g (r - r_old) + q: well posed even where W is singular, and a
  /// fixed point solves the original problem. Newton on the original ends it early.
  void proximal_point(VectorXd& reaction, double alpha, int rounds) {
    CoulombSystem shifted = system_;
    const VectorXd damping = alpha * weights();
    shifted.matrix.diagonal() += damping;
    for (int round = 0; round < rounds && !done(); ++round) {
      shifted.vector = system_.vector - damping.cwiseProduct(reaction);
      newton(shifted, reaction, 15);
      if (!(law_residual(shifted, reaction) <= 1e-10)) {
        gauss_seidel(shifted, reaction, 20);
        newton(shifted, reaction, 15);
      }
      offer(reaction);
      if (round % 5 == 4 && !done()) {
        VectorXd trial = reaction;
        newton(system_, trial, 20);
      }
    }
  }

  /// Follows the solution of W + alpha g as alpha falls to zero: reaches what a nearly singular W
  /// decides only at its smallest eigenvalues.
  void continuation(VectorXd& reaction) {
    CoulombSystem shifted = system_;
    for (double alpha = 1e-1; alpha > 1e-11 && !done(); alpha *= 0.4) {
      shifted.matrix.diagonal() = system_.matrix.diagonal() + alpha * weights();
      newton(shifted, reaction, 20);
      if (!(law_residual(shifted, reaction) <= 1e-3 * alpha)) {
        gauss_seidel(shifted, reaction, 20);
        newton(shifted, reaction, 20);
      }
      offer(reaction);
    }
    if (!done()) newton(system_, reaction, 40);
  }

  [[nodiscard]] VectorXd weights() const {
    VectorXd all(system_.size());
    for (int i = 0; i < system_.contacts; ++i) {
      all.segment(system_.dimension * i, system_.dimension).setConstant(system_.weight[i]);
    }
    return all;
  }

  /// Sweeps of exact single-contact solves; where none fits, a projected gradient step.
  void gauss_seidel(const CoulombSystem& system, VectorXd& reaction, int sweeps) {
    const int d = system.dimension;
    for (int sweep = 0; sweep < sweeps && !spent(); ++sweep, ++used_) {
      const VectorXd before = reaction;
      for (int i = 0; i < system.contacts; ++i) {
        const MatrixXd block = system.matrix.block(d * i, d * i, d, d);
        const VectorXd own = reaction.segment(d * i, d);
        const VectorXd velocity =
            system.matrix.middleRows(d * i, d) * reaction + system.vector.segment(d * i, d);
        VectorXd next = own;
        if (!solve_single_contact(block, velocity - block * own, system.friction[i], own, next)) {
          next = own - velocity / system.weight[i];
          next[0] -= system.friction[i] * velocity.tail(d - 1).norm() / system.weight[i];
          project_on_cone(next, system.friction[i]);
        }
        reaction.segment(d * i, d) = next;
      }
      if (!reaction.allFinite()) {
        reaction = before;
        return;
      }
      if ((reaction - before).cwiseAbs().maxCoeff() <= 1e-15) return;
    }
  }

  /// Levenberg-Marquardt steps on alart_curnier with a backtracking, non-monotone line search. The
  /// damping falls with the residual, which keeps the steps finite and the end fast where W has a
  /// null space.
  void newton(const CoulombSystem& system, VectorXd& reaction, int steps) {
    VectorXd value = alart_curnier(system, reaction);
    double merit = value.norm();
    double ceiling = merit;
    for (int step = 0; step < steps && !spent(); ++step, ++used_) {
      if (!(merit > kFloor)) break;
      const VectorXd direction = marquardt_step(system, reaction, value, merit);
      if (!direction.allFinite()) break;
      double length = 1;
      VectorXd trial;
      VectorXd trial_value;
      double trial_merit = std::numeric_limits<double>::infinity();
      for (int halving = 0; halving < 12; ++halving, length *= 0.5) {
        trial = reaction + length * direction;
        trial_value = alart_curnier(system, trial);
        trial_merit = trial_value.norm();
        if (trial_merit <= (1 - 1e-4 * length) * ceiling) break;
      }
      if (!(trial_merit <= ceiling)) break;
      // The ceiling forgets slowly: a few uphill steps are allowed, a climb is not.
      ceiling = std::max(trial_merit, 0.5 * (ceiling + trial_merit));
      if (!(trial_merit < ceiling) && trial_merit > 0.999999 * merit && length < 0.01) break;
      reaction = trial;
      value = trial_value;
      merit = trial_merit;
      if (&system == &system_) offer(reaction);
    }
  }

  /// Steps without a line search, only limited in length. The sliding conditions are curved, so
  /// where W is nearly singular a descent creeps along a narrow valley that these steps jump
  /// across.
  void leaping_newton(VectorXd reaction, double limit, int steps) {
    for (int step = 0; step < steps && !done(); ++step, ++used_) {
      const VectorXd value = alart_curnier(system_, reaction);
      VectorXd direction = marquardt_step(system_, reaction, value, 1e-3 * value.norm());
      if (!direction.allFinite()) return;
      const double size = direction.cwiseAbs().maxCoeff();
      const double allowed = limit * (1e-3 + reaction.cwiseAbs().maxCoeff());
      if (size > allowed) direction *= allowed / size;
      reaction += direction;
      offer(reaction);
    }
  }

  static VectorXd marquardt_step(const CoulombSystem& system, const VectorXd& reaction,
                                 const VectorXd& value, double merit) {
    const Eigen::Index n = system.size();
    MatrixXd stacked = MatrixXd::Zero(2 * n, n);
    stacked.topRows(n) = alart_curnier_jacobian(system, reaction);
    stacked.bottomRows(n).diagonal().setConstant(std::min(1e-3, 1e-3 * merit));
    VectorXd target = VectorXd::Zero(2 * n);
    target.head(n) = -value;
    return stacked.colPivHouseholderQr().solve(target);
  }

  /// Undamped least-squares Newton steps from the best point while they lower the residual.
  void polish() {
    int failures = 0;
    VectorXd reaction = best_.reaction;
    for (int step = 0; step < 20 && failures < 3 && best_.residual > kFloor && !spent(); ++step) {
      const double before = best_.residual;
      const VectorXd value = alart_curnier(system_, reaction);
      reaction += marquardt_step(system_, reaction, value, 1e-3 * value.norm());
      ++used_;
      offer(reaction);
      if (!(best_.residual < before)) ++failures;
    }
  }

  void offer(const VectorXd& raw) {
    const auto worse = [&](double residual) {
      return !(residual < best_.residual) && !std::isnan(best_.residual);
    };
    if (worse(law_residual(system_, raw))) return;
    const VectorXd reaction = in_cones(system_, raw);
    const double law = law_residual(system_, reaction);
    if (worse(law)) return;
    const double own = contact_residual(system_, reaction);
    const double residual = law >= own || std::isnan(law) ? law : own;
    if (worse(residual)) return;
    if (!std::isfinite(residual)) return;
    if (!(best_.residual <= tolerance_)) accepted_at_ = used_;
    best_.reaction = reaction;
    best_.residual = residual;
  }

  const CoulombSystem& system_;
  double tolerance_;
  int max_iterations_;
  int used_ = 0;
  int accepted_at_ = 0;
  CoulombSolution best_;
};

}  // namespace

CoulombSolution search_coulomb(const CoulombSystem& system, double tolerance, int max_iterations) {
  return Search(system, tolerance, max_iterations).run();
}

}  // namespace carom::cpu
