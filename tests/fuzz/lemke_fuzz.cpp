#include <cmath>
#include <vector>

#include <carom/lcp.hpp>

#include "fuzz/input.hpp"
#include "support/lcp_residual.hpp"

// Any matrix and vector: an end, and never a false `solved`.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using carom::fuzz::require;
  carom::fuzz::Input input(data, size);
  const bool bits = input.integer(0, 1) == 1;
  const int n = input.integer(1, 10);
  const auto order = static_cast<std::size_t>(n);
  const std::vector<double> matrix = input.numbers(order * order, bits);
  const std::vector<double> vector = input.numbers(order, bits);
  carom::LcpBatch batch;
  batch.problems = 1;
  batch.order = n;
  batch.matrix = carom::Buffer<double>::from(matrix);
  batch.vector = carom::Buffer<double>::from(vector);
  carom::LcpSettings settings;
  settings.threads = 1;
  const carom::LcpResult result = carom::solve_lcp(batch, settings, carom::Backend::cpu);
  const carom::Status status = result.status.host()[0];
  if (status == carom::Status::solved) {
    require(result.residual.host()[0] <= settings.tolerance, "a small residual");
    // The tests' own residual is in long double: it sees what double's sums round away.
    double magnitude = 0.0;
    for (const double entry : matrix) magnitude = std::fmax(magnitude, std::fabs(entry));
    double largest = 0.0;
    for (const double z : result.solution.host()) largest = std::fmax(largest, std::fabs(z));
    double scale = 1e-300;
    for (const double q : vector) scale = std::fmax(scale, std::fabs(q));
    const double rounding = 1e-15 * n * magnitude * largest / scale;
    require(carom::test::lcp_residual(matrix, vector, result.solution.data()) <=
                1.01 * settings.tolerance + rounding,
            "a small residual in extended precision");
  } else if (status != carom::Status::inaccurate) {
    require(std::isnan(result.solution.host()[0]), "NaN where nothing was solved");
  }
  return 0;
}
