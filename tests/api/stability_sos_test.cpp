#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <carom/error.hpp>
#include <carom/stability.hpp>

#include "stability/prepare.hpp"
#include "stability/sos_program.hpp"
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
using stability::SosForm;
using test::of_figure2;
using test::RandomStances;

struct Posed {
  Stance stance;
  stability::Setting setting;
  SosForm form;
  Vector3d across[2];  ///< z, theta

  explicit Posed(const Stance& s)
      : stance(s), setting(stability::setting_of(stability::form_of(s))) {
    if (!setting.usable) return;
    form = stability::pose_sos(setting);
    // what a position across n is called: the state's rows of the first condition
    const auto& state = form.conditions.front().state;
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
    double sum = setting.n.dot(q);
    for (std::size_t a = 0; a < p.size(); ++a) {
      Polynomial m;
      m.add(form.of_p[a], p[a]);
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
    const auto found = std::find_if(form.conditions.begin(), form.conditions.end(),
                                    [&](const SosCondition& c) { return c.name == name; });
    EXPECT_NE(found, form.conditions.end()) << name;
    return *found;
  }
};

double at(const SosCondition& c, const std::vector<double>& p, const std::vector<double>& x) {
  double sum = c.known.at(x);
  for (std::size_t a = 0; a < p.size(); ++a) sum += p[a] * c.per_coefficient[a].at(x);
  return sum;
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

TEST(StabilitySos, HasTheSizesOfThePaper) {
  const SosProgramme programme = sos_programme(of_figure2(0.8, 0.5));
  EXPECT_EQ(programme.rows, 686);
  EXPECT_EQ(programme.unknowns, 2220);
  std::map<int, int> sizes;
  for (const int n : programme.problem.blocks) ++sizes[n];
  EXPECT_EQ(sizes, (std::map<int, int>{{4, 16}, {5, 50}, {6, 4}, {10, 4}, {15, 6}, {21, 1}}));
}

// Every condition's polynomial is what V2 loses: by impacts, slips and sliding computed elsewhere.
TEST(StabilitySos, ConditionsAreWhatMotionsDo) {
  RandomStances random(11);
  int impacts[3] = {}, slides = 0;
  for (const Stance& stance : inelastic(5, 12)) {
    const Posed posed(stance);
    std::vector<double> p;
    for (std::size_t a = 0; a < posed.form.of_p.size(); ++a) p.push_back(random.between(-1, 1));
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
        const std::vector<double> x{gap, before[0], before[1], before[2]};
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
    for (const SosCondition& c : posed.form.conditions) {
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
    const SosCondition& c = posed.form.conditions.front();
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

/// Gram matrices of a function of the paper's class, condition by condition, in the programme's X.
class GramMatrices {
 public:
  GramMatrices(const Posed& posed, const std::vector<double>& p) : posed_(posed), p_(p) {
    for (const SosCondition& c : posed.form.conditions) {
      Polynomial f = c.known;
      for (std::size_t a = 0; a < p_.size(); ++a) f = f + Polynomial(p_[a]) * c.per_coefficient[a];
      add(c, f);
    }
  }
  [[nodiscard]] const std::vector<double>& x() const { return x_; }
  [[nodiscard]] double least_eigenvalue() const { return least_; }

 private:
  static double linear_part(const Polynomial& f, std::size_t i) {
    Monomial m{};
    m[i] = 1;
    return f.coefficient(m);
  }
  static VectorXd gradient(const Polynomial& f, int count) {
    VectorXd result(count);
    for (int i = 0; i < count; ++i) result(i) = linear_part(f, static_cast<std::size_t>(i));
    return result;
  }
  static MatrixXd quadratic_part(const Polynomial& f, int count) {
    MatrixXd result(count, count);
    for (int i = 0; i < count; ++i) {
      for (int j = 0; j < count; ++j) {
        Monomial m{};
        ++m[static_cast<std::size_t>(i)];
        ++m[static_cast<std::size_t>(j)];
        result(i, j) = (i == j ? 1.0 : 0.5) * f.coefficient(m);
      }
    }
    return result;
  }

  void add(const SosCondition& c, const Polynomial& f) {
    const int n = static_cast<int>(c.variables);
    MatrixXd squares = quadratic_part(f, n);
    std::vector<double> factor(c.where.size(), 0.0);
    const std::string kind = c.name.substr(0, 4);
    if (kind == "posi") {  // the gaps' forces
      MatrixXd gaps(n, 2);
      for (int k = 0; k < 2; ++k) gaps.col(k) = gradient(c.where[static_cast<std::size_t>(k)], n);
      const VectorXd share = gaps.colPivHouseholderQr().solve(gradient(f, n));
      factor[0] = share(0), factor[1] = share(1);
    } else if (kind == "slip") {
      factor[1] = linear_part(f, 2) / linear_part(c.where[1], 2);
    } else if (kind == "both") {
      factor[0] = linear_part(f, 0);
    } else {  // a quadratic form of two linear ones, whose product is not negative
      const bool sticks = c.name.find("stick") != std::string::npos;
      const std::size_t first = sticks ? 2 : 1, second = sticks ? 3 : 2;
      MatrixXd two(n, 2);
      two.col(0) = gradient(c.where[first], n), two.col(1) = gradient(c.where[second], n);
      const MatrixXd inverse = two.completeOrthogonalDecomposition().pseudoInverse();
      const double cross = (inverse * squares * inverse.transpose())(0, 1);
      if (cross > 0.0) {
        const std::size_t product = sticks ? 9 : 5;  // of the last two linear ones
        factor[product] = 2.0 * cross;
        squares -=
            cross * (two.col(0) * two.col(1).transpose() + two.col(1) * two.col(0).transpose());
      }
    }
    const int main = (n + 1) * (n + 2) / 2;
    MatrixXd gram = MatrixXd::Zero(main, main);
    gram.block(1, 1, n, n) = squares;
    append(gram);
    for (const double value : factor) {
      MatrixXd constant = MatrixXd::Zero(n + 1, n + 1);
      constant(0, 0) = value;
      append(constant);
    }
  }
  void append(const MatrixXd& matrix) {
    const double size = 1.0 + matrix.norm();
    least_ =
        std::min(least_, Eigen::SelfAdjointEigenSolver<MatrixXd>(matrix).eigenvalues()(0) / size);
    for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
      for (Eigen::Index j = 0; j < matrix.cols(); ++j) x_.push_back(matrix(i, j));
    }
  }

  const Posed& posed_;
  const std::vector<double>& p_;
  std::vector<double> x_;
  double least_ = 0.0;
};

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
  for (const Monomial& m : posed.form.of_p) {
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

// Where the paper's class has a certificate, the programme has a solution, and this is one.
TEST(StabilitySos, AFunctionOfThePapersClassSolvesIt) {
  int solved = 0;
  for (const Stance& stance : inelastic(23, 60)) {
    const auto result = test::judged({stance}, StabilityMethod::paper);
    if (result.certificate.host()[0] != CertificateKind::paper) continue;
    const double s = result.s.host()[0];
    double kappa = test::wrench(stance).norm();
    while (kappa > 1e-2 && !proves_stable(stance, s, kappa)) kappa *= 0.5;
    if (!proves_stable(stance, s, kappa)) continue;
    const Posed posed(stance);
    const std::vector<double> p = coefficients(posed, s, kappa);
    const GramMatrices gram(posed, p);
    const SdpProblem& sdp = posed.form.sdp;
    ASSERT_EQ(gram.x().size(), sdp.constant.size());
    const double least = gram.least_eigenvalue();
    if (least < -1e-9) continue;  // closer to the boundary than what the strict share asks
    ++solved;
    double size = 1.0;
    for (const double v : gram.x()) size = std::max(size, std::fabs(v));
    for (std::size_t row = 0; row < sdp.objective.size(); ++row) {
      double sum = 0.0;
      for (std::size_t k = 0; k < gram.x().size(); ++k) {
        sum += sdp.coefficients[row * gram.x().size() + k] * gram.x()[k];
      }
      ASSERT_NEAR(sum, sdp.objective[row], 1e-10 * size) << row;
    }
    const auto back = posed.form.coefficients(gram.x());
    for (std::size_t a = 0; a < p.size(); ++a) EXPECT_NEAR(back[a], p[a], 1e-10 * size);
  }
  EXPECT_GT(solved, 10);
}

TEST(StabilitySos, ProvesByRoundingOrSaysNothing) {
  const std::vector<Stance> stances{of_figure2(1.0, 0.9),    // well within the paper's class
                                    of_figure2(0.25, 0.3),   // ambiguous
                                    of_figure2(0.25, 0.5)};  // escapes
  const auto result = test::judged(stances, StabilityMethod::sos);
  EXPECT_EQ(result.verdict.host()[0], StabilityVerdict::stable);
  EXPECT_EQ(result.certificate.host()[0], CertificateKind::sos);
  EXPECT_EQ(verify_certificates(stance_batch(stances), result),
            (std::vector<std::uint8_t>{1, 0, 0}));
  EXPECT_EQ(result.verdict.host()[1], StabilityVerdict::ambiguous);
  EXPECT_EQ(result.sos_status.host()[1], Status::cancelled);
  EXPECT_EQ(result.verdict.host()[2], StabilityVerdict::undecided);
  for (const std::size_t p : {std::size_t{0}, std::size_t{2}}) {
    EXPECT_GT(result.sos_iterations.host()[p], 10);
    EXPECT_FALSE(std::isnan(result.sos_residual.host()[p]));
  }
  EXPECT_NE(result.sos_status.host()[2], Status::solved);
}

TEST(StabilitySos, RefusesWhatItCannotPose) {
  const auto refused = [](const Stance& stance, const char* field) {
    try {
      (void)sos_programme(stance);
    } catch (const InvalidInput& error) {
      EXPECT_EQ(error.refusal().field, field);
      return true;
    }
    return false;
  };
  EXPECT_TRUE(refused(test::of_figure3(0.9, 0.5), "restitution"));
  EXPECT_TRUE(refused(test::biped(0.0, 1.0, 0.5, 0.5, 0.5, 0.0), "contacts"));
  StabilitySettings settings;
  settings.method = StabilityMethod::sos;
  EXPECT_THROW((void)analyse_stability(stance_batch(std::vector{test::of_figure3(0.9, 0.5)}),
                                       settings, Backend::cpu),
               InvalidInput);
}

}  // namespace
}  // namespace carom
