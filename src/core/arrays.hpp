#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <carom/types/batch.hpp>

#include "core/require.hpp"

/// Operations on all arrays of a batch, start or result (carom/batch.hpp, each_array).
namespace carom::arrays {

/// Refuses a number of values that `sizes` does not ask for. prefix: of the names in the message.
template <class Table>
void require_sizes(const Table& table, const typename Table::Sizes& sizes,
                   const std::string& prefix = {}) {
  Table::each_array(
      sizes,
      [&](const char* name, const Extents& extents, const auto& values) {
        if (values.empty() && extents.optional()) return;
        const auto expected = static_cast<std::size_t>(extents.count());
        if (values.size() != expected) require::size(prefix + name, values.size(), expected);
      },
      table);
}

/// The memory space of all arrays that hold anything. what: whose they are, in the message.
template <class Table, class... More>
MemorySpace common_space(const char* what, const Table& table, const More&... more) {
  MemorySpace space = MemorySpace::host;
  bool known = false;  // an empty array tells it where all others are empty too
  bool filled = false;
  const auto join = [&](const char*, const Extents&, const auto& values) {
    if (filled && !values.empty() && values.space() != space) {
      throw InvalidInput(
          Refusal{.field = what, .rule = "all arrays must live in one memory space"});
    }
    if (!filled && (!known || !values.empty())) space = values.space();
    known = true;
    filled = filled || !values.empty();
  };
  Table::each_array({}, join, table);
  (More::each_array({}, join, more), ...);
  return space;
}

/// Points `view`, which has the arrays of `table` as pointers, to the values of problem `problem`
/// and those that follow; null where there are none.
template <class View, class Table>
void bind(View& view, Table& table, const typename Table::Sizes& sizes = {},
          std::int64_t problem = 0) {
  Table::each_array(
      sizes,
      [&](const char*, const Extents& extents, auto& pointer, auto& values) {
        pointer = values.empty() ? nullptr : values.data() + problem * extents.stride();
      },
      view, table);
}

/// Problems [begin, end) of a batch, whose memory they borrow.
template <class Batch>
Batch slice(const Batch& batch, std::int64_t begin, std::int64_t end) {
  Batch part;
  static_cast<typename Batch::Sizes&>(part) = batch;
  part.problems = end - begin;
  Batch::each_array(
      batch,
      [&](const char*, const Extents& extents, auto& to, const auto& from) {
        if (from.empty()) return;
        using Value = std::remove_cvref_t<decltype(*from.data())>;
        to = Buffer<Value>::borrow(const_cast<Value*>(from.data()) + begin * extents.stride(),
                                   static_cast<std::size_t>((end - begin) * extents.stride()),
                                   from.space());
      },
      part, batch);
  return part;
}

/// Copies the results of problems [begin, ...) to their places in that of all problems, which has
/// room for what the first part brings.
template <class Result>
void place_part(Result& whole, const typename Result::Sizes& sizes, std::int64_t begin,
                const Result& part) {
  Result::each_array(
      sizes,
      [&](const char*, const Extents& extents, auto& to, const auto& from) {
        if (from.empty()) return;
        if (to.empty())
          to = std::remove_cvref_t<decltype(to)>(static_cast<std::size_t>(extents.count()));
        std::copy(from.data(), from.data() + from.size(), to.data() + begin * extents.stride());
      },
      whole, part);
}

/// Copies one problem, which has its arrays in vectors, to place `index` of a batch. Refuses
/// another number of values, none where the batch has left an array out; `whose` says of which
/// problem.
template <class Batch, class Problem>
void place(Batch& batch, std::int64_t index, const Problem& problem, const Refusal& whose = {}) {
  Batch::each_array(
      batch,
      [&](const char* name, const Extents& extents, auto& to, const auto& from) {
        const bool left_out = to.empty() && extents.optional();
        const std::int64_t stride = left_out ? 0 : extents.stride();
        require::size(name, from.size(), static_cast<std::size_t>(stride), whose);
        if (!left_out) std::copy(from.begin(), from.end(), to.data() + index * stride);
      },
      batch, problem);
}

/// Problems `listed` of a batch or start, in their order.
template <class Table>
Table gathered(const Table& from, const typename Table::Sizes& sizes,
               const std::vector<std::int64_t>& listed) {
  using Sizes = typename Table::Sizes;
  Table to;
  if constexpr (std::is_base_of_v<Sizes, Table>) {
    static_cast<Sizes&>(to) = sizes;
    to.problems = static_cast<std::int64_t>(listed.size());
  }
  Table::each_array(
      sizes,
      [&](const char*, const Extents& extents, auto& part, const auto& whole) {
        if (whole.empty()) return;
        const std::int64_t stride = extents.stride();
        part =
            std::remove_cvref_t<decltype(part)>(listed.size() * static_cast<std::size_t>(stride));
        for (std::size_t at = 0; at < listed.size(); ++at) {
          std::copy_n(whole.data() + listed[at] * stride, stride,
                      part.data() + static_cast<std::int64_t>(at) * stride);
        }
      },
      to, from);
  return to;
}

}  // namespace carom::arrays
