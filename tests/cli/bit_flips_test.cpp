#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <carom/error.hpp>

#include "cli/command.hpp"
#include "cli/refusal.hpp"
#include "io/case_file.hpp"
#include "io/file_checksum.hpp"
#include "io/file_error.hpp"
#include "io/hdf5_file.hpp"
#include "io/impact_input.hpp"
#include "io/posture_input.hpp"
#include "io/stability_input.hpp"
#include "io/step_input.hpp"
#include "support/from_environment.hpp"

// Files are hostile: no bit of theirs may end the process, and no bit of a result may change
// unnoticed. CAROM_BIT_FLIPS turns more of them.
namespace carom::test {
namespace {

constexpr std::size_t kChecksumLine = 21;

/// All that `reader` says of a group, as text.
std::string contents(const io::Hdf5Reader& reader, const std::string& group = "/") {
  std::string text;
  const auto attributes = [&](const std::string& object) {
    for (const std::string& name : reader.attributes(object)) {
      text += object + "@" + name + "=" + reader.shown_attribute(object, name) + "\n";
    }
  };
  attributes(group);
  for (const std::string& name : reader.names(group)) {
    const std::string path = group == "/" ? "/" + name : group + "/" + name;
    if (reader.is_group(path)) {
      text += contents(reader, path);
      continue;
    }
    attributes(path);
    text += path + "=";
    if (reader.holds_text(path)) {
      for (const std::string& value : reader.strings(path)) text += value + ";";
    } else {
      for (const std::uint8_t byte : reader.bytes(path)) text += static_cast<char>(byte);
    }
    text += "\n";
  }
  return text;
}

/// Calls visit(bit) for `count` bits spread over `bytes`, each turned in `file`.
void flip(const fs::path& file, const std::string& bytes, std::size_t count,
          const std::function<void(std::size_t)>& visit) {
  write_text(file, bytes);
  const auto put = [&file](std::size_t at, char value) {
    std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
    stream.seekp(static_cast<std::streamoff>(at)).put(value);
  };
  const std::size_t bits = 8 * bytes.size();
  for (std::size_t i = 0; i < count; ++i) {
    // a stride without a factor of two meets all places of a byte
    const std::size_t bit = i * (bits / count | 1U) % bits;
    put(bit / 8, static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8)));
    visit(bit);
    put(bit / 8, bytes[bit / 8]);
  }
}

std::size_t flips(int otherwise) {
  return static_cast<std::size_t>(from_environment("CAROM_BIT_FLIPS", otherwise));
}

class BitFlips : public testing::Test {
 protected:
  void SetUp() override {
    if (!io::hdf5_available()) GTEST_SKIP() << "built without HDF5";
  }
  /// A file of the command, with its checksum.
  [[nodiscard]] std::string written(const std::vector<std::string>& words) const {
    const std::string file = (scratch_ / "whole.h5").string();
    const Outcome outcome = carom(with(words, {"--quiet", "--output", file}));
    EXPECT_LE(outcome.status, 1) << outcome.err;
    return read_text(file);
  }
  Scratch scratch_;
};

TEST_F(BitFlips, NoneOfAnOutputIsOverlooked) {
  const std::string whole = written({"solve", example("lp.json"), example("qp.json")});
  const fs::path file = scratch_ / "damaged.h5";
  write_text(file, whole);
  const std::string said = contents(io::Hdf5Reader(file));
  std::size_t refused = 0;
  const std::size_t count = flips(10000);
  flip(file, whole, count, [&](std::size_t bit) {
    try {
      // a line that is no checksum any more says nothing of the bytes before it, which are whole
      EXPECT_EQ(contents(io::Hdf5Reader(file)), said) << "bit " << bit;
      EXPECT_GE(bit / 8, whole.size() - kChecksumLine) << "bit " << bit;
    } catch (const io::FileError& error) {
      EXPECT_NE(std::string(error.what()).find("damaged"), std::string::npos) << error.what();
      ++refused;
    }
  });
  EXPECT_GT(refused, count * 99 / 100);
}

