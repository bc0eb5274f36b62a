#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fstream>
#include <mutex>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "io/file_checksum.hpp"
#include "io/file_error.hpp"
#include "io/hdf5_file.hpp"
#include "io/hdf5_source.hpp"
#include "io/printable.hpp"

// HDF5's library follows addresses and sizes of the file where it finds them, and may crash or
// never end on a damaged one. So it reads in a child process, which answers questions over a
// socket; where the child dies, the file is refused.
namespace carom::io {

bool hdf5_available() { return true; }

namespace {

enum class Question : std::uint8_t {
  open,
  names,
  has,
  is_group,
  shape,
  doubles,
  integers,
  strings,
  bytes,
  holds_text,
  attributes,
  shown_attribute,
  has_attribute,
  number_attribute,
  numbers_attribute,
  text_attribute,
};

enum class Reply : std::uint8_t { value, refused, no_memory };

constexpr std::uint64_t kMostReply = kMaxHdf5Values * 8 + 4096;
constexpr std::int64_t kSettled = 2'000'000'000;  // nanoseconds
constexpr rlim_t kSeconds = 30;                   // of the child's processor
constexpr std::uint64_t kSpeed = 200000;  // bytes of the file a second, besides: deflate's worst

bool send_all(int socket, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t sent = ::send(socket, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, void* data, std::size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = ::recv(socket, at, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

template <class Text>
bool send_text(int socket, const Text& text) {
  const std::uint64_t size = text.size();
  return send_all(socket, &size, sizeof size) && send_all(socket, text.data(), text.size());
}

// Of the parent; only it sends such texts.
bool receive_text(int socket, std::string& text) {
  std::uint64_t size = 0;
  if (!receive_all(socket, &size, sizeof size)) return false;
  text.resize(size);
  return receive_all(socket, text.data(), size);
}

bool reply(int socket, Reply kind, const void* data, std::uint64_t size) {
  return send_all(socket, &kind, sizeof kind) && send_all(socket, &size, sizeof size) &&
         send_all(socket, data, size);
}

template <class Value>
bool reply_value(int socket, const Value& value) {
  if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
    std::string all;
    for (const std::string& text : value) {
      const std::uint64_t size = text.size();
      all.append(reinterpret_cast<const char*>(&size), sizeof size);
      all += text;
    }
    return reply(socket, Reply::value, all.data(), all.size());
  } else if constexpr (std::is_arithmetic_v<Value>) {
    return reply(socket, Reply::value, &value, sizeof value);
  } else {
    return reply(socket, Reply::value, value.data(), value.size() * sizeof value[0]);
  }
}

bool answer(int socket, const Hdf5Source& source, Question question, const std::string& path,
            const std::string& name) {
  switch (question) {
    case Question::open:
      return reply_value(socket, true);
    case Question::names:
      return reply_value(socket, source.names(path));
    case Question::has:
      return reply_value(socket, source.has(path));
    case Question::is_group:
      return reply_value(socket, source.is_group(path));
    case Question::shape:
      return reply_value(socket, source.shape(path));
    case Question::doubles:
      return reply_value(socket, source.doubles(path));
    case Question::integers:
      return reply_value(socket, source.integers(path));
    case Question::strings:
      return reply_value(socket, source.strings(path));
    case Question::bytes:
      return reply_value(socket, source.bytes(path));
    case Question::holds_text:
      return reply_value(socket, source.holds_text(path));
    case Question::attributes:
      return reply_value(socket, source.attributes(path));
    case Question::shown_attribute:
      return reply_value(socket, source.shown_attribute(path, name));
    case Question::has_attribute:
      return reply_value(socket, source.has_attribute(path, name));
    case Question::number_attribute:
      return reply_value(socket, source.number_attribute(path, name));
    case Question::numbers_attribute:
      return reply_value(socket, source.numbers_attribute(path, name));
    case Question::text_attribute:
      return reply_value(socket, source.text_attribute(path, name));
  }
  return false;
}

/// The child's life: answers until the parent hangs up.
void serve(int socket, const std::filesystem::path& file) {
  std::optional<Hdf5Source> source;
  for (Question question{}; receive_all(socket, &question, sizeof question);) {
    bool sent = false;
    std::string path, name;
    if (!receive_text(socket, path) || !receive_text(socket, name)) return;
    try {
      if (!source) source.emplace(file);
      sent = answer(socket, *source, question, path, name);
    } catch (const FileError& error) {
      const std::string text = error.what();
      sent = reply(socket, Reply::refused, text.data(), text.size());
    } catch (const std::exception&) {  // more than memory or a vector can hold
      sent = reply(socket, Reply::no_memory, nullptr, 0);
    }
    if (!sent) return;
  }
}

void confine(const std::filesystem::path& file) {
  std::error_code ignored;
  const std::uintmax_t size = std::filesystem::file_size(file, ignored);
  const rlim_t seconds = kSeconds + (ignored ? 0 : size / kSpeed);
  const rlimit time{seconds, seconds}, core{0, 0};
  ::setrlimit(RLIMIT_CPU, &time);
  ::setrlimit(RLIMIT_CORE, &core);
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere >= 0) {  // what the C library prints where it aborts
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
  }
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::signal(number, SIG_DFL);
}

/// What a file is known by as long as nobody writes to it.
struct Identity {
  dev_t device;
  ino_t inode;
  off_t size;
  std::int64_t changed;
  bool operator==(const Identity&) const = default;
};

std::optional<Identity> identity_of(const std::filesystem::path& file) {
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0) return std::nullopt;
  return Identity{
      found.st_dev, found.st_ino, found.st_size,
      static_cast<std::int64_t>(found.st_mtim.tv_sec) * 1'000'000'000 + found.st_mtim.tv_nsec};
}

/// Refuses a file that its checksum does not fit. A command opens its file several times and reads
/// it through once.
void require_whole(const std::filesystem::path& file) {
  static std::mutex mutex;
  static std::optional<Identity> whole;
  const std::optional<Identity> identity = identity_of(file);
  const std::lock_guard<std::mutex> lock(mutex);
  if (identity && identity == whole) return;
  const Checksum checksum = checksum_of(file);
  if (checksum == Checksum::differs) {
    throw DamagedFile(file.string() +
                      ": damaged: its bytes do not fit the checksum at its end, so that no number "
                      "in it can be trusted");
  }
  // a clock of the file system ticks coarsely: a file just written may be written again unseen
  const std::int64_t now = static_cast<std::int64_t>(std::time(nullptr)) * 1'000'000'000;
  if (checksum == Checksum::fits && identity->changed < now - kSettled) whole = identity;
}

}  // namespace

struct Hdf5Reader::State {
  std::string file;
  pid_t child = -1;
  int socket = -1;

