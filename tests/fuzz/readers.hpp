#pragma once

#include <filesystem>
#include <string>

#include <carom/error.hpp>

#include "fuzz/input.hpp"
#include "io/case_file.hpp"
#include "io/file_error.hpp"
#include "io/file_kind.hpp"
#include "io/impact_input.hpp"
#include "io/posture_input.hpp"
#include "io/step_input.hpp"

/// What every reader owes for any file: problems, or one refusal that names the file.
namespace carom::fuzz {

template <class Read>
void read_or_refuse(const std::filesystem::path& file, Read&& read) {
  std::string refusal;
  try {
    read();
    return;
  } catch (const InvalidInput& error) {
    refusal = error.what();
  } catch (const io::FileError& error) {  // memory that a fuzzer's limit does not grant
    refusal = error.what();
  }
  require(refusal.find(file.string()) != std::string::npos, refusal.c_str());
}

inline void read_batches(const std::filesystem::path& file) {
  read_or_refuse(file, [&] {
    for (const ImpactProblem& problem : io::read_impact_problems(file)) {
      require(problem.velocities > 0, "an impact has velocities");
      const auto nv = static_cast<std::size_t>(problem.velocities);
      require(problem.mass_matrix.size() == nv * nv, "a mass matrix of its size");
      require(problem.friction.size() == static_cast<std::size_t>(problem.contacts),
              "a friction coefficient a contact");
    }
  });
  read_or_refuse(file, [&] {
    for (const io::PostureEntry& entry : io::read_postures(file)) {
      const Posture& posture = entry.posture;
      require(posture.contacts > 0, "a posture has contacts");
      require(posture.position.size() == static_cast<std::size_t>(posture.contacts) *
                                             static_cast<std::size_t>(posture.dimension),
              "a position a contact");
    }
  });
  read_or_refuse(file, [&] {
    for (const CompliantProblem& problem : io::read_steps(file)) {
      require(problem.force.size() == static_cast<std::size_t>(problem.velocities),
              "a force a velocity");
    }
  });
  (void)io::kind_of_file(file);
}

}  // namespace carom::fuzz
