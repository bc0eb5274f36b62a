#include <algorithm>
#include <cstddef>

#include "io/hdf5_file.hpp"
#include "io/hdf5_handle.hpp"

namespace carom::io {

bool hdf5_available() { return true; }

struct Hdf5Reader::State {
  std::string file;
  Hdf5Handle handle;

  Hdf5Handle own(hid_t id, Hdf5Handle::Closer closer, std::string_view what) const {
    return {id, closer, file, what};
  }
  void require(herr_t result, std::string_view what) const {
    if (result < 0) throw FileError(fmt::format("{}: HDF5 could not {}", file, what));
  }
  Hdf5Handle open(std::string_view path) const {
    const std::string name(path);
    return own(H5Dopen2(handle.id(), name.c_str(), H5P_DEFAULT), H5Dclose,
               "open the data set " + name);
  }
  void require_class(hid_t set, std::string_view path, bool floats) const {
    const Hdf5Handle type = own(H5Dget_type(set), H5Tclose, "read a type");
    const H5T_class_t found = H5Tget_class(type.id());
    if (found == H5T_INTEGER || (floats && found == H5T_FLOAT)) return;
    throw FileError(
        fmt::format("{}: {} does not hold {}", file, path, floats ? "numbers" : "integers"));
  }
};

namespace {

Shape shape_of(hid_t space) {
  const int rank = H5Sget_simple_extent_ndims(space);
  std::vector<hsize_t> extents(static_cast<std::size_t>(std::max(rank, 0)));
  if (rank > 0) H5Sget_simple_extent_dims(space, extents.data(), nullptr);
  return {extents.begin(), extents.end()};
}

std::size_t points(hid_t space) {
  return static_cast<std::size_t>(std::max<hssize_t>(H5Sget_simple_extent_npoints(space), 0));
}

}  // namespace

Hdf5Reader::Hdf5Reader(const std::filesystem::path& file) : state_(std::make_unique<State>()) {
  silence_hdf5();
  state_->file = file.string();
  state_->handle = state_->own(H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose,
                               "open the file (is it an HDF5 file, complete and readable?)");
}

Hdf5Reader::~Hdf5Reader() = default;

bool Hdf5Reader::is_hdf5(const std::filesystem::path& file) {
  silence_hdf5();
  return H5Fis_hdf5(file.c_str()) > 0;
}

std::vector<std::string> Hdf5Reader::names(std::string_view group) const {
  const Hdf5Handle owner =
      state_->own(H5Gopen2(state_->handle.id(), std::string(group).c_str(), H5P_DEFAULT), H5Gclose,
                  "open group " + std::string(group));
  std::vector<std::string> found;
  const auto visit = [](hid_t, const char* name, const H5L_info_t*, void* data) -> herr_t {
    static_cast<std::vector<std::string>*>(data)->emplace_back(name);
    return 0;
  };
  state_->require(H5Literate(owner.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, visit, &found),
                  "list group " + std::string(group));
  return found;
}

bool Hdf5Reader::has(std::string_view path) const {
  // H5Lexists asks for every link on the way to exist.
  std::string so_far;
  std::size_t begin = 0;
  while (begin < path.size()) {
    std::size_t end = path.find('/', begin + 1);
    if (end == std::string_view::npos) end = path.size();
    so_far.append(path.substr(begin, end - begin));
    begin = end;
    if (so_far == "/") continue;
    if (H5Lexists(state_->handle.id(), so_far.c_str(), H5P_DEFAULT) <= 0) return false;
  }
  return true;
}

bool Hdf5Reader::is_group(std::string_view path) const {
  const Hdf5Handle object =
      state_->own(H5Oopen(state_->handle.id(), std::string(path).c_str(), H5P_DEFAULT), H5Oclose,
                  "open " + std::string(path));
  return H5Iget_type(object.id()) == H5I_GROUP;
}

Shape Hdf5Reader::shape(std::string_view path) const {
  const Hdf5Handle set = state_->open(path);
  const Hdf5Handle space = state_->own(H5Dget_space(set.id()), H5Sclose, "read a shape");
  return shape_of(space.id());
}

std::vector<double> Hdf5Reader::doubles(std::string_view path) const {
  const Hdf5Handle set = state_->open(path);
  state_->require_class(set.id(), path, true);
  const Hdf5Handle space = state_->own(H5Dget_space(set.id()), H5Sclose, "read a shape");
  std::vector<double> values(points(space.id()));
  if (!values.empty()) {
    state_->require(
        H5Dread(set.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
        "read " + std::string(path));
  }
  return values;
}

std::vector<std::int64_t> Hdf5Reader::integers(std::string_view path) const {
  const Hdf5Handle set = state_->open(path);
  state_->require_class(set.id(), path, false);
  const Hdf5Handle space = state_->own(H5Dget_space(set.id()), H5Sclose, "read a shape");
  std::vector<std::int64_t> values(points(space.id()));
  if (!values.empty()) {
    state_->require(
        H5Dread(set.id(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
        "read " + std::string(path));
  }
  return values;
}

std::vector<std::string> Hdf5Reader::strings(std::string_view path) const {
  const Hdf5Handle set = state_->open(path);
  const Hdf5Handle type = state_->own(H5Dget_type(set.id()), H5Tclose, "read a type");
  if (H5Tget_class(type.id()) != H5T_STRING) {
    throw FileError(fmt::format("{}: {} does not hold strings", state_->file, path));
  }
  const Hdf5Handle space = state_->own(H5Dget_space(set.id()), H5Sclose, "read a shape");
  const std::size_t count = points(space.id());
  std::vector<std::string> values;
  if (count == 0) return values;
  if (H5Tis_variable_str(type.id()) > 0) {
    std::vector<char*> texts(count, nullptr);
    state_->require(H5Dread(set.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data()),
                    "read " + std::string(path));
    for (const char* text : texts) values.emplace_back(text == nullptr ? "" : text);
    H5Dvlen_reclaim(type.id(), space.id(), H5P_DEFAULT, texts.data());
    return values;
  }
  const std::size_t length = H5Tget_size(type.id());
  std::string block(count * length, '\0');
  state_->require(H5Dread(set.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, block.data()),
                  "read " + std::string(path));
  for (std::size_t i = 0; i < count; ++i) {
    std::string value = block.substr(i * length, length);
    value.resize(std::min(value.find('\0'), value.size()));
    while (H5Tget_strpad(type.id()) == H5T_STR_SPACEPAD && !value.empty() && value.back() == ' ') {
      value.pop_back();
    }
    values.push_back(std::move(value));
  }
  return values;
}

bool Hdf5Reader::has_attribute(std::string_view object, std::string_view name) const {
  return H5Aexists_by_name(state_->handle.id(), std::string(object).c_str(),
                           std::string(name).c_str(), H5P_DEFAULT) > 0;
}

double Hdf5Reader::number_attribute(std::string_view object, std::string_view name) const {
  const std::string label(name);
  const Hdf5Handle found =
      state_->own(H5Aopen_by_name(state_->handle.id(), std::string(object).c_str(), label.c_str(),
                                  H5P_DEFAULT, H5P_DEFAULT),
                  H5Aclose, "open attribute " + label);
  double value = 0.0;
  state_->require(H5Aread(found.id(), H5T_NATIVE_DOUBLE, &value), "read attribute " + label);
  return value;
}

std::string Hdf5Reader::text_attribute(std::string_view object, std::string_view name) const {
  const std::string label(name);
  const Hdf5Handle found =
      state_->own(H5Aopen_by_name(state_->handle.id(), std::string(object).c_str(), label.c_str(),
                                  H5P_DEFAULT, H5P_DEFAULT),
                  H5Aclose, "open attribute " + label);
  const Hdf5Handle type = state_->own(H5Aget_type(found.id()), H5Tclose, "read a type");
  if (H5Tis_variable_str(type.id()) <= 0) {
    throw FileError(fmt::format("{}: attribute {} is not a text", state_->file, label));
  }
  char* text = nullptr;
  state_->require(H5Aread(found.id(), type.id(), static_cast<void*>(&text)),
                  "read attribute " + label);
  std::string value(text == nullptr ? "" : text);
  H5free_memory(text);
  return value;
}

}  // namespace carom::io
