#include <gtest/gtest.h>

#include <chrono>
#include <csignal>

#include "cli/command.hpp"
#include "io/hdf5_file.hpp"

namespace carom::test {
namespace {

// Far more samples than fit into the test's time.
const std::vector<std::string> kLongRun = {"impact",    "disk_stack", "--samples", "2^36",
                                           "--threads", "1",          "--json"};

// Waits until the process has its own handler for SIGINT, then a little for the first samples.
void let_it_start(const Process& process) {
  const auto pause = [](int milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  };
  for (int tries = 0; tries < 1000 && !process.catches_interrupts(); ++tries) pause(10);
  pause(800);
}

TEST(Interrupt, ReportsAndWritesWhatItHas) {
  const Scratch scratch;
  const fs::path file = scratch / "run.h5";
  std::vector<std::string> words = carom_words(kLongRun);
  words.insert(words.end(), {"--output", file.string()});
  Process process(words);
  let_it_start(process);
  process.interrupt();
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.status, 130) << outcome.err;
  const json result = outcome.document();
  const std::int64_t samples = result["samples"];
  EXPECT_GT(samples, 0);
  EXPECT_LT(samples, std::int64_t{1} << 36);
  EXPECT_EQ(result["terminated"].get<std::int64_t>() +
                result["max_steps_reached"].get<std::int64_t>() +
                result["failed"].get<std::int64_t>(),
            samples);
  EXPECT_EQ(result["cancelled"], true);
  EXPECT_EQ(result["samples_requested"], std::int64_t{1} << 36);

  EXPECT_EQ(scratch.files(), 1U);
  const io::Hdf5Reader reader(file);
  EXPECT_EQ(reader.number_attribute("/", "complete"), 0);
  EXPECT_EQ(reader.number_attribute("/impact_0", "samples"), static_cast<double>(samples));
  EXPECT_GT(reader.shape("/impact_0/net/velocity")[0], 0U);
}

TEST(Interrupt, LaterBatchesOfAFileAreReportedAsNotComputed) {
  json ball = block();
  ball["name"] = "ball";
  ball["normal_jacobian"] = json::parse("[[0, 1, 0]]");
  ball["tangent_jacobian"] = json::parse("[[1, 0, 0], [0, 0, 1]]");
  ball["friction"] = {0.5};
  const Scratch scratch;
  const std::string file = scratch.file("two.json", json::array({ball, block()}).dump());
  // planar problems come first, whatever their place in the file
  Process process(carom_words({"impact", file, "--samples", "2^36", "--json", "--epsilon", "0"}));
  let_it_start(process);
  process.interrupt();
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.status, 130) << outcome.err;
  const json result = outcome.document();
  ASSERT_EQ(result.size(), 2U);
  EXPECT_EQ(result[0]["model"], "ball");
  EXPECT_EQ(result[0]["samples"], 0);
  EXPECT_TRUE(result[0]["normal_velocity_max"][0].is_null());
  EXPECT_GT(result[1]["samples"].get<std::int64_t>(), 0);
}

// A sliding contact that no force holds takes all its iterations, 10,000 of them minutes.
TEST(Interrupt, ALongSolveSaysBeforeHowLongItTakes) {
  const json slow = json::parse(R"({"dim": 2, "W": [[1, -3], [-3, 9]], "q": [-2, 0], "mu": [1]})");
  const Scratch scratch;
  const std::string file = scratch.file("slow.json", json(json::array_t(10000, slow)).dump());
  Process process(carom_words({"solve", file, "--json"}));
  for (int tries = 0; tries < 3000 && process.errors().empty(); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  process.interrupt();
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.status, 128 + SIGINT);
  EXPECT_EQ(outcome.err.rfind("This will take about ", 0), 0U) << outcome.err;
  EXPECT_NE(outcome.err.find(" of 10000 problems took "), std::string::npos) << outcome.err;
  // a file that is solved at once says nothing
  EXPECT_EQ(carom({"solve", scratch.file("one.json", slow.dump())}).err, "");
}

}  // namespace
}  // namespace carom::test
