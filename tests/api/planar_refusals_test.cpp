#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <carom/models/postures.hpp>

#include "support/message.hpp"
#include "support/planar_batches.hpp"

namespace carom {
namespace {

using test::batch_of;
using test::expect_names;
using test::refusal;

TEST(PlanarRefusals, SettingsAreNamed) {
  const PostureBatch batch = batch_of(models::build_posture("two_contacts"));
  const auto with = [&](const PlanarSettings& settings, Backend backend = Backend::cpu) {
    return refusal([&] { planar_equilibrium(batch, settings, backend); });
  };
  expect_names(with({.tolerance = 0.0}), {"tolerance is 0", "must be in (0, 1e-3]"});
  expect_names(with({.tolerance = std::numeric_limits<double>::quiet_NaN()}), {"tolerance is nan"});
  expect_names(with({.threads = -2}), {"threads is -2", "must be >= 0"});
  expect_names(with({.method = PlanarMethod::graphic}, Backend::reference),
               {"method graphic", "only to backend cpu", "reference"});
  expect_names(refusal([] { planar_method("sweep"); }),
               {"unknown method \"sweep\"", "lp, pairs, graphic, line_sweep"});
  EXPECT_EQ(planar_method("line_sweep"), PlanarMethod::line_sweep);
}

TEST(PlanarRefusals, ShapesAreNamed) {
  const Posture posture = models::build_posture("two_contacts");
  const auto with = [&](auto&& change) {
    PostureBatch batch = batch_of(posture);
    change(batch);
    return refusal([&] { planar_equilibrium(batch, {}, Backend::cpu); });
  };
  expect_names(with([](PostureBatch& b) { b.dimension = 3; }), {"dimension is 3", "must be 2"});
  expect_names(with([](PostureBatch& b) { b.contacts = 65; }), {"contacts is 65", "1..64"});
  expect_names(with([](PostureBatch& b) { b.vertices = 33; }), {"vertices is 33", "0..32"});
  expect_names(with([](PostureBatch& b) { b.problems = -1; }), {"problems is -1", ">= 0"});
  expect_names(with([](PostureBatch& b) { b.friction = Buffer<double>(3); }),
               {"friction has 3 values", "must have 2"});
  expect_names(with([](PostureBatch& b) { b.wrench_vertices = {}; }),
               {"wrench_vertices has 0 values", "must have 12"});
  expect_names(with([](PostureBatch& b) { b.length = Buffer<double>(1); }),
               {"length has 1 values", "must have 2"});
  expect_names(
      refusal([&] { planar_margins(batch_of(posture), Buffer<double>(3), {}, Backend::cpu); }),
      {"centre_of_mass has 3 values", "must have 2"});
}

TEST(PlanarRefusals, PosturesAreNamed) {
  const auto with = [](auto&& change) {
    Posture posture = models::build_posture("biped_patches");
    change(posture);
    return refusal([&] { batch_of(posture); });
  };
  expect_names(with([](Posture& p) { p.friction[1] = -0.5; }),
               {"friction[1]", "biped_patches", "-0.5", "must be >= 0"});
  expect_names(with([](Posture& p) { p.normal[2] = 0.5; }), {"normal[1]", "unit vector"});
  expect_names(with([](Posture& p) { p.position[3] = std::nan(""); }),
               {"position[1][1]", "nan", "finite"});
  expect_names(with([](Posture& p) { p.length[0] = -1.0; }), {"length[0]", "-1", ">= 0"});
  expect_names(with([](Posture& p) { p.wrench = {0.0, 0.0, 1.0}; }), {"wrench", "force 0"});
  expect_names(with([](Posture& p) { p.contacts = 0; }), {"contacts", "0"});
  expect_names(refusal([] { wrench_rectangle(0.2, 0.1, 0.0, 0.0); }), {"p is [0.2, 0.1]"});
}

TEST(PlanarRefusals, NamedPosturesKnowTheirParameters) {
  expect_names(refusal([] { models::build_posture("three_contacts"); }),
               {"unknown posture \"three_contacts\"", "two_contacts", "v_terrain"});
  expect_names(refusal([] {
                 models::build_posture("v_terrain", {{"mass", 2.0}});
               }),
               {"no parameter \"mass\"", "friction", "slope", "distance"});
  expect_names(refusal([] {
                 models::build_posture("two_contacts", {{"friction", -0.1}});
               }),
               {"friction", "two_contacts", "-0.1", ">= 0"});
  expect_names(refusal([] {
                 models::build_posture("v_terrain", {{"slope", 120.0}});
               }),
               {"slope", "120", "89"});
}

}  // namespace
}  // namespace carom
