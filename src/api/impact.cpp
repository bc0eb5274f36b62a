#include <carom/impact.hpp>

#include <cmath>
#include <string>

#include <Eigen/Cholesky>

#include "core/arrays.hpp"
#include "core/backends.hpp"
#include "core/message.hpp"
#include "core/require.hpp"
#include "core/words.hpp"
#include "impact/backends.hpp"
#include "impact/prepare.hpp"
#include "impact/workspace.hpp"

namespace carom {

namespace {

using message::number;

/// "friction[2] of problem 0 ("block") is -0.5".
std::string at(const std::string& field, std::int64_t index, int columns, std::int64_t problem,
               const std::string& name, double value) {
  std::string text = field;
  text.append("[").append(std::to_string(columns > 0 ? index / columns : index)).append("]");
  if (columns > 0) text.append("[").append(std::to_string(index % columns)).append("]");
  return text + message::of_problem(problem, name) + " is " + number(value);
}

/// The first number of problem p that is not finite.
std::string first_not_finite(const ImpactBatch& batch, std::int64_t p, const std::string& name) {
  std::string error;
  ImpactBatch::each_array(
      batch,
      [&](const char* field, const Extents& extents, const Buffer<double>& values) {
        const bool matrix = extents.rank() > 2;
        const double* begin = values.data() + p * extents.stride();
        for (std::int64_t i = 0; error.empty() && i < extents.stride(); ++i) {
          if (std::isfinite(begin[i])) continue;
          error =
              at(field, i, matrix ? batch.velocities : 0, p, name, begin[i]) + ": must be finite";
        }
      },
      batch);
  return error;
}

void require_shape(std::int64_t dimension, std::int64_t velocities, std::int64_t contacts,
                   const std::string& where = {}) {
  const auto refuse = [&](const char* field, std::int64_t value, const std::string& range) {
    throw InvalidInput(std::string(field) + where + " is " + std::to_string(value) + ": must be " +
                       range);
  };
  if (dimension != 2 && dimension != 3) refuse("dimension", dimension, "2 or 3");
  if (velocities < 1 || velocities > kMaxVelocities) {
    refuse("velocities", velocities, "in 1.." + std::to_string(kMaxVelocities));
  }
  if (contacts < 0 || contacts > kMaxContacts) {
    refuse("contacts", contacts, "in 0.." + std::to_string(kMaxContacts));
  }
}

std::string mass_error(const double* mass, int nv, std::int64_t problem, const std::string& name) {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const Matrix> m(mass, nv, nv);
  const double scale = m.cwiseAbs().maxCoeff();
  for (int i = 0; i < nv; ++i) {
    for (int j = 0; j < i; ++j) {
      if (std::abs(m(i, j) - m(j, i)) > 1e-9 * scale) {
        return at("mass_matrix", static_cast<std::int64_t>(i) * nv + j, nv, problem, name,
                  m(i, j)) +
               ", but mass_matrix[" + std::to_string(j) + "][" + std::to_string(i) + "] is " +
               number(m(j, i)) + ": must be symmetric";
      }
    }
  }
  Eigen::MatrixXd work = m;
  for (int k = 0; k < nv; ++k) {
    const double pivot = work(k, k);
    if (!(pivot > 1e-14 * scale)) {
      return "mass_matrix" + message::of_problem(problem, name) + " has pivot " + number(pivot) +
             " in row " + std::to_string(k) + " of its Cholesky factorisation: must be positive " +
             "definite";
    }
    for (int i = k + 1; i < nv; ++i) {
      const double factor = work(i, k) / pivot;
      work.row(i).tail(nv - k) -= factor * work.row(k).tail(nv - k);
    }
  }
  return {};
}

void require_batch_sizes(const ImpactBatch& batch) {
  require_shape(batch.dimension, batch.velocities, batch.contacts);
  if (batch.problems < 0 || batch.problems > std::int64_t{0xffffffff}) {
    throw InvalidInput("problems is " + std::to_string(batch.problems) +
                       ": must be in 0..4294967295");
  }
  arrays::require_sizes(batch, batch);
  arrays::common_space("impact batch", batch);
}

}  // namespace

std::string problem_error(const ImpactBatch& batch, std::int64_t p, const std::string& name) {
  std::string error = first_not_finite(batch, p, name);
  if (!error.empty()) return error;
  const std::int64_t nv = batch.velocities;
  const std::int64_t m = batch.contacts;
  for (std::int64_t i = 0; i < m; ++i) {
    const double mu = batch.friction.data()[p * m + i];
    if (mu < 0.0) return at("friction", i, 0, p, name, mu) + ": must be >= 0";
  }
  return mass_error(batch.mass_matrix.data() + p * nv * nv, batch.velocities, p, name);
}

ImpactBatch make_batch(std::span<const ImpactProblem> problems) {
  ImpactBatch batch;
  batch.problems = static_cast<std::int64_t>(problems.size());
  if (problems.empty()) {
    batch.velocities = 1;
    return batch;
  }
  const ImpactProblem& first = problems.front();
  for (std::size_t p = 0; p < problems.size(); ++p) {
    const ImpactProblem& problem = problems[p];
    const std::string where = message::of_problem(static_cast<std::int64_t>(p), problem.name);
    require_shape(problem.dimension, problem.velocities, problem.contacts, where);
    const auto same = [&](const char* field, int value, int expected) {
      if (value != expected) {
        throw InvalidInput(std::string(field) + where + " is " + std::to_string(value) +
                           ": must be " + std::to_string(expected) +
                           " as in problem 0 (one batch has one shape)");
      }
    };
    same("dimension", problem.dimension, first.dimension);
    same("velocities", problem.velocities, first.velocities);
    same("contacts", problem.contacts, first.contacts);
    if (p == 0) {
      batch = allocate<ImpactBatch>(
          {batch.problems, first.dimension, first.velocities, first.contacts});
    }
    arrays::place(batch, static_cast<std::int64_t>(p), problem, where);
  }
  return batch;
}

void validate(const ImpactProblem& problem) {
  const ImpactBatch batch = make_batch({&problem, 1});
  const std::string error = problem_error(batch, 0, problem.name);
  if (!error.empty()) throw InvalidInput(error);
}

void validate(const ImpactBatch& batch) {
  require_batch_sizes(batch);
  if (batch.mass_matrix.space() == MemorySpace::device) {
    validate(batch.to(MemorySpace::host));
    return;
  }
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    const std::string error = problem_error(batch, p);
    if (!error.empty()) throw InvalidInput(error);
  }
}

