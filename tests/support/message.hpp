#pragma once

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <carom/error.hpp>

namespace carom::test {

/// What a refusal says; fails the test where `action` is accepted.
template <class Error = InvalidInput>
std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return {};
}

/// `text` names every one of `parts`.
inline void expect_names(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << '"' << text << "\" lacks \"" << part << '"';
  }
}

}  // namespace carom::test
