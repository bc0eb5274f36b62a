#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <carom/error.hpp>
#include <carom/stability.hpp>

#include "stability/prepare.hpp"
#include "stability/sos.hpp"
#include "support/stances.hpp"

// The paper's own programme: what its conditions say of motions, and that the certificates of the
// paper's class satisfy it.

namespace carom {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using stability::Monomial;
using stability::Polynomial;
using stability::SosCondition;
using stability::SosTheorem;
using test::of_figure2;
using test::RandomStances;

struct Posed {
  Stance stance;
  stability::Setting setting;
  bool single;
  std::vector<Monomial> of_p = stability::monomials_of_p();
  std::vector<SosCondition> conditions;
  Vector3d across[2];  ///< z, theta

  explicit Posed(const Stance& s, SosTheorem theorem = SosTheorem::two)
      : stance(s),
        setting(stability::setting_of(stability::form_of(s))),
        single(theorem == SosTheorem::one) {
    if (!setting.usable) return;
    conditions = stability::sos_conditions(setting, theorem, of_p);
    // what a position across n is called: the state's rows of the first condition
    const auto& state = conditions.front().state;
    for (int k = 0; k < 2; ++k) {
      EXPECT_EQ(state[static_cast<std::size_t>(k)].terms().size(), 1u);
    }
    across[1] = Vector3d::UnitZ() - setting.n(2) * setting.n;
    if (std::fabs(setting.n(2)) >= 0.9) across[1] = Vector3d::UnitX() - setting.n(0) * setting.n;
    across[1].normalize();
    across[0] = across[1].cross(setting.n);
  }

  [[nodiscard]] double value(const std::vector<double>& p, const Vector3d& q,
                             const Vector3d& v) const {
    const std::vector<double> x{across[0].dot(q), across[1].dot(q), v(0), v(1), v(2)};
    double sum = single ? 0.0 : setting.n.dot(q);
    for (std::size_t a = 0; a < p.size(); ++a) {
      Polynomial m;
      m.add(of_p[a], p[a]);
      sum += m.at(x);
    }
    return sum;
  }
  /// d/dt of it along q' = v, v' = a: differences, without the error that a cubic's have.
  [[nodiscard]] double rate(const std::vector<double>& p, const Vector3d& q, const Vector3d& v,
                            const Vector3d& a) const {
    const auto by = [&](double step) {
      return (value(p, q + step * v, v + step * a) - value(p, q - step * v, v - step * a)) /
             (2.0 * step);
    };
    const double step = 0.1 / (1.0 + a.norm());
    return (4.0 * by(step) - by(2.0 * step)) / 3.0;
  }
  [[nodiscard]] const SosCondition& condition(const std::string& name) const {
    const auto found = std::find_if(conditions.begin(), conditions.end(),
                                    [&](const SosCondition& c) { return c.name == name; });
    EXPECT_NE(found, conditions.end()) << name;
    return *found;
  }
};

double at(const SosCondition& c, const std::vector<double>& p, const std::vector<double>& x) {
  double sum = c.known.at(x);
  for (std::size_t a = 0; a < p.size(); ++a) sum += p[a] * c.per_coefficient[a].at(x);
  return sum;
}

/// Parts of v along the axes of an impact's condition: the turn, and the duals of N and T.
std::array<double, 3> parts(const SosCondition& c, const Vector3d& v) {
  Matrix3d axes;
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      Monomial m{};
      m[static_cast<std::size_t>(1 + i)] = 1;
      axes(k, i) = c.state[static_cast<std::size_t>(2 + k)].coefficient(m);
    }
  }
  const Vector3d x = axes.inverse() * v;
  return {x(0), x(1), x(2)};
}

std::vector<Stance> inelastic(std::uint64_t seed, std::size_t count) {
  RandomStances random(seed);
  std::vector<Stance> all{of_figure2(0.8, 0.5), of_figure2(0.45, 0.9)};
  while (all.size() < count) {
    Stance stance = random.any();
    for (StanceContact& c : stance.contacts) c.restitution = 0.0;
    if (stability::setting_of(stability::form_of(stance)).usable) all.push_back(stance);
  }
  return all;
}

std::map<int, int> counted(const std::vector<int>& blocks) {
  std::map<int, int> sizes;
  for (const int n : blocks) ++sizes[n];
  return sizes;
}

