#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace carom::test {

/// Nothing on standard output, one line on standard error that holds all the words.
inline void expect_complaint(const Outcome& outcome, int status,
                             const std::vector<std::string>& words) {
  EXPECT_EQ(outcome.status, status) << outcome.err;
  EXPECT_TRUE(outcome.out.empty()) << outcome.out;
  EXPECT_EQ(outcome.complaints(), 1U) << outcome.err;
  EXPECT_EQ(outcome.err.rfind("carom: ", 0), 0U) << outcome.err;
  for (const std::string& word : words) {
    EXPECT_NE(outcome.err.find(word), std::string::npos) << word << " not in: " << outcome.err;
  }
}

/// Bad input.
inline void expect_refusal(const Outcome& outcome, const std::vector<std::string>& words) {
  expect_complaint(outcome, 2, words);
}

}  // namespace carom::test
