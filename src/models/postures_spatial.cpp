#include <cmath>
#include <numbers>

#include "models/posture_definition.hpp"

namespace carom::models::detail {
namespace {

/// Adds a contact at (x, y, z) whose normal leans by `slope` [rad] from the vertical towards the
/// horizontal direction at angle `towards` [rad].
void add_contact(Posture& posture, double x, double y, double z, double slope, double towards,
                 double friction) {
  posture.position.insert(posture.position.end(), {x, y, z});
  posture.normal.insert(
      posture.normal.end(),
      {std::sin(slope) * std::cos(towards), std::sin(slope) * std::sin(towards), std::cos(slope)});
  posture.friction.push_back(friction);
  ++posture.contacts;
}

constexpr double kThird = 2.0 * std::numbers::pi / 3.0;

/// Feet on a circle, on ground that falls towards its middle.
Posture build_tripod_flat(const Values& values) {
  Posture posture;
  const double radius = values("radius");
  for (int i = 0; i < 3; ++i) {
    const double at = 0.5 * std::numbers::pi + i * kThird;
    add_contact(posture, radius * std::cos(at), radius * std::sin(at), 0.0, values.radians("slope"),
                at + std::numbers::pi, values("friction"));
  }
  return posture;
}

/// Feet at three heights, two of them leaning against each other.
Posture build_tripod_steep(const Values& values) {
  Posture posture;
  const double radius = values("radius");
  const double rise = values("rise");
  const double mu = values("friction");
  const double towards[3] = {-0.5 * std::numbers::pi, 0.15 * std::numbers::pi,
                             0.85 * std::numbers::pi};
  const char* slope[3] = {"slope_1", "slope_2", "slope_3"};
  for (int i = 0; i < 3; ++i) {
    const double at = 0.5 * std::numbers::pi + i * kThird;
    add_contact(posture, radius * std::cos(at), radius * std::sin(at), i * rise,
                values.radians(slope[i]), towards[i], mu);
  }
  return posture;
}

/// Two hands and two feet between the walls x = -width / 2 and x = width / 2, which face each other
/// and rise with `steepness` from the ground.
Posture build_climbing_four(const Values& values) {
  Posture posture;
  const double width = values("width");
  const double height = values("height");
  const double stagger = values("stagger");
  const double slope = values.radians("steepness");
  const double mu = values("friction");
  for (const double y : {0.0, stagger}) {
    const double z = y > 0.0 ? height : 0.0;
    const double lean = z / std::tan(slope);
    add_contact(posture, -0.5 * width - lean, y, z, slope, 0.0, mu);
    add_contact(posture, 0.5 * width + lean, y + 0.25 * stagger, z + 0.1 * height, slope,
                std::numbers::pi, mu);
  }
  return posture;
}

Parameter lean(const std::string& name, double value, const std::string& meaning) {
  return angle(name, value, 0.0, 90.0, meaning);
}

}  // namespace

std::span<const PostureDefinition> spatial_postures() {
  static const std::vector<PostureDefinition> kPostures = {
      {{"tripod_flat",
        "three feet at one height on ground that falls towards the middle",
        "after Or and Rimon (3D), Figure 1(a)",
        3,
        {"x1", "x2", "x3"},
        {friction(0.2), length("radius", 1.0, "distance of the feet from the middle"),
         lean("slope", 25.0, "lean of the normals towards the middle")}},
       build_tripod_flat},
      {{"tripod_steep",
        "three feet at different heights on steep ground",
        "after Or and Rimon (3D), Figure 1(b)",
        3,
        {"x1", "x2", "x3"},
        {friction(0.2), length("radius", 1.0, "distance of the feet from the middle"),
         length("rise", 0.3, "height of each foot above the one before"),
         lean("slope_1", 30.0, "lean of the first foot's normal"),
         lean("slope_2", 22.0, "lean of the second foot's normal"),
         lean("slope_3", 28.0, "lean of the third foot's normal")}},
       build_tripod_steep},
      {{"climbing_four",
        "hands and feet of a climber between two steep walls",
        "the legged climbers that the papers are written for",
        3,
        {"left foot", "right foot", "left hand", "right hand"},
        {friction(0.3), length("width", 1.0, "distance of the walls at the feet"),
         length("height", 1.2, "height of the hands above the feet"),
         length("stagger", 0.5, "distance of hands and feet along the walls"),
         angle("steepness", 70.0, 1.0, 90.0, "angle between walls and ground")}},
       build_climbing_four}};
  return kPostures;
}

}  // namespace carom::models::detail
