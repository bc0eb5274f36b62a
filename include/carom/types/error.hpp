#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace carom {

/// What was refused, piece by piece. All pieces together read
///
///     source: field[index] of kind problem ("name") of whole relation value: rule
///     steps.json: friction[2] of problem 3 ("block") is -0.5: must be >= 0
///
/// and what is empty is left out. A refusal in free words has them in `rule` and no field.
struct Refusal {
  std::string source{};                   ///< file that the numbers come from
  std::string field{};                    ///< array, setting or option
  std::vector<std::int64_t> index{};      ///< {i} or {row, column} of the field; empty: all of it
  std::string kind = "problem";           ///< what `problem` counts: problem, posture, world, model
  std::optional<std::int64_t> problem{};  ///< index in the batch or file
  std::string name{};                     ///< the problem's own
  std::string whole{};                    ///< what the problem belongs to, e.g. `scenario "stack"`
  std::string relation = "is";            ///< "is", "has"; empty: the value follows the field
  std::string value{};                    ///< as the message shows it
  std::string rule{};                     ///< e.g. "must be >= 0"

  /// The message.
  [[nodiscard]] std::string text() const;
};

/// Problem data or a setting was refused. The message names the field, the index and the value;
/// refusal() has them one by one.
class InvalidInput : public std::invalid_argument {
 public:
  /// In free words.
  explicit InvalidInput(std::string message);
  explicit InvalidInput(Refusal refusal);
  // Copies share the refusal and must not throw; there is no move that would leave none behind.
  InvalidInput(const InvalidInput&) = default;
  InvalidInput& operator=(const InvalidInput&) = default;

  /// Lives as long as the exception or any copy of it.
  [[nodiscard]] const Refusal& refusal() const noexcept { return *refusal_; }

  /// The same refusal, its message preceded by "source: ", outside any source that it has already.
  [[nodiscard]] InvalidInput with_source(const std::string& source) const;
  /// The same refusal of a problem that has index `problem` elsewhere; as it is where it names
  /// none.
  [[nodiscard]] InvalidInput with_problem(std::int64_t problem) const;

 private:
  std::shared_ptr<const Refusal> refusal_;
};

/// The requested backend is not compiled in or has no usable device.
class BackendUnavailable : public std::runtime_error {
 public:
  explicit BackendUnavailable(const std::string& message) : std::runtime_error(message) {}
};

/// The CUDA runtime reported an error; the message carries the call and CUDA's own text.
class CudaError : public std::runtime_error {
 public:
  explicit CudaError(const std::string& message) : std::runtime_error(message) {}
};

}  // namespace carom
