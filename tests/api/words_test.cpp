#include <cstddef>
#include <optional>
#include <set>
#include <string_view>

#include <gtest/gtest.h>

#include <carom/carom.hpp>
#include <carom/equilibrium_three_contacts.hpp>

#include "core/words.hpp"

namespace carom {
namespace {

template <class Enum>
void expect_words() {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < words<Enum>.size(); ++i) {
    const auto [value, word] = words<Enum>[i];
    EXPECT_EQ(static_cast<std::size_t>(value), i) << word;  // files name values by number
    EXPECT_TRUE(seen.insert(word).second) << word;
    EXPECT_EQ(word_of(value), word);
    EXPECT_EQ(value_of<Enum>(word), value);
  }
  EXPECT_EQ(word_of(static_cast<Enum>(words<Enum>.size())), "unknown");
  EXPECT_EQ(value_of<Enum>("unknown"), std::nullopt);
}

TEST(Words, GoThereAndBack) {
  expect_words<Backend>();
  expect_words<BadProblem>();
  expect_words<CompliantConstraint::Type>();
  expect_words<ConeKind>();
  expect_words<ConeModel>();
  expect_words<ContactMode>();
  expect_words<CriticalType>();
  expect_words<MemorySpace>();
  expect_words<MotionEnd>();
  expect_words<MotionEventKind>();
  expect_words<MotionMechanism>();
  expect_words<PlanarMethod>();
  expect_words<Precision>();
  expect_words<QpMethod>();
  expect_words<Restitution>();
  expect_words<RowType>();
  expect_words<Sampler>();
  expect_words<Selection>();
  expect_words<Status>();
  expect_words<StepLaw>();
  expect_words<StabilityVerdict>();
  expect_words<StabilityMethod>();
  expect_words<CertificateKind>();
  expect_words<ContactLetter>();
  expect_words<ImpactKind>();
  expect_words<StanceEventKind>();
  expect_words<TrajectoryStatus>();
}

TEST(Words, AutomaticIsAuto) {
  EXPECT_EQ(value_of<Backend>("automatic"), Backend::automatic);
  EXPECT_EQ(value_of<QpMethod>("automatic"), QpMethod::automatic);
  EXPECT_FALSE(value_of<Sampler>("automatic").has_value());
  EXPECT_EQ(to_string(Backend::automatic), "auto");
}

TEST(Words, Lists) {
  EXPECT_EQ(listed<Sampler>(" or "), "uniform or sobol");
  EXPECT_EQ(listed<Selection>(" or ", "random"), "any or lemke");
  EXPECT_EQ(listed<Backend>(), "auto, cpu, cuda, reference");
  EXPECT_EQ(codes_meaning<TrajectoryStatus>(), "0 terminated, 1 max_steps, 2 failed, 3 cancelled");
}

}  // namespace
}  // namespace carom