  explicit State(const std::filesystem::path& path) : file(path.string()) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      throw FileError(fmt::format("{}: no socket to read it over: {}", file, std::strerror(errno)));
    }
    child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      confine(path);
      serve(ends[1], path);
      ::_exit(0);
    }
    ::close(ends[1]);
    socket = ends[0];
    if (child < 0) {
      ::close(socket);
      throw FileError(fmt::format("{}: no process to read it in: {}", file, std::strerror(errno)));
    }
  }
  ~State() { end(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  int end() {
    int status = 0;
    if (child <= 0) return status;
    ::close(socket);
    // a reader opened later holds this socket, too: hanging up may not reach the child
    ::kill(child, SIGKILL);
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    child = -1;
    return status;
  }

  [[noreturn]] void died(std::string_view path) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    child = -1;
    ::close(socket);
    const bool slow =
        WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL);
    const std::string how =
        slow ? "HDF5's library did not end reading"
        : WIFSIGNALED(status)
            ? fmt::format("HDF5's library fails with signal {} where it reads", WTERMSIG(status))
            : std::string("HDF5's library fails where it reads");
    throw DamagedFile(
        fmt::format("{}: damaged: {} {}", file, how, path.empty() ? "the file" : printable(path)));
  }

  void ask(Question question, std::string_view path, std::string_view name) {
    if (child <= 0) throw DamagedFile(file + ": damaged");
    if (!send_all(socket, &question, sizeof question) || !send_text(socket, path) ||
        !send_text(socket, name)) {
      died(path);
    }
  }

  /// The bytes of the next reply as Ts. Errors: FileError, bad_alloc.
  template <class T>
  std::vector<T> receive(std::string_view path) {
    Reply kind{};
    std::uint64_t size = 0;
    if (!receive_all(socket, &kind, sizeof kind) || !receive_all(socket, &size, sizeof size)) {
      died(path);
    }
    const bool known = kind == Reply::value || kind == Reply::refused || kind == Reply::no_memory;
    if (!known || size > kMostReply || (kind == Reply::value && size % sizeof(T) != 0)) {
      throw DamagedFile(fmt::format("{}: damaged: {} cannot be read", file, printable(path)));
    }
    if (kind == Reply::no_memory) throw std::bad_alloc();
    if (kind == Reply::refused) {
      std::string text(size, '\0');
      if (!receive_all(socket, text.data(), size)) died(path);
      throw DamagedFile(text);
    }
    std::vector<T> values(size / sizeof(T));
    if (!receive_all(socket, values.data(), size)) died(path);
    return values;
  }

  template <class T>
  std::vector<T> values(Question question, std::string_view path, std::string_view name = {}) {
    ask(question, path, name);
    return receive<T>(path);
  }
  template <class T>
  T value(Question question, std::string_view path, std::string_view name = {}) {
    const std::vector<T> one = values<T>(question, path, name);
    if (one.size() != 1) {
      throw DamagedFile(fmt::format("{}: damaged: {} cannot be read", file, printable(path)));
    }
    return one.front();
  }
  bool truth(Question question, std::string_view path, std::string_view name = {}) {
    return value<std::uint8_t>(question, path, name) != 0;
  }
  std::string text(Question question, std::string_view path, std::string_view name = {}) {
    const std::vector<char> bytes = values<char>(question, path, name);
    return {bytes.begin(), bytes.end()};
  }
  std::vector<std::string> texts(Question question, std::string_view path) {
    const std::vector<char> bytes = values<char>(question, path);
    std::vector<std::string> list;
    for (std::size_t at = 0; at < bytes.size();) {
      std::uint64_t size = 0;
      if (bytes.size() - at >= sizeof size) {
        std::memcpy(&size, bytes.data() + at, sizeof size);
        at += sizeof size;
      } else {
        size = bytes.size();
      }
      if (size > bytes.size() - at) {
        throw DamagedFile(fmt::format("{}: damaged: {} cannot be read", file, printable(path)));
      }
      list.emplace_back(bytes.data() + at, size);
      at += size;
    }
    return list;
  }
};

