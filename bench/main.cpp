#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "measure.hpp"

// carom_bench [--full] and Google Benchmark's own options. --full adds the largest sample counts.
int main(int argc, char** argv) {
  using namespace carom;
  bool full = false;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--full") == 0) {
      full = true;
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  try {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    const BuildInfo& build = build_info();
    std::string names;
    for (const bench::Peer& peer : bench::peers()) names += (names.empty() ? "" : " ") + peer.name;
    benchmark::AddCustomContext("carom_version", build.version);
    benchmark::AddCustomContext("carom_commit", build.commit);
    benchmark::AddCustomContext("compiler", build.compiler);
    benchmark::AddCustomContext("build_type", build.build_type);
    benchmark::AddCustomContext("instruction_set", std::string(cpu_instruction_set()));
    benchmark::AddCustomContext("peers", names);
    const auto& devices = cuda_devices();
    benchmark::AddCustomContext("device", devices.empty() ? "none" : devices.front().name);
    bench::add_step_benchmarks();
    bench::add_lcp_benchmarks();
    bench::add_boxed_benchmarks();
    bench::add_lp_benchmarks();
    bench::add_equilibrium_benchmarks();
    bench::add_trajectory_benchmarks(full);
    bench::add_enclosure_benchmarks();
    bench::add_problems_benchmarks();
    bench::add_part_benchmarks();
    bench::add_qp_benchmarks();
    bench::add_warm_qp_benchmarks();
    bench::add_sdp_benchmarks();
    bench::add_stability_benchmarks();
    bench::add_world_benchmarks();
    bench::add_derivative_benchmarks();
    bench::add_device_benchmarks();
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "carom_bench: %s\n", error.what());
    return 1;
  }
}