TEST(StabilitySos, HasTheSizesOfThePaper) {
  const SosProgramme inelastic = sos_programme(of_figure2(0.8, 0.5));
  EXPECT_EQ(inelastic.rows, 686);
  EXPECT_EQ(inelastic.unknowns, 2220);
  EXPECT_EQ(counted(inelastic.blocks),
            (std::map<int, int>{{4, 16}, {5, 50}, {6, 4}, {10, 4}, {15, 6}, {21, 1}}));
  const SosProgramme elastic = sos_programme(test::of_figure3(0.9, 0.5));
  EXPECT_EQ(elastic.rows, 3038);
  const auto sizes = counted(elastic.blocks);
  EXPECT_EQ(sizes.at(56), 6);
  EXPECT_EQ(sizes.rbegin()->first, 56);
  // on their faces: squares of what is across the turn, and of the flight's duration
  EXPECT_EQ(counted(inelastic.problem.blocks).rbegin()->first, 3);
  EXPECT_EQ(counted(elastic.problem.blocks).rbegin()->first, 3);
  EXPECT_THROW((void)sos_programme(of_figure2(0.8, 0.5), StabilityMethod::paper), InvalidInput);
}

// Every condition's polynomial is what V2 loses: by impacts, slips and sliding computed elsewhere.
TEST(StabilitySos, ConditionsAreWhatMotionsDo) {
  RandomStances random(11);
  int impacts[3] = {}, slides = 0;
  for (const Stance& stance : inelastic(5, 12)) {
    const Posed posed(stance);
    std::vector<double> p;
    for (std::size_t a = 0; a < posed.of_p.size(); ++a) p.push_back(random.between(-1, 1));
    const auto modes = contact_modes(stance);
    for (int i = 0; i < 2; ++i) {
      const auto [normal, tangent] = test::gradients(stance.contacts[static_cast<std::size_t>(i)]);
      const auto [other, unused] =
          test::gradients(stance.contacts[static_cast<std::size_t>(1 - i)]);
      const std::string number = std::to_string(i + 1);
      Vector3d lift = (normal.dot(normal) * other - normal.dot(other) * normal);
      lift -= posed.setting.n.dot(lift) * posed.setting.n;
      lift.normalize();
      for (int trial = 0; trial < 20; ++trial) {
        auto before = random.velocity();
        if (normal.dot(test::vector(before)) > 0.0) before = {-before[0], -before[1], -before[2]};
        const StanceImpact impact = stance_impact(stance, i, before);
        const double gap = random.between(0, 1);
        const char* kinds[] = {" stick", " slip+", " slip-"};
        const SosCondition& c =
            posed.condition("impact " + number + kinds[static_cast<int>(impact.kind)]);
        const auto along = parts(c, test::vector(before));
        const std::vector<double> x{gap, along[0], along[1], along[2]};
        const double lost = posed.value(p, gap * lift, test::vector(before)) -
                            posed.value(p, gap * lift, test::vector(impact.velocity));
        EXPECT_NEAR(at(c, p, x), lost, 1e-9 * (1.0 + std::fabs(lost))) << c.name;
        for (std::size_t k = 0; k + 1 < c.where.size(); ++k) EXPECT_GE(c.where[k].at(x), -1e-12);
        ++impacts[static_cast<int>(impact.kind)];
      }
      for (int way = 0; way < 2; ++way) {
        const std::string letter = way == 0 ? "P" : "N";
        const StanceMode& mode = test::mode(modes, i == 0 ? letter + "F" : "F" + letter);
        const SosCondition& c = posed.condition("slip " + number + (way == 0 ? "+" : "-"));
        const std::vector<double> x{random.between(0, 1), random.between(-1, 1),
                                    (way == 0 ? 1.0 : -1.0) * random.between(0, 1)};
        const Vector3d turn = normal.cross(tangent).normalized();
        const Vector3d along =
            (normal.dot(normal) * tangent - normal.dot(tangent) * normal).normalized();
        const Vector3d q = x[0] * lift, v = x[1] * turn + x[2] * along;
        const Vector3d a = test::vector(mode.acceleration);
        const double fall = -posed.rate(p, q, v, a);
        EXPECT_NEAR(at(c, p, x), fall, 1e-8 * (1.0 + a.norm() + std::fabs(fall))) << c.name;
        for (std::size_t k = 0; k + 1 < c.where.size(); ++k) EXPECT_GE(c.where[k].at(x), 0.0);
      }
    }
    for (const SosCondition& c : posed.conditions) {
      if (c.name.substr(0, 4) != "both") continue;
      ++slides;
      const double sign = c.name.back() == '+' ? 1.0 : -1.0;
      const Vector3d v = 0.7 * sign * posed.setting.n;
      std::string word;
      for (const StanceContact& contact : stance.contacts) {
        word += test::gradients(contact).tangent.dot(v) > 0.0 ? 'P' : 'N';
      }
      const Vector3d a = test::vector(test::mode(modes, word).acceleration);
      const double fall = -posed.rate(p, Vector3d::Zero(), v, a);
      EXPECT_NEAR(at(c, p, {0.7}), fall, 1e-8 * (1.0 + a.norm() + std::fabs(fall))) << c.name;
    }
    // V2 + m V1 less a share of the energy; y falls out
    const SosCondition& c = posed.conditions.front();
    const std::vector<double> x{0.3, -0.2, 0.5, -0.4, 0.1};
    const Vector3d q = x[0] * posed.across[0] + x[1] * posed.across[1] + 3.0 * posed.setting.n;
    const Vector3d v(x[2], x[3], x[4]), g = test::wrench(stance);
    double share = 0.5 * v.squaredNorm();
    for (const StanceContact& contact : stance.contacts) {
      share += g.norm() * test::gradients(contact).normal.normalized().dot(q);
    }
    const double m = 1.0 / g.dot(posed.setting.n);
    const double said =
        posed.value(p, q, v) + m * (0.5 * v.squaredNorm() - g.dot(q)) - 1e-3 * m * share;
    EXPECT_NEAR(at(c, p, x), said, 1e-9 * (1.0 + std::fabs(said)));
  }
  for (const int seen : impacts) EXPECT_GT(seen, 10);
  EXPECT_GT(slides, 2);
}

