#pragma once

#include <cstddef>

namespace carom::io {

/// Memory reserved for the case that memory is exhausted. nlohmann::json allocates when it destroys
/// arrays and objects, and a failure there would end the process. While reserves exist, a failing
/// allocation takes the memory of the last remaining reserve.
class MemoryReserve {
 public:
  /// Errors: std::bad_alloc where not even the reserve can be had.
  explicit MemoryReserve(std::size_t bytes);
  ~MemoryReserve();
  MemoryReserve(const MemoryReserve&) = delete;
  MemoryReserve& operator=(const MemoryReserve&) = delete;

  /// Errors: std::bad_alloc once this reserve has been used, for who can stop in good order.
  void require_unspent() const;

 private:
  static void spend();

  void* block_ = nullptr;
  MemoryReserve* outer_ = nullptr;
};

}  // namespace carom::io
