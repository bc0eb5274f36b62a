#include <gtest/gtest.h>

#include <carom/error.hpp>
#include <carom/posture.hpp>

// Every bound of a posture's numbers, just inside and just outside.
namespace carom::test {
namespace {

Posture level() {
  Posture posture;
  posture.dimension = 2;
  posture.contacts = 2;
  posture.position = {0.0, 0.0, 1.0, 0.0};
  posture.normal = {0.0, 1.0, 0.0, 1.0};
  posture.friction = {0.5, 0.5};
  return posture;
}

template <class Change>
bool accepted(Change&& change) {
  Posture posture = level();
  change(posture);
  try {
    validate(posture);
    return true;
  } catch (const InvalidInput&) {
    return false;
  }
}

TEST(PostureBounds, LengthsOfNormals) {
  const auto of_length = [](double length) {
    return accepted([length](Posture& posture) { posture.normal[1] = length; });
  };
  EXPECT_TRUE(of_length(1.0 + 0.99e-6));
  EXPECT_TRUE(of_length(1.0 - 0.99e-6));
  EXPECT_FALSE(of_length(1.0 + 1.01e-6));
  EXPECT_FALSE(of_length(1.0 - 1.01e-6));
}

TEST(PostureBounds, FrictionAndPatches) {
  EXPECT_TRUE(accepted([](Posture& posture) { posture.friction[0] = 0.0; }));
  EXPECT_FALSE(accepted([](Posture& posture) { posture.friction[0] = -1e-300; }));
  EXPECT_TRUE(accepted([](Posture& posture) { posture.length = {0.0, 1e-300}; }));
  EXPECT_FALSE(accepted([](Posture& posture) { posture.length = {0.0, -1e-300}; }));
}

TEST(PostureBounds, NumbersOfContacts) {
  const auto of = [](int contacts) {
    return accepted([contacts](Posture& posture) {
      const auto k = static_cast<std::size_t>(contacts);
      posture.contacts = contacts;
      posture.position.assign(2 * k, 0.0);
      posture.normal.clear();
      for (std::size_t i = 0; i < k; ++i) {
        posture.position[2 * i] = static_cast<double>(i);
        posture.normal.insert(posture.normal.end(), {0.0, 1.0});
      }
      posture.friction.assign(k, 0.5);
    });
  };
  EXPECT_FALSE(of(0));
  EXPECT_TRUE(of(1));
  EXPECT_TRUE(of(kMaxPostureContacts));
  EXPECT_FALSE(of(kMaxPostureContacts + 1));
}

TEST(PostureBounds, WrenchesPushSomewhere) {
  EXPECT_TRUE(accepted([](Posture& posture) { posture.wrench = {0.0, -1e-3, 0.0}; }));
  EXPECT_FALSE(accepted([](Posture& posture) { posture.wrench = {0.0, 0.0, 1.0}; }));
  const auto edges = [](double p1, double p2) {
    try {
      return wrench_rectangle(p1, p2, 0.0, 0.0).size() == 12;
    } catch (const InvalidInput&) {
      return false;
    }
  };
  EXPECT_TRUE(edges(0.5, 0.5));
  EXPECT_FALSE(edges(0.5, 0.4999999));
}

}  // namespace
}  // namespace carom::test
