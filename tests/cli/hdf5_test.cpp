#include <gtest/gtest.h>

#include <cmath>

#include "cli/command.hpp"
#include "io/file_error.hpp"
#include "io/hdf5_file.hpp"

namespace carom::test {
namespace {

using io::Hdf5Reader;
using io::Hdf5Writer;
using io::Shape;

std::vector<double> flat(const json& rows) {
  std::vector<double> values;
  for (const json& row : rows) {
    for (const json& value : row) values.push_back(value);
  }
  return values;
}

TEST(Hdf5Output, HoldsWhatTheRunReported) {
  const Scratch scratch;
  const std::string file = (scratch / "run.h5").string();
  const Outcome outcome = carom({"impact", "compass_gait", "--samples", "600", "--seed", "7",
                                 "--keep", "100", "--paths", "20", "--json", "--output", file});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(scratch.files(), 1U);
  const json result = outcome.document();
  const Hdf5Reader reader(file);
  EXPECT_EQ(reader.text_attribute("/", "model"), "compass_gait");
  EXPECT_EQ(reader.text_attribute("/", "backend"), result["backend"].get<std::string>());
  EXPECT_EQ(reader.text_attribute("/", "sampler"), "uniform");
  EXPECT_EQ(reader.text_attribute("/", "selection"), "any");
  EXPECT_EQ(reader.number_attribute("/", "seed"), 7);
  EXPECT_EQ(reader.number_attribute("/", "samples"), 600);
  EXPECT_EQ(reader.number_attribute("/", "step_size"), result["step_size"].get<double>());
  EXPECT_EQ(reader.number_attribute("/", "max_steps"), result["max_steps"].get<double>());
  EXPECT_EQ(reader.number_attribute("/", "friction_directions"), 4);
  EXPECT_EQ(reader.number_attribute("/", "complete"), 1);
  EXPECT_NE(reader.text_attribute("/", "command").find("carom impact compass_gait --samples 600"),
            std::string::npos);
  EXPECT_EQ(reader.text_attribute("/", "created").size(), 20U);
  EXPECT_EQ(reader.text_attribute("/", "carom_version"),
            carom({"info", "--json"}).document()["version"].get<std::string>());
  EXPECT_TRUE(reader.has_attribute("/", "commit"));

  EXPECT_EQ(reader.names("/impact_0"), (std::vector<std::string>{"mode_counts", "models", "net",
                                                                 "paths", "problem", "samples"}));
  EXPECT_EQ(reader.shape("/impact_0/problem/mass_matrix"), (Shape{4, 4}));
  EXPECT_EQ(reader.shape("/impact_0/samples/velocity"), (Shape{100, 4}));
  EXPECT_EQ(reader.shape("/impact_0/samples/impulse"), (Shape{100, 4}));
  for (const char* name : {"modes", "steps", "status", "residual"}) {
    EXPECT_EQ(reader.shape(std::string("/impact_0/samples/") + name), (Shape{100}));
  }
  for (const double residual : reader.doubles("/impact_0/samples/residual")) {
    EXPECT_LE(residual, 1e-9);
  }
  EXPECT_EQ(reader.number_attribute("/impact_0", "terminated"), result["terminated"].get<double>());
  EXPECT_EQ(reader.number_attribute("/impact_0", "lcp_solves"), result["lcp_solves"].get<double>());

  const std::uint64_t points = result["epsilon_net"]["points"];
  EXPECT_EQ(reader.shape("/impact_0/net/velocity"), (Shape{points, 4}));
  std::int64_t represented = 0;
  for (const std::int64_t count : reader.integers("/impact_0/net/multiplicity")) {
    represented += count;
  }
  EXPECT_EQ(
      represented + static_cast<std::int64_t>(reader.number_attribute("/impact_0/net", "dropped")),
      600);
  EXPECT_EQ(reader.integers("/impact_0/net/coverage"),
            result["epsilon_net"]["coverage"].get<std::vector<std::int64_t>>());

  const std::vector<std::int64_t> offset = reader.integers("/impact_0/paths/offset");
  ASSERT_EQ(offset.size(), 21U);
  EXPECT_EQ(reader.shape("/impact_0/paths/velocity"),
            (Shape{static_cast<std::uint64_t>(offset.back()), 4}));
  EXPECT_EQ(reader.shape("/impact_0/models/simultaneous/velocity"), (Shape{3, 4}));
  EXPECT_EQ(reader.shape("/impact_0/models/sequential/order"), (Shape{2, 2}));
}

// Every stored row obeys M (v+ - v) = J' lambda with the stored problem: shapes, order and units.
TEST(Hdf5Output, RowsSatisfyTheImpulseBalance) {
  const Scratch scratch;
  const std::string file = (scratch / "run.h5").string();
  ASSERT_EQ(
      carom({"impact", "ball_in_corner", "--samples", "50", "--quiet", "--output", file}).status,
      0);
  const Hdf5Reader reader(file);
  const auto get = [&reader](const std::string& name) {
    return reader.doubles("/impact_0/" + name);
  };
  const std::size_t nv = reader.shape("/impact_0/problem/velocity")[0];
  const std::size_t rows = reader.shape("/impact_0/samples/impulse")[1];
  const std::vector<double> mass = get("problem/mass_matrix");
  std::vector<double> jacobian = get("problem/normal_jacobian");
  const std::vector<double> tangent = get("problem/tangent_jacobian");
  jacobian.insert(jacobian.end(), tangent.begin(), tangent.end());
  const std::vector<double> before = get("problem/velocity");
  const std::vector<double> velocity = get("samples/velocity");
  const std::vector<double> impulse = get("samples/impulse");
  ASSERT_EQ(velocity.size(), 50 * nv);
  ASSERT_EQ(jacobian.size(), rows * nv);
  for (std::size_t s = 0; s < 50; ++s) {
    for (std::size_t i = 0; i < nv; ++i) {
      double momentum = 0.0;
      for (std::size_t j = 0; j < nv; ++j) {
        momentum += mass[i * nv + j] * (velocity[s * nv + j] - before[j]);
      }
      for (std::size_t r = 0; r < rows; ++r)
        momentum -= jacobian[r * nv + i] * impulse[s * rows + r];
      EXPECT_NEAR(momentum, 0.0, 1e-12) << "sample " << s << ", row " << i;
    }
  }
}

TEST(Hdf5Output, KeepNoneAndAll) {
  const Scratch scratch;
  const std::string file = (scratch / "run.h5").string();
  for (const auto& [keep, rows] : {std::pair<const char*, std::uint64_t>{"none", 0},
                                   std::pair<const char*, std::uint64_t>{"all", 300}}) {
    ASSERT_EQ(carom({"impact", "tripod", "--samples", "300", "--quiet", "--keep", keep, "--paths",
                     "0", "--output", file})
                  .status,
              0);
    const Hdf5Reader reader(file);
    EXPECT_EQ(reader.shape("/impact_0/samples/velocity")[0], rows);
    EXPECT_FALSE(reader.has("/impact_0/paths"));
  }
  EXPECT_EQ(scratch.files(), 1U);
}

// A file-size limit stands for a full disk.
TEST(Hdf5Output, FailedWriteLeavesTheOldFileAndNothingElse) {
  const Scratch scratch;
  const std::string file = scratch.file("run.h5", "the old content");
  const Outcome outcome = shell(
      "ulimit -f 16\n\"$CAROM\" impact disk_stack --samples 4096 --quiet --output '" + file + "'");
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_EQ(outcome.complaints(), 1U) << outcome.err;
  EXPECT_NE(outcome.err.find("run.h5"), std::string::npos) << outcome.err;
  EXPECT_EQ(read_text(file), "the old content");
  EXPECT_EQ(scratch.files(), 1U);
}

// Two blocks as batched data sets.
struct Batch {
  Shape mass = {2, 3, 3};
  Shape friction = {2, 2};
  std::vector<double> friction_values = {1.0, 1.0, 0.25, 0.5};
  bool surplus = false;
  std::vector<std::string> names = {"rough", "smooth"};

