#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <carom/error.hpp>
#include <carom/impact_enclosure.hpp>

#include "support/enclosures.hpp"
#include "support/from_environment.hpp"

// Impacts whose normal rows are parallel but for 1e-15 to 1e-4: what is called enclosed holds every
// sample that is followed without a step, and no proof of a neighbouring problem is taken.
namespace carom {
namespace {

/// One over the other: two contacts (or three) of which the second repeats the first but for eps.
class NearlyParallel {
 public:
  explicit NearlyParallel(std::uint64_t seed) : random_(seed) {}

  ImpactProblem next() {
    const int m = random_.unit() < 0.75 ? 2 : 3, n = random_.integer(3, 5);
    const bool plain = random_.unit() < 0.25, halves = random_.unit() < 0.25;
    const test::Matrix half = random_.normal_matrix(n, n);
    test::Matrix mass = test::Matrix::Identity(n, n);
    if (!plain) mass = half * half.transpose() + 0.1 * mass;
    if (random_.unit() < 0.2) {  // velocities in units of very different size
      for (int j = 0; j < n; ++j) {
        const double unit = std::pow(10.0, random_.between(-4.0, 4.0));
        mass.row(j) *= unit;
        mass.col(j) *= unit;
      }
      mass = (0.5 * (mass + mass.transpose())).eval();
    }
    test::Matrix normal = random_.normal_matrix(m, n), tangent = random_.normal_matrix(m, n);
    if (halves) {
      for (test::Matrix* rows : {&normal, &tangent}) {
        for (double& x : rows->reshaped()) x = std::round(2.0 * x) / 2.0;
      }
      if (normal.row(0).isZero()) normal(0, 0) = 1.0;
    }
    const double eps = eps_ = std::pow(10.0, random_.between(-15.0, -4.0));
    test::Vector by = random_.normal_vector(n);
    if (random_.unit() < 0.3) by = test::Vector::Unit(n, 0);
    normal.row(1) = normal.row(0) + eps * by.transpose();
    if (random_.unit() < 0.3) normal.row(1) *= random_.unit() < 0.5 ? 0.5 : 3.7;
    if (random_.unit() < 0.4) tangent.row(1) = tangent.row(0);
    if (random_.unit() < 0.3) tangent.row(1) += eps * random_.normal_vector(n).transpose();
    if (random_.unit() < 0.2) tangent.row(1) = -tangent.row(0);
    test::Vector v = random_.normal_vector(n);
    if ((normal * v).minCoeff() > 0.0) v = -v;
    ImpactProblem problem;
    problem.velocities = n;
    problem.contacts = m;
    const auto list = [](const auto& x) {
      return std::vector<double>(x.data(), x.data() + x.size());
    };
    problem.mass_matrix = list(mass);
    problem.normal_jacobian = list(normal);
    problem.tangent_jacobian = list(tangent);
    problem.velocity = list(v);
    constexpr double kFrictions[] = {0.0, 0.1, 0.5, 1.0, 2.0, 1e6};
    for (int i = 0; i < m; ++i) problem.friction.push_back(kFrictions[random_.integer(0, 5)]);
    return problem;
  }

  /// What the last problem's normals differ by.
  [[nodiscard]] double eps() const { return eps_; }

