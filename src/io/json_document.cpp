#include "io/json_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <carom/error.hpp>

namespace carom::io {

using nlohmann::json;

namespace {

// Follows the parser: knows the field that is being read, and refuses what the parser would accept.
class Watcher {
 public:
  explicit Watcher(const MemoryReserve& reserve) : reserve_(reserve) {}

  bool operator()(int depth, json::parse_event_t event, json& parsed) {
    reserve_.require_unspent();
    using Event = json::parse_event_t;
    switch (event) {
      case Event::object_start:
      case Event::array_start:
        if (depth >= kMaxJsonDepth) {
          throw InvalidInput(fmt::format("{} is nested deeper than {} levels", path().substr(0, 40),
                                         kMaxJsonDepth));
        }
        open_.emplace_back();
        open_.back().is_array = event == Event::array_start;
        break;
      case Event::key:
        begin_key(parsed.get_ref<const std::string&>());
        break;
      case Event::object_end:
      case Event::array_end:
        open_.pop_back();
        next();
        break;
      case Event::value:
        next();
        break;
    }
    return true;
  }

  /// "[1].velocity[0]": the value that is read next; empty at the root.
  [[nodiscard]] std::string path() const {
    std::string text;
    for (const Level& level : open_) {
      if (level.is_array) {
        text += fmt::format("[{}]", level.index);
      } else {
        text += (text.empty() ? "" : ".") + level.key;
      }
    }
    return text;
  }

 private:
  struct Level {
    bool is_array = false;
    std::size_t index = 0;
    std::string key;
    std::set<std::string> keys;  // the parser itself would keep the last of two alike
  };

  void next() {
    if (!open_.empty()) ++open_.back().index;
  }
  void begin_key(const std::string& key) {
    open_.back().key = key;
    if (!open_.back().keys.insert(key).second) {
      throw InvalidInput(fmt::format("key \"{}\" is given twice in one object", key));
    }
  }

  const MemoryReserve& reserve_;
  std::vector<Level> open_;
};

std::string text_of(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) {
    throw InvalidInput(fmt::format("{}: is a folder, a file is needed", file.string()));
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw InvalidInput(fmt::format("{}: cannot be opened", file.string()));
  const auto refuse_size = [&file] {
    throw InvalidInput(fmt::format("{}: holds more than {} bytes, the most that is read as JSON",
                                   file.string(), kMaxJsonBytes));
  };
  const std::uintmax_t declared = std::filesystem::file_size(file, ignored);
  if (!ignored && declared > kMaxJsonBytes) refuse_size();
  std::string text;
  std::vector<char> block(std::size_t{1} << 16);
  while (stream) {  // pipes have no size beforehand
    stream.read(block.data(), static_cast<std::streamsize>(block.size()));
    text.append(block.data(), static_cast<std::size_t>(stream.gcount()));
    if (text.size() > kMaxJsonBytes) refuse_size();
  }
  if (stream.bad()) throw InvalidInput(fmt::format("{}: cannot be read", file.string()));
  return text;
}

// What destroying a document of this text may allocate: its values once more, with some growth.
std::size_t reserve_for(const std::string& text) {
  const auto values = std::count_if(text.begin(), text.end(),
                                    [](char c) { return c == ',' || c == '[' || c == '{'; });
  return 3 * sizeof(json) * static_cast<std::size_t>(values) + (std::size_t{1} << 16);
}

// The word that the parser stumbled over.
std::string_view word_at(std::string_view text, std::size_t place) {
  const auto in_word = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '+';
  };
  std::size_t begin = std::min(place, text.size());
  std::size_t end = begin;
  while (begin > 0 && in_word(text[begin - 1])) --begin;
  while (end < text.size() && in_word(text[end])) ++end;
  return text.substr(begin, end - begin);
}

// Python and JavaScript write NaN and Infinity where JSON has no number at all.
bool is_no_number(std::string_view word) {
  std::string plain;
  for (const char c : word.substr(word.find_first_not_of("+-") == 1 ? 1 : 0)) {
    plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain == "nan" || plain == "inf" || plain == "infinity";
}

std::string complaint(const json::exception& error, const std::string& text,
                      const Watcher& watcher) {
  const std::string path = watcher.path();
  const auto* parse_error = dynamic_cast<const json::parse_error*>(&error);
  if (parse_error != nullptr && parse_error->byte > 0) {
    const std::size_t place = parse_error->byte - 1;
    const std::string_view word = word_at(text, place);
    if (is_no_number(word)) {
      const auto upto = std::string_view(text).substr(0, place);
      const auto line = 1 + std::count(upto.begin(), upto.end(), '\n');
      return fmt::format(
          "{} is {} (line {}): not JSON, whose numbers are finite; a bound that is absent is null",
          path.empty() ? "the document" : path, word, line);
    }
  }
  std::string reason = error.what();  // "[json.exception.parse_error.101] parse error at line ..."
  if (const std::size_t end = reason.find("] "); end != std::string::npos) reason.erase(0, end + 2);
  return fmt::format("not JSON{}: {}", path.empty() ? "" : ", at " + path, reason);
}

json parsed(const std::string& name, const std::string& text, const MemoryReserve& reserve) {
  Watcher watcher(reserve);
  try {
    return json::parse(text, std::ref(watcher));
  } catch (const json::exception& error) {
    throw InvalidInput(fmt::format("{}: {}", name, complaint(error, text, watcher)));
  } catch (const InvalidInput& error) {
    throw error.with_source(name);
  }
}

}  // namespace

JsonDocument::JsonDocument(const std::filesystem::path& file)
    : JsonDocument(file.string(), text_of(file)) {}

JsonDocument::JsonDocument(const std::string& name, const std::string& text)
    : reserve_(reserve_for(text)), root_(parsed(name, text, reserve_)) {}

}  // namespace carom::io
