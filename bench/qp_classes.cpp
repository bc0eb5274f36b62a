#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <carom/qp.hpp>

// Solves a file of quadratic programs that qp_classes.py wrote, on one thread, and says how long a
// problem takes. FILE: 32-bit counts of problems, unknowns and rows, then P, q, A, l and u of all
// problems in turn. ANSWERS: x, y and 0 where the problem is solved, of each problem.
namespace {

using carom::QpBatch;

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

bool read_values(std::FILE* file, carom::Buffer<double>& to, std::size_t count) {
  std::vector<double> values(count);
  if (std::fread(values.data(), sizeof(double), count, file) != count) return false;
  to = carom::Buffer<double>::from(values);
  return true;
}

double seconds_of(const QpBatch& batch, const carom::QpSettings& settings, int repeats) {
  const std::clock_t start = std::clock();
  for (int k = 0; k < repeats; ++k) carom::solve_qp(batch, settings, carom::Backend::cpu);
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / repeats;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: carom_qp_classes FILE [ANSWERS] [METHOD]\n");
    return 2;
  }
  const File file(std::fopen(arguments[1], "rb"));
  std::int32_t sizes[3];
  if (!file || std::fread(sizes, sizeof sizes[0], 3, file.get()) != 3) return 2;
  QpBatch batch;
  batch.problems = sizes[0];
  batch.variables = sizes[1];
  batch.rows = sizes[2];
  const auto p = static_cast<std::size_t>(sizes[0]);
  const auto n = static_cast<std::size_t>(sizes[1]);
  const auto m = static_cast<std::size_t>(sizes[2]);
  if (!read_values(file.get(), batch.hessian, p * n * n) ||
      !read_values(file.get(), batch.vector, p * n) ||
      !read_values(file.get(), batch.matrix, p * m * n) ||
      !read_values(file.get(), batch.lower, p * m) ||
      !read_values(file.get(), batch.upper, p * m)) {
    return 2;
  }
  carom::QpSettings settings;
  settings.threads = 1;
  for (int method = 0; count > 3 && method <= static_cast<int>(carom::QpMethod::lemke); ++method) {
    const auto named = static_cast<carom::QpMethod>(method);
    if (carom::to_string(named) == arguments[3]) settings.method = named;
  }
  const carom::QpResult result = carom::solve_qp(batch, settings, carom::Backend::cpu);
  const double once = seconds_of(batch, settings, 1);
  const int repeats = std::clamp(static_cast<int>(0.02 / std::max(once, 1e-6)), 1, 200);
  double best = once;
  for (int round = 0; round < 5; ++round) {
    best = std::min(best, seconds_of(batch, settings, repeats));
  }
  std::printf("{\"seconds\": %.9g}\n", best / static_cast<double>(p));
  if (count > 2) {
    const File answers(std::fopen(arguments[2], "wb"));
    if (!answers) return 2;
    for (std::size_t k = 0; k < p; ++k) {
      const double open = result.status.host()[k] == carom::Status::solved ? 0.0 : 1.0;
      std::fwrite(result.solution.data() + k * n, sizeof(double), n, answers.get());
      std::fwrite(result.dual.data() + k * m, sizeof(double), m, answers.get());
      std::fwrite(&open, sizeof open, 1, answers.get());
    }
  }
  return 0;
}
