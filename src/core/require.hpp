#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <carom/types/backend.hpp>
#include <carom/types/batch.hpp>
#include <carom/types/error.hpp>

/// Checks that the public functions share. Errors: InvalidInput with field, value and rule, and
/// whatever else `whose` says: the problem, its name, what it belongs to.
namespace carom::require {

/// Throws `whose` with the rest filled in.
[[noreturn]] void refuse(Refusal whose, std::string_view field, std::vector<std::int64_t> index,
                         std::string value, std::string rule);

/// Place of value i in rows of `columns` numbers; of a plain list where columns is 0.
std::vector<std::int64_t> place(std::int64_t i, std::int64_t columns);

void positive(std::string_view field, double value, const Refusal& whose = {});

void at_least(std::string_view field, std::int64_t value, std::int64_t least,
              const Refusal& whose = {});
void between(std::string_view field, std::int64_t value, std::int64_t low, std::int64_t high,
             const Refusal& whose = {});

/// Number of values of an array.
void size(std::string_view field, std::size_t values, std::size_t expected,
          const Refusal& whose = {});
/// The first of them that is not finite; columns as in `place`.
void finite(std::string_view field, const double* values, std::size_t count, std::int64_t columns,
            const Refusal& whose = {});

/// Problems are counted in 32 bits of the address of a random number.
void countable(std::int64_t first_problem, std::int64_t problems);

/// Only cuda works on batches in device memory.
void reachable(Backend chosen, MemorySpace space);

}  // namespace carom::require
