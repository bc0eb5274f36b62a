#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <carom/lcp.hpp>
#include <carom/lp.hpp>
#include <carom/qp.hpp>

// Solves a file of problems of one kind that classes.py wrote, on one thread, with its proofs, and
// says how long a problem takes. FILE: 32-bit counts, then the arrays of all problems in turn, in
// the order of the batch's members. ANSWERS: of each problem the status's number and the answer,
// x and y of LPs, x, y and z of QPs, z of LCPs.
namespace {

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

class Reader {
 public:
  explicit Reader(const char* path) : file_(std::fopen(path, "rb")) {}

  std::int32_t count() {
    std::int32_t value = 0;
    if (!file_ || std::fread(&value, sizeof value, 1, file_.get()) != 1) good_ = false;
    return value;
  }
  carom::Buffer<double> values(std::int64_t count) {
    std::vector<double> read(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
    if (!file_ || std::fread(read.data(), sizeof(double), read.size(), file_.get()) != read.size())
      good_ = false;
    return carom::Buffer<double>::from(read);
  }
  [[nodiscard]] bool good() const { return good_; }

 private:
  File file_;
  bool good_ = true;
};

/// An array of the result and its numbers a problem.
using Part = std::pair<const double*, std::int64_t>;

struct Answers {
  const carom::Status* status;
  std::vector<Part> parts;
};

struct Run {
  std::int64_t problems = 0;
  std::function<void()> solve;
  std::function<Answers()> answers;
};

/// `batch` and the settings live in the closures, the result of the last call too.
template <class Result, class Batch, class Solve, class Parts>
Run run_of(Batch batch, Solve solve, Parts parts) {
  auto kept = std::make_shared<Batch>(std::move(batch));
  auto result = std::make_shared<Result>();
  return {kept->problems, [=] { *result = solve(*kept); },
          [=] {
            return Answers{result->status.data(), parts(*kept, *result)};
          }};
}

Run lps(Reader& file) {
  carom::LpBatch batch;
  const std::int64_t p = batch.problems = file.count();
  const std::int64_t n = batch.columns = file.count();
  const std::int64_t m = batch.rows = file.count();
  batch.cost = file.values(p * n);
  batch.matrix = file.values(p * m * n);
  batch.row_lower = file.values(p * m);
  batch.row_upper = file.values(p * m);
  batch.column_lower = file.values(p * n);
  batch.column_upper = file.values(p * n);
  carom::LpSettings settings;
  settings.threads = 1;
  return run_of<carom::LpResult>(
      std::move(batch),
      [settings](const carom::LpBatch& of) {
        return carom::solve_lp(of, settings, carom::Backend::cpu);
      },
      [](const carom::LpBatch& of, const carom::LpResult& result) {
        return std::vector<Part>{{result.solution.data(), of.columns},
                                 {result.dual.data(), of.rows}};
      });
}

Run lcps(Reader& file) {
  carom::LcpBatch batch;
  const std::int64_t p = batch.problems = file.count();
  const std::int64_t n = batch.order = file.count();
  batch.matrix = file.values(p * n * n);
  batch.vector = file.values(p * n);
  carom::LcpSettings settings;
  settings.threads = 1;
  return run_of<carom::LcpResult>(
      std::move(batch),
      [settings](const carom::LcpBatch& of) {
        return carom::solve_lcp(of, settings, carom::Backend::cpu);
      },
      [](const carom::LcpBatch& of, const carom::LcpResult& result) {
        return std::vector<Part>{{result.solution.data(), of.order}};
      });
}

/// All cones are of second order; other rows are rows of A.
Run qps(Reader& file, const std::string& method) {
  carom::QpBatch batch;
  const std::int64_t p = batch.problems = file.count();
  const std::int64_t n = batch.variables = file.count();
  const std::int64_t m = batch.rows = file.count();
  batch.cones.resize(static_cast<std::size_t>(std::max(file.count(), 0)));
  for (carom::Cone& cone : batch.cones) cone = {carom::ConeKind::second_order, file.count()};
  const std::int64_t k = batch.cone_rows();
  batch.hessian = file.values(p * n * n);
  batch.vector = file.values(p * n);
  batch.matrix = file.values(p * m * n);
  batch.lower = file.values(p * m);
  batch.upper = file.values(p * m);
  batch.cone_matrix = file.values(p * k * n);
  batch.cone_vector = file.values(p * k);
  carom::QpSettings settings;
  settings.threads = 1;
  for (int at = 0; at <= static_cast<int>(carom::QpMethod::lemke); ++at) {
    const auto named = static_cast<carom::QpMethod>(at);
    if (carom::to_string(named) == method) settings.method = named;
  }
  return run_of<carom::QpResult>(
      std::move(batch),
      [settings](const carom::QpBatch& of) {
        return carom::solve_qp(of, settings, carom::Backend::cpu);
      },
      [](const carom::QpBatch& of, const carom::QpResult& result) {
        return std::vector<Part>{{result.solution.data(), of.variables},
                                 {result.dual.data(), of.rows},
                                 {result.cone_dual.data(), of.cone_rows()}};
      });
}

double seconds_of(const Run& run, int repeats) {
  const std::clock_t start = std::clock();
  for (int k = 0; k < repeats; ++k) run.solve();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / repeats;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: carom_classes lp|lcp|qp FILE [ANSWERS] [METHOD]\n");
    return 2;
  }
  const std::string kind = arguments[1];
  Reader file(arguments[2]);
  const Run run = kind == "lp"    ? lps(file)
                  : kind == "lcp" ? lcps(file)
                                  : qps(file, count > 4 ? arguments[4] : "");
  if (!file.good()) return 2;
  const double once = seconds_of(run, 1);
  const int repeats = std::clamp(static_cast<int>(0.02 / std::max(once, 1e-6)), 1, 200);
  double best = once;
  for (int round = 0; once < 1.0 && round < 5; ++round) {
    best = std::min(best, seconds_of(run, repeats));
  }
  std::printf("{\"seconds\": %.9g}\n", best / static_cast<double>(run.problems));
  if (count > 3) {
    const File written(std::fopen(arguments[3], "wb"));
    if (!written) return 2;
    const Answers answers = run.answers();
    for (std::int64_t k = 0; k < run.problems; ++k) {
      const auto status = static_cast<double>(answers.status[k]);
      std::fwrite(&status, sizeof status, 1, written.get());
      for (const auto& [data, size] : answers.parts) {
        std::fwrite(data + k * size, sizeof(double), static_cast<std::size_t>(size), written.get());
      }
    }
  }
  return 0;
}