 private:
  test::Generator random_;
  double eps_ = 0.0;
};

TEST(NearlyParallelContacts, NoSampleLeavesWhatIsEnclosed) {
  const int seed = test::from_environment("CAROM_TRUST_SEED", 1);
  const int count = test::from_environment("CAROM_TRUST_PROBLEMS", 100);
  NearlyParallel problems(static_cast<std::uint64_t>(seed));
  EnclosureSettings settings;
  settings.threads = 1;
  settings.budget = 120;
  int known = 0, contradictions = 0, apart = 0, unrounded = 0, made = 0;
  for (int k = 0; k < count; ++k) {
    const ImpactProblem problem = problems.next();
    try {
      validate(problem);
    } catch (const InvalidInput&) {  // M of too different units
      continue;
    }
    ++made;
    const ImpactEnclosure set = enclose_impact(problem, settings);
    if (set.status == EnclosureStatus::contradiction) {
      ++contradictions;
      apart += problems.eps() > 1e-6 ? 1 : 0;
    }
    if (set.status != EnclosureStatus::enclosed && set.status != EnclosureStatus::outer) continue;
    ++known;
    unrounded += set.data_rounding == 0.0;
    ImpactSettings events = test::events(512);
    events.threads = 1;
    const ImpactResult followed = test::followed(problem, events);
    const double excess = test::excess(test::bounds_of(followed.summary[0]), test::bounds_of(set));
    if (followed.summary[0].terminated > 0) {
      EXPECT_LE(excess, 1e-9 * test::contact_speed(problem)) << seed << " " << k;
    }
    std::vector<std::uint64_t> sampled;
    for (const auto& [modes, samples] : followed.summary[0].mode_counts) sampled.push_back(modes);
    EXPECT_TRUE(compare_modes(problem, sampled, events.mode_tolerance, set).outside.empty())
        << seed << " " << k;
    EXPECT_TRUE(proves_enclosure(problem, set)) << seed << " " << k;
  }
  EXPECT_GE(known, 75 * made / 100);
  EXPECT_LE(contradictions, 15 * made / 100);
  EXPECT_LE(apart, 2 + made / 100);
  EXPECT_GE(unrounded, made / 2);
}

// In doubles the point where a side is crossed lay beside it again: cut after cut, each with the
// square of the points before.
TEST(NearlyParallelContacts, CutsBesideARoundedRowEnd) {
  NearlyParallel problems(101);
  for (int k = 0; k < 289; ++k) static_cast<void>(problems.next());
  EnclosureSettings settings;
  settings.threads = 1;
  settings.budget = 120;
  const ImpactProblem problem = problems.next();
  const ImpactEnclosure set = enclose_impact(problem, settings);
  if (set.status == EnclosureStatus::enclosed) {
    EXPECT_TRUE(proves_enclosure(problem, set));
  }
}

// Two bodies a micrometre long whose contacts differ by 1e-10: hulls of thirty points with
// thousands of bits, seconds each, were counted as one polyhedron each.
TEST(NearlyParallelContacts, LongNumbersEndASearchBeforeItsBudget) {
  ImpactProblem problem;
  problem.velocities = 6;
  problem.contacts = 3;
  const double inertia[] = {
      1.0, 1.0, 4e-13, 4.84197909075265, 4.84197909075265, 1.9367916363010595e-12};
  problem.mass_matrix.assign(36, 0.0);
  for (std::size_t j = 0; j < 6; ++j) problem.mass_matrix[7 * j] = inertia[j];
  const auto numbers = [](const char* text) {
    std::istringstream in(text);
    return std::vector<double>(std::istream_iterator<double>(in), {});
  };
  problem.normal_jacobian = numbers(
      "0 0 0 0.8880486662154343 -0.45974946050320514 -8.904693241024712e-07 "
      "0.8880486573262362 -0.45974947767351426 8.625925973200614e-07 -0.8880486573262362 "
      "0.45974947767351426 8.904797057309875e-07 "
      "0 0 0 0.8880486664222642 -0.45974946010369405 -8.904706062629514e-07 ");
  problem.tangent_jacobian = numbers(
      "0 0 0 -0.45974946050320514 -0.8880486662154343 -2.034963731374454e-07 "
      "-0.45974947767351426 -0.8880486573262362 -4.546592323320825e-07 0.45974947767351426 "
      "0.8880486573262362 2.034910658892988e-07 "
      "0 0 0 -0.45974946010369405 -0.8880486664222642 -2.0349572598359297e-07 ");
  problem.friction = {0.3, 0.3, 1.0};
  problem.velocity = {-0.5562897038827068, 0.8784004480624881, -491602.2575645258,
                      -0.4512590148147555, 0.743643060135857,  596406.1613375525};
  EnclosureSettings settings;
  settings.threads = 1;
  settings.budget = 512;
  const ImpactEnclosure set = enclose_impact(problem, settings);
  EXPECT_EQ(set.status, EnclosureStatus::budget);
  EXPECT_LT(set.made, settings.budget);
}

/// Contact A has no friction: it by itself leaves v = (0, -1, 0, 1), with B's slip -1 and B's
/// normal velocity 1e-7.
ImpactProblem frictionless_before_rough() {
  ImpactProblem problem;
  problem.velocities = 4;
  problem.contacts = 2;
  problem.mass_matrix = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  problem.normal_jacobian = {1, 0, 0, 0, 0.9999998, 2e-7, 2e-7, 3e-7};
  problem.tangent_jacobian = {-0.5, 0.5, 0, 0, -0.5, 1, -1, 0};
  problem.friction = {0, 2};
  problem.velocity = {-1, -1, 0, 1};
  return problem;
}

TEST(NearlyParallelContacts, AnOutcomeByHandIsNotExcluded) {
  const ImpactProblem problem = frictionless_before_rough();
  const ImpactEnclosure set = enclose_impact(problem);
  ASSERT_EQ(set.status, EnclosureStatus::enclosed);
  EXPECT_EQ(set.data_rounding, 0.0);
  EXPECT_NEAR(set.tangent_velocity_min[1], -1.0, 1e-12);
  EXPECT_NEAR(set.tangent_velocity_min[0], -0.5, 1e-12);
  EXPECT_NEAR(set.normal_velocity_min[1], 1e-7, 1e-12);
  EXPECT_NEAR(set.normal_velocity_max[0], 0.0, 1e-15);
  EXPECT_LE(test::outside(set, {0.0, 1e-7, -0.5, -1.0}), 1e-12);
  const std::vector<std::string> names = {"A", "B"};
  const ImpactEvent slips = impact_event("B tangent < -1e-3", names);
  EXPECT_FALSE(never_happens(set, slips));
  EXPECT_NE(decide_impact(problem, slips).answer, ImpactAnswer::never);
}

/// A foot and another 1 um beside it.
ImpactProblem feet(double apart) {
  ImpactProblem problem;
  problem.velocities = 3;
  problem.contacts = 2;
  problem.mass_matrix = {1, 0, 0, 0, 1, 0, 0, 0, 0.4};
  problem.normal_jacobian = {0, 1, 0, 0, 1, apart};
  problem.tangent_jacobian = {1, 0, 1, 1, 0, 1};
  problem.friction = {1, 1};
  problem.velocity = {0.3, -1, 0.1};
  return problem;
}

/// The second foot stops the first: with A = J M^-1 J' both stick after its push. u_t = 0.4 and
/// u_n = -1 vanish by the impulses (n, t) at the second foot: with w = 2.5 apart, (1 + apart w) n +
/// w t = 1 - 0.1 apart and w n + 3.5 t = -0.4, and the first foot has -1 + n.
double first_foot(double apart) {
  const double w = 2.5 * apart, a = 1.0 + apart * w, speed = 1.0 - 0.1 * apart;
  const double n = (3.5 * speed + 0.4 * w) / (3.5 * a - w * w);
  return n - 1.0;
}

TEST(NearlyParallelContacts, FeetThatAreApartByAMicrometreAreTwo) {
  for (const double apart : {1e-9, 1e-6, 1e-3}) {
    const ImpactProblem problem = feet(apart);
    const ImpactEnclosure set = enclose_impact(problem);
    ASSERT_EQ(set.status, EnclosureStatus::enclosed) << apart;
    EXPECT_NEAR(set.normal_velocity_min[0], first_foot(apart), 1e-15 + 1e-9 * apart) << apart;
    EXPECT_GE(set.normal_velocity_max[0], first_foot(apart) * (1.0 - 1e-6)) << apart;
    EXPECT_LE(set.normal_velocity_max[0], first_foot(apart) * (1.0 + 10.0 * apart)) << apart;
    EXPECT_TRUE(proves_enclosure(problem, set)) << apart;
    // What is proven of one is not of another.
    EXPECT_FALSE(proves_enclosure(feet(0.0), set)) << apart;
    EXPECT_FALSE(proves_enclosure(problem, enclose_impact(feet(0.0)))) << apart;
    EXPECT_FALSE(proves_enclosure(feet(apart * (1.0 + 1e-9)), set)) << apart;
  }
  const ImpactEnclosure one = enclose_impact(feet(0.0));
  EXPECT_EQ(one.status, EnclosureStatus::enclosed);
  EXPECT_EQ(one.normal_velocity_max[0], 0.0);
}

// At the samples' tolerance the first foot sticks, though it separates; with none it does so
// always.
TEST(NearlyParallelContacts, SlowFeetAreInDoubt) {
  const ImpactProblem problem = feet(1e-6);
  ImpactEnclosure set = enclose_impact(problem);
  ASSERT_EQ(set.modes.size(), 1U);
  constexpr std::uint64_t kSeparating = 0 | 1 << 2, kSticking = 1 | 1 << 2, kFlying = 0;
  EXPECT_EQ(set.modes[0].modes, kSeparating);
  const std::vector<std::uint64_t> sampled = {kSticking, kSeparating};
  const ComparedModes compared = compare_modes(problem, sampled, 1e-6, set);
  EXPECT_EQ(compared.within_tolerance, std::vector<std::uint64_t>{kSticking});
  EXPECT_TRUE(compared.outside.empty());
  // 1.857e-7 m/s is above a smaller tolerance
  EXPECT_EQ(compare_modes(problem, sampled, 1e-7, set).outside,
            std::vector<std::uint64_t>{kSticking});
  const std::vector<std::string> names = {"A", "B"};
  const auto in_doubt = [&](const char* text) {
    return is_in_doubt(set, impact_event(text, names), compared.within_tolerance);
  };
  EXPECT_TRUE(in_doubt("A sticking"));
  EXPECT_TRUE(in_doubt("A sticking, B normal < 1"));
  EXPECT_FALSE(in_doubt("A sticking, B normal > 1"));  // fast ones are no matter of tolerance
  EXPECT_FALSE(in_doubt("A sliding+"));
  EXPECT_FALSE(in_doubt("B sticking"));  // it does
  EXPECT_EQ(check_by_modes(problem, sampled, 1e-6, set).within_tolerance.size(), 1U);
  EXPECT_EQ(set.status, EnclosureStatus::enclosed);
  const std::vector<std::uint64_t> contradicted = {kFlying};
  EXPECT_EQ(check_by_modes(problem, contradicted, 1e-6, set).outside, contradicted);
  EXPECT_EQ(set.status, EnclosureStatus::contradiction);
}

TEST(NearlyParallelContacts, SamplesOutsideTakeAnEnclosureBack) {
  const ImpactProblem problem = feet(1e-6);
  const ImpactResult followed = test::followed(problem, test::events(256));
  ImpactEnclosure set = enclose_impact(problem);
  EXPECT_EQ(compare_samples(problem, followed.samples, 0, set).outside, 0);
  EXPECT_EQ(compare_samples(problem, followed.samples, 0, set).compared, 256);
  for (double& bound : set.normal_velocity_max) bound -= 1e-3;
  const OutsideSamples outside = compare_samples(problem, followed.samples, 0, set);
  EXPECT_EQ(outside.outside, 256);
  EXPECT_NEAR(outside.largest, 1e-3, 1e-6);
  EXPECT_EQ(check_by_samples(problem, followed.samples, 0, set).outside, 256);
  EXPECT_EQ(set.status, EnclosureStatus::contradiction);
  EXPECT_TRUE(std::isnan(set.normal_velocity_max[0]));
  EXPECT_TRUE(set.impossible_modes.empty());
  EXPECT_FALSE(proves_enclosure(problem, set));
  const std::vector<std::string> names = {"A", "B"};
  EXPECT_FALSE(never_happens(set, impact_event("A normal > 10", names)));
}

}  // namespace
}  // namespace carom
