#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>

#include <carom/types/words.hpp>

/// Log messages of the library for a callback. Without a callback nothing is written, unless the
/// environment variable CAROM_LOG is warning, info or debug: messages then go to standard error,
/// one per line.
namespace carom {

enum class LogLevel : std::uint8_t {
  off,
  warning,  ///< something that was asked for is not there
  info,     ///< once: version, instruction set, threads, devices
  debug,    ///< each call: the backend that it runs on
};

template <>
inline constexpr auto words<LogLevel> = std::to_array<Word<LogLevel>>({
    {LogLevel::off, "off"},
    {LogLevel::warning, "warning"},
    {LogLevel::info, "info"},
    {LogLevel::debug, "debug"},
});

/// Gets a message of one line, in the thread that called the library.
using LogCallback = std::function<void(LogLevel, std::string_view)>;

/// Messages up to this level go to `callback` from now on; an empty one, or `off`: nowhere. What it
/// throws leaves the call that it was told of. Safe to be called from any thread.
void set_log(LogCallback callback, LogLevel level = LogLevel::info);

}  // namespace carom
