#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "fuzz/readers.hpp"
#include "fuzz/scratch_file.hpp"
#include "io/hdf5_file.hpp"

// Data sets of any names, types and extents: problems, or a refusal that names the file. The bytes
// choose what is written, so that it is carom's reader that is searched; an odd first byte then
// damages the file itself, of which HDF5's own checks see the most.
namespace {

constexpr std::array<const char*, 20> kNames = {"velocity",
                                                "mass_matrix",
                                                "normal_jacobian",
                                                "tangent_jacobian",
                                                "friction",
                                                "name",
                                                "position",
                                                "normal",
                                                "length",
                                                "wrench",
                                                "force",
                                                "dt",
                                                "type",
                                                "jacobian",
                                                "phi",
                                                "damping",
                                                "stiffness",
                                                "position_map",
                                                "jacobian_dot_v",
                                                "wrench_vertices"};

void write_some(carom::fuzz::Input& input, const std::filesystem::path& path) {
  carom::io::Hdf5Writer writer(path);
  const int sets = input.integer(0, 14);
  for (int i = 0; i < sets; ++i) {
    const std::string name =
        std::string("/") + kNames[static_cast<std::size_t>(input.integer(0, kNames.size() - 1))];
    carom::io::Shape shape;
    std::size_t count = 1;
    const int rank = input.integer(0, 4);
    for (int axis = 0; axis < rank; ++axis) {
      shape.push_back(static_cast<std::uint64_t>(input.integer(0, 4)));
      count *= shape.back();
    }
    try {
      switch (input.integer(0, 4)) {
        case 0:
          writer.dataset(name, std::vector<std::int64_t>(count, input.integer(-1, 5)), shape);
          break;
        case 1: {
          std::vector<std::string> texts(count);
          for (std::string& text : texts) text.assign(2, static_cast<char>(input.integer(1, 255)));
          writer.dataset(name, texts);
          break;
        }
        case 2:
          writer.group(name);
          break;
        default:
          writer.dataset(name, input.numbers(count, input.integer(0, 3) == 0), shape);
      }
    } catch (const carom::io::FileError&) {  // a name that is there already
    }
  }
  writer.close();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  carom::fuzz::Input input(data, size);
  const bool damage = input.integer(0, 1) == 1;
  const carom::fuzz::ScratchFile empty(nullptr, 0);
  write_some(input, empty.path());
  if (damage) {
    std::vector<std::uint8_t> bytes(std::filesystem::file_size(empty.path()));
    const std::filesystem::path path = empty.path();
    std::FILE* stream = std::fopen(path.c_str(), "rb");
    carom::fuzz::require(std::fread(bytes.data(), 1, bytes.size(), stream) == bytes.size(),
                         "the file is read back");
    std::fclose(stream);
    for (int flips = input.integer(1, 8); flips > 0; --flips) {
      const std::size_t at = static_cast<std::size_t>(input.integer(0, 255)) * 256U +
                             static_cast<std::size_t>(input.integer(0, 255));
      bytes[at % bytes.size()] = static_cast<std::uint8_t>(input.integer(0, 255));
    }
    const carom::fuzz::ScratchFile damaged(bytes.data(), bytes.size());
    carom::fuzz::read_batches(damaged.path());
    return 0;
  }
  carom::fuzz::read_batches(empty.path());
  return 0;
}
