#include <cstddef>
#include <mutex>

#include "io/data_set_notes.hpp"
#include "io/hdf5_file.hpp"
#include "io/hdf5_handle.hpp"

namespace carom::io {

struct Hdf5Writer::State : Hdf5File {
  Hdf5Handle link_list;  // makes intermediate groups
  Hdf5Handle text_type;
  Hdf5Handle scalar_space;

  void write(std::string_view path, hid_t file_type, hid_t memory_type, const void* values,
             const Shape& shape, std::size_t value_bytes) const;
  void attribute(std::string_view object, std::string_view name, hid_t type, hid_t space,
                 const void* value) const;
  void scalar(std::string_view object, std::string_view name, hid_t type, const void* value) const {
    attribute(object, name, type, scalar_space.id(), value);
  }
  /// On an object that has no attribute of that name.
  void add(hid_t owner, const std::string& name, hid_t type, hid_t space, const void* value) const;
  /// A note on a data set that is open; nothing where it is empty.
  void note(hid_t set, const char* name, const char* text) const {
    if (*text != '\0') add(set, name, text_type.id(), scalar_space.id(), &text);
  }
};

namespace {

// Rows of a chunk: about a quarter of a megabyte, which compresses well and reads quickly.
constexpr std::uint64_t kChunkBytes = 256 * 1024;
constexpr unsigned kGzipLevel = 4;

std::uint64_t count_of(const Shape& shape) {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) count *= extent;
  return count;
}

}  // namespace

Hdf5Writer::Hdf5Writer(const std::filesystem::path& file) : state_(std::make_unique<State>()) {
  // At exit HDF5 would try again to flush a file that it failed to write.
  static std::once_flag once;
  std::call_once(once, [] { H5dont_atexit(); });
  silence_hdf5();
  state_->file = file.string();
  state_->handle = state_->own(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                               H5Fclose, "create the file");
  state_->link_list = state_->own(H5Pcreate(H5P_LINK_CREATE), H5Pclose, "make a property list");
  state_->require(H5Pset_create_intermediate_group(state_->link_list.id(), 1),
                  "make a property list");
  state_->text_type = state_->own(H5Tcopy(H5T_C_S1), H5Tclose, "make a string type");
  H5Tset_size(state_->text_type.id(), H5T_VARIABLE);
  H5Tset_cset(state_->text_type.id(), H5T_CSET_UTF8);
  state_->scalar_space = state_->own(H5Screate(H5S_SCALAR), H5Sclose, "make a scalar");
}

Hdf5Writer::~Hdf5Writer() = default;

void Hdf5Writer::group(std::string_view path) {
  const std::string name(path);
  state_->own(H5Gcreate2(state_->handle.id(), name.c_str(), state_->link_list.id(), H5P_DEFAULT,
                         H5P_DEFAULT),
              H5Gclose, "create group " + name);
}