std::string mode_words(std::uint64_t modes, int contacts, int dimension) {
  std::string text;
  for (int i = 0; i < contacts; ++i) {
    if (i > 0) text += "/";
    const auto mode = static_cast<ContactMode>((modes >> (2 * i)) & 3U);
    text += word_of(mode);
    if (mode == ContactMode::sliding && dimension == 2) text += "+";
  }
  return text;
}

void ImpactSettings::validate() const {
  const auto refuse = [](const char* field, const std::string& value, const char* rule) {
    throw InvalidInput(std::string(field) + " is " + value + ": must be " + rule);
  };
  const auto positive = [&](const char* field, double value) {
    if (!(value > 0.0) || !std::isfinite(value))
      refuse(field, number(value), "positive and finite");
  };
  const auto not_negative = [&](const char* field, double value) {
    if (!(value >= 0.0) || !std::isfinite(value)) refuse(field, number(value), ">= 0 and finite");
  };
  if (samples < 1) refuse("samples", std::to_string(samples), ">= 1");
  if (first_sample < 0) refuse("first_sample", std::to_string(first_sample), ">= 0");
  if (first_sample > INT64_MAX - samples) {  // the index of the last one would wrap
    const std::string most = std::to_string(INT64_MAX - samples);
    refuse("first_sample", std::to_string(first_sample),
           ("<= " + most + ", as samples is " + std::to_string(samples)).c_str());
  }
  positive("step_size", step_size);
  if (max_steps < 1 || max_steps > 1'000'000) {
    refuse("max_steps", std::to_string(max_steps), "in 1..1000000");
  }
  if (friction_directions < 4 || friction_directions > kMaxFrictionDirections) {
    refuse("friction_directions", std::to_string(friction_directions), "in 4..16");
  }
  not_negative("velocity_tolerance", velocity_tolerance);
  require::tolerance("residual_tolerance", residual_tolerance);
  not_negative("mode_tolerance", mode_tolerance);
  not_negative("epsilon", epsilon);
  if (net_capacity < 1 || net_capacity > (std::int64_t{1} << 30)) {
    refuse("net_capacity", std::to_string(net_capacity), "in 1..2^30");
  }
  if (keep_samples < -1) refuse("keep_samples", std::to_string(keep_samples), ">= -1");
  if (keep_paths < 0) refuse("keep_paths", std::to_string(keep_paths), ">= 0");
  if (threads < 0) refuse("threads", std::to_string(threads), ">= 0");
}

