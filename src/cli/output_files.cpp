#include "cli/output_files.hpp"

#include <carom/error.hpp>

#include "io/hdf5_file.hpp"
#include "io/pending_file.hpp"

namespace carom::cli {

void require_output(const std::string& file) {
  if (file.empty()) return;
  if (!io::hdf5_available()) {
    throw InvalidInput("--output " + file +
                       ": this carom was built without HDF5 (CAROM_HDF5=OFF); use --json");
  }
  io::require_writable(file, "--output", {".h5", ".hdf5"});
}

void require_picture(const std::string& file) {
  if (!file.empty()) io::require_writable(file, "--plot", {".svg", ".png"});
}

void require_animation(const std::string& file) {
  if (!file.empty()) io::require_writable(file, "--animate", {".svg"});
}

}  // namespace carom::cli