// With restitution the flight before the impact counts, by Theorem 1 each on its own.
TEST(StabilitySos, FlightsAreWhatMotionsDo) {
  RandomStances random(29);
  int impacts[3] = {}, within = 0;
  for (int stances = 0; stances < 8;) {
    const Stance stance = stances == 0 ? test::of_figure3(0.9, 0.5) : random.any();
    const Posed posed(stance), alone(stance, SosTheorem::one);
    if (!posed.setting.usable ||
        !(stance.contacts[0].restitution + stance.contacts[1].restitution > 0.0)) {
      continue;
    }
    ++stances;
    std::vector<double> p;
    for (std::size_t a = 0; a < posed.of_p.size(); ++a) p.push_back(random.between(-1, 1));
    const Vector3d g = test::wrench(stance);
    for (int i = 0; i < 2; ++i) {
      const auto [normal, tangent] = test::gradients(stance.contacts[static_cast<std::size_t>(i)]);
      const auto [other, unused] =
          test::gradients(stance.contacts[static_cast<std::size_t>(1 - i)]);
      Vector3d lift = (normal.dot(normal) * other - normal.dot(other) * normal);
      lift -= posed.setting.n.dot(lift) * posed.setting.n;
      lift.normalize();
      for (int trial = 0; trial < 20; ++trial) {
        auto before = random.velocity();
        if (normal.dot(test::vector(before)) > 0.0) before = {-before[0], -before[1], -before[2]};
        const StanceImpact impact = stance_impact(stance, i, before);
        const double gap = random.between(0, 1);
        const double duration =
            random.between(0, 1) * 2.0 * normal.dot(test::vector(before)) / normal.dot(g);
        const Vector3d v = test::vector(before), q = gap * lift;
        const Vector3d q0 = q - v * duration + 0.5 * g * duration * duration;
        const char* kinds[] = {" stick", " slip+", " slip-"};
        const std::string name =
            "impact " + std::to_string(i + 1) + kinds[static_cast<int>(impact.kind)];
        const SosCondition& c = posed.condition(name);
        const auto along = parts(c, v);
        const std::vector<double> x{gap, along[0], along[1], along[2], duration};
        const double lost =
            posed.value(p, q0, v - g * duration) - posed.value(p, q, test::vector(impact.velocity));
        const double size = 1.0 + std::pow(q0.norm() + v.norm() + 1.0, 3);
        EXPECT_NEAR(at(c, p, x), lost, 1e-10 * size) << c.name;
        // admissible if the other gap is at the start; the ball is last
        const bool open = other.dot(q0) >= 0.0;
        within += open ? 1 : 0;
        for (std::size_t k = 0; k + 2 < c.where.size(); ++k) EXPECT_GE(c.where[k].at(x), -1e-12);
        EXPECT_NEAR(c.where[c.where.size() - 2].at(x), other.dot(q0), 1e-10 * size);
        ++impacts[static_cast<int>(impact.kind)];

        const double jump = alone.value(p, q, v) - alone.value(p, q, test::vector(impact.velocity));
        EXPECT_NEAR(at(alone.condition(name), p, {gap, along[0], along[1], along[2]}), jump,
                    1e-10 * size);
      }
    }
    const Vector3d q = 0.4 * alone.setting.gap_dual[0] + 0.7 * alone.setting.gap_dual[1];
    const Vector3d v(0.3, -0.2, 0.5);
    const double fall = -alone.rate(p, q, v, g);
    EXPECT_NEAR(at(alone.condition("flight"), p, {0.4, 0.7, v(0), v(1), v(2)}), fall,
                1e-8 * (1.0 + g.norm() + std::fabs(fall)));
  }
  for (const int seen : impacts) EXPECT_GT(seen, 10);
  EXPECT_GT(within, 20);
}

