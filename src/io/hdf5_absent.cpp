// Stands in for the HDF5 reader and writer where carom is configured with CAROM_HDF5=OFF.
#include <array>
#include <fstream>

#include "io/file_error.hpp"
#include "io/hdf5_file.hpp"

namespace carom::io {

namespace {
[[noreturn]] void refuse() {
  throw FileError("HDF5 files: this carom was built without them (CAROM_HDF5=OFF)");
}
}  // namespace

bool hdf5_available() { return false; }

struct Hdf5Writer::State {};
Hdf5Writer::Hdf5Writer(const std::filesystem::path&) { refuse(); }
Hdf5Writer::~Hdf5Writer() = default;
void Hdf5Writer::group(std::string_view) { refuse(); }
void Hdf5Writer::dataset(std::string_view, std::span<const double>, const Shape&) { refuse(); }
void Hdf5Writer::dataset(std::string_view, std::span<const std::int64_t>, const Shape&) {
  refuse();
}
void Hdf5Writer::dataset(std::string_view, std::span<const std::uint64_t>, const Shape&) {
  refuse();
}
void Hdf5Writer::dataset(std::string_view, std::span<const std::int32_t>, const Shape&) {
  refuse();
}
void Hdf5Writer::dataset(std::string_view, std::span<const std::uint8_t>, const Shape&) {
  refuse();
}
void Hdf5Writer::dataset(std::string_view, const std::vector<std::string>&) { refuse(); }
void Hdf5Writer::attribute(std::string_view, std::string_view, double) { refuse(); }
void Hdf5Writer::attribute(std::string_view, std::string_view, std::int64_t) { refuse(); }
void Hdf5Writer::attribute(std::string_view, std::string_view, std::uint64_t) { refuse(); }
void Hdf5Writer::attribute(std::string_view, std::string_view, std::string_view) { refuse(); }
void Hdf5Writer::attribute(std::string_view, std::string_view, std::span<const double>) {
  refuse();
}
void Hdf5Writer::close() { refuse(); }

struct Hdf5Reader::State {};
Hdf5Reader::Hdf5Reader(const std::filesystem::path&) { refuse(); }
Hdf5Reader::~Hdf5Reader() = default;
std::vector<std::string> Hdf5Reader::names(std::string_view) const { refuse(); }
bool Hdf5Reader::has(std::string_view) const { refuse(); }
bool Hdf5Reader::is_group(std::string_view) const { refuse(); }
Shape Hdf5Reader::shape(std::string_view) const { refuse(); }
std::vector<double> Hdf5Reader::doubles(std::string_view) const { refuse(); }
std::vector<std::int64_t> Hdf5Reader::integers(std::string_view) const { refuse(); }
std::vector<std::string> Hdf5Reader::strings(std::string_view) const { refuse(); }
std::vector<std::uint8_t> Hdf5Reader::bytes(std::string_view) const { refuse(); }
bool Hdf5Reader::holds_text(std::string_view) const { refuse(); }
std::vector<std::string> Hdf5Reader::attributes(std::string_view) const { refuse(); }
std::string Hdf5Reader::shown_attribute(std::string_view, std::string_view) const { refuse(); }
bool Hdf5Reader::has_attribute(std::string_view, std::string_view) const { refuse(); }
double Hdf5Reader::number_attribute(std::string_view, std::string_view) const { refuse(); }
std::vector<double> Hdf5Reader::numbers_attribute(std::string_view, std::string_view) const {
  refuse();
}
std::string Hdf5Reader::text_attribute(std::string_view, std::string_view) const { refuse(); }

// The signature tells it, so that such a file is refused for what it is.
bool Hdf5Reader::is_hdf5(const std::filesystem::path& file) {
  constexpr std::array<char, 8> kSignature{'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  std::array<char, 8> head{};
  std::ifstream stream(file, std::ios::binary);
  return stream.read(head.data(), head.size()) && head == kSignature;
}

}  // namespace carom::io
