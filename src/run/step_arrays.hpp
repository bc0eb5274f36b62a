#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <carom/compliant.hpp>

#include "run/numbers.hpp"

/// Steps given as arrays, and what came of them.
namespace carom::run {

/// Problems of one dimension, nv and nq, solved as one batch.
struct ArrayStepBatch {
  std::vector<std::size_t> problems;  ///< their indices in the run
  int rows = 0;                       ///< of the problem that has most
  CompliantResult result;             ///< empty buffers where the batch was not reached
};

struct ArrayStepRun {
  std::vector<CompliantProblem> problems;
  CompliantSettings settings;
  Backend backend = Backend::cpu;
  std::vector<ArrayStepBatch> batches;
  bool complete = true;
  double seconds = 0.0;

  struct Place {
    std::size_t batch = 0;
    std::size_t row = 0;
  };
  std::vector<Place> place;  ///< [problems]

  /// The problem's own name, or "problem 3".
  [[nodiscard]] std::string name_of(std::size_t problem) const;
  [[nodiscard]] Status status_of(std::size_t problem) const;
};

/// What is known of one problem after its step; NaN where it was not solved.
struct ArrayStep {
  Status status = Status::cancelled;
  std::vector<double> velocity;
  std::vector<double> increment;
  std::vector<double> force;  ///< row by row, in the constraints' order
  Numbers numbers;            ///< as CompliantResult lists them

  [[nodiscard]] double number(std::string_view name) const { return number_named(numbers, name); }
};
ArrayStep step_of(const ArrayStepRun& run, std::size_t problem);

/// Constraint rows of a problem.
int rows_of(const CompliantProblem& problem);

}  // namespace carom::run
