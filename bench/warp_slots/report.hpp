#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <carom/batch.hpp>

#include "machine.hpp"

namespace carom::warp_slots {

/// A kernel carried out, one warp for all problems.
struct Run {
  static constexpr std::uint64_t kMostSlots = 100'000;  // of an answer: more do not end

  /// answers: that the problems have together.
  template <class Parameter>
  Run(const std::string& listing, const std::string& name, const Parameter& parameter, int answers)
      : program(read_listing(listing, name)), machine(program) {
    Warp warp(parameter, 1);
    warp.begin(0);
    machine.run(warp, kMostSlots * static_cast<std::uint64_t>(answers));
    traffic = std::move(warp.traffic);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Program program;
  Machine machine;
  Traffic traffic;
};

/// What it gave.
struct Answers {
  std::string kernel;
  std::string problems;        ///< what they are
  std::vector<bool> left;      ///< of a problem: to another kernel
  int each;                    ///< answers of a problem
  std::int64_t different = 0;  ///< problems whose answers have not the CPU's bits
  double rounds = 0.0;  ///< of an answer: lines of its path, steps of Newton's method, pivots

  Answers(std::string of, std::string on, std::int64_t count, int of_each = 1)
      : kernel(std::move(of)),
        problems(std::move(on)),
        left(static_cast<std::size_t>(count)),
        each(of_each) {}

  [[nodiscard]] double count() const { return static_cast<double>(left.size()) * each; }

  /// open: problems that are left; rounds_of: of each answer.
  template <class Result>
  void compare(const Result& found, const Result& expected, const typename Result::Sizes& sizes,
               std::span<const int> open, std::span<const std::int32_t> rounds_of) {
    for (const int p : open) left[static_cast<std::size_t>(p)] = true;
    std::vector<bool> differs(left.size(), false);
    Result::each_array(
        sizes,
        [&](const char*, const Extents& extents, const auto& a, const auto& b) {
          const auto stride = static_cast<std::size_t>(extents.stride());
          for (std::size_t p = 0; p < left.size(); ++p) {
            const auto* one = a.data() + p * stride;
            if (std::memcmp(one, b.data() + p * stride, stride * sizeof *one) != 0) {
              differs[p] = true;
            }
          }
        },
        found, expected);
    std::int64_t answers = 0;
    for (std::size_t p = 0; p < left.size(); ++p) {
      if (left[p]) continue;
      const auto many = static_cast<std::size_t>(each);
      for (std::size_t k = 0; k < many; ++k) rounds += rounds_of[p * many + k];
      answers += each;
      if (differs[p]) ++different;
    }
    if (answers > 0) rounds /= static_cast<double>(answers);
  }
};

void print_head();
/// Slots and traffic of an answer, those included that are left to another kernel.
void print_row(const Answers& answers, const Run& run);
/// Slots by source line, `depth` functions deep from the kernel on, innermost lines of functions
/// that it calls; those of at least 1 %.
void print_profile(const Answers& answers, const Run& run, int depth);

}  // namespace carom::warp_slots
