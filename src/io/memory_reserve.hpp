#pragma once

#include <cstddef>

namespace carom::io {

/// Memory put aside for an orderly retreat. nlohmann::json allocates where it destroys arrays and
/// objects, and a failure there ends the process. While a reserve lives, the first allocation that
/// fails is served from it instead; whoever asks `require_unspent` then gives up by std::bad_alloc.
/// One at a time: a second one within the first adds nothing.
class MemoryReserve {
 public:
  /// Errors: std::bad_alloc where not even the reserve can be had.
  explicit MemoryReserve(std::size_t bytes);
  ~MemoryReserve();
  MemoryReserve(const MemoryReserve&) = delete;
  MemoryReserve& operator=(const MemoryReserve&) = delete;

  /// Errors: std::bad_alloc once the reserve has been used.
  static void require_unspent();

 private:
  bool owner_ = false;
};

}  // namespace carom::io
