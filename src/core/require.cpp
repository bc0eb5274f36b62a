#include "core/require.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "core/message.hpp"

namespace carom::require {

void refuse(Refusal whose, std::string_view field, std::vector<std::int64_t> index,
            std::string value, std::string rule) {
  whose.field = field;
  whose.index = std::move(index);
  whose.value = std::move(value);
  whose.rule = std::move(rule);
  throw InvalidInput(std::move(whose));
}

std::vector<std::int64_t> place(std::int64_t i, std::int64_t columns) {
  if (columns == 0) return {i};
  return {i / columns, i % columns};
}

void positive(std::string_view field, double value, const Refusal& whose) {
  if (value > 0.0 && std::isfinite(value)) return;
  refuse(whose, field, {}, message::number(value), "must be positive and finite");
}

void at_least(std::string_view field, std::int64_t value, std::int64_t least,
              const Refusal& whose) {
  if (value >= least) return;
  refuse(whose, field, {}, std::to_string(value), "must be >= " + std::to_string(least));
}

void between(std::string_view field, std::int64_t value, std::int64_t low, std::int64_t high,
             const Refusal& whose) {
  if (value >= low && value <= high) return;
  refuse(whose, field, {}, std::to_string(value),
         "must be in " + std::to_string(low) + ".." + std::to_string(high));
}

void size(std::string_view field, std::size_t values, std::size_t expected, const Refusal& whose) {
  if (values == expected) return;
  Refusal refused = whose;
  refused.relation = "has";
  refuse(std::move(refused), field, {}, std::to_string(values) + " values",
         "must have " + std::to_string(expected));
}

void finite(std::string_view field, const double* values, std::size_t count, std::int64_t columns,
            const Refusal& whose) {
  for (std::size_t i = 0; i < count; ++i) {
    if (std::isfinite(values[i])) continue;
    refuse(whose, field, place(static_cast<std::int64_t>(i), columns), message::number(values[i]),
           "must be finite");
  }
}

void countable(std::int64_t first_problem, std::int64_t problems) {
  const std::int64_t last = (std::int64_t{1} << 32) - problems;
  if (first_problem <= last) return;
  refuse({}, "first_problem", {}, std::to_string(first_problem),
         "must be <= " + std::to_string(last) + ", as the batch has " + std::to_string(problems) +
             " problems");
}

void reachable(Backend chosen, MemorySpace space) {
  if (chosen == Backend::cuda || space == MemorySpace::host) return;
  throw InvalidInput(Refusal{.field = "backend",
                             .relation = "",
                             .value = std::string(to_string(chosen)),
                             .rule = "works in host memory; the batch is on the device"});
}

}  // namespace carom::require
