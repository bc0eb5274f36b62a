// The kernels of tests are compiled where there is a device's compiler, or a host that plays it.
#if defined(CAROM_TEST_KERNELS)

#include "cuda/mechanisms.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <carom/models/models.hpp>

#include "cuda/cuda_test.hpp"
#include "models/mechanism_problem.hpp"
#include "support/mechanisms.hpp"
#include "support/random_problems.hpp"

namespace carom::test {
namespace {

using MechanismsOnDevice = CudaTest;

// Sines, cosines and the like are the device's own; the rest is the same text.
TEST_F(MechanismsOnDevice, SayWhatTheHostsSay) {
  Generator random(23);
  int count = 0;
  each_impact_mechanism([&](auto type, const std::string& name) {
    SCOPED_TRACE(name);
    using Mechanism = typename decltype(type)::type;
    const auto p =
        models::detail::mechanism_parameters<Mechanism>(models::detail::Values(models::find(name)));
    std::vector<double> q(Mechanism::kSizes.positions);
    std::vector<double> v(Mechanism::kSizes.velocities);
    Mechanism::start(p.data(), q.data(), v.data());
    for (double& x : q) x += 0.2 * random.normal();
    for (double& x : v) x += random.normal();
    std::vector<double> expected(static_cast<std::size_t>(mechanism_numbers<Mechanism>(p.data())));
    write_mechanism<Mechanism>({p.data(), 0.0, q.data(), v.data()}, expected.data());
    const std::vector<double> numbers = mechanism_on_device(name, p, q, v);
    ASSERT_EQ(numbers.size(), expected.size());
    double size = 0.0;
    for (const double x : expected) size = std::max(size, std::abs(x));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      EXPECT_NEAR(numbers[i], expected[i], kPlayedByHost ? 0.0 : 1e-13 * size) << i;
    }
    ++count;
  });
  EXPECT_EQ(count + 2, static_cast<int>(models::all().size()));  // two models are no mechanisms
}

}  // namespace
}  // namespace carom::test

#endif