  void write(const fs::path& file) const {
    const json one = block();
    const auto twice = [](std::vector<double> values) {
      const std::size_t size = values.size();
      values.resize(2 * size);
      std::copy_n(values.begin(), size, values.begin() + static_cast<std::ptrdiff_t>(size));
      return values;
    };
    Hdf5Writer writer(file);
    writer.dataset("/mass_matrix", twice(flat(one["mass_matrix"])), mass);
    writer.dataset("/normal_jacobian", twice(flat(one["normal_jacobian"])), {2, 2, 3});
    writer.dataset("/tangent_jacobian", twice(flat(one["tangent_jacobian"])), {2, 2, 3});
    writer.dataset("/friction", friction_values, friction);
    writer.dataset("/velocity", twice(one["velocity"].get<std::vector<double>>()), {2, 3});
    if (!names.empty()) writer.dataset("/name", names);
    if (surplus) writer.dataset("/colour", std::vector<double>{1.0}, {1});
    writer.close();
  }
};

TEST(Hdf5Input, IsTheSameAsJson) {
  const Scratch scratch;
  const fs::path file = scratch / "batch.h5";
  Batch{}.write(file);
  json rough = block();
  rough["name"] = "rough";
  json smooth = block();
  smooth["name"] = "smooth";
  smooth["friction"] = {0.25, 0.5};
  const std::string text = scratch.file("batch.json", json::array({rough, smooth}).dump());
  const auto run = [](const std::string& target) {
    const Outcome outcome =
        carom({"impact", target, "--samples", "200", "--step", "0.3", "--json"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    json result = outcome.document();
    for (json& entry : result) {
      entry.erase("seconds");
      entry.erase("samples_per_second");
    }
    return result;
  };
  const json from_hdf5 = run(file.string());
  EXPECT_EQ(from_hdf5, run(text));
  EXPECT_EQ(from_hdf5[1]["model"], "smooth");
}

TEST(Hdf5Input, WrongShapesNumbersAndNamesAreRefused) {
  const Scratch scratch;
  const fs::path file = scratch / "batch.h5";
  const auto refused = [&file](const Batch& batch, const std::vector<std::string>& words) {
    batch.write(file);
    const Outcome outcome = carom({"impact", file.string(), "--json"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_TRUE(outcome.out.empty());
    EXPECT_EQ(outcome.complaints(), 1U) << outcome.err;
    for (const std::string& word : words) {
      EXPECT_NE(outcome.err.find(word), std::string::npos) << word << " not in " << outcome.err;
    }
  };
  Batch batch;
  batch.mass = {2, 9};
  refused(batch, {"mass_matrix has 2 axes", "3"});
  batch = {};
  batch.mass = {1, 6, 3};
  refused(batch, {"mass_matrix has shape [1, 6, 3]", "[2, 3, 3]"});
  batch = {};
  batch.friction = {4, 1};
  refused(batch, {"friction has shape [4, 1]", "[2, 2]"});
  batch = {};
  batch.friction_values[3] = std::nan("");
  refused(batch, {"friction[1]", "problem 1", "smooth", "nan"});
  batch = {};
  batch.surplus = true;
  refused(batch, {"unknown data set \"colour\""});
  batch = {};
  batch.names = {"only one"};
  refused(batch, {"name has 1 texts for 2 problems"});
}

TEST(Hdf5Input, TruncatedFileIsRefused) {
  const Scratch scratch;
  const fs::path file = scratch / "batch.h5";
  Batch{}.write(file);
  fs::resize_file(file, fs::file_size(file) / 2);
  const Outcome outcome = carom({"impact", file.string()});
  EXPECT_EQ(outcome.status, 2) << outcome.err;
  EXPECT_EQ(outcome.complaints(), 1U);
  EXPECT_NE(outcome.err.find("batch.h5"), std::string::npos);
}

TEST(Hdf5Files, ReaderRefusesWhatIsNotThere) {
  const Scratch scratch;
  EXPECT_THROW(Hdf5Reader((scratch / "none.h5").string()), io::FileError);
  const fs::path file = scratch / "batch.h5";
  Batch{}.write(file);
  const Hdf5Reader reader(file);
  EXPECT_THROW((void)reader.doubles("/nothing"), io::FileError);
  EXPECT_THROW((void)reader.doubles("/name"), io::FileError);
  EXPECT_THROW((void)reader.integers("/friction"), io::FileError);
  EXPECT_EQ(reader.strings("/name"), (std::vector<std::string>{"rough", "smooth"}));
}

}  // namespace
}  // namespace carom::test
