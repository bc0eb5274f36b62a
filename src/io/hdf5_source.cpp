#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include "io/hdf5_file.hpp"
#include "io/hdf5_handle.hpp"
#include "io/hdf5_source.hpp"
#include "io/printable.hpp"

namespace carom::io {

struct Hdf5Source::State : Hdf5File {
  /// Values of the native `type`, of a data set of that class: only integers or all numbers.
  template <class T>
  [[nodiscard]] std::vector<T> numbers(std::string_view path, hid_t type, bool floats) const;
  Hdf5Handle open_attribute(std::string_view object, const std::string& name) const {
    return own(H5Aopen_by_name(handle.id(), std::string(object).c_str(), name.c_str(), H5P_DEFAULT,
                               H5P_DEFAULT),
               H5Aclose, "open attribute " + name);
  }
  Hdf5Handle open(std::string_view path) const {
    const std::string name(path);
    return own(H5Dopen2(handle.id(), name.c_str(), H5P_DEFAULT), H5Dclose,
               "open the data set " + name);
  }
  /// Values of `path`, `value_bytes` each. Errors: FileError beyond what the file may declare.
  [[nodiscard]] std::size_t points(hid_t space, std::string_view path,
                                   std::size_t value_bytes) const;
  [[nodiscard]] std::size_t value_bytes(hid_t set) const {
    const Hdf5Handle type = own(H5Dget_type(set), H5Tclose, "read a type");
    return H5Tget_size(type.id());
  }
  // H5Aread fills the whole extent of an attribute.
  void require_single(hid_t attribute, std::string_view name) const {
    const Hdf5Handle space = own(H5Aget_space(attribute), H5Sclose, "read a shape");
    if (H5Sget_simple_extent_npoints(space.id()) == 1) return;
    throw FileError(fmt::format("{}: attribute {} does not hold one value", file, name));
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

constexpr std::uint64_t kAlwaysAllowed = std::uint64_t{1} << 20;
constexpr std::uint64_t kDeflateRatio = 1032;
constexpr std::ptrdiff_t kMaxDepth = 16;  // of groups: one that holds itself has no end
constexpr std::size_t kMaxTextBytes = std::size_t{1} << 20;  // of one text of fixed length

std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

Shape extents_of(hid_t space) {
  const int rank = H5Sget_simple_extent_ndims(space);
  std::vector<hsize_t> extents(static_cast<std::size_t>(std::max(rank, 0)));
  if (rank > 0) H5Sget_simple_extent_dims(space, extents.data(), nullptr);
  return {extents.begin(), extents.end()};
}

// Texts that HDF5 allocated.
struct VariableTexts {
  std::vector<char*> data;
  hid_t type;
  hid_t space;

  ~VariableTexts() { H5Dvlen_reclaim(type, space, H5P_DEFAULT, data.data()); }
};

// An empty data set may have any extents, one of `null` extent has none and no value.
std::uint64_t declared_points(hid_t space) {
  if (H5Sget_simple_extent_type(space) == H5S_NULL) return 0;
  const Shape shape = extents_of(space);
  std::uint64_t points = 1;
  for (const std::uint64_t extent : shape) {
    if (extent == 0) return 0;
    points = saturating_product(points, extent);
  }
  return points;
}

}  // namespace

std::size_t Hdf5Source::State::points(hid_t space, std::string_view path,
                                      std::size_t value_bytes) const {
  const std::uint64_t count = declared_points(space);
  hsize_t file_bytes = 0;
  require(H5Fget_filesize(handle.id(), &file_bytes), "tell the size of the file");
  const std::uint64_t held =
      saturating_product(file_bytes, kDeflateRatio) / std::max<std::size_t>(value_bytes, 1);
  const std::uint64_t most = std::clamp(held, kAlwaysAllowed, kMaxHdf5Values);
  if (count > most) {
    throw FileError(fmt::format(
        "{}: {} declares {} values: must be at most {} in a file of {} bytes", file, path,
        count == UINT64_MAX ? "2^64 or more" : std::to_string(count), most, file_bytes));
  }
  return static_cast<std::size_t>(count);
}

Hdf5Source::Hdf5Source(const std::filesystem::path& file) : state_(std::make_unique<State>()) {
  silence_hdf5();
  state_->file = file.string();
  state_->handle = state_->own(H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose,
                               "open the file (is it an HDF5 file, complete and readable?)");
}

Hdf5Source::~Hdf5Source() = default;

std::vector<std::string> Hdf5Source::names(std::string_view group) const {
  if (std::count(group.begin(), group.end(), '/') > kMaxDepth) {
    throw FileError(fmt::format("{}: groups are nested deeper than {}", state_->file, kMaxDepth));
  }
  const Hdf5Handle owner =
      state_->own(H5Gopen2(state_->handle.id(), std::string(group).c_str(), H5P_DEFAULT), H5Gclose,
                  "open group " + std::string(group));
  struct Found {
    std::vector<std::string> names;
    std::exception_ptr error;  // must not cross HDF5's own frames
  } found;
  const auto visit = [](hid_t, const char* name, const H5L_info_t*, void* data) -> herr_t {
    auto* to = static_cast<Found*>(data);
    try {
      to->names.emplace_back(name);
      return 0;
    } catch (...) {
      to->error = std::current_exception();
      return -1;
    }
  };
  const herr_t result = H5Literate(owner.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, visit, &found);
  if (found.error) std::rethrow_exception(found.error);
  state_->require(result, "list group " + std::string(group));
  for (const std::string& name : found.names) {  // these lead to the group itself, or beyond it
    if (name.empty() || name == "." || name.find('/') != std::string::npos) {
      throw FileError(fmt::format("{}: damaged: {} holds \"{}\", which is no name", state_->file,
                                  group, printable(name)));
    }
  }
  return std::move(found.names);
}

bool Hdf5Source::has(std::string_view path) const {
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

bool Hdf5Source::is_group(std::string_view path) const {
  const Hdf5Handle object =
      state_->own(H5Oopen(state_->handle.id(), std::string(path).c_str(), H5P_DEFAULT), H5Oclose,
                  "open " + std::string(path));
  return H5Iget_type(object.id()) == H5I_GROUP;
}

Shape Hdf5Source::shape(std::string_view path) const {
  const Hdf5Handle set = state_->open(path);
  const Hdf5Handle space = state_->own(H5Dget_space(set.id()), H5Sclose, "read a shape");
  return extents_of(space.id());
}

template <class T>
std::vector<T> Hdf5Source::State::numbers(std::string_view path, hid_t type, bool floats) const {
  const Hdf5Handle set = open(path);
  require_class(set.id(), path, floats);
  const Hdf5Handle space = own(H5Dget_space(set.id()), H5Sclose, "read a shape");
  std::vector<T> values(points(space.id(), path, value_bytes(set.id())));
  if (!values.empty()) {
    require(H5Dread(set.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
            "read " + std::string(path));
  }
  return values;
}

std::vector<double> Hdf5Source::doubles(std::string_view path) const {
  return state_->numbers<double>(path, H5T_NATIVE_DOUBLE, true);
}

std::vector<std::int64_t> Hdf5Source::integers(std::string_view path) const {
  return state_->numbers<std::int64_t>(path, H5T_NATIVE_INT64, false);
}

std::vector<std::string> Hdf5Source::strings(std::string_view path) const {
  const Hdf5Handle set = state_->open(path);
  const Hdf5Handle type = state_->own(H5Dget_type(set.id()), H5Tclose, "read a type");
  if (H5Tget_class(type.id()) != H5T_STRING) {
    throw FileError(fmt::format("{}: {} does not hold strings", state_->file, path));
  }
  const Hdf5Handle space = state_->own(H5Dget_space(set.id()), H5Sclose, "read a shape");
  const std::size_t length = H5Tget_size(type.id());
  const std::size_t count = state_->points(space.id(), path, length);
  std::vector<std::string> values;
  if (count == 0) return values;
  if (H5Tis_variable_str(type.id()) > 0) {
    VariableTexts texts{std::vector<char*>(count, nullptr), type.id(), space.id()};
    state_->require(H5Dread(set.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data.data()),
                    "read " + std::string(path));
    for (const char* text : texts.data) values.emplace_back(text == nullptr ? "" : text);
    return values;
  }
  if (length > kMaxTextBytes || saturating_product(count, length) > kMaxHdf5Values) {
    throw FileError(fmt::format("{}: {} declares {} texts of {} bytes: must be at most {} bytes",
                                state_->file, path, count, length, kMaxHdf5Values));
  }
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

std::vector<std::uint8_t> Hdf5Source::bytes(std::string_view path) const {
  const Hdf5Handle set = state_->open(path);
  const Hdf5Handle type = state_->own(H5Dget_type(set.id()), H5Tclose, "read a type");
  if (H5Tis_variable_str(type.id()) > 0) {
    throw FileError(fmt::format("{}: {} holds texts", state_->file, path));
  }
  const Hdf5Handle space = state_->own(H5Dget_space(set.id()), H5Sclose, "read a shape");
  const std::size_t size = H5Tget_size(type.id());
  const std::uint64_t all = saturating_product(size, state_->points(space.id(), path, size));
  if (all > 8 * kMaxHdf5Values) {
    throw FileError(fmt::format("{}: {} declares {} bytes: must be at most {}", state_->file, path,
                                all, 8 * kMaxHdf5Values));
  }
  std::vector<std::uint8_t> values(all);
  if (!values.empty()) {
    state_->require(H5Dread(set.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
                    "read " + std::string(path));
  }
  return values;
}

bool Hdf5Source::holds_text(std::string_view path) const {
  const Hdf5Handle set = state_->open(path);
  const Hdf5Handle type = state_->own(H5Dget_type(set.id()), H5Tclose, "read a type");
  return H5Tget_class(type.id()) == H5T_STRING;
}

std::vector<std::string> Hdf5Source::attributes(std::string_view object) const {
  const Hdf5Handle owner =
      state_->own(H5Oopen(state_->handle.id(), std::string(object).c_str(), H5P_DEFAULT), H5Oclose,
                  "open " + std::string(object));
  std::vector<std::string> names;
  const int count = H5Aget_num_attrs(owner.id());
  for (int i = 0; i < count; ++i) {
    const Hdf5Handle found =
        state_->own(H5Aopen_by_idx(owner.id(), ".", H5_INDEX_NAME, H5_ITER_INC,
                                   static_cast<hsize_t>(i), H5P_DEFAULT, H5P_DEFAULT),
                    H5Aclose, "open an attribute");
    const auto length =
        static_cast<std::size_t>(std::max<ssize_t>(H5Aget_name(found.id(), 0, nullptr), 0));
    std::string name(length + 1, '\0');
    H5Aget_name(found.id(), name.size(), name.data());
    name.resize(length);
    names.push_back(std::move(name));
  }
  return names;
}

std::string Hdf5Source::shown_attribute(std::string_view object, std::string_view name) const {
  const std::string label(name);
  const Hdf5Handle found = state_->open_attribute(object, label);
  const Hdf5Handle type = state_->own(H5Aget_type(found.id()), H5Tclose, "read a type");
  const H5T_class_t kind = H5Tget_class(type.id());
  if (kind == H5T_STRING) return text_attribute(object, name);
  const Hdf5Handle space = state_->own(H5Aget_space(found.id()), H5Sclose, "read a shape");
  const std::size_t count = state_->points(space.id(), label, 8);
  std::string text;
  const auto show = [&](const auto& values) {
    for (const auto& value : values) text += fmt::format("{}{}", text.empty() ? "" : ", ", value);
    return values.size() == 1 ? text : "[" + text + "]";
  };
  if (kind == H5T_FLOAT) {
    std::vector<double> values(count);
    if (count > 0) {
      state_->require(H5Aread(found.id(), H5T_NATIVE_DOUBLE, values.data()), "read " + label);
    }
    return show(values);
  }
  if (H5Tget_sign(type.id()) == H5T_SGN_NONE) {
    std::vector<std::uint64_t> values(count);
    if (count > 0) {
      state_->require(H5Aread(found.id(), H5T_NATIVE_UINT64, values.data()), "read " + label);
    }
    return show(values);
  }
  std::vector<std::int64_t> values(count);
  if (count > 0) {
    state_->require(H5Aread(found.id(), H5T_NATIVE_INT64, values.data()), "read " + label);
  }
  return show(values);
}

bool Hdf5Source::has_attribute(std::string_view object, std::string_view name) const {
  return H5Aexists_by_name(state_->handle.id(), std::string(object).c_str(),
                           std::string(name).c_str(), H5P_DEFAULT) > 0;
}

double Hdf5Source::number_attribute(std::string_view object, std::string_view name) const {
  const std::string label(name);
  const Hdf5Handle found = state_->open_attribute(object, label);
  state_->require_single(found.id(), label);
  double value = 0.0;
  state_->require(H5Aread(found.id(), H5T_NATIVE_DOUBLE, &value), "read attribute " + label);
  return value;
}

std::vector<double> Hdf5Source::numbers_attribute(std::string_view object,
                                                  std::string_view name) const {
  const std::string label(name);
  const Hdf5Handle found = state_->open_attribute(object, label);
  const Hdf5Handle space = state_->own(H5Aget_space(found.id()), H5Sclose, "read a shape");
  std::vector<double> values(state_->points(space.id(), label, sizeof(double)));
  if (!values.empty()) {
    state_->require(H5Aread(found.id(), H5T_NATIVE_DOUBLE, values.data()),
                    "read attribute " + label);
  }
  return values;
}

std::string Hdf5Source::text_attribute(std::string_view object, std::string_view name) const {
  const std::string label(name);
  const Hdf5Handle found = state_->open_attribute(object, label);
  const Hdf5Handle type = state_->own(H5Aget_type(found.id()), H5Tclose, "read a type");
  if (H5Tis_variable_str(type.id()) <= 0) {
    throw FileError(fmt::format("{}: attribute {} is not a text", state_->file, label));
  }
  state_->require_single(found.id(), label);
  char* text = nullptr;
  state_->require(H5Aread(found.id(), type.id(), static_cast<void*>(&text)),
                  "read attribute " + label);
  std::string value(text == nullptr ? "" : text);
  H5free_memory(text);
  return value;
}

}  // namespace carom::io