void Hdf5Writer::State::write(std::string_view path, hid_t file_type, hid_t memory_type,
                              const void* values, const Shape& shape,
                              std::size_t value_bytes) const {
  const std::string name(path);
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  const Hdf5Handle space =
      own(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose,
          "shape " + name);
  const Hdf5Handle create_list =
      own(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make a property list");
  const std::uint64_t count = count_of(shape);
  if (count * value_bytes >= 4096) {
    std::vector<hsize_t> chunk = extents;
    const std::uint64_t row_bytes = count / extents[0] * value_bytes;
    const std::uint64_t rows = row_bytes >= kChunkBytes ? 1 : kChunkBytes / row_bytes;
    chunk[0] = rows < extents[0] ? rows : extents[0];
    require(H5Pset_chunk(create_list.id(), static_cast<int>(chunk.size()), chunk.data()),
            "chunk " + name);
    require(H5Pset_shuffle(create_list.id()), "shuffle " + name);
    require(H5Pset_deflate(create_list.id(), kGzipLevel), "compress " + name);
  }
  const Hdf5Handle set = own(H5Dcreate2(handle.id(), name.c_str(), file_type, space.id(),
                                        link_list.id(), create_list.id(), H5P_DEFAULT),
                             H5Dclose, "create " + name);
  if (count > 0) {
    require(H5Dwrite(set.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values),
            "write " + name);
  }
  const DataSetNote* words = data_set_note(path);
  if (words == nullptr) return;
  note(set.id(), "axes", words->axes.c_str());
  note(set.id(), "unit", words->unit);
  note(set.id(), "meaning", words->meaning);
}

void Hdf5Writer::dataset(std::string_view path, std::span<const double> values,
                         const Shape& shape) {
  state_->write(path, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.data(), shape, sizeof(double));
}
void Hdf5Writer::dataset(std::string_view path, std::span<const std::int64_t> values,
                         const Shape& shape) {
  state_->write(path, H5T_STD_I64LE, H5T_NATIVE_INT64, values.data(), shape, 8);
}
void Hdf5Writer::dataset(std::string_view path, std::span<const std::uint64_t> values,
                         const Shape& shape) {
  state_->write(path, H5T_STD_U64LE, H5T_NATIVE_UINT64, values.data(), shape, 8);
}
void Hdf5Writer::dataset(std::string_view path, std::span<const std::int32_t> values,
                         const Shape& shape) {
  state_->write(path, H5T_STD_I32LE, H5T_NATIVE_INT32, values.data(), shape, 4);
}
void Hdf5Writer::dataset(std::string_view path, std::span<const std::uint8_t> values,
                         const Shape& shape) {
  state_->write(path, H5T_STD_U8LE, H5T_NATIVE_UINT8, values.data(), shape, 1);
}

void Hdf5Writer::dataset(std::string_view path, const std::vector<std::string>& values) {
  std::vector<const char*> texts;
  texts.reserve(values.size());
  for (const std::string& value : values) texts.push_back(value.c_str());
  const hid_t type = state_->text_type.id();
  state_->write(path, type, type, texts.data(), {values.size()}, 0);
}

void Hdf5Writer::State::attribute(std::string_view object, std::string_view name, hid_t type,
                                  hid_t space, const void* value) const {
  const std::string label(name);
  const Hdf5Handle owner = own(H5Oopen(handle.id(), std::string(object).c_str(), H5P_DEFAULT),
                               H5Oclose, "open " + std::string(object));
  // what a caller says takes the place of the note's words
  if (H5Aexists(owner.id(), label.c_str()) > 0) {
    require(H5Adelete(owner.id(), label.c_str()), "replace attribute " + label);
  }
  add(owner.id(), label, type, space, value);
}

void Hdf5Writer::State::add(hid_t owner, const std::string& name, hid_t type, hid_t space,
                            const void* value) const {
  const Hdf5Handle made =
      own(H5Acreate2(owner, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
          "create attribute " + name);
  require(H5Awrite(made.id(), type, value), "write attribute " + name);
}

void Hdf5Writer::attribute(std::string_view object, std::string_view name, double value) {
  state_->scalar(object, name, H5T_NATIVE_DOUBLE, &value);
}
void Hdf5Writer::attribute(std::string_view object, std::string_view name, std::int64_t value) {
  state_->scalar(object, name, H5T_NATIVE_INT64, &value);
}
void Hdf5Writer::attribute(std::string_view object, std::string_view name, std::uint64_t value) {
  state_->scalar(object, name, H5T_NATIVE_UINT64, &value);
}
void Hdf5Writer::attribute(std::string_view object, std::string_view name, std::string_view value) {
  const std::string text(value);
  const char* pointer = text.c_str();
  state_->scalar(object, name, state_->text_type.id(), static_cast<const void*>(&pointer));
}
void Hdf5Writer::attribute(std::string_view object, std::string_view name,
                           std::span<const double> values) {
  const hsize_t extent = values.size();
  const Hdf5Handle space =
      state_->own(H5Screate_simple(1, &extent, nullptr), H5Sclose, "make an array");
  const double nothing = 0.0;
  state_->attribute(object, name, H5T_NATIVE_DOUBLE, space.id(),
                    values.empty() ? &nothing : values.data());
}

void Hdf5Writer::close() {
  state_->require(H5Fflush(state_->handle.id(), H5F_SCOPE_LOCAL), "write the file");
  state_->link_list.close();
  state_->require(state_->handle.close(), "close the file");
}

}  // namespace carom::io
