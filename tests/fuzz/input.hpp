#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

/// Reads numbers from a fuzzer's bytes; zeros where they end.
namespace carom::fuzz {

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  int integer(int low, int high) { return low + byte() % (high - low + 1); }
  /// Any double, its bits taken as they come.
  double any() {
    double value = 0.0;
    const std::size_t count = size_ < sizeof value ? size_ : sizeof value;
    std::memcpy(&value, data_, count);
    data_ += count;
    size_ -= count;
    return value;
  }
  /// A small multiple of 1/16: ties and degeneracies are common.
  double small() { return static_cast<double>(static_cast<std::int8_t>(byte())) / 16.0; }
  std::vector<double> numbers(std::size_t count, bool bits) {
    std::vector<double> values(count);
    for (double& value : values) value = bits ? any() : small();
    return values;
  }

 private:
  std::uint8_t byte() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  const std::uint8_t* data_;
  std::size_t size_;
};

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "violated: %s\n", what);
  std::abort();
}

}  // namespace carom::fuzz
