#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <sstream>

#include "cli/command.hpp"
#include "cli/json_notes.hpp"
#include "cli/refusal.hpp"
#include "io/data_set_notes.hpp"
#include "io/hdf5_file.hpp"

// docs/reference/files.md is written from the same lists as the attributes of the files:
//   CAROM_RENEW=1 test_cli --gtest_filter=FilesPage.*
namespace carom::test {
namespace {

const fs::path kRoot = repository();

const char* const kIntroduction =
    R"(# Files

Every field of the files that carom reads and writes. Arrays are row-major: the last index is the fastest. Units are SI.
`carom info FILE` prints the same descriptions for a file; `carom rerun FILE` computes the file again and compares.

## Problem files

A JSON file holds one object or an array of objects (`examples/data`). An HDF5 file holds the same names as data sets with a
leading axis of problems, all of one shape; `name` is a data set of texts. Bad input is refused with file, problem,
field, position and value. Files written by `--output` can be used as input: `carom impact out.h5`.

An unknown key is refused; the message names the nearest known key. Keys for readers are allowed in every object: those
that begin with `_`, `checked`, `exact_`, `expected` or `shipped_`, and `author`, `comment`, `comments`, `convention`, `date`,
`description`, `doi`, `licence`, `license`, `note`, `notes`, `reference`, `references`, `solvable`, `source`, `symptom`, `tags`,
`title`, `tolerance_in_source`, `url`, `version`; for matrices `all_basic_solutions`, `max_eig_P`, `min_eig_P`,
`redundant_equality_rows`, `relative_asymmetry`, `strictly_convex`. A file of `carom solve` may wrap its problem: an object with
`data`, the problem, `kind`, `name` and keys for readers. Sizes may be repeated and must then agree: `n`, `m`, and for
friction problems `nc`, the contacts.

)";

const char* const kHdf5 =
    R"(
## HDF5 files of --output

    import h5py
    with h5py.File("block.h5") as file:
        print(file.attrs["command"], file.attrs["commit"])
        group = file["impact_0"]
        contacts = group["problem/friction"].shape[0]
        impulse = group["samples/impulse"][:]          # rows of N s
        normal, tangent = impulse[:, :contacts], impulse[:, contacts:]
        modes = group["samples/modes"][:]
        first = modes & 3                              # contact 0: 0 separating, 1 sticking, ..
        second = (modes >> 2) & 3                      # contact 1
        print(group["samples/impulse"].attrs["meaning"])

The file ends with the line `carom crc32 XXXXXXXX`, the CRC-32 of all bytes before it. HDF5's own readers do not see this line;
every command of carom checks it and refuses a file with a changed byte. A file that other software wrote has no such line
and is read as it is. Check it yourself:

    import zlib
    data = open("block.h5", "rb").read()
    assert data[-21:] == b"carom crc32 %08x\n" % zlib.crc32(data[:-21])

Root attributes: `carom_version`, `commit`, `command`, `created`, `backend`, and every setting by name
([settings](settings.md)). Each data set has the attributes `axes`, `unit` and `meaning` below; for codes `meaning` lists
the names. `*` stands for a number or a name.

| data set | axes | unit | |
|---|---|---|---|
)";

std::string row(std::initializer_list<std::string> cells) {
  std::string line = "|";
  for (std::string cell : cells) {
    for (std::size_t at = cell.find('|'); at != std::string::npos; at = cell.find('|', at + 2)) {
      cell.insert(at, "\\");
    }
    line += " " + cell + " |";
  }
  return line + "\n";
}

std::string page() {
  std::string text = kIntroduction;
  std::string last;
  const auto table = [&](std::span<const JsonNote> notes) {
    for (const JsonNote& note : notes) {
      if (note.file != last) {
        last = note.file;
        const std::string title = last == "*" ? "every command" : "carom " + last;
        text += "\n### " + title + "\n\n| key | shape | unit | |\n|---|---|---|---|\n";
      }
      text += row({"`" + std::string(note.key) + "`", note.shape, note.unit, note.meaning});
    }
  };
  table(input_notes());
  text += kHdf5;
  for (const io::DataSetNote& note : io::data_set_notes()) {
    text += row({"`" + std::string(note.path) + "`", note.axes, note.unit, note.meaning});
  }
  text +=
      "\n## JSON of --json\n\nOne object, or an array for several problems. A value that does not "
      "exist is null.\n";
  last.clear();
  table(output_notes());
  return text;
}

