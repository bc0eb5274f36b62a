#include <nanobind/nanobind.h>

#include <algorithm>
#include <limits>

#include <carom/coulomb.hpp>

#include "call.hpp"
#include "core/parallel.hpp"
#include "families.hpp"
#include "settings.hpp"
#include "tables.hpp"

namespace carom::python {

namespace {

/// Contact problems of one shape, each by itself.
nb::dict coulomb(const nb::dict& arrays, std::int64_t problems, int dimension, int contacts,
                 const nb::dict& settings, int threads) {
  const auto chosen = settings_from<CoulombSettings>(settings);
  const auto m = static_cast<std::size_t>(contacts);
  const std::size_t rows = static_cast<std::size_t>(dimension) * m;
  const auto count = static_cast<std::size_t>(problems);
  const auto matrix = borrowed<double>(arrays["matrix"]),
             vector = borrowed<double>(arrays["vector"]),
             friction = borrowed<double>(arrays["friction"]);
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::vector<Status> status(count);
  std::vector<double> reaction(count * rows, kNone), velocity(count * rows, kNone), residual(count);
  std::vector<std::int32_t> iterations(count);
  const auto solve = [&](std::size_t p) {
    const auto part = [p](const Buffer<double>& from, std::size_t width) {
      return std::vector<double>(from.data() + p * width, from.data() + (p + 1) * width);
    };
    const CoulombProblem problem{dimension, contacts, part(matrix, rows * rows), part(vector, rows),
                                 part(friction, m)};
    CoulombResult result;
    try {
      result = solve_coulomb(problem, chosen);
    } catch (const InvalidInput&) {
      result.status = Status::invalid_input;
      result.residual = kNone;
    }
    status[p] = result.status;
    residual[p] = result.residual;
    iterations[p] = result.iterations;
    std::copy(result.reaction.begin(), result.reaction.end(),
              reaction.begin() + static_cast<std::ptrdiff_t>(p * rows));
    std::copy(result.velocity.begin(), result.velocity.end(),
              velocity.begin() + static_cast<std::ptrdiff_t>(p * rows));
  };
  in_turns(problems, [&](std::int64_t first, std::int64_t pieces) {
    parallel_for_each(pieces, threads,
                      [&](std::int64_t i) { solve(static_cast<std::size_t>(first + i)); });
  });
  nb::dict result;
  result["reaction"] = array_of(std::move(reaction), {count, rows});
  result["velocity"] = array_of(std::move(velocity), {count, rows});
  result["status"] = array_of(std::move(status));
  result["residual"] = array_of(std::move(residual));
  result["iterations"] = array_of(std::move(iterations));
  return result;
}

}  // namespace

void add_coulomb(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def("solve_coulomb", coulomb, "arrays"_a, "problems"_a, "dimension"_a, "contacts"_a,
             "settings"_a, "threads"_a);
  module.def("coulomb_settings", described<CoulombSettings>);
}

}  // namespace carom::python
