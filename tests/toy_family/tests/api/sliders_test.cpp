#include <carom/sliders.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <carom/certificate_sliders.hpp>

#include "../emulation/solve_sliders.hpp"
#include "core/arrays.hpp"
#include "programs/sliders/backends.hpp"
#include "support/bits.hpp"
#include "support/message.hpp"

namespace carom {
namespace {

using Slider = certificate::Slider<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

SliderBatch batch_of(const std::vector<Slider>& sliders) {
  SliderBatch batch = allocate<SliderBatch>({static_cast<std::int64_t>(sliders.size())});
  for (std::size_t p = 0; p < sliders.size(); ++p) {
    batch.mass.data()[p] = sliders[p].mass;
    batch.velocity.data()[p] = sliders[p].velocity;
    batch.impulse.data()[p] = sliders[p].impulse;
    batch.friction.data()[p] = sliders[p].friction;
    batch.normal_impulse.data()[p] = sliders[p].normal_impulse;
  }
  return batch;
}

/// Sizes over ten decades, both signs; some that stick and some that slide.
SliderBatch random_sliders(int problems) {
  std::mt19937_64 generator(5);
  std::uniform_real_distribution<double> unit;
  const auto size = [&] { return std::pow(10.0, 10.0 * unit(generator) - 5.0); };
  const auto either = [&](double x) { return unit(generator) < 0.5 ? x : -x; };
  std::vector<Slider> sliders;
  for (int p = 0; p < problems; ++p) {
    const double mass = size();
    const double velocity = either(size());
    const double impulse = either(mass * std::fabs(velocity) * 2.0 * unit(generator));
    const double mu = p % 7 == 0 ? 0.0 : unit(generator);
    sliders.push_back(
        {mass, velocity, impulse, mu, mass * std::fabs(velocity) * 4.0 * unit(generator)});
  }
  return batch_of(sliders);
}

TEST(Sliders, StickAndSlideByHand) {
  // m v + p = 3 N s in all of them.
  const SliderBatch batch = batch_of({{2, 1, 1, 0.5, 4},
                                      {2, 1, 1, 0.5, 6},
                                      {2, 1, 1, 0.5, 8},
                                      {2, 1, 1, 0, 8},
                                      {2, -1, -1, 0.5, 4},
                                      {1, 0, 0, 0, 0}});
  const double velocity[] = {0.5, 0, 0, 1.5, -0.5, 0};
  const double friction[] = {-2, -3, -3, 0, 2, 0};
  for (const Backend backend : {Backend::cpu, Backend::reference}) {
    SCOPED_TRACE(to_string(backend));
    const SliderResult result = solve_sliders(batch, {}, backend);
    for (std::size_t p = 0; p < 6; ++p) {
      SCOPED_TRACE(p);
      EXPECT_EQ(to_string(result.status.host()[p]), "solved");
      EXPECT_EQ(result.next_velocity.host()[p], velocity[p]);
      EXPECT_EQ(result.friction_impulse.host()[p], friction[p]);
      EXPECT_EQ(result.residual.host()[p], 0.0);
    }
  }
}

TEST(Sliders, CertificateSeesWrongAnswers) {
  const Slider slider{2, 1, 1, 0.5, 4};  // slides at 0.5 m/s, f = -2 N s
  EXPECT_EQ(certificate::slider_residual(slider, 0.5, -2.0), 0.0);
  EXPECT_NEAR(certificate::slider_residual(slider, 0.5, -1.8), 0.2, 1e-15);  // neither
  EXPECT_NEAR(certificate::slider_residual(slider, 1.0, -1.0), 0.5, 1e-15);  // too little friction
  EXPECT_NEAR(certificate::slider_residual(slider, 0.0, -3.0), 0.5, 1e-15);  // too much
  EXPECT_NEAR(certificate::slider_residual(slider, 2.5, 2.0), 2.0, 1e-15);   // pushes along
  EXPECT_TRUE(std::isnan(certificate::slider_residual(slider, kNan, -2.0)));
  EXPECT_TRUE(std::isnan(certificate::slider_residual(slider, 0.5, kNan)));
}

TEST(Sliders, CpuAgreesWithTheReference) {
  const SliderBatch batch = random_sliders(10007);
  const SliderResult cpu = solve_sliders(batch, {}, Backend::cpu);
  const SliderResult reference = solve_sliders(batch, {}, Backend::reference);
  int stuck = 0;
  for (std::size_t p = 0; p < 10007; ++p) {
    SCOPED_TRACE(p);
    ASSERT_EQ(to_string(cpu.status.host()[p]), "solved");
    ASSERT_EQ(to_string(reference.status.host()[p]), "solved");
    const double speed = std::fabs(batch.velocity.host()[p]);
    EXPECT_NEAR(cpu.next_velocity.host()[p], reference.next_velocity.host()[p], 1e-15 * 4 * speed);
    EXPECT_NEAR(cpu.friction_impulse.host()[p], reference.friction_impulse.host()[p],
                1e-15 * 4 * speed * batch.mass.host()[p]);
    stuck += cpu.next_velocity.host()[p] == 0.0 ? 1 : 0;
  }
  EXPECT_GT(stuck, 1000);
  EXPECT_LT(stuck, 9000);
}

TEST(Sliders, SameBitsInPacksThreadsAndSplits) {
  const SliderBatch batch = random_sliders(10007);
  SliderSettings settings;
  settings.threads = 1;
  const SliderResult whole = solve_sliders(batch, settings, Backend::cpu);
  test::expect_identical(whole, emulation::solve_sliders(batch, settings));
  settings.threads = 3;
  test::expect_identical(whole, solve_sliders(batch, settings, Backend::cpu));
  for (const std::int64_t first : {0, 5, 4095}) {
    const SliderResult part =
        solve_sliders(arrays::slice(batch, first, first + 13), settings, Backend::cpu);
    const auto from = static_cast<std::size_t>(first);
    EXPECT_EQ(test::first_difference(part.next_velocity, 0, whole.next_velocity, from, 13), -1);
    EXPECT_EQ(test::first_difference(part.residual, 0, whole.residual, from, 13), -1);
  }
}

TEST(Sliders, DeviceAgreesWithCpuBitForBit) {
  if (cuda_devices().empty()) GTEST_SKIP() << "no usable CUDA device";
  const SliderBatch batch = random_sliders(1003);
  const SliderResult cpu = solve_sliders(batch, {}, Backend::cpu);
  test::expect_identical(cpu, solve_sliders(batch, {}, Backend::cuda));
  test::expect_identical(cpu, solve_sliders(batch.to(MemorySpace::device), {}, Backend::cuda));
}

TEST(Sliders, PoisonHarmsNoNeighbour) {
  SliderBatch batch = random_sliders(37);
  const SliderResult clean = solve_sliders(batch, {}, Backend::cpu);
  batch.mass.data()[3] = 0.0;
  batch.velocity.data()[9] = kNan;
  batch.impulse.data()[14] = -kInfinity;
  batch.friction.data()[20] = -0.1;
  batch.normal_impulse.data()[36] = -1.0;
  batch.mass.data()[30] = batch.velocity.data()[30] = 1e300;  // a momentum that no double holds
  for (const Backend backend : {Backend::cpu, Backend::reference}) {
    SCOPED_TRACE(to_string(backend));
    const SliderResult result = solve_sliders(batch, {}, backend);
    for (std::size_t p = 0; p < 37; ++p) {
      SCOPED_TRACE(p);
      const bool bad = p == 3 || p == 9 || p == 14 || p == 20 || p == 36;
      if (bad || p == 30) {
        EXPECT_EQ(to_string(result.status.host()[p]), bad ? "invalid_input" : "numerical_error");
        EXPECT_TRUE(std::isnan(result.next_velocity.host()[p]));
        EXPECT_TRUE(std::isnan(result.friction_impulse.host()[p]));
        EXPECT_TRUE(std::isnan(result.residual.host()[p]));
      } else if (backend == Backend::cpu) {
        EXPECT_EQ(result.next_velocity.host()[p], clean.next_velocity.host()[p]);
      } else {
        EXPECT_EQ(to_string(result.status.host()[p]), "solved");
      }
    }
  }
}

TEST(Sliders, RefusalsNameFieldAndValue) {
  SliderBatch batch = random_sliders(4);
  batch.friction = Buffer<double>(3);
  test::expect_names(test::refusal([&] { solve_sliders(batch); }), {"friction", "3", "4"});
  batch = random_sliders(4);
  batch.problems = -1;
  test::expect_names(test::refusal([&] { solve_sliders(batch); }), {"problems", "-1"});
  SliderSettings settings;
  settings.tolerance = 0.0;
  test::expect_names(test::refusal([&] { solve_sliders(random_sliders(1), settings); }),
                     {"tolerance", "0"});
  settings = {};
  settings.threads = -2;
  test::expect_names(test::refusal([&] { solve_sliders(random_sliders(1), settings); }),
                     {"threads", "-2"});
  EXPECT_TRUE(solve_sliders(SliderBatch{}).status.empty());
}

}  // namespace
}  // namespace carom
