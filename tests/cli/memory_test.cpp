#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <new>
#include <optional>

#include <carom/lcp.hpp>
#include <carom/lp.hpp>
#include <carom/qp.hpp>

#include "cli/refusal.hpp"
#include "io/case_file.hpp"
#include "io/file_error.hpp"
#include "io/hdf5_output.hpp"
#include "io/impact_input.hpp"
#include "io/memory_reserve.hpp"
#include "support/allocations.hpp"

namespace {

// Allocations until the one that fails; below zero: none does.
std::atomic<long> g_left = -1;
std::atomic<bool> g_failed = false;

bool fails_now() {
  if (g_left.load(std::memory_order_relaxed) < 0) return false;
  if (g_left.fetch_sub(1) != 0) return false;
  g_failed = true;
  return true;
}

void* allocate(std::size_t size, std::size_t alignment) {
  for (;;) {
    void* memory = nullptr;
    if (!fails_now()) {
      memory = alignment <= alignof(std::max_align_t)
                   ? std::malloc(size > 0 ? size : 1)
                   : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    }
    if (memory != nullptr) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, 0); }
void* operator new[](std::size_t size) { return allocate(size, 0); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
// GCC sees only half of each pair where it inlines one.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
#pragma GCC diagnostic pop

namespace carom::test {
namespace {

// What `run` returns, or nothing where it ran out of memory and said so.
template <class Run>
auto without_allocation(long number, Run&& run) -> std::optional<decltype(run())> {
  std::optional<decltype(run())> result;
  g_failed = false;
  g_left = number;
  try {
    result = run();
    g_left = -1;
  } catch (const std::bad_alloc&) {
    g_left = -1;
  } catch (const io::FileError& error) {
    g_left = -1;
    EXPECT_NE(std::string(error.what()).find("not enough memory"), std::string::npos)
        << error.what();
  }
  return result;
}

// Fails every allocation of `run` in turn: the result is the same, or there is none. Returns how
// many times there was none.
template <class Run>
int fail_each(Run&& run, const std::function<void(bool finished)>& after = {}) {
  const auto whole = run();
  if (after) after(true);
  int refused = 0;
  for (long k = 0; k < 100'000; ++k) {
    const auto result = without_allocation(k, run);
    EXPECT_TRUE(!result || *result == whole) << "allocation " << k;
    if (after) after(result.has_value());
    refused += result ? 0 : 1;
    if (!g_failed) return refused;
  }
  ADD_FAILURE() << "no end of allocations";
  return refused;
}

json small_lcp() {
  return {{"kind", "lcp"}, {"name", "small"}, {"M", {{2, 1}, {1, 2}}}, {"q", {-5, -6}}};
}

TEST(AllocationFailures, ReadingASingleProblem) {
  if (!test::kAlignedAreCounted) GTEST_SKIP() << "the thread sanitizer counts no aligned memory";
  const Scratch scratch;
  const std::string file = scratch.file("lcp.json", small_lcp().dump());
  const auto read = [&file] {
    return std::get<run::LcpProblem>(io::read_cases(file).front().problem).matrix;
  };
  EXPECT_GT(fail_each(read), 10);
}

TEST(AllocationFailures, ReadingImpacts) {
  if (!test::kAlignedAreCounted) GTEST_SKIP() << "the thread sanitizer counts no aligned memory";
  const Scratch scratch;
  const std::string file = scratch.file("two.json", json::array({block(), block()}).dump());
  EXPECT_GT(fail_each([&file] { return io::read_impact_problems(file)[1].mass_matrix; }), 10);
}

std::pair<Status, std::vector<double>> solved_lcp() {
  LcpBatch batch;
  batch.problems = 1;
  batch.order = 2;
  batch.matrix = Buffer<double>::from({2, 1, 1, 2});
  batch.vector = Buffer<double>::from({-5, -6});
  LcpSettings settings;
  settings.threads = 1;
  const LcpResult result = solve_lcp(batch, settings, Backend::cpu);
  return {result.status.host()[0], result.solution.to_vector()};
}

std::pair<Status, std::vector<double>> solved_lp() {
  LpBatch batch;
  batch.problems = 1;
  batch.rows = 1;
  batch.columns = 2;
  batch.cost = Buffer<double>::from({-1, -2});
  batch.matrix = Buffer<double>::from({1, 1});
  batch.row_lower = Buffer<double>::from({0});
  batch.row_upper = Buffer<double>::from({4});
  batch.column_lower = Buffer<double>::from({0, 0});
  batch.column_upper = Buffer<double>::from({3, 3});
  LpSettings settings;
  settings.threads = 1;
  const LpResult result = solve_lp(batch, settings, Backend::cpu);
  return {result.status.host()[0], result.solution.to_vector()};
}

std::pair<Status, std::vector<double>> solved_qp() {
  QpBatch batch;
  batch.problems = 1;
  batch.variables = 2;
  batch.rows = 1;
  batch.hessian = Buffer<double>::from({2, 0, 0, 2});
  batch.vector = Buffer<double>::from({-2, -4});
  batch.matrix = Buffer<double>::from({1, 1});
  batch.lower = Buffer<double>::from({0});
  batch.upper = Buffer<double>::from({1});
  QpSettings settings;
  settings.threads = 1;
  const QpResult result = solve_qp(batch, settings, Backend::cpu);
  return {result.status.host()[0], result.solution.to_vector()};
}

TEST(AllocationFailures, Solving) {
  if (!test::kAlignedAreCounted) GTEST_SKIP() << "the thread sanitizer counts no aligned memory";
  EXPECT_EQ(solved_lcp().first, Status::solved);
  EXPECT_GT(fail_each(solved_lcp), 3);
  EXPECT_EQ(solved_lp().first, Status::solved);
  EXPECT_GT(fail_each(solved_lp), 3);
  EXPECT_EQ(solved_qp().first, Status::solved);
  EXPECT_GT(fail_each(solved_qp), 3);
}

// The command keeps a reserve for what nlohmann::json allocates while it destroys.
TEST(AllocationFailures, WritingJson) {
  fail_each([] {
    const io::MemoryReserve reserve(1 << 20);
    nlohmann::ordered_json result = nlohmann::ordered_json::array();
    for (int i = 0; i < 3; ++i) {
      nlohmann::ordered_json entry;
      entry["name"] = "a name that is too long to be kept in place";
      entry["x"] = std::vector<double>{1.0, 2.0, 3.0};
      result.push_back(entry);
    }
    return result.dump(2);
  });
}

TEST(AllocationFailures, WritingHdf5LeavesTheOldFileOrTheNew) {
  if (!test::kAlignedAreCounted) GTEST_SKIP() << "the thread sanitizer counts no aligned memory";
  const Scratch scratch;
  const std::string file = (scratch / "run.h5").string();
  const std::vector<double> values(600, 0.5);
  const auto write = [&] {
    io::write_hdf5(file, "carom test", [&values](io::Hdf5Writer& writer) {
      writer.group("/run");
      writer.dataset("/run/values", values, {300, 2});
      writer.dataset("/run/names", std::vector<std::string>{"one", "a longer name than in place"});
      writer.attribute("/run", "seed", std::uint64_t{7});
    });
    return true;
  };
  const auto check = [&](bool finished) {
    if (finished) {
      const io::Hdf5Reader reader(file);
      EXPECT_EQ(reader.doubles("/run/values"), values);
      EXPECT_EQ(reader.strings("/run/names")[0], "one");
      EXPECT_EQ(scratch.files(), 1U);
    } else {
      EXPECT_TRUE(read_text(file) == "the old content");
      EXPECT_EQ(scratch.files(), 1U);
    }
    write_text(file, "the old content");
  };
  EXPECT_GT(fail_each(write, check), 10);
}

TEST(AllocationFailures, ReadingHdf5) {
  if (!test::kAlignedAreCounted) GTEST_SKIP() << "the thread sanitizer counts no aligned memory";
  const Scratch scratch;
  const fs::path file = scratch / "batch.h5";
  io::Hdf5Writer writer(file);
  writer.dataset("/velocity", std::vector<double>{0, -1, 0, -2}, {2, 2});
  writer.dataset("/mass_matrix", std::vector<double>{1, 0, 0, 1, 1, 0, 0, 1}, {2, 2, 2});
  writer.dataset("/normal_jacobian", std::vector<double>{0, 1, 0, 1}, {2, 1, 2});
  writer.dataset("/tangent_jacobian", std::vector<double>{1, 0, 1, 0}, {2, 1, 2});
  writer.dataset("/friction", std::vector<double>{1, 0.5}, {2, 1});
  writer.dataset("/name", std::vector<std::string>{"a name that is too long for its place", "b"});
  writer.close();
  EXPECT_GT(fail_each([&file] { return io::read_impact_problems(file)[1].friction; }), 10);
}

// A large file and little memory, as a shell would grant it.
TEST(LittleMemory, IsToldWithTheFile) {
  const Scratch scratch;
  json large = block();
  large["velocity"] = std::vector<double>(3'000'000, 0.25);
  const std::string file = scratch.file("large.json", large.dump());
  const auto limited = [](int kibibytes, const std::string& arguments) {
    return shell("ulimit -v " + std::to_string(kibibytes) + "\n\"$CAROM\" " + arguments);
  };
  int least = 100'000;  // what the libraries that the command is linked to leave it
  while (least < 4'000'000 && limited(least, "--version").status != 0) least += 50'000;
  if (least >= 4'000'000) GTEST_SKIP() << "needs more to start: a sanitizer's memory";
  int told = 0;
  for (const int more : {0, 50'000, 100'000, 200'000, 300'000}) {
    const int kibibytes = least + more;
    const Outcome outcome = limited(kibibytes, "impact '" + file + "' --json");
    ASSERT_TRUE(outcome.status == 1 || outcome.status == 2) << kibibytes << ": " << outcome.err;
    EXPECT_EQ(outcome.complaints(), 1U) << outcome.err;
    EXPECT_NE(outcome.err.find("large.json"), std::string::npos) << outcome.err;
    told += outcome.err.find("not enough memory to read") != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(told, 1);
}

}  // namespace
}  // namespace carom::test
