#include <cmath>
#include <numbers>

#include "models/posture_definition.hpp"
#include "models/wrenches.hpp"

namespace carom::models::detail {
namespace {

/// Ground that rises to the right by `slope` [rad] at (x, y).
struct Ground {
  double x, y, slope;
  double length = 0.0;
};

Posture on_ground(const std::vector<Ground>& grounds, double friction) {
  Posture posture;
  posture.contacts = static_cast<int>(grounds.size());
  bool patches = false;
  for (const Ground& ground : grounds) {
    posture.position.insert(posture.position.end(), {ground.x, ground.y});
    posture.normal.insert(posture.normal.end(), {-std::sin(ground.slope), std::cos(ground.slope)});
    posture.friction.push_back(friction);
    posture.length.push_back(ground.length);
    patches = patches || ground.length > 0.0;
  }
  if (!patches) posture.length.clear();
  return posture;
}

Parameter tilt(double value) {
  return at_least_zero("kappa", "-", value, 10.0,
                       "W: the wrench's force may lean by |f_x / f_y| <= kappa");
}

Parameter offset(double value, const std::string& meaning) {
  return at_least_zero("nu", "-", value, 10.0, meaning);
}

Parameter slope(const std::string& name, double value, const std::string& of_what) {
  return angle(name, value, -90.0, 90.0,
               "slope of the ground under " + of_what + ", positive where it rises to the right");
}

double degrees(double value) { return value * std::numbers::pi / 180.0; }

Posture build_two_contacts(const Values& values) {
  const double span = values("distance");
  const double rise = values("rise");
  Posture posture =
      on_ground({{0.0, 0.0, values.radians("slope_1")}, {span, rise, values.radians("slope_2")}},
                values("friction"));
  const double kappa = values("kappa");
  posture.wrench_vertices =
      wrenches::rectangle(-kappa, kappa, 0.0, values("nu") * std::hypot(span, rise));
  return posture;
}

Posture build_six_contacts(const Values& values) {
  const double scale = values("scale");
  std::vector<Ground> grounds = {{0.00, 0.00, degrees(-38.0)}, {0.22, 0.16, degrees(-30.0)},
                                 {0.45, -0.05, degrees(25.0)}, {0.70, -0.02, degrees(-4.0)},
                                 {0.95, 0.02, degrees(-24.0)}, {1.30, 0.15, degrees(36.0)}};
  for (Ground& ground : grounds) {
    ground.x *= scale;
    ground.y *= scale;
  }
  return on_ground(grounds, values("friction"));
}

Posture build_biped_patches(const Values& values) {
  const double foot = values("foot_length");
  const double slope_1 = values.radians("slope_1");
  const double slope_2 = values.radians("slope_2");
  const double x2 = values("distance");
  const double y2 = values("rise");
  Posture posture =
      on_ground({{0.0, 0.0, slope_1, foot}, {x2, y2, slope_2, foot}}, values("friction"));
  const double span = std::hypot(x2 + foot * std::cos(slope_2), y2 + foot * std::sin(slope_2));
  const double kappa = values("kappa");
  const double nu = values("nu") * span;
  posture.wrench_vertices = wrenches::rectangle(-kappa, kappa, -nu, nu);
  return posture;
}

Posture build_v_terrain(const Values& values) {
  const double half = 0.5 * values("distance");
  const double alpha = values.radians("slope");
  Posture posture = on_ground({{-half, 0.0, -alpha}, {half, 0.0, alpha}}, values("friction"));
  const double beta = values.radians("tilt");
  posture.wrench = {std::sin(beta), -std::cos(beta), 0.0};
  return posture;
}

PostureModel describe(const std::string& name, const std::string& summary,
                      const std::string& source, std::vector<std::string> contact_names,
                      std::vector<Parameter> parameters) {
  PostureModel model;
  model.name = name;
  model.summary = summary;
  model.source = source;
  model.dimension = 2;
  model.contact_names = std::move(contact_names);
  model.parameters = std::move(parameters);
  return model;
}

}  // namespace

std::span<const PostureDefinition> planar_postures() {
  static const std::vector<PostureDefinition> definitions = {
      {describe("two_contacts",
                "two point contacts on ground that falls towards the middle, under a rectangle of "
                "disturbances",
                "Or and Rimon (2D), Example 3, Figure 3(a): friction, kappa and nu; contacts are "
                "carom's own",
                {"x1", "x2"},
                {friction(0.4), length("distance", 1.0, "horizontal distance of the contacts"),
                 length_or_zero("rise", 0.2, "height of x2 above x1"),
                 slope("slope_1", -25.0, "x1"), slope("slope_2", 30.0, "x2"), tilt(0.3),
                 offset(0.125, "W: 0 <= tau / f_y <= nu times the distance of the contacts")}),
       build_two_contacts},
      {describe(
           "six_contacts", "six point contacts on uneven ground, four of them essential",
           "Or and Rimon (2D), Example 2, Figures 1(b) and 7: friction and essential contacts; "
           "contacts are carom's own",
           {"x1", "x2", "x3", "x4", "x5", "x6"},
           {friction(0.4), length("scale", 1.0, "width of the ground over 1.3")}),
       build_six_contacts},
      {describe("biped_patches",
                "two flat feet on sloping ground, under a rectangle of disturbances",
                "Or and Rimon (2D), section 4, Figure 4: kappa and nu; feet are carom's own",
                {"foot 1", "foot 2"},
                {friction(0.4), length("foot_length", 0.25, "length of a foot"),
                 length("distance", 0.7, "horizontal distance of the feet's left ends"),
                 length_or_zero("rise", 0.1, "height of foot 2 above foot 1"),
                 slope("slope_1", -15.0, "foot 1"), slope("slope_2", 20.0, "foot 2"), tilt(0.3),
                 offset(0.05, "W: |tau / f_y| <= nu times the distance of the feet's far ends")}),
       build_biped_patches},
      {describe(
           "v_terrain", "two contacts on a symmetric V, under a force that leans",
           "Or and Rimon (2D), section 5: slope and friction angle of the experiment; distance "
           "from the height of 517 mm where sliding takes over from rolling",
           {"x1", "x2"},
           {friction(std::tan(degrees(13.8))),
            angle("slope", 26.7, -89.0, 89.0, "slope of either side, positive for a V"),
            length("distance", 2.0 * 0.517 * std::tan(degrees(26.7 - 13.8)),
                   "distance of the contacts"),
            angle("tilt", 0.0, -89.0, 89.0, "tilt of the force, positive to the right")}),
       build_v_terrain},
  };
  return definitions;
}

}  // namespace carom::models::detail
