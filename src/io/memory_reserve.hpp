#pragma once

#include <cstddef>

namespace carom::io {

/// Memory put aside for an orderly retreat. nlohmann::json allocates where it destroys arrays and
/// objects, and a failure there would end the process. While reserves live, an allocation that
/// fails is served from the innermost one that is left.
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
