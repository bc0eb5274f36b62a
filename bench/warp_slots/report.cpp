#include "report.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>

namespace carom::warp_slots {

namespace {

/// Slots a second that kernels are assumed to use: an H100's schedulers and clock, and a share that
/// no device has confirmed.
constexpr double kMultiprocessors = 132.0;
constexpr double kSchedulers = 4.0;  // of a multiprocessor
constexpr double kClock = 1.75e9;    // [1/s]
constexpr double kUsed = 0.4;

/// What bodies are made of stands in these; the functions that call it say more.
bool is_tool(const SourceLine& line) {
  for (const char* name : {"/lanes.cuh", "/lanes.hpp", "/numeric.hpp"}) {
    if (line.file.ends_with(name)) return true;
  }
  return false;
}

std::string text_of(const SourceLine& line) {
  std::ifstream file(line.file);
  std::string text;
  for (int n = 0; n < line.line && std::getline(file, text); ++n) {
  }
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin);
}

struct Share {
  double slots = 0.0;
  double lanes = 0.0;
};

}  // namespace

void print_head() {
  std::printf(
      "Of a problem, those left to another kernel included; problems a second: an estimate, were "
      "%.0f %% of the slots of %.0f multiprocessors at %.2f GHz used.\n"
      "| kernel | problems | left | other bits | rounds | slots | a second | memory touched [B] | "
      "sectors of 32 B | shared accesses | their passes | spills |\n"
      "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
      100.0 * kUsed, kMultiprocessors, 1e-9 * kClock);
}

void print_row(const Answers& answers, const Run& run) {
  const auto each = [&](std::uint64_t number) {
    return static_cast<double>(number) / static_cast<double>(answers.left.size());
  };
  const Traffic& traffic = run.traffic;
  const double slots = each(run.machine.slots());
  std::printf(
      "| `%s` | %zu, %s | %td | %lld | %.2f | %.1f | %.1e | %.0f | %.1f | %.1f | %.1f | %.1f |\n",
      answers.kernel.c_str(), answers.left.size(), answers.problems.c_str(),
      std::count(answers.left.begin(), answers.left.end(), true),
      static_cast<long long>(answers.different), answers.rounds, slots,
      kMultiprocessors * kSchedulers * kClock * kUsed / slots, 32.0 * each(traffic.touched.size()),
      each(traffic.sectors), each(traffic.shared_accesses), each(traffic.shared_wavefronts),
      each(traffic.spill_accesses));
  std::fflush(stdout);
}

void print_profile(const Answers& answers, const Run& run, int depth) {
  std::map<std::vector<SourceLine>, Share> shares;
  for (std::size_t place = 0; place < run.program.code.size(); ++place) {
    const Issues& issues = run.machine.issues()[place];
    std::vector<SourceLine> from_kernel;
    const auto& source = run.program.code[place].source;
    for (auto line = source.rbegin(); line != source.rend(); ++line) {
      if (static_cast<int>(from_kernel.size()) == depth) break;
      if (is_tool(*line)) continue;
      from_kernel.push_back(*line);
      Share& share = shares[from_kernel];
      share.slots += static_cast<double>(issues.slots);
      share.lanes += static_cast<double>(issues.lanes);
    }
    if (from_kernel.empty()) {
      Share& share = shares[{SourceLine{}}];
      share.slots += static_cast<double>(issues.slots);
      share.lanes += static_cast<double>(issues.lanes);
    }
  }
  const auto all = static_cast<double>(run.machine.slots());
  std::printf("\nslots  of all  lanes on  source\n");
  for (const auto& [lines, share] : shares) {
    if (share.slots < 0.01 * all) continue;
    const SourceLine& line = lines.back();
    const std::string where = line.file.empty()
                                  ? "long divisions and other functions of the compiler"
                                  : line.file.substr(line.file.rfind('/') + 1) + ":" +
                                        std::to_string(line.line) + "  " + text_of(line);
    std::printf("%5.0f   %4.1f %%      %4.1f  %*s%s\n",
                share.slots / static_cast<double>(answers.left.size()), 100.0 * share.slots / all,
                share.lanes / share.slots, 2 * (static_cast<int>(lines.size()) - 1), "",
                where.c_str());
  }
  std::printf("\n");
}

}  // namespace carom::warp_slots