/// Coefficients of V2 / k of the paper's class.
std::vector<double> coefficients(const Posed& posed, double s, double kappa) {
  const Vector3d g = test::wrench(posed.stance), n = posed.setting.n;
  const auto [n1, t1] = test::gradients(posed.stance.contacts[0]);
  const auto [n2, t2] = test::gradients(posed.stance.contacts[1]);
  Vector3d c = n1.cross(t1).cross(n2.cross(t2));
  c /= std::hypot(c(0), c(1)) * (c.dot(n) < 0.0 ? -1.0 : 1.0);
  const double k = kappa * c.dot(n);
  const Vector3d slope = (-g + (g.dot(n) / c.dot(n) + kappa) * c) / k;
  const Matrix3d q = (Matrix3d::Identity() + s * c * c.transpose()) / k;
  std::vector<double> p;
  for (const Monomial& m : stability::leading_monomials_of_p()) {
    double value = 0.0;
    if (m == Monomial{1}) value = posed.across[0].dot(slope);
    if (m == Monomial{0, 1}) value = posed.across[1].dot(slope);
    for (int i = 0; i < 3; ++i) {
      for (int j = i; j < 3; ++j) {
        Monomial product{};
        ++product[static_cast<std::size_t>(2 + i)];
        ++product[static_cast<std::size_t>(2 + j)];
        if (m == product) value = (i == j ? 0.5 : 1.0) * q(i, j);
      }
    }
    p.push_back(value);
  }
  return p;
}

std::vector<Stance> any_usable(std::uint64_t seed, std::size_t count) {
  RandomStances random(seed);
  std::vector<Stance> all{of_figure2(1.0, 0.9), test::of_figure3(0.9, 0.5)};
  while (all.size() < count) {
    const Stance stance = random.any();
    if (stability::setting_of(stability::form_of(stance)).usable) all.push_back(stance);
  }
  return all;
}

// The reduced answer satisfies the programme as it was before, and is the paper's class's where
// that, exact, is not empty; and where the class has none, the programme has none.
TEST(StabilitySos, SolvesTheProgrammeOrProvesThatNothingDoes) {
  int solved[2] = {}, refuted[2] = {}, open = 0;
  for (const Stance& stance : any_usable(23, 120)) {
    const auto form = stability::form_of(stance);
    const auto by_class = test::judged({stance}, StabilityMethod::paper);
    const StabilityVerdict verdict = by_class.verdict.host()[0];
    if (verdict != StabilityVerdict::stable && verdict != StabilityVerdict::undecided) continue;
    const auto answer = stability::solve_sos(form, SosTheorem::two);
    const bool flies = stance.contacts[0].restitution + stance.contacts[1].restitution > 0.0;
    if (answer.status == Status::solved) {
      ++solved[flies];
      EXPECT_LE(answer.residual, 1e-9);
      EXPECT_TRUE(answer.found);
      EXPECT_EQ(verdict, StabilityVerdict::stable);
      EXPECT_TRUE(proves_stable(stance, answer.s, answer.kappa));
    } else if (answer.status == Status::infeasible) {
      ++refuted[flies];
      EXPECT_FALSE(answer.found);
      EXPECT_EQ(verdict, StabilityVerdict::undecided);
    } else {
      ++open;
    }
  }
  for (const int flies : {0, 1}) {
    EXPECT_GT(solved[flies], 5);
    EXPECT_GT(refuted[flies], 5);
  }
  EXPECT_LE(open, 2);
}

