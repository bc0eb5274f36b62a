#pragma once

#include <filesystem>

#include "run/equilibrium_run.hpp"

namespace carom::io {

/// Draws a posture to `file`, .svg or .png, like the papers' figures. Planar: contacts, patches,
/// friction cones, the strips and the robust region. Spatial: the cross-section across the external
/// force with the projected contacts and their normals, inner and outer polygon.
/// Errors: FileError.
void draw_equilibrium(const std::filesystem::path& file, const run::EquilibriumRun& run);

}  // namespace carom::io
