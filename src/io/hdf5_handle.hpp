#pragma once

#include <hdf5.h>

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "io/file_error.hpp"

namespace carom::io {

/// Owner of an HDF5 identifier and of the function that closes it.
class Hdf5Handle {
 public:
  using Closer = herr_t (*)(hid_t);

  Hdf5Handle() = default;
  /// Errors: FileError saying that `what` failed for `file` where the identifier is invalid.
  Hdf5Handle(hid_t id, Closer closer, const std::string& file, std::string_view what)
      : id_(id), closer_(closer) {
    if (id < 0) throw FileError(fmt::format("{}: HDF5 could not {}", file, what));
  }
  Hdf5Handle(Hdf5Handle&& other) noexcept { swap(other); }
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    swap(other);
    return *this;
  }
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  ~Hdf5Handle() {
    if (id_ >= 0) closer_(id_);
  }

  [[nodiscard]] hid_t id() const { return id_; }
  /// Closes now; negative on failure.
  herr_t close() {
    const hid_t id = std::exchange(id_, -1);
    return id >= 0 ? closer_(id) : 0;
  }
  void swap(Hdf5Handle& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(closer_, other.closer_);
  }

 private:
  hid_t id_ = -1;
  Closer closer_ = nullptr;
};

/// An open file and what its errors begin with.
struct Hdf5File {
  std::string file;
  Hdf5Handle handle;

  Hdf5Handle own(hid_t id, Hdf5Handle::Closer closer, std::string_view what) const {
    return {id, closer, file, what};
  }
  void require(herr_t result, std::string_view what) const {
    if (result < 0) throw FileError(fmt::format("{}: HDF5 could not {}", file, what));
  }
};

/// HDF5 prints its error stack by default; here its failures become exceptions.
inline void silence_hdf5() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

}  // namespace carom::io