// A function of the class is a solution of the reduced programme with every number of its own.
TEST(StabilitySos, AFunctionOfThePapersClassSolvesItsConditions) {
  int seen = 0;
  RandomStances random(31);
  for (const Stance& stance : any_usable(37, 60)) {
    const auto result = test::judged({stance}, StabilityMethod::paper);
    if (result.certificate.host()[0] != CertificateKind::paper) continue;
    const Posed posed(stance);
    const auto some = stability::sos_conditions(posed.setting, SosTheorem::two,
                                                stability::leading_monomials_of_p());
    const double kappa = result.kappa.host()[0] + 1e-3;
    const std::vector<double> p = coefficients(posed, result.s.host()[0], kappa);
    ++seen;
    for (const SosCondition& c : some) {
      if (c.name == "positive") continue;
      const Polynomial f = c.at(p);
      double size = 0.0;
      for (std::size_t a = 0; a < p.size(); ++a) {
        for (const auto& [m, value] : c.per_coefficient[a].terms()) {
          size = std::max(size, std::fabs(p[a] * value));
        }
      }
      for (int trial = 0; trial < 50; ++trial) {
        std::vector<double> x;
        for (std::size_t k = 0; k < c.variables; ++k) x.push_back(random.between(-0.3, 0.3));
        const bool admissible = std::all_of(c.where.begin(), c.where.end(),
                                            [&](const auto& g) { return g.at(x) >= 0.0; });
        if (admissible) EXPECT_GE(f.at(x), -1e-9 * size) << c.name;
      }
    }
  }
  EXPECT_GT(seen, 10);
}

// Theorem 1 on both charts: no function can stay as it is in flight and be positive.
TEST(StabilitySos, NoSingleFunctionOnThePapersCharts) {
  for (const double d : {0.2, 0.5, 0.9, 1.3}) {
    for (const double mu : {0.4, 0.8, 1.4}) {
      for (const Stance& stance : {of_figure2(mu, d), test::of_figure3(mu, d)}) {
        const auto form = stability::form_of(stance);
        if (!stability::setting_of(form).usable) continue;
        const auto answer = stability::solve_sos(form, SosTheorem::one);
        EXPECT_EQ(answer.status, Status::infeasible) << mu << ' ' << d;
      }
    }
  }
}

TEST(StabilitySos, ProvesOrSaysNothing) {
  const std::vector<Stance> stances{of_figure2(1.0, 0.9),    // well within the paper's class
                                    of_figure2(0.25, 0.3),   // ambiguous
                                    of_figure2(0.25, 0.5)};  // escapes
  const auto result = test::judged(stances, StabilityMethod::sos);
  EXPECT_EQ(result.verdict.host()[0], StabilityVerdict::stable);
  EXPECT_EQ(result.certificate.host()[0], CertificateKind::sos);
  EXPECT_EQ(verify_certificates(stance_batch(stances), result),
            (std::vector<std::uint8_t>{1, 0, 0}));
  EXPECT_EQ(result.verdict.host()[1], StabilityVerdict::ambiguous);
  EXPECT_EQ(result.sos_status.host()[0], Status::solved);
  EXPECT_EQ(result.sos_status.host()[1], Status::cancelled);
  EXPECT_EQ(result.verdict.host()[2], StabilityVerdict::undecided);
  EXPECT_EQ(result.sos_status.host()[2], Status::infeasible);
}

TEST(StabilitySos, RefusesWhatItCannotPose) {
  try {
    (void)sos_programme(test::biped(0.0, 1.0, 0.5, 0.5, 0.5, 0.0));
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_EQ(error.refusal().field, "contacts");
  }
}

}  // namespace
}  // namespace carom