// Runs that meet the fields of every family.
std::vector<std::vector<std::string>> runs(const Scratch& scratch) {
  const std::string spatial = scratch.file("robust.json", R"({"contacts": [
      {"position": [0, 0, 0], "normal": [0, 0, 1], "friction": 0.5},
      {"position": [1, 0, 0.1], "normal": [0.28, 0, 0.96], "friction": 0.5},
      {"position": [0, 1, 0], "normal": [0, 0, 1], "friction": 0.5}],
      "neighbourhood": {"p": [-0.1, 0.1]}})");
  const std::string rod = scratch.file("rod.json", R"({
      "mechanism": {"floating": false,
        "links": [{"name": "rod", "mass": 1.0, "inertia": 0.1, "mass_centre": [0.0, -1.0]}],
        "half_spaces": [{"normal": [1.0, 0.0], "offset": -0.5}],
        "contacts": [{"name": "end", "link": "rod", "point": [0.0, -1.0], "friction": 0.2}]},
      "position": [0.4], "position_spread": [0.1], "velocity_spread": [0.1], "duration": 0.1})");
  const std::string ray =  // its proof is a tree
      scratch.file("ray.json", R"({"kind": "lcp", "M": [[0, 2], [1, -3]], "q": [1, -3]})");
  const std::string push = scratch.file("push.json", R"({"interval": 0.1, "drive": [[0.1]]})");
  return {
      {"impact", "compass_gait", "--samples", "64"},
      {"impact", "rocking_block", "--samples", "16", "--sweep", "friction=0:1:3"},
      {"impact", "rocking_block", "--samples", "64", "--never", "A separating"},
      {"impact", "rocking_block", "--samples", "16", "--restitution", "0.2:0.4", "--enclose"},
      {"impact", example("cube_tosses/two_corners.h5"), "--problem", "3", "--samples", "16",
       "--restitution", "0.2:0.4", "--measured", "--redraws", "16", "--identify",
       "restitution=0.2:0.4:2", "--identify", "friction=0.1:0.2:3", "--identify-samples", "8"},
      {"impact-models", "tripod", "--samples", "32"},
      {"impact-models", "rocking_block", "--samples", "32", "--rounds", "newton", "--restitution",
       "0.5"},
      {"equilibrium", "two_contacts", "--p=-0.1:0.1", "--centre-of-mass", "0.5,0.6"},
      {"equilibrium", "tripod_flat", "--cones", "pair", "--centre-of-mass", "0.1,0.1,0.2"},
      {"equilibrium", "two_contacts", "--sweep", "friction=0.1:1:3", "--centre-of-mass", "0.5,0.6"},
      {"equilibrium", "tripod_flat", "--centre-of-mass", "0,0,0.2", "--critical", "friction"},
      {"equilibrium", spatial, "--centre-of-mass", "0.3,0.3,0.2"},
      {"step", "inclined_block", "--sweep", "friction=0:0.375:2", "--steps", "5"},
      {"step", "compliant_block_impact", "--steps", "5"},
      {"step", example("step.json")},
      {"stability", "figure2", "--sweep", "d=0.1:1.1:4"},
      {"stability", "figure2", "--random", "mu1=0.2:1"},
      {"stability", "figure2", "--set", "mu1=1", "--set", "d=0.9", "--method", "sos"},
      {"stability", example("walker.json")},
      {"stability", "figure2", "--set", "d=0.5", "--impact", "1:0.3,-1,0", "--start",
       "0,0,0,0.3,1,-0.4"},
      {"motion", "rocking_block_drop", "--samples", "4", "--epsilon", "0.1", "--events", "--sweep",
       "friction=0.3:0.6:2"},
      {"motion", rod, "--samples", "2", "--policy", push},
      {"solve", example("lp.json"), example("lcp.json"), example("qp.json"), example("socp.json"),
       example("friction.json"), example("boxed_lcp.json"), ray}};
}

TEST(FilesPage, IsWhatTheListsSay) {
  const fs::path file = kRoot / "docs/reference/files.md";
  if (std::getenv("CAROM_RENEW") != nullptr) write_text(file, page());
  EXPECT_EQ(read_text(file), page())
      << "renew it: CAROM_RENEW=1 test_cli --gtest_filter=FilesPage.Is*";
}

std::size_t axes(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), ',')) + 1;
}

