#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <carom/batch.hpp>
#include <carom/error.hpp>
#include <carom/workspace.hpp>

/// Arrays between NumPy and the library, by the lists of arrays (carom/batch.hpp, each_array): a
/// batch borrows the caller's memory, a result's memory becomes NumPy's. Nothing is copied.
namespace carom::python {

namespace nb = nanobind;

/// What NumPy has for a value: enumerations are their numbers.
template <class T>
struct PlainOf {
  using type = T;
};
template <class T>
requires std::is_enum_v<T>
struct PlainOf<T> {
  using type = std::underlying_type_t<T>;
};
template <class T>
using Plain = typename PlainOf<T>::type;

template <class T>
using Input = nb::ndarray<const Plain<T>, nb::c_contig, nb::device::cpu>;

/// A view of a contiguous array of that very type, which the caller keeps alive.
template <class T>
Buffer<T> borrowed(nb::handle array) {
  const auto values = nb::cast<Input<T>>(array);
  const auto* data = reinterpret_cast<const T*>(values.data());
  return Buffer<T>::borrow(const_cast<T*>(data), values.size(), MemorySpace::host);
}

template <class T>
std::vector<T> copied(nb::handle array) {
  const auto values = nb::cast<Input<T>>(array);
  const auto* data = reinterpret_cast<const T*>(values.data());
  return {data, data + values.size()};
}

/// The arrays of `table` whose names are keys of `arrays`; the others stay empty.
template <class Table>
void borrow(Table& table, const typename Table::Sizes& sizes, const nb::dict& arrays) {
  Table::each_array(
      sizes,
      [&](const char* name, const Extents&, auto& array) {
        using Value = std::remove_cvref_t<decltype(*array.data())>;
        if (arrays.contains(name)) array = borrowed<Value>(arrays[name]);
      },
      table);
}

/// None is no workspace. Errors: InvalidInput for anything else that is none.
inline Workspace* workspace_of(nb::handle given) {
  if (given.is_none()) return nullptr;
  if (!nb::isinstance<Workspace>(given)) {
    throw InvalidInput(Refusal{.field = "workspace",
                               .value = nb::cast<std::string>(nb::repr(given)),
                               .rule = "must be a carom.Workspace or None"});
  }
  return nb::cast<Workspace*>(given);
}

using Shape = std::vector<std::size_t>;

/// An array over memory that `owner` has, which goes with the array.
template <class T, class Owner>
nb::object array_over(T* data, const Shape& shape, Owner&& owner) {
  using Kept = std::remove_cvref_t<Owner>;
  static Plain<T> nothing{};
  auto* plain = data == nullptr ? &nothing : reinterpret_cast<Plain<T>*>(data);
  auto* kept = new Kept(std::forward<Owner>(owner));
  const nb::capsule capsule(kept, [](void* p) noexcept { delete static_cast<Kept*>(p); });
  return nb::cast(
      nb::ndarray<nb::numpy, Plain<T>, nb::c_contig>(plain, shape.size(), shape.data(), capsule));
}

/// Of a plain list where `shape` is empty.
template <class T>
nb::object array_of(std::vector<T>&& values, Shape shape = {}) {
  if (shape.empty()) shape = {values.size()};
  T* data = values.data();
  return array_over(data, shape, std::move(values));
}

inline Shape shape_of(const Extents& extents) {
  Shape shape;
  for (std::size_t i = 0; i < extents.rank(); ++i) {
    shape.push_back(static_cast<std::size_t>(extents[i]));
  }
  return shape;
}

/// Why each of the wanted problems is refused: what `refusal_of` says of it, if anything.
template <class Batch, class RefusalOf>
nb::dict refusals_of(const Batch& batch, const std::vector<std::int64_t>& wanted,
                     RefusalOf refusal_of) {
  nb::dict result;
  for (const std::int64_t problem : wanted) {
    if (const auto refusal = refusal_of(batch, problem)) {
      result[nb::int_(problem)] = refusal->text();
    }
  }
  return result;
}

/// Name and array of everything in `table` that holds what `sizes` asks for; None for optional
/// arrays that are empty.
template <class Table>
nb::dict arrays_of(Table&& table, const typename std::remove_cvref_t<Table>::Sizes& sizes) {
  nb::dict result;
  std::remove_cvref_t<Table>::each_array(
      sizes,
      [&](const char* name, const Extents& extents, auto& array) {
        if (extents.optional() && array.empty() && extents.count() > 0) {
          result[name] = nb::none();
          return;
        }
        auto* data = array.data();
        result[name] = array_over(data, shape_of(extents), std::move(array));
      },
      table);
  return result;
}

}  // namespace carom::python
