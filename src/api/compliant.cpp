#include <carom/compliant.hpp>

#include <cmath>
#include <string>

#include "compliant/backends.hpp"
#include "core/backends.hpp"
#include "core/message.hpp"
#include "core/require.hpp"

namespace carom {

std::string_view to_string(StepLaw law) {
  return law == StepLaw::complementarity ? "complementarity" : "programme";
}

void CompliantSettings::validate() const {
  require::tolerance("tolerance", tolerance);
  if (max_iterations < 0) {
    throw InvalidInput("max_iterations is " + std::to_string(max_iterations) + ": must be >= 0");
  }
  if (!(normal_weight >= 0.0) || !std::isfinite(normal_weight)) {
    throw InvalidInput("normal_weight is " + message::number(normal_weight) +
                       ": must be finite and >= 0");
  }
  if (threads < 0) throw InvalidInput("threads is " + std::to_string(threads) + ": must be >= 0");
}

namespace {

void validate_shapes(const CompliantBatch& batch) {
  const auto in_range = [](const char* field, std::int64_t value, std::int64_t least,
                           std::int64_t most) {
    if (value < least || value > most) {
      throw InvalidInput(std::string(field) + " is " + std::to_string(value) + ": must be in " +
                         std::to_string(least) + ".." + std::to_string(most));
    }
  };
  in_range("problems", batch.problems, 0, std::int64_t{1} << 40);
  in_range("dimension", batch.dimension, 2, 3);
  in_range("velocities", batch.velocities, 1, kMaxStepVelocities);
  in_range("rows", batch.rows, 0, kMaxStepRows);
  in_range("positions", batch.positions, 0, 2 * kMaxStepVelocities);
  const auto p = static_cast<std::size_t>(batch.problems);
  const auto nv = static_cast<std::size_t>(batch.velocities);
  const auto m = static_cast<std::size_t>(batch.rows);
  const MemorySpace space = batch.mass_matrix.space();
  const auto require = [&](const char* field, const auto& buffer, std::size_t expected) {
    if (buffer.size() != expected) {
      throw InvalidInput(std::string(field) + " has " + std::to_string(buffer.size()) +
                         " values: must have " + std::to_string(expected));
    }
    if (!buffer.empty() && buffer.space() != space) {
      throw InvalidInput(std::string(field) + ": must live in the memory space of mass_matrix");
    }
  };
  require("step_size", batch.step_size, p);
  require("mass_matrix", batch.mass_matrix, p * nv * nv);
  require("force", batch.force, p * nv);
  require("velocity", batch.velocity, p * nv);
  require("position_map", batch.position_map, p * nv * static_cast<std::size_t>(batch.positions));
  require("type", batch.type, p * m);
  require("jacobian", batch.jacobian, p * m * nv);
  require("jacobian_dot_v", batch.jacobian_dot_v, p * m);
  require("phi", batch.phi, p * m);
  require("stiffness", batch.stiffness, p * m);
  require("damping", batch.damping, p * m);
  require("friction", batch.friction, p * m);
}

}  // namespace

CompliantResult make_compliant_result(const CompliantBatch& batch) {
  const MemorySpace space = batch.mass_matrix.space();
  const auto p = static_cast<std::size_t>(batch.problems);
  const auto nv = static_cast<std::size_t>(batch.velocities);
  const auto nq = batch.positions > 0 ? static_cast<std::size_t>(batch.positions) : nv;
  CompliantResult result;
  result.velocity = Buffer<double>(p * nv, space);
  result.increment = Buffer<double>(p * nq, space);
  result.force = Buffer<double>(p * static_cast<std::size_t>(batch.rows), space);
  result.kinetic_energy = Buffer<double>(p, space);
  result.status = Buffer<Status>(p, space);
  result.iterations = Buffer<std::int32_t>(p, space);
  result.residual = Buffer<double>(p, space);
  return result;
}

kernels::CompliantArrays compliant_arrays(const CompliantBatch& batch, CompliantResult& result) {
  return {batch.dimension,
          batch.velocities,
          batch.rows,
          batch.positions,
          batch.step_size.data(),
          batch.mass_matrix.data(),
          batch.force.data(),
          batch.velocity.data(),
          batch.position_map.data(),
          batch.type.data(),
          batch.jacobian.data(),
          batch.jacobian_dot_v.data(),
          batch.phi.data(),
          batch.stiffness.data(),
          batch.damping.data(),
          batch.friction.data(),
          result.velocity.data(),
          result.increment.data(),
          result.force.data(),
          result.kinetic_energy.data(),
          result.status.data(),
          result.iterations.data(),
          result.residual.data()};
}

kernels::CompliantOptions compliant_options(const CompliantBatch& batch,
                                            const CompliantSettings& settings) {
  return {settings.tolerance, 1e-3 * settings.tolerance,
          settings.max_iterations > 0 ? settings.max_iterations : 100, batch.dimension - 1,
          settings.centripetal};
}

CompliantResult solve_compliant(const CompliantBatch& batch, const CompliantSettings& settings,
                                Backend backend) {
  settings.validate();
  validate_shapes(batch);
  const Backend chosen = resolve(backend);
  const bool on_device = batch.mass_matrix.space() == MemorySpace::device;
  if (chosen != Backend::cuda && on_device) {
    throw InvalidInput("backend " + std::string(to_string(chosen)) +
                       ": works in host memory; the batch is on the device");
  }
  if (settings.law == StepLaw::programme) {
    if (on_device) {
      throw InvalidInput("law programme: the batch must be in host memory");
    }
    return solve_programme(batch, settings, chosen);
  }
  return entries(chosen).solve_compliant(batch, settings);
}

}  // namespace carom
