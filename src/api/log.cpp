#include "api/log.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace carom {

namespace {

void to_standard_error(LogLevel level, std::string_view text) {
  const std::string line = "carom " + std::string(word_of(level)) + ": " + std::string(text) + "\n";
  std::fputs(line.c_str(), stderr);
}

/// Of CAROM_LOG; another word counts as off.
LogLevel asked_for() {
  const char* given = std::getenv("CAROM_LOG");
  return given == nullptr ? LogLevel::off : value_of<LogLevel>(given).value_or(LogLevel::off);
}

/// Never destroyed: calls may come while the process ends.
struct Log {
  std::atomic<LogLevel> level{asked_for()};
  std::mutex guard;  // of callback
  std::shared_ptr<const LogCallback> callback =
      std::make_shared<const LogCallback>(to_standard_error);
};

Log& log_of_process() {
  static Log& log = *new Log;
  return log;
}

}  // namespace

void set_log(LogCallback callback, LogLevel level) {
  Log& log = log_of_process();
  const LogLevel most = callback ? level : LogLevel::off;
  auto next = std::make_shared<const LogCallback>(std::move(callback));
  {
    const std::lock_guard lock(log.guard);
    log.callback.swap(next);
    log.level = most;
  }
}

bool logging::wanted(LogLevel level) { return level <= log_of_process().level.load(); }

void logging::tell(LogLevel level, std::string_view text) {
  Log& log = log_of_process();
  std::shared_ptr<const LogCallback> callback;  // called without the lock: it may call carom
  {
    const std::lock_guard lock(log.guard);
    if (level > log.level.load()) return;
    callback = log.callback;
  }
  if (*callback) (*callback)(level, text);
}

}  // namespace carom
