#include "report.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string_view>

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
  for (const char* name : {"/lanes.cuh", "/shared_lanes.cuh", "/lanes.hpp", "/numeric.hpp"}) {
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

  void add(const Issues& issues) {
    slots += static_cast<double>(issues.slots);
    lanes += static_cast<double>(issues.lanes);
  }
};

/// A mangled name without its parameters.
std::string readable(const std::string& mangled) {
  int failed = 0;
  char* text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &failed);
  std::string name = failed == 0 ? text : mangled;
  std::free(text);
  name.resize(std::min(name.find('('), name.size()));
  for (const char* room : {"carom::", "kernels::", "certificate::", "cuda::"}) {
    for (std::size_t at; (at = name.find(room)) != std::string::npos;) {
      name.erase(at, std::string_view(room).size());
    }
  }
  return name;
}

}  // namespace

void print_head() {
  std::printf(
      "Of an answer, those left to another kernel included; answers a second: an estimate, were "
      "%.0f %% of the slots of %.0f multiprocessors at %.2f GHz used.\n"
      "| kernel | problems | left | other bits | rounds | slots | a second | memory touched [B] | "
      "sectors of 32 B | shared accesses | their passes | local accesses |\n"
      "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
      100.0 * kUsed, kMultiprocessors, 1e-9 * kClock);
}

void print_row(const Answers& answers, const Run& run) {
  const auto each = [&](std::uint64_t number) {
    return static_cast<double>(number) / answers.count();
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
      each(traffic.local_accesses));
  std::fflush(stdout);
}

void print_profile(const Answers& answers, const Run& run, int depth) {
  struct Function {
    Share share;
    std::map<std::vector<SourceLine>, Share> lines;
  };
  std::map<std::string, Function> functions;  // the kernel first: it has no name
  for (std::size_t place = 0; place < run.program.code.size(); ++place) {
    const Instruction& in = run.program.code[place];
    const Issues& issues = run.machine.issues()[place];
    Function& function = functions[in.function];
    function.share.add(issues);
    std::vector<SourceLine> from_outside;
    if (!in.function.empty()) {  // what its lines were inlined into is wrong in nvdisasm's listings
      if (!in.source.empty()) function.lines[{in.source.front()}].add(issues);
      continue;
    }
    for (auto line = in.source.rbegin(); line != in.source.rend(); ++line) {
      if (static_cast<int>(from_outside.size()) == depth) break;
      if (is_tool(*line)) continue;
      from_outside.push_back(*line);
      function.lines[from_outside].add(issues);
    }
  }
  const auto all = static_cast<double>(run.machine.slots());
  const double count = answers.count();
  const auto print = [&](const Share& share, int indent, const std::string& what) {
    if (share.slots < 0.01 * all) return;
    std::printf("%5.0f   %4.1f %%      %4.1f  %*s%s\n", share.slots / count,
                100.0 * share.slots / all, share.lanes / share.slots, indent, "", what.c_str());
  };
  std::printf("\nslots  of all  lanes on  source\n");
  for (const auto& [name, function] : functions) {
    print(function.share, 0, name.empty() ? answers.kernel : readable(name));
    for (const auto& [lines, share] : function.lines) {
      const SourceLine& line = lines.back();
      print(share, 2 * static_cast<int>(lines.size()),
            line.file.substr(line.file.rfind('/') + 1) + ":" + std::to_string(line.line) + "  " +
                text_of(line));
    }
  }
  std::printf("\n");
}

}  // namespace carom::warp_slots
