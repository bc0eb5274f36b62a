#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "io/hdf5_file.hpp"

namespace carom::io {

/// Problems of `carom solve` in HDF5: the keys of the JSON files as data sets with a leading axis
/// of problems. The values of one problem are converted to the JSON form, so that both kinds of
/// files are read and checked in the same way.
class CaseSets {
 public:
  /// The data sets of `group` of an open file.
  /// Errors: InvalidInput where they do not agree on the number of problems; FileError.
  CaseSets(const Hdf5Reader& reader, const std::string& file, const std::string& group = "");

  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(count_); }
  [[nodiscard]] nlohmann::json problem(std::size_t index) const;

 private:
  struct Set {
    std::string name;
    Shape shape;
    std::vector<double> values;
  };
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  void read_cones();
  static nlohmann::json value(const Set& set, std::size_t index);

  [[nodiscard]] std::string at(const std::string& name) const { return group_ + "/" + name; }

  const Hdf5Reader& reader_;
  std::string file_;
  std::string group_;
  std::uint64_t count_ = kNone;
  std::string counted_;  ///< the data set that said so
  std::vector<Set> sets_;
  std::vector<std::pair<std::string, std::vector<std::string>>> texts_;
  nlohmann::json cones_;
};

}  // namespace carom::io
