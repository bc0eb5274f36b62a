#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <carom/backend.hpp>
#include <carom/error.hpp>
#include <carom/lcp.hpp>
#include <carom/log.hpp>

namespace carom {
namespace {

using Messages = std::vector<std::pair<LogLevel, std::string>>;

/// What a call says up to a level; afterwards nothing is told any more.
Messages said(LogLevel most) {
  Messages found;
  set_log([&](LogLevel level, std::string_view text) { found.emplace_back(level, text); }, most);
  LcpBatch batch;
  batch.problems = 1;
  batch.order = 1;
  batch.matrix = Buffer<double>::from(std::vector{2.0});
  batch.vector = Buffer<double>::from(std::vector{-1.0});
  const LcpResult answer = solve_lcp(batch, {}, Backend::cpu);
  set_log({});
  EXPECT_EQ(answer.solution.host()[0], 0.5);
  return found;
}

TEST(Log, TellsEachCallAndOnceTheBuild) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const Messages first = said(LogLevel::debug);
  const Messages again = said(LogLevel::debug);
  const Messages none = said(LogLevel::warning);
  const Messages off = said(LogLevel::off);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  const std::pair<LogLevel, std::string> call{LogLevel::debug, "backend cpu, asked for cpu"};
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].first, LogLevel::info);
  EXPECT_EQ(first[0].second.find("version " + build_info().version + " ("), 0u);
  EXPECT_NE(first[0].second.find(cpu_instruction_set()), std::string::npos);
  EXPECT_EQ(first[1], call);
  EXPECT_EQ(again, Messages{call});
  EXPECT_TRUE(none.empty());
  EXPECT_TRUE(off.empty());
}

TEST(Log, WarnsOfABackendThatIsNotThere) {
  if (!cuda_devices().empty()) GTEST_SKIP() << "there is a device";
  Messages found;
  set_log([&](LogLevel level, std::string_view text) { found.emplace_back(level, text); },
          LogLevel::warning);
  EXPECT_THROW(resolve(Backend::cuda), BackendUnavailable);
  set_log({});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].first, LogLevel::warning);
  EXPECT_NE(found[0].second.find("cuda"), std::string::npos);
}

TEST(Log, CallbackMayThrowAndCallCarom) {
  set_log([](LogLevel, std::string_view) { throw std::runtime_error("full"); }, LogLevel::debug);
  EXPECT_THROW(resolve(Backend::cpu), std::runtime_error);
  int calls = 0;
  set_log(
      [&](LogLevel, std::string_view) {
        if (++calls == 1) resolve(Backend::cpu);
      },
      LogLevel::debug);
  EXPECT_EQ(resolve(Backend::cpu), Backend::cpu);
  set_log({});
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace carom
