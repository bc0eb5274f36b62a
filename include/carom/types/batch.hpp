#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <carom/types/error.hpp>
#include <carom/types/words.hpp>

namespace carom {

/// Memory that a batch lives in. Nothing moves between the two behind the caller's back.
enum class MemorySpace : std::uint8_t { host, device };

template <>
inline constexpr auto words<MemorySpace> = std::to_array<Word<MemorySpace>>({
    {MemorySpace::host, "host"},
    {MemorySpace::device, "device"},
});

namespace detail {
// Raw storage in either space (src/core/batch.cpp); device calls throw BackendUnavailable without
// CUDA.
void* allocate(std::size_t bytes, MemorySpace space);
void release(void* data, MemorySpace space) noexcept;
void copy(void* to, MemorySpace to_space, const void* from, MemorySpace from_space,
          std::size_t bytes);
}  // namespace detail

/// Array of trivially copyable values in host or device memory: owner of its storage, or a borrowed
/// view of the caller's (`borrow`). Move-only; copies are asked for by name (`to`, `copy_from`).
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;

  /// Uninitialised storage for `size` values. Errors: std::bad_alloc, CudaError,
  /// BackendUnavailable.
  explicit Buffer(std::size_t size, MemorySpace space = MemorySpace::host)
      : size_(size), space_(space), owned_(true) {
    if (size > 0) data_ = static_cast<T*>(detail::allocate(size * sizeof(T), space));
  }

  /// Host copy of `values`.
  static Buffer from(std::span<const T> values) {
    Buffer buffer(values.size());
    detail::copy(buffer.data_, MemorySpace::host, values.data(), MemorySpace::host,
                 values.size() * sizeof(T));
    return buffer;
  }
  static Buffer from(const std::vector<T>& values) { return from(std::span<const T>(values)); }

  /// View of storage that the caller keeps alive; never freed by the buffer.
  static Buffer borrow(T* data, std::size_t size, MemorySpace space) {
    Buffer buffer;
    buffer.data_ = data;
    buffer.size_ = size;
    buffer.space_ = space;
    return buffer;
  }

  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (owned_ && data_ != nullptr) detail::release(data_, space_);
  }

  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(space_, other.space_);
    std::swap(owned_, other.owned_);
  }

  [[nodiscard]] T* data() noexcept { return data_; }
  [[nodiscard]] const T* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] MemorySpace space() const noexcept { return space_; }

  /// Host access. Errors: InvalidInput when the values live on a device.
  [[nodiscard]] std::span<T> host() {
    require_host();
    return {data_, size_};
  }
  [[nodiscard]] std::span<const T> host() const {
    require_host();
    return {data_, size_};
  }

  /// A new owner with the same values in `space`.
  [[nodiscard]] Buffer to(MemorySpace space) const {
    Buffer copy(size_, space);
    detail::copy(copy.data_, space, data_, space_, size_ * sizeof(T));
    return copy;
  }
  [[nodiscard]] std::vector<T> to_vector() const {
    std::vector<T> values(size_);
    detail::copy(values.data(), MemorySpace::host, data_, space_, size_ * sizeof(T));
    return values;
  }

 private:
  void require_host() const {
    if (space_ != MemorySpace::host) throw InvalidInput("buffer: values live in device memory");
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  MemorySpace space_ = MemorySpace::host;
  bool owned_ = false;
};

/// Extents of an array, the outermost first: the number of problems.
class Extents {
 public:
  constexpr Extents(std::initializer_list<std::int64_t> extents) {
    for (const std::int64_t extent : extents) extents_[rank_++] = extent;
    for (std::size_t i = 1; i < rank_; ++i) stride_ *= extents_[i];
  }
  /// The same of an array that may be left empty.
  [[nodiscard]] constexpr Extents or_empty() const {
    Extents result = *this;
    result.optional_ = true;
    return result;
  }

  /// Number of values of all problems, and of one.
  [[nodiscard]] constexpr std::int64_t count() const { return extents_[0] * stride_; }
  [[nodiscard]] constexpr std::int64_t stride() const { return stride_; }
  [[nodiscard]] constexpr bool optional() const { return optional_; }
  [[nodiscard]] constexpr std::size_t rank() const { return rank_; }
  [[nodiscard]] constexpr std::int64_t operator[](std::size_t i) const { return extents_[i]; }

 private:
  static constexpr std::size_t kMostExtents = 4;
  std::int64_t extents_[kMostExtents] = {};
  std::size_t rank_ = 0;
  std::int64_t stride_ = 1;
  bool optional_ = false;
};

// The arrays of a batch, a start or a result are members of a template <template <class> class
// Array>, where Array is Buffer, or what else is to have the same members: pointers, vectors. Its
//
//   each_array(sizes, visit, tables...)
//
// calls visit(name, extents, members...) for every array in the order of declaration, `members`
// being those of that name in each of `tables`: objects, const or not, that have all of them.

/// A batch or result with room for all its values, which are not set; optional arrays where asked.
template <class Table>
[[nodiscard]] Table allocate(const typename Table::Sizes& sizes,
                             MemorySpace space = MemorySpace::host, bool optional = true) {
  Table table;
  if constexpr (std::is_base_of_v<typename Table::Sizes, Table>) {
    static_cast<typename Table::Sizes&>(table) = sizes;
  }
  Table::each_array(
      sizes,
      [&](const char*, const Extents& extents, auto& array) {
        if (extents.optional() && !optional) return;
        array =
            std::remove_cvref_t<decltype(array)>(static_cast<std::size_t>(extents.count()), space);
      },
      table);
  return table;
}

/// A copy in `space` of a batch or result. Errors: as Buffer's.
template <class Table>
[[nodiscard]] Table copy_to(const Table& table, MemorySpace space) {
  Table copy;
  typename Table::Sizes sizes{};
  if constexpr (std::is_base_of_v<typename Table::Sizes, Table>) {
    static_cast<typename Table::Sizes&>(copy) = sizes = table;
  }
  Table::each_array(
      sizes, [&](const char*, const Extents&, auto& to, const auto& from) { to = from.to(space); },
      copy, table);
  return copy;
}

/// NaN in every array of doubles. Errors: InvalidInput when the values live on a device.
template <class Table>
void fill_nan(Table& table) {
  Table::each_array(
      {},
      [](const char*, const Extents&, auto& array) {
        using Value = std::remove_cvref_t<decltype(*array.data())>;
        if constexpr (std::is_same_v<Value, double>) {
          std::fill(array.host().begin(), array.host().end(),
                    std::numeric_limits<double>::quiet_NaN());
        }
      },
      table);
}

}  // namespace carom