void look(const io::Hdf5Reader& reader, const std::string& group, std::set<std::string>& seen) {
  for (const std::string& name : reader.names(group)) {
    const std::string path = group == "/" ? "/" + name : group + "/" + name;
    if (reader.is_group(path)) {
      look(reader, path, seen);
      continue;
    }
    const io::DataSetNote* note = io::data_set_note(path);
    ASSERT_NE(note, nullptr) << path << " stands in no list";
    seen.insert(note->path);
    EXPECT_EQ(reader.text_attribute(path, "axes"), note->axes);
    EXPECT_TRUE(reader.has_attribute(path, "meaning")) << path;
    const std::string words = note->axes;
    if (words.find(" | ") == std::string::npos) {
      EXPECT_EQ(reader.shape(path).size(), axes(words)) << path << ": " << words;
    }
  }
}

TEST(FilesPage, EveryDataSetIsExplainedAndTheRestIsWritten) {
  const Scratch scratch;
  std::set<std::string> seen;
  const std::string file = (scratch / "out.h5").string();
  for (std::vector<std::string> words : runs(scratch)) {
    words.insert(words.end(), {"--quiet", "--output", file});
    const Outcome outcome = carom(words);
    ASSERT_LE(outcome.status, 1) << words[0] << ": " << outcome.err;
    look(io::Hdf5Reader(file), "/", seen);
  }
  // proofs of verdicts that the examples do not have
  const std::set<std::string> rare = {"/problems_*/answer/point", "/problems_*/answer/ray",
                                      "/problems_*/answer/direction", "/problems_*/answer/face"};
  for (const io::DataSetNote& note : io::data_set_notes()) {
    EXPECT_TRUE(seen.count(note.path) == 1 || rare.count(note.path) == 1)
        << note.path << " is written by no command";
  }
}

void collect(const json& value, const std::string& at, std::set<std::string>& found) {
  static const std::set<std::string> free = {
      "mode_counts", "status_counts", "parameters", "final_state", "settings",
      "carom",       "points.stance", "verdicts",   "sampled",     "problems.parameters"};
  if (value.is_array()) {
    for (const json& element : value) {
      if (element.is_object()) collect(element, at, found);
    }
  }
  if (!value.is_object()) return;
  for (const auto& [key, inner] : value.items()) {
    const std::string path = at.empty() ? key : at + "." + key;
    found.insert(path);
    if (free.count(path) == 0 && path != "points.parameters") collect(inner, path, found);
  }
}

TEST(FilesPage, EveryJsonKeyIsExplainedAndTheRestIsWritten) {
  const Scratch scratch;
  std::map<std::string, std::set<std::string>> explained;
  for (const JsonNote& note : output_notes()) explained[note.file].insert(note.key);
  std::map<std::string, std::set<std::string>> found;
  for (std::vector<std::string> words : runs(scratch)) {
    words.emplace_back("--json");
    collect(json::parse(carom(words).out), "", found[words[0]]);
  }
  for (const auto& [command, own] : found) {
    for (const std::string& key : own) {
      EXPECT_TRUE(explained[command].count(key) == 1 || explained["*"].count(key) == 1)
          << command << ": " << key << " stands in no list";
    }
    const std::set<std::string> rare = {"separation", "points.certificate.coefficients",
                                        "enclosure.modes_within_tolerance.modes",
                                        "enclosure.modes_within_tolerance.sampled"};
    for (const std::string& key : explained[command]) {
      EXPECT_TRUE(own.count(key) == 1 || rare.count(key) == 1)
          << command << ": " << key << " is written by no command";
    }
  }
}

// The readers' own lists, as their refusals show them.
TEST(FilesPage, KeysOfProblemFilesAreThoseThatAreRead) {
  const Scratch scratch;
  for (const std::string command : {"impact", "equilibrium", "step", "stability"}) {
    const std::string file =
        scratch.file(command + ".json", R"({"name": "x", "surely_not_a_key": 1})");
    const Outcome outcome = carom({command, file});
    const std::size_t at = outcome.err.find("known are ");
    ASSERT_NE(at, std::string::npos) << outcome.err;
    std::set<std::string> known;
    std::istringstream list(outcome.err.substr(at + 10));
    for (std::string key; std::getline(list, key, ',');) {
      key.erase(0, key.find_first_not_of(' '));
      key.erase(key.find_last_not_of(" \n") + 1);
      known.insert(key);
    }
    std::set<std::string> explained;
    for (const JsonNote& note : input_notes()) {
      const std::string key = note.key;
      if (note.file == command && key.find('.') == std::string::npos) explained.insert(key);
    }
    EXPECT_EQ(known, explained) << command;
  }
}

}  // namespace
}  // namespace carom::test
