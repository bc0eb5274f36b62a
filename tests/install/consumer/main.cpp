#include <carom/carom.hpp>

#include <cstdio>

// Samples a small set through the installed package: every public header compiles, every part of
// the library that a static link needs is there, and the answer is certified.
int main() {
  const carom::ImpactProblem block = carom::models::build("rocking_block");
  carom::ImpactSettings settings;
  settings.samples = 100;
  const carom::ImpactResult result =
      carom::sample_impacts(carom::make_batch({&block, 1}), settings, carom::Backend::cpu);
  const carom::ImpactSummary& summary = result.summary.at(0);
  std::printf("carom %s: %lld of %lld samples terminated, largest residual %.2e\n",
              carom::build_info().version.c_str(), static_cast<long long>(summary.terminated),
              static_cast<long long>(summary.samples), summary.max_residual);
  const bool good = summary.status == carom::Status::solved && summary.samples == 100 &&
                    summary.terminated > 0 && summary.max_residual <= 1e-9;
  return good ? 0 : 1;
}
