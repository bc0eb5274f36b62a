// The experiment of section 5 of Or and Rimon's planar paper: a mechanism stands on a symmetric V
// and is pulled sideways at height h until it rolls over a foot or slides. The critical tilt of the
// total force, from the closed form and from the strips of the equilibrium linear program.
#include <cmath>
#include <cstdio>
#include <exception>

#include <carom/carom.hpp>

int main() try {
  constexpr double kDegree = 3.14159265358979323846 / 180.0;
  carom::VTerrain terrain;
  terrain.slope = 26.7 * kDegree;
  terrain.friction_angle = 13.8 * kDegree;
  terrain.distance = 0.236;  // [m]: rolling and sliding change places near h = 0.517 m
  std::printf("slope 26.7, friction angle 13.8 degrees, feet %.3f m apart\n", terrain.distance);
  std::printf("sliding comes first above h = %.4f m\n\n", carom::v_terrain_sliding_height(terrain));
  std::printf("%8s %14s %14s %14s %12s\n", "h [m]", "cot(rolling)", "cot(sliding)", "cot(from LP)",
              "first");
  double worst = 0.0;
  for (int i = 2; i <= 10; ++i) {
    terrain.height = 0.1 * i;
    const carom::CriticalAngles angles = carom::v_terrain_critical_angles(terrain);
    carom::Posture posture;
    posture.contacts = 2;
    const double half = 0.5 * terrain.distance;
    const double s = std::sin(terrain.slope);
    const double c = std::cos(terrain.slope);
    posture.position = {-half, 0.0, half, 0.0};
    posture.normal = {s, c, -s, c};
    posture.friction = {std::tan(terrain.friction_angle), std::tan(terrain.friction_angle)};
    const double tilt = carom::critical_tilt(posture, 0.0, terrain.height);
    worst = std::fmax(worst, std::fabs(tilt - angles.critical));
    std::printf("%8.2f %14.6f %14.6f %14.6f %12s\n", terrain.height, 1.0 / std::tan(angles.rolling),
                1.0 / std::tan(angles.sliding), 1.0 / std::tan(tilt),
                angles.rolling < angles.sliding ? "rolls" : "slides");
  }
  std::printf("\nlargest difference of the two critical angles: %.1e rad\n", worst);
  return worst < 1e-9 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "v_terrain: %s\n", error.what());
  return 1;
}