ImpactResult sample_impacts(const ImpactBatch& batch, const ImpactSettings& settings,
                            Backend backend, ImpactWorkspace* workspace) {
  settings.validate();
  require_batch_sizes(batch);
  if (settings.bad_problem == BadProblem::refuse) validate(batch);
  if (settings.selection == Selection::random) {
    const double combinations =
        batch.dimension == 2
            ? kernels::step_combinations<2>(batch.contacts, 2)
            : kernels::step_combinations<3>(batch.contacts, settings.friction_directions);
    if (combinations > kernels::kMaxCombinations ||
        batch.contact_rows() > kernels::kMaxEnumeratedRows) {
      throw InvalidInput("selection random: " + std::to_string(batch.contacts) + " contacts have " +
                         number(combinations) + " combinations of modes: at most " +
                         std::to_string(kernels::kMaxCombinations) +
                         " are enumerated; use any or lemke");
    }
  }
  const Backend chosen = resolve(backend);
  const MemorySpace space = batch.mass_matrix.space();
  if (chosen != Backend::cuda &&
      (space == MemorySpace::device || settings.result_space == MemorySpace::device)) {
    throw InvalidInput("backend " + std::string(to_string(chosen)) +
                       ": works in host memory; the batch or result_space is on the device");
  }
  ImpactWorkspace own;
  ImpactWorkspace& scratch = workspace != nullptr ? *workspace : own;
  return entries(chosen).sample_impacts(batch, settings, scratch);
}

StepResult solve_steps(const StepBatch& batch, const StepSettings& settings, Backend backend) {
  require_shape(batch.dimension, 1, batch.contacts);
  if (batch.contacts < 1) throw InvalidInput("contacts is 0: must be >= 1");
  arrays::require_sizes(batch, batch);
  if (settings.friction_directions < 4 || settings.friction_directions > kMaxFrictionDirections) {
    throw InvalidInput("friction_directions is " + std::to_string(settings.friction_directions) +
                       ": must be in 4..16");
  }
  require::tolerance("tolerance", settings.tolerance);
  if (settings.selection == Selection::random) {
    throw InvalidInput("selection is random: single steps take any or lemke");
  }
  const Backend chosen = resolve(backend);
  require::reachable(chosen, arrays::common_space("step batch", batch));
  return entries(chosen).solve_steps(batch, settings);
}

ImpactWorkspace::ImpactWorkspace() : state_(new State) {}
ImpactWorkspace::~ImpactWorkspace() { delete state_; }
ImpactWorkspace::ImpactWorkspace(ImpactWorkspace&& other) noexcept : state_(other.state_) {
  other.state_ = nullptr;
}
ImpactWorkspace& ImpactWorkspace::operator=(ImpactWorkspace&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

}  // namespace carom
