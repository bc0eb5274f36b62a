#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "io/memory_reserve.hpp"

namespace carom::io {

inline constexpr std::size_t kMaxJsonBytes = std::size_t{1} << 30;
inline constexpr int kMaxJsonDepth = 64;  ///< what reads and prints values calls itself

/// A parsed file. Repeated keys of one object, nesting beyond kMaxJsonDepth and files of more than
/// kMaxJsonBytes are refused.
class JsonDocument {
 public:
  /// Errors: InvalidInput naming the file, the line, and the field that was being read;
  /// std::bad_alloc.
  explicit JsonDocument(const std::filesystem::path& file);

  [[nodiscard]] const nlohmann::json& root() const { return root_; }

 private:
  JsonDocument(const std::string& name, const std::string& text);

  MemoryReserve reserve_;  // outlives what it is there to destroy
  nlohmann::json root_;
};

}  // namespace carom::io