Hdf5Reader::Hdf5Reader(const std::filesystem::path& file) {
  require_whole(file);
  state_ = std::make_unique<State>(file);
  (void)state_->truth(Question::open, "");
}

Hdf5Reader::~Hdf5Reader() = default;

std::vector<std::string> Hdf5Reader::names(std::string_view group) const {
  return state_->texts(Question::names, group);
}
bool Hdf5Reader::has(std::string_view path) const { return state_->truth(Question::has, path); }
bool Hdf5Reader::is_group(std::string_view path) const {
  return state_->truth(Question::is_group, path);
}
Shape Hdf5Reader::shape(std::string_view path) const {
  return state_->values<std::uint64_t>(Question::shape, path);
}
std::vector<double> Hdf5Reader::doubles(std::string_view path) const {
  return state_->values<double>(Question::doubles, path);
}
std::vector<std::int64_t> Hdf5Reader::integers(std::string_view path) const {
  return state_->values<std::int64_t>(Question::integers, path);
}
std::vector<std::string> Hdf5Reader::strings(std::string_view path) const {
  return state_->texts(Question::strings, path);
}
std::vector<std::uint8_t> Hdf5Reader::bytes(std::string_view path) const {
  return state_->values<std::uint8_t>(Question::bytes, path);
}
bool Hdf5Reader::holds_text(std::string_view path) const {
  return state_->truth(Question::holds_text, path);
}
std::vector<std::string> Hdf5Reader::attributes(std::string_view object) const {
  return state_->texts(Question::attributes, object);
}
std::string Hdf5Reader::shown_attribute(std::string_view object, std::string_view name) const {
  return state_->text(Question::shown_attribute, object, name);
}
bool Hdf5Reader::has_attribute(std::string_view object, std::string_view name) const {
  return state_->truth(Question::has_attribute, object, name);
}
double Hdf5Reader::number_attribute(std::string_view object, std::string_view name) const {
  return state_->value<double>(Question::number_attribute, object, name);
}
std::vector<double> Hdf5Reader::numbers_attribute(std::string_view object,
                                                  std::string_view name) const {
  return state_->values<double>(Question::numbers_attribute, object, name);
}
std::string Hdf5Reader::text_attribute(std::string_view object, std::string_view name) const {
  return state_->text(Question::text_attribute, object, name);
}

// By the signature, where HDF5 looks for it, or by the line of the checksum that only HDF5 files of
// carom have: HDF5's own test would read the file's structures in this process.
bool Hdf5Reader::is_hdf5(const std::filesystem::path& file) {
  constexpr std::array<char, 8> kSignature{'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  std::error_code failed;
  if (!std::filesystem::is_regular_file(file, failed)) return false;
  const std::uintmax_t size = std::filesystem::file_size(file, failed);
  std::ifstream stream(file, std::ios::binary);
  for (std::uintmax_t at = 0; !failed && at + kSignature.size() <= size;
       at = at == 0 ? 512 : 2 * at) {
    std::array<char, 8> head{};
    stream.seekg(static_cast<std::streamoff>(at));
    if (stream.read(head.data(), head.size()) && head == kSignature) return true;
  }
  return has_checksum(file);
}

}  // namespace carom::io