// Such are files of other software and of carom before it wrote checksums.
TEST_F(BitFlips, OfFilesWithoutAChecksumEndNoProcess) {
  const std::string whole = written({"solve", example("lp.json")});
  const std::string bytes = whole.substr(0, whole.size() - kChecksumLine);
  const fs::path file = scratch_ / "damaged.h5";
  std::size_t read = 0, refused = 0;
  flip(file, bytes, flips(200), [&](std::size_t) {
    try {
      if (!io::Hdf5Reader::is_hdf5(file)) return;
      (void)contents(io::Hdf5Reader(file));
      ++read;
    } catch (const io::FileError&) {
      ++refused;
    }
  });
  EXPECT_GT(read, 0U);
  EXPECT_GT(refused, 0U);
}

TEST_F(BitFlips, OfAnyCommandEndWithAMessage) {
  const std::vector<std::string> stability = {"stability", "figure2", "--set", "mu1=1"};
  for (const auto& [made, reads] :
       std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>>{
           {{"solve", example("qp.json")}, {"info", "rerun", "verify", "solve"}},
           {stability, {"info", "rerun", "verify", "stability"}}}) {
    const std::string whole = written(made);
    const std::string bytes = whole.substr(0, whole.size() - kChecksumLine);
    const fs::path file = scratch_ / "damaged.h5";
    for (const std::string& command : reads) {
      flip(file, bytes, 6, [&](std::size_t bit) {
        const Outcome outcome = carom({command, file.string()});
        EXPECT_LE(outcome.status, 2) << command << " bit " << bit << ": " << outcome.err;
        if (outcome.status == 2) EXPECT_EQ(outcome.complaints(), 1U) << outcome.err;
      });
    }
  }
}

TEST_F(BitFlips, OneThatCrashesHdf5ItselfIsRefused) {
  const std::string file = data_file("files/one_bit.h5");
  for (const char* command : {"info", "rerun"}) {
    const Outcome outcome = carom({command, file});
    EXPECT_EQ(outcome.status, 2) << command;
    EXPECT_NE(outcome.err.find("one_bit.h5: damaged"), std::string::npos) << outcome.err;
  }
}

TEST(Checksum, IsThatOfZlib) {
  EXPECT_EQ(io::crc32("123456789"), 0xCBF43926U);
  EXPECT_EQ(io::crc32("456789", io::crc32("123")), 0xCBF43926U);
  EXPECT_EQ(io::crc32("The quick brown fox jumps over the lazy dog"), 0x414FA339U);
}

TEST_F(BitFlips, InfoSaysWhetherThereIsAChecksum) {
  const std::string whole = written({"solve", example("lp.json")});
  const auto info = [&](const std::string& bytes) {
    const fs::path file = scratch_ / "some.h5";
    write_text(file, bytes);
    return carom({"info", file.string(), "--json"});
  };
  EXPECT_EQ(info(whole).document()["checksum"], true);
  EXPECT_EQ(info(whole.substr(0, whole.size() - kChecksumLine)).document()["checksum"], nullptr);
  std::string damaged = whole;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  expect_refusal(info(damaged), {"some.h5: damaged", "checksum"});
}

// Another digit is another problem: what is not one must be refused.
TEST(BitFlipsOfJson, AreReadOrRefused) {
  const Scratch scratch;
  const fs::path file = scratch / "damaged.json";
  const auto search = [&](const std::string& name, const auto& read) {
    std::size_t refused = 0;
    flip(file, read_text(example(name)), flips(400), [&](std::size_t) {
      try {
        (void)read(file);
      } catch (const InvalidInput&) {
        ++refused;
      }
    });
    EXPECT_GT(refused, 0U) << name;
  };
  for (const char* name :
       {"lp.json", "qp.json", "socp.json", "lcp.json", "boxed_lcp.json", "friction.json"}) {
    search(name, [](const fs::path& path) { return io::read_cases(path); });
  }
  search("step.json", [](const fs::path& path) { return io::read_steps(path); });
  search("walker.json", [](const fs::path& path) { return io::read_stances(path); });
}

}  // namespace
}  // namespace carom::test
